//! Path, addresses and time that all attacks share.

use weir_cc::{ArrivalTime, DataRate, SendTime, TimeDelta};

pub(super) const CAPACITY: DataRate = DataRate::from_kbps(1000);
pub(super) const ONE_WAY: TimeDelta = TimeDelta::from_millis(25);
/// Offset by which the receiver's clock is ahead.
pub(super) const CLOCK: TimeDelta = TimeDelta::from_secs(5 * 3600);
/// Source identifiers of the flow and of its receiver.
pub(super) const SENDER: u32 = 0x5EED_0001;
pub(super) const RECEIVER: u32 = 0x5EED_0002;
/// Length of an attack.
const LENGTH: TimeDelta = TimeDelta::from_secs(40);

/// Beginning and end of an attack.
#[derive(Clone, Copy, Debug)]
pub(super) struct AttackSpan {
    pub(super) from: SendTime,
    pub(super) to: SendTime,
}

impl AttackSpan {
    /// Attack that begins `after` the start of the call.
    pub(super) fn beginning(after: TimeDelta) -> Self {
        let from = SendTime::ZERO + after;
        Self { from, to: from + LENGTH }
    }

    pub(super) fn contains(self, now: SendTime) -> bool {
        (self.from..self.to).contains(&now)
    }

    /// Beginning and end, in seconds of the call.
    pub(super) fn seconds(self) -> (f64, f64) {
        ((self.from - SendTime::ZERO).secs_f64(), (self.to - SendTime::ZERO).secs_f64())
    }
}

/// Time on the receiver's clock.
pub(super) fn clock(now: SendTime) -> ArrivalTime {
    ArrivalTime::ZERO + (now - SendTime::ZERO) + CLOCK
}
