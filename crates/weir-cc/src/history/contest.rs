//! Detection of reports on one flow that contradict each other.

use weir_units::TimeDelta;

use crate::time::{ArrivalTime, SendTime};

use super::times::ms;

/// Greatest difference in ms between the times of one arrival in two reports, because both are rounded.
const MAX_ROUNDING_MS: i16 = 4;
/// Greatest number of arrival times reported after the arrival, beyond those reported with it. A receiver rarely
/// reports an arrival before it knows its time. An attacker that reports arrivals before the receiver does would
/// withhold all delays from the controller.
const MAX_LATE_TIMES: u8 = 16;
/// Duration for which a contradiction counts.
const CONTEST_TIME: TimeDelta = TimeDelta::from_secs(2);

/// Contradictions between reports: two senders describe one receiver, and the honest one is unknown.
#[derive(Debug, Default)]
pub(super) struct Contest {
    /// Number of arrival times reported after the arrival, less that of times reported with it.
    late_times: u8,
    /// Time of the last contradiction.
    at: Option<SendTime>,
}

impl Contest {
    /// Whether reports have contradicted each other within two seconds before `now`.
    pub(super) fn is_open(&self, now: SendTime) -> bool {
        self.at.is_some_and(|at| now - at <= CONTEST_TIME)
    }

    /// Records a contradiction between reports.
    pub(super) fn on_contradiction(&mut self, now: SendTime) {
        self.at = Some(now);
    }

    /// Takes an arrival at `at` that another report had at `before`, in ms modulo 65 536.
    pub(super) fn on_arrival_again(&mut self, now: SendTime, at: ArrivalTime, before: u16) {
        if ms(at).wrapping_sub(before) as i16 > MAX_ROUNDING_MS {
            self.at = Some(now);
        }
    }

    /// Takes an arrival that was reported with its time.
    pub(super) fn on_time(&mut self) {
        self.late_times = self.late_times.saturating_sub(1);
    }

    /// Takes the time of an arrival that another report had without a time.
    pub(super) fn on_late_time(&mut self, now: SendTime) {
        self.late_times = (self.late_times + 1).min(2 * MAX_LATE_TIMES);
        if self.late_times > MAX_LATE_TIMES {
            self.at = Some(now);
        }
    }
}
