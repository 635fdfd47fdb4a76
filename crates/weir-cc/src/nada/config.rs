//! Constants of NADA (RFC 8698).

use weir_units::TimeDelta;

use crate::config_error::{
    ConfigError, Rule, amount, at_least_one, check, not_negative, positive, ratio, span, weight,
};
use crate::parts::base_delay::BaseDelay;

/// Upper bound of the aggregate congestion signal. Divergence 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum CongestionBound {
    /// At this value; `XMAX` of the ns-3 model is 500 ms.
    At(TimeDelta),
    /// At 3276.7 ms, the largest value of the 15-bit field. RFC 8698 §5.3.
    Wire,
    /// No bound, as RFC 8698 eq. (2) is printed.
    Unbounded,
}

impl CongestionBound {
    /// The bound in ms.
    pub(super) fn millis(self) -> f64 {
        match self {
            Self::At(bound) => bound.millis_f64(),
            Self::Wire => 3276.7,
            Self::Unbounded => f64::INFINITY,
        }
    }
}

/// Loss intervals in the average `loss_int`. Divergence 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum LossAverage {
    /// Closed intervals only: losses expire.
    Closed,
    /// The intervals of RFC 5348 §5.4, with the open one if it raises the average: losses never expire.
    WithOpen,
}

/// Length of the shaping buffer. Divergence 12.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum ShapingBuffer {
    /// The least backlog since the report before: packets about to leave within a frame do not count.
    Least,
    /// The backlog when the report comes, a frame just captured included. RFC 8698 §5.2.2.
    Present,
}

/// Occasions on which the ratios of losses and marks are smoothed. Divergence 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum SmoothedEach {
    /// With each report. ns-3 model.
    Report,
    /// With each packet that arrives. RFC 8698 §4.2.
    Packet,
}

/// Pacing of packets, and the encoder's rate.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum NadaPacing {
    /// Through the rate-shaping buffer: the encoder gets `r_vin`, the pacer drains at `r_send`. RFC 8698 §5.2.2.
    Shaped,
    /// Encoder at `r_ref`, pacer at this multiple of it, at least 1.
    Factor(f64),
    /// Encoder at `r_ref`, packets as the encoder makes them.
    Unpaced,
}

