//! What the reactions go by: `l4s_alpha` and the average queue delay.

use weir_units::TimeDelta;

use super::config::{Config, Edition};
use crate::scream::passed;
use crate::time::SendTime;

/// `l4s_alpha` is updated at most so often.
const ALPHA_INTERVAL: TimeDelta = TimeDelta::from_millis(10);

/// `l4s_alpha`: the share of marked packets, averaged.
#[derive(Debug, Default)]
pub(super) struct L4sAlpha {
    pub(super) alpha: f64,
    delivered: u32,
    marked: u32,
    updated: Option<SendTime>,
}

impl L4sAlpha {
    /// So many packets have arrived, so many of them marked. Updated every min(10 ms, `s_rtt`).
    pub(super) fn on_feedback(
        &mut self,
        now: SendTime,
        config: &Config,
        s_rtt: TimeDelta,
        arrived: u32,
        marked: u32,
    ) {
        self.delivered = self.delivered.saturating_add(arrived);
        self.marked = self.marked.saturating_add(marked);
        if self.delivered == 0 || !passed(now, self.updated, ALPHA_INTERVAL.min(s_rtt)) {
            return;
        }
        let fraction = f64::from(self.marked) / f64::from(self.delivered);
        self.alpha = config.next_alpha(self.alpha, fraction);
        (self.delivered, self.marked, self.updated) = (0, 0, Some(now));
    }
}

/// `qdelay_avg` in s: falls at once, rises slowly.
#[derive(Debug, Default)]
pub(super) struct QdelayAverage {
    average: f64,
    updated: Option<SendTime>,
}

impl QdelayAverage {
    /// Feedback has come with `qdelay` in s. Updated once per `interval`.
    pub(super) fn on_feedback(&mut self, now: SendTime, interval: TimeDelta, gain: f64, qdelay: f64) {
        if passed(now, self.updated, interval) {
            self.updated = Some(now);
            self.average = qdelay.min(self.average + gain * (qdelay - self.average));
        }
    }

    pub(super) fn get(&self) -> f64 {
        self.average
    }
}

impl Config {
    /// `l4s_alpha` after `fraction` of the packets came marked.
    fn next_alpha(&self, alpha: f64, fraction: f64) -> f64 {
        match self.edition {
            _ if fraction >= alpha => alpha + self.l4s_gain_up * (fraction - alpha),
            Edition::Early => alpha + self.l4s_gain_down * (fraction - alpha),
            Edition::Late => alpha * (1.0 - self.l4s_gain_down),
        }
    }

    /// Between updates of `qdelay_avg`.
    pub(super) fn average_interval(&self, s_rtt: TimeDelta) -> TimeDelta {
        match self.edition {
            Edition::Early => s_rtt,
            Edition::Late => s_rtt.min(self.virtual_rtt),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: TimeDelta = TimeDelta::from_millis(50);

    fn near(value: f64, expected: f64) {
        assert!((value - expected).abs() < 1e-12, "{value} instead of {expected}");
    }

    fn ms(ms: i64) -> SendTime {
        SendTime::from_millis(ms)
    }

    #[test]
    fn alpha_rises_and_falls_by_the_gains_of_the_edition() {
        // Late: 0.1 + (0.5 − 0.1)/8 = 0.15; 0.1·127/128.
        near(Config::LATE.next_alpha(0.1, 0.5), 0.15);
        near(Config::LATE.next_alpha(0.1, 0.05), 0.1 * 127.0 / 128.0);
        // Early: 0.1 + 0.4/16 = 0.125; 0.1 − 0.05/16.
        near(Config::early().next_alpha(0.1, 0.5), 0.125);
        near(Config::early().next_alpha(0.1, 0.05), 0.1 - 0.05 / 16.0);
    }

    #[test]
    fn alpha_counts_what_arrived_between_updates() {
        let mut alpha = L4sAlpha::default();
        alpha.on_feedback(ms(0), &Config::LATE, RTT, 4, 0);
        alpha.on_feedback(ms(5), &Config::LATE, RTT, 4, 4);
        near(alpha.alpha, 0.0);
        // 4 of 8: 0.5/8.
        alpha.on_feedback(ms(10), &Config::LATE, RTT, 4, 0);
        near(alpha.alpha, 0.0625);
        alpha.on_feedback(ms(40), &Config::LATE, RTT, 0, 0);
        near(alpha.alpha, 0.0625);
    }

    #[test]
    fn the_average_queue_delay_falls_at_once_and_rises_by_a_quarter() {
        let mut average = QdelayAverage::default();
        average.on_feedback(ms(0), RTT, 0.25, 0.08);
        near(average.get(), 0.02);
        average.on_feedback(ms(49), RTT, 0.25, 0.08);
        near(average.get(), 0.02);
        average.on_feedback(ms(50), RTT, 0.25, 0.08);
        near(average.get(), 0.035);
        average.on_feedback(ms(100), RTT, 0.25, 0.01);
        near(average.get(), 0.01);
    }
}
