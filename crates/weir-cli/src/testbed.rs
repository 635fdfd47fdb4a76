//! `weir testbed`: runs a scenario in real time over real sockets.

use std::io::{self, Write};
use std::process::ExitCode;

use indicatif::ProgressBar;
use weir_live::run::{FaceKind, LiveOptions};
use weir_scenario::registry::Registry;
use weir_scenario::scenario::Scenario;
use weir_study::comparison::tables;
use weir_study::comparison::{Comparison, ComparisonRequest};
use weir_study::testbed::{
    Agreement, Compared, LiveResults, LiveRun, MOST_TOGETHER, Progress, RunBeside, Testbed, compare,
    needed_face, simulate_with,
};

use crate::args::{Priority, TestbedArgs};
use crate::failure::Failure;
use crate::output::{Files, OutputDirectory, json_file};
use crate::run::{Findings, Part, REPORT, closing, file_name, print_tables, write};
use crate::{browser, effective, progress, table, terminal};

/// Exit code where a run was inconclusive twice.
const INCONCLUSIVE: u8 = 3;

/// Runs the arguments.
pub(crate) fn testbed(args: &TestbedArgs, registry: &Registry) -> Result<ExitCode, Failure> {
    browser::is_written(args.open, args.json, args.out.as_deref())?;
    let store = args.data.store();
    let scenario = effective::scenario(&args.changes, registry, &args.scenario, &[], &store)?;
    let face = args.face.map_or_else(|| needed_face(&scenario, &store), |face| Ok(face.into()))?;
    let name = format!("{}-live", scenario.name);
    let mut directory = OutputDirectory::usual(args.out.as_deref(), args.json, &name, registry)?;
    if !args.quiet && !args.json {
        let why = match (args.face, face) {
            (Some(_), _) => "as asked",
            (None, FaceKind::Tun) => "the kernel's TCP takes part",
            (None, FaceKind::Udp) => "no TCP takes part",
        };
        writeln!(terminal::stderr(), "face: {} ({why})", face.name())?;
    }
    let bar = progress::bar(args.quiet);
    let options =
        LiveOptions { face: Some(face), ipv6: args.ipv6, realtime: args.priority == Priority::Realtime };
    let world = Testbed::new(options, args.together, |progress| show(&bar, progress));
    let seeds = scenario.seeds();
    let jobs = effective::threads(Some(args.together.unwrap_or(MOST_TOGETHER)));
    let request = ComparisonRequest { scenario: &scenario, seeds: &seeds, jobs, series: directory.is_some() };
    progress::expect(&bar, &scenario.name, request.runs());
    let mut comparison = request.run_in(&world, &store, &|| bar.inc(1))?;
    bar.finish_and_clear();
    let runs = world.runs();
    let beside = if args.compare { beside(&scenario, &comparison, &runs, &store)? } else { Vec::new() };

    let values = tables::summary_table(&comparison);
    let verdict = comparison.verdict();
    let ranking = comparison.summary.ranking.clone();
    let whole = scenario.anywhere(&store);
    let files = live_files(&runs, &beside)?;
    let part = Part { scenario: &whole, comparison: &mut comparison, suffix: "" };
    let findings = Findings { values: &values, ranking: ranking.as_ref(), verdict: &verdict, notes: &[] };
    write(directory.as_mut(), &mut [part], &findings, &args.series, files)?;

    let mut out = terminal::stdout();
    if args.json {
        let printed =
            LiveResults { summary: comparison.summary, runs: runs.clone(), compared: beside.clone() };
        serde_json::to_writer_pretty(&mut out, &printed).map_err(io::Error::from)?;
        writeln!(out)?;
    } else {
        print_tables(&mut out, &scenario, &comparison)?;
        print_runs(&mut out, &runs)?;
        print_beside(&mut out, &beside)?;
        closing(&mut out, directory.as_ref(), &comparison.stand_ins(), &verdict)?;
    }
    browser::open(args.open, directory.map(|directory| directory.path(REPORT)).as_deref())?;
    Ok(exit_code(&runs, &beside))
}

