//! TFRC over a bottleneck.

use weir_units::{DataRate, TimeDelta};

use super::{Config, Tfrc, TfrcObserver};
use crate::at_receiver::AtReceiver;
use crate::testing::{Loop, PacketSource, usual_limits as limits};

const CAPACITY: DataRate = DataRate::from_mbps(1);

fn path(config: Config, source: PacketSource) -> Loop {
    let receiver = AtReceiver::new(TfrcObserver::new(config).unwrap());
    Loop::new(Tfrc::new(config, limits()).unwrap(), receiver, source, CAPACITY)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[test]
fn alone_it_takes_the_link_and_does_not_exceed_it() {
    for config in [Config::default(), Config::ns2()] {
        for source in [PacketSource::STEADY, PacketSource::VIDEO] {
            let rates = path(config, source).run(TimeDelta::from_secs(90), Loop::target_rate);
            let last = mean(&rates[60_000..]) / CAPACITY.bps_f64();
            assert!((0.8..1.05).contains(&last), "{last} of the capacity");
        }
    }
}

#[test]
fn the_rate_doubles_until_the_first_loss_and_then_follows_the_equation() {
    let mut path = path(Config::default(), PacketSource::STEADY);
    let seen = path.run(TimeDelta::from_secs(30), |path| {
        let [p, x, x_bps] = ["p", "X", "X_Bps"].map(|name| path.sender_signal(name));
        (p, x, x_bps)
    });
    let loss = seen.iter().position(|&(p, ..)| p > 0.0).unwrap();
    assert!(loss < 3000, "the queue of 300 ms is full within 3 s, not {loss} ms");
    assert!(seen[loss - 1].2.is_nan() && seen[loss - 1].1 > 1e6, "{} bit/s before it", seen[loss - 1].1);
    assert!(seen[loss..].iter().all(|&(p, x, x_bps)| p > 0.0 && x <= x_bps * 1.0001 + 1.0));
    // The synthetic interval makes up for the overshoot: about the receive rate, half of slow start's rate.
    let after = seen[loss + 1].1;
    assert!((0.5e6..1.2e6).contains(&after), "{after} bit/s");
}

#[test]
fn a_report_comes_once_per_round_trip() {
    let mut path = path(Config::default(), PacketSource::STEADY);
    path.run(TimeDelta::from_secs(20), |_| ());
    let before = path.reports();
    path.run(TimeDelta::from_secs(10), |_| ());
    let reports = path.reports() - before;
    // Round trips of 50 to 350 ms, and one at once for each loss event.
    assert!((25..=200).contains(&reports), "{reports} reports in 10 s");
}

#[test]
fn after_five_seconds_without_feedback_the_rate_is_low_and_comes_back() {
    let mut path = path(Config::default(), PacketSource::STEADY);
    path.run(TimeDelta::from_secs(30), |_| ());
    let before = path.target_rate();
    path.feedback_cut = true;
    path.run(TimeDelta::from_secs(5), |_| ());
    assert!(path.target_rate() < before / 4.0, "{} of {before} bit/s", path.target_rate());
    path.feedback_cut = false;
    let after = path.run(TimeDelta::from_secs(20), Loop::target_rate);
    assert!(mean(&after[10_000..]) > 0.7 * CAPACITY.bps_f64(), "{} bit/s", mean(&after[10_000..]));
}
