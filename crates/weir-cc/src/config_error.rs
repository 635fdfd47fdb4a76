//! Why a law's constants are not acceptable.

use core::fmt;

/// A constant out of its range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// Of what part it is, with a dot; empty if the law has no parts.
    group: &'static str,
    field: &'static str,
    expected: &'static str,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}{}` must be {}", self.group, self.field, self.expected)
    }
}

impl core::error::Error for ConfigError {}

/// A constant, whether it is within its range, and the range.
pub(crate) type Rule = (&'static str, bool, &'static str);

/// The first of `rules` that does not hold, as an error.
pub(crate) fn check(rules: impl IntoIterator<Item = Rule>) -> Result<(), ConfigError> {
    check_group("", rules)
}

/// The same for the part `group` of a configuration, which ends with a dot.
pub(crate) fn check_group(
    group: &'static str,
    rules: impl IntoIterator<Item = Rule>,
) -> Result<(), ConfigError> {
    match rules.into_iter().find(|(_, holds, _)| !holds) {
        Some((field, _, expected)) => Err(ConfigError { group, field, expected }),
        None => Ok(()),
    }
}
