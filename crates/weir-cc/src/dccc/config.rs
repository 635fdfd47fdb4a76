//! Every constant of DCCC.

use weir_units::{DataRate, TimeDelta};

use crate::config_error::{ConfigError, check, not_negative, positive, span, weight};
use crate::parts::base_delay::BaseDelay;
use crate::time::ArrivalTime;

/// How the delay threshold `T` is chosen. dccc-2017 appendix B.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum DelayThreshold {
    /// This one-way delay, set by the application; longer than 0. Needs synchronised clocks. Appendix B, 1 and 2.
    Fixed(TimeDelta),
    /// This one-way delay, but at least the smallest one observed; longer than 0. Needs synchronised clocks.
    /// Appendix B, 1: a `T` below the propagation delay leaves the path unused.
    AtLeastMinimum(TimeDelta),
    /// Margin above the smallest one-way delay observed; 0 or longer. Appendix B, 2 and 3, with a margin.
    AboveMinimum(TimeDelta),
}

/// How the mean interarrival time of a window is measured. Divergence 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum Interarrival {
    /// From the last packet of the window before to the last of this one, over the packets in between.
    Timestamps,
    /// The length of the window over the packets in it. dccc-2017 appendix C-A. With few packets in a window this
    /// underestimates the rate on average, and a flow may not leave a low rate.
    Count,
}

/// How the receiver learns the sending rate of the packets of a window. Divergence 12.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum SendingRate {
    /// By their departures and numbers, lost ones included: the rate that was sent.
    Departures,
    /// By the rates stamped on them: the rate that the controller allowed. dccc-2017 appendix C-A, whose source
    /// always sends that.
    Stamped,
}

/// Constants of DCCC; [`Config::default`] is dccc-2017, table I, with the threshold for clocks that are apart.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Config {
    /// `h`, weight of the flow's utility `h·ln x`, above 0: rates at the same price are proportional to it. Eq. (10);
    /// table I suggests 5 to 50 kbit/s.
    pub utility_weight: DataRate,
    /// `β`, scale of the delay price, in (0, 1]. Eq. (16); table I suggests 0.05 to 0.2.
    pub price_scale: f64,
    /// `η = k_r·RTT`, normalised gain, above 0. Eq. (43); table I suggests 0.1 to 0.4.
    pub gain: f64,
    /// `T`, one-way delay above which delay has a price. Eq. (16); table I suggests 5 to 250 ms.
    pub threshold: DelayThreshold,
    /// Shortest `T_s`, at least 1 ms. Divergence 5; table I suggests 50 ms.
    pub min_interval: TimeDelta,
    /// Longest `T_s`, at most 1 s. Divergence 5.
    pub max_interval: TimeDelta,
    /// How the interarrival time is measured. Divergence 4.
    pub interarrival: Interarrival,
    /// How the sending rate is known. Divergence 12.
    pub sending_rate: SendingRate,
    /// Time stamps are whole multiples of this; left as they are if `None`. dccc-2017 appendix C-A uses 1 ms.
    pub clock_resolution: Option<TimeDelta>,
    /// `α`, share of the old value in the smoothed rates, in [0, 1); 0 for none. Eq. (49), which uses 0.5.
    pub smoothing: f64,
    /// Whether delay below `T` is free, as in eq. (16). Otherwise it has a negative price, as eq. (25) is printed.
    pub clamp_delay_price: bool,
    /// Divisor of the delay above `T` in its price; longer than 0. With `None` it is the round-trip time, as in eq.
    /// (16). Divergence 14.
    pub price_time: Option<TimeDelta>,
    /// Upper bound of `g`, above 0: one bad window then takes away at most the share `η·g_max` of the rate.
    /// Unbounded if `None`, as in the paper.
    pub g_max: Option<f64>,
    /// Number of intervals without a packet that are a pause, and of intervals without a report that are a feedback
    /// timeout; 2 to 10. Divergences 7 and 8.
    pub silence_intervals: u32,
    /// Time without a report after which the base delay is measured anew; longer than 0. Divergence 6.
    pub relearn_after: TimeDelta,
    /// The encoder's rate is lowered so that the backlog at the sender is gone after this time; longer than 0. With
    /// `None` the encoder gets the rate unchanged. Divergence 13.
    pub drain_time: Option<TimeDelta>,
    /// Time without a round-trip time near its minimum after which the sender lets the queue drain; longer than 0,
    /// at most 8 min. The base delay is then the minimum of two minutes more. With `None` it never drains, and the
    /// base delay is that of the whole session. Without effect where the threshold is fixed. Divergence 6.
    pub drain_after: Option<TimeDelta>,
    /// Distance of a delay from the smallest one that means that a clock was set; longer than 0. Divergence 6.
    pub clock_step: TimeDelta,
}

/// `T_s` while the RTT is unknown. Divergence 5.
const FIRST_INTERVAL: TimeDelta = TimeDelta::from_millis(100);

