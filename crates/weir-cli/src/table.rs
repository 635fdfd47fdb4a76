//! Tables that align, on any width.

use std::io::{self, Write};

use anstream::{AutoStream, ColorChoice};
use comfy_table::presets::NOTHING;
use comfy_table::{Attribute, Cell, ColumnConstraint, ContentArrangement, Table};
use weir_report::page::{MARKED, Row, RowKind, SummaryTable, TableNote};
use weir_report::text::{broken, columns, notes_below, visible};

use crate::terminal;

pub(crate) use weir_report::text::{is_marked, sentence, summary, words};

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

/// A sentence below a row, set in, in lines that fit the terminal; in one where there is none.
pub(crate) fn indented(text: &str, width: Option<usize>) -> String {
    let indent = "    ";
    let width = width.map(|width| width.saturating_sub(visible(indent)));
    let lines = width.map_or_else(|| vec![text.to_owned()], |width| broken(text, width));
    lines.iter().map(|line| format!("{indent}{line}")).collect::<Vec<_>>().join("\n")
}

/// Notes below a table: on runs that a mean hides, and on a terminal the meaning of bold numbers, if there are any.
pub(crate) fn write_notes(out: &mut impl Write, table: &SummaryTable) -> io::Result<()> {
    write_table_notes(out, &table.notes())?;
    write_marks(out, table.rows.iter())
}

/// Notes below a table: a line for each row, below a heading.
pub(crate) fn write_table_notes(out: &mut impl Write, notes: &[TableNote]) -> io::Result<()> {
    write!(out, "{}", notes_below(notes, terminal_width()))
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

#[cfg(test)]
mod tests;
