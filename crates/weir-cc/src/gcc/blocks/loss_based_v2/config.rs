//! Every constant of the loss controller, and its two dated sets.

use weir_units::{DataRate, TimeDelta};

use crate::config_error::{amount, positive, weight};

/// Greatest number of observations that can be kept.
pub(super) const MAX_OBSERVATIONS: usize = 32;

/// Constants of the loss controller. In brackets the name that libwebrtc's `LossBasedBweV2` gives the constant.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct LossV2Config {
    /// Shortest span of sending of an observation. (`ObservationDurationLowerBound`)
    pub observation: TimeDelta,
    /// Observations kept, from 2 to 32. (`ObservationWindowSize`)
    pub window: u32,
    /// Fewest observations for an estimate. (`MinNumObservations`)
    pub min_observations: u32,
    /// Whether loss is a share of bytes or of packets. (`UseByteLossRate`)
    pub by_bytes: bool,
    /// Weight of an observation by its age, in (0, 1]. (`TemporalWeightFactor`)
    pub weight: f64,
    /// Weight of an observation in the average loss by its age. (`InstantUpperBoundTemporalWeightFactor`)
    pub loss_weight: f64,
    /// The highest loss is left out of the average, unless it came at a sending rate of at least this multiple of the
    /// median. (`MedianSendingRateFactor`)
    pub median_factor: f64,
    /// Candidates for the bandwidth, as multiples of the present one. (`CandidateFactors`)
    pub candidates: [f64; 3],
    /// Inherent loss at the beginning. (`InitialInherentLossEstimate`)
    pub inherent_loss: f64,
    /// Lowest inherent loss. (`InherentLossLowerBound`)
    pub least_inherent_loss: f64,
    /// Constant part of the highest inherent loss. (`InherentLossUpperBoundOffset`)
    pub inherent_loss_offset: f64,
    /// Rate that, divided by the bandwidth, is the other part of the highest inherent loss.
    /// (`InherentLossUpperBoundBwBalance`)
    pub inherent_loss_balance: DataRate,
    /// Steps of Newton's method per candidate. (`NewtonIterations`)
    pub newton_steps: u32,
    /// Share of each step that is taken. (`NewtonStepSize`)
    pub newton_step: f64,
    /// Preference for a higher bandwidth, per kbit/s. (`HigherBwBiasFactor`)
    pub bias: f64,
    /// Preference for a higher bandwidth, by the logarithm of kbit/s. (`HigherLogBwBiasFactor`)
    pub log_bias: f64,
    /// Average loss above which the preference is for a lower bandwidth.
    /// (`LossThresholdOfHighBandwidthPreference`)
    pub bias_loss: f64,
    /// Smoothness of that turn. (`BandwidthPreferenceSmoothingFactor`)
    pub bias_smoothing: f64,
    /// Average loss above which the loss bounds the estimate. (`InstantUpperBoundLossOffset`)
    pub bound_loss: f64,
    /// Rate that, divided by the loss above `bound_loss`, is the bound. (`InstantUpperBoundBwBalance`)
    pub bound_balance: DataRate,
    /// Whether the bound also becomes the model's bandwidth. (`BoundBestCandidate`)
    pub bound_best: bool,
    /// The estimate is at least this multiple of the acknowledged rate; 0 for no such bound.
    /// (`LowerBoundByAckedRateFactor`)
    pub least_of_acknowledged: f64,
    /// While loss limits, the bandwidth grows to at most this multiple within a window. (`MaxIncreaseFactor`)
    pub increase: f64,
    /// Window of `increase`. (`DelayedIncreaseWindow`)
    pub increase_window: TimeDelta,
    /// Multiple of the acknowledged rate to which the bandwidth may grow while loss limits it.
    /// (`BwRampupUpperBoundFactor`)
    pub ramp_up: f64,
    /// That multiple near the rate of the last hold. (`BwRampupUpperBoundInHoldFactor`)
    pub ramp_up_in_hold: f64,
    /// Multiple of the rate of the last hold below which the acknowledged rate is near it.
    /// (`BwRampupUpperBoundHoldThreshold`)
    pub hold_threshold: f64,
    /// Factor by which the duration of a hold grows each time; 0 for no hold. (`HoldDurationFactor`)
    pub hold_factor: f64,
    /// Duration of a period of padding while the estimate grows under loss; 0 for none. (`PaddingDuration`)
    pub padding: TimeDelta,
    /// Whether the controller also decides within the first two seconds. (`UseInStartPhase`)
    pub in_start_phase: bool,
}

