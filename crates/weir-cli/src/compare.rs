//! `weir compare`: a row per controller, to choose by.

use std::io::Write;
use std::time::Instant;

use serde_json::json;
use weir_measure::results::Value;
use weir_measure::results::ranking::Ranking;
use weir_report::page::{Best, Differences, SummaryCell, SummaryColumn, SummaryTable};
use weir_scenario::registry::{self, Registry};
use weir_scenario::scenario::{Candidate, Scenario, skip_rule};
use weir_study::comparison::cost::{self, ReplayedCall};
use weir_study::comparison::portrait;
use weir_study::comparison::{Comparison, ComparisonRequest};
use weir_study::differences::{less, measured};
use weir_study::paired::mark_best;

use crate::args::{CompareArgs, Format};
use crate::differences;
use crate::effective::{candidates, say_repeated, threads};
use crate::failure::Failure;
use crate::terminal;
use crate::{markdown, progress, table};

/// Rounds of the measurement of cost; the minimum counts, because other processes can only slow a round.
const ROUNDS: usize = 15;

/// Runs the scenarios of the portrait and prints the table.
pub(crate) fn compare(args: &CompareArgs, registry: &Registry) -> Result<(), Failure> {
    say_repeated("--controller", &args.controller);
    let candidates = candidates(&args.controller, registry, |_| Ok(false))?;
    let store = args.data.store();
    let mut overrides = Candidate::laid_over(&candidates);
    overrides.extend(args.runs.map(|runs| format!("runs={runs}")));
    let bar = progress::bar(args.table.quiet);
    let open = |name: &str| Scenario::open_in(registry, name, &overrides);
    let scenarios = portrait::SCENARIOS.into_iter().map(open).collect::<Result<Vec<_>, _>>()?;
    let run = |scenario: &Scenario| -> Result<Comparison, Failure> {
        let seeds = scenario.seeds();
        let jobs = threads(args.table.jobs);
        let request = ComparisonRequest { scenario, seeds: &seeds, jobs, series: false };
        progress::expect(&bar, &scenario.name, request.runs());
        Ok(request.run(&store, &|| bar.inc(1))?)
    };
    let comparisons = scenarios.iter().map(run).collect::<Result<Vec<_>, _>>()?;
    let comparisons: Box<[Comparison; portrait::SCENARIOS.len()]> =
        comparisons.into_boxed_slice().try_into().unwrap_or_else(|_| unreachable!("one each"));
    let ranking = portrait::ranking(&comparisons);
    let ranking = ranking.as_ref();
    let verdict = portrait::verdict(&comparisons, ranking);
    let values = portrait::table(&comparisons);
    let differences = values.differences();
    let mut summary = values.summary();
    if args.cost {
        let controllers = comparisons[0].controllers.iter().map(|runs| runs.controller.as_str());
        add_cost(&mut summary, registry, controllers);
    }
    bar.finish_and_clear();
    let mut out = terminal::stdout();
    match args.table.format() {
        Format::Table => {
            writeln!(out, "{}, all media\n", skip_rule(&scenarios))?;
            writeln!(out, "{}", table::summary("controller", &summary, table::terminal_width()))?;
            table::write_notes(&mut out, &summary)?;
            differences::write(&mut out, None, &differences)?;
            if let Some(verdict) = verdict {
                writeln!(out, "{}", table::sentence(&verdict, table::terminal_width()))?;
            }
        }
        Format::Markdown => {
            writeln!(out, "`{}`, all media\n", skip_rule(&scenarios))?;
            let table = markdown::numbers("controller", &summary) + &definitions(&summary);
            write!(out, "{table}{}", differences::in_markdown(None, &differences))?;
            if let Some(verdict) = verdict {
                write!(out, "\n{}\n", markdown::text(&verdict))?;
            }
        }
        Format::Json => {
            let text = serde_json::to_string_pretty(&rows(&summary, &differences, ranking))
                .map_err(std::io::Error::from)?;
            writeln!(out, "{text}")?;
        }
    }
    for note in comparisons[0].fallback_notes() {
        writeln!(terminal::stderr(), "{note}")?;
    }
    Ok(())
}

/// The column that `--cost` adds.
pub(crate) fn cost_column() -> SummaryColumn {
    SummaryColumn {
        label: "cost per packet".to_owned(),
        unit: "ns".to_owned(),
        definition: "of the sender half with its history, on this machine, least of 15 rounds".to_owned(),
        decimals: 0,
        best: Best::Lowest,
    }
}

/// The cost of a variant is that of its controller with default options.
fn add_cost<'l>(summary: &mut SummaryTable, registry: &Registry, controllers: impl Iterator<Item = &'l str>) {
    summary.columns.push(cost_column());
    for (row, controller) in summary.rows.iter_mut().zip(controllers) {
        // A reference sender is measured without the run that it observes, so its cost would mean nothing.
        if registry::is_reference(controller) {
            row.cells.push(None);
            continue;
        }
        let nanos = (0..ROUNDS).filter_map(|_| nanos_per_packet(registry, controller)).reduce(f64::min);
        row.cells.push(nanos.map(SummaryCell::new));
    }
    let position = summary.columns.len() - 1;
    let costs: Vec<[Value; 1]> =
        summary.rows.iter().map(|row| [row.cells[position].map(|c| c.mean)]).collect();
    let costs: Vec<&[Value]> = costs.iter().map(<[Value; 1]>::as_slice).collect();
    mark_best(summary, position, &costs);
}

#[expect(clippy::disallowed_methods, reason = "the face may look at the clock")]
fn nanos_per_packet(registry: &Registry, controller: &str) -> Option<f64> {
    let minute = ReplayedCall::of(registry, controller).ok()?;
    let began = Instant::now();
    std::hint::black_box(minute.run());
    Some(began.elapsed().as_nanos() as f64 / f64::from(cost::PACKETS))
}

/// Definitions of the columns, for the text below the table.
fn definitions(summary: &SummaryTable) -> String {
    let defined = |column: &SummaryColumn| format!("* **{}**: {}.\n", column.label, column.definition);
    std::iter::once("\n".to_owned()).chain(summary.columns.iter().map(defined)).collect()
}

/// An object per controller: whether it leads and is recommended, `null` if the runs do not suffice, and its
/// values by the names of the columns. A variant also has its differences from the first of its controller.
fn rows(summary: &SummaryTable, differences: &[Differences], ranking: Option<&Ranking>) -> serde_json::Value {
    let ranking = ranking.filter(|ranking| ranking.can_tell());
    let within = |of: fn(&Ranking) -> &Vec<String>, name: &String| ranking.map(|own| of(own).contains(name));
    let object = |row: &weir_report::page::Row| {
        let own = [
            ("controller".to_owned(), json!(row.name)),
            ("leading".to_owned(), json!(within(|own| &own.leading, &row.name))),
            ("recommended".to_owned(), json!(within(|own| &own.recommended, &row.name))),
        ];
        let own = own.into_iter();
        let object = own.chain(measured(&summary.columns, row)).chain(less(differences, &row.name));
        serde_json::Value::Object(object.collect())
    };
    summary.rows.iter().map(object).collect()
}
