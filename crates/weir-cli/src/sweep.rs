//! `weir run --sweep`: a scenario over values of its own keys, as a table, curves and maps.

use std::io::{self, Write};

use comfy_table::{Attribute, Cell};
use serde_json::{Map, Value, json};
use weir_form::Varied;
use weir_report::page::{PlacedTable, Row};
use weir_report::text::Number;
use weir_scenario::compile::{RunOptions, fallback_notes, titled};
use weir_scenario::registry::Registry;
use weir_scenario::scenario::{Candidate, Flow, FlowTraffic, Scenario};
use weir_study::experiments::{self, Extent, Reproduction, SweepRequest, Swept};
use weir_study::paired::RunRow;
use weir_study::runs::{TableRun, table_axes};

use crate::args::{RunArgs, TableForm};
use crate::effective::{self, named};
use crate::failure::Failure;
use crate::kept::ResultStore;
use crate::output::{Files, OutputDirectory, json_file};
use crate::terminal;
use crate::{browser, differences, table, tidy};

/// The name of the file with the plots, in the output directory.
const REPORT: &str = "index.html";

/// Keys of a scenario without influence on its runs, or that a sweep sets itself.
const NOT_SWEPT: [&str; 5] = ["seed", "runs", "controllers", "name", "title"];
/// Most runs at a place.
const MOST_RUNS: u32 = 1000;

