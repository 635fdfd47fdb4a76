//! `weir run --sweep`: a scenario over values of its own keys, as a table, curves and maps.

use std::io::{self, Write};

use comfy_table::Cell;
use serde_json::{Map, Value, json};
use weir_lab::build::{RunOptions, stand_ins, titled};
use weir_lab::experiments::{self, Extent, Reproduction, SweepRequest, Swept, Varied, sweep_columns};
use weir_lab::registry::Registry;
use weir_lab::runs::{Forget, RunError};
use weir_lab::scenario::{Contestant, Scenario};

use crate::args::RunArgs;
use crate::effective::{self, named, threads};
use crate::failure::Failure;
use crate::output::{Files, OutputDirectory};
use crate::reproduce::{RUNS, open_log};
use crate::{browser, progress, table};

/// The name of the file with the plots, in the output directory.
const REPORT: &str = "index.html";

/// Keys of a scenario that say nothing of its runs, or that a sweep has of its own.
const NOT_SWEPT: [&str; 5] = ["seed", "runs", "controllers", "name", "title"];
/// Most runs at a place.
const MOST_RUNS: u32 = 1000;

/// Runs the sweep that the arguments ask for.
pub(crate) fn sweep(args: &RunArgs, name: &str, registry: &Registry) -> Result<(), Failure> {
    refuse_what_has_no_meaning(args)?;
    let store = args.data.store();
    let scenario = effective::scenario(&args.changes, registry, name, &[], &store)?;
    let contestants = contestants(args, &scenario)?;
    let traces = scenario.build(&RunOptions::new(1), &store)?.traces;
    let (title, notes) = (titled(&scenario.title, &traces), stand_ins(&traces));
    let set: Vec<String> = args.changes.set.iter().cloned().chain(duration(args)).collect();
    // Each value is tried by itself first, so that what is wrong is told of the option.
    for Varied { path, values, unit } in &args.sweep {
        for value in values {
            let assignment = format!("{path}={value}{unit}");
            let option = format!("--sweep {assignment}");
            effective::try_change(registry, name, &set, option, &assignment)?;
        }
    }
    let request = SweepRequest {
        registry,
        scenario: name,
        title: &title,
        set: &set,
        varied: &args.sweep,
        contestants: &contestants,
        runs: scenario.runs,
    };
    let experiments = [request.experiment()?];
    let extent = Extent { plots: true, ..Extent::default() };
    let reproduction = Reproduction::plan(&experiments, extent, &store)?;
    let mut directory =
        args.out.as_deref().map(|path| OutputDirectory::prepare(path, registry)).transpose()?;
    let log =
        directory.as_ref().map(|directory| open_log(&directory.path(RUNS), &args.parts.merge)).transpose()?;
    let bar = progress::bar(args.quiet);
    let runs = args.parts.shard.map_or_else(|| reproduction.runs(), |shard| reproduction.runs_of(shard));
    progress::expect(&bar, &scenario.name, runs);
    let jobs = threads(args.jobs);
    if let (Some(shard), Some(log)) = (args.parts.shard, &log) {
        reproduction.run_shard(shard, jobs, &store, log, &|| bar.inc(1))?;
        bar.finish_and_clear();
        log.in_order().map_err(RunError::from)?;
        let mut out = anstream::stdout().lock();
        writeln!(out, "{runs} runs, those of shard {shard}, are kept; --merge takes them from there")?;
        return Ok(());
    }
    let ran = match &log {
        Some(log) => reproduction.run(jobs, &store, log, &|| bar.inc(1))?,
        None => reproduction.run(jobs, &store, &Forget, &|| bar.inc(1))?,
    };
    bar.finish_and_clear();
    if let Some(log) = log {
        log.in_order().map_err(RunError::from)?;
    }
    let numbers = request.numbers(&ran.claims);
    let json = as_json(&request, &numbers);
    if let Some(directory) = &mut directory {
        let source = format!("{name}: {} runs at each place", scenario.runs);
        let page = experiments::figures(&title, &source, &ran.plots).into_bytes();
        let mut text = serde_json::to_vec_pretty(&json).map_err(io::Error::from)?;
        text.push(b'\n');
        let files: Files = vec![(REPORT.to_owned(), page), ("sweep.json".to_owned(), text)];
        directory.write(&files)?;
        browser::open(args.open, Some(&directory.path(REPORT)))?;
    }
    for note in &notes {
        writeln!(anstream::stderr(), "{note}")?;
    }
    let mut out = anstream::stdout().lock();
    if args.json {
        serde_json::to_writer_pretty(&mut out, &json).map_err(io::Error::from)?;
        writeln!(out)?;
        return Ok(());
    }
    writeln!(
        out,
        "\u{1b}[1m{}\u{1b}[0m\n{name}: {} runs at each place, mean ± 95 % interval",
        title, scenario.runs
    )?;
    print(&mut out, &request, &numbers)?;
    if let Some(directory) = &directory {
        writeln!(out, "Report: {}", browser::link(&directory.path(REPORT)))?;
    }
    Ok(())
}

