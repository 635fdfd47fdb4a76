//! gcc over a bottleneck.

use weir_units::{DataRate, TimeDelta};

use super::{Config, GoogCc};
use crate::controller::RateLimits;
use crate::gcc::blocks::probe_controller::{PeriodicProbes, ProbeControllerConfig};
use crate::packet_feedback::PacketFeedback;
use crate::testing::{Loop, PacketSource};

fn path(config: &Config, source: PacketSource, start: u64, capacity: u64) -> Loop {
    let kbps = DataRate::from_kbps;
    let limits = RateLimits::new(kbps(30), kbps(start), kbps(8000)).unwrap();
    let sender = GoogCc::new(*config, limits).unwrap();
    Loop::new(sender, PacketFeedback::new(config.feedback_interval), source, kbps(capacity))
}

fn seconds(seconds: i64) -> TimeDelta {
    TimeDelta::from_secs(seconds)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The mean target rate of the next `span` as a share of the capacity.
fn share_of_capacity(path: &mut Loop, span: TimeDelta) -> f64 {
    let capacity = path.capacity().bps_f64();
    mean(&path.run(span, |path| path.target_rate().min(capacity))) / capacity
}

const BOTH: [fn() -> Config; 2] = [Config::libwebrtc_2025, Config::libwebrtc_2024_12];

/// Without bursts each packet waits for its time: the path sees the rate alone.
fn without_bursts(config: fn() -> Config) -> Config {
    Config { pacing_burst: TimeDelta::ZERO, ..config() }
}

#[test]
fn probes_take_a_flow_to_the_capacity_within_a_second_and_it_stays_there() {
    for config in BOTH {
        for source in [PacketSource::STEADY, PacketSource::VIDEO] {
            let mut path = path(&without_bursts(config), source, 300, 3000);
            path.run(seconds(1), Loop::target_rate);
            let share = share_of_capacity(&mut path, seconds(1));
            assert!(share > 0.9, "{share} in the second second");
            path.run(seconds(3), Loop::target_rate);
            let share = share_of_capacity(&mut path, seconds(25));
            assert!(share > 0.88, "{share}");
            assert_eq!(path.dropped, 0);
        }
    }
}

#[test]
fn a_start_at_four_times_the_capacity_has_drained_within_five_seconds() {
    for config in BOTH {
        for source in [PacketSource::STEADY, PacketSource::VIDEO] {
            let mut path = path(&without_bursts(config), source, 4000, 1000);
            path.run(seconds(5), Loop::target_rate);
            let longest = path.run(seconds(5), Loop::queuing_delay).into_iter().max().unwrap();
            assert!(longest < TimeDelta::from_millis(50), "{longest:?}");
            let share = share_of_capacity(&mut path, seconds(20));
            assert!(share > 0.8, "{share}");
        }
    }
}

#[test]
fn bursts_cost_a_little_of_a_steady_capacity_and_time_to_drain_a_full_queue() {
    for config in BOTH {
        let mut steady = path(&config(), PacketSource::VIDEO, 300, 3000);
        steady.run(seconds(5), Loop::target_rate);
        let share = share_of_capacity(&mut steady, seconds(25));
        assert!(share > 0.87, "{share}");
        let mut full = path(&config(), PacketSource::VIDEO, 4000, 1000);
        full.run(seconds(10), Loop::target_rate);
        let longest = full.run(seconds(5), Loop::queuing_delay).into_iter().max().unwrap();
        // A frame is 33 ms of the link.
        assert!(longest < TimeDelta::from_millis(40), "{longest:?}");
        let share = share_of_capacity(&mut full, seconds(20));
        assert!(share > 0.8, "{share}");
    }
}

#[test]
fn a_twentieth_of_random_loss_costs_little() {
    for config in BOTH {
        let mut path = path(&config(), PacketSource::VIDEO, 300, 3000);
        path.random_loss = 0.05;
        path.run(seconds(5), Loop::target_rate);
        let share = share_of_capacity(&mut path, seconds(25));
        assert!(share > 0.75, "{share}");
        let loss = path.sender_signal("loss");
        assert!((0.02..0.09).contains(&loss), "{loss}");
    }
}

#[test]
fn heavy_random_loss_limits_the_rate() {
    let mut path = path(&Config::default(), PacketSource::STEADY, 300, 3000);
    path.random_loss = 0.3;
    path.run(seconds(10), Loop::target_rate);
    let share = share_of_capacity(&mut path, seconds(10));
    assert!(share < 0.3, "{share}");
}

#[test]
fn a_fall_of_the_capacity_is_followed_within_seconds() {
    let mut path = path(&Config::default(), PacketSource::VIDEO, 300, 3000);
    path.run(seconds(10), Loop::target_rate);
    path.set_capacity(DataRate::from_kbps(1000));
    path.run(seconds(5), Loop::target_rate);
    let longest = path.run(seconds(3), Loop::queuing_delay).into_iter().max().unwrap();
    assert!(longest < TimeDelta::from_millis(60), "{longest:?}");
    let share = share_of_capacity(&mut path, seconds(20));
    assert!((0.8..1.05).contains(&share), "{share}");
}

#[test]
fn a_limited_source_is_noticed_and_the_path_behind_it_probed() {
    let probing = ProbeControllerConfig { alr_periodic: PeriodicProbes::Always, ..Config::default().probing };
    let mut path = path(&Config { probing, ..Config::default() }, PacketSource::STEADY, 300, 3000);
    path.source_limit = DataRate::from_kbps(200);
    path.run(seconds(3), Loop::target_rate);
    assert_eq!(path.sender_signal("ALR"), 1.0);
    path.run(seconds(20), Loop::target_rate);
    assert!(path.target_rate() > 2e6, "{}: far above 1.5 times the 200 kbit/s that flow", path.target_rate());
    path.source_limit = DataRate::MAX;
    path.run(seconds(2), Loop::target_rate);
    let share = share_of_capacity(&mut path, seconds(5));
    assert!(share > 0.75, "{share}");
}

#[test]
fn after_five_seconds_without_feedback_the_rate_is_low_and_comes_back() {
    let mut path = path(&Config::default(), PacketSource::VIDEO, 300, 3000);
    path.run(seconds(10), Loop::target_rate);
    let before = path.target_rate();
    path.feedback_cut = true;
    path.run(seconds(5), Loop::target_rate);
    let silent = path.target_rate();
    assert!(silent < 0.51 * before, "{silent} of {before} bit/s");
    path.feedback_cut = false;
    path.run(seconds(5), Loop::target_rate);
    let share = share_of_capacity(&mut path, seconds(20));
    assert!(share > 0.7, "{share}");
}
