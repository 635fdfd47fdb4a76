//! `weir reproduce`: the claims of papers, run and judged.

use std::io::Write;

use comfy_table::{Cell, Color};
use weir_lab::experiments::{self, ClaimResult, Count, Experiment, Extent, Reproduction, Verdict, counts};
use weir_lab::traces::TraceStore;

use crate::args::ReproduceArgs;
use crate::effective::threads;
use crate::failure::Failure;
use crate::{progress, table};

/// Runs the rows and prints what came out, whatever the verdicts.
pub(crate) fn reproduce(args: &ReproduceArgs) -> Result<(), Failure> {
    // Everything that can be wrong is looked at before anything runs.
    let named: &[String] = if args.all { &[] } else { &args.rows };
    let rows = experiments::select(named, args.paper.as_deref())?;
    let experiments = rows.into_iter().map(Experiment::shipped).collect::<Result<Vec<_>, _>>()?;
    let traces = TraceStore::find(args.data.as_deref());
    let extent = Extent { full: args.full, runs: args.runs };
    let reproduction = Reproduction::plan(&experiments, extent, &traces)?;
    let bar = progress::bar(args.quiet);
    bar.set_message("reproduce");
    bar.set_length(reproduction.runs() as u64);
    let results = reproduction.run(threads(args.jobs), &traces, &|| bar.inc(1))?;
    bar.finish_and_clear();
    let mut out = anstream::stdout().lock();
    if args.json {
        serde_json::to_writer_pretty(&mut out, &results).map_err(std::io::Error::from)?;
        writeln!(out)?;
    } else if args.markdown {
        write!(out, "{}", experiments::markdown(&results))?;
    } else {
        print(&mut out, &results)?;
    }
    Ok(())
}

fn print(out: &mut impl Write, results: &[ClaimResult]) -> Result<(), Failure> {
    let header = ["claim", "class", "what", "paper", "ours, ± 95 %", "accepted", "places", "verdict"];
    writeln!(out, "{}\n", table::plain(&header, results.iter().map(row).collect()))?;
    let header = ["paper", "class", "", "met", "of", "undecided", "two kinds of runs", "not reproduced"];
    writeln!(out, "{}", table::plain(&header, counts(results).iter().map(summary).collect()))?;
    if results.iter().any(|result| result.stand_in.is_some()) {
        writeln!(out, "\n* with a stand-in for something that cannot be had")?;
    }
    Ok(())
}

fn row(result: &ClaimResult) -> Vec<Cell> {
    let mark = if result.stand_in.is_some() { " *" } else { "" };
    let colour = match result.verdict {
        verdict if verdict.is_met() => Color::Green,
        Verdict::Undecided => Color::Yellow,
        _ => Color::Red,
    };
    vec![
        Cell::new(&result.id),
        Cell::new(result.class.name()),
        Cell::new(&result.claim),
        Cell::new(result.reported_in_words()),
        Cell::new(if result.tests.is_empty() { result.measured_in_words() } else { result.tests.join(" ") }),
        Cell::new(result.accepted_in_words()),
        Cell::new(result.places_in_words()),
        Cell::new(format!("{}{mark}", result.verdict.words())).fg(colour),
    ]
}

fn summary(count: &Count) -> Vec<Cell> {
    let of = |verdict| Cell::new(count.verdicts.get(&verdict).copied().unwrap_or(0));
    vec![
        Cell::new(&count.paper),
        Cell::new(count.class.name()),
        Cell::new(if count.calibration { "calibration" } else { "" }),
        Cell::new(count.met()),
        Cell::new(count.claims()),
        of(Verdict::Undecided),
        of(Verdict::TwoKinds),
        of(Verdict::NotReproduced),
    ]
}
