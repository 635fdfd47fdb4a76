//! Which parameter is out of range, where the schema cannot say it.

use weir_units::{DataRate, TimeDelta};

use crate::form::{KeyPath, Problem};

/// The parameter at the dotted `path` is out of range; `right` says what would be right, such as "a rate above 0".
pub(super) fn refused(path: &str, right: &str) -> Problem {
    let keys: Vec<&str> = path.split('.').collect();
    Problem::value(&KeyPath::of(&keys), format!("`{path}` is out of range")).help(format!("write {right}"))
}

/// The first rule that does not hold: a path, whether its value is right, and what would be.
pub(super) fn check<P: AsRef<str>>(
    rules: impl IntoIterator<Item = (P, bool, &'static str)>,
) -> Result<(), Problem> {
    let broken = rules.into_iter().find(|(_, holds, _)| !holds);
    broken.map_or(Ok(()), |(path, _, right)| Err(refused(path.as_ref(), right)))
}

pub(super) const LONGER: &str = "a time above 0";
pub(super) const NO_SHORTER: &str = "a time of 0 or above";
pub(super) const FASTER: &str = "a rate above 0";

/// Whether a time is above 0.
pub(super) fn span(time: TimeDelta) -> bool {
    time > TimeDelta::ZERO
}

/// Whether a rate is above 0.
pub(super) fn moving(rate: DataRate) -> bool {
    !rate.is_zero()
}
