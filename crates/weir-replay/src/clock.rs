//! The clocks of both ends: their steps and their span.

use weir_world::RecordedCall;

/// Longest call, in µs: a day. A longer one has a wild time in it.
pub(crate) const LONGEST_US: i64 = 24 * 3600 * 1_000_000;

/// A call whose times span more than a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the times of the recording span more than a day; one call is needed, without a wild time")]
pub struct CallTooLong;

/// Checks that the call lasts at most a day.
///
/// # Errors
/// A longer call.
pub(crate) fn require_one_day(call: &RecordedCall) -> Result<(), CallTooLong> {
    if call.duration_us > LONGEST_US { Err(CallTooLong) } else { Ok(()) }
}

/// The step of a clock in microseconds: the largest of 1000, 250 and 1 that divides all differences of its times.
pub(crate) fn resolution_us(times: &(impl Iterator<Item = i64> + Clone)) -> i64 {
    let first = times.clone().next().unwrap_or(0);
    let divides = |step: i64| times.clone().all(|time| (time - first) % step == 0);
    [1000, 250].into_iter().find(|&step| divides(step)).unwrap_or(1)
}
