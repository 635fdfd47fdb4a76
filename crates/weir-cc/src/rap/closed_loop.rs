//! The RAP controller (`rap::Rap`, RAP of INFOCOM 1999) with its receiver half over a simulated bottleneck.

use weir_units::{DataRate, TimeDelta};

use super::{Config, Rap, receiver};
use crate::testing::{Loop, PacketSource, usual_limits as limits};

const CAPACITY: DataRate = DataRate::from_mbps(1);

fn path(config: Config, source: PacketSource, capacity: DataRate) -> Loop {
    Loop::new(Rap::new(config, limits()).unwrap(), receiver(&config).unwrap(), source, capacity)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[test]
fn alone_it_takes_most_of_the_link() {
    let fine_grained = Config { fine_grain: true, ..Config::default() };
    for config in [Config::default(), Config::ns2(), fine_grained] {
        for source in [PacketSource::STEADY, PacketSource::VIDEO] {
            let rates = path(config, source, CAPACITY).run(TimeDelta::from_secs(90), Loop::target_rate);
            let last = mean(&rates[60_000..]) / CAPACITY.bps_f64();
            assert!((0.7..1.1).contains(&last), "{last} of the capacity, {config:?}");
        }
    }
}

#[test]
fn without_loss_the_rate_grows_in_a_straight_line() {
    let mut path = path(Config::default(), PacketSource::STEADY, DataRate::from_mbps(100));
    path.run(TimeDelta::from_secs(1), |_| ());
    let before = path.target_rate();
    path.run(TimeDelta::from_secs(1), |_| ());
    let grown = path.target_rate() - before;
    // One packet of 9600 bits per round trip of 50 ms, added every 50 ms: 20 · 192 kbit/s in one second.
    let expected = 20.0 * 192e3;
    // The rate may also have reached the maximum, 2.5 Mbit/s, where it grows no further.
    assert!(path.target_rate() >= 2.5e6 || (grown / expected - 1.0).abs() < 0.1, "{grown} bit/s");
}

#[test]
fn one_overflow_of_the_queue_halves_the_rate_once() {
    let mut path = path(Config::default(), PacketSource::STEADY, CAPACITY);
    let rates = path.run(TimeDelta::from_secs(60), Loop::target_rate);
    let drops: Vec<f64> =
        rates.windows(2).filter(|pair| pair[1] < pair[0]).map(|pair| pair[1] / pair[0]).collect();
    assert!(drops.len() > 3, "{drops:?}");
    assert!(drops.iter().all(|drop| (drop - 0.5).abs() < 0.01), "{drops:?}");
    // A packet sent after the reduction can still find the queue full. Its loss may reduce the rate again, but no report
    // shows it within 300 ms.
    let times: Vec<usize> = (1..rates.len()).filter(|&ms| rates[ms] < rates[ms - 1]).collect();
    assert!(times.windows(2).all(|pair| pair[1] - pair[0] > 300), "{times:?}");
}

#[test]
fn after_five_seconds_without_feedback_the_rate_is_low_and_comes_back() {
    let mut path = path(Config::default(), PacketSource::STEADY, CAPACITY);
    path.run(TimeDelta::from_secs(20), |_| ());
    let before = path.target_rate();
    path.feedback_cut = true;
    path.run(TimeDelta::from_secs(5), |_| ());
    assert!(path.target_rate() < before / 4.0, "{} of {before} bit/s", path.target_rate());
    path.feedback_cut = false;
    let after = path.run(TimeDelta::from_secs(30), Loop::target_rate);
    assert!(mean(&after[15_000..]) > 0.7 * CAPACITY.bps_f64(), "{} bit/s", mean(&after[15_000..]));
}
