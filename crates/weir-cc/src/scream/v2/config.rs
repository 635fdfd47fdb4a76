//! Every constant of SCReAM version 2.

use weir_units::{DataRate, DataSize, TimeDelta};

use crate::config_error::{ConfigError, at_least_one, check, positive, ratio, span, weight};
use crate::parts::drain;
use crate::parts::least_window::window_of;
use crate::scream::competition::CompetitionConfig;
use crate::scream::receiver::Cadence;

/// Constants of SCReAM version 2. [`Config::default`] has the values of Ericsson's implementation of June 2026. The
/// bounds of the target rate are the rate limits.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Config {
    /// The lowest and first target of the queue delay.
    pub qdelay_target_lo: TimeDelta,
    /// The highest target of the queue delay; reached only with `compensation`.
    pub qdelay_target_hi: TimeDelta,
    /// Window factor on a loss event, in (0, 1].
    pub beta_loss: f64,
    /// Window factor on a classic ECN mark, in (0, 1].
    pub beta_ecn: f64,
    /// Share of lost packets from which a loss is a loss event, in [0, 1]. Below it a loss counts only while the average
    /// queue delay exceeds a quarter of the target.
    pub loss_rate_threshold: f64,
    /// The largest packet of the present and of the last span of this length is `MSS`; longer than 0.
    pub mss_span: TimeDelta,
    /// Whether a reaction to queue delay puts off the next one to a loss event by a round trip. Divergence 17.
    pub delay_puts_off_loss: bool,
    /// Least time by which a later arrival must have left after a missing packet to make it lost.
    pub reorder_time: TimeDelta,
    /// Bytes in flight over the reference window while the queue delay is even, at least `least_ref_wnd_overhead`.
    pub ref_wnd_overhead: f64,
    /// The same while the queue delay varies by `latency_spread_threshold` or more, at least 1.
    pub least_ref_wnd_overhead: f64,
    /// Reference window over the maximum in flight, at least 1.
    pub bytes_in_flight_head_room: f64,
    /// Weight of a marking ratio that raises `l4s_alpha`, in (0, 1].
    pub l4s_gain_up: f64,
    /// Share of `l4s_alpha` that is lost at each update with fewer marks, in (0, 1].
    pub l4s_gain_down: f64,
    /// Weight of a queue delay that raises its average, in (0, 1].
    pub qdelay_avg_gain: f64,
    /// Average spread of the queue delay from which the window grows least, longer than 0.
    pub latency_spread_threshold: TimeDelta,
    /// Round trips after a congestion event until growth is no longer cautious, above 0.
    pub post_congestion_round_trips: f64,
    /// Growth in a round trip by the size of the window, in [0, 1].
    pub mul_increase_factor: f64,
    /// Round-trip time below which the window grows more slowly.
    pub virtual_rtt: TimeDelta,
    /// Least time between two reactions to congestion; a shorter round-trip time takes its place.
    pub reaction_interval: TimeDelta,
    /// Share of the acknowledged rate below which the target rate has already been reduced, in [0, 1]. A reaction
    /// to L4S marks or delay is then a quarter.
    pub yielded_below: f64,
    /// Window per round trip over target rate, at least 1: headroom for frames above the average size.
    pub rate_margin: f64,
    /// Longest round-trip time that lowers the target rate.
    pub longest_rtt: TimeDelta,
    /// Pacing rate over target rate, at least 1.
    pub packet_pacing_headroom: f64,
    /// The lowest rate of pacing.
    pub rate_pace_min: DataRate,
    /// Headers of a packet that the target rate leaves out.
    pub packet_overhead: DataSize,
    /// Whether the queue-delay target rises beside competing flows. RFC 8298 §4.1.2.3.
    pub compensation: bool,
    /// Share of round trips with a loss event from which competing flows count as loss-based, in [0, 1].
    pub loss_event_threshold: f64,
    /// Variance of the queue delay below which its target follows it, above 0.
    pub variance_threshold: f64,
    /// Interval of drains of a queue that never empties, also from the beginning; after a drain the base delay is
    /// forgotten. With `None` there are no drains.
    pub drain_after: Option<TimeDelta>,
    /// Slow average of the least queue delay, as a share of the target, above which the queue is drained; above 0.
    pub drain_threshold: f64,
    /// Share of the target rate that the encoder gets while the queue drains, in (0, 1].
    pub drain_share: f64,
    /// Length of a drain in round trips, above 0.
    pub drain_round_trips: f64,
    /// Shortest length of a drain.
    pub least_drain_time: TimeDelta,
    /// Whether the base delay is measured anew where the path becomes longer, or a clock is set, without notice.
    /// Divergence 19.
    pub believes_steps: bool,
    /// Feedback timeout, after which the rate is halved, and then each second. Divergence 9.
    pub feedback_timeout: TimeDelta,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            qdelay_target_lo: TimeDelta::from_millis(60),
            qdelay_target_hi: TimeDelta::from_millis(300),
            beta_loss: 0.7,
            beta_ecn: 0.8,
            loss_rate_threshold: 0.01,
            mss_span: TimeDelta::from_secs(1),
            delay_puts_off_loss: false,
            reorder_time: TimeDelta::from_millis(30),
            ref_wnd_overhead: 5.0,
            least_ref_wnd_overhead: 1.5,
            bytes_in_flight_head_room: 1.5,
            l4s_gain_up: 0.125,
            l4s_gain_down: 0.007_812_5,
            qdelay_avg_gain: 0.25,
            latency_spread_threshold: TimeDelta::from_millis(10),
            post_congestion_round_trips: 200.0,
            mul_increase_factor: 0.02,
            virtual_rtt: TimeDelta::from_millis(25),
            reaction_interval: TimeDelta::from_millis(30),
            yielded_below: 0.8,
            rate_margin: 1.1,
            longest_rtt: TimeDelta::from_millis(200),
            packet_pacing_headroom: 1.5,
            rate_pace_min: DataRate::from_kbps(50),
            packet_overhead: DataSize::from_bytes(20),
            compensation: false,
            loss_event_threshold: 0.002,
            variance_threshold: 0.2,
            drain_after: Some(TimeDelta::from_secs(60)),
            drain_threshold: 0.125,
            drain_share: drain::DRAIN_SHARE,
            drain_round_trips: drain::DRAIN_ROUNDS,
            least_drain_time: TimeDelta::from_millis(100),
            believes_steps: true,
            feedback_timeout: TimeDelta::from_millis(1000),
        }
    }
}

