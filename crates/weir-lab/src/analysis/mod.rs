//! What theory says, computed: each analysis takes parameters and gives numbers, without a scenario and without a run.
//!
//! An [`Entry`] is found by its name; its parameters have defaults, presets and a JSON Schema, and are changed by
//! `key=value` as scenarios are by `--set`. The same parameters give the same bytes on any machine. Flags are the numbers
//! 0 and 1, so that whoever takes a value takes a number.

mod dccc;
mod entry;
mod range;

use std::sync::LazyLock;

pub use dccc::rest;
pub use entry::{Analysed, Entry};

static ENTRIES: LazyLock<Vec<Entry>> =
    LazyLock::new(|| vec![Entry::of::<dccc::Penalty>(), Entry::of::<dccc::Equilibrium>()]);

/// Every analysis, in the order of the documentation.
pub fn all() -> impl Iterator<Item = &'static Entry> {
    ENTRIES.iter()
}

/// The analysis of this name.
pub fn find(name: &str) -> Option<&'static Entry> {
    all().find(|entry| entry.name() == name)
}

#[cfg(test)]
mod tests;
