//! Differences between variants of one controller, run by run, below the table of results.

use std::io::Write;

use weir_report::page::Differences;

use crate::failure::Failure;
use crate::{markdown, table};

/// Title above the names of the variants; `place` names the place, if there are several.
fn title(place: Option<&str>, differences: &Differences) -> String {
    let place = place.map_or_else(String::new, |place| format!("{place}: "));
    place + &differences.title()
}

/// A table for each controller that has several variants.
pub(crate) fn write(
    out: &mut impl Write,
    place: Option<&str>,
    differences: &[Differences],
) -> Result<(), Failure> {
    for own in differences {
        writeln!(out, "{}", table::summary(&title(place, own), &own.table, table::terminal_width()))?;
        table::write_notes(out, &own.table)?;
    }
    Ok(())
}

/// The tables for a page.
pub(crate) fn in_markdown(place: Option<&str>, differences: &[Differences]) -> String {
    let table = |own: &Differences| format!("\n{}", markdown::numbers(&title(place, own), &own.table));
    differences.iter().map(table).collect()
}
