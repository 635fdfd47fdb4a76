//! `weir testbed`: runs a scenario in real time over real sockets.

mod captures;
pub(crate) mod inconclusive;
mod strips;

use std::io::{self, Write};
use std::process::ExitCode;

use indicatif::ProgressBar;
use weir_live::run::{FaceKind, LiveOptions};
use weir_scenario::registry::Registry;
use weir_scenario::scenario::Scenario;
use weir_study::comparison::tables;
use weir_study::comparison::{Comparison, ComparisonOptions, ComparisonRequest, RecordedRuns};
use weir_study::runs::RunError;
use weir_study::testbed::{
    Agreement, Compared, DistributionBeside, LiveResults, LiveRun, MOST_TOGETHER, Progress, RunBeside,
    RunCaptures, Testbed, compare, compare_distributions, needed_face, simulate_with,
};

use crate::args::{Priority, TestbedArgs};
use crate::failure::Failure;
use crate::output::{Files, OutputDirectory, file_name, json_file};
use crate::run::{Findings, Part, REPORT, closing, print_tables, write};
use crate::signals::SignalWatch;
use crate::{browser, calls, effective, progress, table, terminal};
use captures::CaptureFiles;

/// Exit code where a run was inconclusive twice.
pub(crate) const INCONCLUSIVE: u8 = 3;

/// Runs the arguments.
pub(crate) fn testbed(args: &TestbedArgs, registry: &Registry) -> Result<ExitCode, Failure> {
    browser::is_written(args.open, args.json, args.out.as_deref())?;
    let store = args.data.store();
    let scenario = effective::scenario(&args.changes, registry, &args.scenario, &[], &store)?;
    let face = args.face.map_or_else(|| needed_face(&scenario, &store), |face| Ok(face.into()))?;
    let name = format!("{}-live", scenario.name);
    let mut directory = OutputDirectory::usual(args.out.as_deref(), args.json, &name, registry)?;
    calls::have_a_place(args.record, directory.as_ref())?;
    directory.as_mut().map(OutputDirectory::give_to_caller).transpose()?;
    if !args.quiet && !args.json {
        let why = match (args.face, face) {
            (Some(_), _) => "as asked",
            (None, FaceKind::Tun) => "the kernel's TCP takes part",
            (None, FaceKind::Udp) => "no TCP takes part",
        };
        writeln!(terminal::stderr(), "face: {} ({why})", face.name())?;
    }
    let bar = progress::bar(args.quiet);
    let options = LiveOptions {
        face: Some(face),
        ipv6: args.ipv6,
        realtime: args.priority == Priority::Realtime,
        capture: None,
    };
    let captures = args.pcap.as_deref().map(|path| CaptureFiles::new(path, &scenario)).transpose()?;
    let watch = SignalWatch::start()?;
    let world = Testbed::new(options, args.together, |progress| {
        show(&bar, progress);
        !watch.has_signal()
    })
    .capturing(captures.as_ref().map(|captures| captures as &dyn RunCaptures));
    let seeds = scenario.seeds();
    let jobs = effective::threads(Some(args.together.unwrap_or(MOST_TOGETHER)));
    let request = ComparisonRequest { scenario: &scenario, seeds: &seeds, jobs, series: directory.is_some() };
    progress::expect(&bar, &scenario.name, request.runs());
    let record = if args.record { RecordedRuns::All } else { RecordedRuns::None };
    let surroundings = ComparisonOptions { captures: None, world: Some(&world), record };
    let made = request.run_with(&store, &|| bar.inc(1), surroundings);
    bar.finish_and_clear();
    let mut comparison = made?;
    let runs = world.runs();
    drop(world);
    if watch.end()? {
        return Err(RunError::Interrupted.into());
    }
    captures.map(CaptureFiles::finish).transpose()?;
    // The rest needs no root.
    OutputDirectory::drop_root(directory.as_ref())?;
    let beside = if args.compare { beside(&scenario, &comparison, &runs, &store)? } else { Vec::new() };
    let distributions = compare_distributions(&beside);

    let values = tables::summary_table(&comparison);
    let notes = inconclusive::notes(&runs);
    let verdict =
        if notes.len() == request.runs() { inconclusive::NOTHING.to_owned() } else { comparison.verdict() };
    let ranking = comparison.summary.ranking.clone();
    let whole = scenario.with_absolute_traces(&store);
    let files = live_files(&runs, &beside, &distributions)?;
    let strips = strips::of(&beside, &distributions);
    let part = Part { scenario: &whole, comparison: &mut comparison, suffix: "" };
    let findings = Findings {
        values: &values,
        ranking: ranking.as_ref(),
        verdict: &verdict,
        notes: &notes,
        strips: &strips,
    };
    write(directory.as_mut(), &mut [part], &findings, &args.series, files)?;

    let mut out = terminal::stdout();
    if args.json {
        let (summary, runs, compared) = (comparison.summary, runs.clone(), beside.clone());
        let printed = LiveResults { summary, runs, compared, distributions: distributions.clone() };
        serde_json::to_writer_pretty(&mut out, &printed).map_err(io::Error::from)?;
        writeln!(out)?;
    } else {
        print_tables(&mut out, &scenario, &comparison)?;
        print_runs(&mut out, &runs)?;
        print_beside(&mut out, &beside)?;
        print_distributions(&mut out, &distributions)?;
        let notes = [comparison.fallback_notes(), notes].concat();
        closing(&mut out, directory.as_ref(), &notes, &verdict)?;
    }
    browser::open(args.open, directory.map(|directory| directory.path(REPORT)).as_deref())?;
    Ok(exit_code(&runs, &beside, &distributions))
}

