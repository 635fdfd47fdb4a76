//! Changes since an earlier result: a table, and their number.

use std::io::Write;

use comfy_table::{Cell, Color};
use weir_study::judge::{Direction, SavedStudy, Verdict};
use weir_study::suite::{self, CheckChange, CheckChanges, Unlike, figure};

use crate::failure::Failure;
use crate::table;

/// The heads of the columns.
pub(super) const HEADER: [&str; 8] =
    ["", "case", "controller", "check", "before", "now", "difference (95 % interval)", "verdict"];

/// A note if the base was saved with senders that skip frames by another rule.
pub(super) fn other_senders(base: &SavedStudy, now: &SavedStudy) -> Option<String> {
    let rule = |result: &SavedStudy| match result.skip_rule.as_str() {
        "" => "no word of `skip_above`".to_owned(),
        rule => format!("`{rule}`"),
    };
    (base.skip_rule != now.skip_rule)
        .then(|| format!("The base was saved with {}, and this run has {}.", rule(base), rule(now)))
}

/// Further remarks for the reader: stand-ins for traces, and changes.
pub(super) fn print(
    out: &mut impl Write,
    notes: &[String],
    changes: Option<&CheckChanges>,
) -> Result<(), Failure> {
    for note in notes {
        writeln!(out, "{}", table::sentence(note, table::terminal_width()))?;
    }
    let Some(changes) = changes else { return Ok(()) };
    let rows: Vec<Vec<Cell>> = changes.changes.iter().map(row).collect();
    if !rows.is_empty() {
        writeln!(out, "{}", table::plain(&HEADER, rows))?;
    }
    for sentence in sentences(changes) {
        writeln!(out, "{sentence}")?;
    }
    Ok(())
}

/// The number of changes, and the cases that were not compared.
pub(super) fn sentences(changes: &CheckChanges) -> Vec<String> {
    let of = |direction| changes.changes.iter().filter(|change| change.direction == direction).count();
    let (better, worse) = (of(Direction::Better), of(Direction::Worse));
    let mut sentences =
        vec![format!("Of {} checks {better} got better and {worse} got worse.", changes.compared)];
    for why in Unlike::ALL {
        let names: Vec<&str> = changes.not_compared_for(why).collect();
        if !names.is_empty() {
            sentences.push(format!("Not compared, as {}: {}", why.in_words(), names.join(", ")));
        }
    }
    sentences
}

fn row(change: &CheckChange) -> Vec<Cell> {
    // Colours are the table's, which counts escapes as text.
    let colour = match change.direction {
        Direction::Better => Color::Green,
        Direction::Worse => Color::Red,
    };
    let mut cells: Vec<Cell> = words(change).iter().map(Cell::new).collect();
    cells[0] = Cell::new(&words(change)[0]).fg(colour);
    cells
}

/// The cells below [`HEADER`].
pub(super) fn words(change: &CheckChange) -> [String; 8] {
    let word = match change.direction {
        Direction::Better => "better",
        Direction::Worse => "worse",
    };
    let decimals = suite::decimals(change.limit) + 1;
    let difference = change.difference.map_or_else(
        || "–".to_owned(),
        |difference| {
            let half = difference.half_width.map_or_else(String::new, |half| format!(" ± {half:.decimals$}"));
            format!("{:+.decimals$}{half}", difference.mean)
        },
    );
    let verdict = match change.verdicts {
        (before, Verdict::Passed) if before != Verdict::Passed => "passes now",
        (before, Verdict::Missed) if before != Verdict::Missed => "fails now",
        (before, Verdict::Open) if before != Verdict::Open => "open now",
        (_, Verdict::Passed) => "passes",
        (_, Verdict::Missed) => "fails",
        (_, Verdict::Open) => "open",
        _ => "not judged",
    };
    let mean = |mean| figure(mean, None, change.limit, &change.unit);
    [
        word.to_owned(),
        change.case.clone(),
        change.controller.clone(),
        change.check.clone(),
        mean(change.means.0),
        mean(change.means.1),
        difference,
        verdict.to_owned(),
    ]
}
