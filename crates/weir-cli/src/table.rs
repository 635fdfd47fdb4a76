//! Tables that align, on any width.

use std::io::{self, Write};
use std::ops::Range;

use anstream::{AutoStream, ColorChoice};
use comfy_table::presets::NOTHING;
use comfy_table::{Attribute, Cell, ColumnConstraint, ContentArrangement, Table};
use weir_report::page::{MARKED, Row, RowKind, SummaryTable, TableNote};

use crate::numbers::{Number, aligned};
use crate::terminal;

/// Gap between columns.
const GAP: &str = "   ";
/// Headers are broken into lines if they are longer than this and than the cells below them.
const HEADER_WIDTH: usize = 9;

/// Text in columns; it wraps within the terminal, except the first cell of each row, a name.
pub(crate) fn plain(header: &[&str], rows: Vec<Vec<impl Into<Cell>>>) -> String {
    wrapped(header, rows, terminal_width())
}

fn wrapped(header: &[&str], rows: Vec<Vec<impl Into<Cell>>>, width: Option<usize>) -> String {
    let mut table = Table::new();
    table.load_style(NOTHING);
    match width.and_then(|width| u16::try_from(width).ok()) {
        Some(width) => table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width),
        None => table.set_content_arrangement(ContentArrangement::Disabled),
    };
    // As the stream does, which also knows of terminals from the environment.
    if AutoStream::choice(&io::stdout()) != ColorChoice::Never {
        table.enforce_styling();
    }
    if !header.is_empty() {
        table.set_header(header.iter().map(|name| Cell::new(name).add_attribute(Attribute::Bold)));
    }
    table.add_rows(rows);
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    if let Some(names) = table.column_mut(0) {
        names.set_constraint(ColumnConstraint::ContentWidth);
    }
    table.trim_fmt()
}

/// Text in two columns, a property and its value; it wraps within the terminal.
pub(crate) fn without_header(rows: Vec<Vec<Cell>>) -> String {
    plain(&[], rows)
}

