//! SCReAM (RFC 8298) in a closed loop over one bottleneck.

use weir_units::{DataRate, TimeDelta};

use super::{Config, Scream};
use crate::packet::Ecn;
use crate::scream::ScreamReceiver;
use crate::testing::{Loop, PacketSource, usual_limits as limits};

const MBPS: DataRate = DataRate::from_mbps(1);
const LOW: DataRate = DataRate::from_kbps(600);

fn path(config: Config, capacity: DataRate) -> Loop {
    Loop::new(Scream::new(config, limits()).unwrap(), ScreamReceiver::v1(), PacketSource::VIDEO, capacity)
}

fn seconds(s: i64) -> TimeDelta {
    TimeDelta::from_secs(s)
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0), |(sum, count), value| (sum + value, count + 1));
    sum / f64::from(count)
}

/// Target rate in bit/s and queuing delay in ms.
fn rate_and_queue(path: &Loop) -> (f64, f64) {
    (path.target_rate(), path.queuing_delay().millis_f64())
}

#[test]
fn alone_it_fills_the_path_and_its_queue_stays_near_the_target_without_loss() {
    let mut path = path(Config::default(), MBPS);
    path.run(seconds(80), |_| ());
    let seen = path.run(seconds(40), rate_and_queue);
    let rate = mean(seen.iter().map(|&(rate, _)| rate));
    let longest = seen.iter().map(|&(_, queue)| queue).fold(0.0, f64::max);
    assert!((0.8e6..1.02e6).contains(&rate), "{rate} bit/s");
    // QDELAY_TARGET_LO is 100 ms: probing goes half the way at least, and not beyond.
    assert!((50.0..110.0).contains(&longest), "{longest} ms");
    assert_eq!(path.dropped, 0);
}

#[test]
fn the_start_is_exponential_until_a_queue_shows() {
    let mut path = path(Config::default(), DataRate::from_mbps(100));
    let rates = path.run(seconds(12), Loop::target_rate);
    // 300 kbit/s grow by half their rate per second to 400, then by 200 kbit/s each second.
    assert!((400e3..480e3).contains(&rates[999]), "{} bit/s", rates[999]);
    assert!((1.15e6..1.35e6).contains(&rates[4999]), "{} bit/s", rates[4999]);
    assert_eq!(rates[11_999], 2.5e6);
}

#[test]
fn after_a_capacity_drop_it_yields_within_seconds_and_settles() {
    let mut path = path(Config::default(), DataRate::from_mbps(2));
    path.run(seconds(30), |_| ());
    path.set_capacity(LOW);
    let seen = path.run(seconds(60), rate_and_queue);
    let above = seen.iter().take_while(|&&(rate, _)| rate > 1.1 * LOW.bps_f64()).count();
    let settled = &seen[30_000..];
    let rate = mean(settled.iter().map(|&(rate, _)| rate));
    let queue = mean(settled.iter().map(|&(_, queue)| queue));
    assert!(above < 3000, "above 1.1 × capacity for {above} ms");
    assert!((0.75..1.05).contains(&(rate / LOW.bps_f64())), "{rate} bit/s");
    assert!(queue < 110.0, "{queue} ms");
}

#[test]
fn a_higher_capacity_is_found_by_fast_increase() {
    let mut path = path(Config::default(), LOW);
    path.run(seconds(30), |_| ());
    path.set_capacity(DataRate::from_mbps(2));
    let rates = path.run(seconds(30), Loop::target_rate);
    assert!(rates[29_999] > 1.6e6, "{} bit/s", rates[29_999]);
}

#[test]
fn marks_keep_the_queue_shorter_than_the_delay_target_does() {
    let mut path = path(Config::default(), MBPS);
    path.ecn = Ecn::Ect0;
    path.describe_link(|link| link.queue.mark_above = Some(TimeDelta::from_millis(30)));
    path.run(seconds(40), |_| ());
    let seen = path.run(seconds(40), rate_and_queue);
    let rate = mean(seen.iter().map(|&(rate, _)| rate));
    let longest = seen.iter().map(|&(_, queue)| queue).fold(0.0, f64::max);
    assert!(rate > 0.7e6, "{rate} bit/s");
    assert!(longest < 50.0, "{longest} ms");
}

#[test]
fn a_silent_path_gets_no_more_than_a_trickle_and_the_flow_comes_back() {
    let mut path = path(Config::default(), DataRate::from_mbps(2));
    path.run(seconds(20), |_| ());
    let before = path.target_rate();
    path.feedback_cut = true;
    let silent = path.run(seconds(5), Loop::target_rate);
    assert!(silent[4999] < before / 8.0, "{} of {before} bit/s", silent[4999]);
    path.feedback_cut = false;
    let after = path.run(seconds(20), Loop::target_rate);
    assert!(after[19_999] > 0.8 * before, "{} of {before} bit/s", after[19_999]);
}

#[test]
fn without_feedback_the_window_closes_at_once_and_the_controller_opens_it_a_second_later() {
    let mut path = path(Config::default(), DataRate::from_mbps(2));
    path.run(seconds(20), |_| ());
    path.feedback_cut = true;
    let in_flight = path.run(TimeDelta::from_millis(900), |path| {
        (path.sender_signal("bytes_in_flight"), path.sender_signal("cwnd"))
    });
    // A packet more than the window, since the queue is short.
    assert!(in_flight.iter().all(|&(bytes, cwnd)| bytes <= cwnd + 1000.0));
    path.run(TimeDelta::from_millis(200), |_| ());
    let sent_by = |path: &Loop| path.sender_signal("bytes_in_flight");
    let before = sent_by(&path);
    path.run(seconds(4), |_| ());
    let rate = 8.0 * (sent_by(&path) - before) / 4.0;
    // RATE_PACE_MIN.
    assert!((30e3..60e3).contains(&rate), "{rate} bit/s");
}
