//! LEDBAT's queuing delay: the current delay above the base delay (RFC 6817 §2.4.2).

use alloc::collections::VecDeque;

use weir_units::TimeDelta;

use super::config::{Config, CurrentFilter};
use crate::parts::base_delay::BaseDelay;
use crate::time::{ApparentDelay, ArrivalTime};

#[derive(Clone, Copy, Debug)]
struct DelaySample {
    at: ArrivalTime,
    delay: ApparentDelay,
}

/// `base_delays` and `current_delays`.
#[derive(Debug)]
pub(super) struct QueuingDelay {
    base: BaseDelay,
    /// Oldest first, at most `CURRENT_FILTER`.
    current: VecDeque<DelaySample>,
    length: usize,
    filter: CurrentFilter,
    clock_step: TimeDelta,
}

impl QueuingDelay {
    pub(super) fn new(config: &Config) -> Self {
        let length = config.current_filter as usize;
        Self {
            base: BaseDelay::new(),
            current: VecDeque::with_capacity(length + 1),
            length,
            filter: config.filter,
            clock_step: config.clock_step,
        }
    }

    /// *update_base_delay* and *update_current_delay*: takes a packet that arrived `at` with `delay`. Samples more
    /// than `rtt` away from it are removed.
    pub(super) fn on_sample(&mut self, at: ArrivalTime, delay: ApparentDelay, rtt: TimeDelta) {
        if delay - self.base.on_arrival(at, delay) >= self.clock_step {
            self.restart();
            self.base.on_arrival(at, delay);
        }
        while let Some(oldest) = self.current.front()
            && (self.current.len() >= self.length || (at - oldest.at).abs() > rtt)
        {
            self.current.pop_front();
        }
        self.current.push_back(DelaySample { at, delay });
    }

    /// `FILTER(current_delays) - MIN(base_delays)`, or `None` before the first sample.
    pub(super) fn get(&self) -> Option<TimeDelta> {
        let base = self.base.get()?;
        let mut above = self.current.iter().map(|sample| sample.delay - base);
        let filtered = match self.filter {
            CurrentFilter::Newest => above.next_back(),
            CurrentFilter::Min => above.min(),
            CurrentFilter::Ewma(weight) => {
                above.reduce(|average, sample| average.scale(1.0 - weight) + sample.scale(weight))
            }
        };
        // The newest sample may have lowered the base below that of an older minute: never negative.
        filtered.map(|delay| delay.max(TimeDelta::ZERO))
    }

    pub(super) fn restart(&mut self) {
        self.base.restart();
        self.current.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::SendTime;

    const RTT: TimeDelta = TimeDelta::from_millis(100);

    /// Queuing delays in ms after samples (arrival, delay) in ms; the clocks are five hours apart.
    fn delays(filter: CurrentFilter, samples: &[(i64, i64)]) -> Vec<i64> {
        let mut queue = QueuingDelay::new(&Config { filter, ..Config::default() });
        let sample = |&(at, delay): &(i64, i64)| {
            let apparent =
                ApparentDelay::between(SendTime::ZERO, ArrivalTime::from_millis(5 * 3_600_000 + delay));
            queue.on_sample(ArrivalTime::from_millis(at), apparent, RTT);
            queue.get().unwrap().nanos() / 1_000_000
        };
        samples.iter().map(sample).collect()
    }

    #[test]
    fn the_queue_is_the_smallest_of_four_samples_above_the_base() {
        let samples = [(0, 50), (10, 70), (20, 80), (30, 90), (40, 100), (50, 110)];
        // Minima 50 50 50 50 70 80 above 50.
        assert_eq!(delays(CurrentFilter::Min, &samples), [0, 0, 0, 0, 20, 30]);
        assert_eq!(delays(CurrentFilter::Newest, &samples), [0, 20, 30, 40, 50, 60]);
        // Half and half over the last four: 0, 10, 20, 30; then 20 30 40 50: 20 → 25 → 32.5 → 41.25.
        assert_eq!(delays(CurrentFilter::Ewma(0.5), &samples[..5]), [0, 10, 20, 30, 41]);
    }

    #[test]
    fn samples_older_than_a_round_trip_do_not_count() {
        assert_eq!(delays(CurrentFilter::Min, &[(0, 50), (60, 70), (161, 90)]), [0, 0, 40]);
    }

    #[test]
    fn a_clock_that_was_set_is_no_queue() {
        assert_eq!(
            delays(CurrentFilter::Min, &[(0, 50), (10, 70), (20, 10_050), (30, 10_070)]),
            [0, 0, 0, 0]
        );
        assert_eq!(delays(CurrentFilter::Newest, &[(0, 50), (20, 10_050), (30, 10_070)]), [0, 0, 20]);
    }
}
