//! Parts of a document that are printed by a command.
//!
//! ```text
//! <!-- printed by: COMMAND -->
//! what it printed, a table, or anything between the lines of a code fence
//! <!-- end of print -->
//! ```
//!
//! A command may be several lines of bash. The command behind a line `sample:` prints some of the rows, or lines, in
//! seconds.

use std::ops::Range;

const BEGIN: &str = "<!-- printed by:";
const SAMPLE: &str = "\nsample:";
const END: &str = "<!-- end of print -->\n";

/// Text of a document, and the commands that print it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Printed {
    pub(super) command: String,
    pub(super) sample: Option<String>,
    /// Position of the text, in bytes, without the lines of a code fence around it.
    pub(super) place: Range<usize>,
}

/// Everything in `document` that is printed by a command, in its order.
pub(super) fn printed(document: &str) -> Vec<Printed> {
    let begins = document.match_indices(BEGIN).map(|(at, _)| at);
    begins.filter(|&at| at == 0 || document[..at].ends_with('\n')).map(|at| one(document, at)).collect()
}

fn one(document: &str, at: usize) -> Printed {
    let line = || document[at..].lines().next().unwrap_or_default();
    let begun = &document[at + BEGIN.len()..];
    let (words, rest) = begun.split_once("-->\n").unwrap_or_else(|| panic!("{}: is not closed", line()));
    let (text, _) = rest.split_once(END).unwrap_or_else(|| panic!("{}: has no end", line()));
    assert!(!text.contains(BEGIN), "{}: another begins before it ends", line());
    let start = document.len() - rest.len();
    let place = within_fence(document, start..start + text.len());
    let (command, sample) = words
        .split_once(SAMPLE)
        .map_or((words, None), |(command, sample)| (command, Some(sample.trim().to_owned())));
    Printed { command: command.trim().to_owned(), sample, place }
}

/// Every block of `sh` in `text`, and those without a language that call the command.
pub(super) fn blocks(text: &str) -> Vec<&str> {
    let fences = text.split("```").skip(1).step_by(2);
    let of = |fence: &'_ str| fence.split_once('\n').map(|(word, _)| word.to_owned());
    fences
        .filter_map(|fence| match of(fence)?.as_str() {
            "sh" => fence.split_once('\n').map(|(_, block)| block),
            "" => fence.split_once('\n').map(|(_, block)| block).filter(|block| is_call(block)),
            _ => None,
        })
        .collect()
}

fn is_call(block: &str) -> bool {
    ["weir ", "cargo ", "make "].iter().any(|word| block.starts_with(word))
}

fn within_fence(document: &str, place: Range<usize>) -> Range<usize> {
    let text = &document[place.clone()];
    let inner = text.strip_prefix("```").and_then(|rest| rest.split_once('\n')).map(|(_, inner)| inner);
    match inner.and_then(|inner| inner.strip_suffix("```\n")) {
        Some(inner) => {
            let start = place.end - "```\n".len() - inner.len();
            start..start + inner.len()
        }
        None => place,
    }
}

/// The new text in place of `old`: the output, under the table head that it lacks.
pub(super) fn renewed(old: &str, output: &str) -> String {
    let output = &format!("{}\n", output.trim_end());
    let head = || old.split_inclusive('\n').take(2).collect::<String>();
    let has_head = |text: &str| text.lines().nth(1).is_some_and(is_separator);
    if has_head(old) && !has_head(output) && output.starts_with('|') {
        format!("{}{output}", head())
    } else {
        output.to_owned()
    }
}

/// The line between the head of a table and its rows.
fn is_separator(line: &str) -> bool {
    line.starts_with('|') && line.contains('-') && line.chars().all(|c| "|-: ".contains(c))
}

/// The rows of the tables in `text`, without their heads.
pub(super) fn rows(text: &str) -> Vec<&str> {
    let lines: Vec<&str> = text.lines().collect();
    let is_head = |at: usize| lines.get(at + 1).is_some_and(|next| is_separator(next));
    let row = |&(at, line): &(usize, &str)| line.starts_with('|') && !is_separator(line) && !is_head(at);
    lines.iter().copied().enumerate().filter(row).map(|(_, line)| line).collect()
}

/// The part of `text` that a sample can equal: rows of tables; without tables, lines, however they are aligned.
pub(super) fn comparable(text: &str) -> Vec<String> {
    if text.lines().any(is_separator) || text.starts_with('|') {
        return rows(text).into_iter().map(str::to_owned).collect();
    }
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    text.lines().map(words).filter(|line| !line.is_empty()).collect()
}

/// A table of `document`: where it begins, in bytes, and its rows.
pub(super) struct Table<'a> {
    pub(super) at: usize,
    pub(super) head: &'a str,
    rows: Vec<&'a str>,
}

/// Every table of `document`.
pub(super) fn tables(document: &str) -> Vec<Table<'_>> {
    let mut tables: Vec<Table<'_>> = Vec::new();
    let (mut at, mut last) = (0, "");
    for line in document.split_inclusive('\n') {
        let text = line.trim_end();
        if is_separator(text) && last.starts_with('|') {
            tables.push(Table { at: at - last.len() - 1, head: last, rows: Vec::new() });
        } else if text.starts_with('|') && last.starts_with('|') {
            tables.last_mut().into_iter().for_each(|table| table.rows.push(text));
        }
        (at, last) = (at + line.len(), text);
    }
    tables
}

impl Table<'_> {
    /// Whether it holds results: more than half of the cells behind the names begin with a number or a verdict.
    pub(super) fn is_of_figures(&self) -> bool {
        let cells = self.rows.iter().flat_map(|row| row.trim_matches('|').split(" | ").skip(1));
        let cells: Vec<&str> =
            cells.map(|cell| cell.trim_matches([' ', '*'])).filter(|c| !c.is_empty()).collect();
        let is_figure = |cell: &&&str| cell.starts_with(|c: char| c.is_ascii_digit() || "−-✓✗?".contains(c));
        2 * cells.iter().filter(is_figure).count() > cells.len()
    }
}
