//! The over-use detector (gcc-2016 §3.3 and fig. 3).

use weir_units::TimeDelta;

/// State of the bottleneck's queue by the estimated delay gradient (gcc-2016 §3.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BandwidthUsage {
    /// The queue drains.
    Under,
    /// The queue neither drains nor grows for long.
    #[default]
    Normal,
    /// The queue has been growing for long enough.
    Over,
}

/// Conditions under which a gradient above the threshold is over-use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DetectorConfig {
    /// The gradient must have been above the threshold for longer than this.
    pub overuse_time: TimeDelta,
    /// Share of the time before the first sample above the threshold that counts as above. libwebrtc counts half of it,
    /// as the gradient crossed the threshold somewhere in between.
    pub first_share: FirstShare,
    /// Least number of consecutive samples above the threshold (libwebrtc: 2).
    pub min_samples: u32,
    /// Whether the gradient must not have fallen since the sample before (draft-ietf-rmcat-gcc-02 §5.4).
    pub gradient_must_not_fall: bool,
}

impl DetectorConfig {
    /// 100 ms above the threshold. gcc-2016 §3.3.
    pub(crate) const GCC_2016: Self = Self {
        overuse_time: TimeDelta::from_millis(100),
        first_share: FirstShare::All,
        min_samples: 1,
        gradient_must_not_fall: false,
    };

    /// 10 ms above the threshold, in two samples or more, the last of which did not fall. draft-ietf-rmcat-gcc-02
    /// §5.4; the count from libwebrtc.
    pub(crate) const DRAFT_02: Self = Self {
        overuse_time: TimeDelta::from_millis(10),
        first_share: FirstShare::Half,
        min_samples: 2,
        gradient_must_not_fall: true,
    };
}

/// Share of the time before the first sample above the threshold that counts as above.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FirstShare {
    /// All of it.
    All,
    /// Half of it.
    Half,
}

/// Over-use detector: over-use is signalled if the gradient was above the threshold for some time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct OveruseDetector {
    config: DetectorConfig,
    /// Time for which the gradient has been above the threshold. The number of samples follows.
    above: TimeDelta,
    samples: u32,
    /// The gradient of the previous sample.
    previous: f64,
    usage: BandwidthUsage,
}

impl OveruseDetector {
    /// A detector without any sample.
    pub(crate) fn new(config: DetectorConfig) -> Self {
        Self { config, above: TimeDelta::ZERO, samples: 0, previous: 0.0, usage: BandwidthUsage::Normal }
    }

    /// Takes the gradient `m` of a sample that left `elapsed` after the previous one. `scaled` is the value for the
    /// comparison with the threshold `gamma`; both are in ms.
    pub(crate) fn update(&mut self, m: f64, scaled: f64, gamma: f64, elapsed: TimeDelta) -> BandwidthUsage {
        if scaled > gamma {
            let first = self.samples == 0 && self.config.first_share == FirstShare::Half;
            self.above += if first { elapsed / 2 } else { elapsed };
            self.samples = self.samples.saturating_add(1);
            if self.is_overuse(m) {
                self.usage = BandwidthUsage::Over;
            }
        } else {
            self.above = TimeDelta::ZERO;
            self.samples = 0;
            self.usage = if scaled < -gamma { BandwidthUsage::Under } else { BandwidthUsage::Normal };
        }
        self.previous = m;
        self.usage
    }

    fn is_overuse(&self, m: f64) -> bool {
        self.above > self.config.overuse_time
            && self.samples >= self.config.min_samples
            && (m >= self.previous || !self.config.gradient_must_not_fall)
    }

    /// The present state.
    pub(crate) fn usage(&self) -> BandwidthUsage {
        self.usage
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overuse_takes_more_than_100_ms_above_the_threshold() {
        let mut detector = OveruseDetector::new(DetectorConfig::GCC_2016);
        let frame = TimeDelta::from_millis(33);
        // 33, 66, 99 ms above: not yet; 132 ms: over.
        for _ in 0..3 {
            assert_eq!(detector.update(13.0, 13.0, 12.5, frame), BandwidthUsage::Normal);
        }
        assert_eq!(detector.update(13.0, 13.0, 12.5, frame), BandwidthUsage::Over);
        assert_eq!(detector.update(13.0, 13.0, 12.5, frame), BandwidthUsage::Over, "it stays while above");
        assert_eq!(detector.update(12.5, 12.5, 12.5, frame), BandwidthUsage::Normal, "equality is not above");
        assert_eq!(
            detector.update(13.0, 13.0, 12.5, frame),
            BandwidthUsage::Normal,
            "and the time counts anew"
        );
    }

    #[test]
    fn underuse_is_signalled_at_once() {
        let mut detector = OveruseDetector::new(DetectorConfig::GCC_2016);
        assert_eq!(detector.update(-12.6, -12.6, 12.5, TimeDelta::ZERO), BandwidthUsage::Under);
        assert_eq!(detector.update(-12.5, -12.5, 12.5, TimeDelta::ZERO), BandwidthUsage::Normal);
    }

    #[test]
    fn the_first_sample_above_counts_half_and_one_is_not_enough() {
        let draft = DetectorConfig::DRAFT_02;
        let ms = TimeDelta::from_millis;
        let mut detector = OveruseDetector::new(draft);
        // 30 / 2 = 15 ms above, but one sample only; then 15 + 5.
        assert_eq!(detector.update(1.0, 20.0, 12.5, ms(30)), BandwidthUsage::Normal);
        assert_eq!(detector.update(1.0, 20.0, 12.5, ms(5)), BandwidthUsage::Over);
        // 8 / 2 = 4, 4 + 6 = 10 is not more than 10, 11 is.
        let mut detector = OveruseDetector::new(draft);
        assert_eq!(
            [8, 6, 1].map(|gap| detector.update(1.0, 20.0, 12.5, ms(gap))),
            [BandwidthUsage::Normal, BandwidthUsage::Normal, BandwidthUsage::Over]
        );
        // Without the count the first sample of 15 ms is over-use.
        let mut detector = OveruseDetector::new(DetectorConfig { min_samples: 1, ..draft });
        assert_eq!(detector.update(1.0, 20.0, 12.5, ms(30)), BandwidthUsage::Over);
    }

    #[test]
    fn a_falling_gradient_is_not_yet_overuse_but_does_not_end_it_either() {
        let ms = TimeDelta::from_millis;
        let mut detector = OveruseDetector::new(DetectorConfig::DRAFT_02);
        let mut update = |m: f64| detector.update(m, 20.0 * m, 12.5, ms(30));
        assert_eq!(
            [1.0, 0.9, 0.8, 0.8].map(&mut update),
            [BandwidthUsage::Normal, BandwidthUsage::Normal, BandwidthUsage::Normal, BandwidthUsage::Over]
        );
        assert_eq!([0.7, 0.6].map(&mut update), [BandwidthUsage::Over, BandwidthUsage::Normal]);
    }
}
