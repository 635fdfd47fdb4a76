//! The receiver half of TFRC (`tfrc::receiver`, RFC 5348 §6).

use weir_units::DataSize;

use super::*;
use crate::packet::Stamp;
use crate::time::SendTime;

/// Receiver time of `ms` milliseconds.
fn ms(ms: i64) -> ArrivalTime {
    ArrivalTime::from_millis(ms)
}

fn observer() -> TfrcObserver {
    TfrcObserver::new(Config { segment_size: DataSize::from_bytes(1000), ..Config::default() }).unwrap()
}

/// A packet of 1000 bytes whose sender knows a round-trip time of `rtt` ms; 0 for none.
fn arrive(observer: &mut TfrcObserver, id: u64, at: i64, rtt: i64) {
    observer.on_arrival(&Arrival {
        id,
        departure: SendTime::ZERO,
        at: ms(at),
        size: DataSize::from_bytes(1000),
        ecn: Ecn::NotEct,
        media_time: 0,
        marker: false,
        stamp: Stamp { rtt: TimeDelta::from_millis(rtt), rate: DataRate::ZERO },
    });
}

/// `p` and `X_recv` in kbit/s.
fn report(observer: &mut TfrcObserver, at: i64) -> Option<(f64, u64)> {
    match observer.report(ms(at)) {
        Some(NativeReport::Tfrc(report)) => Some((report.loss_event_rate, report.receive_rate.bps() / 1000)),
        _ => None,
    }
}

/// Packet `n` arrives at `n` · 10 ms: 800 kbit/s. Returns when reports were made.
fn stream(observer: &mut TfrcObserver, ids: impl IntoIterator<Item = u64>) -> Vec<(i64, f64, u64)> {
    let mut reported = Vec::new();
    for id in ids {
        let at = id as i64 * 10;
        arrive(observer, id, at, 100);
        if let Some((p, rate)) = report(observer, at) {
            reported.push((at, p, rate));
        }
    }
    reported
}

#[test]
fn the_first_packet_is_reported_at_once_and_each_one_while_the_round_trip_time_is_unknown() {
    let mut observer = observer();
    assert_eq!(observer.next_report(), None);
    arrive(&mut observer, 0, 0, 0);
    assert_eq!(report(&mut observer, 0), Some((0.0, 0)));
    assert_eq!(report(&mut observer, 0), None);
    arrive(&mut observer, 1, 10, 0);
    assert_eq!(report(&mut observer, 10), Some((0.0, 800)));
}

#[test]
fn then_a_report_comes_once_per_round_trip() {
    let mut observer = observer();
    let reported = stream(&mut observer, 0..50);
    // The first reports a packet per round trip: 1000 · 8 / 0.1 s.
    assert_eq!(reported, [(0, 0.0, 80), (100, 0.0, 800), (200, 0.0, 800), (300, 0.0, 800), (400, 0.0, 800)]);
}

#[test]
fn a_new_loss_event_is_reported_at_once_and_the_timer_begins_anew() {
    let mut observer = observer();
    let reported = stream(&mut observer, (0..44).chain(45..60));
    let times: Vec<i64> = reported.iter().map(|reported| reported.0).collect();
    // 44 is lost for certain when 47 comes.
    assert_eq!(times, [0, 100, 200, 300, 400, 470, 570]);
    // 800 kbit/s are 10 packets per round trip: p = 0.01217. The lost packet's bytes are missing after it.
    let (p, rate) = (reported[5].1, reported[5].2);
    assert!((p / 0.01217 - 1.0).abs() < 0.05, "{p}");
    assert_eq!(rate, 720);
}

#[test]
fn a_loss_before_anything_was_measured_has_the_least_target() {
    let interval = |rate| {
        let rate = DataRate::from_kbps(rate);
        TfrcObserver::first_interval(&Config::default(), rate, 1000.0, TimeDelta::from_millis(100))
    };
    // Half a packet per round trip: p = 0.20643. 800 kbit/s: p = 0.01217.
    assert!((interval(0) - 4.844).abs() < 0.01, "{}", interval(0));
    assert!((interval(800) - 82.2).abs() < 0.3, "{}", interval(800));
}

#[test]
fn silence_is_not_reported_and_the_first_packet_after_it_is_at_once() {
    let mut observer = observer();
    stream(&mut observer, 0..11);
    assert_eq!(observer.next_report(), Some(ms(200)));
    assert_eq!(report(&mut observer, 200), None);
    assert_eq!(observer.next_report(), None);
    arrive(&mut observer, 11, 5000, 100);
    // One packet per round trip, not one in five seconds.
    assert_eq!(report(&mut observer, 5000), Some((0.0, 80)));
}

#[test]
fn a_clock_set_back_does_not_put_reports_off() {
    let mut observer = observer();
    stream(&mut observer, 1000..1020);
    arrive(&mut observer, 1020, 0, 100);
    assert!(observer.next_report().unwrap() <= ms(100));
}

#[test]
fn another_route_has_lost_nothing_yet() {
    let mut observer = observer();
    stream(&mut observer, (0..100).filter(|id| id % 20 != 19));
    assert!(observer.losses.loss_event_rate() > 0.0);
    observer.on_route_changed();
    assert_eq!(observer.next_report(), None);
    // Losses on the way to the new route are not losses of the new one.
    arrive(&mut observer, 150, 1500, 0);
    assert_eq!(report(&mut observer, 1500), Some((0.0, 0)));
}