/// Constants of NADA; [`Config::default`] is RFC 8698, Table 2. `RMIN` and `RMAX` are the rate limits.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Config {
    /// `PRIO`, weight of the flow's priority, above 0. RFC 8698 §4.3.
    pub priority: f64,
    /// `XREF`, reference congestion level: `x_curr` of a flow at `RMAX`. RFC 8698 §4.3.
    pub reference_congestion: TimeDelta,
    /// `KAPPA`, gain of the gradual update, above 0. RFC 8698 §4.3.
    pub kappa: f64,
    /// `ETA`, weight of the change against the offset, 0 or above. RFC 8698 §4.3.
    pub eta: f64,
    /// `TAU`, upper bound of the round-trip time for which the gradual update is stable. RFC 8698 §4.3.
    pub tau: TimeDelta,
    /// `DELTA`, interval between reports. RFC 8698 §4.3; stable below 250 ms (§5.3).
    pub feedback_interval: TimeDelta,
    /// `LOGWIN`, window of loss, marks, receive rate and ramp-up condition. RFC 8698 §4.2.
    pub log_window: TimeDelta,
    /// `QEPS`, raw queuing delay below which ramp-up goes on. RFC 8698 §4.2.
    pub queue_epsilon: TimeDelta,
    /// `DFILT`, bound on the delay of filtering. RFC 8698 §4.3.
    pub filter_delay: TimeDelta,
    /// `GAMMA_MAX`, largest step of the ramp-up as a ratio. RFC 8698 §4.3.
    pub gamma_max: f64,
    /// `QBOUND`, bound on the queue that ramp-up itself may cause. RFC 8698 §4.3.
    pub queue_bound: TimeDelta,
    /// `MULTILOSS`, number of average loss intervals for which a loss is recent. RFC 8698 §4.2.
    pub multiloss: f64,
    /// `QTH`, queuing delay from which warping begins. RFC 8698 §4.2.
    pub warp_threshold: TimeDelta,
    /// `LAMBDA`, scale of the warping's exponent, 0 or above. RFC 8698 §4.2.
    pub lambda: f64,
    /// `PLRREF`, loss ratio that costs `DLOSS`, in (0, 1]. RFC 8698 §4.2.
    pub loss_reference: f64,
    /// `PMRREF`, marking ratio that costs `DMARK`, in (0, 1]. RFC 8698 §4.2.
    pub mark_reference: f64,
    /// `DLOSS`, delay penalty at the reference loss ratio; the same in all flows of a bottleneck. RFC 8698 §4.2.
    pub loss_penalty: TimeDelta,
    /// `DMARK`, delay penalty at the reference marking ratio, below `DLOSS`. RFC 8698 §4.2.
    pub mark_penalty: TimeDelta,
    /// `ALPHA`, weight of the newest loss and marking ratio, in (0, 1]. RFC 8698 §5.1.2.
    pub smoothing: f64,
    /// Occasions on which `ALPHA` is applied. Divergence 4.
    pub smoothed_each: SmoothedEach,
    /// Packets over which the delay filter takes the minimum, 1 to 1000. RFC 8698 §5.1.1.
    pub min_filter: u32,
    /// `FPS`, frame rate of the shaping buffer, in 1/s. RFC 8698 §5.2.2.
    pub frame_rate: f64,
    /// `BETA_S`, gain of the shaping buffer on the sending rate, 0 or above. RFC 8698 §5.2.2.
    pub sending_gain: f64,
    /// `BETA_V`, gain of the shaping buffer on the encoder's rate, 0 or above. RFC 8698 §5.2.2.
    pub media_gain: f64,
    /// Shaping moves a rate by at most this share of `r_ref`, in [0, 1]. RFC 8698 §5.2.2.
    pub shaping_cap: f64,
    /// `XMAX`, upper bound of `x_curr`. Divergence 1.
    pub congestion_bound: CongestionBound,
    /// Upper bound of the equilibrium `x_curr = PRIO·XREF·RMAX/r_ref`; longer than 0, unbounded if `None`.
    /// Divergence 1.
    pub equilibrium_bound: Option<TimeDelta>,
    /// Loss intervals that count for the expiry of a loss. Divergence 2.
    pub loss_average: LossAverage,
    /// Number of packets in `LOGWIN` below which no ratio rises. ns-3 model; divergence 5.
    pub min_packets: u32,
    /// Raw queuing delay from which on a clock was set. Divergence 7.
    pub clock_step: TimeDelta,
    /// Feedback timeout, after which the rate is halved, and then each second. Divergence 9.
    pub feedback_timeout: TimeDelta,
    /// Whether the time since the report before counts for at most `TAU`. Divergence 8.
    pub interval_cap: bool,
    /// Length of the shaping buffer. Divergence 12.
    pub shaping_buffer: ShapingBuffer,
    /// Time without a round-trip time near its minimum after which the sender lets the queue drain; longer than 0,
    /// at most 8 min. The base delay is then the minimum of two minutes more. With `None` it never drains, and the
    /// base delay is that of ten minutes. Divergence 13.
    pub drain_after: Option<TimeDelta>,
    /// How packets leave. RFC 8698 §5.2.2.
    pub pacing: NadaPacing,
}

impl Default for Config {
    fn default() -> Self {
        let ms = TimeDelta::from_millis;
        Self {
            priority: 1.0,
            reference_congestion: ms(10),
            kappa: 0.5,
            eta: 2.0,
            tau: ms(500),
            feedback_interval: ms(100),
            log_window: ms(500),
            queue_epsilon: ms(10),
            filter_delay: ms(120),
            gamma_max: 0.5,
            queue_bound: ms(50),
            multiloss: 7.0,
            warp_threshold: ms(50),
            lambda: 0.5,
            loss_reference: 0.01,
            mark_reference: 0.01,
            loss_penalty: ms(10),
            mark_penalty: ms(2),
            smoothing: 0.1,
            smoothed_each: SmoothedEach::Report,
            min_filter: 15,
            frame_rate: 30.0,
            sending_gain: 0.1,
            media_gain: 0.1,
            shaping_cap: 0.05,
            congestion_bound: CongestionBound::At(ms(500)),
            equilibrium_bound: Some(ms(300)),
            loss_average: LossAverage::Closed,
            min_packets: 5,
            clock_step: TimeDelta::from_secs(10),
            feedback_timeout: TimeDelta::from_secs(1),
            interval_cap: true,
            shaping_buffer: ShapingBuffer::Least,
            drain_after: Some(TimeDelta::from_secs(60)),
            pacing: NadaPacing::Shaped,
        }
    }
}

