//! Constants at and beyond the ends of their ranges.

use weir_units::DataRate;

use super::*;
use crate::gcc::blocks::aimd::{Additive, ReceiveRateBound};

const ZERO: TimeDelta = TimeDelta::ZERO;
const MS: TimeDelta = TimeDelta::from_millis(1);

/// A change of a constant.
type Change = fn(&mut Config);

/// The verdict on the default configuration with `change`.
fn judged(change: Change) -> Result<(), String> {
    let mut config = Config::default();
    change(&mut config);
    config.validate().map_err(|error| error.to_string())
}

#[test]
fn constants_out_of_range_are_named_with_their_part() {
    assert_eq!(Config::libwebrtc_2025().validate(), Ok(()));
    assert_eq!(Config::libwebrtc_2024_12().validate(), Ok(()));
    let mut wrong = Config::default();
    wrong.aimd.decrease = 1.0;
    assert_eq!(wrong.validate().unwrap_err().to_string(), "`aimd.decrease` must be in (0, 1)");
    let mut wrong = Config::default();
    wrong.alr.stop = f64::NAN;
    assert!(wrong.validate().is_err());
    let wrong = Config { threshold_gain_up: f64::NAN, ..Config::default() };
    assert_eq!(wrong.validate().unwrap_err().to_string(), "`threshold_gain_up` must be above 0");
    let mut wrong = Config::default();
    wrong.probing.initial = [3.0, f64::INFINITY];
    assert_eq!(wrong.validate().unwrap_err().to_string(), "`probing.initial` must be above 0");
}

#[test]
fn the_detector_waits_for_the_configured_time() {
    let config = Config { overuse_time: TimeDelta::from_millis(35), ..Config::default() };
    assert_eq!(config.detector().overuse_time, TimeDelta::from_millis(35));
}

/// Each change is refused, by the name of its constant.
#[track_caller]
fn assert_named(wrong: &[(&str, &[Change])]) {
    for (name, changes) in wrong {
        for (n, change) in changes.iter().enumerate() {
            let named = judged(*change).is_err_and(|error| error.starts_with(&format!("`{name}` ")));
            assert!(named, "change {n} of {name}");
        }
    }
}

#[test]
fn constants_of_the_delay_based_rate_out_of_range_are_named() {
    let wrong: &[(&str, &[Change])] = &[
        ("burst_time", &[|c| c.burst_time = -MS]),
        ("longest_burst", &[|c| c.longest_burst = -MS]),
        ("stream_timeout", &[|c| c.stream_timeout = ZERO]),
        ("initial_threshold", &[|c| c.initial_threshold = 0.0, |c| c.initial_threshold = f64::INFINITY]),
        ("threshold_gain_up", &[|c| c.threshold_gain_up = 0.0]),
        ("threshold_gain_down", &[|c| c.threshold_gain_down = 0.0]),
        ("threshold_min", &[|c| c.threshold_min = 0.0]),
        ("threshold_max", &[|c| c.threshold_max = 5.9]),
        ("threshold_outlier", &[|c| c.threshold_outlier = 0.0]),
        ("overuse_time", &[|c| c.overuse_time = -MS]),
        ("pacing_factor", &[|c| c.pacing_factor = 0.99, |c| c.pacing_factor = f64::INFINITY]),
        ("process_interval", &[|c| c.process_interval = MS / 2]),
        ("report_patience", &[|c| c.report_patience = -MS]),
        ("feedback_interval", &[|c| c.feedback_interval = MS / 2]),
        ("trendline.window", &[|c| c.trendline.window = 1, |c| c.trendline.window = 201]),
        ("trendline.smoothing", &[|c| c.trendline.smoothing = -0.1, |c| c.trendline.smoothing = 1.0]),
        ("trendline.gain", &[|c| c.trendline.gain = 0.0, |c| c.trendline.gain = f64::INFINITY]),
        ("trendline.scale_cap", &[|c| c.trendline.scale_cap = 0]),
        ("aimd.increase", &[|c| c.aimd.increase = 1.0, |c| c.aimd.increase = f64::INFINITY]),
        (
            "aimd.least_increase",
            &[|c| c.aimd.least_increase = -1.0, |c| c.aimd.least_increase = f64::INFINITY],
        ),
        (
            "aimd.additive",
            &[
                |c| c.aimd.additive = Additive::Slope { least: -1.0 },
                |c| c.aimd.additive = Additive::PerUpdate { least: f64::INFINITY },
            ],
        ),
        ("aimd.decrease", &[|c| c.aimd.decrease = 0.0, |c| c.aimd.decrease = 1.0]),
        ("aimd.extra_decrease", &[|c| c.aimd.extra_decrease = -1.0]),
        ("aimd.bound", &[|c| c.aimd.bound = ReceiveRateBound::Limit { margin: -1.0 }]),
        ("aimd.bound_factor", &[|c| c.aimd.bound_factor = 0.99, |c| c.aimd.bound_factor = f64::INFINITY]),
        ("aimd.far_below", &[|c| c.aimd.far_below = -0.1, |c| c.aimd.far_below = 1.1]),
        ("aimd.default_rtt", &[|c| c.aimd.default_rtt = ZERO]),
        (
            "aimd.link_capacity.smoothing",
            &[|c| c.aimd.link_capacity.smoothing = 0.0, |c| c.aimd.link_capacity.smoothing = 1.1],
        ),
        (
            "aimd.link_capacity.deviations",
            &[
                |c| c.aimd.link_capacity.deviations = -0.1,
                |c| c.aimd.link_capacity.deviations = f64::INFINITY,
            ],
        ),
        (
            "aimd.link_capacity.most_variance",
            &[
                |c| c.aimd.link_capacity.least_variance = 0.0,
                |c| c.aimd.link_capacity.most_variance = 0.39,
                |c| c.aimd.link_capacity.most_variance = f64::INFINITY,
            ],
        ),
        (
            "throughput.required_packets",
            &[|c| c.throughput.required_packets = 1, |c| c.throughput.required_packets = 21],
        ),
        ("throughput.window_packets", &[|c| c.throughput.window_packets = 501]),
        ("throughput.window", &[|c| c.throughput.window = ZERO]),
        ("throughput.max_packets", &[|c| c.throughput.max_packets = 1001]),
        ("throughput.max_window", &[|c| c.throughput.max_window = MS * 999]),
    ];
    assert_named(wrong);
}

