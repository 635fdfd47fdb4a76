//! How constants are checked.

use weir_units::TimeDelta;

pub(super) fn positive(value: f64) -> bool {
    value > 0.0 && value.is_finite()
}

pub(super) fn ratio(value: f64) -> bool {
    value > 0.0 && value <= 1.0
}

pub(super) fn span(value: TimeDelta) -> bool {
    value > TimeDelta::ZERO
}
