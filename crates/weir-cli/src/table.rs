//! Tables that align.

use comfy_table::presets::{NOTHING, UTF8_HORIZONTAL_ONLY};
use comfy_table::{Attribute, Cell, CellAlignment, ContentArrangement, Table};
use weir_lab::report::{Best, SummaryTable};

/// Words in columns.
pub(crate) fn plain(header: &[&str], rows: &[Vec<String>]) -> Table {
    let mut table = Table::new();
    table.load_style(NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
    table.set_header(header.iter().map(|name| Cell::new(name).add_attribute(Attribute::Bold)));
    table.add_rows(rows);
    table
}

/// Numbers in columns, with their 95 % intervals; the best value of a column is bold.
pub(crate) fn summary(first: &str, summary: &SummaryTable) -> Table {
    let mut table = Table::new();
    table.load_style(UTF8_HORIZONTAL_ONLY).set_content_arrangement(ContentArrangement::Dynamic);
    let header = summary.columns.iter().map(|column| match column.unit.as_str() {
        "" => column.label.clone(),
        unit => format!("{}\n{unit}", column.label),
    });
    table.set_header(std::iter::once(first.to_owned()).chain(header));
    let best: Vec<Option<f64>> = (0..summary.columns.len()).map(|column| best_of(summary, column)).collect();
    for row in &summary.rows {
        let cells = row.cells.iter().enumerate().map(|(i, cell)| {
            let text = cell.as_ref().map_or_else(
                || "–".to_owned(),
                |cell| {
                    let decimals = summary.columns[i].decimals;
                    match cell.ci95 {
                        Some(half) => format!("{:.decimals$} ±{half:.decimals$}", cell.mean),
                        None => format!("{:.decimals$}", cell.mean),
                    }
                },
            );
            let is_best = cell.as_ref().is_some_and(|cell| best[i] == Some(cell.mean));
            let shown = Cell::new(text).set_alignment(CellAlignment::Right);
            if is_best { shown.add_attribute(Attribute::Bold) } else { shown }
        });
        table.add_row(std::iter::once(Cell::new(&row.name)).chain(cells));
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// The best mean of a column, if rows compete.
fn best_of(summary: &SummaryTable, column: usize) -> Option<f64> {
    let means = summary.rows.iter().filter_map(|row| row.cells[column].as_ref()).map(|cell| cell.mean);
    match summary.columns[column].best {
        _ if summary.rows.len() < 2 => None,
        Best::Highest => means.max_by(f64::total_cmp),
        Best::Lowest => means.min_by(f64::total_cmp),
        Best::Neither => None,
    }
}
