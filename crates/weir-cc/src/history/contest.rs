//! Whether the reports of a flow contradict each other.

use weir_units::TimeDelta;

use crate::time::{ArrivalTime, SendTime};

use super::times::ms;

/// Milliseconds that two reports of one arrival may be apart: each rounds.
const ROUNDED_MS: i16 = 4;
/// How many more arrival times may come after their arrivals than with them. A receiver that does not know the time of an arrival yet
/// is an exception; whoever reports arrivals before the receiver does would withhold all delays from a law.
const MOST_LATE_TIMES: u8 = 16;
/// How long a contradiction counts.
const CONTEST: TimeDelta = TimeDelta::from_secs(2);

/// Contradictions between reports: two senders describe one receiver, and which of them is right is not known.
#[derive(Debug, Default)]
pub(super) struct Contest {
    /// How many more arrival times came after their arrivals than with them.
    late_times: u8,
    /// When reports last contradicted each other.
    at: Option<SendTime>,
}

impl Contest {
    /// Whether reports have contradicted each other within two seconds before `now`.
    pub(super) fn is_open(&self, now: SendTime) -> bool {
        self.at.is_some_and(|at| now - at <= CONTEST)
    }

    /// Reports contradict each other.
    pub(super) fn on_contradiction(&mut self, now: SendTime) {
        self.at = Some(now);
    }

    /// A report has a packet arrive at `at` that another report had arrive at `before`, in milliseconds of 16 bits.
    pub(super) fn on_arrival_again(&mut self, now: SendTime, at: ArrivalTime, before: u16) {
        if ms(at).wrapping_sub(before) as i16 > ROUNDED_MS {
            self.at = Some(now);
        }
    }

    /// A report has a packet arrive, with the time.
    pub(super) fn on_time(&mut self) {
        self.late_times = self.late_times.saturating_sub(1);
    }

    /// A report has the time of an arrival that another report had without.
    pub(super) fn on_late_time(&mut self, now: SendTime) {
        self.late_times = (self.late_times + 1).min(2 * MOST_LATE_TIMES);
        if self.late_times > MOST_LATE_TIMES {
            self.at = Some(now);
        }
    }
}
