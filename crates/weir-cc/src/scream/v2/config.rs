//! Every constant of SCReAM version 2.

use weir_units::{DataRate, DataSize, TimeDelta};

use crate::config_error::{ConfigError, at_least_one, check, positive, ratio, span, weight};
use crate::parts::drain;
use crate::scream::competition::CompetitionConfig;
use crate::scream::receiver::Cadence;

/// Which working text of draft-johansson-ccwg-rfc8298bis-screamv2 the formulas are those of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum Edition {
    /// About submissions -01 and -02, autumn 2024.
    Early,
    /// About submissions -05 and -06, late 2025.
    Late,
}

/// How long after congestion the window grows cautiously.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum PostCongestion {
    /// So long (early text).
    Time(TimeDelta),
    /// So many round trips, each at least `VIRTUAL_RTT` (late text).
    RoundTrips(f64),
}

/// Constants of SCReAM version 2; [`Config::default`] is the late text, [`Config::early`] the early one. The bounds of
/// the target rate are the rate limits.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Config {
    /// Whose formulas are used where the two texts differ in form.
    pub edition: Edition,
    /// `QDELAY_TARGET_LO`, the lowest and first target of the queue delay.
    pub qdelay_target_lo: TimeDelta,
    /// `QDELAY_TARGET_HI`, the highest target of the queue delay.
    pub qdelay_target_hi: TimeDelta,
    /// `MIN_REF_WND`, the lowest reference window.
    pub min_ref_wnd: DataSize,
    /// `BETA_LOSS`, window factor on loss, in (0, 1].
    pub beta_loss: f64,
    /// `BETA_ECN`, window factor on a classic ECN mark, in (0, 1].
    pub beta_ecn: f64,
    /// `MSS`, the maximum size of an RTP packet.
    pub mss: DataSize,
    /// `REF_WND_OVERHEAD`, what may be in flight over the reference window, at least 1.
    pub ref_wnd_overhead: f64,
    /// `BYTES_IN_FLIGHT_HEAD_ROOM`, reference window over the maximum in flight, at least 1.
    pub bytes_in_flight_head_room: f64,
    /// `L4S_AVG_G`, weight of a marking ratio that raises `l4s_alpha`, in (0, 1].
    pub l4s_gain_up: f64,
    /// Weight of one that lowers it, in (0, 1]: towards the ratio in the early text, towards 0 in the late one.
    pub l4s_gain_down: f64,
    /// `QDELAY_AVG_G`, weight of a queue delay that raises its average, in (0, 1].
    pub qdelay_avg_gain: f64,
    /// `POST_CONGESTION_DELAY`, how long after congestion the window grows cautiously.
    pub post_congestion: PostCongestion,
    /// `MUL_INCREASE_FACTOR`, growth by the size of the window, 0 or above.
    pub mul_increase_factor: f64,
    /// `VIRTUAL_RTT`, the round-trip time of reference.
    pub virtual_rtt: TimeDelta,
    /// `PACKET_PACING_HEADROOM`, pacing rate over target rate, at least 1.
    pub packet_pacing_headroom: f64,
    /// `RATE_PACE_MIN`, the lowest rate that pacing goes by.
    pub rate_pace_min: DataRate,
    /// `BYTES_IN_FLIGHT_LIMIT`, share of the window above which bytes in flight lower the rate, above 0.
    pub bytes_in_flight_limit: f64,
    /// `BYTES_IN_FLIGHT_LIMIT_COMPENSATION`, by how much at most, at least 1.
    pub bytes_in_flight_compensation: f64,
    /// `PACKET_OVERHEAD`, headers per packet of `MSS`.
    pub packet_overhead: DataSize,
    /// Whether the queue-delay target gives way to competing flows.
    pub compensation: bool,
    /// `loss_event_rate` from which competing flows are taken for loss-based, in [0, 1]. RFC 8298 §4.1.2.3.
    pub loss_event_threshold: f64,
    /// Variance of the queue delay below which the target follows it, above 0. RFC 8298 §4.1.2.3.
    pub variance_threshold: f64,
    /// Whether a reaction to marks of L4S or to delay is divided by how many of them fit into a round trip, and that to
    /// delay has its full share instead of one by the marks that the rate would meet. Divergence 20.
    pub spread_reactions: bool,
    /// A queue that never empties is drained so long after the last drain, or the beginning, and then the base delay
    /// forgotten; longer than 0. `None`: it never is. Draft, Discussion; divergence 19.
    pub drain_after: Option<TimeDelta>,
    /// Least queue delay, as a share of the target, from which it is taken for one that never empties, above 0.
    pub drain_threshold: f64,
    /// Weight of 50 ms in the average of the least queue delay, in (0, 1].
    pub drain_gain: f64,
    /// Share of the target rate that the encoder gets while the queue drains, in (0, 1].
    pub drain_share: f64,
    /// A drain takes so many round trips …
    pub drain_round_trips: f64,
    /// … and at least so long.
    pub least_drain_time: TimeDelta,
    /// Without feedback for so long the rate is halved, then each second. Divergence 9.
    pub feedback_timeout: TimeDelta,
}

impl Default for Config {
    fn default() -> Self {
        Self::LATE
    }
}

