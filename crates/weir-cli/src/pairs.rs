//! `weir pairs`: every two controllers, coupled and left alone.

use std::io::Write;

use comfy_table::{Cell, Color};
use weir_import::traces::TraceStore;
use weir_measure::results::Statistic;
use weir_scenario::registry::Registry;
use weir_study::pairs::{self, Pair, PairOutcome, PairsRequest};

use crate::args::{Format, PairsArgs};
use crate::effective::{each_once, say_repeated, threads};
use crate::failure::Failure;
use crate::terminal;
use crate::{progress, table};

const HEADER: [&str; 8] = [
    "controllers",
    "Jain's index, alone",
    "coupled",
    "mean queue in ms, alone",
    "coupled",
    "utilisation in %, alone",
    "coupled",
    "unharmed",
];

/// Runs the pairs and prints them.
pub(crate) fn pairs(args: &PairsArgs, registry: &Registry) -> Result<(), Failure> {
    say_repeated("--controller", &args.controller);
    let controllers: Vec<&str> = match args.controller.as_slice() {
        [] => pairs::controllers(registry).collect(),
        some => each_once(some),
    };
    let seeds: Vec<u64> = (1..=u64::from(args.runs)).collect();
    let request = PairsRequest {
        registry,
        controllers: &controllers,
        algorithm: &args.algorithm,
        seeds: &seeds,
        jobs: threads(args.table.jobs),
    };
    let bar = progress::bar(args.table.quiet);
    progress::expect(&bar, "pairs", request.runs());
    let pairs = request.run(&TraceStore::at(None), &|| bar.inc(1))?;
    bar.finish_and_clear();
    let mut out = terminal::stdout();
    match args.table.format() {
        Format::Table => print_table(&mut out, &pairs)?,
        Format::Markdown => print_markdown(&mut out, &pairs)?,
        Format::Json => {
            let text = serde_json::to_string_pretty(&pairs).map_err(std::io::Error::from)?;
            writeln!(out, "{text}")?;
        }
    }
    Ok(())
}

/// The row of a pair.
fn row(pair: &Pair) -> [String; 8] {
    let figures = |PairOutcome { jain, queue_ms, utilisation }: &PairOutcome| {
        [figure(*jain, 1.0, 3), figure(*queue_ms, 1.0, 1), figure(*utilisation, 100.0, 1)]
    };
    let [jain_alone, queue_alone, used_alone] = figures(&pair.uncoupled);
    let [jain, queue, used] = figures(&pair.coupled);
    let names = format!("{} + {}", pair.controllers[0], pair.controllers[1]);
    let verdict = if pair.is_unharmed() { "yes" } else { "no" };
    [names, jain_alone, jain, queue_alone, queue, used_alone, used, verdict.to_owned()]
}

fn figure(value: Option<Statistic>, scale: f64, decimals: usize) -> String {
    let Some(Statistic { mean, ci95, .. }) = value else { return "–".to_owned() };
    let half = ci95.map_or_else(String::new, |half| format!(" ± {:.decimals$}", half * scale));
    format!("{:.decimals$}{half}", mean * scale)
}

/// The number of pairs in which coupling harms neither flow.
fn summary(pairs: &[Pair]) -> String {
    let unharmed = pairs.iter().filter(|pair| pair.is_unharmed()).count();
    format!("{unharmed} of {} pairs are unharmed by coupling.", pairs.len())
}

fn print_table(out: &mut impl Write, pairs: &[Pair]) -> Result<(), Failure> {
    let rows = pairs.iter().map(|pair| {
        let colour = if pair.is_unharmed() { Color::Green } else { Color::Red };
        let mut cells: Vec<Cell> = row(pair).into_iter().map(Cell::new).collect();
        if let Some(verdict) = cells.pop() {
            cells.push(verdict.fg(colour));
        }
        cells
    });
    writeln!(out, "{}", table::plain(&HEADER, rows.collect()))?;
    writeln!(out, "{}", summary(pairs))?;
    Ok(())
}

fn print_markdown(out: &mut impl Write, pairs: &[Pair]) -> Result<(), Failure> {
    writeln!(out, "| {} |\n|{}", HEADER.join(" | "), "---|".repeat(HEADER.len()))?;
    for row in pairs.iter().map(row) {
        writeln!(out, "| {} |", row.join(" | "))?;
    }
    writeln!(out, "\n{}", summary(pairs))?;
    Ok(())
}
