//! Computed theory: each analysis takes parameters and returns numbers, without a scenario and without a run.
//!
//! An [`Entry`] is found by its name. Its parameters have defaults, presets and a JSON Schema. Like scenarios by `--set`, they
//! are changed by `key=value`. Flags are the numbers 0 and 1, so that every value is a number.

mod dccc;
mod entry;
mod gcc;
mod nada;
mod range;

use std::sync::LazyLock;

pub use dccc::solver;
pub use entry::{Analysed, Entry};

static ENTRIES: LazyLock<Vec<Entry>> = LazyLock::new(|| {
    vec![
        Entry::of::<dccc::Penalty>(),
        Entry::of::<dccc::DcccEquilibrium>(),
        Entry::of::<dccc::DcccLoop>(),
        Entry::of::<dccc::Fluid>(),
        Entry::of::<dccc::Passivity>(),
        Entry::of::<dccc::Optimum>(),
        Entry::of::<dccc::Mismatch>(),
        Entry::of::<gcc::Observability>(),
        Entry::of::<gcc::Gradient>(),
        Entry::of::<nada::Warp>(),
        Entry::of::<nada::NadaEquilibrium>(),
    ]
});

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
