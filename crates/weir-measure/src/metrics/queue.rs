//! Recorder of the length of a queue, and of whether it drained between overflows.

use weir_net::Time;
use weir_units::TimeDelta;

use crate::results::Value;

/// Recorder of a queue, by the number of packets that each arriving packet finds there.
///
/// Successive refusals belong to one overflow until the queue has fallen by a twentieth of its packets, and by at
/// least two. A change by one packet happens between any two arrivals. Another overflow also requires a round trip
/// without a refusal, because senders cannot have responded earlier.
#[derive(Debug, Default)]
pub(super) struct QueueRecorder {
    /// Shortest time without a refusal that ends an overflow.
    min_gap: TimeDelta,
    longest: Option<u32>,
    pub(super) overflows: u64,
    /// Number of times that the queue did not empty between two overflows.
    pub(super) failed_drains: u64,
    /// Time of the last refusal, and the number of packets that waited then.
    last_refusal: Option<(Time, u32)>,
    /// The least number of waiting packets since the last refusal.
    least: u32,
}

impl QueueRecorder {
    /// The recorder of a queue whose overflows are at least `min_gap` from each other.
    pub(super) fn new(min_gap: TimeDelta) -> Self {
        Self { min_gap, ..Self::default() }
    }

    /// Takes a packet that finds `found` others at the queue, the one in service included. It is accepted or refused.
    pub(super) fn enter(&mut self, now: Time, in_window: bool, found: u32, taken: bool) {
        let waiting = found.saturating_sub(1);
        self.least = self.least.min(waiting);
        if taken {
            if in_window {
                // The packet waits as well, unless the link is idle.
                self.longest = Some(self.longest.map_or(found, |longest| longest.max(found)));
            }
            return;
        }
        let begins = self.last_refusal.is_none_or(|(at, last_refusal)| {
            now - at >= self.min_gap && last_refusal.saturating_sub(self.least) >= (last_refusal / 20).max(2)
        });
        if begins && in_window {
            self.overflows += 1;
            self.failed_drains += u64::from(self.last_refusal.is_some() && self.least > 0);
        }
        self.last_refusal = Some((now, waiting));
        self.least = waiting;
    }

    /// Greatest number of packets that have waited.
    pub(super) fn max(&self) -> Value {
        self.longest.map(f64::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Time = Time::ZERO;

    /// A queue of six that wait, in which packets find so many, and the one in service.
    fn after(waiting: &[u32]) -> QueueRecorder {
        let mut queue = QueueRecorder::default();
        for &waits in waiting {
            queue.enter(NOW, true, waits + 1, waits < 6);
        }
        queue
    }

    #[test]
    fn an_overflow_lasts_until_nothing_is_refused_for_a_round_trip() {
        let overflows = |apart_ms: u64| {
            let mut queue = QueueRecorder::new(TimeDelta::from_millis(10));
            for (at, waiting, taken) in [(0, 6, false), (1, 2, true), (apart_ms, 6, false)] {
                queue.enter(Time::from_millis(at), true, waiting + 1, taken);
            }
            (queue.overflows, queue.failed_drains)
        };
        assert_eq!((overflows(9), overflows(10)), ((1, 0), (2, 1)));
    }

    #[test]
    fn refusals_in_a_row_are_one_overflow() {
        let queue = after(&[4, 5, 6, 6, 5, 6, 6]);
        assert_eq!((queue.overflows, queue.failed_drains, queue.max()), (1, 0, Some(6.0)));
    }

    #[test]
    fn a_queue_fails_to_drain_if_something_waits_all_the_time_between_two_overflows() {
        let queue = after(&[6, 5, 4, 5, 6]);
        assert_eq!((queue.overflows, queue.failed_drains), (2, 1));
        let queue = after(&[6, 3, 0, 3, 6, 6, 2, 1, 6, 0, 6]);
        assert_eq!((queue.overflows, queue.failed_drains), (4, 1));
    }

    #[test]
    fn a_long_queue_has_to_fall_by_a_twentieth() {
        let overflows = |least: u32| {
            let mut queue = QueueRecorder::default();
            for (waiting, taken) in [(100, false), (least, true), (100, false)] {
                queue.enter(NOW, true, waiting + 1, taken);
            }
            queue.overflows
        };
        assert_eq!((overflows(96), overflows(95)), (1, 2));
    }

    #[test]
    fn packets_outside_of_the_window_do_not_count_but_are_remembered() {
        let mut queue = QueueRecorder::default();
        queue.enter(NOW, false, 9, true);
        queue.enter(NOW, false, 9, false);
        queue.enter(NOW, true, 4, true);
        queue.enter(NOW, true, 9, false);
        assert_eq!((queue.overflows, queue.failed_drains, queue.max()), (1, 1, Some(4.0)));
        assert_eq!(QueueRecorder::default().max(), None);
    }
}
