//! The remote rate controller: a state machine and the rate `A_r` (gcc-2016 §3.3, fig. 4, eq. (3)).

use weir_units::{DataRate, TimeDelta};

use super::detector::BandwidthUsage;
use crate::controller::RateLimits;

/// State of the rate controller (gcc-2016 fig. 4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum RateState {
    /// The rate stays.
    Hold,
    /// The rate grows.
    #[default]
    Increase,
    /// The rate falls below the receive rate.
    Decrease,
}

impl RateState {
    /// As [`Self::after`], but the rate falls until under-use is signalled: "until the queuing derivative is smaller
    /// than a second negative threshold" (dccc-2017 §V-D).
    #[must_use]
    pub(crate) fn after_strictly(self, usage: BandwidthUsage) -> Self {
        match (usage, self) {
            (BandwidthUsage::Normal, Self::Decrease) => Self::Decrease,
            (usage, state) => state.after(usage),
        }
    }

    /// The state after `usage` (gcc-2016 fig. 4; table of draft-ietf-rmcat-gcc-02 §5.5).
    #[must_use]
    pub(crate) fn after(self, usage: BandwidthUsage) -> Self {
        match (usage, self) {
            (BandwidthUsage::Over, _) => Self::Decrease,
            (BandwidthUsage::Under, _) | (BandwidthUsage::Normal, Self::Decrease) => Self::Hold,
            (BandwidthUsage::Normal, Self::Hold | Self::Increase) => Self::Increase,
        }
    }
}

/// Period to which the increase factor applies.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum IncreasePer {
    /// Each frame, as gcc-2016 eq. (3) reads literally.
    Frame,
    /// A second, divided among the frames.
    Second,
}

/// Constants of the rate `A_r`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RateControlConfig {
    /// `η`, the increase factor.
    pub increase: f64,
    /// Period to which `η` applies.
    pub increase_per: IncreasePer,
    /// `α`, the share of the receive rate after over-use.
    pub decrease: f64,
    /// `A_r` is at most this multiple of the receive rate.
    pub bound: f64,
    /// Whether a decrease continues until under-use, instead of until the queue stops growing.
    pub strict_under: bool,
}

/// `A_r`, the rate of the delay-based controller.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RateControl {
    config: RateControlConfig,
    limits: RateLimits,
    state: RateState,
    rate: f64,
}

impl RateControl {
    /// A controller at the start rate, ready to increase.
    pub(crate) fn new(config: RateControlConfig, limits: RateLimits) -> Self {
        Self { config, limits, state: RateState::default(), rate: limits.start().bps_f64() }
    }

    /// Takes the detector's state at a sample that came `elapsed` after the previous one, and the receive rate `R`.
    /// While `R` is unknown it neither lowers nor bounds the rate. Returns `A_r`.
    pub(crate) fn update(
        &mut self,
        usage: BandwidthUsage,
        received: Option<DataRate>,
        elapsed: TimeDelta,
    ) -> DataRate {
        self.state =
            if self.config.strict_under { self.state.after_strictly(usage) } else { self.state.after(usage) };
        match (self.state, received) {
            (RateState::Increase, _) => self.rate *= self.increase_factor(elapsed),
            (RateState::Decrease, Some(r)) => self.rate = self.rate.min(self.config.decrease * r.bps_f64()),
            (RateState::Decrease, None) | (RateState::Hold, _) => {}
        }
        if let Some(r) = received {
            self.rate = self.rate.min(self.config.bound * r.bps_f64());
        }
        self.rate = self.limits.clamp_bps(self.rate);
        self.rate()
    }

    /// `A_r`.
    pub(crate) fn rate(&self) -> DataRate {
        self.limits.round(self.rate)
    }

    /// The state machine's state.
    pub(crate) fn state(&self) -> RateState {
        self.state
    }