impl LossV2Config {
    /// The defaults in libwebrtc's source of December 2024.
    pub fn libwebrtc_2024_12() -> Self {
        Self {
            observation: TimeDelta::from_millis(250),
            window: 20,
            min_observations: 3,
            by_bytes: false,
            weight: 0.9,
            loss_weight: 0.9,
            median_factor: 2.0,
            candidates: [1.02, 1.0, 0.95],
            inherent_loss: 0.01,
            least_inherent_loss: 1e-3,
            inherent_loss_offset: 0.05,
            inherent_loss_balance: DataRate::from_kbps(75),
            newton_steps: 1,
            newton_step: 0.75,
            bias: 2e-4,
            log_bias: 0.02,
            bias_loss: 0.15,
            bias_smoothing: 0.002,
            bound_loss: 0.05,
            bound_balance: DataRate::from_kbps(75),
            bound_best: false,
            least_of_acknowledged: 0.0,
            increase: 1.3,
            increase_window: TimeDelta::from_millis(300),
            ramp_up: 1e6,
            ramp_up_in_hold: 1e6,
            hold_threshold: 1.3,
            hold_factor: 0.0,
            padding: TimeDelta::ZERO,
            in_start_phase: false,
        }
    }

    /// The defaults of June 2025: the settings that Chrome had been running became the source's default.
    pub fn libwebrtc_2025() -> Self {
        Self {
            window: 15,
            by_bytes: true,
            inherent_loss_balance: DataRate::from_kbps(100),
            bias_loss: 0.2,
            bound_balance: DataRate::from_kbps(100),
            bound_best: true,
            least_of_acknowledged: 1.0,
            ramp_up: 1.5,
            ramp_up_in_hold: 1.2,
            hold_factor: 2.0,
            padding: TimeDelta::from_secs(2),
            in_start_phase: true,
            ..Self::libwebrtc_2024_12()
        }
    }

    /// Rules of all constants: the name, whether its value is valid, and the valid range.
    pub fn rules(&self) -> [(&'static str, bool, &'static str); 25] {
        let share = |v: f64| (0.0..1.0).contains(&v);
        let offset =
            share(self.inherent_loss_offset) && self.inherent_loss_offset >= self.least_inherent_loss;
        [
            ("observation", self.observation > TimeDelta::ZERO, "longer than 0"),
            ("window", (2..=MAX_OBSERVATIONS as u32).contains(&self.window), "from 2 to 32"),
            ("min_observations", self.min_observations >= 1, "at least 1"),
            ("weight", weight(self.weight), "in (0, 1]"),
            ("loss_weight", weight(self.loss_weight), "in (0, 1]"),
            ("median_factor", amount(self.median_factor), "0 or above"),
            ("candidates", self.candidates.iter().all(|&factor| positive(factor)), "above 0"),
            ("inherent_loss", share(self.inherent_loss), "in [0, 1)"),
            ("least_inherent_loss", share(self.least_inherent_loss), "in [0, 1)"),
            ("inherent_loss_offset", offset, "in [`least_inherent_loss`, 1)"),
            ("inherent_loss_balance", !self.inherent_loss_balance.is_zero(), "above 0"),
            ("newton_steps", (1..=10).contains(&self.newton_steps), "from 1 to 10"),
            ("newton_step", positive(self.newton_step), "above 0"),
            ("bias", amount(self.bias), "0 or above"),
            ("log_bias", amount(self.log_bias), "0 or above"),
            ("bias_loss", share(self.bias_loss), "in [0, 1)"),
            ("bias_smoothing", weight(self.bias_smoothing), "in (0, 1]"),
            ("bound_loss", share(self.bound_loss), "in [0, 1)"),
            ("bound_balance", !self.bound_balance.is_zero(), "above 0"),
            ("least_of_acknowledged", amount(self.least_of_acknowledged), "0 or above"),
            ("increase", positive(self.increase), "above 0"),
            ("increase_window", self.increase_window > TimeDelta::ZERO, "longer than 0"),
            ("ramp_up", self.ramp_up > 1.0 && self.ramp_up_in_hold > 1.0, "above 1"),
            ("hold_threshold", amount(self.hold_threshold), "0 or above"),
            ("hold_factor", amount(self.hold_factor), "0 or above"),
        ]
    }
}

impl Default for LossV2Config {
    fn default() -> Self {
        Self::libwebrtc_2025()
    }
}