/// Options that say nothing of a sweep.
fn refuse_what_has_no_meaning(args: &RunArgs) -> Result<(), Failure> {
    if args.open && args.out.is_none() {
        let problem = "a sweep writes files only with --out; give a directory".to_owned();
        return Err(Failure::Option { option: "--open".to_owned(), problem });
    }
    if args.scenario.as_deref() == Some("-") {
        let problem = "a sweep reads its scenario again and again; give a file".to_owned();
        return Err(Failure::Option { option: "-".to_owned(), problem });
    }
    for (index, Varied { path, .. }) in args.sweep.iter().enumerate() {
        let option = format!("--sweep {path}");
        if NOT_SWEPT.contains(&path.as_str()) {
            let problem =
                "a sweep sets this itself; vary something of the network or of the flows".to_owned();
            return Err(Failure::Option { option, problem });
        }
        if args.sweep[..index].iter().any(|other| other.path == *path) {
            let problem = "this key is varied twice; write all its values in one sweep".to_owned();
            return Err(Failure::Option { option, problem });
        }
    }
    if let Some(runs) = args.changes.runs.filter(|&runs| runs > MOST_RUNS) {
        let problem = format!("a sweep has at most {MOST_RUNS} runs at a place");
        return Err(Failure::Option { option: format!("--runs {runs}"), problem });
    }
    let sets_the_seed = args.changes.set.iter().any(|set| set.trim_start().starts_with("seed"));
    let given = [
        ("--pcap", !args.pcap.is_empty()),
        ("--seed", args.changes.seed.is_some()),
        ("--set seed", sets_the_seed),
    ];
    match given.iter().find(|(_, given)| *given) {
        None => Ok(()),
        Some((option, _)) => Err(Failure::Option {
            option: (*option).to_owned(),
            problem: "a sweep has the seeds from 1 on and keeps no packets; leave it out, or run a place by itself with --set"
                .to_owned(),
        }),
    }
}

/// Who is compared: those of the arguments, else those of the scenario.
fn contestants(args: &RunArgs, scenario: &Scenario) -> Result<Vec<Contestant>, Failure> {
    let given = named(&args.changes.controller)?;
    if !given.is_empty() {
        return Ok(given);
    }
    let own = scenario.controllers.iter().map(|name| Contestant::named(name));
    let own: Vec<Contestant> = own.collect();
    if !own.is_empty() {
        return Ok(own);
    }
    let name = scenario.controllers_in_use();
    if name == "none" || name.contains('+') {
        let problem = format!(
            "`{}` has no media flow, or several under different controllers; name whom to compare with --controller",
            scenario.name
        );
        return Err(Failure::Option { option: "--sweep".to_owned(), problem });
    }
    Ok(vec![Contestant::named(&name)])
}

fn duration(args: &RunArgs) -> Option<String> {
    args.changes.duration.as_ref().map(|duration| format!("duration={duration}"))
}

/// A line for each controller at each place.
fn print(out: &mut impl Write, request: &SweepRequest<'_>, numbers: &[Swept]) -> Result<(), Failure> {
    let mut header: Vec<String> = request.varied.iter().map(|varied| varied.path.clone()).collect();
    header.push("controller".to_owned());
    header.extend(sweep_columns().map(|(label, unit, _)| format!("{label}, {unit}")));
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let row = |swept: &Swept| {
        let at = swept.at.iter().zip(request.varied).map(|(value, varied)| format!("{value}{}", varied.unit));
        let cells = swept.measured.iter().zip(sweep_columns()).map(|(measured, (_, _, decimals))| {
            let half = measured.ci95.map_or_else(String::new, |half| format!(" ± {half:.decimals$}"));
            measured.mean.map_or_else(|| "–".to_owned(), |mean| format!("{mean:.decimals$}{half}"))
        });
        at.chain([swept.controller.clone()]).chain(cells).map(Cell::new).collect()
    };
    writeln!(out, "{}", table::plain(&header, numbers.iter().map(row).collect()))?;
    Ok(())
}

/// An object for each controller at each place.
fn as_json(request: &SweepRequest<'_>, numbers: &[Swept]) -> Value {
    let object = |swept: &Swept| {
        let at: Map<String, Value> = request
            .varied
            .iter()
            .zip(&swept.at)
            .map(|(varied, value)| (varied.path.clone(), json!(format!("{value}{}", varied.unit))))
            .collect();
        let mut object = Map::from_iter([
            ("at".to_owned(), Value::Object(at)),
            ("controller".to_owned(), json!(swept.controller)),
        ]);
        for (measured, (label, unit, _)) in swept.measured.iter().zip(sweep_columns()) {
            object.insert(
                label.to_owned(),
                json!({ "mean": measured.mean, "ci95": measured.ci95, "runs": measured.runs, "unit": unit }),
            );
        }
        Value::Object(object)
    };
    numbers.iter().map(object).collect()
}