impl Default for Config {
    fn default() -> Self {
        let ms = TimeDelta::from_millis;
        Self {
            utility_weight: DataRate::from_kbps(20),
            price_scale: 0.1,
            gain: 0.4,
            threshold: DelayThreshold::AboveMinimum(ms(50)),
            min_interval: ms(50),
            max_interval: TimeDelta::from_secs(1),
            interarrival: Interarrival::Timestamps,
            sending_rate: SendingRate::Departures,
            clock_resolution: None,
            smoothing: 0.0,
            clamp_delay_price: true,
            price_time: None,
            g_max: None,
            silence_intervals: 4,
            relearn_after: TimeDelta::from_secs(3),
            drain_time: Some(ms(500)),
            drain_after: Some(TimeDelta::from_secs(60)),
            clock_step: TimeDelta::from_secs(10),
        }
    }
}

impl Config {
    /// The controller of the paper's simulations. The threshold on the one-way delay is fixed, which needs
    /// synchronised clocks. Time stamps have 1 ms, and rates go by the stamps of an ideal source, which keeps no
    /// backlog. dccc-2017 §V-A, appendix C-A.
    pub fn dccc_2017(threshold: TimeDelta) -> Self {
        let ms = TimeDelta::from_millis;
        Self {
            threshold: DelayThreshold::Fixed(threshold),
            min_interval: ms(10),
            clock_resolution: Some(ms(1)),
            sending_rate: SendingRate::Stamped,
            drain_time: None,
            drain_after: None,
            ..Self::default()
        }
    }

    /// For rates of up to 50 Mbit/s where the paper has 2.5. `h` is larger by the same factor of 20, so that the
    /// price `h/x` is that of the paper. The delay at equilibrium (eq. 17) and the time of a climb are then the
    /// paper's, too.
    pub fn gaming() -> Self {
        Self { utility_weight: DataRate::from_kbps(20 * 20), ..Self::default() }
    }