fn exit_code(runs: &[LiveRun], beside: &[RunBeside], distributions: &[DistributionBeside]) -> ExitCode {
    let differs = |one: &Compared| one.agreement == Agreement::Differs;
    let told_apart = distributions.iter().any(|one| one.agreement == Agreement::Differs);
    if told_apart || beside.iter().any(|run| run.compared.iter().any(differs)) {
        ExitCode::FAILURE
    } else if runs.iter().any(inconclusive::is_final) {
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
fn live_files(
    runs: &[LiveRun],
    beside: &[RunBeside],
    distributions: &[DistributionBeside],
) -> Result<Files, Failure> {
    let record = serde_json::json!({ "runs": runs, "compared": beside, "distributions": distributions });
    let mut files = vec![("live.json".to_owned(), json_file(&record)?)];
    for run in runs.iter().filter(|run| run.inconclusive.is_empty()) {
        files.push((format!("host-noise-{}.json", file_name(&run.run)), json_file(&run.noise)?));
    }
    Ok(files)
}

/// Prints the lateness of each real run, and why it does not count.
pub(crate) fn print_runs(out: &mut impl Write, runs: &[LiveRun]) -> Result<(), Failure> {
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
        if run.not_captured > 0 {
            writeln!(out, "    {} packets are missing in the capture", run.not_captured)?;
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

fn print_distributions(out: &mut impl Write, distributions: &[DistributionBeside]) -> Result<(), Failure> {
    if distributions.is_empty() {
        return Ok(());
    }
    let lines = distributions.iter().map(|one| {
        let DistributionBeside { runs, flow, quantity, real, distance, probability, agreement, .. } = one;
        vec![
            runs.clone(),
            flow.clone(),
            (*quantity).to_owned(),
            real.len().to_string(),
            format!("{distance:.2}"),
            format!("{probability:.3}"),
            agreement.name().to_owned(),
        ]
    });
    let head = ["distributions", "flow", "quantity", "real runs", "distance", "probability", "result"];
    writeln!(out, "{}", table::plain(&head, lines.collect()))?;
    writeln!(out)?;
    Ok(())
}

/// Shows the present run in the bar, which is hidden where standard error is no terminal.
fn show(bar: &ProgressBar, progress: Progress<'_>) {
    let Progress { run, at, end } = progress;
    let seconds = |time: weir_net::Time| time.nanos() / 1_000_000_000;
    bar.set_message(terminal::printable(&format!("{run}: {} of {} s", seconds(at), seconds(end))));
}
