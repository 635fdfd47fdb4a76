//! Table of `docs/reproduction.md`.

use super::overview::{self, WordTable, classes_in_words, numbers_in_words};
use super::read::Experiment;
use super::results::{ClaimResult, Count, counts};
use super::trials::{TriedWords, tried_in_words};
use crate::judge::Verdict;
use weir_report::page::markdown_cell;

/// Claims of these rows in a table per paper, with a summary above. Below are the causes of unmet claims, the figures
/// with settings changed, and the open parameters of the paper. Several papers have an overview before their tables.
pub fn markdown(experiments: &[Experiment], results: &[ClaimResult]) -> String {
    let mut text = String::new();
    let mut papers: Vec<&str> = results.iter().map(ClaimResult::paper).collect();
    papers.dedup();
    if papers.len() > 1 {
        let papers = overview::summary(results);
        text.push_str(&words(&classes_in_words(&papers)));
        text.push('\n');
        text.push_str(&words(&numbers_in_words(&papers)));
        text.push('\n');
    }
    for paper in papers {
        let own: Vec<&ClaimResult> = results.iter().filter(|result| result.paper() == paper).collect();
        text.extend(["## ", paper, "\n\n"]);
        text.push_str(&summary(
            &counts(results).into_iter().filter(|count| count.paper == paper).collect::<Vec<_>>(),
        ));
        text.push('\n');
        text.push_str(&claims(&own));
        text.push('\n');
        text.push_str(&causes(&own));
        let rows: Vec<&Experiment> = experiments.iter().filter(|row| row.paper() == paper).collect();
        text.push_str(&tried(&rows));
        text.push_str(&left_open(&rows));
    }
    text
}

fn line(cells: &[String]) -> String {
    let cells: Vec<String> = cells.iter().map(|cell| markdown_cell(cell)).collect();
    format!("| {} |\n", cells.join(" | "))
}

fn head(names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
    let rule: Vec<String> = names.iter().map(|_| "---".to_owned()).collect();
    line(&names) + &line(&rule)
}

fn words(table: &WordTable) -> String {
    let mut text =
        head(&["paper"].into_iter().chain(table.head.iter().map(String::as_str)).collect::<Vec<_>>());
    for (name, cells) in &table.rows {
        text.push_str(&line(&[std::slice::from_ref(name), cells].concat()));
    }
    text
}

fn summary(counts: &[Count]) -> String {
    let mut text =
        head(&["class", "kind", "met", "claims", "undecided", "two kinds of runs", "not reproduced"]);
    for count in counts {
        let of = |verdict| count.of(verdict).to_string();
        text.push_str(&line(&[
            count.class.name().to_owned(),
            count.basis.words().to_owned(),
            count.met().to_string(),
            count.claims().to_string(),
            of(Verdict::Open),
            of(Verdict::TwoKinds),
            of(Verdict::Missed),
        ]));
    }
    text
}

fn claims(results: &[&ClaimResult]) -> String {
    let mut text =
        head(&["claim", "class", "what", "paper", "ours, ± 95 %", "accepted", "places", "verdict"]);
    for result in results {
        let tests = result.tests.iter().map(|test| format!("`{test}`")).collect::<Vec<_>>().join(", ");
        let measured = if result.tests.is_empty() { result.measured_in_words() } else { tests };
        let marks = result.marks().join(", ");
        let mark = if marks.is_empty() { marks } else { format!(" *({marks})*") };
        text.push_str(&line(&[
            result.id.trim_start_matches(result.paper()).trim_start_matches('/').to_owned(),
            result.class.name().to_owned(),
            result.claim.clone(),
            result.reported_in_words(),
            measured,
            result.accepted_in_words(),
            result.places_in_words(),
            format!("{}{mark}", result.verdict.words()),
        ]));
    }
    text
}

/// Texts in TOML are broken into lines at arbitrary places, so that lines are joined; rows with the same text are named
/// together.
fn list(title: &str, items: impl Iterator<Item = (String, String)>) -> String {
    let mut grouped: Vec<(String, Vec<String>)> = Vec::new();
    for (name, text) in items {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        match grouped.iter_mut().find(|(known, _)| *known == text) {
            Some((_, names)) => names.push(name),
            None => grouped.push((text, vec![name])),
        }
    }
    let lines = grouped.iter().map(|(text, names)| format!("* {}: {text}\n", names.join(", ")));
    let lines: String = lines.collect();
    if lines.is_empty() { lines } else { format!("{title}\n\n{lines}\n") }
}

fn causes(results: &[&ClaimResult]) -> String {
    let cause = |result: &&ClaimResult| {
        let name = result.id.trim_start_matches(result.paper()).trim_start_matches('/');
        Some((format!("`{name}` ({})", result.verdict.words()), result.cause.clone()?))
    };
    list("Why claims are not met:", results.iter().filter_map(cause))
}

/// Figures of rows with settings changed.
fn tried(rows: &[&Experiment]) -> String {
    let mut text = String::new();
    for row in rows {
        let name = row.name.trim_start_matches(row.paper()).trim_start_matches('/');
        for TriedWords { set, of, figure } in tried_in_words(&row.row) {
            let set: Vec<String> = set.iter().map(|text| format!("`{text}`")).collect();
            text.push_str(&line(&[name.to_owned(), set.join(", "), of, figure]));
        }
    }
    if text.is_empty() {
        return text;
    }
    let begun = "What was tried beside, and gave (`weir reproduce --tried` runs it again):";
    format!("{begun}\n\n{}{text}\n", head(&["row", "with", "of", "figure (range)"]))
}

fn left_open(rows: &[&Experiment]) -> String {
    let open = |row: &&Experiment| {
        let name = row.name.trim_start_matches(row.paper()).trim_start_matches('/');
        (!row.row.open.is_empty()).then(|| (format!("`{name}`"), row.row.open.clone()))
    };
    list("What the paper leaves open, what was taken for it, and why:", rows.iter().filter_map(open))
}
