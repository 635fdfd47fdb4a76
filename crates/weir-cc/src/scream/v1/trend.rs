//! The trend of the queue delay, which shows its growth early (RFC 8298 §4.1.2).

use weir_units::TimeDelta;

use crate::time::SendTime;

/// `qdelay_fraction_hist`.
const LENGTH: usize = 20;

/// `qdelay_trend` and its parts.
#[derive(Debug)]
pub(super) struct QdelayTrend {
    interval: TimeDelta,
    /// `QDELAY_WEIGHT`.
    weight: f64,
    /// Share of `qdelay_trend_mem` that is left after an interval.
    decay: f64,
    /// `qdelay_fraction_hist`; the newest comes last.
    history: [f64; LENGTH],
    /// `qdelay_fraction_avg`.
    average: f64,
    /// `qdelay_trend`.
    present: f64,
    /// `qdelay_trend_mem`.
    memory: f64,
    sampled: Option<SendTime>,
}

impl QdelayTrend {
    pub(super) fn new(interval: TimeDelta, weight: f64, decay: f64) -> Self {
        Self {
            interval,
            weight,
            decay,
            history: [0.0; LENGTH],
            average: 0.0,
            present: 0.0,
            memory: 0.0,
            sampled: None,
        }
    }

    /// Feedback has come with `fraction = qdelay/qdelay_target`: the value counts for each interval since the last
    /// one.
    pub(super) fn on_feedback(&mut self, now: SendTime, fraction: f64) {
        let sampled = *self.sampled.get_or_insert(now - self.interval);
        let elapsed = now - sampled;
        if elapsed.is_negative() {
            // The clock was set back.
            self.sampled = Some(now);
            return;
        }
        let intervals = elapsed.nanos() / self.interval.nanos();
        for _ in 0..intervals.min(LENGTH as i64) {
            self.sample(fraction);
        }
        self.sampled = Some(sampled + self.interval * intervals);
    }

    fn sample(&mut self, fraction: f64) {
        self.average += self.weight * (fraction - self.average);
        self.history.copy_within(1.., 0);
        self.history[LENGTH - 1] = fraction;
        self.present = (autocorrelation(&self.history) * self.average).clamp(0.0, 1.0);
        self.memory = (self.decay * self.memory).max(self.present);
    }

    /// `qdelay_trend`, in [0, 1].
    pub(super) fn get(&self) -> f64 {
        self.present
    }

    /// `qdelay_trend_mem`, in [0, 1].
    pub(super) fn memory(&self) -> f64 {
        self.memory
    }
}

/// `a` of RFC 8298 §4.1.2: each value beside the one after it, over their squares, all without the mean.
fn autocorrelation(values: &[f64; LENGTH]) -> f64 {
    let mean = values.iter().sum::<f64>() / LENGTH as f64;
    let without = values.map(|value| value - mean);
    let squares: f64 = without.iter().map(|y| y * y).sum();
    if squares <= 0.0 {
        return 0.0;
    }
    without.windows(2).map(|pair| pair[0] * pair[1]).sum::<f64>() / squares
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trend() -> QdelayTrend {
        QdelayTrend::new(TimeDelta::from_millis(50), 0.1, 0.99)
    }

    /// Sender time of `ms` milliseconds.
    fn ms(ms: i64) -> SendTime {
        SendTime::from_millis(ms)
    }

    /// Checks that `value` is `expected` within 1e-9.
    fn near(value: f64, expected: f64) {
        assert!((value - expected).abs() < 1e-9, "{value} instead of {expected}");
    }

    #[test]
    fn the_autocorrelation_of_simple_series() {
        near(autocorrelation(&[3.0; LENGTH]), 0.0);
        // ±1 in turn: 19 products of −1 over 20 squares.
        near(autocorrelation(&core::array::from_fn(|n| if n % 2 == 0 { 1.0 } else { -1.0 })), -0.95);
        // Ten of −1, then ten of 1: 18 products of 1 and one of −1.
        near(autocorrelation(&core::array::from_fn(|n| if n < 10 { -1.0 } else { 1.0 })), 0.85);
    }

    #[test]
    fn one_sample_is_averaged_and_weighed() {
        let mut trend = trend();
        trend.on_feedback(ms(0), 2.0);
        near(trend.average, 0.2);
        // 19 values −0.1 and one 1.9: (18·0.01 − 0.19)/(19·0.01 + 3.61) = −0.01/3.8, negative: 0.
        near(trend.get(), 0.0);
        trend.on_feedback(ms(50), 2.0);
        // Mean 0.2: 18 of −0.2 and two of 1.8: (17·0.04 − 0.36 + 3.24)/(18·0.04 + 2·3.24) = 3.56/7.2;
        // average 0.2 + 0.1·1.8 = 0.38.
        near(trend.get(), 3.56 / 7.2 * 0.38);
        near(trend.memory(), 3.56 / 7.2 * 0.38);
    }

    #[test]
    fn a_feedback_stands_for_each_interval_since_the_last() {
        let (mut often, mut seldom) = (trend(), trend());
        for at in [0, 50, 100, 150] {
            often.on_feedback(ms(at), 1.0);
        }
        for at in [0, 150] {
            seldom.on_feedback(ms(at), 1.0);
        }
        assert_eq!((often.get(), often.average), (seldom.get(), seldom.average));
        let before = often.average;
        often.on_feedback(ms(199), 5.0);
        near(often.average, before);
    }

    #[test]
    fn the_memory_fades_by_a_hundredth_per_interval() {
        let mut trend = trend();
        (0..12).for_each(|n| trend.on_feedback(ms(50 * n), 3.0));
        let peak = trend.memory();
        assert!(peak > 0.5);
        // An empty queue; while the average is high the trend may still rise above the memory.
        (12..32).for_each(|n| trend.on_feedback(ms(50 * n), 0.0));
        let later = trend.memory();
        trend.on_feedback(ms(50 * 32), 0.0);
        near(trend.memory(), 0.99 * later);
    }

    #[test]
    fn a_clock_set_back_takes_no_sample() {
        let mut trend = trend();
        trend.on_feedback(ms(10_000), 1.0);
        trend.on_feedback(ms(0), 1.0);
        near(trend.average, 0.1);
        trend.on_feedback(ms(50), 1.0);
        near(trend.average, 0.19);
    }
}