/// Text in columns, the header's line and then one for each row, whatever the width.
pub(crate) fn lines(header: &[&str], rows: Vec<Vec<Cell>>) -> Vec<String> {
    let mut table = Table::new();
    table.load_style(NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(header.iter().map(|name| Cell::new(name).add_attribute(Attribute::Bold)));
    table.add_rows(rows);
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    table.trim_fmt().lines().map(str::to_owned).collect()
}

/// Text in columns, one line for each row. The line has the first columns that fit `width`, two at least, of which
/// the second then ends with the last word that fits. Also returns whether all columns fit.
pub(crate) fn one_line_each(header: &[&str], rows: &[Vec<String>], width: Option<usize>) -> (String, bool) {
    let drawn = |shown: usize, text: &dyn Fn(usize, &str) -> String| {
        let row = |row: &Vec<String>| {
            row[..shown].iter().enumerate().map(|(at, cell)| Cell::new(text(at, cell))).collect()
        };
        lines(&header[..shown], rows.iter().map(row).collect()).join("\n")
    };
    let whole = |shown| drawn(shown, &|_, cell| cell.to_owned());
    let all = header.len();
    let Some(width) = width.filter(|&width| columns(&whole(all)) > width) else { return (whole(all), true) };
    if let Some(shown) = (2..all).rev().find(|&shown| columns(&whole(shown)) <= width) {
        return (whole(shown), false);
    }
    let names = rows.iter().map(|row| visible(&row[0])).chain([visible(header[0])]).max().unwrap_or(0);
    let room = width.saturating_sub(names + 2);
    (drawn(2.min(all), &|at, cell| if at == 0 { cell.to_owned() } else { cut(cell, room) }), false)
}

/// The same with every column; where they do not fit `width`, a paragraph for each row, whose last cell is set in below.
pub(crate) fn or_paragraphs(header: &[&str], rows: &[Vec<String>], width: Option<usize>) -> String {
    let (text, whole) = one_line_each(header, rows, width);
    if !whole {
        let paragraph = |row: &Vec<String>| {
            let (last, cells) = row.split_last()?;
            let named = !cells.first()?.is_empty();
            let cells: Vec<&str> = cells.iter().map(String::as_str).filter(|cell| !cell.is_empty()).collect();
            let (first, others) = (cells.first()?, cells[1..].join("   "));
            // A continuation of the row above has no name.
            Some(if named {
                let head = format!("{}   {others}", terminal::bold(first));
                format!("{}\n{}", head.trim_end(), indented(last, width))
            } else {
                indented(&format!("{}: {last}", cells.join(" ")), width)
            })
        };
        return rows.iter().filter_map(paragraph).collect::<Vec<_>>().join("\n");
    }
    text
}

/// `text`, or as many of its words as fit `width` with `…` behind.
fn cut(text: &str, width: usize) -> String {
    if visible(text) <= width {
        return text.to_owned();
    }
    let first = broken(text, width.saturating_sub(2)).into_iter().next().unwrap_or_default();
    format!("{} …", first.trim_end_matches([',', ';', ':']))
}

/// Width in columns of the terminal on standard output, or `None` without a terminal, or without a known size.
pub(crate) fn terminal_width() -> Option<usize> {
    known(Table::new().width())
}

/// The same of standard error.
pub(crate) fn error_width() -> Option<usize> {
    known(Table::new().use_stderr().width())
}

/// A terminal that reports no columns does not know its size.
fn known(width: Option<u16>) -> Option<usize> {
    width.filter(|&width| width > 0).map(usize::from)
}

/// A sentence in lines that fit the terminal; in one where there is none.
pub(crate) fn sentence(text: &str, width: Option<usize>) -> String {
    width.map_or_else(|| text.to_owned(), |width| broken(text, width).join("\n"))
}

/// A sentence below a row, set in, in lines that fit the terminal; in one where there is none.
pub(crate) fn indented(text: &str, width: Option<usize>) -> String {
    let indent = "    ";
    let width = width.map(|width| width.saturating_sub(visible(indent)));
    let lines = width.map_or_else(|| vec![text.to_owned()], |width| broken(text, width));
    lines.iter().map(|line| format!("{indent}{line}")).collect::<Vec<_>>().join("\n")
}

/// Text in columns, flush left, as many of the columns `names` beside each other as fit `width`; `first` is the
/// title of the names of the rows.
pub(crate) fn words(
    first: &str,
    names: &[&str],
    rows: &[(String, Vec<String>)],
    width: Option<usize>,
) -> String {
    let grid = |shown: Range<usize>| {
        let head = |name: &&str| vec![terminal::printable(name)];
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
pub(crate) fn summary(first: &str, summary: &SummaryTable, width: Option<usize>) -> String {
    let wide = by_row(first, summary, 0..summary.columns.len()).draw();
    let Some(width) = width.filter(|&width| columns(&wide) > width) else { return wide };
    let by_metric = blocks(summary.rows.len(), width, |shown| by_metric(first, summary, shown));
    let by_row = blocks(summary.columns.len(), width, |shown| by_row(first, summary, shown));
    let fewer = if by_row.len() < by_metric.len() { by_row } else { by_metric };
    fewer.join("\n")
}

/// Notes below a table: on runs that a mean hides, and on a terminal the meaning of bold numbers, if there are any.
pub(crate) fn write_notes(out: &mut impl Write, table: &SummaryTable) -> io::Result<()> {
    write_table_notes(out, &table.notes())?;
    write_marks(out, table.rows.iter())
}

/// Notes below a table: a line for each row, below a heading.
pub(crate) fn write_table_notes(out: &mut impl Write, notes: &[TableNote]) -> io::Result<()> {
    for note in notes {
        writeln!(out, "{}:", sentence(note.heading, terminal_width()))?;
        let longest = note.rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
        for (name, cells) in &note.rows {
            writeln!(out, "  {name:longest$}  {cells}")?;
        }
        writeln!(out)?;
    }
    Ok(())
}

/// Explains bold numbers on a terminal, if there are any.
pub(crate) fn write_marks<'r>(
    out: &mut impl Write,
    mut rows: impl Iterator<Item = &'r Row> + Clone,
) -> io::Result<()> {
    let some = rows.clone().any(|row| (0..row.cells.len()).any(|index| is_marked(row, index)));
    let differences = rows.any(|row| row.kind == RowKind::Difference);
    let meaning = if differences { "the interval excludes zero" } else { MARKED };
    match terminal_width().filter(|_| some) {
        Some(width) => writeln!(out, "{}\n", sentence(&format!("Bold: {meaning}."), Some(width))),
        None => Ok(()),
    }
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

fn columns(text: &str) -> usize {
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
        Self { text: terminal::printable(name), bold: false }
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
pub(crate) fn is_marked(row: &Row, index: usize) -> bool {
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
        header.push(vec![terminal::printable(&summary.rows[index].name)]);
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
            let text = if cell.bold { terminal::bold(text) + end } else { cell.text.clone() };
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
fn broken(label: &str, width: usize) -> Vec<String> {
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
fn visible(text: &str) -> usize {
    let mut escape = false;
    text.chars()
        .filter(|&c| {
            let shown = !escape && c != '\u{1b}';
            escape = c == '\u{1b}' || escape && c != 'm';
            shown
        })
        .count()
}

#[cfg(test)]
mod tests;
