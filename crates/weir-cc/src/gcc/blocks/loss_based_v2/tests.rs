//! The loss-based estimate (libwebrtc's `LossBasedBweV2`) against numbers worked by hand, and its bounds.

use weir_units::{DataRate, DataSize};

use super::*;
use crate::packet::{Ecn, PacketFate, SentPacket};
use crate::time::ArrivalTime;

const PACKET: u64 = 1000;
const NO_LOSS: f64 = 0.0;

fn limits() -> RateLimits {
    let kbps = DataRate::from_kbps;
    RateLimits::new(kbps(5), kbps(300), kbps(10_000)).unwrap()
}

/// The result of a packet of 1000 bytes that left at `at_ms`.
fn result(id: u64, at_ms: i64, fate: PacketFate) -> PacketResult {
    let size = DataSize::from_bytes(PACKET);
    let at = SendTime::from_millis(at_ms);
    PacketResult { sent: SentPacket::new(id, at, size), fate }
}

const ARRIVED: PacketFate = PacketFate::Arrived { at: Some(ArrivalTime::ZERO), ecn: Ecn::NotEct };
const RECOVERED: PacketFate = PacketFate::Recovered { at: Some(ArrivalTime::ZERO), ecn: Ecn::NotEct };

/// An estimator that is fed by observations of 250 ms each.
struct Path {
    loss: LossBasedV2,
    next: u64,
    now_ms: i64,
}

impl Path {
    fn new(config: LossV2Config) -> Self {
        let mut loss = LossBasedV2::new(config, limits());
        // The first packet only begins the first observation.
        loss.update(&[result(0, 0, ARRIVED)], 1e6, false);
        Self { loss, next: 1, now_ms: 0 }
    }

    /// 250 ms in which `sent` packets of 1000 bytes leave, of which `lost` do not arrive.
    fn observe(&mut self, sent: u64, lost: u64, delay_based: f64) -> (f64, LossState) {
        let results: Vec<_> = (1..=sent)
            .map(|n| {
                let fate = if n <= lost { PacketFate::Missing } else { ARRIVED };
                result(self.next + n, self.now_ms + (250 * n / sent) as i64, fate)
            })
            .collect();
        self.next += sent;
        self.now_ms += 250;
        self.loss.update(&results, delay_based, false);
        (self.loss.estimate, self.loss.state)
    }
}

#[test]
fn the_constants_of_both_dates_are_within_range() {
    for config in [LossV2Config::libwebrtc_2024_12(), LossV2Config::libwebrtc_2025()] {
        assert_eq!(config.rules().iter().find(|rule| !rule.1), None);
    }
    let wrong = LossV2Config { window: 33, ..LossV2Config::default() };
    assert_eq!(wrong.rules().iter().find(|rule| !rule.1).map(|rule| rule.0), Some("window"));
}

#[test]
fn three_observations_of_a_quarter_second_are_needed() {
    let mut path = Path::new(LossV2Config::default());
    path.observe(25, 0, 1e6);
    path.observe(25, 0, 1e6);
    assert_eq!(path.loss.result(), None);
    // Shorter than 250 ms: none.
    path.loss.update(&[result(999, 700, ARRIVED)], 1e6, false);
    assert_eq!(path.loss.result(), None);
    path.observe(25, 0, 1e6);
    assert_eq!(path.loss.result(), Some((1e6, LossState::DelayBased)));
}

#[test]
fn without_loss_the_delay_based_estimate_decides() {
    let mut path = Path::new(LossV2Config::default());
    for step in 0..20 {
        let delay_based = 1e6 + 50e3 * f64::from(step);
        assert_eq!(path.observe(25, 0, delay_based), (delay_based, LossState::DelayBased));
    }
    assert_eq!(path.observe(25, 0, 700e3), (700e3, LossState::DelayBased));
}

