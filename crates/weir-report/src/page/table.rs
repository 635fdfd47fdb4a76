//! The table of the controllers.

use maud::{Markup, html};

use super::chip::chip;
use super::input::{Best, PlacedTable, Row, RowKind, SummaryCell, SummaryColumn, SummaryTable, TableNote};
use super::names::Names;

/// The style of [`placed`] tables, on a page that has colours of its own.
pub const PLACED_CSS: &str = include_str!("placed.css");

/// The table, with the meaning of its marks below it; empty if it has no row. A name links to the controller's panel where it has
/// one.
pub(super) fn summary(table: &SummaryTable, names: &Names<'_>, has_panel: impl Fn(&str) -> bool) -> Markup {
    if table.rows.is_empty() {
        return html! {};
    }
    html! {
        div.summary.card.scroll id="table" {
            table {
                thead { (head(table)) }
                @for rows in groups(table) {
                    @let index = names.number(&rows[0].name);
                    tbody data-controller=(index) {
                        @for row in rows { (drawn(table, row, (index, has_panel(&row.name)))) }
                    }
                }
            }
        }
        (meaning(table))
        (notes(&table.notes()))
    }
}

/// The notes on cells that a mean hides, below a table.
fn notes(notes: &[TableNote]) -> Markup {
    html! {
        @for note in notes {
            p.hint.below { (note.heading) ":" }
            ul.hint { @for (name, cells) in &note.rows { li { (name) ": " (cells) } } }
        }
    }
}

fn head(table: &SummaryTable) -> Markup {
    html! {
        tr {
            th { button.sort type="button" data-column="0" { "Controller" } }
            @for (position, column) in table.columns.iter().enumerate() {
                @let first = if column.best == Best::Lowest { "ascending" } else { "descending" };
                th {
                    button.sort type="button" data-column=(position + 1) data-first=(first) { (column.label) }
                    span.unit { (column.unit) }
                }
            }
        }
    }
}

/// The rows of each controller.
fn groups(table: &SummaryTable) -> impl Iterator<Item = &[Row]> {
    table.rows.chunk_by(|a, b| a.name == b.name && b.kind != RowKind::Alone)
}

/// A row of the controller of this number, which may have a panel.
fn drawn(table: &SummaryTable, row: &Row, (index, has_panel): (usize, bool)) -> Markup {
    let difference = row.kind == RowKind::Difference;
    html! {
        tr.difference[difference] {
            th data-value=(index) {
                @match &row.kind {
                    RowKind::Difference => { span.run { "second less first" } }
                    kind => {
                        (chip(index))
                        @if has_panel { a href=(format!("#controller-{index}")) { (row.name) } } @else { (row.name) }
                        @if let RowKind::Of(run) = kind { " " span.run { (run) } }
                    }
                }
            }
            @for (position, column) in table.columns.iter().enumerate() {
                @let shown = row.cells.get(position).copied().flatten().filter(|cell| cell.mean.is_finite());
                @let has_interval = cells(table, position).any(|cell| cell.ci95.is_some());
                (cell(column, shown, has_interval))
            }
        }
    }
}

fn cell(column: &SummaryColumn, cell: Option<SummaryCell>, has_interval: bool) -> Markup {
    let half_width = cell.and_then(|cell| cell.ci95).filter(|width| width.is_finite());
    let interval = half_width.map(|width| format!("± {}", shown(width, column.decimals)));
    let rest = html! {
        @if has_interval { span.interval { (interval.unwrap_or_default()) } }
    };
    html! {
        @match cell {
            Some(cell) => td class=[mark(cell)] data-value=(cell.mean) {
                span.value { (shown(cell.mean, column.decimals)) }
                (rest)
            }
            None => td { span.none { "–" } (rest) }
        }
    }
}

/// The class of a marked cell.
const fn mark(cell: SummaryCell) -> Option<&'static str> {
    match (cell.best, cell.worse) {
        (true, _) => Some("best"),
        (false, true) => Some("worse"),
        (false, false) => None,
    }
}

fn cells(table: &SummaryTable, position: usize) -> impl Iterator<Item = SummaryCell> {
    let cell = move |row: &Row| row.cells.get(position).copied().flatten();
    table.rows.iter().filter_map(cell).filter(|cell| cell.mean.is_finite())
}

/// The meaning of the marks; empty where there are none.
fn meaning(table: &SummaryTable) -> Markup {
    let rows: Vec<&Row> = table.rows.iter().collect();
    meaning_of(&rows)
}

fn meaning_of(rows: &[&Row]) -> Markup {
    let differ = |row: &Row| row.kind == RowKind::Difference;
    let marked = |row: &Row| row.cells.iter().flatten().any(|cell| cell.best && cell.mean.is_finite());
    html! {
        @if rows.iter().any(|row| marked(row) && !differ(row)) {
            p.hint.below { span.best { span.value { "Marked" } } ": " (MARKED) "." }
        }
        @if rows.iter().any(|row| differ(row)) {
            p.hint.below {
                "Differences are those of runs of the same seed, with the 95 % interval of their mean; coloured where it \
                 excludes zero: " span.best { span.value { "for the better" } } " (or where neither is better), "
                span.worse { span.value { "for the worse" } } "."
            }
        }
    }
}

/// Tables, one below the other, with the meaning of their marks below them; empty where there are none.
pub fn placed(tables: &[PlacedTable]) -> Markup {
    let rows: Vec<&Row> = tables.iter().flat_map(|table| &table.rows).map(|(_, row)| row).collect();
    html! {
        @for table in tables.iter().filter(|table| !table.rows.is_empty()) {
            div.placed.card.scroll {
                table {
                    thead {
                        tr {
                            @for head in &table.heads { th { (head) } }
                            @for column in &table.columns { th.number { (column.label) span.unit { (column.unit) } } }
                        }
                    }
                    tbody { @for (at, row) in &table.rows { (of_place(table, at, row)) } }
                }
            }
            (notes(&table.notes()))
        }
        (meaning_of(&rows))
    }
}

fn of_place(table: &PlacedTable, at: &[String], row: &Row) -> Markup {
    let shown = |position: usize, row: &Row| {
        row.cells.get(position).copied().flatten().filter(|cell| cell.mean.is_finite())
    };
    let has_interval = |position: usize| {
        table.rows.iter().any(|(_, row)| shown(position, row).is_some_and(|cell| cell.ci95.is_some()))
    };
    html! {
        tr {
            @for word in at { th { (word) } }
            th { (row.name) }
            @for (position, column) in table.columns.iter().enumerate() {
                (cell(column, shown(position, row), has_interval(position)))
            }
        }
    }
}

/// Explanation of the mark of the best values, for users.
pub const MARKED: &str = "unbeaten: no other is ahead, run by run, by more than 1 % and 3.25 standard errors (of ten \
     runs); of single runs, what looks like the best. Where that holds of all, none is marked; reference senders never are";

/// `value` with a true minus sign, and none before a zero.
pub(super) fn shown(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    match text.strip_prefix('-') {
        Some(digits) if digits.chars().all(|c| c == '0' || c == '.') => digits.to_owned(),
        Some(digits) => format!("−{digits}"),
        None => text,
    }
}
