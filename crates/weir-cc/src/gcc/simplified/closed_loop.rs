//! The simplified GCC over a bottleneck.

use weir_units::{DataRate, TimeDelta};

use super::{Config, SimplifiedGccReceiver, SimplifiedGccSender, UpdateTimes};
use crate::testing::{Loop, PacketSource, usual_limits as limits};

const CAPACITY: DataRate = DataRate::from_kbps(1500);

fn path(config: Config) -> Loop {
    let receiver = SimplifiedGccReceiver::new(config, limits()).unwrap();
    Loop::new(SimplifiedGccSender::new(config, limits()).unwrap(), receiver, PacketSource::STEADY, CAPACITY)
}

/// Rates in bit/s and queuing delays in ms of the minute after the first.
fn second_minute(config: Config) -> (Vec<f64>, Vec<f64>) {
    let mut path = path(config);
    path.run(TimeDelta::from_secs(60), Loop::target_rate);
    path.run(TimeDelta::from_secs(60), |p| (p.target_rate(), p.queuing_delay().millis_f64()))
        .into_iter()
        .unzip()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn largest(values: &[f64]) -> f64 {
    values.iter().copied().fold(0.0, f64::max)
}

#[test]
fn the_rate_swings_about_the_capacity_and_the_queue_with_it() {
    let (rates, delays) = second_minute(Config::default());
    let rate = mean(&rates) / CAPACITY.bps_f64();
    assert!((0.8..1.0).contains(&rate), "{rate}");
    // dccc-2017 §V-D: no equilibrium; the largest delay is far above the mean.
    let (low, high) = (rates.iter().copied().fold(f64::INFINITY, f64::min), largest(&rates));
    assert!(high > CAPACITY.bps_f64() && low < 0.9 * CAPACITY.bps_f64(), "{low} to {high} bit/s");
    assert!(largest(&delays) > 2.0 * mean(&delays), "{} and {} ms", largest(&delays), mean(&delays));
    assert!(mean(&delays) < 50.0, "{} ms", mean(&delays));
}

#[test]
fn each_option_follows_the_capacity() {
    for config in [
        Config { strict_under: true, ..Config::default() },
        Config { remb_drop: None, ..Config::default() },
        Config { update: UpdateTimes::Tick, ..Config::default() },
    ] {
        let (rates, _) = second_minute(config);
        let rate = mean(&rates) / CAPACITY.bps_f64();
        assert!((0.6..1.05).contains(&rate), "{config:?}: {rate}");
    }
}
