//! Configuration of SCReAM version 1: every constant of RFC 8298.

use weir_units::{DataRate, DataSize, TimeDelta};

use crate::config_error::{ConfigError, at_least_one, check, positive, ratio, span, weight};
use crate::scream::competition::CompetitionConfig;
use crate::scream::receiver::Cadence;

/// Increment of the target outside fast increase. Divergence 6.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum Increment {
    /// Difference from the rate that the path has shown. Reference implementation of 2018.
    Difference,
    /// That rate itself, as RFC 8298 §4.1.3 is printed: the target rises until its limit.
    Literal,
}

/// Constants of RFC 8298 (§4.1.1.1 unless another section is named); [`Config::default`] has its values.
/// `TARGET_BITRATE_MIN` and `TARGET_BITRATE_MAX` are the rate limits.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Config {
    /// `QDELAY_TARGET_LO`, the lowest and first target of the queue delay.
    pub qdelay_target_lo: TimeDelta,
    /// `QDELAY_TARGET_HI`, the highest target of the queue delay.
    pub qdelay_target_hi: TimeDelta,
    /// `QDELAY_WEIGHT`, weight of the newest fractional queue delay, in (0, 1].
    pub qdelay_weight: f64,
    /// `QDELAY_TREND_TH`, the trend that ends fast increase, in (0, 1].
    pub qdelay_trend_th: f64,
    /// `QDELAY_TREND_LO`, the trend below which fast increase may resume, in (0, 1].
    pub qdelay_trend_lo: f64,
    /// `T_RESUME_FAST_INCREASE`, how long the trend must stay below `QDELAY_TREND_LO`.
    pub resume_fast_increase: TimeDelta,
    /// Interval of samples of the trend. §4.1.2.
    pub trend_interval: TimeDelta,
    /// Share of `qdelay_trend_mem` that is left after each sample, in (0, 1]. §4.1.2.
    pub trend_memory: f64,
    /// `MIN_CWND`, the lowest and first congestion window.
    pub min_cwnd: DataSize,
    /// `MAX_BYTES_IN_FLIGHT_HEAD_ROOM`, window over the maximum in flight, at least 1.
    pub bytes_in_flight_head_room: f64,
    /// Time for which that maximum is remembered. §4.1.2.2.
    pub bytes_in_flight_memory: TimeDelta,
    /// `GAIN`, gain of the window, above 0.
    pub gain: f64,
    /// `BETA_LOSS`, window factor on loss, in (0, 1].
    pub beta_loss: f64,
    /// `BETA_ECN`, window and rate factor on an ECN mark, in (0, 1].
    pub beta_ecn: f64,
    /// `BETA_R`, rate factor on loss, in (0, 1].
    pub beta_r: f64,
    /// `MSS`, the maximum size of an RTP packet.
    pub mss: DataSize,
    /// `RATE_ADJUST_INTERVAL`, interval of updates of the media rate.
    pub rate_adjust_interval: TimeDelta,
    /// `RAMP_UP_SPEED`, the largest growth of the media rate in a second.
    pub ramp_up_speed: DataRate,
    /// `PRE_CONGESTION_GUARD`, damping of the rate by the trend, in [0, 1].
    pub pre_congestion_guard: f64,
    /// `TX_QUEUE_SIZE_FACTOR`, damping of the rate by the RTP queue in 1/s, in [0, 2].
    pub tx_queue_size_factor: f64,
    /// `RTP_QDELAY_TH`, delay of the RTP queue that forces a reduction.
    pub rtp_qdelay_th: TimeDelta,
    /// `TARGET_RATE_SCALE_RTP_QDELAY`, the factor of that reduction, in (0, 1].
    pub target_rate_scale_rtp_qdelay: f64,
    /// `RATE_PACE_MIN`, the lowest pacing rate.
    pub rate_pace_min: DataRate,
    /// Whether the queue-delay target adapts to competing flows. §4.1.2.3.
    pub compensation: bool,
    /// `loss_event_rate` from which competing flows count as loss-based, 0 or above. §4.1.2.3.
    pub loss_event_threshold: f64,
    /// Variance of the queue delay below which the target follows it, above 0. §4.1.2.3.
    pub variance_threshold: f64,
    /// Increment of the target outside fast increase. §4.1.3.
    pub increment: Increment,
    /// Feedback timeout, after which the rate is halved, and then each second. Divergence 9.
    pub feedback_timeout: TimeDelta,
}

impl Default for Config {
    fn default() -> Self {
        Self::RFC_8298
    }
}

