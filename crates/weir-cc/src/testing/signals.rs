//! What the inner quantities of a half must be.

use crate::controller::Signal;

/// Reads the present values of `signals`: none of them is infinite.
pub(super) fn read_signals(signals: &[Signal], read: impl FnOnce(&mut [f64])) {
    let mut values = [f64::INFINITY; 64];
    let values = &mut values[..signals.len()];
    read(values);
    let infinite = values.iter().position(|value| value.is_infinite());
    assert!(infinite.is_none(), "{:?} is infinite", infinite.map(|i| signals[i].name));
}