#[test]
fn constants_of_the_loss_controllers_out_of_range_are_named() {
    let wrong: &[(&str, &[Change])] = &[
        ("loss_v1.low", &[|c| c.loss_v1.low = -0.1, |c| c.loss_v1.low = 1.1]),
        ("loss_v1.high", &[|c| c.loss_v1.high = 0.019, |c| c.loss_v1.high = 1.1]),
        ("loss_v1.increase", &[|c| c.loss_v1.increase = 0.99, |c| c.loss_v1.increase = f64::INFINITY]),
        (
            "loss_v1.increase_step",
            &[|c| c.loss_v1.increase_step = -1.0, |c| c.loss_v1.increase_step = f64::INFINITY],
        ),
        ("loss_v1.decrease", &[|c| c.loss_v1.decrease = 1.1]),
        ("loss_v1.memory", &[|c| c.loss_v1.memory = ZERO]),
        ("loss_v1.decrease_interval", &[|c| c.loss_v1.decrease_interval = -MS]),
        ("loss_v1.interval", &[|c| c.loss_v1.interval = -MS]),
        ("loss_v1.max_age", &[|c| c.loss_v1.max_age = -MS, |c| c.loss_v1.start_phase = -MS]),
        ("loss_v2.observation", &[|c| c.loss_v2.observation = ZERO]),
        ("loss_v2.window", &[|c| c.loss_v2.window = 1, |c| c.loss_v2.window = 33]),
        ("loss_v2.min_observations", &[|c| c.loss_v2.min_observations = 0]),
        ("loss_v2.weight", &[|c| c.loss_v2.weight = 0.0, |c| c.loss_v2.weight = 1.1]),
        ("loss_v2.loss_weight", &[|c| c.loss_v2.loss_weight = 0.0]),
        (
            "loss_v2.median_factor",
            &[|c| c.loss_v2.median_factor = -0.1, |c| c.loss_v2.median_factor = f64::INFINITY],
        ),
        (
            "loss_v2.candidates",
            &[
                |c| c.loss_v2.candidates = [1.0, 1.0, 0.0],
                |c| c.loss_v2.candidates = [1.0, 1.0, f64::INFINITY],
            ],
        ),
        ("loss_v2.inherent_loss", &[|c| c.loss_v2.inherent_loss = 1.0]),
        ("loss_v2.least_inherent_loss", &[|c| c.loss_v2.least_inherent_loss = -0.1]),
        (
            "loss_v2.inherent_loss_offset",
            &[|c| c.loss_v2.inherent_loss_offset = 0.9e-3, |c| c.loss_v2.inherent_loss_offset = 1.0],
        ),
        ("loss_v2.inherent_loss_balance", &[|c| c.loss_v2.inherent_loss_balance = DataRate::ZERO]),
        ("loss_v2.newton_steps", &[|c| c.loss_v2.newton_steps = 0, |c| c.loss_v2.newton_steps = 11]),
        ("loss_v2.newton_step", &[|c| c.loss_v2.newton_step = 0.0]),
        ("loss_v2.bias", &[|c| c.loss_v2.bias = -0.1]),
        ("loss_v2.log_bias", &[|c| c.loss_v2.log_bias = -0.1]),
        ("loss_v2.bias_loss", &[|c| c.loss_v2.bias_loss = 1.0]),
        ("loss_v2.bias_smoothing", &[|c| c.loss_v2.bias_smoothing = 0.0]),
        ("loss_v2.bound_loss", &[|c| c.loss_v2.bound_loss = 1.0]),
        ("loss_v2.bound_balance", &[|c| c.loss_v2.bound_balance = DataRate::ZERO]),
        ("loss_v2.least_of_acknowledged", &[|c| c.loss_v2.least_of_acknowledged = -0.1]),
        ("loss_v2.increase", &[|c| c.loss_v2.increase = 0.0]),
        ("loss_v2.increase_window", &[|c| c.loss_v2.increase_window = ZERO]),
        ("loss_v2.ramp_up", &[|c| c.loss_v2.ramp_up = 1.0, |c| c.loss_v2.ramp_up_in_hold = 1.0]),
        ("loss_v2.hold_threshold", &[|c| c.loss_v2.hold_threshold = -0.1]),
        ("loss_v2.hold_factor", &[|c| c.loss_v2.hold_factor = -0.1]),
    ];
    assert_named(wrong);
}

