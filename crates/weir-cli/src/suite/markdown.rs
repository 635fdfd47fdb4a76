//! The matrix of a suite, and its changes, as tables of Markdown.

use weir_study::suite::{CheckChanges, SuiteResult};

use super::changes as words;

use crate::differences::in_markdown;
use crate::markdown::{head, line, text};

/// The matrix, with `notes` below it.
pub(super) fn matrix(title: &str, result: &SuiteResult, notes: &[String]) -> String {
    let names: Vec<&str> = result.controllers().collect();
    let mut table = format!("### {}\n\n", text(title));
    let rule = if result.skip_rule.is_empty() { String::new() } else { format!("; `{}`", result.skip_rule) };
    table.extend([&result.seeds.len().to_string(), " runs per case and controller", &rule, ". "]);
    table.extend([super::LEGEND, "\n\n"]);
    let heads = std::iter::once("case".to_owned()).chain(names.iter().map(|name| format!("`{name}`")));
    table += &head(&heads.collect::<Vec<_>>());
    for case in &result.cases {
        let cells = case.controllers.iter().map(|own| format!("{} {}", own.verdict().mark(), own.in_words()));
        table += &line(&std::iter::once(case.name.clone()).chain(cells).collect::<Vec<_>>());
    }
    for (label, figures) in result.totals() {
        table += &line(&std::iter::once(label.to_owned()).chain(figures).collect::<Vec<_>>());
    }
    if result.is_drawn() {
        table.extend(["\n", &head(&super::CASES_HEAD.map(str::to_owned))]);
        table.extend(result.cases.iter().map(|case| line(&[case.name.clone(), case.title.clone()])));
    }
    let leaders = result.leaders();
    if !leaders.is_empty() {
        table.extend(["\n", super::LEADERS, "\n\n", &head(&super::LEADERS_HEAD.map(str::to_owned))]);
        table.extend(leaders.iter().map(|row| line(row)));
    }
    for case in &result.cases {
        table += &in_markdown(Some(&case.name), &case.differences());
    }
    for note in notes {
        table.extend(["\n", &text(note), "\n"]);
    }
    table
}

/// The changes, with the numbers of better and worse ones.
pub(super) fn changes(changes: &CheckChanges) -> String {
    let mut table = String::new();
    if !changes.changes.is_empty() {
        table += &head(&words::HEADER.map(str::to_owned));
        for change in &changes.changes {
            table += &line(&words::words(change));
        }
        table.push('\n');
    }
    for sentence in words::sentences(changes) {
        table.extend([&text(&sentence), "\n\n"]);
    }
    table.truncate(table.trim_end().len());
    table + "\n"
}
