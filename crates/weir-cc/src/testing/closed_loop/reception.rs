//! Receiver reports on the packets of a loop.

use weir_units::TimeDelta;

use crate::report::ReceptionReport;
use crate::time::SendTime;

const RECEPTION_INTERVAL: TimeDelta = TimeDelta::from_secs(1);

/// The loss of each second, as in a receiver report. A late packet counts as received in the second it comes in.
#[derive(Debug, Default)]
pub(super) struct SecondLosses {
    expected: u64,
    received: u64,
    next_id: u64,
    lost: u64,
    due: SendTime,
}

impl SecondLosses {
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
        let missing = self.expected.saturating_sub(self.received);
        let fraction_lost = (missing * 256 / self.expected.max(1)).min(255) as u8;
        let (next_id, lost) = (self.next_id, self.lost + missing);
        *self = Self { next_id, lost, due: now + RECEPTION_INTERVAL, ..Self::default() };
        let (highest_sequence, cumulative_lost) = ((next_id - 1) as u32, lost as i32);
        Some(ReceptionReport {
            fraction_lost,
            cumulative_lost,
            highest_sequence,
            ..ReceptionReport::default()
        })
    }
}
