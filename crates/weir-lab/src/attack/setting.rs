//! The path of every attack, who is on it, and when.

use weir_cc::{ArrivalTime, DataRate, SendTime, TimeDelta};

pub(super) const CAPACITY: DataRate = DataRate::from_kbps(1000);
pub(super) const ONE_WAY: TimeDelta = TimeDelta::from_millis(25);
/// The receiver's clock is so far ahead.
pub(super) const CLOCK: TimeDelta = TimeDelta::from_secs(5 * 3600);
/// Source identifiers of the flow and of who reports on it.
pub(super) const SENDER: u32 = 0x5EED_0001;
pub(super) const RECEIVER: u32 = 0x5EED_0002;
/// Length of an attack.
const LENGTH: TimeDelta = TimeDelta::from_secs(40);

/// When an attack begins and ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub(super) from: SendTime,
    pub(super) to: SendTime,
}

impl Span {
    /// An attack that begins so long after the call.
    pub(super) fn beginning(after: TimeDelta) -> Self {
        let from = SendTime::ZERO + after;
        Self { from, to: from + LENGTH }
    }

    pub(super) fn contains(self, now: SendTime) -> bool {
        (self.from..self.to).contains(&now)
    }

    /// Seconds of the call.
    pub(super) fn seconds(self) -> (f64, f64) {
        ((self.from - SendTime::ZERO).secs_f64(), (self.to - SendTime::ZERO).secs_f64())
    }
}

/// What the receiver's clock says.
pub(super) fn clock(now: SendTime) -> ArrivalTime {
    ArrivalTime::ZERO + (now - SendTime::ZERO) + CLOCK
}
