//! Detection of reports on one flow that contradict each other.

use weir_units::TimeDelta;

use crate::time::{ArrivalTime, SendTime};

use super::times::ms;

/// Milliseconds that two reports of one arrival may be apart: each rounds.
const ROUNDED_MS: i16 = 4;
/// Greatest excess of arrival times reported after their arrivals over those reported with them. A receiver that does
/// not know the time of an arrival yet is an exception. An attacker that reports arrivals before the receiver does would
/// withhold all delays from a controller.
const MOST_LATE_TIMES: u8 = 16;
/// Duration for which a contradiction counts.
const CONTEST: TimeDelta = TimeDelta::from_secs(2);

/// Contradictions between reports: two senders describe one receiver, and the right one is not known.
#[derive(Debug, Default)]
pub(super) struct Contest {
    /// Excess of arrival times reported after their arrivals over those reported with them.
    late_times: u8,
    /// When reports last contradicted each other.
    at: Option<SendTime>,
}

impl Contest {
    /// Whether reports have contradicted each other within two seconds before `now`.
    pub(super) fn is_open(&self, now: SendTime) -> bool {
        self.at.is_some_and(|at| now - at <= CONTEST)
    }

    /// Notes that reports contradict each other.
    pub(super) fn on_contradiction(&mut self, now: SendTime) {
        self.at = Some(now);
    }

    /// Takes an arrival at `at` that another report had at `before`, in milliseconds of 16 bits.
    pub(super) fn on_arrival_again(&mut self, now: SendTime, at: ArrivalTime, before: u16) {
        if ms(at).wrapping_sub(before) as i16 > ROUNDED_MS {
            self.at = Some(now);
        }
    }

    /// Takes an arrival that was reported with its time.
    pub(super) fn on_time(&mut self) {
        self.late_times = self.late_times.saturating_sub(1);
    }

    /// Takes the time of an arrival that another report had without.
    pub(super) fn on_late_time(&mut self, now: SendTime) {
        self.late_times = (self.late_times + 1).min(2 * MOST_LATE_TIMES);
        if self.late_times > MOST_LATE_TIMES {
            self.at = Some(now);
        }
    }
}
