//! Tables of numbers as text that aligns, on any width; texts made safe for terminals.

mod numbers;
mod printable;

use std::ops::Range;

use crate::page::{Row, SummaryTable, TableNote};

pub use numbers::Number;
pub use printable::{REPLACEMENT, bold, controls, printable, printable_lines};

use numbers::aligned;

/// Gap between columns.
const GAP: &str = "   ";
/// Headers are broken into lines if they are longer than this and than the cells below them.
const HEADER_WIDTH: usize = 9;

/// Text in columns, flush left, as many of the columns `names` beside each other as fit `width`; `first` is the
/// title of the names of the rows.
pub fn words(first: &str, names: &[&str], rows: &[(String, Vec<String>)], width: Option<usize>) -> String {
    let grid = |shown: Range<usize>| {
        let head = |name: &&str| vec![printable(name)];
        let header =
            std::iter::once(vec![first.to_owned()]).chain(names[shown.clone()].iter().map(head)).collect();
        let row = |(name, cells): &(String, Vec<String>)| {
            let cells = cells[shown.clone()].iter().map(|cell| CellText::from(cell.as_str()));
            std::iter::once(CellText::name(name)).chain(cells).collect()
        };
        TextGrid { header, rows: rows.iter().map(row).collect(), flush_left: true }
    };
    match width {
        Some(width) => blocks(names.len(), width, grid).join("\n"),
        None => grid(0..names.len()).draw(),
    }
}

/// Numbers in columns, with their 95 % intervals; the best ones of a metric are bold. If a row per controller is
/// wider than `width`, there is a row per metric, and as many controllers beside each other as fit. If that takes
/// fewer tables, as many metrics beside each other as fit.
pub fn summary(first: &str, summary: &SummaryTable, width: Option<usize>) -> String {
    let wide = by_row(first, summary, 0..summary.columns.len()).draw();
    let Some(width) = width.filter(|&width| columns(&wide) > width) else { return wide };
    let by_metric = blocks(summary.rows.len(), width, |shown| by_metric(first, summary, shown));
    let by_row = blocks(summary.columns.len(), width, |shown| by_row(first, summary, shown));
    let fewer = if by_row.len() < by_metric.len() { by_row } else { by_metric };
    fewer.join("\n")
}

/// A sentence in lines that fit the terminal; in one where there is none.
pub fn sentence(text: &str, width: Option<usize>) -> String {
    width.map_or_else(|| text.to_owned(), |width| broken(text, width).join("\n"))
}

/// Notes below a table: a line for each row, below a heading.
pub fn notes_below(notes: &[TableNote], width: Option<usize>) -> String {
    let mut text = String::new();
    for note in notes {
        let longest = note.rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
        let row = |(name, cells): &(_, _)| format!("  {name:longest$}  {cells}\n");
        text.push_str(&sentence(note.heading, width));
        text.push_str(":\n");
        text.extend(note.rows.iter().map(row));
        text.push('\n');
    }
    text
}

/// `count` columns in as few tables as fit the width, each with at least one.
fn blocks(count: usize, width: usize, grid: impl Fn(Range<usize>) -> TextGrid) -> Vec<String> {
    let mut blocks = Vec::new();
    let mut from = 0;
    while from < count {
        let fits = |&to: &usize| columns(&grid(from..to).draw()) <= width;
        let to = (from + 2..=count).take_while(fits).last().unwrap_or(from + 1);
        blocks.push(grid(from..to).draw());
        from = to;
    }
    blocks
}

/// Width of the widest line of `text` on a terminal.
pub fn columns(text: &str) -> usize {
    text.lines().map(visible).max().unwrap_or(0)
}

/// Texts in columns, the first of them flush left.
struct TextGrid {
    /// Whether the other columns are flush left too; otherwise they are flush right.
    flush_left: bool,
    header: Vec<Vec<String>>,
    rows: Vec<Vec<CellText>>,
}

struct CellText {
    text: String,
    bold: bool,
}

impl From<&str> for CellText {
    fn from(text: &str) -> Self {
        Self { text: text.to_owned(), bold: false }
    }
}

impl CellText {
    /// A name, which may come from a file.
    fn name(name: &str) -> Self {
        Self { text: printable(name), bold: false }
    }
}