#[test]
fn the_average_leaves_out_the_highest_and_the_lowest() {
    let mut path = Path::new(LossV2Config::default());
    for lost in [0, 1, 2] {
        path.observe(10, lost, 1e6);
    }
    // Three only: 10·(0.81 + 0.9 + 1), the first observation holding the packet at 0 ms too: 0.81 more;
    // lost 0.9 + 2: 2.9/27.91.
    assert!((path.loss.average_loss() - 2.9 / 27.91).abs() < 1e-12);
    path.observe(10, 5, 1e6);
    // Without the last (10, 5) and the first (0.729·11, 0): sent 8.1 + 9, lost 0.81 + 1.8.
    assert!((path.loss.average_loss() - 2.61 / 17.1).abs() < 1e-12);
}

#[test]
fn the_highest_loss_counts_where_much_more_was_sent_than_usual() {
    let mut path = Path::new(LossV2Config::default());
    for _ in 0..3 {
        path.observe(10, 0, 1e6);
    }
    path.observe(22, 11, 1e6);
    // 704 kbit/s are more than twice the median of 320 and 352 (the first has 11 packets): 336.
    // Lost: 11 of 22 + 9 + 8.1 + 0.729·11.
    assert!((path.loss.average_loss() - 11.0 / (22.0 + 9.0 + 8.1 + 8.019)).abs() < 1e-12);
}

#[test]
fn by_packets_the_average_is_plain() {
    let mut path = Path::new(LossV2Config::libwebrtc_2024_12());
    for lost in [0, 0, 0, 5] {
        path.observe(10, lost, 1e6);
    }
    assert!((path.loss.average_loss() - 5.0 / (10.0 * (1.0 + 0.9 + 0.81) + 8.019)).abs() < 1e-12);
}

#[test]
fn a_packet_that_comes_after_all_takes_its_loss_back() {
    let mut path = Path::new(LossV2Config::default());
    path.loss.update(&[result(1, 100, PacketFate::Missing), result(2, 110, PacketFate::Missing)], 1e6, false);
    path.loss.update(&[result(1, 100, RECOVERED), result(3, 250, ARRIVED)], 1e6, false);
    // Lost: the second; the first counts twice among those sent: 0, 1, 2, 1, 3.
    assert!((path.loss.average_loss() - 0.2).abs() < 1e-12);
}

#[test]
fn heavy_loss_bounds_the_estimate_by_the_average() {
    // A quarter lost: 100/(0.25 − 0.05) = 500 kbit/s; in 2024 75/0.2 = 375.
    for (config, bound) in
        [(LossV2Config::libwebrtc_2025(), 500e3), (LossV2Config::libwebrtc_2024_12(), 375e3)]
    {
        let mut path = Path::new(config);
        let mut last = (0.0, LossState::DelayBased);
        for _ in 0..20 {
            last = path.observe(40, 10, 1.5e6);
        }
        assert!((path.loss.average_loss() - 0.25).abs() < 0.01);
        assert!(last.0 <= bound * 1.05 && last.1 == LossState::Decreasing, "{last:?}");
    }
}

#[test]
fn the_acknowledged_rate_is_the_lowest_estimate_of_2025() {
    let mut path = Path::new(LossV2Config::libwebrtc_2025());
    path.loss.set_acknowledged(800e3);
    for _ in 0..20 {
        assert!(path.observe(40, 20, 1.5e6).0 >= 800e3);
    }
    let mut before = Path::new(LossV2Config::libwebrtc_2024_12());
    before.loss.set_acknowledged(800e3);
    let last = (0..20).map(|_| before.observe(40, 20, 1.5e6).0).last().unwrap();
    // 75/(0.5 − 0.05) = 167.
    assert!(last < 175e3, "{last}");
}

#[test]
fn a_little_random_loss_does_not_limit() {
    let mut path = Path::new(LossV2Config::default());
    path.loss.set_acknowledged(980e3);
    // 1.28 Mbit/s, one packet in 40 lost: 2.5 %, below the 5 % that the inherent loss may explain.
    let last = (0..40).map(|_| path.observe(40, 1, 1.2e6)).last().unwrap();
    assert_eq!(last, (1.2e6, LossState::DelayBased));
}