#[test]
fn constants_of_back_off_and_probing_out_of_range_are_named() {
    let wrong: &[(&str, &[Change])] = &[
        ("rtt_backoff.limit", &[|c| c.rtt_backoff.limit = ZERO]),
        ("rtt_backoff.factor", &[|c| c.rtt_backoff.factor = 0.0, |c| c.rtt_backoff.factor = 1.0]),
        ("rtt_backoff.silence_factor", &[|c| c.rtt_backoff.silence_factor = 1.0]),
        ("rtt_backoff.interval", &[|c| c.rtt_backoff.interval = MS / 2]),
        ("alr.usage", &[|c| c.alr.usage = 0.0]),
        ("alr.window", &[|c| c.alr.window = ZERO]),
        ("alr.start", &[|c| c.alr.start = 0.49, |c| c.alr.stop = -1.1]),
        ("probing.initial", &[|c| c.probing.initial = [3.0, 0.0]]),
        ("probing.further_step", &[|c| c.probing.further_step = 0.0, |c| c.probing.further_threshold = 0.0]),
        ("probing.alr_scale", &[|c| c.probing.alr_scale = 0.0, |c| c.probing.loss_limited_scale = 0.0]),
        (
            "probing.allocation",
            &[|c| c.probing.allocation = [0.0, 1.0], |c| c.probing.allocation_bound = 0.0],
        ),
        ("probing.allocation_estimate_bound", &[|c| c.probing.allocation_estimate_bound = 0.0]),
        ("probing.wait", &[|c| c.probing.wait = MS / 2, |c| c.probing.repeat_duration = ZERO]),
        ("probing.recovery", &[|c| c.probing.recovery.drop = 0.0, |c| c.probing.recovery.uncertainty = 1.0]),
        (
            "probe_result.min_received",
            &[|c| c.probe_result.min_received = -0.1, |c| c.probe_result.drop_share = 1.1],
        ),
        ("probe_result.longest", &[|c| c.probe_result.longest = ZERO]),
        ("probe_result.max_ratio", &[|c| c.probe_result.max_ratio = 0.0]),
    ];
    assert_named(wrong);
}

#[test]
fn the_ends_of_closed_ranges_are_accepted() {
    let right: &[Change] = &[
        |c| c.burst_time = ZERO,
        |c| c.longest_burst = ZERO,
        |c| c.threshold_max = 6.0,
        |c| c.overuse_time = ZERO,
        |c| c.pacing_factor = 1.0,
        |c| c.process_interval = MS,
        |c| c.report_patience = ZERO,
        |c| c.feedback_interval = MS,
        |c| c.trendline.window = 200,
        |c| c.trendline.smoothing = 0.0,
        |c| c.trendline.scale_cap = 1,
        |c| c.aimd.least_increase = 0.0,
        |c| c.aimd.additive = Additive::Slope { least: 0.0 },
        |c| c.aimd.bound = ReceiveRateBound::Limit { margin: 0.0 },
        |c| c.aimd.bound_factor = 1.0,
        |c| c.aimd.link_capacity.smoothing = 1.0,
        |c| c.aimd.link_capacity.deviations = 0.0,
        |c| c.aimd.link_capacity.most_variance = 0.4,
        |c| c.throughput.required_packets = 20,
        |c| c.throughput.window_packets = 500,
        |c| c.throughput.max_packets = 1000,
        |c| c.throughput.max_window = MS * 1000,
        |c| c.loss_v1.high = 0.02,
        |c| c.loss_v1.increase = 1.0,
        |c| c.loss_v1.increase_step = 0.0,
        |c| c.loss_v1.interval = ZERO,
        |c| c.loss_v1.max_age = ZERO,
        |c| c.loss_v2.window = 32,
        |c| c.loss_v2.min_observations = 1,
        |c| c.loss_v2.weight = 1.0,
        |c| c.loss_v2.median_factor = 0.0,
        |c| c.loss_v2.inherent_loss_offset = 1e-3,
        |c| c.loss_v2.hold_factor = 0.0,
        |c| c.rtt_backoff.interval = MS,
        |c| c.alr.stop = 0.8,
        |c| c.probing.wait = MS,
        |c| c.probe_result.min_received = 1.0,
    ];
    for (n, change) in right.iter().enumerate() {
        assert_eq!(judged(*change), Ok(()), "change {n}");
    }
}