    /// Checks every constant.
    ///
    /// # Errors
    /// The first constant out of its range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let (ms, second) = (TimeDelta::from_millis(1), TimeDelta::from_secs(1));
        let threshold = match self.threshold {
            DelayThreshold::Fixed(t) | DelayThreshold::AtLeastMinimum(t) => span(t),
            DelayThreshold::AboveMinimum(margin) => not_negative(margin),
        };
        let max_interval = self.max_interval >= self.min_interval && self.max_interval <= second;
        let rules = [
            ("utility_weight", !self.utility_weight.is_zero(), "above 0"),
            ("price_scale", weight(self.price_scale), "in (0, 1]"),
            ("gain", positive(self.gain), "above 0"),
            ("threshold", threshold, "longer than 0, a margin 0 or longer"),
            ("min_interval", self.min_interval >= ms, "at least 1 ms"),
            ("max_interval", max_interval, "from `min_interval` to 1 s"),
            ("clock_resolution", self.clock_resolution.is_none_or(span), "longer than 0"),
            ("smoothing", (0.0..1.0).contains(&self.smoothing), "in [0, 1)"),
            ("price_time", self.price_time.is_none_or(span), "longer than 0"),
            ("g_max", self.g_max.is_none_or(positive), "above 0"),
            ("silence_intervals", (2..=10).contains(&self.silence_intervals), "2 to 10"),
            ("relearn_after", span(self.relearn_after), "longer than 0"),
            ("drain_time", self.drain_time.is_none_or(span), "longer than 0"),
            ("drain_after", self.drain_after.is_none_or(BaseDelay::outlives), "longer than 0, at most 8 min"),
            ("clock_step", span(self.clock_step), "longer than 0"),
        ];
        check(rules)
    }

    /// `T_s` at a round-trip time; unknown if not positive. Divergence 5.
    pub(super) fn interval(&self, rtt: TimeDelta) -> TimeDelta {
        let rtt = if rtt > TimeDelta::ZERO { rtt } else { FIRST_INTERVAL };
        rtt.clamp(self.min_interval, self.max_interval)
    }

    /// Whether the source is the paper's, which always sends at the controller's rate.
    pub(super) fn source_is_ideal(&self) -> bool {
        self.sending_rate == SendingRate::Stamped
    }

    /// Time without an empty path after which the queue drains; a fixed threshold needs no base delay.
    pub(super) fn drains(&self) -> Option<TimeDelta> {
        self.drain_after.filter(|_| !matches!(self.threshold, DelayThreshold::Fixed(_)))
    }

    /// The base delay's estimator.
    pub(super) fn base_delay(&self) -> BaseDelay {
        self.drains().map_or(BaseDelay::unlimited(), BaseDelay::between_drains)
    }

    /// The time without packets or reports that is a feedback timeout, at an interval of `T_s`.
    pub(super) fn silence(&self, interval: TimeDelta) -> TimeDelta {
        interval * i64::from(self.silence_intervals)
    }

    /// The receiver's clock's reading of `at`.
    pub(super) fn read(&self, at: ArrivalTime) -> ArrivalTime {
        ArrivalTime::from_nanos(self.stamped(at.nanos()))
    }

    /// A clock's reading of `nanos` at the resolution of the time stamps.
    pub(super) fn stamped(&self, nanos: i64) -> i64 {
        match self.clock_resolution.map(TimeDelta::nanos) {
            Some(tick) if tick > 0 => nanos.div_euclid(tick).saturating_mul(tick),
            _ => nanos,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_out_of_range_are_named() {
        assert_eq!(Config::default().validate(), Ok(()));
        assert_eq!(Config::dccc_2017(TimeDelta::from_millis(100)).validate(), Ok(()));
        let error = Config { gain: f64::NAN, ..Config::default() }.validate().unwrap_err();
        assert_eq!(error.to_string(), "`gain` must be above 0");
        for wrong in [
            Config::dccc_2017(TimeDelta::ZERO),
            Config { utility_weight: DataRate::ZERO, ..Config::default() },
            Config { price_scale: 1.5, ..Config::default() },
            Config {
                threshold: DelayThreshold::AboveMinimum(TimeDelta::from_millis(-1)),
                ..Config::default()
            },
            Config { min_interval: TimeDelta::ZERO, ..Config::default() },
            Config { max_interval: TimeDelta::from_secs(2), ..Config::default() },
            Config { smoothing: 1.0, ..Config::default() },
            Config { price_time: Some(TimeDelta::ZERO), ..Config::default() },
            Config { g_max: Some(0.0), ..Config::default() },
            Config { silence_intervals: 1, ..Config::default() },
            Config { drain_time: Some(TimeDelta::ZERO), ..Config::default() },
            Config { drain_after: Some(TimeDelta::from_secs(481)), ..Config::default() },
        ] {
            assert!(wrong.validate().is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn the_constants_are_those_of_table_1() {
        let ms = TimeDelta::from_millis;
        let paper = Config::dccc_2017(ms(100));
        // k_r = 1/(2.5·RTT) and T_s = RTT: T_s·k_r = 0.4 at any round-trip time.
        assert_eq!(
            (paper.utility_weight, paper.price_scale, paper.gain),
            (DataRate::from_kbps(20), 0.1, 0.4)
        );
        assert_eq!(paper.threshold, DelayThreshold::Fixed(ms(100)));
        assert_eq!([50, 150, 500].map(|rtt| paper.interval(ms(rtt))), [50, 150, 500].map(ms));
    }

    #[test]
    fn constants_of_table_1_are_accepted_and_impossible_ones_refused() {
        let ms = TimeDelta::from_millis;
        let paper = Config::dccc_2017(ms(100));
        for suggested in [
            Config { gain: 0.1, ..paper },
            Config { gain: 0.4, ..paper },
            Config { price_scale: 0.05, ..paper },
            Config { price_scale: 0.2, ..paper },
            Config { min_interval: ms(50), max_interval: ms(50), ..paper },
            Config { min_interval: ms(500), max_interval: ms(500), ..paper },
            Config::dccc_2017(ms(5)),
            Config::dccc_2017(ms(250)),
            Config { utility_weight: DataRate::from_kbps(5), ..paper },
            Config { utility_weight: DataRate::from_kbps(50), ..paper },
        ] {
            assert_eq!(suggested.validate(), Ok(()), "{suggested:?}");
        }
        for (impossible, name) in [
            (Config { gain: 0.0, ..paper }, "gain"),
            (Config { price_scale: 0.0, ..paper }, "price_scale"),
            (Config { min_interval: ms(200), max_interval: ms(100), ..paper }, "max_interval"),
            (Config::dccc_2017(ms(-5)), "threshold"),
            (Config { utility_weight: DataRate::ZERO, ..paper }, "utility_weight"),
        ] {
            let error = impossible.validate().unwrap_err().to_string();
            assert!(error.contains(name), "{error}");
        }
    }

    #[test]
    fn extensions_for_real_sources_are_off_in_the_papers_forms() {
        let paper = Config::dccc_2017(TimeDelta::from_millis(100));
        assert!(paper.source_is_ideal() && !Config::default().source_is_ideal());
        assert_eq!((paper.drain_time, paper.drain_after, paper.drains()), (None, None, None));
        assert_eq!(paper.interval(TimeDelta::from_millis(12)), TimeDelta::from_millis(12));
        let drained = Config { drain_after: Config::default().drain_after, ..paper };
        assert_eq!(drained.drains(), None, "a fixed threshold needs no smallest delay");
    }

    #[test]
    fn the_interval_is_the_round_trip_time_within_bounds() {
        let config = Config::default();
        let ms = TimeDelta::from_millis;
        let at = |rtt| config.interval(ms(rtt));
        assert_eq!([at(0), at(3), at(70), at(4000)], [ms(100), ms(50), ms(70), ms(1000)]);
        assert_eq!(config.silence(ms(70)), ms(280));
    }

    #[test]
    fn time_stamps_are_cut_to_the_resolution() {
        let config = Config::dccc_2017(TimeDelta::from_millis(100));
        assert_eq!(config.stamped(1_999_999), 1_000_000);
        assert_eq!(config.stamped(-1), -1_000_000);
        assert_eq!(Config::default().stamped(1_999_999), 1_999_999);
    }
}
