//! Detection of unannounced steps of a path's delay or of a receiver's clock, which are not queues.
//!
//! A flow that sends clearly less than before drains its queue. If a delay rises within two reports and then stays
//! flat above the earlier one, although clearly less arrives, the path is longer or a clock was set.

use weir_units::TimeDelta;

use crate::time::{ApparentDelay, ArrivalTime};

/// The least rise that is a step. Half of it must remain when the earlier queue has drained.
const STEP: TimeDelta = TimeDelta::from_millis(20);
/// Greatest deviation of a flat delay from its level.
const MAX_DEVIATION: TimeDelta = TimeDelta::from_millis(4);
/// Time for which a delay must be flat; a queue drains in it.
const HOLD_TIME: TimeDelta = TimeDelta::from_secs(2);
/// Time after which an unconfirmed step counts as a queue.
const MAX_DOUBT: TimeDelta = TimeDelta::from_secs(10);
/// Time constant of the received rate.
const SMOOTHING: TimeDelta = TimeDelta::from_millis(500);
/// Shortest time between two samples.
const INTERVAL: TimeDelta = TimeDelta::from_millis(80);
/// Time after a fall of the delay in which a rise is no step, because the queue of a shorter path builds up.
const AFTER_FALL: TimeDelta = TimeDelta::from_secs(10);
/// Share of the rate before a step below which a flow drains its queue.
pub(crate) const DRAINING: f64 = 0.9;
/// Shortest time between two confirmed steps.
const MIN_DISTANCE: TimeDelta = TimeDelta::from_secs(30);

/// Detector of steps, from the least delay of each report.
#[derive(Clone, Debug)]
pub(crate) struct PathSteps {
    /// Greatest share of the rate before a step at which the flow counts as sending less.
    less: f64,
    /// The least delay since the last sample.
    least: Option<ApparentDelay>,
    /// Whether packets were lost since then.
    lossy: bool,
    /// The least delays of the two previous samples.
    before: [Option<ApparentDelay>; 2],
    /// Time of the last sample.
    sampled: Option<ArrivalTime>,
    /// The received rate in bit/s, smoothed.
    rate: f64,
    doubt: Option<PossibleStep>,
    /// The least delay since the last step.
    lowest: Option<ApparentDelay>,
    /// Time at which a delay was last a step below all earlier ones.
    fell: Option<ArrivalTime>,
    confirmed: Option<ArrivalTime>,
}

/// A possible step.
#[derive(Clone, Copy, Debug)]
struct PossibleStep {
    began: ArrivalTime,
    /// The least delay before the possible step.
    before: ApparentDelay,
    /// The smoothed rate before it, in bit/s.
    rate: f64,
    /// The delay since `since`; the earlier queue may drain at first.
    level: ApparentDelay,
    since: ArrivalTime,
}

impl PathSteps {
    /// A detector that confirms a step once at most `less` of the earlier rate arrives, in (0, 1). `less` should be
    /// below the share that a flow keeps when others join it, because a queue may then be constant.
    pub(crate) const fn new(less: f64) -> Self {
        Self {
            less,
            least: None,
            lossy: false,
            before: [None; 2],
            sampled: None,
            rate: 0.0,
            doubt: None,
            lowest: None,
            fell: None,
            confirmed: None,
        }
    }

    /// Removes delays, which are not comparable with later ones, because the base delay starts again.
    pub(crate) fn forget_delays(&mut self) {
        *self = Self {
            rate: self.rate,
            sampled: self.sampled,
            confirmed: self.confirmed,
            ..Self::new(self.less)
        };
    }

    /// Takes a packet that arrived after `delay`.
    #[inline]
    pub(crate) fn on_delay(&mut self, delay: ApparentDelay) {
        self.least = Some(self.least.map_or(delay, |least| least.min(delay)));
    }

    /// Takes a report at `at`, the time of an arrival or a later one. `rate` is the receive rate in bit/s, `lossy`
    /// whether packets were lost. Returns the least delay of the path, if a step of it is confirmed now.
    pub(crate) fn on_report(&mut self, at: ArrivalTime, rate: f64, lossy: bool) -> Option<ApparentDelay> {
        self.lossy |= lossy;
        let passed = self.sampled.map_or(TimeDelta::MAX, |last| at - last);
        if (TimeDelta::ZERO..INTERVAL).contains(&passed) {
            return None;
        }
        let (least, lossy) = (self.least.take()?, core::mem::take(&mut self.lossy));
        if passed < TimeDelta::ZERO || passed > HOLD_TIME {
            // At the start, after a gap, or after the clock was set back, no earlier sample can be compared. The
            // clock may have been set back: the last confirmed step counts from now on.
            let confirmed = self.confirmed.map(|last| last.min(at));
            *self = Self { rate, confirmed, ..Self::new(self.less) };
        }
        self.sampled = Some(at);
        let weight = (passed.secs_f64() / SMOOTHING.secs_f64()).min(1.0);
        self.rate += weight * (rate - self.rate);
        self.sample(at, least, lossy).then_some(least)
    }

