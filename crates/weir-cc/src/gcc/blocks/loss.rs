//! The loss-based controller (gcc-2016 §3.2, eq. (5)).

/// Thresholds and factors of the loss-based controller.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LossConfig {
    /// Loss ratio below which the rate grows.
    pub low: f64,
    /// Loss ratio above which the rate falls.
    pub high: f64,
    /// Growth factor.
    pub increase: f64,
    /// Share of the loss ratio by which the rate falls.
    pub decrease: f64,
}

/// Result of a step of the loss-based controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LossVerdict {
    /// Little loss: the rate grew.
    Increase,
    /// Some loss: the rate stays.
    Hold,
    /// Much loss: the rate fell.
    Decrease,
}

impl LossConfig {
    /// `A_s` (bit/s) after a report of loss ratio `loss`.
    pub(crate) fn update(&self, rate: f64, loss: f64) -> (f64, LossVerdict) {
        if loss > self.high {
            (rate * (1.0 - self.decrease * loss), LossVerdict::Decrease)
        } else if loss < self.low {
            (rate * self.increase, LossVerdict::Increase)
        } else {
            (rate, LossVerdict::Hold)
        }
    }

    /// The nearest threshold that the loss ratio `loss` has passed, or the lower one.
    pub(crate) const fn threshold(&self, loss: f64) -> f64 {
        if loss > self.high { self.high } else { self.low }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rate_follows_equation_5() {
        let config = LossConfig { low: 0.02, high: 0.1, increase: 1.05, decrease: 0.5 };
        assert_eq!(config.update(1e6, 0.0), (1.05e6, LossVerdict::Increase));
        assert_eq!(config.update(1e6, 0.02), (1e6, LossVerdict::Hold));
        assert_eq!(config.update(1e6, 0.1), (1e6, LossVerdict::Hold));
        // 1e6 · (1 − 0.5 · 0.2) = 900 000.
        assert_eq!(config.update(1e6, 0.2), (0.9e6, LossVerdict::Decrease));
    }
}