/// A row per controller, for some of the metrics.
fn by_row(first: &str, summary: &SummaryTable, shown: Range<usize>) -> TextGrid {
    let mut header = vec![vec![first.to_owned()]];
    let mut rows: Vec<Vec<CellText>> =
        summary.rows.iter().map(|row| vec![CellText::name(&row.name)]).collect();
    for (index, column) in summary.columns.iter().enumerate().take(shown.end).skip(shown.start) {
        let numbers: Vec<Option<Number>> =
            summary.rows.iter().map(|row| Number::of(row, index, column.decimals)).collect();
        let texts = aligned(&numbers);
        let width = texts.iter().map(|text| visible(text)).max().unwrap_or(0);
        let mut lines = broken(&column.label, width.max(HEADER_WIDTH));
        lines.push(column.unit.clone());
        header.push(lines);
        for ((drawn, text), row) in rows.iter_mut().zip(texts).zip(&summary.rows) {
            drawn.push(CellText { text, bold: is_marked(row, index) });
        }
    }
    TextGrid { header, rows, flush_left: false }
}

/// Whether the cell `index` of a row is marked.
pub fn is_marked(row: &Row, index: usize) -> bool {
    row.cells.get(index).copied().flatten().is_some_and(|cell| cell.best || cell.worse)
}

/// A row per metric, for some of the controllers.
fn by_metric(first: &str, summary: &SummaryTable, shown: Range<usize>) -> TextGrid {
    let labels = summary.columns.iter().map(|column| match column.unit.as_str() {
        "" => column.label.clone(),
        unit => format!("{}, {unit}", column.label),
    });
    let mut header = vec![vec![first.to_owned()]];
    let mut rows: Vec<Vec<CellText>> = labels.map(|label| vec![label.as_str().into()]).collect();
    let number =
        |row: usize, column: usize| Number::of(&summary.rows[row], column, summary.columns[column].decimals);
    for index in shown {
        header.push(vec![printable(&summary.rows[index].name)]);
        let numbers: Vec<_> = (0..summary.columns.len()).map(|column| number(index, column)).collect();
        for (position, (row, text)) in rows.iter_mut().zip(aligned(&numbers)).enumerate() {
            row.push(CellText { text, bold: is_marked(&summary.rows[index], position) });
        }
    }
    TextGrid { header, rows, flush_left: false }
}

impl TextGrid {
    fn draw(&self) -> String {
        let widths = self.widths();
        let height = self.header.iter().map(Vec::len).max().unwrap_or(0);
        let mut lines = Vec::new();
        for line in 0..height {
            // Headers are aligned to the bottom, next to the rule.
            let text = |lines: &Vec<String>| {
                (line + lines.len()).checked_sub(height).map_or("", |i| lines[i].as_str()).into()
            };
            let cells: Vec<CellText> = self.header.iter().map(text).collect();
            lines.push(self.drawn(&cells, &widths));
        }
        lines.retain(|line| !line.is_empty());
        let width = widths.iter().sum::<usize>() + visible(GAP) * widths.len().saturating_sub(1);
        lines.push("─".repeat(width));
        lines.extend(self.rows.iter().map(|row| self.drawn(row, &widths)));
        lines.push(String::new());
        lines.join("\n")
    }

    fn drawn(&self, cells: &[CellText], widths: &[usize]) -> String {
        let cell = |(index, (cell, &width)): (usize, (&CellText, &usize))| {
            let space = " ".repeat(width.saturating_sub(visible(&cell.text)));
            let (text, end) = cell.text.split_at(cell.text.trim_end().len());
            let text = if cell.bold { bold(text) + end } else { cell.text.clone() };
            if index == 0 || self.flush_left { text + &space } else { space + &text }
        };
        let cells: Vec<String> = cells.iter().zip(widths).enumerate().map(cell).collect();
        cells.join(GAP).trim_end().to_owned()
    }

    fn widths(&self) -> Vec<usize> {
        let mut widths: Vec<usize> =
            self.header.iter().map(|lines| lines.iter().map(|l| visible(l)).max().unwrap_or(0)).collect();
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(visible(&cell.text));
            }
        }
        widths
    }
}

/// `label` in lines of at most `width`, one for each word at least.
pub fn broken(label: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in label.split(' ') {
        match lines.last_mut().filter(|line| visible(line) + 1 + visible(word) <= width) {
            Some(line) => *line = format!("{line} {word}"),
            None => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Columns that `text` takes on a terminal: escapes take none.
pub fn visible(text: &str) -> usize {
    let mut escape = false;
    text.chars()
        .filter(|&c| {
            let shown = !escape && c != '\u{1b}';
            escape = c == '\u{1b}' || escape && c != 'm';
            shown
        })
        .count()
}
