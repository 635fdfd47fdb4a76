//! How constants are checked.

use core::fmt;

use weir_units::TimeDelta;

/// A constant out of its range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConfigError {
    field: &'static str,
    expected: &'static str,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` must be {}", self.field, self.expected)
    }
}

impl core::error::Error for ConfigError {}

/// The first rule (constant, whether it holds, what it demands) that does not hold.
pub(super) fn check(rules: &[(&'static str, bool, &'static str)]) -> Result<(), ConfigError> {
    match rules.iter().find(|(_, holds, _)| !holds) {
        Some(&(field, _, expected)) => Err(ConfigError { field, expected }),
        None => Ok(()),
    }
}

pub(super) fn positive(value: f64) -> bool {
    value > 0.0 && value.is_finite()
}

pub(super) fn ratio(value: f64) -> bool {
    value > 0.0 && value <= 1.0
}

pub(super) fn span(value: TimeDelta) -> bool {
    value > TimeDelta::ZERO
}
