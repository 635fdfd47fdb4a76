//! Times in the form in which a send history stores and compares them.

use weir_units::TimeDelta;

use crate::time::{ArrivalTime, SendTime};

/// The time in ms modulo 65 536.
pub(super) fn ms(at: ArrivalTime) -> u16 {
    (at.nanos() / 1_000_000) as u16
}

/// Time from the departure `sent` to `now`, without the time that the receiver held the report, if the report has the
/// time at which it was `made`.
pub(super) fn round_trip(
    now: SendTime,
    sent: SendTime,
    arrived: ArrivalTime,
    made: Option<ArrivalTime>,
) -> TimeDelta {
    let held = made.map_or(TimeDelta::ZERO, |made| made - arrived);
    ((now - sent) - held).max(TimeDelta::ZERO)
}

/// The middle 32 bits of the NTP time of `at`, in 1/65536 s, as in a sender report. The report's NTP time may count
/// from any multiple of 65 536 s before the sender clock's zero.
pub fn compact_ntp(at: SendTime) -> u32 {
    (i128::from(at.nanos()) * 65_536 / 1_000_000_000) as u32
}