impl Config {
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
            ("beta_loss", weight(self.beta_loss), "in (0, 1]"),
            ("beta_ecn", weight(self.beta_ecn), "in (0, 1]"),
            ("loss_rate_threshold", ratio(self.loss_rate_threshold), "in [0, 1]"),
            ("mss_span", span(self.mss_span), "longer than 0"),
            ("reorder_time", !self.reorder_time.is_negative(), "0 or longer"),
            ("least_ref_wnd_overhead", at_least_one(self.least_ref_wnd_overhead), "at least 1"),
            (
                "ref_wnd_overhead",
                self.ref_wnd_overhead.is_finite() && self.ref_wnd_overhead >= self.least_ref_wnd_overhead,
                "at least `least_ref_wnd_overhead`",
            ),
            ("bytes_in_flight_head_room", at_least_one(self.bytes_in_flight_head_room), "at least 1"),
            ("l4s_gain_up", weight(self.l4s_gain_up), "in (0, 1]"),
            ("l4s_gain_down", weight(self.l4s_gain_down), "in (0, 1]"),
            ("qdelay_avg_gain", weight(self.qdelay_avg_gain), "in (0, 1]"),
            ("latency_spread_threshold", span(self.latency_spread_threshold), "longer than 0"),
            ("post_congestion_round_trips", positive(self.post_congestion_round_trips), "above 0"),
            ("mul_increase_factor", ratio(self.mul_increase_factor), "in [0, 1]"),
            ("virtual_rtt", span(self.virtual_rtt), "longer than 0"),
            ("reaction_interval", span(self.reaction_interval), "longer than 0"),
            ("yielded_below", ratio(self.yielded_below), "in [0, 1]"),
            ("rate_margin", at_least_one(self.rate_margin), "at least 1"),
            ("longest_rtt", span(self.longest_rtt), "longer than 0"),
            ("packet_pacing_headroom", at_least_one(self.packet_pacing_headroom), "at least 1"),
            ("rate_pace_min", !self.rate_pace_min.is_zero(), "above 0"),
            ("loss_event_threshold", ratio(self.loss_event_threshold), "in [0, 1]"),
            ("variance_threshold", positive(self.variance_threshold), "above 0"),
            ("drain_threshold", positive(self.drain_threshold), "above 0"),
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

    /// Interval of updates of averages or window, and of reactions to congestion.
    pub(super) fn interval(&self, s_rtt: f64) -> TimeDelta {
        self.reaction_interval.min(TimeDelta::from_secs_f64(s_rtt))
    }

    /// Reactions in a round trip: each is divided by their number.
    pub(super) fn reactions_per_round_trip(&self, s_rtt: f64) -> f64 {
        (s_rtt / self.reaction_interval.secs_f64()).max(1.0)
    }