fn exit_code(runs: &[LiveRun], beside: &[RunBeside]) -> ExitCode {
    let differs = |one: &Compared| one.agreement == Agreement::Differs;
    let twice = |run: &LiveRun| run.repeated && !run.inconclusive.is_empty();
    if beside.iter().any(|run| run.compared.iter().any(differs)) {
        ExitCode::FAILURE
    } else if runs.iter().any(twice) {
        ExitCode::from(INCONCLUSIVE)
    } else {
        ExitCode::SUCCESS
    }
}

/// Simulates the seed of each conclusive run, and compares.
fn beside(
    scenario: &Scenario,
    comparison: &Comparison,
    runs: &[LiveRun],
    store: &weir_import::traces::TraceStore,
) -> Result<Vec<RunBeside>, Failure> {
    let mut all = Vec::new();
    for controller in &comparison.controllers {
        let mut own = scenario.clone();
        if !scenario.controllers.is_empty() {
            own.use_controller(&controller.name)?;
        }
        for (&seed, metrics) in scenario.seeds().iter().zip(&controller.runs) {
            let name = format!("{}/{}/{seed}", scenario.name, controller.name);
            let Some(run) = runs.iter().rfind(|run| run.run == name && run.inconclusive.is_empty()) else {
                continue;
            };
            let simulated = simulate_with(&own, seed, &run.noise, store)?;
            all.push(RunBeside { run: name, seed, compared: compare(metrics, &simulated) });
        }
    }
    Ok(all)
}

/// The records of the runs, and the noise of each conclusive one.
fn live_files(runs: &[LiveRun], beside: &[RunBeside]) -> Result<Files, Failure> {
    let record = serde_json::json!({ "runs": runs, "compared": beside });
    let mut files = vec![("live.json".to_owned(), json_file(&record)?)];
    for run in runs.iter().filter(|run| run.inconclusive.is_empty()) {
        files.push((format!("host-noise-{}.json", file_name(&run.run)), json_file(&run.noise)?));
    }
    Ok(files)
}

fn print_runs(out: &mut impl Write, runs: &[LiveRun]) -> Result<(), Failure> {
    writeln!(out, "real runs (lateness in ms: median / 99 % / most)")?;
    for run in runs {
        let late = |[p50, p99, max]: [f64; 3]| format!("{p50:.2} / {p99:.2} / {max:.1}");
        writeln!(
            out,
            "  {}{}: {} packets, {} dropped by links; emulator late {}, senders {}; emulator {:.1} % of a core",
            run.run,
            if run.repeated { " (again)" } else { "" },
            run.packets,
            run.dropped,
            late(run.emulator_late_ms),
            late(run.senders_late_ms),
            100.0 * run.emulator_cpu,
        )?;
        for reason in &run.inconclusive {
            writeln!(out, "    inconclusive: {reason}")?;
        }
    }
    let refused = runs.iter().find_map(|run| run.not_realtime.as_deref());
    if let Some(refused) = refused {
        writeln!(out, "  without real-time scheduling: {refused}")?;
    }
    writeln!(out)?;
    Ok(())
}

fn print_beside(out: &mut impl Write, beside: &[RunBeside]) -> Result<(), Failure> {
    if beside.is_empty() {
        return Ok(());
    }
    // Rates are hundreds, losses are fractions.
    let number = |value: f64| if value >= 100.0 { format!("{value:.0}") } else { format!("{value:.2}") };
    let lines = beside.iter().flat_map(|run| {
        run.compared.iter().map(|one| {
            let [least, median, most] = one.simulated;
            vec![
                run.run.clone(),
                one.flow.clone(),
                one.quantity.to_owned(),
                number(one.real),
                format!("{} … {} … {}", number(least), number(median), number(most)),
                one.agreement.name().to_owned(),
            ]
        })
    });
    let head = ["run", "flow", "quantity", "real", "simulated: least … median … most", "result"];
    writeln!(out, "{}", table::plain(&head, lines.collect()))?;
    writeln!(out)?;
    Ok(())
}

/// Shows the present run in the bar, which is hidden where standard error is no terminal.
fn show(bar: &ProgressBar, progress: Progress<'_>) -> bool {
    let Progress { run, at, end } = progress;
    let seconds = |time: weir_net::Time| time.nanos() / 1_000_000_000;
    bar.set_message(terminal::printable(&format!("{run}: {} of {} s", seconds(at), seconds(end))));
    true
}
