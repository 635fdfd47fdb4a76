//! NADA's aggregate congestion signal `x_curr` (RFC 8698 §4.2): the queuing delay plus penalties for losses and marks.
//! Times are in ms, ratios in [0, 1].

use super::config::Config;

/// Age of the newest loss event, in packets, and the average loss interval against which it is compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LossAge {
    /// Number of packets received since the newest loss event.
    pub(super) packets: f64,
    /// `loss_int`, average loss interval in packets.
    pub(super) interval: f64,
}

impl Config {
    /// The warped queuing delay: from the threshold `QTH` on, a longer queue gives a smaller value. RFC 8698 eq. (1).
    pub(super) fn warped(&self, d_queue: f64) -> f64 {
        let threshold = self.warp_threshold.millis_f64();
        if d_queue < threshold {
            d_queue
        } else {
            threshold * libm::exp(-self.lambda * (d_queue - threshold) / threshold)
        }
    }

    /// `d_tilde`, the queuing delay in the signal: warped while the newest loss is recent, else `d_queue` itself. From
    /// `MULTILOSS` loss intervals after the loss on, it changes linearly over one interval. RFC 8698 §4.2.
    pub(super) fn d_tilde(&self, d_queue: f64, age: Option<LossAge>) -> f64 {
        let unwarped_share = match age {
            None => 1.0,
            Some(LossAge { packets, interval }) => {
                let beyond = packets - self.multiloss * interval;
                if beyond < 0.0 { 0.0 } else { (beyond / interval.max(1.0)).min(1.0) }
            }
        };
        unwarped_share * d_queue + (1.0 - unwarped_share) * self.warped(d_queue)
    }

    /// `x_curr`, the aggregate signal in ms: RFC 8698 eq. (2), bounded by [`Config::congestion_bound`] (divergence 1 of
    /// [the module](super)).
    pub(super) fn x_curr(&self, d_tilde: f64, p_loss: f64, p_mark: f64) -> f64 {
        let loss = p_loss / self.loss_reference;
        let mark = p_mark / self.mark_reference;
        let penalties =
            self.mark_penalty.millis_f64() * mark * mark + self.loss_penalty.millis_f64() * loss * loss;
        (d_tilde + penalties).min(self.congestion_bound.millis())
    }

    /// The smoothed ratio of losses or marks after the measurement `newest`. RFC 8698 eq. (10).
    pub(super) fn smoothed(&self, ratio: f64, newest: f64) -> f64 {
        self.smoothing * newest + (1.0 - self.smoothing) * ratio
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nada::CongestionBound;

    /// Checks that `value` is `expected` within 1e-4.
    fn near(value: f64, expected: f64) {
        assert!((value - expected).abs() < 1e-4, "{value} instead of {expected}");
    }

    #[test]
    fn delays_from_50_ms_on_are_warped() {
        let config = Config::default();
        assert_eq!(config.warped(0.0), 0.0);
        assert_eq!(config.warped(49.0), 49.0);
        assert_eq!(config.warped(50.0), 50.0);
        // 50·exp(−0.5·(100 − 50)/50) = 50·exp(−0.5) = 50·0.606531 = 30.32653.
        near(config.warped(100.0), 30.326_53);
        // 50·exp(−0.5·(300 − 50)/50) = 50·exp(−2.5) = 50·0.082085 = 4.10425.
        near(config.warped(300.0), 4.104_25);
    }

    #[test]
    fn warping_fades_with_the_age_of_the_newest_loss() {
        let config = Config::default();
        let d_tilde = |packets| config.d_tilde(100.0, Some(LossAge { packets, interval: 200.0 }));
        assert_eq!(config.d_tilde(100.0, None), 100.0);
        // 7 · 200 = 1400 packets warped, then 200 packets of transition.
        near(d_tilde(0.0), 30.326_53);
        near(d_tilde(1399.0), 30.326_53);
        // Half way: (100 + 30.32653)/2 = 65.16327.
        near(d_tilde(1500.0), 65.163_27);
        assert_eq!(d_tilde(1600.0), 100.0);
        assert_eq!(d_tilde(1e6), 100.0);
    }

    #[test]
    fn a_loss_interval_of_zero_does_not_divide_by_zero() {
        let config = Config::default();
        assert_eq!(config.d_tilde(100.0, Some(LossAge { packets: 5.0, interval: 0.0 })), 100.0);
        near(config.d_tilde(100.0, Some(LossAge { packets: 0.0, interval: 0.0 })), 30.326_53);
    }

    #[test]
    fn penalties_grow_with_the_square_of_the_ratio() {
        let config = Config::default();
        near(config.x_curr(20.0, 0.0, 0.0), 20.0);
        // 1 %: 10·1² = 10. 2 %: 10·2² = 40. Marks 3 %: 2·3² = 18.
        near(config.x_curr(20.0, 0.01, 0.0), 30.0);
        near(config.x_curr(20.0, 0.02, 0.0), 60.0);
        near(config.x_curr(20.0, 0.02, 0.03), 78.0);
    }

    #[test]
    fn the_signal_is_bounded_as_configured() {
        let bounded = |congestion_bound| {
            let config = Config { congestion_bound, ..Config::default() };
            config.x_curr(0.0, 0.45, 0.0)
        };
        // 45 %: 10·45² = 20 250 ms.
        near(bounded(CongestionBound::Unbounded), 20_250.0);
        near(bounded(CongestionBound::Wire), 3276.7);
        near(bounded(Config::default().congestion_bound), 500.0);
    }

    #[test]
    fn the_newest_ratio_has_a_weight_of_a_tenth() {
        // 0.1 · 0.5 + 0.9 · 0.02 = 0.068.
        near(Config::default().smoothed(0.02, 0.5), 0.068);
    }
}
