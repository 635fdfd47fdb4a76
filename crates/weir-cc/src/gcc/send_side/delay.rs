//! The detector's signal from arrivals: grouping, arrival-time filter, adaptive threshold and over-use detector
//! (draft-ietf-rmcat-gcc-02 §5.1 to §5.4).

use super::config::{Config, FilterForm};
use crate::gcc::blocks::bursts::{BurstSample, Bursts, ReportedPacket};
use crate::gcc::blocks::detector::{BandwidthUsage, OveruseDetector};
use crate::gcc::blocks::kalman::ScalarKalman;
use crate::gcc::blocks::threshold::Threshold;
use crate::gcc::blocks::two_state::TwoStateKalman;
use crate::time::SendTime;

/// Number of samples before the detector's first verdict.
const FIRST_VERDICT: u32 = 2;

/// The arrival-time filter.
#[derive(Debug)]
enum Filter {
    Scalar(ScalarKalman),
    TwoState(TwoStateKalman),
}

impl Filter {
    fn update(&mut self, sample: &BurstSample, usage: BandwidthUsage) -> f64 {
        match self {
            Self::Scalar(filter) => filter.update(sample.gradient().millis_f64(), sample.inter_departure),
            Self::TwoState(filter) => filter.update(sample, usage),
        }
    }

    fn reset(&mut self) {
        match self {
            Self::Scalar(filter) => filter.reset(),
            Self::TwoState(filter) => filter.reset(),
        }
    }

    fn gain(&self) -> f64 {
        match self {
            Self::Scalar(filter) => filter.gain(),
            Self::TwoState(filter) => filter.gain(),
        }
    }

    fn noise_variance(&self) -> f64 {
        match self {
            Self::Scalar(filter) => filter.noise_variance(),
            Self::TwoState(filter) => filter.noise_variance(),
        }
    }
}

/// Computation of the detector's signal from arrivals.
#[derive(Debug)]
pub(super) struct DelaySignal {
    config: Config,
    bursts: Bursts,
    filter: Filter,
    threshold: Threshold,
    detector: OveruseDetector,
    samples: u32,
    scaled: f64,
}

impl DelaySignal {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            config: *config,
            bursts: Bursts::new(config.bursts()),
            filter: match config.filter {
                FilterForm::Scalar => Filter::Scalar(ScalarKalman::new(config.scalar())),
                FilterForm::TwoState => Filter::TwoState(config.two_state()),
            },
            threshold: config.threshold(),
            detector: OveruseDetector::new(config.detector()),
            samples: 0,
            scaled: 0.0,
        }
    }

    /// Takes the next packet in order of arrival, reported at `now`; returns the present signal.
    pub(super) fn on_packet(&mut self, packet: &ReportedPacket, now: SendTime) -> BandwidthUsage {
        if let Some(sample) = self.bursts.on_packet(packet, now) {
            self.on_sample(&sample);
        }
        self.detector.usage()
    }

    /// Restarts grouping and filter, because no gradient spans a gap without feedback. The threshold is kept.
    pub(super) fn restart(&mut self) {
        self.bursts.restart();
        self.filter.reset();
        self.detector = OveruseDetector::new(self.config.detector());
        self.samples = 0;
        self.scaled = 0.0;
    }

    /// `m` as compared with the threshold, in ms.
    pub(super) fn gradient(&self) -> f64 {
        self.scaled
    }

    /// `del_var_th` in ms.
    pub(super) fn gamma(&self) -> f64 {
        self.threshold.gamma()
    }

    /// The gain of the filter's last update.
    pub(super) fn gain(&self) -> f64 {
        self.filter.gain()
    }

    /// `var_v` in ms².
    pub(super) fn noise_variance(&self) -> f64 {
        self.filter.noise_variance()
    }

    pub(super) fn usage(&self) -> BandwidthUsage {
        self.detector.usage()
    }

    pub(super) fn on_sample(&mut self, sample: &BurstSample) {
        self.samples = self.samples.saturating_add(1);
        let m = self.filter.update(sample, self.detector.usage());
        self.scaled = m * f64::from(self.samples.min(self.config.scale_cap));
        if self.samples < FIRST_VERDICT {
            return;
        }
        self.detector.update(m, self.scaled, self.threshold.gamma(), sample.inter_departure);
        self.threshold.update(self.scaled, sample.arrival);
    }
}
