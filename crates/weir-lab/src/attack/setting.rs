//! The path of every attack, who is on it, and when.

use weir_cc::{ArrivalTime, DataRate, SendTime, TimeDelta};

pub(super) const CAPACITY: DataRate = DataRate::from_kbps(1000);
pub(super) const ONE_WAY: TimeDelta = TimeDelta::from_millis(25);
/// The receiver's clock is so far ahead.
pub(super) const CLOCK: TimeDelta = TimeDelta::from_secs(5 * 3600);
/// Source identifiers of the flow and of who reports on it.
pub(super) const SENDER: u32 = 0x5EED_0001;
pub(super) const RECEIVER: u32 = 0x5EED_0002;
/// When the attack begins and ends.
pub(super) const FROM: SendTime = SendTime::from_millis(20_000);
pub(super) const TO: SendTime = SendTime::from_millis(60_000);

/// What the receiver's clock says.
pub(super) fn clock(now: SendTime) -> ArrivalTime {
    ArrivalTime::ZERO + (now - SendTime::ZERO) + CLOCK
}