    fn increase_factor(&self, elapsed: TimeDelta) -> f64 {
        match self.config.increase_per {
            IncreasePer::Frame => self.config.increase,
            IncreasePer::Second => libm::pow(self.config.increase, elapsed.secs_f64().clamp(0.0, 1.0)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAPER: RateControlConfig = RateControlConfig {
        increase: 1.05,
        increase_per: IncreasePer::Frame,
        decrease: 0.85,
        bound: 1.5,
        strict_under: false,
    };
    const FRAME: TimeDelta = TimeDelta::from_millis(33);

    fn control(config: RateControlConfig) -> RateControl {
        let kbps = DataRate::from_kbps;
        RateControl::new(config, RateLimits::new(kbps(50), kbps(1000), kbps(2500)).unwrap())
    }

    fn received(kbps: u64) -> Option<DataRate> {
        DataRate::from_kbps(kbps).into()
    }

    #[test]
    fn states_follow_the_figure() {
        use RateState::{Decrease, Hold, Increase};
        for (usage, from_hold, from_increase, from_decrease) in [
            (BandwidthUsage::Over, Decrease, Decrease, Decrease),
            (BandwidthUsage::Normal, Increase, Increase, Hold),
            (BandwidthUsage::Under, Hold, Hold, Hold),
        ] {
            assert_eq!(Hold.after(usage), from_hold);
            assert_eq!(Increase.after(usage), from_increase);
            assert_eq!(Decrease.after(usage), from_decrease);
        }
    }

    #[test]
    fn a_strict_decrease_ends_with_under_use_alone() {
        use RateState::{Decrease, Hold, Increase};
        assert_eq!(Decrease.after_strictly(BandwidthUsage::Normal), Decrease);
        assert_eq!(Decrease.after_strictly(BandwidthUsage::Under), Hold);
        assert_eq!(Hold.after_strictly(BandwidthUsage::Normal), Increase);
        let mut control = control(RateControlConfig { strict_under: true, ..PAPER });
        control.update(BandwidthUsage::Over, received(1000), FRAME);
        // Still falling: 0.85 · 900 = 765.
        assert_eq!(control.update(BandwidthUsage::Normal, received(900), FRAME), DataRate::from_kbps(765));
        assert_eq!(control.update(BandwidthUsage::Under, received(800), FRAME), DataRate::from_kbps(765));
        // 765 · 1.05 = 803.25.
        assert_eq!(control.update(BandwidthUsage::Normal, received(800), FRAME), DataRate::from_bps(803_250));
    }

    #[test]
    fn rate_follows_equation_3() {
        let mut control = control(PAPER);
        // Increase: 1000 · 1.05 = 1050.
        assert_eq!(control.update(BandwidthUsage::Normal, received(1000), FRAME), DataRate::from_kbps(1050));
        // Decrease: 0.85 · 1000 = 850.
        assert_eq!(control.update(BandwidthUsage::Over, received(1000), FRAME), DataRate::from_kbps(850));
        // Hold.
        assert_eq!(control.update(BandwidthUsage::Normal, received(1000), FRAME), DataRate::from_kbps(850));
        // Increase, bounded by 1.5 · 560 = 840.
        assert_eq!(control.update(BandwidthUsage::Normal, received(560), FRAME), DataRate::from_kbps(840));
    }

    #[test]
    fn an_unknown_receive_rate_neither_lowers_nor_bounds() {
        let mut control = control(PAPER);
        assert_eq!(control.update(BandwidthUsage::Over, None, FRAME), DataRate::from_kbps(1000));
        assert_eq!(control.update(BandwidthUsage::Normal, None, FRAME), DataRate::from_kbps(1000));
        assert_eq!(control.update(BandwidthUsage::Normal, None, FRAME), DataRate::from_kbps(1050));
    }

    #[test]
    fn a_decrease_never_raises_the_rate() {
        let mut control = control(PAPER);
        assert_eq!(control.update(BandwidthUsage::Over, received(2000), FRAME), DataRate::from_kbps(1000));
    }

    #[test]
    fn per_second_growth_does_not_depend_on_the_frame_rate() {
        let config = RateControlConfig { increase_per: IncreasePer::Second, ..PAPER };
        let mut thirty = control(config);
        let mut ten = control(config);
        for _ in 0..30 {
            thirty.update(BandwidthUsage::Normal, None, TimeDelta::from_millis(100) / 3);
        }
        for _ in 0..10 {
            ten.update(BandwidthUsage::Normal, None, TimeDelta::from_millis(100));
        }
        // 1000 · 1.05 after a second.
        assert!(thirty.rate().bps().abs_diff(1_050_000) < 5);
        assert!(ten.rate().bps().abs_diff(1_050_000) < 5);
    }
}
