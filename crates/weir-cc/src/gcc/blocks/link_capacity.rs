//! The link capacity `C̄`: mean and spread of the receive rate at the moments of over-use (libwebrtc's
//! `LinkCapacityEstimator` since 2015; draft-ietf-rmcat-gcc-02 §5.5, where it defines "near convergence").

use weir_units::DataRate;

/// Constants of the link capacity estimate.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct LinkCapacityConfig {
    /// Weight of a new sample, in (0, 1]. draft-ietf-rmcat-gcc-02 §5.5 keeps 0.95 of the old value; libwebrtc.
    pub smoothing: f64,
    /// Distance from the mean, in standard deviations, within which the capacity lies. draft-ietf-rmcat-gcc-02
    /// §5.5.
    pub deviations: f64,
    /// Lowest and first variance, divided by the mean, in kbit/s. libwebrtc.
    pub least_variance: f64,
    /// Highest variance, divided by the mean, in kbit/s. libwebrtc.
    pub most_variance: f64,
    /// Whether samples count in whole kbit/s. libwebrtc since 2018.
    pub whole_kbps: bool,
}

impl Default for LinkCapacityConfig {
    fn default() -> Self {
        Self { smoothing: 0.05, deviations: 3.0, least_variance: 0.4, most_variance: 2.5, whole_kbps: false }
    }
}

impl LinkCapacityConfig {
    /// Rules of all constants: the name, whether its value is valid, and the valid range.
    pub fn rules(&self) -> [(&'static str, bool, &'static str); 3] {
        let spread = self.least_variance > 0.0 && self.most_variance >= self.least_variance;
        [
            ("smoothing", self.smoothing > 0.0 && self.smoothing <= 1.0, "in (0, 1]"),
            ("deviations", self.deviations >= 0.0 && self.deviations.is_finite(), "0 or above"),
            ("most_variance", spread && self.most_variance.is_finite(), "at least `least_variance` above 0"),
        ]
    }
}

/// Mean and spread of the receive rates at which the path was over-used.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LinkCapacity {
    config: LinkCapacityConfig,
    /// `C̄` in kbit/s.
    mean: Option<f64>,
    /// `V`, the variance divided by the mean, in kbit/s; it survives [`Self::clear`].
    variance: f64,
}

impl LinkCapacity {
    /// An estimate without any sample.
    pub(crate) fn new(config: LinkCapacityConfig) -> Self {
        Self { config, mean: None, variance: config.least_variance }
    }

    /// Takes the receive rate `received` at an over-use of the path.
    pub(crate) fn on_overuse(&mut self, received: DataRate) {
        let LinkCapacityConfig { smoothing, least_variance, most_variance, whole_kbps, .. } = self.config;
        let kbps = received.bps_f64() / 1e3;
        let sample = if whole_kbps { libm::round(kbps) } else { kbps };
        let mean = self.mean.map_or(sample, |mean| (1.0 - smoothing) * mean + smoothing * sample);
        let error = mean - sample;
        let variance = (1.0 - smoothing) * self.variance + smoothing * error * error / mean.max(1.0);
        self.variance = variance.clamp(least_variance, most_variance);
        self.mean = Some(mean);
    }

    /// Clears the mean, after a change of the path.
    pub(crate) fn clear(&mut self) {
        self.mean = None;
    }

    /// `C̄` in bit/s, if known.
    pub(crate) fn mean(&self) -> Option<f64> {
        self.mean.map(|mean| mean * 1e3)
    }

    /// Whether `received` lies above `C̄ + 3σ`; never while `C̄` is unknown.
    pub(crate) fn is_exceeded_by(&self, received: DataRate) -> bool {
        self.mean.is_some_and(|mean| received.bps_f64() > (mean + self.deviation(mean)) * 1e3)
    }

    /// Whether `received` lies below `C̄ − 3σ`; never while `C̄` is unknown.
    pub(crate) fn is_undercut_by(&self, received: DataRate) -> bool {
        self.mean.is_some_and(|mean| received.bps_f64() < (mean - self.deviation(mean)) * 1e3)
    }

    /// `3σ` in kbit/s.
    fn deviation(&self, mean: f64) -> f64 {
        self.config.deviations * libm::sqrt(self.variance * mean)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kbps(rate: u64) -> DataRate {
        DataRate::from_kbps(rate)
    }

    #[test]
    fn the_first_sample_is_the_mean_and_later_ones_weigh_a_twentieth() {
        let mut capacity = LinkCapacity::new(LinkCapacityConfig::default());
        assert_eq!(capacity.mean(), None);
        capacity.on_overuse(kbps(1000));
        assert_eq!(capacity.mean(), Some(1e6));
        // 0.95·1000 + 0.05·1200 = 1010.
        capacity.on_overuse(kbps(1200));
        assert!((capacity.mean().unwrap() - 1_010_000.0).abs() < 1e-6);
    }

    #[test]
    fn samples_may_count_in_whole_kbit_a_second() {
        let config = LinkCapacityConfig { whole_kbps: true, ..LinkCapacityConfig::default() };
        let mut capacity = LinkCapacity::new(config);
        capacity.on_overuse(DataRate::from_bps(1_000_499));
        assert_eq!(capacity.mean(), Some(1e6));
    }

    #[test]
    fn bounds_are_three_standard_deviations_off() {
        let mut capacity = LinkCapacity::new(LinkCapacityConfig::default());
        capacity.on_overuse(kbps(1000));
        // V = 0.4 (0.95·0.4 = 0.38 is below the floor): σ = sqrt(0.4·1000) = 20; 3σ = 60.
        assert!(!capacity.is_exceeded_by(kbps(1060)) && capacity.is_exceeded_by(kbps(1061)));
        assert!(!capacity.is_undercut_by(kbps(940)) && capacity.is_undercut_by(kbps(939)));
        // Mean 1010; V = 0.95·0.4 + 0.05·190²/1010 = 2.167: 3σ = 3·sqrt(2.167·1010) = 140.35.
        capacity.on_overuse(kbps(1200));
        assert!(!capacity.is_exceeded_by(kbps(1150)) && capacity.is_exceeded_by(kbps(1151)));
        assert!(!capacity.is_undercut_by(kbps(870)) && capacity.is_undercut_by(kbps(869)));
    }

    #[test]
    fn an_unknown_capacity_has_no_bounds_and_its_spread_is_remembered() {
        let mut capacity = LinkCapacity::new(LinkCapacityConfig::default());
        assert!(!capacity.is_exceeded_by(DataRate::MAX) && !capacity.is_undercut_by(DataRate::ZERO));
        capacity.on_overuse(kbps(1000));
        // Mean 900, V = 0.38 + 0.05·900²… far above 2.5: clamped.
        capacity.on_overuse(kbps(100));
        capacity.on_overuse(kbps(5000));
        capacity.clear();
        assert_eq!(capacity.mean(), None);
        capacity.on_overuse(kbps(1000));
        // 0.95·2.5 + 0 = 2.375: 3σ = 146.2.
        assert!(!capacity.is_exceeded_by(kbps(1146)) && capacity.is_exceeded_by(kbps(1147)));
    }
}
