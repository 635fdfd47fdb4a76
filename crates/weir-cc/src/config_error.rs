//! Why a law's constants are not acceptable.

use core::fmt;

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

/// The first of `rules` (the constant, whether it is within its range, the range) that does not hold, as an error.
pub(crate) fn check<const N: usize>(
    rules: [(&'static str, bool, &'static str); N],
) -> Result<(), ConfigError> {
    match rules.into_iter().find(|(_, holds, _)| !holds) {
        Some((field, _, expected)) => Err(ConfigError { field, expected }),
        None => Ok(()),
    }
}
