//! Every constant of libwebrtc's controller, by its parts.

use weir_units::{DataSize, TimeDelta};

use crate::config_error::{ConfigError, Rule, at_least_one, check_group, positive};
use crate::gcc::blocks::aimd::AimdConfig;
use crate::gcc::blocks::alr::AlrConfig;
use crate::gcc::blocks::bursts::BurstConfig;
use crate::gcc::blocks::detector::DetectorConfig;
use crate::gcc::blocks::loss_based_v1::LossV1Config;
use crate::gcc::blocks::loss_based_v2::LossV2Config;
use crate::gcc::blocks::probe_controller::ProbeControllerConfig;
use crate::gcc::blocks::probe_estimator::ProbeEstimatorConfig;
use crate::gcc::blocks::push_back::PushBackConfig;
use crate::gcc::blocks::rtt_backoff::RttBackoffConfig;
use crate::gcc::blocks::threshold::{AdaptiveThreshold, Threshold, gains};
use crate::gcc::blocks::throughput::ThroughputConfig;
use crate::gcc::blocks::trendline::TrendlineConfig;

/// Constants of libwebrtc's controller; [`Config::default`] is that of June 2025.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Config {
    /// Whether departures count in whole milliseconds, rounded down. libwebrtc.
    pub whole_departures: bool,
    /// Whether arrivals count in whole milliseconds, rounded down. libwebrtc, with transport-wide feedback.
    pub whole_arrivals: bool,
    /// Longest span of departures of a burst. libwebrtc.
    pub burst_time: TimeDelta,
    /// Longest duration of a burst that grows while the delay falls. libwebrtc.
    pub longest_burst: TimeDelta,
    /// Time without feedback after which grouping, trend, detector and γ restart. libwebrtc.
    pub stream_timeout: TimeDelta,
    /// The trend of the delay.
    pub trendline: TrendlineConfig,
    /// `γ(0)` in ms. libwebrtc.
    pub initial_threshold: f64,
    /// `k_u` in 1/ms. libwebrtc since August 2016.
    pub threshold_gain_up: f64,
    /// `k_d` in 1/ms. libwebrtc since August 2016.
    pub threshold_gain_down: f64,
    /// Lowest γ in ms. libwebrtc.
    pub threshold_min: f64,
    /// Highest γ in ms. libwebrtc.
    pub threshold_max: f64,
    /// Distance above γ in ms from which on it ignores trends. libwebrtc.
    pub threshold_outlier: f64,
    /// The time above γ after which over-use is signalled. libwebrtc.
    pub overuse_time: TimeDelta,
    /// The rate of the delay-based controller.
    pub aimd: AimdConfig,
    /// The acknowledged rate.
    pub throughput: ThroughputConfig,
    /// The older loss controller, which decides while the newer one is off or not ready.
    pub loss_v1: LossV1Config,
    /// Whether the newer loss controller is on. libwebrtc since 2023.
    pub use_loss_v2: bool,
    /// The newer loss controller.
    pub loss_v2: LossV2Config,
    /// Back-off from a round-trip time that is far too long.
    pub rtt_backoff: RttBackoffConfig,
    /// Push-back where the window is overfull.
    pub push_back: PushBackConfig,
    /// Detector of application-limited regions.
    pub alr: AlrConfig,
    /// Times and rates of probes.
    pub probing: ProbeControllerConfig,
    /// Evaluation of probes.
    pub probe_result: ProbeEstimatorConfig,
    /// Multiple of the target at which the pacer sends. libwebrtc.
    pub pacing_factor: f64,
    /// Time at that rate that may leave at once; zero for none. libwebrtc since November 2023.
    pub pacing_burst: TimeDelta,
    /// Upper bound of that burst in bytes. libwebrtc.
    pub pacing_burst_size: DataSize,
    /// Interval of the controller's own ticks. libwebrtc.
    pub process_interval: TimeDelta,
    /// Longest wait for receiver reports after the first feedback. Afterwards round-trip time and losses are those of
    /// feedback. Zero if no reports will come, as in libwebrtc's mode for packet feedback only until June 2025.
    pub report_patience: TimeDelta,
    /// Interval of the receiver half's reports. libwebrtc: 50 to 250 ms by the rate.
    pub feedback_interval: TimeDelta,
}

impl Config {
    /// The source of December 2024: it differs from that of June 2025 in [`LossV2Config::libwebrtc_2024_12`].
    pub fn libwebrtc_2024_12() -> Self {
        Self { loss_v2: LossV2Config::libwebrtc_2024_12(), ..Self::libwebrtc_2025() }
    }

    /// The source of June 2025.
    pub fn libwebrtc_2025() -> Self {
        let (threshold_gain_up, threshold_gain_down) = gains::LIBWEBRTC_2025;
        Self {
            whole_departures: true,
            whole_arrivals: true,
            burst_time: TimeDelta::from_millis(5),
            longest_burst: TimeDelta::from_millis(100),
            stream_timeout: TimeDelta::from_secs(2),
            trendline: TrendlineConfig::default(),
            initial_threshold: 12.5,
            threshold_gain_up,
            threshold_gain_down,
            threshold_min: 6.0,
            threshold_max: 600.0,
            threshold_outlier: 15.0,
            overuse_time: TimeDelta::from_millis(10),
            aimd: AimdConfig::libwebrtc_2025(),
            throughput: ThroughputConfig::default(),
            loss_v1: LossV1Config::default(),
            use_loss_v2: true,
            loss_v2: LossV2Config::libwebrtc_2025(),
            rtt_backoff: RttBackoffConfig::default(),
            push_back: PushBackConfig::LIBWEBRTC_2025,
            alr: AlrConfig::LIBWEBRTC_2025,
            probing: ProbeControllerConfig::LIBWEBRTC_2025,
            probe_result: ProbeEstimatorConfig::LIBWEBRTC_2025,
            pacing_factor: 2.5,
            pacing_burst: TimeDelta::from_millis(40),
            pacing_burst_size: DataSize::from_bytes(63_000),
            process_interval: TimeDelta::from_millis(25),
            report_patience: TimeDelta::from_secs(5),
            feedback_interval: TimeDelta::from_millis(50),
        }
    }

