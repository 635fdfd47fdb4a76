//! The scatter plot of a table of runs: useful rate against frame delay, with the leading controllers marked.

use super::tables::{FRAME_DELAY_P95, USEFUL_RATE};
use crate::paired::{RunRow, RunTable, estimate};
use weir_measure::results::ranking::Ranking;
use weir_report::page::{ControllerRank, Scatter, ScatterPoint, SummaryCell};
use weir_scenario::registry;

/// The scatter plot of `table`, whose controllers are ranked by `ranking`, or `None` where the ranking, the rate or the delay is
/// missing.
pub(super) fn scatter(table: &RunTable, ranking: Option<&Ranking>) -> Option<Scatter> {
    let ranking = ranking?;
    let points = points(table, Some(ranking), false)?;
    Some(Scatter { points, note: note(table, ranking) })
}

/// Two runs in one scatter plot, called `names`, or `None` where one of them has no rate or delay.
pub(super) fn of_two(runs: [(&RunTable, Option<&Ranking>); 2], names: &[String; 2]) -> Option<Scatter> {
    let [(first, its), (second, others)] = runs;
    let mut all = points(first, its, false)?;
    all.extend(points(second, others, true)?);
    let marks = format!("Round marks are of {}, square ones of {}.", names[0], names[1]);
    let references = reference_senders_in_words(first).or_else(|| reference_senders_in_words(second));
    let note = [marks].into_iter().chain(references).collect::<Vec<_>>().join(" ");
    Some(Scatter { points: all, note })
}

/// The marks of a run, or `None` where rate or delay is missing.
fn points(table: &RunTable, ranking: Option<&Ranking>, is_second: bool) -> Option<Vec<ScatterPoint>> {
    let (rate, delay) = (place(table, USEFUL_RATE)?, place(table, FRAME_DELAY_P95)?);
    let random = !table.runs_are_alike();
    let cell = |row: &RunRow, at: usize| {
        let cell = SummaryCell::from(estimate(&row.values[at])?);
        Some(SummaryCell { ci95: cell.ci95.filter(|_| random), ..cell })
    };
    let point = |row: &RunRow| {
        Some(ScatterPoint {
            name: row.name.clone(),
            is_second,
            rate: cell(row, rate)?,
            delay: cell(row, delay)?,
            standing: standing(row, ranking),
        })
    };
    Some(table.rows.iter().filter_map(point).collect())
}

fn standing(row: &RunRow, ranking: Option<&Ranking>) -> ControllerRank {
    let within = |names: fn(&Ranking) -> &[String]| ranking.is_some_and(|own| names(own).contains(&row.name));
    if registry::is_reference(&row.law) {
        ControllerRank::ReferenceSender
    } else if within(|ranking| &ranking.recommended) {
        ControllerRank::Recommended
    } else if within(|ranking| &ranking.leading) {
        ControllerRank::Leading
    } else {
        ControllerRank::Behind
    }
}

/// The confidence in the leading set, and the meaning of the reference senders in the picture.
fn note(table: &RunTable, ranking: &Ranking) -> String {
    let mut sentences = Vec::new();
    if ranking.can_tell() {
        sentences.push(format!(
            "With {} controllers the truly best is in the leading set with a probability of at least {:.1} %.",
            ranking.candidates.len(),
            100.0 * ranking.confidence()
        ));
    }
    sentences.extend(reference_senders_in_words(table));
    sentences.join(" ")
}

/// The meaning of the reference senders that `table` shows, or `None` where it shows none.
pub(super) fn reference_senders_in_words(table: &RunTable) -> Option<String> {
    let there = |name: &str| table.rows.iter().any(|row| row.law == name);
    let words = registry::references().filter(|info| there(&info.name));
    let words: Vec<String> = words.map(|info| format!("`{}` {}", info.name, info.summary)).collect();
    (!words.is_empty()).then(|| format!("{}.", words.join("; ")))
}

fn place(table: &RunTable, label: &str) -> Option<usize> {
    table.columns.iter().position(|column| column.label == label)
}
