//! Draining the queue and learning the base delay anew, where the queue seems never to empty. Times in s.
//!
//! A flow that keeps a standing queue forgets in time what the path was without it, takes the queue for propagation and
//! puts its own on top; so does one that began beside the queue of others, and so it looks where two clocks drift apart.
//! The draft names the remedy in its Discussion (less rate for a few round trips, then a new base delay); the numbers are
//! those of Ericsson's implementation.

use weir_units::TimeDelta;

use super::config::Config;
use crate::scream::passed;
use crate::time::SendTime;

/// Over so long the least queue delay is taken. Ericsson's `kSlowUpdateInterval`.
const INTERVAL: TimeDelta = TimeDelta::from_millis(50);

/// The slow average of the least queue delay, and the drain that it begins.
#[derive(Debug, Default)]
pub(super) struct Drain {
    /// The least queue delay of the present interval.
    least: f64,
    interval_began: Option<SendTime>,
    /// `queueDelayMinAvg`: falls at once, rises slowly.
    average: f64,
    /// When the last drain began, or the flow.
    last: Option<SendTime>,
    draining: bool,
}

impl Drain {
    /// A queue delay of `qdelay`. Returns whether a drain has shown the base delay to be wrong: it is to be forgotten.
    pub(super) fn on_feedback(
        &mut self,
        now: SendTime,
        config: &Config,
        qdelay: f64,
        qdelay_target: f64,
        rtt: TimeDelta,
    ) -> bool {
        self.average_least(now, config, qdelay);
        let last = *self.last.get_or_insert(now);
        let queued = self.average > config.drain_threshold * qdelay_target;
        let Some(drain_after) = config.drain_after.filter(|_| queued) else {
            self.draining = false;
            return false;
        };
        if passed(now, Some(last), drain_after) {
            (self.last, self.draining) = (Some(now), true);
            return false;
        }
        let span = config.least_drain_time.max(rtt.scale(config.drain_round_trips));
        let over = self.draining && passed(now, Some(last), span);
        if over {
            (self.average, self.draining) = (0.0, false);
        }
        over
    }

    fn average_least(&mut self, now: SendTime, config: &Config, qdelay: f64) {
        let Some(began) = self.interval_began else {
            (self.interval_began, self.least) = (Some(now), qdelay);
            return;
        };
        self.least = self.least.min(qdelay);
        if passed(now, Some(began), INTERVAL) {
            self.average = self.least.min(self.average + config.drain_gain * (self.least - self.average));
            (self.interval_began, self.least) = (Some(now), f64::INFINITY);
        }
    }

    /// Share of the target rate that the encoder gets.
    pub(super) fn share(&self, config: &Config) -> f64 {
        if self.draining { config.drain_share } else { 1.0 }
    }

    /// `queueDelayMinAvg`.
    pub(super) fn least_qdelay(&self) -> f64 {
        self.average
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: Config = Config::LATE;
    const RTT: TimeDelta = TimeDelta::from_millis(80);

    /// Feedback each 10 ms from `from` to `to` ms with queues by `qdelay`; when the base delay was to be forgotten, and
    /// from when to when the encoder got less.
    fn live(drain: &mut Drain, from: i64, to: i64, qdelay: impl Fn(i64) -> f64) -> (Vec<i64>, Vec<i64>) {
        let (mut forgotten, mut less) = (Vec::new(), Vec::new());
        for ms in (from..to).step_by(10) {
            if drain.on_feedback(SendTime::from_millis(ms), &CONFIG, qdelay(ms), 0.06, RTT) {
                forgotten.push(ms);
            }
            if drain.share(&CONFIG) < 1.0 {
                less.push(ms);
            }
        }
        (forgotten, less)
    }

    #[test]
    fn the_average_of_the_least_rises_slowly_and_falls_at_once() {
        let mut drain = Drain::default();
        // The least of each 50 ms is 20 ms: 0.005 of it, then as much of the rest.
        live(&mut drain, 0, 60, |ms| if ms % 50 == 0 { 0.02 } else { 0.05 });
        assert!((drain.least_qdelay() - 0.0001).abs() < 1e-12, "{}", drain.least_qdelay());
        live(&mut drain, 60, 110, |ms| if ms % 50 == 0 { 0.02 } else { 0.05 });
        assert!((drain.least_qdelay() - 0.000_199_5).abs() < 1e-12, "{}", drain.least_qdelay());
        live(&mut drain, 110, 170, |_| 0.0);
        assert_eq!(drain.least_qdelay(), 0.0);
    }

    #[test]
    fn a_queue_that_never_empties_is_drained_each_minute_and_the_base_forgotten() {
        // 5·80 ms of half the rate from 60 s on; the average is above 60 ms/8 again long before 120 s.
        let (forgotten, less) = live(&mut Drain::default(), 0, 125_000, |_| 0.03);
        assert_eq!(forgotten, [60_400, 120_400]);
        assert_eq!((less[0], less.len()), (60_000, 80));
    }

    #[test]
    fn a_drain_that_reaches_the_base_ends_and_proves_it() {
        let (forgotten, less) =
            live(
                &mut Drain::default(),
                0,
                119_000,
                |ms| if ms > 60_100 && ms < 60_300 { 0.002 } else { 0.03 },
            );
        assert!(forgotten.is_empty(), "{forgotten:?}");
        assert!(less.len() < 20, "{less:?}");
    }

    #[test]
    fn a_queue_that_empties_now_and_then_needs_no_drain() {
        let (forgotten, less) =
            live(&mut Drain::default(), 0, 200_000, |ms| if ms % 2000 == 0 { 0.0 } else { 0.03 });
        assert!(forgotten.is_empty() && less.is_empty());
    }
}