#[test]
fn the_model_loses_what_is_sent_above_the_bandwidth() {
    let channel = Channel { bandwidth: 800e3, inherent_loss: 0.1 };
    assert_eq!(channel.loss_probability(700e3), 0.1);
    // 0.1 + 0.9·(1000 − 800)/1000 = 0.28.
    assert!((channel.loss_probability(1e6) - 0.28).abs() < 1e-12);
    assert_eq!(Channel { inherent_loss: 0.0, ..channel }.loss_probability(1.0), 1e-6);
    assert_eq!(Channel { bandwidth: 0.0, ..channel }.loss_probability(1e6), 1.0 - 1e-6);
}

#[test]
fn a_window_of_two_has_a_loss_too() {
    let mut path = Path::new(LossV2Config { window: 2, ..LossV2Config::default() });
    for _ in 0..8 {
        path.observe(40, 4, 1e6);
    }
    assert!((path.loss.average_loss() - 0.1).abs() < 1e-9, "{}", path.loss.average_loss());
}

#[test]
fn one_step_of_newton_and_the_objective_follow_their_definitions() {
    let config = LossV2Config { by_bytes: false, ..LossV2Config::default() };
    let mut path = Path::new(config);
    path.observe(24, 2, 1e6);
    path.observe(50, 10, 1e6);
    // Observations: 25 packets (2 lost) at 800 kbit/s, weight 0.9; 50 (10 lost) at 1600 kbit/s, weight 1.
    let average = path.loss.average_loss();
    let model = LikelihoodModel::new(&config, &path.loss.observations, average);
    let start = Channel { bandwidth: 1e6, inherent_loss: 0.05 };
    // P = 0.05 and 0.05 + 0.95·0.375 = 0.40625.
    // f′ = 0.9·(2/0.05 − 23/0.95) + 10/0.40625 − 40/0.59375 = 14.2105263 + 24.6153846 − 67.3684211 = −28.5425101
    // f″ = −[0.9·(2/0.0025 + 23/0.9025) + 10/0.1650390625 + 40/0.3525390625]
    //    = −[742.9362881 + 60.5917160 + 113.4626039] = −916.9906079
    // p = 0.05 − 0.75·28.5425101/916.9906079 = 0.0266556
    let fitted = model.fit(&start);
    assert!((fitted.inherent_loss - 0.026_655_6).abs() < 1e-6, "{fitted:?}");
    let direct = |channel: &Channel| -> f64 {
        let below = config.bias_loss - average;
        let g = below / (config.bias_smoothing + below.abs());
        let kbps = (channel.bandwidth / 1e3).round();
        let bias = g * (config.bias * kbps + config.log_bias * libm::log(1.0 + kbps));
        [(0.9, 2.0, 23.0, 800e3), (1.0, 10.0, 40.0, 1600e3)]
            .iter()
            .map(|&(weight, lost, received, rate)| {
                let loss = channel.loss_probability(rate);
                let likelihood = lost * libm::log(loss) + received * libm::log(1.0 - loss);
                weight * (likelihood + bias * (lost + received))
            })
            .sum()
    };
    for channel in [start, fitted, Channel { bandwidth: 10.0, ..start }, Channel { bandwidth: 9e6, ..start }]
    {
        assert!((model.objective(&channel) - direct(&channel)).abs() < 1e-9 * direct(&channel).abs());
    }
}

#[test]
fn a_hold_lasts_twice_as_long_each_time_until_delay_limits_again() {
    let mut path = Path::new(LossV2Config::default());
    path.loss.set_acknowledged(400e3);
    for _ in 0..4 {
        path.observe(40, 0, 1.28e6);
    }
    while path.observe(40, 16, 1.28e6).1 != LossState::Decreasing {}
    assert_eq!(path.loss.hold.duration, TimeDelta::from_millis(600));
    let held = path.loss.hold.rate;
    // Without loss it may not exceed the rate of the hold while that lasts.
    let (estimate, state) = path.observe(40, 0, 1.28e6);
    assert!(estimate <= held && state == LossState::Decreasing, "{estimate} {state:?}");
    let mut seen = Vec::new();
    for _ in 0..60 {
        seen.push(path.observe(40, 0, 1.28e6).1);
        path.loss.set_acknowledged(path.loss.estimate);
    }
    assert!(seen.contains(&LossState::IncreasingWithPadding));
    assert_eq!(seen.last(), Some(&LossState::DelayBased));
    assert_eq!(path.loss.hold.duration, INITIAL_HOLD, "back to the beginning");
}