impl Config {
    /// The values of RFC 8298.
    pub const RFC_8298: Self = Self {
        qdelay_target_lo: TimeDelta::from_millis(100),
        qdelay_target_hi: TimeDelta::from_millis(400),
        qdelay_weight: 0.1,
        qdelay_trend_th: 0.2,
        qdelay_trend_lo: 0.2,
        resume_fast_increase: TimeDelta::from_millis(5000),
        trend_interval: TimeDelta::from_millis(50),
        trend_memory: 0.99,
        min_cwnd: DataSize::from_bytes(3000),
        bytes_in_flight_head_room: 1.1,
        bytes_in_flight_memory: TimeDelta::from_millis(5000),
        gain: 1.0,
        beta_loss: 0.8,
        beta_ecn: 0.9,
        beta_r: 0.9,
        mss: DataSize::from_bytes(1000),
        rate_adjust_interval: TimeDelta::from_millis(200),
        ramp_up_speed: DataRate::from_kbps(200),
        pre_congestion_guard: 0.1,
        tx_queue_size_factor: 1.0,
        rtp_qdelay_th: TimeDelta::from_millis(20),
        target_rate_scale_rtp_qdelay: 0.95,
        rate_pace_min: DataRate::from_kbps(50),
        compensation: true,
        loss_event_threshold: 0.002,
        variance_threshold: 0.2,
        increment: Increment::Difference,
        feedback_timeout: TimeDelta::from_millis(1000),
    };

    /// For rates of up to 50 Mbit/s where calls have 2.5: `RAMP_UP_SPEED` grows by 20 as they do, so that a climb
    /// takes as long.
    pub const GAMING: Self = Self { ramp_up_speed: DataRate::from_mbps(4), ..Self::RFC_8298 };

    /// Checks every constant.
    ///
    /// # Errors
    /// The first constant out of its range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        check([
            ("qdelay_target_lo", span(self.qdelay_target_lo), "longer than 0"),
            (
                "qdelay_target_hi",
                self.qdelay_target_hi >= self.qdelay_target_lo,
                "at least `qdelay_target_lo`",
            ),
            ("qdelay_weight", weight(self.qdelay_weight), "in (0, 1]"),
            ("qdelay_trend_th", weight(self.qdelay_trend_th), "in (0, 1]"),
            ("qdelay_trend_lo", weight(self.qdelay_trend_lo), "in (0, 1]"),
            ("resume_fast_increase", span(self.resume_fast_increase), "longer than 0"),
            ("trend_interval", self.trend_interval >= TimeDelta::from_millis(1), "at least 1 ms"),
            ("trend_memory", weight(self.trend_memory), "in (0, 1]"),
            ("min_cwnd", !self.min_cwnd.is_zero(), "above 0"),
            ("bytes_in_flight_head_room", at_least_one(self.bytes_in_flight_head_room), "at least 1"),
            ("bytes_in_flight_memory", span(self.bytes_in_flight_memory), "longer than 0"),
            ("gain", positive(self.gain), "above 0"),
            ("beta_loss", weight(self.beta_loss), "in (0, 1]"),
            ("beta_ecn", weight(self.beta_ecn), "in (0, 1]"),
            ("beta_r", weight(self.beta_r), "in (0, 1]"),
            ("mss", !self.mss.is_zero(), "above 0"),
            ("rate_adjust_interval", self.rate_adjust_interval >= TimeDelta::from_millis(1), "at least 1 ms"),
            ("ramp_up_speed", !self.ramp_up_speed.is_zero(), "above 0"),
            ("pre_congestion_guard", ratio(self.pre_congestion_guard), "in [0, 1]"),
            ("tx_queue_size_factor", (0.0..=2.0).contains(&self.tx_queue_size_factor), "in [0, 2]"),
            ("rtp_qdelay_th", span(self.rtp_qdelay_th), "longer than 0"),
            ("target_rate_scale_rtp_qdelay", weight(self.target_rate_scale_rtp_qdelay), "in (0, 1]"),
            ("rate_pace_min", !self.rate_pace_min.is_zero(), "above 0"),
            ("loss_event_threshold", ratio(self.loss_event_threshold), "in [0, 1]"),
            ("variance_threshold", positive(self.variance_threshold), "above 0"),
            ("feedback_timeout", span(self.feedback_timeout), "longer than 0"),
        ])
    }

    pub(super) fn competition(&self) -> CompetitionConfig {
        CompetitionConfig {
            low: self.qdelay_target_lo.secs_f64(),
            high: self.qdelay_target_hi.secs_f64(),
            loss_threshold: self.loss_event_threshold,
            variance_threshold: self.variance_threshold,
            enabled: self.compensation,
        }
    }

    /// RFC 8298 §4.2.1: `rate_fb = min(50, max(2.5, rate_media/10000))` per second.
    pub(super) const CADENCE: Cadence = Cadence { per_bit: 1e-4, min: 2.5, max: 50.0, frame_end: false };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_out_of_range_are_named() {
        assert_eq!(Config::default().validate(), Ok(()));
        let error = Config { beta_r: 1.5, ..Config::default() }.validate().unwrap_err();
        assert_eq!(error.to_string(), "`beta_r` must be in (0, 1]");
        for wrong in [
            Config { gain: f64::NAN, ..Config::default() },
            Config { mss: DataSize::ZERO, ..Config::default() },
            Config { qdelay_target_hi: TimeDelta::from_millis(99), ..Config::default() },
            Config { tx_queue_size_factor: f64::INFINITY, ..Config::default() },
            Config { bytes_in_flight_head_room: 0.9, ..Config::default() },
        ] {
            assert!(wrong.validate().is_err(), "{wrong:?}");
        }
    }
}
