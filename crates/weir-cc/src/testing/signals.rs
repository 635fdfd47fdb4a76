//! Checks of the signals of a half.

use crate::controller::{Evidence, Signal};

/// Reads the present values of `signals`, and checks that none of them is infinite.
pub(super) fn read_signals(signals: &[Signal], read: impl FnOnce(&mut [f64])) {
    let mut values = [f64::INFINITY; 64];
    let values = &mut values[..signals.len()];
    read(values);
    let infinite = values.iter().position(|value| value.is_infinite());
    assert!(infinite.is_none(), "{:?} is infinite", infinite.map(|i| signals[i].name));
}

/// Checks that the evidence of a decision names different signals of the half.
pub(super) fn check_evidence(signals: &[Signal], evidence: &[Option<Evidence>]) {
    for (place, own) in evidence.iter().flatten().enumerate() {
        let known = signals.iter().any(|signal| signal.name == own.signal);
        let again = evidence.iter().flatten().skip(place + 1).any(|other| other.signal == own.signal);
        assert!(known && !again, "{} is no signal of the controller, or stands there twice", own.signal);
    }
}
