//! `weir watch`: a scenario is run each time its file is saved.

use std::fs;
use std::io::Write;
use std::thread::sleep;
use std::time::{Duration, SystemTime};

use weir_scenario::registry::Registry;
use weir_scenario::scenario::Scenario;
use weir_scenario::shipped;
use weir_study::comparison::{Comparison, ComparisonRequest, tables};

use crate::args::WatchArgs;
use crate::failure::Failure;
use crate::run::print_tables;
use crate::terminal;
use crate::{effective, progress, table};

/// Interval of the checks whether the file was saved.
const LOOK_EVERY: Duration = Duration::from_millis(300);

/// Runs the scenario, and once more each time its file is saved. The command ends with the process, or with
/// `--once`.
pub(crate) fn watch(args: &WatchArgs, registry: &Registry) -> Result<(), Failure> {
    let name = &args.scenario;
    if shipped::find(name).is_some() || name == "-" {
        let problem = "this is no file that could be saved; name one, such as `my.toml`".to_owned();
        return Err(Failure::Option { option: format!("watch {name}"), problem });
    }
    effective::say_repeated("--controller", &args.changes.controller);
    let mut seen = saved(name);
    if seen.is_none() {
        // Reports the error if it cannot be read.
        Scenario::open_in(registry, name, &[])?;
    }
    let mut before: Option<Comparison> = None;
    loop {
        match run(args, registry) {
            Ok((scenario, now)) => {
                print(&scenario, &now, before.as_ref())?;
                if args.once && before.is_some() {
                    return Ok(());
                }
                before = Some(now);
            }
            // A file in the middle of a change is corrected by the next save.
            Err(failure) => drop(failure.report()),
        }
        writeln!(terminal::stdout(), "Waiting for {name} to be saved; Ctrl-C ends.")?;
        seen = loop {
            sleep(LOOK_EVERY);
            // Editors may remove a file before they put the new one into its place.
            match saved(name) {
                Some(now) if Some(now) != seen => break Some(now),
                _ => {}
            }
        };
    }
}

/// When the file was saved, and its length, or `None` if it does not exist.
fn saved(path: &str) -> Option<(SystemTime, u64)> {
    let found = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    Some((found.modified().ok()?, found.len()))
}

fn run(args: &WatchArgs, registry: &Registry) -> Result<(Scenario, Comparison), Failure> {
    let store = args.data.store();
    let scenario = effective::scenario(&args.changes, registry, &args.scenario, &[], &store)?;
    let seeds = scenario.seeds();
    let jobs = effective::threads(args.jobs);
    let request = ComparisonRequest { scenario: &scenario, seeds: &seeds, jobs, series: false };
    let bar = progress::bar(args.quiet);
    progress::expect(&bar, &scenario.name, request.runs());
    let comparison = request.run(&store, &|| bar.inc(1))?;
    bar.finish_and_clear();
    Ok((scenario, comparison))
}

/// The results, and their differences from those before.
fn print(scenario: &Scenario, now: &Comparison, before: Option<&Comparison>) -> Result<(), Failure> {
    let mut out = terminal::stdout();
    let width = table::terminal_width();
    print_tables(&mut out, scenario, now)?;
    for note in now.fallback_notes() {
        writeln!(out, "{}", table::sentence(&note, width))?;
    }
    let Some(before) = before else { return Ok(()) };
    if before.summary.controllers == now.summary.controllers {
        writeln!(out, "Nothing came out otherwise than before.")?;
        return Ok(());
    }
    match tables::change_table(before, now) {
        Some(changes) => writeln!(out, "{}", table::summary("less before, run by run", &changes, width))?,
        None => writeln!(out, "Other runs or controllers than before: nothing to compare with.")?,
    }
    Ok(())
}
