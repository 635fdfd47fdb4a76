//! SCReAM version 2 over a bottleneck.

use weir_units::{DataRate, TimeDelta};

use super::{Config, ScreamV2};
use crate::packet::Ecn;
use crate::scream::ScreamReceiver;
use crate::testing::{Loop, PacketSource, usual_limits as limits};

const MBPS: DataRate = DataRate::from_mbps(1);
const LOW: DataRate = DataRate::from_kbps(600);

fn path(capacity: DataRate) -> Loop {
    Loop::new(
        ScreamV2::new(Config::default(), limits()).unwrap(),
        ScreamReceiver::v2(),
        PacketSource::VIDEO,
        capacity,
    )
}

fn seconds(s: i64) -> TimeDelta {
    TimeDelta::from_secs(s)
}

/// Over a stretch: mean target rate in bit/s, mean and longest queuing delay in ms.
#[derive(Debug)]
struct Summary {
    rate: f64,
    queue: f64,
    longest: f64,
}

fn summary(path: &mut Loop, span: TimeDelta) -> Summary {
    let seen = path.run(span, |path| (path.target_rate(), path.queuing_delay().millis_f64()));
    let count = seen.len() as f64;
    Summary {
        rate: seen.iter().map(|&(rate, _)| rate).sum::<f64>() / count,
        queue: seen.iter().map(|&(_, queue)| queue).sum::<f64>() / count,
        longest: seen.iter().map(|&(_, queue)| queue).fold(0.0, f64::max),
    }
}

#[test]
fn alone_it_fills_the_path_with_a_queue_of_half_the_target_and_no_loss() {
    let mut path = path(MBPS);
    path.run(seconds(40), |_| ());
    let Summary { rate, queue, longest } = summary(&mut path, seconds(20));
    assert!((0.9e6..1.02e6).contains(&rate), "{rate} bit/s");
    // The reaction begins at half of the target of 60 ms.
    assert!((15.0..35.0).contains(&queue) && longest < 65.0, "{queue} ms, at most {longest} ms");
    assert_eq!(path.dropped, 0);
}

#[test]
fn the_queue_of_twenty_minutes_is_that_of_the_first_minutes() {
    let mut path = path(MBPS);
    path.run(seconds(240), |_| ());
    let first = summary(&mut path, seconds(60));
    path.run(seconds(840), |_| ());
    let last = summary(&mut path, seconds(60));
    assert!(last.queue < 1.5 * first.queue, "{first:?}, then {last:?}");
    assert!(last.rate > 0.9 * first.rate, "{first:?}, then {last:?}");
}

#[test]
fn clocks_that_drift_apart_are_no_queue() {
    for ppm in [-50, 50] {
        let mut path = path(MBPS);
        path.clock_drift_ppm = ppm;
        path.run(seconds(840), |_| ());
        let Summary { rate, queue, .. } = summary(&mut path, seconds(60));
        assert!(rate > 0.85e6 && queue < 45.0, "{ppm} ppm: {rate} bit/s, {queue} ms");
    }
}

#[test]
fn with_l4s_marks_the_queue_stays_at_the_marking_threshold() {
    let mut path = path(MBPS);
    path.ecn = Ecn::Ect1;
    path.describe_link(|link| link.queue.mark_above = Some(TimeDelta::from_millis(5)));
    path.run(seconds(10), |_| ());
    let Summary { rate, queue, longest } = summary(&mut path, seconds(20));
    assert!(rate > 0.8e6, "{rate} bit/s");
    // A frame at 1.5 times the target rate is itself a queue of some 10 ms.
    assert!(queue < 8.0 && longest < 20.0, "{queue} ms, at most {longest} ms");
    assert!((0.03..0.5).contains(&path.sender_signal("l4s_alpha")));
}

#[test]
fn a_classic_mark_costs_more_than_one_of_l4s() {
    let queue_and_rate = |ecn| {
        let mut path = path(MBPS);
        path.ecn = ecn;
        path.describe_link(|link| link.queue.mark_above = Some(TimeDelta::from_millis(5)));
        path.run(seconds(10), |_| ());
        summary(&mut path, seconds(20)).rate
    };
    let (classic, l4s) = (queue_and_rate(Ecn::Ect0), queue_and_rate(Ecn::Ect1));
    assert!(classic < 0.95 * l4s, "{classic} and {l4s} bit/s");
}

#[test]
fn after_a_capacity_drop_it_yields_within_a_second_and_settles() {
    let mut path = path(DataRate::from_mbps(2));
    path.run(seconds(30), |_| ());
    path.set_capacity(LOW);
    let rates = path.run(seconds(20), Loop::target_rate);
    let above = rates.iter().take_while(|&&rate| rate > 1.1 * LOW.bps_f64()).count();
    let Summary { rate, queue, .. } = summary(&mut path, seconds(30));
    assert!(above < 1000, "above 1.1 × capacity for {above} ms");
    assert!((0.85..1.05).contains(&(rate / LOW.bps_f64())), "{rate} bit/s");
    assert!(queue < 60.0, "{queue} ms");
}

#[test]
fn a_higher_capacity_is_found_within_seconds() {
    let mut path = path(LOW);
    path.run(seconds(30), |_| ());
    path.set_capacity(DataRate::from_mbps(2));
    let rates = path.run(seconds(10), Loop::target_rate);
    assert!(rates[9999] > 1.8e6, "{} bit/s", rates[9999]);
}

#[test]
fn a_silent_path_gets_no_more_than_a_trickle_and_the_flow_comes_back() {
    let mut path = path(DataRate::from_mbps(2));
    path.run(seconds(20), |_| ());
    let before = path.target_rate();
    path.feedback_cut = true;
    let silent = path.run(seconds(5), Loop::target_rate);
    assert!(silent[4999] < before / 12.0, "{} of {before} bit/s", silent[4999]);
    path.feedback_cut = false;
    let after = path.run(seconds(10), Loop::target_rate);
    assert!(after[9999] > 0.85 * before, "{} of {before} bit/s", after[9999]);
}