    /// Checks every constant.
    ///
    /// # Errors
    /// The first constant out of its range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let groups: [(&'static str, &[Rule]); 12] = [
            ("", &self.own_rules()),
            ("trendline.", &self.trendline.rules()),
            ("aimd.", &self.aimd.rules()),
            ("aimd.link_capacity.", &self.aimd.link_capacity.rules()),
            ("throughput.", &self.throughput.rules()),
            ("loss_v1.", &self.loss_v1.rules()),
            ("loss_v2.", &self.loss_v2.rules()),
            ("rtt_backoff.", &self.rtt_backoff.rules()),
            ("push_back.", &self.push_back.rules()),
            ("alr.", &alr_rules(&self.alr)),
            ("probing.", &probing_rules(&self.probing)),
            ("probe_result.", &probe_result_rules(&self.probe_result)),
        ];
        groups.into_iter().try_for_each(|(group, rules)| check_group(group, rules.iter().copied()))
    }

    fn own_rules(&self) -> [Rule; 15] {
        let tick = |v: TimeDelta| v >= TimeDelta::from_millis(1);
        [
            ("burst_time", !self.burst_time.is_negative(), "0 or longer"),
            ("longest_burst", !self.longest_burst.is_negative(), "0 or longer"),
            ("stream_timeout", self.stream_timeout > TimeDelta::ZERO, "longer than 0"),
            ("initial_threshold", positive(self.initial_threshold), "above 0"),
            ("threshold_gain_up", positive(self.threshold_gain_up), "above 0"),
            ("threshold_gain_down", positive(self.threshold_gain_down), "above 0"),
            ("threshold_min", positive(self.threshold_min), "above 0"),
            ("threshold_max", self.threshold_max >= self.threshold_min, "at least `threshold_min`"),
            ("threshold_outlier", self.threshold_outlier > 0.0, "above 0"),
            ("overuse_time", !self.overuse_time.is_negative(), "0 or longer"),
            ("pacing_factor", at_least_one(self.pacing_factor), "at least 1"),
            ("pacing_burst", !self.pacing_burst.is_negative(), "0 or longer"),
            ("process_interval", tick(self.process_interval), "at least 1 ms"),
            ("report_patience", !self.report_patience.is_negative(), "0 or longer"),
            ("feedback_interval", tick(self.feedback_interval), "at least 1 ms"),
        ]
    }

    pub(super) fn bursts(&self) -> BurstConfig {
        BurstConfig {
            burst_time: Some(self.burst_time),
            longest: Some(self.longest_burst),
            ..BurstConfig::LIBWEBRTC_2025
        }
    }

    pub(super) fn detector(&self) -> DetectorConfig {
        DetectorConfig { overuse_time: self.overuse_time, ..DetectorConfig::DRAFT_02 }
    }

    pub(super) fn threshold(&self) -> Threshold {
        Threshold::adaptive(AdaptiveThreshold {
            initial: self.initial_threshold,
            gain_up: self.threshold_gain_up,
            gain_down: self.threshold_gain_down,
            min: self.threshold_min,
            max: self.threshold_max,
            outlier: self.threshold_outlier,
            max_gap: TimeDelta::from_millis(100),
        })
    }
}

impl Default for Config {
    fn default() -> Self {
        Self::libwebrtc_2025()
    }
}

fn alr_rules(alr: &AlrConfig) -> [Rule; 3] {
    [
        ("usage", positive(alr.usage), "above 0"),
        ("window", alr.window > TimeDelta::ZERO, "longer than 0"),
        (
            "start",
            (-1.0..=1.0).contains(&alr.stop) && alr.stop <= alr.start,
            "at least `stop`, which is in [-1, 1]",
        ),
    ]
}

fn probing_rules(probing: &ProbeControllerConfig) -> [Rule; 7] {
    let all_positive = |factors: &[f64]| factors.iter().all(|&factor| positive(factor));
    let times = [probing.wait, probing.alr_interval, probing.duration, probing.repeat_duration];
    let recovery = &probing.recovery;
    [
        ("initial", all_positive(&probing.initial), "above 0"),
        ("further_step", all_positive(&[probing.further_threshold, probing.further_step]), "above 0"),
        ("alr_scale", all_positive(&[probing.alr_scale, probing.loss_limited_scale]), "above 0"),
        ("allocation", all_positive(&probing.allocation) && positive(probing.allocation_bound), "above 0"),
        ("allocation_estimate_bound", positive(probing.allocation_estimate_bound), "above 0"),
        (
            "wait",
            times.iter().all(|&time| time >= TimeDelta::from_millis(1)),
            "at least 1 ms, as all intervals",
        ),
        ("recovery", all_positive(&[recovery.drop, recovery.share]) && recovery.uncertainty < 1.0, "above 0"),
    ]
}

fn probe_result_rules(result: &ProbeEstimatorConfig) -> [Rule; 3] {
    let shares = [result.min_received, result.unsaturated, result.utilisation, result.drop_share];
    [
        ("min_received", shares.iter().all(|share| (0.0..=1.0).contains(share)), "in [0, 1], as all shares"),
        ("longest", result.longest > TimeDelta::ZERO, "longer than 0"),
        ("max_ratio", positive(result.max_ratio), "above 0"),
    ]
}

#[cfg(test)]
mod tests;
