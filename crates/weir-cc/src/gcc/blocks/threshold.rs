//! The threshold γ with which the gradient is compared (gcc-2016 §4.2, draft-ietf-rmcat-gcc-02 §5.4).

use weir_units::TimeDelta;

use crate::time::ArrivalTime;

/// Gains and bounds of the adaptive threshold; `γ` is in ms, gains per ms. Gains of several sources are in
/// [`gains`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct AdaptiveThreshold {
    /// `γ(0)` in ms.
    pub initial: f64,
    /// `k_u` in 1/ms, the gain with which γ rises towards a larger gradient. gcc-2016 eq. (18).
    pub gain_up: f64,
    /// `k_d` in 1/ms, the gain with which γ falls towards a smaller gradient. gcc-2016 eq. (18).
    pub gain_down: f64,
    /// Lowest γ in ms. draft-ietf-rmcat-gcc-02 §5.4.
    pub min: f64,
    /// Highest γ in ms. draft-ietf-rmcat-gcc-02 §5.4.
    pub max: f64,
    /// Distance above γ in ms from which on a gradient is an outlier, which does not change γ.
    /// draft-ietf-rmcat-gcc-02 §5.4.
    pub outlier: f64,
    /// Longest time between two updates that counts (libwebrtc since 2016: 100 ms); [`TimeDelta::MAX`] for no
    /// bound.
    pub max_gap: TimeDelta,
}

/// `(k_u, k_d)` in 1/ms by source.
pub(crate) mod gains {
    /// gcc-2016 §4.2, draft-ietf-rmcat-gcc-02 §5.4 and libwebrtc of July 2015.
    pub(crate) const DRAFT_02: (f64, f64) = (0.01, 0.000_18);
    /// libwebrtc since August 2016.
    pub(crate) const LIBWEBRTC_2025: (f64, f64) = (0.0087, 0.039);
}

/// The threshold γ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Threshold {
    /// A fixed value in ms.
    Static(f64),
    /// A value that follows the gradient.
    Adaptive {
        /// Gains and bounds.
        config: AdaptiveThreshold,
        /// γ in ms.
        gamma: f64,
        /// Time of the last update.
        updated: Option<ArrivalTime>,
    },
}

impl Threshold {
    /// An adaptive threshold at its initial value.
    pub(crate) fn adaptive(config: AdaptiveThreshold) -> Self {
        Self::Adaptive { config, gamma: config.initial, updated: None }
    }

    /// γ in ms.
    pub(crate) fn gamma(&self) -> f64 {
        match *self {
            Self::Static(gamma) | Self::Adaptive { gamma, .. } => gamma,
        }
    }

    /// Follows the gradient `x` (ms, as compared with γ) seen at `now`.
    pub(crate) fn update(&mut self, x: f64, now: ArrivalTime) {
        let Self::Adaptive { config, gamma, updated } = self else { return };
        let gap = updated.replace(now).map_or(TimeDelta::ZERO, |last| (now - last).min(config.max_gap));
        let distance = x.abs() - *gamma;
        if distance > config.outlier {
            return;
        }
        let gain = if distance < 0.0 { config.gain_down } else { config.gain_up }; // eq. (18)
        let step = gap.millis_f64().max(0.0) * gain * distance; // eq. (17)
        *gamma = (*gamma + step).clamp(config.min, config.max);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAPER: AdaptiveThreshold = AdaptiveThreshold {
        initial: 12.5,
        gain_up: 0.01,
        gain_down: 0.000_18,
        min: 6.0,
        max: 600.0,
        outlier: 15.0,
        max_gap: TimeDelta::from_millis(100),
    };

    /// Receiver time of `ms` milliseconds.
    fn at(ms: i64) -> ArrivalTime {
        ArrivalTime::from_millis(ms)
    }

    #[test]
    fn gamma_rises_fast_and_falls_slowly() {
        let mut threshold = Threshold::adaptive(PAPER);
        threshold.update(0.0, at(0));
        assert_eq!(threshold.gamma(), 12.5, "the first look has no time difference");
        // Above: 12.5 + 33·0.01·(20 - 12.5) = 14.975.
        threshold.update(20.0, at(33));
        assert!((threshold.gamma() - 14.975).abs() < 1e-12);
        // Below: 14.975 + 33·0.00018·(0 - 14.975) = 14.8860485.
        threshold.update(0.0, at(66));
        assert!((threshold.gamma() - 14.886_048_5).abs() < 1e-9);
        // The sign of the gradient does not matter: 14.8860485 + 34·0.01·(18 - 14.8860485) = 15.944792.
        threshold.update(-18.0, at(100));
        assert!((threshold.gamma() - 15.944_792).abs() < 1e-6);
    }

    #[test]
    fn outliers_gaps_and_bounds() {
        let mut threshold = Threshold::adaptive(PAPER);
        threshold.update(0.0, at(0));
        threshold.update(28.0, at(33));
        assert_eq!(threshold.gamma(), 12.5, "15.5 above γ is an outlier");
        // A gap of 10 s counts 100 ms: 12.5 + 100·0.01·(20 - 12.5) = 20.
        threshold.update(20.0, at(10_033));
        assert!((threshold.gamma() - 20.0).abs() < 1e-12);
        for step in 0..100_000 {
            threshold.update(0.0, at(10_100 + 100 * step));
        }
        assert_eq!(threshold.gamma(), 6.0);
        threshold.update(7.0, at(1));
        assert_eq!(threshold.gamma(), 6.0, "time that runs backwards changes nothing");
    }

    #[test]
    fn the_furthest_that_is_no_outlier_counts() {
        let mut threshold = Threshold::adaptive(PAPER);
        threshold.update(0.0, at(0));
        // 15 above γ: 12.5 + 33·0.01·15 = 17.45.
        threshold.update(-27.5, at(33));
        assert!((threshold.gamma() - 17.45).abs() < 1e-12);
    }

    #[test]
    fn a_fast_fall_may_pass_the_gradient_but_not_the_lowest_threshold() {
        let (gain_up, gain_down) = gains::LIBWEBRTC_2025;
        let mut threshold = Threshold::adaptive(AdaptiveThreshold { gain_up, gain_down, ..PAPER });
        threshold.update(0.0, at(0));
        // k·Δt = 0.039·30 = 1.17: 12.5 + 1.17·(10 - 12.5) = 9.575, below the gradient.
        threshold.update(10.0, at(30));
        assert!((threshold.gamma() - 9.575).abs() < 1e-12);
        // 0.039·100 = 3.9: 9.575 + 3.9·(8 - 9.575) = 3.4, kept at 6.
        threshold.update(8.0, at(130));
        assert_eq!(threshold.gamma(), 6.0);
    }

    #[test]
    fn a_static_threshold_stays() {
        let mut threshold = Threshold::Static(38.0);
        threshold.update(100.0, at(0));
        threshold.update(40.0, at(1000));
        assert_eq!(threshold.gamma(), 38.0);
    }
}
