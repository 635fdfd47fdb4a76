//! `weir compare`: a row per controller, to choose by.

use std::io::Write;
use std::time::Instant;

use serde_json::{Map, json};
use weir_lab::comparison::cost::{self, Minute};
use weir_lab::comparison::portrait;
use weir_lab::comparison::{Comparison, ComparisonRequest, mark_best};
use weir_lab::page::{Best, Cell, Column, SummaryTable};
use weir_lab::registry::{self, Registry};
use weir_lab::results::Value;
use weir_lab::results::stats::kinds_in_words;
use weir_lab::scenario::{Scenario, skip_rule};

use crate::args::{CompareArgs, Format};
use crate::effective::{contestants, laid_over, threads};
use crate::failure::Failure;
use crate::{markdown, progress, table};

/// Rounds of the measurement of cost; the least counts, as others can only slow a round down.
const ROUNDS: usize = 15;

/// Runs the scenarios of the portrait and prints the table.
pub(crate) fn compare(args: &CompareArgs, registry: &Registry) -> Result<(), Failure> {
    let contestants = contestants(&args.controller, registry)?;
    let store = args.data.store();
    let mut overrides = laid_over(&contestants);
    overrides.extend(args.runs.map(|runs| format!("runs={runs}")));
    let bar = progress::bar(args.quiet);
    let open = |name: &str| Scenario::open_in(registry, name, &overrides);
    let scenarios = portrait::SCENARIOS.into_iter().map(open).collect::<Result<Vec<_>, _>>()?;
    let run = |scenario: &Scenario| -> Result<Comparison, Failure> {
        let seeds = scenario.seeds();
        let jobs = threads(args.jobs);
        let request = ComparisonRequest { scenario, seeds: &seeds, jobs, series: false };
        progress::expect(&bar, &scenario.name, request.runs());
        Ok(request.run(&store, &|| bar.inc(1))?)
    };
    let comparisons = scenarios.iter().map(run).collect::<Result<Vec<_>, _>>()?;
    let comparisons: Box<[Comparison; portrait::SCENARIOS.len()]> =
        comparisons.into_boxed_slice().try_into().unwrap_or_else(|_| unreachable!("one each"));
    let mut summary = portrait::table(&comparisons);
    if args.cost {
        let laws = comparisons[0].controllers.iter().map(|controller| controller.law.as_str());
        add_cost(&mut summary, registry, laws);
    }
    bar.finish_and_clear();
    let mut out = anstream::stdout().lock();
    match args.format {
        Format::Table => {
            writeln!(out, "{}, all media\n", skip_rule(&scenarios))?;
            writeln!(out, "{}", table::summary("controller", &summary, table::terminal_width()))?;
            table::write_marks(&mut out, &summary)?;
        }
        Format::Markdown => {
            writeln!(out, "`{}`, all media\n", skip_rule(&scenarios))?;
            write!(out, "{}", in_markdown(&summary))?;
        }
        Format::Json => {
            let text = serde_json::to_string_pretty(&rows(&summary)).map_err(std::io::Error::from)?;
            writeln!(out, "{text}")?;
        }
    }
    for note in comparisons[0].stand_ins() {
        writeln!(anstream::stderr(), "{note}")?;
    }
    Ok(())
}

/// The column that `--cost` adds.
pub(crate) fn cost_column() -> Column {
    Column {
        label: "cost per packet".to_owned(),
        unit: "ns".to_owned(),
        definition: "of the sender half with its history, on this machine, least of 15 rounds".to_owned(),
        decimals: 0,
        best: Best::Lowest,
    }
}

/// A variant costs what its law with default options does.
fn add_cost<'l>(summary: &mut SummaryTable, registry: &Registry, laws: impl Iterator<Item = &'l str>) {
    summary.columns.push(cost_column());
    for (row, law) in summary.rows.iter_mut().zip(laws) {
        // A yardstick is measured without the run that it sees: that is the cost of nothing.
        if registry::is_yardstick(law) {
            row.cells.push(None);
            continue;
        }
        let nanos = (0..ROUNDS).filter_map(|_| nanos_per_packet(registry, law)).reduce(f64::min);
        row.cells.push(nanos.map(Cell::new));
    }
    let position = summary.columns.len() - 1;
    let costs: Vec<[Value; 1]> =
        summary.rows.iter().map(|row| [row.cells[position].map(|c| c.mean)]).collect();
    let costs: Vec<&[Value]> = costs.iter().map(<[Value; 1]>::as_slice).collect();
    mark_best(summary, position, &costs);
}

#[expect(clippy::disallowed_methods, reason = "the face may look at the clock")]
fn nanos_per_packet(registry: &Registry, controller: &str) -> Option<f64> {
    let minute = Minute::of(registry, controller).ok()?;
    let began = Instant::now();
    std::hint::black_box(minute.run());
    Some(began.elapsed().as_nanos() as f64 / f64::from(cost::PACKETS))
}

/// A table for a page, with the definitions below it.
fn in_markdown(summary: &SummaryTable) -> String {
    let heads = summary.columns.iter().map(|column| match column.unit.as_str() {
        "" => column.label.clone(),
        unit => format!("{}, {unit}", column.label),
    });
    let head: Vec<String> = std::iter::once("controller".to_owned()).chain(heads).collect();
    let mut text = markdown::head(&head);
    for row in &summary.rows {
        let cells = summary.columns.iter().zip(&row.cells).map(|(column, cell)| {
            let decimals = column.decimals;
            match cell {
                None => "–".to_owned(),
                Some(cell) => {
                    let half = cell.ci95.map_or_else(String::new, |half| format!(" ± {half:.decimals$}"));
                    format!("{:.decimals$}{half}{}", cell.mean, kinds_in_words(cell.kinds, decimals))
                }
            }
        });
        text += &markdown::line(&std::iter::once(format!("`{}`", row.name)).chain(cells).collect::<Vec<_>>());
    }
    text.push('\n');
    let defined = |column: &Column| format!("* **{}**: {}.\n", column.label, column.definition);
    text.extend(summary.columns.iter().map(defined));
    text
}

/// An object per controller, its values by the names of the columns.
fn rows(summary: &SummaryTable) -> serde_json::Value {
    let object = |row: &weir_lab::page::Row| {
        let mut object = Map::new();
        object.insert("controller".to_owned(), json!(row.name));
        for (column, cell) in summary.columns.iter().zip(&row.cells) {
            let value = cell
                .as_ref()
                .map(|cell| json!({ "mean": cell.mean, "ci95": cell.ci95, "kinds": cell.kinds }));
            object.insert(column.label.clone(), json!(value));
        }
        serde_json::Value::Object(object)
    };
    summary.rows.iter().map(object).collect()
}
