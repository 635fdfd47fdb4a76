//! The congestion signal of nada-2016: filtered delay, warping and penalties. Times are in ms, ratios in [0, 1].

use weir_units::TimeDelta;

use super::config::Config;
use crate::parts::filters::WindowedMedian;

/// The value rounded to the nearest whole number, half up.
pub(super) fn whole(value: f64) -> f64 {
    libm::floor(value + 0.5)
}

impl Config {
    /// The value rounded to a whole number in the framework's code, else unchanged.
    pub(super) fn rounded(&self, value: f64) -> f64 {
        if self.framework { whole(value) } else { value }
    }

    /// `d̃` of a delay, both in ms: the delay itself up to `QTH`, from there to `QMAX` ever less, zero beyond.
    /// nada-vs-gcc-2016 fig. 2, zhu-06 §4.3.
    pub fn warped(&self, delay: f64) -> f64 {
        let (threshold, end) = (self.warp_threshold.millis_f64(), self.warp_end.millis_f64());
        if delay < 0.0 || delay > end {
            0.0
        } else if delay < threshold {
            delay
        } else {
            let left = (end - delay) / (end - threshold);
            self.rounded(threshold * left * left * left * left)
        }
    }

    /// `x_n`. nada-vs-gcc-2016 eq. (1), zhu-06 §4.4.
    pub(super) fn x_n(&self, warped: f64, loss: f64, mark: f64) -> f64 {
        let penalties = self.loss_penalty.millis_f64() * loss + self.mark_penalty.millis_f64() * mark;
        warped + self.rounded(penalties)
    }
}

/// Filter of the queuing delay: a median of a few packets, then an exponential filter. nada-vs-gcc-2016 §II-A.
#[derive(Clone, Debug)]
pub(super) struct DelayFilter {
    config: Config,
    median: WindowedMedian,
    /// `d̂` in ms, or `None` before the first packet.
    smoothed: Option<f64>,
}

impl DelayFilter {
    pub(super) fn new(config: Config) -> Self {
        Self { config, median: WindowedMedian::new(config.median_filter as usize), smoothed: None }
    }

    /// Takes the queuing delay of a packet.
    pub(super) fn push(&mut self, queuing: TimeDelta) {
        let queuing = if self.config.framework {
            TimeDelta::from_millis_f64(whole(queuing.millis_f64()))
        } else {
            queuing
        };
        let median = self.config.rounded(self.median.push(queuing).millis_f64());
        let alpha = self.config.smoothing;
        let old = self.smoothed.unwrap_or(median);
        self.smoothed = Some(self.config.rounded((1.0 - alpha) * median + alpha * old));
    }

    /// `d̂` in ms, 0 before the first packet.
    pub(super) fn get(&self) -> f64 {
        self.smoothed.unwrap_or(0.0)
    }

    /// Removes every delay.
    pub(super) fn clear(&mut self) {
        self.median.clear();
        self.smoothed = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that `value` is `expected` within 1e-9.
    fn near(value: f64, expected: f64) {
        assert!((value - expected).abs() < 1e-9, "{value} instead of {expected}");
    }

    fn ms(ms: i64) -> TimeDelta {
        TimeDelta::from_millis(ms)
    }

    #[test]
    fn the_warped_delay_follows_figure_2() {
        let config = Config::nada_2016();
        for (delay, expected) in [(-1.0, 0.0), (0.0, 0.0), (25.0, 25.0), (49.9, 49.9), (50.0, 50.0)] {
            near(config.warped(delay), expected);
        }
        // 50·((400 − 225)/350)⁴ = 50/16; 50·((400 − 399)/350)⁴ = 3.3e-9.
        near(config.warped(225.0), 3.125);
        near(config.warped(400.0), 0.0);
        near(config.warped(400.1), 0.0);
        assert!(config.warped(399.0) > 0.0);
        let falling: Vec<f64> = (50..=400).map(|d| config.warped(f64::from(d))).collect();
        assert!(falling.windows(2).all(|pair| pair[1] < pair[0]));
    }

    #[test]
    fn from_166_ms_on_the_warped_delay_is_again_below_10_ms() {
        let config = Config::nada_2016();
        // 50·(235/350)⁴ = 10.16, 50·(234/350)⁴ = 9.99.
        assert!(config.warped(165.0) > 10.0 && config.warped(166.0) < 10.0);
    }

    #[test]
    fn loss_and_marks_cost_in_proportion() {
        let config = Config::nada_2016();
        // 20 + 1000·0.03 + 200·0.02 = 54.
        near(config.x_n(20.0, 0.03, 0.02), 54.0);
        near(config.x_n(20.0, 0.0, 0.0), 20.0);
        near(config.x_n(0.0, 1.0, 0.0), 1000.0);
    }

    #[test]
    fn delays_are_filtered_by_a_median_and_a_tenth_of_the_new_value() {
        let mut filter = DelayFilter::new(Config::nada_2016());
        near(filter.get(), 0.0);
        filter.push(ms(10));
        near(filter.get(), 10.0);
        // Median of 10 and 30: 20; 0.1·20 + 0.9·10 = 11.
        filter.push(ms(30));
        near(filter.get(), 11.0);
        // A single spike does not pass: median of 10, 30, 10; 0.1·10 + 0.9·11 = 10.9.
        filter.push(ms(10));
        near(filter.get(), 10.9);
        filter.clear();
        near(filter.get(), 0.0);
        filter.push(ms(40));
        near(filter.get(), 40.0);
    }

    #[test]
    fn the_median_reaches_back_five_packets() {
        let mut filter = DelayFilter::new(Config { smoothing: 0.0, ..Config::nada_2016() });
        let medians = [0, 0, 0, 9, 9, 9, 0].map(|delay| {
            filter.push(ms(delay));
            filter.get()
        });
        assert_eq!(medians, [0.0, 0.0, 0.0, 0.0, 0.0, 9.0, 9.0]);
    }

    #[test]
    fn the_framework_computes_in_whole_milliseconds() {
        let config = Config::framework();
        let mut filter = DelayFilter::new(config);
        // 10.6 → 11.
        filter.push(TimeDelta::from_micros(10_600));
        near(filter.get(), 11.0);
        // Median of 11 and 30: 20.5 → 21; 0.1·21 + 0.9·11 = 12.0 → 12.
        filter.push(ms(30));
        near(filter.get(), 12.0);
        // Median of 11, 30, 14: 14; 0.1·14 + 0.9·12 = 12.2 → 12: small changes get stuck.
        filter.push(ms(14));
        near(filter.get(), 12.0);
        // 3.125 → 3; 1000·0.0004 = 0.4 → 0, 1000·0.0006 → 1.
        near(config.warped(225.0), 3.0);
        near(config.x_n(3.0, 0.0004, 0.0), 3.0);
        near(config.x_n(3.0, 0.0006, 0.0), 4.0);
        assert_eq!([whole(0.5), whole(-0.5), whole(-0.6)], [1.0, 0.0, -1.0]);
    }
}
