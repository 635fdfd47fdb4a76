//! Errors of configurations whose constants are out of range.

use core::fmt;

use weir_units::TimeDelta;

/// A constant out of its range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// Part of the configuration, with a dot; empty if the controller has no parts.
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

/// Checks rules in order. The first that does not hold is the error.
pub(crate) fn check(rules: impl IntoIterator<Item = Rule>) -> Result<(), ConfigError> {
    check_group("", rules)
}

/// As [`check`], for the part `group` of a configuration, which ends with a dot.
pub(crate) fn check_group(
    group: &'static str,
    rules: impl IntoIterator<Item = Rule>,
) -> Result<(), ConfigError> {
    match rules.into_iter().find(|(_, holds, _)| !holds) {
        Some((field, _, expected)) => Err(ConfigError { group, field, expected }),
        None => Ok(()),
    }
}

/// Whether the value is above 0 and finite: "above 0".
pub(crate) fn positive(value: f64) -> bool {
    value > 0.0 && value.is_finite()
}

/// Whether the value is 0 or more and finite: "0 or above".
pub(crate) fn amount(value: f64) -> bool {
    value >= 0.0 && value.is_finite()
}

/// Whether the value is at least 1 and finite: "at least 1".
pub(crate) fn at_least_one(value: f64) -> bool {
    value >= 1.0 && value.is_finite()
}

/// Whether the value is in [0, 1]: "in [0, 1]".
pub(crate) fn ratio(value: f64) -> bool {
    (0.0..=1.0).contains(&value)
}

/// Whether the value is in (0, 1]: "in (0, 1]".
pub(crate) fn weight(value: f64) -> bool {
    value > 0.0 && value <= 1.0
}

/// Whether the time is above 0: "longer than 0".
pub(crate) fn span(value: TimeDelta) -> bool {
    value > TimeDelta::ZERO
}

/// Whether the time is 0 or more: "0 or longer".
pub(crate) fn not_negative(value: TimeDelta) -> bool {
    !value.is_negative()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_edges_of_each_range() {
        // Of each: the values 0, the least above it, 1, the least above that, infinity, NaN, and the greatest below 0.
        let tiny = f64::MIN_POSITIVE;
        let values = [0.0, tiny, 1.0, 1.0 + f64::EPSILON, f64::INFINITY, f64::NAN, -tiny];
        let check_all = |check: fn(f64) -> bool| values.map(check);
        assert_eq!(check_all(positive), [false, true, true, true, false, false, false]);
        assert_eq!(check_all(amount), [true, true, true, true, false, false, false]);
        assert_eq!(check_all(at_least_one), [false, false, true, true, false, false, false]);
        assert_eq!(check_all(ratio), [true, true, true, false, false, false, false]);
        assert_eq!(check_all(weight), [false, true, true, false, false, false, false]);
        let times = [-1, 0, 1].map(TimeDelta::from_nanos);
        assert_eq!(times.map(span), [false, false, true]);
        assert_eq!(times.map(not_negative), [false, true, true]);
    }
}
