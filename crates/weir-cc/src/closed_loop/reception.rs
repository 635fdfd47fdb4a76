//! Receiver reports on what a loop carries.

use weir_units::TimeDelta;

use crate::report::ReceptionReport;
use crate::time::SendTime;

const RECEPTION_INTERVAL: TimeDelta = TimeDelta::from_secs(1);

/// The loss of each second, as a receiver report tells it. A late packet counts as received in the second it comes in.
#[derive(Debug, Default)]
pub(super) struct Reception {
    expected: u64,
    received: u64,
    next_id: u64,
    due: SendTime,
}

impl Reception {
    pub(super) fn on_arrival(&mut self, id: u64) {
        self.received += 1;
        let newer = (id + 1).saturating_sub(self.next_id);
        self.expected += newer;
        self.next_id += newer;
    }

    pub(super) fn poll(&mut self, now: SendTime) -> Option<ReceptionReport> {
        if now < self.due || self.received == 0 {
            return None;
        }
        let lost = self.expected.saturating_sub(self.received) * 256 / self.expected.max(1);
        *self = Self { next_id: self.next_id, due: now + RECEPTION_INTERVAL, ..Self::default() };
        Some(ReceptionReport { fraction_lost: lost.min(255) as u8, ..ReceptionReport::default() })
    }
}