#[test]
fn growth_under_loss_is_bounded_by_the_acknowledged_rate_and_per_window() {
    let mut path = Path::new(LossV2Config::default());
    path.loss.set_acknowledged(300e3);
    for _ in 0..20 {
        path.observe(40, 20, 2e6);
    }
    let mut before = path.loss.estimate;
    for _ in 0..40 {
        let (estimate, state) = path.observe(40, 0, 2e6);
        if state != LossState::DelayBased {
            assert!(estimate <= before.max(1.5 * 300e3) * 1.3 + 1.0, "{before} → {estimate}");
            assert!(
                estimate <= 450e3 + 1.0 || estimate <= before,
                "1.5 times the acknowledged rate: {estimate}"
            );
        }
        before = estimate;
    }
}

#[test]
fn a_clock_set_back_does_not_end_observing() {
    let mut path = Path::new(LossV2Config::default());
    for _ in 0..4 {
        path.observe(25, 0, 1e6);
    }
    path.now_ms = -3_600_000;
    let before = path.loss.observations.count();
    for _ in 0..4 {
        path.observe(25, 0, 900e3);
    }
    assert!(path.loss.observations.count() >= before + 3);
    assert_eq!(path.loss.estimate, 900e3);
    assert_eq!(path.loss.average_loss(), NO_LOSS);
}

#[test]
fn coupling_scales_the_delay_based_rate_that_bounds_the_estimate() {
    let mut path = Path::new(LossV2Config::default());
    path.observe(40, 0, 800e3);
    assert_eq!(path.loss.delay_based, 800e3);
    path.loss.scale(0.5);
    assert_eq!(path.loss.delay_based, 400e3);
}

#[test]
fn neither_a_hold_nor_a_growth_window_pulls_a_scaled_rate_back() {
    // No loss now, but a hold of a minute at 500 kbit/s, and growth to 650 kbit/s at most.
    let held = || {
        let mut path = Path::new(LossV2Config::default());
        path.loss.set_acknowledged(1e6);
        for _ in 0..4 {
            path.observe(40, 0, 500e3);
        }
        let now = SendTime::from_millis(path.now_ms);
        path.loss.state = LossState::Decreasing;
        path.loss.hold = Hold { until: Some(now + MAX_HOLD), duration: MAX_HOLD, rate: 500e3 };
        path.loss.growth = GrowthWindow { since: Some(now), bound: 650e3 };
        path.loss.config.least_of_acknowledged = 0.0;
        path
    };
    assert_eq!(held().observe(40, 0, 1.28e6), (500e3, LossState::Decreasing));
    let mut path = held();
    path.loss.scale(1.8);
    let (rate, state) = path.observe(40, 0, 1.28e6);
    assert!((rate - 900e3).abs() < 2.0 && state == LossState::Decreasing, "{rate} {state:?}");
    // A lower allocation scales the bounds of the rate as well: 900/3, and 650·1.8/3.
    path.loss.scale(1.0 / 3.0);
    assert!((path.loss.hold.rate - 300e3).abs() < 1e-6 && (path.loss.growth.bound - 390e3).abs() < 1e-6);
    let (rate, state) = path.observe(40, 0, 1.28e6);
    assert!((rate - 300e3).abs() < 2.0 && state == LossState::Decreasing, "{rate} {state:?}");
}

