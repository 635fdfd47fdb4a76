//! gcc-2016 over a bottleneck.

use weir_units::{DataRate, TimeDelta};

use super::{Config, GccReceiver, GccSender};
use crate::testing::{Loop, PacketSource, usual_limits as limits};

const CAPACITY: DataRate = DataRate::from_mbps(1);

fn path() -> Loop {
    let sender = GccSender::new(Config::default(), limits()).unwrap();
    let receiver = GccReceiver::new(Config::default(), limits()).unwrap();
    Loop::new(sender, receiver, PacketSource::VIDEO, CAPACITY)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The mean target rate of the next `seconds` as a share of the capacity.
fn share_of_capacity(path: &mut Loop, seconds: i64) -> f64 {
    mean(&path.run(TimeDelta::from_secs(seconds), Loop::target_rate)) / CAPACITY.bps_f64()
}

#[test]
fn fast_start_fills_the_path_within_seconds() {
    let mut path = path();
    path.run(TimeDelta::from_secs(3), Loop::target_rate);
    let share = share_of_capacity(&mut path, 1);
    assert!((0.75..1.1).contains(&share), "{share}");
}

#[test]
fn one_flow_converges_to_the_capacity_and_lets_the_queue_drain() {
    let mut path = path();
    path.run(TimeDelta::from_secs(20), Loop::target_rate);
    let seen = path.run(TimeDelta::from_secs(60), |path| (path.target_rate(), path.queuing_delay()));
    let share = mean(&seen.iter().map(|&(rate, _)| rate).collect::<Vec<_>>()) / CAPACITY.bps_f64();
    assert!((0.8..1.0).contains(&share), "{share}");
    // A frame at 1.5 times a rate near the capacity queues up to a third of itself: 11 ms.
    let drained = seen.iter().filter(|&&(_, delay)| delay <= TimeDelta::from_millis(12)).count();
    assert!(drained > 45_000, "drained in {drained} of 60 000 ms");
    let longest = seen.iter().map(|&(_, delay)| delay).max().unwrap();
    assert!(longest < TimeDelta::from_millis(100), "{longest:?}");
}

#[test]
fn a_capacity_drop_is_followed_within_seconds() {
    let mut path = path();
    path.run(TimeDelta::from_secs(30), Loop::target_rate);
    path.set_capacity(DataRate::from_kbps(400));
    path.run(TimeDelta::from_secs(5), Loop::target_rate);
    let seen =
        path.run(TimeDelta::from_secs(20), |path| (path.target_rate(), path.queuing_delay().millis_f64()));
    let rate = mean(&seen.iter().map(|&(rate, _)| rate).collect::<Vec<_>>());
    let delay = mean(&seen.iter().map(|&(_, delay)| delay).collect::<Vec<_>>());
    assert!((250e3..400e3).contains(&rate), "{rate} bit/s");
    assert!(delay < 50.0, "{delay} ms");
}

#[test]
fn after_five_seconds_without_feedback_the_rate_is_low_and_comes_back() {
    let mut path = path();
    path.run(TimeDelta::from_secs(60), Loop::target_rate);
    let before = path.target_rate();
    path.feedback_cut = true;
    path.run(TimeDelta::from_secs(5), Loop::target_rate);
    // Halved 3 and 4 s after the last feedback, and once more if that came at the very beginning.
    let silent = path.target_rate();
    assert!(silent < 0.26 * before, "{silent} of {before} bit/s");
    path.feedback_cut = false;
    // 5 % with each receiver report: from an eighth back takes ln 8 / ln 1.05 = 43 s.
    path.run(TimeDelta::from_secs(45), Loop::target_rate);
    let share = share_of_capacity(&mut path, 20);
    assert!(share > 0.8, "{share}");
}