/// Runs the sweep of the arguments.
pub(crate) fn sweep(args: &RunArgs, name: &str, registry: &Registry) -> Result<(), Failure> {
    refuse_what_has_no_meaning(args)?;
    let store = args.data.store();
    let scenario = effective::scenario(&args.changes, registry, name, &[], &store)?;
    refuse_controllers(args, &scenario)?;
    let contestants = contestants(args, &scenario)?;
    let traces = scenario.build(&RunOptions::new(1), &store)?.traces;
    let (title, notes) = (titled(&scenario.title, &traces), fallback_notes(&traces));
    let set: Vec<String> = args.changes.set.iter().cloned().chain(duration(args)).collect();
    let laws: Vec<&str> = contestants.iter().map(|own| law(&scenario, own)).collect();
    let request = SweepRequest {
        registry,
        scenario: name,
        title: &title,
        set: &set,
        varied: &args.sweep,
        contestants: &contestants,
        laws: &laws,
        runs: scenario.runs,
    };
    let experiments = [request.experiment()?];
    let extent = Extent { plots: true, ..Extent::default() };
    let reproduction = Reproduction::plan(&experiments, extent, &store)
        .map_err(|error| effective::blame_sweep(&args.sweep, "", error))?;
    let own = format!("{}-sweep", scenario.name);
    let mut directory = OutputDirectory::usual(args.out.as_deref(), args.json, &own, registry)?;
    let form = args.table.unwrap_or(TableForm::Parquet);
    let reproduction = reproduction.with_metrics(directory.is_some() && form != TableForm::None);
    let kept = ResultStore { parts: &args.parts, jobs: args.jobs, quiet: args.quiet, what: &scenario.name };
    let Some(ran) = kept.run(&reproduction, &store, directory.as_ref())? else { return Ok(()) };
    let numbers = request.numbers(&ran);
    let tables = request.tables(&numbers);
    let json = as_json(&request, &numbers);
    if let Some(directory) = &mut directory {
        let runs = request.table_runs(&ran).map(|run| TableRun { scenario: &scenario.name, ..run });
        tidy::add(directory, form, &table_axes(&args.sweep), runs)?;
        let source = format!("{name}: {} runs at each place", scenario.runs);
        let page = experiments::figures(&title, &source, &ran.plots, &tables).into_bytes();
        let files: Files = vec![(REPORT.to_owned(), page), ("sweep.json".to_owned(), json_file(&json)?)];
        directory.write(&files)?;
        browser::open(args.open, Some(&directory.path(REPORT)))?;
    }
    for note in &notes {
        writeln!(terminal::stderr(), "{note}")?;
    }
    let mut out = terminal::stdout();
    if args.json {
        serde_json::to_writer_pretty(&mut out, &json).map_err(io::Error::from)?;
        writeln!(out)?;
        return Ok(());
    }
    writeln!(
        out,
        "{}\n{name}: {} runs at each place, mean ± 95 % interval",
        terminal::bold(&title),
        scenario.runs
    )?;
    print(&mut out, &tables)?;
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
    refuse_keys(&args.sweep)?;
    refuse_what_is_set(args)?;
    if let Some(alone) = args.sweep.iter().find(|varied| varied.values.len() < 2) {
        let problem = "this is one value; --set sets it, a sweep needs two at least".to_owned();
        let option = format!("--sweep {}={}", alone.path, alone.values[0].text);
        return Err(Failure::Option { option, problem });
    }
    if let Some(runs) = args.changes.runs.filter(|&runs| runs > MOST_RUNS) {
        let problem = format!("a sweep has at most {MOST_RUNS} runs at a place");
        return Err(Failure::Option { option: format!("--runs {runs}"), problem });
    }
    let sets_the_seed = args.changes.set.iter().any(|set| set.trim_start().starts_with("seed"));
    let given = [
        ("--pcap", !args.packets.pcap.is_empty()),
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

/// An error for a key that is both set and varied.
fn refuse_what_is_set(args: &RunArgs) -> Result<(), Failure> {
    let set =
        args.changes.set.iter().map(|set| (format!("--set {set}"), set.split('=').next().unwrap_or(set)));
    let duration = args.changes.duration.iter().map(|own| (format!("--duration {own}"), "duration"));
    for (option, path) in set.chain(duration) {
        if args.sweep.iter().any(|varied| varied.path == path.trim()) {
            let problem = format!("--sweep {} sets this key already; leave one of both out", path.trim());
            return Err(Failure::Option { option, problem });
        }
    }
    Ok(())
}

/// An error for keys that cannot be varied, or are given twice.
pub(crate) fn refuse_keys(varied: &[Varied]) -> Result<(), Failure> {
    for (index, Varied { path, .. }) in varied.iter().enumerate() {
        let option = format!("--sweep {path}");
        if NOT_SWEPT.contains(&path.as_str()) {
            let problem =
                "a sweep sets this itself; vary something of the network or of the flows".to_owned();
            return Err(Failure::Option { option, problem });
        }
        if varied[..index].iter().any(|other| other.path == *path) {
            let problem = "this key is varied twice; write all its values in one sweep".to_owned();
            return Err(Failure::Option { option, problem });
        }
    }
    Ok(())
}

/// An error for the controller of a flow that the candidates take over.
fn refuse_controllers(args: &RunArgs, scenario: &Scenario) -> Result<(), Failure> {
    let is_judged = |flow: &Flow| matches!(&flow.carried, FlowTraffic::Media(media) if !media.competitor);
    let judged = scenario.flows.iter().filter(|(_, flow)| is_judged(flow));
    for (name, _) in judged {
        let path = format!("flows.{name}.controller");
        if args.sweep.iter().any(|varied| varied.path == path) {
            let problem = "the compared controllers take this over; name them with --controller".to_owned();
            return Err(Failure::Option { option: format!("--sweep {path}"), problem });
        }
    }
    Ok(())
}

/// The candidates: those of the arguments, else those of the scenario.
fn contestants(args: &RunArgs, scenario: &Scenario) -> Result<Vec<Candidate>, Failure> {
    let given = named(&args.changes.controller)?;
    if !given.is_empty() {
        return Ok(given);
    }
    let own = scenario.controllers.iter().map(|name| Candidate::named(name));
    let own: Vec<Candidate> = own.collect();
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
    Ok(vec![Candidate::named(&name)])
}

fn duration(args: &RunArgs) -> Option<String> {
    args.changes.duration.as_ref().map(|duration| format!("duration={duration}"))
}

/// The controller of a candidate, which may be a variant of it.
fn law<'a>(scenario: &'a Scenario, contestant: &'a Candidate) -> &'a str {
    scenario.controller_of(&contestant.name)
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

/// An object for each controller at each place; for a variant also its differences from the first of its
/// controller.
fn as_json(request: &SweepRequest<'_>, numbers: &[Swept]) -> Value {
    let objects = |swept: &Swept| {
        let at: Map<String, Value> = request
            .varied
            .iter()
            .zip(&swept.at)
            .map(|(varied, &value)| (varied.path.clone(), json!(varied.text_at(value))))
            .collect();
        let (summary, differences) = (swept.values.with_intervals(), swept.values.differences());
        let object = |(runs, row): (&RunRow, &Row)| {
            let mut object = Map::from_iter([
                ("at".to_owned(), Value::Object(at.clone())),
                ("controller".to_owned(), json!(row.name)),
            ]);
            for ((column, cell), values) in summary.columns.iter().zip(&row.cells).zip(&runs.values) {
                let (mean, ci95) = (cell.map(|cell| cell.mean), cell.and_then(|cell| cell.ci95));
                let known = values.iter().flatten().count();
                object.insert(
                    column.label.clone(),
                    json!({ "mean": mean, "ci95": ci95, "runs": known, "unit": column.unit }),
                );
            }
            object.extend(differences::less(&differences, &row.name));
            Value::Object(object)
        };
        swept.values.rows.iter().zip(&summary.rows).map(object).collect::<Vec<_>>()
    };
    numbers.iter().flat_map(objects).collect()
}