#[test]
fn a_hold_ends_at_its_end_or_when_the_clock_was_set_back() {
    let at = SendTime::from_millis;
    let hold = Hold { until: Some(at(1000)), duration: TimeDelta::from_millis(600), rate: 1e6 };
    assert_eq!([399, 400, 999, 1000].map(|ms| hold.lasts(at(ms))), [false, true, true, false]);
    assert!(!Hold::NONE.lasts(at(0)));
    let padding = PaddingPeriod { rate: 1e6, since: Some(at(0)) };
    let lasts = |ms| padding.lasts(at(ms), TimeDelta::from_secs(2));
    assert_eq!([-2001, -2000, 2000, 2001].map(lasts), [false, true, true, false]);
    assert!(!PaddingPeriod::default().lasts(at(0), TimeDelta::from_secs(2)));
}

#[test]
fn departures_two_seconds_back_are_late_and_further_back_the_clock_was_set() {
    let mut path = Path::new(LossV2Config::default());
    let mut after = |ms: i64| {
        path.loss.update(&[result(1, ms, ARRIVED)], 1e6, false);
        path.loss.observations.last().map(|last| last.nanos() / 1_000_000)
    };
    assert_eq!(after(-2000), Some(0));
    assert_eq!(after(-2001), Some(-2001));
    // 249 ms later no observation is complete yet; 250 ms later the last two packets are.
    assert_eq!(after(-1752), Some(-2001));
    assert_eq!(after(-1751), Some(-1751));
    let observations: Vec<_> = path.loss.observations.weighted().collect();
    // 2000 bytes in 250 ms: 64 kbit/s.
    let [(weight, observation)] = observations[..] else { panic!("one observation") };
    assert_eq!((weight, observation.received, observation.rate), (1.0, 2.0, 64e3));
}

#[test]
fn an_equal_rate_is_growth_where_it_grew_before_and_no_loss_limits_at_the_maximum() {
    let mut loss = LossBasedV2::new(LossV2Config::default(), limits());
    for (state, grows) in [
        (LossState::DelayBased, [false, false, false]),
        (LossState::Decreasing, [false, false, true]),
        (LossState::Increasing, [false, true, true]),
        (LossState::IncreasingWithPadding, [false, true, true]),
    ] {
        loss.state = state;
        assert_eq!([0.9e6, 1e6, 1.1e6].map(|to| loss.is_growing(1e6, to)), grows, "{state:?}");
    }
    // The maximum is 10 Mbit/s.
    let mut state_at = |bounded: f64, delay_based: f64| {
        (loss.state, loss.delay_based) = (LossState::DelayBased, delay_based);
        loss.change_state(bounded, SendTime::ZERO);
        loss.state
    };
    assert_eq!(state_at(10e6, 20e6), LossState::DelayBased);
    assert_eq!(state_at(9.9e6, 20e6), LossState::Decreasing);
    assert_eq!(state_at(2e6, 2e6), LossState::DelayBased);
    assert_eq!(state_at(1.9e6, 2e6), LossState::Decreasing);
}

#[test]
fn limits_growth_window_and_acknowledged_rate_bound_the_estimate() {
    let (at, kbps) = (SendTime::from_millis, DataRate::from_kbps);
    let mut loss = LossBasedV2::new(LossV2Config::libwebrtc_2025(), limits());
    // Growth ends at 600 kbit/s for 300 ms.
    loss.growth = GrowthWindow { since: Some(at(0)), bound: 600e3 };
    assert_eq!(loss.bound_growth(500e3, 700e3, at(299)), 600e3);
    assert_eq!(loss.bound_growth(500e3, 700e3, at(300)), 700e3);
    // In 2025 the model's bandwidth is no lower than the acknowledged rate.
    loss.set_acknowledged(800e3);
    let best = Channel { bandwidth: 500e3, inherent_loss: 0.01 };
    assert_eq!(loss.settle(best, 800e3).bandwidth, 800e3);
    loss.config.least_of_acknowledged = 0.0;
    assert_eq!(loss.settle(best, 800e3).bandwidth, 500e3);
    loss.set_limits(RateLimits::new(kbps(50), kbps(300), kbps(2000)).unwrap());
    assert_eq!((loss.bound(5e6), loss.bound(1e3)), (2e6, 50e3));
}
