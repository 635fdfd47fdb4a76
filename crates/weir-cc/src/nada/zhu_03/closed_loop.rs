//! nada-dccc over a bottleneck.

use weir_units::{DataRate, TimeDelta};

use super::{Config, NadaZhu03, Reference, Zhu03Observer};
use crate::at_receiver::AtReceiver;
use crate::testing::{Loop, PacketSource, usual_limits as limits};

/// 50 ms of propagation, as configured in the controller: the clocks of the loop are two hours apart.
fn path(capacity: u64) -> Loop {
    let reference = Reference::Assumed(TimeDelta::from_millis(50));
    let config = Config { reference, ..Config::default() };
    let receiver = AtReceiver::new(Zhu03Observer::new(config).unwrap());
    Loop::new(
        NadaZhu03::new(config, limits()).unwrap(),
        receiver,
        PacketSource::STEADY,
        DataRate::from_kbps(capacity),
    )
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[test]
fn the_rate_settles_where_the_delay_is_that_of_its_equation() {
    let mut path = path(1500);
    path.run(TimeDelta::from_secs(180), |_| ());
    let pairs = path.run(TimeDelta::from_secs(60), |path| (path.target_rate(), path.receiver_signal("x_n")));
    let rate = mean(&pairs.iter().map(|pair| pair.0).collect::<Vec<_>>());
    let x_n = mean(&pairs.iter().map(|pair| pair.1).collect::<Vec<_>>());
    // x = 50·(2500 − 50)/(1500 − 50) = 84.5 ms.
    assert!((rate / 1500e3 - 1.0).abs() < 0.03, "{rate} bit/s");
    assert!((x_n / 84.5 - 1.0).abs() < 0.1, "{x_n} ms");
}

#[test]
fn slow_start_takes_ten_seconds() {
    let mut path = path(10_000);
    let rates = path.run(TimeDelta::from_secs(11), Loop::target_rate);
    assert!((rates[5000] / 1275e3 - 1.0).abs() < 0.1, "{} bit/s after 5 s", rates[5000]);
    assert!(rates[10_999] > 2450e3, "{} bit/s after 11 s", rates[10_999]);
}