/// The rules of every variant's log and feedback timeout.
pub(super) fn log_rules([interval, window, clock_step, timeout]: [TimeDelta; 4]) -> [Rule; 4] {
    [
        ("feedback_interval", interval >= TimeDelta::from_millis(1), "at least 1 ms"),
        ("log_window", window >= interval, "at least `feedback_interval`"),
        ("clock_step", clock_step > window, "longer than `log_window`"),
        ("feedback_timeout", timeout > interval, "above `feedback_interval`"),
    ]
}

impl NadaPacing {
    /// Whether a factor is one.
    pub(super) fn is_sound(self) -> bool {
        match self {
            Self::Factor(factor) => at_least_one(factor),
            Self::Shaped | Self::Unpaced => true,
        }
    }
}

impl Config {
    /// RFC 8698 as it is printed, without the divergences by which the default departs from its text. `x_curr` has
    /// no bound but the wire's (1), losses never expire (2), and ratios are smoothed with each packet (4), however
    /// few they are (5). The time between reports has no cap (8), the shaping buffer counts as it is when a report
    /// comes (12), and there are no drains (13). Readings of what the RFC leaves open stay.
    pub fn rfc_literal() -> Self {
        Self {
            congestion_bound: CongestionBound::Unbounded,
            equilibrium_bound: None,
            loss_average: LossAverage::WithOpen,
            smoothed_each: SmoothedEach::Packet,
            min_packets: 0,
            interval_cap: false,
            shaping_buffer: ShapingBuffer::Present,
            drain_after: None,
            ..Self::default()
        }
    }

    /// NADA as its authors compute it in C++ (cisco/ns3-rmcat, commit adb3f8e of 2020): losses never expire (2),
    /// the equilibrium has no bound (1), and there are no drains (13). Its `x_curr` ends at 500 ms, as the
    /// default's. Other differences of that code are not imitated: it begins anew after a gap in the arrivals (6),
    /// and its shaping buffer is off.
    pub fn ns3_rmcat() -> Self {
        Self {
            equilibrium_bound: None,
            loss_average: LossAverage::WithOpen,
            drain_after: None,
            ..Self::default()
        }
    }

