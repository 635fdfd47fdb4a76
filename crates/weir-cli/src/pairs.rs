//! `weir pairs`: every two laws, coupled and left alone.

use std::io::Write;

use comfy_table::{Cell, Color};
use weir_lab::pairs::{self, Outcome, Pair, PairsRequest};
use weir_lab::results::Statistic;
use weir_lab::traces::TraceStore;

use crate::args::{Format, PairsArgs};
use crate::effective::{each_once, threads};
use crate::failure::Failure;
use crate::{progress, table};

const HEADER: [&str; 6] =
    ["laws", "coupled", "Jain's index", "mean queue, ms", "utilisation, %", "unharmed by coupling"];

/// Runs the pairs and prints them.
pub(crate) fn pairs(args: &PairsArgs) -> Result<(), Failure> {
    let laws: Vec<&str> = match args.law.as_slice() {
        [] => pairs::laws().collect(),
        some => each_once(some),
    };
    let seeds: Vec<u64> = (1..=u64::from(args.runs)).collect();
    let request =
        PairsRequest { laws: &laws, algorithm: &args.algorithm, seeds: &seeds, jobs: threads(args.jobs) };
    let bar = progress::bar(args.quiet);
    bar.set_message("pairs");
    bar.set_length(request.runs() as u64);
    let pairs = request.run(&TraceStore::at(None), &|| bar.inc(1))?;
    bar.finish_and_clear();
    let mut out = anstream::stdout().lock();
    match args.format {
        Format::Table => print_table(&mut out, &pairs)?,
        Format::Markdown => print_markdown(&mut out, &pairs)?,
        Format::Json => {
            let text = serde_json::to_string_pretty(&pairs).map_err(std::io::Error::from)?;
            writeln!(out, "{text}")?;
        }
    }
    Ok(())
}

/// The rows of a pair: left alone, then coupled.
fn rows(pair: &Pair) -> [[String; 6]; 2] {
    let row = |names: String, word: &str, outcome: &Outcome, verdict: &str| {
        let Outcome { jain, queue_ms, utilisation } = outcome;
        let values = [figure(*jain, 1.0, 3), figure(*queue_ms, 1.0, 1), figure(*utilisation, 100.0, 1)];
        let [jain, queue, used] = values;
        [names, word.to_owned(), jain, queue, used, verdict.to_owned()]
    };
    let verdict = if pair.is_unharmed() { "yes" } else { "no" };
    let names = format!("{} + {}", pair.laws[0], pair.laws[1]);
    [row(names, "no", &pair.uncoupled, ""), row(String::new(), "yes", &pair.coupled, verdict)]
}

fn figure(value: Option<Statistic>, scale: f64, decimals: usize) -> String {
    let Some(Statistic { mean, ci95, .. }) = value else { return "–".to_owned() };
    let half = ci95.map_or_else(String::new, |half| format!(" ± {:.decimals$}", half * scale));
    format!("{:.decimals$}{half}", mean * scale)
}

/// In how many of the pairs coupling harms nobody.
fn summary(pairs: &[Pair]) -> String {
    let unharmed = pairs.iter().filter(|pair| pair.is_unharmed()).count();
    format!("{unharmed} of {} pairs are unharmed by coupling.", pairs.len())
}

fn print_table(out: &mut impl Write, pairs: &[Pair]) -> Result<(), Failure> {
    let cells = |row: [String; 6]| row.into_iter().map(Cell::new).collect::<Vec<_>>();
    let rows = pairs.iter().flat_map(|pair| {
        let colour = if pair.is_unharmed() { Color::Green } else { Color::Red };
        let [alone, coupled] = rows(pair).map(cells);
        let mut coupled = coupled;
        if let Some(verdict) = coupled.pop() {
            coupled.push(verdict.fg(colour));
        }
        [alone, coupled]
    });
    writeln!(out, "{}", table::plain(&HEADER, rows.collect()))?;
    writeln!(out, "{}", summary(pairs))?;
    Ok(())
}

fn print_markdown(out: &mut impl Write, pairs: &[Pair]) -> Result<(), Failure> {
    writeln!(out, "| {} |\n|{}", HEADER.join(" | "), "---|".repeat(HEADER.len()))?;
    for row in pairs.iter().flat_map(rows) {
        writeln!(out, "| {} |", row.join(" | "))?;
    }
    writeln!(out, "\n{}", summary(pairs))?;
    Ok(())
}