impl Config {
    /// The late text: `scream-v2`.
    pub const LATE: Self = Self {
        edition: Edition::Late,
        qdelay_target_lo: TimeDelta::from_millis(60),
        qdelay_target_hi: TimeDelta::from_millis(400),
        min_ref_wnd: DataSize::from_bytes(3000),
        beta_loss: 0.7,
        beta_ecn: 0.8,
        mss: DataSize::from_bytes(1000),
        ref_wnd_overhead: 5.0,
        bytes_in_flight_head_room: 1.5,
        l4s_gain_up: 0.125,
        l4s_gain_down: 0.007_812_5,
        qdelay_avg_gain: 0.25,
        post_congestion: PostCongestion::RoundTrips(100.0),
        mul_increase_factor: 0.02,
        virtual_rtt: TimeDelta::from_millis(25),
        packet_pacing_headroom: 1.5,
        rate_pace_min: DataRate::from_kbps(50),
        bytes_in_flight_limit: 0.9,
        bytes_in_flight_compensation: 1.5,
        packet_overhead: DataSize::from_bytes(20),
        compensation: true,
        loss_event_threshold: 0.002,
        variance_threshold: 0.2,
        spread_reactions: true,
        drain_after: Some(TimeDelta::from_secs(60)),
        drain_threshold: 0.125,
        drain_gain: 0.005,
        drain_share: drain::SHARE,
        drain_round_trips: drain::ROUNDS,
        least_drain_time: TimeDelta::from_millis(100),
        feedback_timeout: TimeDelta::from_millis(1000),
    };

    /// The early text. What only the implementations have (divergences 19 and 20) is off.
    pub const fn early() -> Self {
        Self {
            edition: Edition::Early,
            ref_wnd_overhead: 1.5,
            bytes_in_flight_head_room: 2.0,
            l4s_gain_up: 0.0625,
            l4s_gain_down: 0.0625,
            post_congestion: PostCongestion::Time(TimeDelta::from_secs(4)),
            packet_overhead: DataSize::ZERO,
            spread_reactions: false,
            drain_after: None,
            ..Self::LATE
        }
    }

    /// Checks every constant.
    ///
    /// # Errors
    /// The first constant out of its range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let cautious = match self.post_congestion {
            PostCongestion::Time(time) => span(time),
            PostCongestion::RoundTrips(count) => positive(count),
        };
        check([
            ("qdelay_target_lo", span(self.qdelay_target_lo), "longer than 0"),
            (
                "qdelay_target_hi",
                self.qdelay_target_hi >= self.qdelay_target_lo,
                "at least `qdelay_target_lo`",
            ),
            ("min_ref_wnd", self.min_ref_wnd >= self.mss, "at least `mss`"),
            ("beta_loss", weight(self.beta_loss), "in (0, 1]"),
            ("beta_ecn", weight(self.beta_ecn), "in (0, 1]"),
            ("mss", !self.mss.is_zero(), "above 0"),
            ("ref_wnd_overhead", at_least_one(self.ref_wnd_overhead), "at least 1"),
            ("bytes_in_flight_head_room", at_least_one(self.bytes_in_flight_head_room), "at least 1"),
            ("l4s_gain_up", weight(self.l4s_gain_up), "in (0, 1]"),
            ("l4s_gain_down", weight(self.l4s_gain_down), "in (0, 1]"),
            ("qdelay_avg_gain", weight(self.qdelay_avg_gain), "in (0, 1]"),
            ("post_congestion", cautious, "longer than 0"),
            ("mul_increase_factor", ratio(self.mul_increase_factor), "in [0, 1]"),
            ("virtual_rtt", span(self.virtual_rtt), "longer than 0"),
            ("packet_pacing_headroom", at_least_one(self.packet_pacing_headroom), "at least 1"),
            ("rate_pace_min", !self.rate_pace_min.is_zero(), "above 0"),
            ("bytes_in_flight_limit", positive(self.bytes_in_flight_limit), "above 0"),
            ("bytes_in_flight_compensation", at_least_one(self.bytes_in_flight_compensation), "at least 1"),
            ("loss_event_threshold", ratio(self.loss_event_threshold), "in [0, 1]"),
            ("variance_threshold", positive(self.variance_threshold), "above 0"),
            ("drain_threshold", positive(self.drain_threshold), "above 0"),
            ("drain_gain", weight(self.drain_gain), "in (0, 1]"),
            ("drain_after", self.drain_after.is_none_or(span), "longer than 0"),
            ("drain_share", weight(self.drain_share), "in (0, 1]"),
            ("drain_round_trips", positive(self.drain_round_trips), "above 0"),
            ("least_drain_time", span(self.least_drain_time), "longer than 0"),
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

    /// `MSS/ref_wnd`.
    pub(super) fn mss_share(&self, ref_wnd: f64) -> f64 {
        self.mss.bytes_f64() / ref_wnd
    }

    /// 2 % of what is received, in reports of 100 bytes, 10 to 1000 per second, and the end of each frame at once.
    pub(super) const CADENCE: Cadence =
        Cadence { per_bit: 0.02 / 800.0, min: 10.0, max: 1000.0, frame_end: true };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_out_of_range_are_named() {
        assert_eq!(Config::default().validate(), Ok(()));
        assert_eq!(Config::early().validate(), Ok(()));
        assert_eq!((Config::early().drain_after, Config::early().spread_reactions), (None, false));
        let error = Config { l4s_gain_up: 0.0, ..Config::default() }.validate().unwrap_err();
        assert_eq!(error.to_string(), "`l4s_gain_up` must be in (0, 1]");
        for wrong in [
            Config { mul_increase_factor: f64::NAN, ..Config::default() },
            Config { min_ref_wnd: DataSize::from_bytes(999), ..Config::default() },
            Config { post_congestion: PostCongestion::RoundTrips(0.0), ..Config::default() },
            Config { ref_wnd_overhead: 0.5, ..Config::default() },
        ] {
            assert!(wrong.validate().is_err(), "{wrong:?}");
        }
    }
}
