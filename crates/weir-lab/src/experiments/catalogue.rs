//! The rows and templates that ship with Weir, part of the binary.

/// A row that ships.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShippedRow {
    /// Its name: `PAPER/ROW`.
    pub name: &'static str,
    /// Its file.
    pub text: &'static str,
}

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        [$(ShippedRow { name: $name, text: include_str!(concat!("../../../../experiments/", $name, ".toml")) }),*]
    };
}

/// Every row, sorted by name.
pub const ROWS: &[ShippedRow] = &files!["coupled-rtp-2014/fig8",];

/// The scenarios that several rows share, by their names.
pub(super) const TEMPLATES: &[ShippedRow] = &files!["templates/dumbbell-100ms", "templates/dumbbell-10ms",];
