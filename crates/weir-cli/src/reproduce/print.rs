//! The output of `weir reproduce` on a terminal.

use std::io::Write;

use comfy_table::{Cell, Color};
use weir_study::experiments::{
    ClaimResult, Count, WordTable, classes_in_words, counts, numbers_in_words, summary,
};
use weir_study::judge::Verdict;

use crate::failure::Failure;
use crate::table;

/// Claims by paper, then the share of each paper that is met. `change` describes how the rows were changed.
pub(super) fn print(
    out: &mut impl Write,
    results: &[ClaimResult],
    change: Option<&str>,
) -> Result<(), Failure> {
    let width = table::terminal_width();
    let say_change = |out: &mut dyn Write| match change {
        Some(change) => writeln!(out, "{}\n", table::sentence(change, width)),
        None => Ok(()),
    };
    say_change(out)?;
    for paper in results.chunk_by(|a, b| a.paper() == b.paper()) {
        let header = [paper[0].paper(), "class", "ours, ± 95 %", "accepted", "verdict"];
        let mut lines = table::lines(&header, paper.iter().map(row).collect()).into_iter();
        writeln!(out, "{}", lines.next().unwrap_or_default())?;
        for (line, result) in lines.zip(paper) {
            writeln!(out, "{line}")?;
            writeln!(out, "{}", table::indented(&words(result), width))?;
        }
        let counts = counts(paper);
        let (met, all): (usize, usize) =
            (counts.iter().map(Count::met).sum(), counts.iter().map(Count::claims).sum());
        writeln!(out, "{met} of {all} claims of {} are met.\n", paper[0].paper())?;
    }
    let papers = summary(results);
    for WordTable { head, rows } in [classes_in_words(&papers), numbers_in_words(&papers)] {
        let head: Vec<&str> = head.iter().map(String::as_str).collect();
        writeln!(out, "{}", table::words("paper", &head, &rows, width))?;
    }
    say_change(out)?;
    let shown = SIGNS.iter().filter(|(mark, ..)| results.iter().any(|result| result.marks().contains(mark)));
    for (_, sign, words) in shown {
        writeln!(out, "{sign} {words}")?;
    }
    Ok(())
}

/// Signs for remarks on a claim beside its verdict, and their meaning.
const SIGNS: [(&str, &str, &str); 3] = [
    ("stand-in", "*", "with a stand-in for something that cannot be had"),
    (
        "derived",
        "°",
        "by a number that follows from the paper's equations or set-up and is not printed in it",
    ),
    ("beside", "+", "reported beside another claim and not counted"),
];

/// Cells of one line of a claim.
fn row(result: &ClaimResult) -> Vec<Cell> {
    let sign = |mark: &str| SIGNS.iter().find(|(own, ..)| *own == mark).map_or("", |(_, sign, _)| sign);
    let marks: String = result.marks().into_iter().flat_map(|mark| [" ", sign(mark)]).collect();
    let colour = match result.verdict {
        verdict if verdict.is_met() => Color::Green,
        Verdict::Open => Color::Yellow,
        _ => Color::Red,
    };
    let name = result.id.trim_start_matches(result.paper()).trim_start_matches('/');
    let measured = if result.tests.is_empty() { result.measured_in_words() } else { String::new() };
    vec![
        Cell::new(name),
        Cell::new(result.class.name()),
        Cell::new(measured),
        Cell::new(result.accepted_in_words()),
        Cell::new(format!("{}{marks}", result.verdict.words())).fg(colour),
    ]
}

/// The text below that line: the claim, the paper's report, and for a sweep the number of places where it holds.
fn words(result: &ClaimResult) -> String {
    let mut words = result.claim.clone();
    let (reported, places) = (result.reported_in_words(), result.places_in_words());
    if !reported.is_empty() {
        words.extend(["; paper: ", &reported]);
    }
    if !places.is_empty() {
        words.extend(["; met at ", &places, " places"]);
    }
    words
}
