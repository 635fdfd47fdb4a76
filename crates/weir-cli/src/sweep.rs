//! `weir run --sweep`: a scenario over values of its own keys, as a table, curves and maps.

use std::io::{self, Write};

use comfy_table::{Attribute, Cell};
use weir_form::Varied;
use weir_report::page::{PlacedTable, Row};
use weir_report::text::Number;
use weir_scenario::registry::Registry;
use weir_study::experiments::{SweepError, SweepPart, SweepRequest, SweptScenario};
use weir_study::sweep::{self, PlannedSweep, REPORT};

use crate::args::{RunArgs, TableForm};
use crate::effective::{self, named};
use crate::failure::Failure;
use crate::kept::ResultStore;
use crate::output::OutputDirectory;
use crate::terminal;
use crate::{browser, table};

/// Runs the sweep of the arguments.
pub(crate) fn sweep(args: &RunArgs, name: &str, registry: &Registry) -> Result<(), Failure> {
    refuse_what_has_no_meaning(args)?;
    let store = args.data.store();
    let scenario = effective::scenario(&args.changes, registry, name, &[], &store)?;
    let duration = args.changes.duration.as_ref().map(|duration| format!("duration={duration}"));
    let set = args.changes.set.iter().cloned().chain(duration).collect();
    let source = SweptScenario { registry: registry.clone(), name: name.to_owned(), text: None };
    let candidates = named(&args.changes.controller)?;
    let refused = |error| match (error, &args.changes.duration) {
        (SweepError::Refused { part: SweepPart::Set(text), problem }, Some(duration))
            if text == format!("duration={duration}") =>
        {
            Failure::Option { option: format!("--duration {duration}"), problem }
        }
        (error, _) => refused(&args.sweep, error),
    };
    let request = SweepRequest::new(source, &scenario, set, args.sweep.clone(), candidates, &store);
    let PlannedSweep { request, runs } = PlannedSweep::new(request.map_err(refused)?, &store)
        .map_err(|error| effective::blame_sweep(&args.sweep, "", error))?;
    let own = format!("{}-sweep", scenario.name);
    let mut directory = OutputDirectory::usual(args.out.as_deref(), args.json, &own, registry)?;
    let form = args.table.unwrap_or(TableForm::Parquet);
    let runs = runs.with_metrics(directory.is_some() && form != TableForm::None);
    let kept = ResultStore { parts: &args.parts, jobs: args.jobs, quiet: args.quiet, what: &scenario.name };
    let Some(ran) = kept.run(&runs, &store, directory.as_ref())? else { return Ok(()) };
    let numbers = request.numbers(&ran);
    let content = sweep::json(&request, &numbers);
    if let Some(directory) = &mut directory {
        request.write(&ran, directory, form.format(), &content)?;
        browser::open(args.open, Some(&directory.path(REPORT)))?;
    }
    for note in &request.notes {
        writeln!(terminal::stderr(), "{note}")?;
    }
    let mut out = terminal::stdout();
    if args.json {
        serde_json::to_writer_pretty(&mut out, &content).map_err(io::Error::from)?;
        writeln!(out)?;
        return Ok(());
    }
    writeln!(
        out,
        "{}\n{name}: {} runs at each place, mean ± 95 % interval",
        terminal::bold(&request.title),
        scenario.runs
    )?;
    print(&mut out, &request.tables(&numbers))?;
    if let Some(directory) = &directory {
        writeln!(out, "Report: {}", browser::link(&directory.path(REPORT)))?;
    }
    Ok(())
}

/// An error for options without a meaning in a sweep.
fn refuse_what_has_no_meaning(args: &RunArgs) -> Result<(), Failure> {
    browser::is_written(args.open, args.json, args.out.as_deref())?;
    if args.scenario.as_deref() == Some("-") {
        let problem = "a sweep reads its scenario again and again; give a file".to_owned();
        return Err(Failure::Option { option: "-".to_owned(), problem });
    }
    let given = [("--pcap", !args.packets.pcap.is_empty()), ("--seed", args.changes.seed.is_some())];
    match given.iter().find(|(_, given)| *given) {
        None => Ok(()),
        Some((option, _)) => Err(Failure::Option {
            option: (*option).to_owned(),
            problem: "a sweep has the seeds from 1 on and keeps no packets; leave it out, or run a place by itself with --set"
                .to_owned(),
        }),
    }
}

/// The failure of a refused request, at its option.
pub(crate) fn refused(varied: &[Varied], error: SweepError) -> Failure {
    let (part, problem) = match error {
        SweepError::Scenario(error) => return effective::blame_sweep(varied, "", error),
        SweepError::Refused { part, problem } => (part, problem),
    };
    let option = match part {
        SweepPart::Key(key) if key.is_empty() => "--sweep".to_owned(),
        SweepPart::Key(key) => format!("--sweep {key}"),
        SweepPart::FlowController(path) => {
            let problem = format!("{problem} with --controller");
            return Failure::Option { option: format!("--sweep {path}"), problem };
        }
        SweepPart::Set(text) => format!("--set {text}"),
        SweepPart::Runs(runs) => format!("--runs {runs}"),
        SweepPart::Controllers => "--controller".to_owned(),
    };
    Failure::Option { option, problem }
}

/// A line for each row of the tables, each below its place.
fn print(out: &mut impl Write, tables: &[PlacedTable]) -> Result<(), Failure> {
    for (index, placed) in tables.iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        let heads = placed.columns.iter().map(|column| format!("{}, {}", column.label, column.unit));
        let header: Vec<String> = placed.heads.iter().cloned().chain(heads).collect();
        let header: Vec<&str> = header.iter().map(String::as_str).collect();
        let row = |(at, row): &(Vec<String>, Row)| -> Vec<Cell> {
            let numbers = placed.columns.iter().enumerate().map(|(position, column)| {
                let number = Number::of(row, position, column.decimals);
                let cell = Cell::new(number.map_or_else(|| "–".to_owned(), |number| number.to_string()));
                if table::is_marked(row, position) { cell.add_attribute(Attribute::Bold) } else { cell }
            });
            at.iter().chain([&row.name]).map(Cell::new).chain(numbers).collect()
        };
        writeln!(out, "{}", table::plain(&header, placed.rows.iter().map(row).collect()))?;
        table::write_table_notes(out, &placed.notes())?;
        table::write_marks(out, placed.rows.iter().map(|(_, row)| row))?;
    }
    Ok(())
}