    /// Share of a packet of `mss` bytes that the target rate counts.
    pub(super) fn payload_share(&self, mss: f64) -> f64 {
        mss / (mss + self.packet_overhead.bytes_f64())
    }

    /// The target rate in bit/s, not yet within its bounds: a window of `ref_wnd` bytes per round trip, less margins.
    /// `share` is that of a packet in the window.
    pub(super) fn target_rate(&self, ref_wnd: f64, share: f64, s_rtt: f64, mss: f64) -> f64 {
        let few_packets = 1.0 - (share - SMALL_WINDOW).clamp(0.0, MOST_LESS);
        8.0 * ref_wnd / self.rate_rtt(s_rtt) * few_packets / self.rate_margin * self.payload_share(mss)
    }

    /// The window in bytes from which [`Self::target_rate`] computes `rate`.
    pub(super) fn window_for(&self, rate: f64, s_rtt: f64, mss: f64) -> f64 {
        let many_packets = window_of(rate * self.rate_margin, self.rate_rtt(s_rtt), self.payload_share(mss));
        // The inverse of the share that few packets leave: by rising parts it is the larger window each time.
        let few_packets = (many_packets + mss) / (1.0 + SMALL_WINDOW);
        many_packets.max(few_packets).min(many_packets / (1.0 - MOST_LESS))
    }

    /// Bytes per round trip at `rate`, without margins for frames and headers.
    pub(super) fn window_of_rate(rate: f64, s_rtt: f64) -> f64 {
        window_of(rate, s_rtt + CLOCK_MARGIN, 1.0)
    }

    /// Round-trip time from which the rate is computed, in s.
    fn rate_rtt(&self, s_rtt: f64) -> f64 {
        (s_rtt + CLOCK_MARGIN).min(self.longest_rtt.secs_f64())
    }

    /// Reports at 2 % of the receive rate, in reports of 100 bytes, 10 to 1000 per second, and at the end of each
    /// frame at once.
    pub(super) const CADENCE: Cadence =
        Cadence { per_bit: 0.02 / 800.0, min: 10.0, max: 1000.0, frame_end: true };
}

/// Share of a packet in the window from which the rate stays behind the window …
const SMALL_WINDOW: f64 = 0.1;
/// … by at most this share.
const MOST_LESS: f64 = 0.2;
/// Added to the round-trip time in s, for clocks of 1 ms.
const CLOCK_MARGIN: f64 = 0.001;

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that `value` is `expected` within 1e-9, relative.
    fn near(value: f64, expected: f64) {
        assert!((value - expected).abs() < 1e-9 * expected, "{value} instead of {expected}");
    }

    #[test]
    fn constants_out_of_range_are_named() {
        assert_eq!(Config::default().validate(), Ok(()));
        let error = Config { l4s_gain_up: 0.0, ..Config::default() }.validate().unwrap_err();
        assert_eq!(error.to_string(), "`l4s_gain_up` must be in (0, 1]");
        for wrong in [
            Config { mul_increase_factor: f64::NAN, ..Config::default() },
            Config { post_congestion_round_trips: 0.0, ..Config::default() },
            Config { ref_wnd_overhead: 1.4, ..Config::default() },
            Config { ref_wnd_overhead: f64::INFINITY, ..Config::default() },
            Config { reorder_time: TimeDelta::from_millis(-1), ..Config::default() },
            Config { qdelay_target_hi: TimeDelta::from_millis(59), ..Config::default() },
        ] {
            assert!(wrong.validate().is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn the_rate_is_a_window_per_round_trip_less_margins() {
        let config = Config::default();
        // 8·20 000/0.1 = 1.6 Mbit/s at 99 + 1 ms, a tenth less, 1000 of 1020 bytes of it payload.
        let rate = 1.6e6 / 1.1 / 1.02;
        near(config.target_rate(20_000.0, 0.05, 0.099, 1000.0), rate);
        near(config.window_for(rate, 0.099, 1000.0), 20_000.0);
        // Of 4 packets: 0.25 − 0.1 less; of 2: at most a fifth.
        near(config.target_rate(20_000.0, 0.25, 0.099, 1000.0), rate * 0.85);
        near(config.target_rate(20_000.0, 0.5, 0.099, 1000.0), rate * 0.8);
        for window in [2000.0, 3000.0, 4000.0, 9000.0, 11_000.0, 50_000.0] {
            let rate = config.target_rate(window, 1000.0 / window, 0.05, 1000.0);
            near(config.window_for(rate, 0.05, 1000.0), window);
        }
        // From 200 ms on the round-trip time lowers the rate no further.
        near(config.target_rate(20_000.0, 0.05, 0.4, 1000.0), rate / 2.0);
    }
}