    /// Checks every constant.
    ///
    /// # Errors
    /// The first constant out of its range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let bound = match self.congestion_bound {
            CongestionBound::At(bound) => span(bound),
            CongestionBound::Wire | CongestionBound::Unbounded => true,
        };
        let rules = [
            ("priority", positive(self.priority), "above 0"),
            ("reference_congestion", span(self.reference_congestion), "longer than 0"),
            ("kappa", positive(self.kappa), "above 0"),
            ("eta", amount(self.eta), "0 or above"),
            ("tau", span(self.tau), "longer than 0"),
            ("queue_epsilon", span(self.queue_epsilon), "longer than 0"),
            ("filter_delay", not_negative(self.filter_delay), "0 or longer"),
            ("gamma_max", positive(self.gamma_max), "above 0"),
            ("queue_bound", span(self.queue_bound), "longer than 0"),
            ("multiloss", amount(self.multiloss), "0 or above"),
            ("warp_threshold", span(self.warp_threshold), "longer than 0"),
            ("lambda", amount(self.lambda), "0 or above"),
            ("loss_reference", weight(self.loss_reference), "in (0, 1]"),
            ("mark_reference", weight(self.mark_reference), "in (0, 1]"),
            ("loss_penalty", not_negative(self.loss_penalty), "0 or longer"),
            ("mark_penalty", not_negative(self.mark_penalty), "0 or longer"),
            ("smoothing", weight(self.smoothing), "in (0, 1]"),
            ("min_filter", (1..=1000).contains(&self.min_filter), "1 to 1000"),
            ("frame_rate", positive(self.frame_rate), "above 0"),
            ("sending_gain", amount(self.sending_gain), "0 or above"),
            ("media_gain", amount(self.media_gain), "0 or above"),
            ("shaping_cap", ratio(self.shaping_cap), "in [0, 1]"),
            ("congestion_bound", bound, "longer than 0"),
            ("equilibrium_bound", self.equilibrium_bound.is_none_or(span), "longer than 0"),
            ("drain_after", self.drain_after.is_none_or(BaseDelay::outlives), "longer than 0, at most 8 min"),
            ("pacing", self.pacing.is_sound(), "a factor of at least 1"),
        ];
        check(rules.into_iter().chain(log_rules([
            self.feedback_interval,
            self.log_window,
            self.clock_step,
            self.feedback_timeout,
        ])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rfcs_text_differs_where_the_default_departs_from_it() {
        let (literal, default) = (Config::rfc_literal(), Config::default());
        assert_eq!(
            (literal.shaping_buffer, default.shaping_buffer),
            (ShapingBuffer::Present, ShapingBuffer::Least)
        );
        assert_eq!((literal.interval_cap, default.interval_cap), (false, true));
        assert_eq!((literal.min_packets, default.min_packets), (0, 5));
        assert_eq!((literal.drain_after, default.drain_after), (None, Some(TimeDelta::from_secs(60))));
        let bound = CongestionBound::At(TimeDelta::from_millis(500));
        assert_eq!((literal.congestion_bound, default.congestion_bound), (CongestionBound::Unbounded, bound));
        let bound = Some(TimeDelta::from_millis(300));
        assert_eq!((literal.equilibrium_bound, default.equilibrium_bound), (None, bound));
        assert_eq!(literal.smoothed_each, SmoothedEach::Packet);
        assert_ne!(literal.smoothed_each, default.smoothed_each);
        assert_eq!(
            (literal.loss_average, default.loss_average),
            (LossAverage::WithOpen, LossAverage::Closed)
        );
    }

    #[test]
    fn the_authors_code_differs_from_the_default_in_three_constants() {
        let (authors, default) = (Config::ns3_rmcat(), Config::default());
        let chosen = (authors.loss_average, authors.equilibrium_bound, authors.drain_after);
        assert_eq!(chosen, (LossAverage::WithOpen, None, None));
        let Config { equilibrium_bound, loss_average, drain_after, .. } = default;
        assert_ne!(chosen, (loss_average, equilibrium_bound, drain_after));
        assert_eq!(Config { equilibrium_bound, loss_average, drain_after, ..authors }, default);
    }

    fn rejected(change: impl FnOnce(&mut Config)) -> String {
        let mut config = Config::default();
        change(&mut config);
        config.validate().unwrap_err().to_string()
    }

    #[test]
    fn constants_out_of_range_are_named() {
        let (zero, negative) = (TimeDelta::ZERO, TimeDelta::from_nanos(-1));
        assert_eq!(Config::default().validate(), Ok(()));
        assert_eq!(rejected(|c| c.priority = 0.0), "`priority` must be above 0");
        assert_eq!(
            rejected(|c| c.reference_congestion = zero),
            "`reference_congestion` must be longer than 0"
        );
        assert_eq!(rejected(|c| c.kappa = f64::NAN), "`kappa` must be above 0");
        assert_eq!(rejected(|c| c.kappa = f64::INFINITY), "`kappa` must be above 0");
        assert_eq!(rejected(|c| c.eta = -0.1), "`eta` must be 0 or above");
        assert_eq!(rejected(|c| c.eta = f64::INFINITY), "`eta` must be 0 or above");
        assert_eq!(rejected(|c| c.tau = zero), "`tau` must be longer than 0");
        assert_eq!(rejected(|c| c.feedback_interval = zero), "`feedback_interval` must be at least 1 ms");
        let window = "`log_window` must be at least `feedback_interval`";
        assert_eq!(rejected(|c| c.log_window = TimeDelta::from_millis(99)), window);
        assert_eq!(rejected(|c| c.queue_epsilon = zero), "`queue_epsilon` must be longer than 0");
        assert_eq!(rejected(|c| c.filter_delay = negative), "`filter_delay` must be 0 or longer");
        assert_eq!(rejected(|c| c.gamma_max = 0.0), "`gamma_max` must be above 0");
        assert_eq!(rejected(|c| c.queue_bound = zero), "`queue_bound` must be longer than 0");
        assert_eq!(rejected(|c| c.multiloss = -1.0), "`multiloss` must be 0 or above");
        assert_eq!(rejected(|c| c.warp_threshold = zero), "`warp_threshold` must be longer than 0");
        assert_eq!(rejected(|c| c.lambda = -1.0), "`lambda` must be 0 or above");
        assert_eq!(rejected(|c| c.loss_reference = 0.0), "`loss_reference` must be in (0, 1]");
        assert_eq!(rejected(|c| c.mark_reference = 1.1), "`mark_reference` must be in (0, 1]");
        assert_eq!(rejected(|c| c.loss_penalty = negative), "`loss_penalty` must be 0 or longer");
        assert_eq!(rejected(|c| c.mark_penalty = negative), "`mark_penalty` must be 0 or longer");
        assert_eq!(rejected(|c| c.smoothing = 1.5), "`smoothing` must be in (0, 1]");
        assert_eq!(rejected(|c| c.min_filter = 0), "`min_filter` must be 1 to 1000");
        assert_eq!(rejected(|c| c.frame_rate = 0.0), "`frame_rate` must be above 0");
        assert_eq!(rejected(|c| c.sending_gain = -0.1), "`sending_gain` must be 0 or above");
        assert_eq!(rejected(|c| c.media_gain = -0.1), "`media_gain` must be 0 or above");
        assert_eq!(rejected(|c| c.shaping_cap = f64::NAN), "`shaping_cap` must be in [0, 1]");
        let bound = "`congestion_bound` must be longer than 0";
        assert_eq!(rejected(|c| c.congestion_bound = CongestionBound::At(zero)), bound);
        assert_eq!(
            rejected(|c| c.clock_step = c.log_window),
            "`clock_step` must be longer than `log_window`"
        );
        let drains = "`drain_after` must be longer than 0, at most 8 min";
        for wrong in [zero, TimeDelta::from_secs(481)] {
            assert_eq!(rejected(|c| c.drain_after = Some(wrong)), drains);
        }
        let timeout = "`feedback_timeout` must be above `feedback_interval`";
        assert_eq!(rejected(|c| c.feedback_timeout = c.feedback_interval), timeout);
        let pacing = "`pacing` must be a factor of at least 1";
        assert_eq!(rejected(|c| c.pacing = NadaPacing::Factor(0.5)), pacing);
        assert_eq!(rejected(|c| c.pacing = NadaPacing::Factor(f64::INFINITY)), pacing);
    }

    #[test]
    fn the_edges_of_the_ranges_are_within_them() {
        let (zero, millisecond) = (TimeDelta::ZERO, TimeDelta::from_millis(1));
        let edge = Config {
            eta: 0.0,
            feedback_interval: millisecond,
            log_window: millisecond,
            filter_delay: zero,
            multiloss: 0.0,
            lambda: 0.0,
            loss_reference: 1.0,
            mark_reference: 1.0,
            loss_penalty: zero,
            mark_penalty: zero,
            smoothing: 1.0,
            min_filter: 1000,
            sending_gain: 0.0,
            media_gain: 0.0,
            shaping_cap: 1.0,
            congestion_bound: CongestionBound::At(TimeDelta::from_nanos(1)),
            drain_after: Some(TimeDelta::from_secs(480)),
            pacing: NadaPacing::Factor(1.0),
            ..Config::default()
        };
        assert_eq!(edge.validate(), Ok(()));
        let others = [CongestionBound::Wire, CongestionBound::Unbounded];
        assert!(
            others.iter().all(|&congestion_bound| Config { congestion_bound, ..edge }.validate().is_ok())
        );
    }

    #[test]
    fn every_form_of_the_bound_is_in_milliseconds() {
        assert_eq!(CongestionBound::At(TimeDelta::from_millis(500)).millis(), 500.0);
        assert_eq!(CongestionBound::Wire.millis(), 3276.7);
        assert_eq!(CongestionBound::Unbounded.millis(), f64::INFINITY);
    }
}
