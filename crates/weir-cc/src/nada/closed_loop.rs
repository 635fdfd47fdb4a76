//! NADA over a bottleneck.

use weir_units::{DataRate, TimeDelta};

use super::{Config, CongestionBound, LossAverage, Nada, NadaObserver, at_sender};
use crate::at_receiver::AtReceiver;
use crate::controller::RateLimits;
use crate::packet_feedback::PacketFeedback;
use crate::testing::{Loop, PacketSource, usual_limits as limits};

fn path(config: &Config, capacity: DataRate) -> Loop {
    let receiver = AtReceiver::new(NadaObserver::new(*config).unwrap());
    Loop::new(Nada::new(*config, limits()).unwrap(), receiver, PacketSource::STEADY, capacity)
}

/// The reference rate in bit/s.
fn r_ref(path: &Loop) -> f64 {
    path.sender_signal("r_ref")
}

/// The longest stretch in ms for which `rates` stay above `bound`.
fn longest_above(rates: &[f64], bound: f64) -> usize {
    rates.split(|&rate| rate <= bound).map(<[f64]>::len).max().unwrap_or(0)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

const HIGH: DataRate = DataRate::from_kbps(2500);
const LOW: DataRate = DataRate::from_kbps(600);

#[test]
fn an_empty_path_is_filled_within_seconds() {
    let mut path = path(&Config::default(), HIGH);
    let rates = path.run(TimeDelta::from_secs(5), r_ref);
    // gamma = 50/(50 + 220) at best: each 100 ms by a fifth of the rate of half a second ago.
    assert!(rates[4999] > 2.2e6, "{} bit/s", rates[4999]);
    assert_eq!(longest_above(&rates, 2.5e6), 0);
}

/// Rates in the minute after the capacity has fallen from 2.5 to 0.6 Mbit/s.
fn after_a_drop(config: &Config) -> Vec<f64> {
    let mut path = path(config, HIGH);
    path.run(TimeDelta::from_secs(30), r_ref);
    path.set_capacity(LOW);
    path.run(TimeDelta::from_secs(60), r_ref)
}

fn millis_above(rates: &[f64], bound: f64) -> usize {
    rates.iter().filter(|&&rate| rate > bound).count()
}

#[test]
fn after_a_capacity_drop_the_target_falls_within_a_second_and_does_not_run_away() {
    let rates = after_a_drop(&Config::default());
    let above = longest_above(&rates, 1.2 * LOW.bps_f64());
    assert!(above <= 1000, "above 1.2 × capacity for {above} ms");
    // Once it has fallen it never comes above again.
    assert_eq!(millis_above(&rates, 1.2 * LOW.bps_f64()), above);
}

#[test]
fn without_a_bound_the_rate_cycles_between_minimum_and_maximum() {
    let rates = after_a_drop(&Config { congestion_bound: CongestionBound::Unbounded, ..Config::default() });
    let last = &rates[50_000..];
    assert!(last.contains(&2.5e6) && last.contains(&50e3));
    assert!(millis_above(last, 1.2 * LOW.bps_f64()) > 2000);
}

#[test]
fn at_the_bound_of_the_wire_it_cycles_only_while_losses_never_expire() {
    let wire = Config { congestion_bound: CongestionBound::Wire, ..Config::default() };
    let cycling = after_a_drop(&Config { loss_average: LossAverage::WithOpen, ..wire });
    assert!(millis_above(&cycling[30_000..], 1.2 * LOW.bps_f64()) > 5000);
    assert_eq!(millis_above(&after_a_drop(&wire)[30_000..], 1.2 * LOW.bps_f64()), 0);
}

#[test]
fn the_rate_converges_to_the_equilibrium() {
    // Between drains.
    let mut path = path(&Config { drain_after: None, ..Config::default() }, HIGH);
    path.run(TimeDelta::from_secs(30), r_ref);
    path.set_capacity(LOW);
    path.run(TimeDelta::from_secs(60), r_ref);
    let mut signals = Vec::new();
    let rates: Vec<f64> = (0..100)
        .flat_map(|_| {
            signals.push(path.sender_signal("x_curr"));
            path.run(TimeDelta::from_millis(100), r_ref)
        })
        .collect();
    let (rate, x) = (mean(&rates), mean(&signals));
    assert!((rate / 600e3 - 1.0).abs() < 0.03, "{rate} bit/s");
    // PRIO·XREF·RMAX/r = 10 · 2500/600 = 41.7 ms.
    assert!((x - 41.7).abs() < 4.0, "{x} ms");
}

#[test]
fn after_five_seconds_without_feedback_the_rate_is_low_and_comes_back() {
    let mut path = path(&Config::default(), HIGH);
    path.run(TimeDelta::from_secs(10), r_ref);
    let before = r_ref(&path);
    path.feedback_cut = true;
    let silent = path.run(TimeDelta::from_secs(5), r_ref);
    // Halved 1, 2, 3 and 4 s after the last report.
    assert!(silent[4999] < before / 12.0, "{} of {before} bit/s", silent[4999]);
    path.feedback_cut = false;
    let after = path.run(TimeDelta::from_secs(10), r_ref);
    assert!(after[9999] > 0.85 * before, "{} of {before} bit/s", after[9999]);
}

/// Mean target rate of the last minute of two, with a drop of the capacity in between and the observer at either
/// end.
fn settled(mut path: Loop) -> f64 {
    path.run(TimeDelta::from_secs(30), Loop::target_rate);
    path.set_capacity(DataRate::from_kbps(1200));
    path.run(TimeDelta::from_secs(30), Loop::target_rate);
    mean(&path.run(TimeDelta::from_secs(60), Loop::target_rate))
}

#[test]
fn it_does_not_matter_much_at_which_end_the_observer_sits() {
    let config = Config::default();
    let at_receiver = settled(path(&config, HIGH));
    for interval in [20, 50, 100].map(TimeDelta::from_millis) {
        let sender = at_sender(config, limits()).unwrap();
        let at_sender = settled(Loop::new(sender, PacketFeedback::new(interval), PacketSource::STEADY, HIGH));
        assert!((at_sender / at_receiver - 1.0).abs() < 0.03, "{at_sender} and {at_receiver} bit/s");
    }
}

#[test]
fn a_report_says_what_the_path_does() {
    let mut path = path(&Config::default(), DataRate::from_mbps(100));
    path.run(TimeDelta::from_millis(200), r_ref);
    let seen = path.run(TimeDelta::from_secs(2), |path| {
        (path.sender_signal("x_curr"), path.sender_signal("x_offset"), path.receiver_signal("r_recv"))
    });
    assert!(seen.iter().all(|&(x_curr, x_offset, _)| x_curr < 1.0 && x_offset.is_nan()), "no gradual update");
    let (_, _, r_recv) = seen[1999];
    assert!(r_recv > 0.6 * r_ref(&path), "{r_recv} bit/s");
}

/// Mean rate over that of the link, and mean queue in ms, of the last minute of `minutes`.
fn last_minute(path: &mut Loop, minutes: i64) -> (f64, f64) {
    path.run(TimeDelta::from_secs(60 * (minutes - 1)), |_| ());
    let seen = path.run(TimeDelta::from_secs(60), |path| (r_ref(path), path.queuing_delay().millis_f64()));
    let (rates, queues): (Vec<f64>, Vec<f64>) = seen.into_iter().unzip();
    (mean(&rates) / LOW.bps_f64(), mean(&queues))
}

#[test]
fn the_standing_queue_stays_after_the_base_delay_of_ten_minutes_would_have_gone() {
    let queue_after = |config: &Config, minutes| last_minute(&mut path(config, LOW), minutes).1;
    let (early, late) = (queue_after(&Config::default(), 5), queue_after(&Config::default(), 25));
    assert!(late < 1.2 * early, "{early} and {late} ms");
    let never = Config { drain_after: None, ..Config::default() };
    assert!(queue_after(&never, 25) > 1.5 * early);
}

#[test]
fn clocks_that_drift_apart_by_50_ppm_move_neither_rate_nor_queue_far() {
    // Ten minutes are 30 ms of drift.
    for ppm in [-50, 0, 50] {
        let mut path = path(&Config::default(), LOW);
        path.clock_drift_ppm = ppm;
        let (rate, queue) = last_minute(&mut path, 20);
        assert!((rate - 1.0).abs() < 0.1, "{ppm} ppm: {rate} of the link");
        assert!((25.0..55.0).contains(&queue), "{ppm} ppm: {queue} ms");
    }
}

#[test]
fn a_link_of_a_hundredth_of_the_maximum_is_not_overrun() {
    let limits = RateLimits::new(DataRate::from_kbps(50), DataRate::from_kbps(300), DataRate::from_mbps(60));
    let config = Config::default();
    let receiver = AtReceiver::new(NadaObserver::new(config).unwrap());
    let mut path =
        Loop::new(Nada::new(config, limits.unwrap()).unwrap(), receiver, PacketSource::STEADY, LOW);
    path.run(TimeDelta::from_secs(20), |_| ());
    let rates = path.run(TimeDelta::from_secs(100), r_ref);
    assert!((0.7..1.14).contains(&(mean(&rates) / LOW.bps_f64())), "{} bit/s", mean(&rates));
}
