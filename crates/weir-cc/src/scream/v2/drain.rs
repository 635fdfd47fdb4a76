//! Drains of the queue, with a new base delay, where the queue seems never to empty. Times in s.
//!
//! A flow with a standing queue forgets the base delay in time, mistakes the queue for propagation delay and adds
//! its own on top. A flow that began beside the queue of others does the same, and so it looks where two clocks
//! drift apart. The draft names the remedy in its Discussion: a lower rate for a few round trips, then a new base
//! delay. The numbers are those of Ericsson's implementation.

use weir_units::TimeDelta;

use super::config::Config;
use crate::scream::passed;
use crate::time::SendTime;

/// When drains begin, and whether one is under way.
#[derive(Debug, Default)]
pub(super) struct Drain {
    /// When the last drain, or the flow, began.
    last: Option<SendTime>,
    draining: bool,
}

impl Drain {
    /// Takes the slow average of the least queue delay. Returns whether a drain is over: the base delay must then
    /// be measured anew.
    pub(super) fn on_feedback(
        &mut self,
        now: SendTime,
        config: &Config,
        slow_least: f64,
        qdelay_target: f64,
        s_rtt: f64,
    ) -> bool {
        let last = *self.last.get_or_insert(now);
        if self.draining {
            let rounds = TimeDelta::from_secs_f64(config.drain_round_trips * s_rtt);
            self.draining = !passed(now, Some(last), config.least_drain_time.max(rounds));
            return !self.draining;
        }
        let queued = slow_least > config.drain_threshold * qdelay_target;
        if config.drain_after.is_some_and(|drain_after| queued && passed(now, Some(last), drain_after)) {
            (self.last, self.draining) = (Some(now), true);
        }
        false
    }

    /// Share of the target rate that the encoder gets.
    pub(super) fn share(&self, config: &Config) -> f64 {
        if self.draining { config.drain_share } else { 1.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feedback each 10 ms until `to` ms with a slow average by `slow_least`. Returns the times when the base delay
    /// was forgotten, and when the encoder got less.
    fn live(to: i64, slow_least: impl Fn(i64) -> f64) -> (Vec<i64>, Vec<i64>) {
        let (mut drain, config) = (Drain::default(), Config::default());
        let (mut forgotten, mut less) = (Vec::new(), Vec::new());
        for ms in (0..to).step_by(10) {
            if drain.on_feedback(SendTime::from_millis(ms), &config, slow_least(ms), 0.06, 0.08) {
                forgotten.push(ms);
            }
            if drain.share(&config) < 1.0 {
                less.push(ms);
            }
        }
        (forgotten, less)
    }

    #[test]
    fn a_queue_that_never_empties_is_drained_each_minute_and_the_base_forgotten() {
        // 5·80 ms of half the rate from 60 s on.
        let (forgotten, less) = live(125_000, |_| 0.03);
        assert_eq!(forgotten, [60_400, 120_400]);
        assert_eq!((less[0], less.len()), (60_000, 80));
    }

    #[test]
    fn a_queue_whose_least_is_an_eighth_of_the_target_needs_no_drain() {
        let (forgotten, less) = live(200_000, |_| 0.0075);
        assert!(forgotten.is_empty() && less.is_empty());
    }

    #[test]
    fn a_drain_that_has_begun_ends_by_its_length() {
        let (forgotten, less) = live(119_000, |ms| if ms < 60_100 { 0.03 } else { 0.0 });
        assert_eq!((forgotten, less.len()), (vec![60_400], 40));
    }
}
