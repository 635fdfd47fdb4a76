//! A comparison of controllers as one self-contained HTML page: without network access and without other files.
//!
//! The page holds the numbers as a table, and each controller over time with its limiting factors. The distributions of the
//! queuing delay, the controllers' signals and the scenario follow. Its figures and the plotting library (uPlot, in `vendor/`)
//! are embedded compressed; the browser inflates them. The same input gives the same bytes.

mod chip;
mod decimate;
mod embed;
mod figure;
mod html;
mod input;
mod markdown;
mod names;
mod palette;
mod scatter;
mod strips;
mod table;

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::Path;

pub use decimate::extremes;
pub use input::{
    Best, CdfStep, ControllerPanel, ControllerRank, CoupledCurves, CouplingCurves, DecisionTick, Differences,
    FlowCurves, FlowRole, Move, PageInput, PlacedTable, Row, RowKind, Scatter, ScatterPoint, SignalBand,
    SummaryCell, SummaryColumn, SummaryTable, TableNote, ValueStrip, notes_below,
};
pub use markdown::markdown_cell;
pub use palette::{COMPETITOR, IDEAL, controller as colour_of, css as palette_css};
pub use table::MARKED;
pub use table::{PLACED_CSS, placed};

/// The page.
pub fn render(input: &PageInput) -> String {
    let names = names::Names::of(input);
    let mut page = html::page(input, &names, &figure::Figures::of(input, &names)).into_string();
    page.push('\n');
    page
}

/// The scatter plot, the verdict and the table of the page, without script, as a part of another page such as a notebook.
pub fn fragment(input: &PageInput) -> String {
    html::fragment(input, &names::Names::of(input)).into_string()
}

/// Writes the page to `path`, whole or not at all: into a file beside it that then takes its place.
///
/// # Errors
/// Errors of the file system.
pub fn write(path: &Path, input: &PageInput) -> io::Result<()> {
    let mut name = path.file_name().map_or_else(OsString::new, OsString::from);
    name.push(format!(".{}.part", std::process::id()));
    let part = path.with_file_name(name);
    let written = fs::write(&part, render(input)).and_then(|()| fs::rename(&part, path));
    if written.is_err() {
        // The first error is the one to report.
        let _ = fs::remove_file(&part);
    }
    written
}

#[cfg(test)]
mod tests;