    fn sample(&mut self, at: ArrivalTime, least: ApparentDelay, lossy: bool) -> bool {
        let lowest = self.lowest.unwrap_or(least);
        if lowest - least >= STEP {
            self.fell = Some(at);
        }
        self.lowest = Some(lowest.min(least));
        let least_before = self.before.iter().flatten().min().copied();
        self.before = [Some(least), self.before[0]];
        let Some(doubt) = &mut self.doubt else {
            let rested = self.confirmed.is_none_or(|last| at - last >= MIN_DISTANCE)
                && self.fell.is_none_or(|fell| at - fell >= AFTER_FALL);
            let before = least_before.filter(|&before| rested && least - before >= STEP);
            let doubt = |before| PossibleStep { began: at, before, rate: self.rate, level: least, since: at };
            self.doubt = before.map(doubt);
            return false;
        };
        // A full queue loses packets.
        if lossy || (least - doubt.level).abs() > MAX_DEVIATION {
            (doubt.level, doubt.since) = (least, at);
        }
        if doubt.level - doubt.before < STEP / 2 || at - doubt.began > MAX_DOUBT {
            self.doubt = None;
            return false;
        }
        let confirmed = at - doubt.since >= HOLD_TIME && self.rate <= self.less * doubt.rate;
        if confirmed {
            (self.doubt, self.confirmed, self.lowest) = (None, Some(at), Some(least));
        }
        confirmed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::SendTime;

    /// Seconds after the step, which is at 5 s, at which it is confirmed. `delay` in ms and `rate` in bit/s by the
    /// time in ms after the step; a report each 100 ms for 20 s.
    fn confirmed(delay: impl Fn(i64) -> i64, rate: impl Fn(i64) -> f64, lossy: bool) -> Option<f64> {
        let mut steps = PathSteps::new(DRAINING);
        let mut at = 0;
        while at < 20_000 {
            at += 100;
            let after = at - 5000;
            let least = ApparentDelay::between(SendTime::ZERO, ArrivalTime::from_millis(delay(after)));
            steps.on_delay(least);
            if steps.on_report(ArrivalTime::from_millis(at), rate(after), lossy && after > 0).is_some() {
                return Some(after as f64 / 1000.0);
            }
        }
        None
    }

    fn stepped(after: i64) -> i64 {
        if after < 0 { 30 } else { 70 }
    }

    fn reduced(after: i64) -> f64 {
        if after < 1000 { 1e6 } else { 0.8e6 }
    }

    #[test]
    fn a_step_is_a_longer_path_when_less_is_sent_and_the_delay_stays() {
        assert_eq!(confirmed(stepped, reduced, false), Some(2.0));
        // The step falls within a report, so that the first one has a part of it.
        let in_parts = |after: i64| if after == 0 { 55 } else { stepped(after) };
        assert_eq!(confirmed(in_parts, reduced, false), Some(2.1));
        // A queue of 20 ms drains after it.
        let drained = |after: i64| if after < 200 { stepped(after) + 20 } else { stepped(after) };
        assert_eq!(confirmed(drained, reduced, false), Some(2.2));
        let later = |after| if after < 6000 { 1e6 } else { 0.8e6 };
        assert!(confirmed(stepped, later, false).is_some_and(|at| (6.0..7.0).contains(&at)));
    }

    #[test]
    fn a_queue_is_no_step() {
        assert_eq!(confirmed(stepped, |_| 1e6, false), None, "nothing shows while as much is sent");
        assert_eq!(confirmed(stepped, reduced, true), None, "a full queue loses packets");
        let grows = |after: i64| 30 + (after / 15).clamp(0, 40);
        assert_eq!(confirmed(grows, reduced, false), None, "it takes longer than two reports to rise");
        let drains = |after: i64| stepped(after) - if after > 500 { after / 100 } else { 0 };
        assert_eq!(confirmed(drains, reduced, false), None);
        assert_eq!(confirmed(|after| stepped(after) - after % 7, reduced, false), None, "it is not flat");
        let later = |after| if after < 11_000 { 1e6 } else { 0.8e6 };
        assert_eq!(confirmed(stepped, later, false), None, "after ten seconds");
    }

    #[test]
    fn a_shorter_path_is_no_matter() {
        assert_eq!(confirmed(|after| 100 - stepped(after), reduced, false), None);
    }

    #[test]
    fn a_rise_soon_after_a_fall_is_no_step() {
        let fell = |before: i64| move |after: i64| if after < -before { 300 } else { stepped(after) };
        assert_eq!(confirmed(fell(3000), reduced, false), None);
        assert_eq!(confirmed(fell(4000), reduced, false), None);
        let long_ago = |after: i64| if after < -100_000 { 300 } else { stepped(after) };
        assert_eq!(confirmed(long_ago, reduced, false), Some(2.0));
    }

    #[test]
    fn two_steps_are_half_a_minute_apart() {
        let mut steps = PathSteps::new(DRAINING);
        let mut confirmed = Vec::new();
        for report in 0..800_i64 {
            // 40 ms more each 5 s, and less arrives after each.
            let (at, step) = (report * 100, report / 50);
            let least = ApparentDelay::between(SendTime::ZERO, ArrivalTime::from_millis(30 + 40 * step));
            let rate = (0..(report + 40) / 50).fold(1e6, |rate, _| 0.8 * rate);
            steps.on_delay(least);
            if steps.on_report(ArrivalTime::from_millis(at), rate, false).is_some() {
                confirmed.push(at);
            }
        }
        assert!(confirmed.windows(2).all(|pair| pair[1] - pair[0] >= 30_000), "{confirmed:?}");
        assert!(confirmed.len() >= 2, "{confirmed:?}");
    }
}
