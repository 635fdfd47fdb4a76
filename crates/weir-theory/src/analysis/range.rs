//! Range checks of parameters that the schema cannot express.

use weir_units::{DataRate, TimeDelta};

use weir_form::{KeyPath, Problem};

/// The problem of a parameter at the dotted `path` that is out of range; `right` describes a valid value, such as "a rate above
/// 0".
pub(super) fn refused(path: &str, right: &str) -> Problem {
    let keys: Vec<&str> = path.split('.').collect();
    Problem::value(&KeyPath::of(&keys), format!("`{path}` is out of range")).help(format!("write {right}"))
}

/// The problem of the first rule that fails. A rule is a path, whether its value is valid, and the description of a valid value.
pub(crate) fn check<P: AsRef<str>>(
    rules: impl IntoIterator<Item = (P, bool, &'static str)>,
) -> Result<(), Problem> {
    let broken = rules.into_iter().find(|(_, holds, _)| !holds);
    broken.map_or(Ok(()), |(path, _, right)| Err(refused(path.as_ref(), right)))
}

/// Refuses more work or memory than is affordable: more than `most` units of the kind `named`, such as "packets are sent". `less`
/// names the parameters to reduce.
pub(super) fn affordable(path: &str, units: f64, most: f64, named: &str, less: &str) -> Result<(), Problem> {
    // NaN counts as too much.
    if units <= most {
        return Ok(());
    }
    Err(refused(path, &format!("less of {less}: {units:.3e} {named}, at most {most:.0e}")))
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
