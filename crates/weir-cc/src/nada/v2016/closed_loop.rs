//! nada-2016 over a bottleneck.

use weir_units::{DataRate, TimeDelta};

use super::{Config, Nada2016, Nada2016Observer, at_sender};
use crate::at_receiver::AtReceiver;
use crate::packet_feedback::PacketFeedback;
use crate::testing::{Loop, PacketSource, usual_limits as limits};

fn path(config: Config, capacity: u64) -> Loop {
    let receiver = AtReceiver::new(Nada2016Observer::new(config).unwrap());
    Loop::new(
        Nada2016::new(config, limits()).unwrap(),
        receiver,
        PacketSource::STEADY,
        DataRate::from_kbps(capacity),
    )
}

fn seconds(path: &mut Loop, seconds: i64) -> Vec<f64> {
    path.run(TimeDelta::from_secs(seconds), Loop::target_rate)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Standard deviation over mean.
fn variation(values: &[f64]) -> f64 {
    let mean = mean(values);
    let variance =
        values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / values.len() as f64;
    variance.sqrt() / mean
}

#[test]
fn the_rate_settles_where_rate_and_signal_multiply_to_the_reference() {
    for (config, x_ref) in [(Config::nada_2016(), 20.0), (Config::reproduction(), 10.0)] {
        let mut path = path(config, 1500);
        seconds(&mut path, 60);
        let pairs =
            path.run(TimeDelta::from_secs(10), |path| (path.target_rate(), path.receiver_signal("x_n")));
        let rate = mean(&pairs.iter().map(|pair| pair.0).collect::<Vec<_>>());
        let x_n = mean(&pairs.iter().map(|pair| pair.1).collect::<Vec<_>>());
        assert!((rate / 1500e3 - 1.0).abs() < 0.05, "{rate} bit/s");
        // eq. (9): x_n = x_ref·2500/1500.
        assert!((rate * x_n / (x_ref * 2500e3) - 1.0).abs() < 0.1, "{rate} bit/s, {x_n} ms");
    }
}

#[test]
fn below_the_rate_whose_signal_would_be_50_ms_it_oscillates() {
    // d̃ is never above 50 ms: at x_ref = 10 there is no equilibrium below 2500·10/50 = 500 kbit/s.
    let spread = |capacity| {
        let mut path = path(Config::reproduction(), capacity);
        seconds(&mut path, 60);
        variation(&seconds(&mut path, 60))
    };
    let (calm, wild) = (spread(1000), spread(400));
    assert!(wild > 5.0 * calm && wild > 0.1, "{calm} and {wild}");
}

#[test]
fn after_a_fall_of_capacity_the_rate_follows() {
    for config in [Config::nada_2016(), Config::reproduction(), Config::framework()] {
        let mut path = path(config, 2000);
        seconds(&mut path, 30);
        path.set_capacity(DataRate::from_kbps(800));
        seconds(&mut path, 10);
        let after = mean(&seconds(&mut path, 20));
        assert!((500e3..900e3).contains(&after), "{after} bit/s: {config:?}");
        path.set_capacity(DataRate::from_kbps(2000));
        let again = seconds(&mut path, 40);
        assert!(mean(&again[30_000..]) > 1500e3, "{} bit/s: {config:?}", mean(&again[30_000..]));
    }
}

#[test]
fn it_does_not_matter_much_at_which_end_the_observer_sits() {
    let config = Config::reproduction();
    let mut receiver = path(config, 1200);
    let sender = at_sender(config, limits()).unwrap();
    let feedback = PacketFeedback::new(TimeDelta::from_millis(50));
    let mut sender = Loop::new(sender, feedback, PacketSource::STEADY, DataRate::from_kbps(1200));
    let last_minute = |path: &mut Loop| {
        seconds(path, 60);
        mean(&seconds(path, 60))
    };
    let (receiver, sender) = (last_minute(&mut receiver), last_minute(&mut sender));
    assert!((sender / receiver - 1.0).abs() < 0.03, "{sender} and {receiver} bit/s");
}
