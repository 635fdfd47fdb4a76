//! The observer on a path of a packet every 10 ms.

use weir_units::DataSize;

use super::*;
use crate::packet::{Ecn, Stamp};
use crate::time::SendTime;

struct Path {
    observer: Nada2016Observer,
    now: i64,
    id: u64,
    last: Option<NadaReport>,
    reports: usize,
}

impl Path {
    fn new(config: Config) -> Self {
        Self { observer: Nada2016Observer::new(config).unwrap(), now: 0, id: 0, last: None, reports: 0 }
    }

    /// Packet `id` arrives now, after a one-way delay of `delay` ms.
    fn arrive(&mut self, id: u64, delay: i64, ecn: Ecn) {
        self.observer.on_arrival(&Arrival {
            id,
            departure: SendTime::from_millis(self.now - delay),
            at: ArrivalTime::from_millis(self.now),
            size: DataSize::from_bytes(1250),
            ecn,
            media_time: 0,
            marker: false,
            stamp: Stamp::default(),
        });
    }

    /// A packet every 10 ms (1 Mbit/s) for `span` ms, each `delay` ms on the path; packets for which `lost` holds
    /// do not arrive.
    fn run(&mut self, span: i64, delay: i64, lost: impl Fn(u64) -> bool) -> &mut Self {
        let end = self.now + span;
        while self.now < end {
            self.now += 10;
            self.id += 1;
            if !lost(self.id) {
                self.arrive(self.id, delay, Ecn::NotEct);
            }
            self.poll();
        }
        self
    }

    fn poll(&mut self) {
        if let Some(NativeReport::Nada(report)) = self.observer.report(ArrivalTime::from_millis(self.now)) {
            self.last = Some(report);
            self.reports += 1;
        }
    }

    fn signals(&self) -> [f64; 5] {
        let mut out = [0.0; 5];
        assert_eq!(self.observer.signals().len(), out.len());
        self.observer.read_signals(&mut out);
        out
    }

    fn last(&self) -> NadaReport {
        self.last.unwrap()
    }
}

const NONE: fn(u64) -> bool = |_| false;

/// Checks that `value` is `expected` within 1e-6.
fn near(value: f64, expected: f64) {
    assert!((value - expected).abs() < 1e-6, "{value} instead of {expected}");
}

#[test]
fn an_empty_path_reports_nothing_but_its_rate() {
    let mut path = Path::new(Config::nada_2016());
    let [d_hat, rest @ ..] = path.signals();
    assert!(d_hat == 0.0 && rest.iter().all(|value| value.is_nan()));
    path.run(1000, 25, NONE);
    let rate = DataRate::from_mbps(1);
    assert_eq!(path.last(), NadaReport { ramp_up: true, congestion: TimeDelta::ZERO, receive_rate: rate });
    assert_eq!((path.reports, path.observer.next_report()), (9, Some(ArrivalTime::from_millis(1010))));
    assert_eq!(path.signals(), [0.0, 0.0, 0.0, 0.0, 1e6]);
}

#[test]
fn the_delay_is_filtered_per_packet_and_warped() {
    let mut path = Path::new(Config::nada_2016());
    path.run(1000, 25, NONE).run(30, 125, NONE);
    // The median passes the third of the packets at +100 ms: 0.1·100 = 10.
    near(path.signals()[0], 10.0);
    path.run(270, 125, NONE);
    // 28 packets in the filter: 100·(1 − 0.9²⁸) = 94.765…; 50·((400 − 94.765)/350)⁴ = 28.92….
    let d_hat = 100.0 * (1.0 - libm::pow(0.9, 28.0));
    near(path.signals()[0], d_hat);
    path.run(10, 125, NONE);
    let d_hat = 100.0 * (1.0 - libm::pow(0.9, 29.0));
    near(path.signals()[1], 50.0 * libm::pow((400.0 - d_hat) / 350.0, 4.0));
    near(path.last().congestion.millis_f64(), path.signals()[1]);
}

#[test]
fn loss_in_the_window_costs_a_second_times_its_ratio() {
    let mut path = Path::new(Config::nada_2016());
    // At the report at 1010 ms the window (510, 1010] spans numbers 52 to 101, of which 96 is missing: 1/50 → 20 ms.
    path.run(1010, 25, |id| id == 96);
    near(path.signals()[2], 0.02);
    assert_eq!(path.last().congestion, TimeDelta::from_millis(20));
    assert!(path.last().ramp_up, "whether 20 ms are too much is for the sender to say");
    path.run(600, 25, NONE);
    assert_eq!(path.last().congestion, TimeDelta::ZERO);
}

#[test]
fn marks_cost_a_fifth_of_losses() {
    let mut path = Path::new(Config::nada_2016());
    path.run(1000, 25, NONE);
    path.now += 10;
    path.arrive(101, 25, Ecn::Ce);
    path.poll();
    // 200·1/50 = 4 ms.
    assert_eq!(path.last().congestion, TimeDelta::from_millis(4));
}

#[test]
fn the_guard_forbids_ramp_up_against_a_long_queue() {
    for (ramp_guard, expected) in [(false, true), (true, false)] {
        let mut path = Path::new(Config { ramp_guard, ..Config::nada_2016() });
        // A queue of 300 ms: 50·(100/350)⁴ = 0.33 ms.
        path.run(1000, 25, NONE).run(2000, 325, NONE);
        assert!(path.last().congestion < TimeDelta::from_millis(1));
        assert_eq!(path.last().ramp_up, expected);
        // Queue of 9 and of 10 ms: below the guard's bound and at it.
        path.run(3000, 34, NONE);
        assert!(path.last().ramp_up);
        path.run(3000, 36, NONE);
        assert_eq!(path.last().ramp_up, expected);
    }
}

#[test]
fn the_frameworks_code_forbids_ramp_up_with_loss() {
    let mut path = Path::new(Config::framework());
    path.run(1010, 25, |id| id == 96);
    assert!(!path.last().ramp_up);
    path.run(600, 25, NONE);
    assert!(path.last().ramp_up);
}

#[test]
fn late_packets_stay_lost_and_enter_the_filter() {
    let mut path = Path::new(Config { smoothing: 0.0, median_filter: 1, ..Config::nada_2016() });
    path.run(1000, 25, |id| id == 96);
    path.arrive(96, 75, Ecn::NotEct);
    near(path.signals()[0], 50.0);
    path.run(10, 25, NONE);
    near(path.signals()[2], 0.02);
    // A late packet does not lower the base delay.
    path.arrive(97, 5, Ecn::NotEct);
    near(path.signals()[0], 0.0);
    path.run(10, 25, NONE);
    near(path.signals()[0], 0.0);
}

#[test]
fn a_clock_that_was_set_is_no_queue() {
    let mut path = Path::new(Config::nada_2016());
    path.run(1000, 25, NONE).run(10, 3_600_025, NONE);
    near(path.signals()[0], 0.0);
    path.run(500, 3_600_055, NONE);
    assert!(path.signals()[0] > 25.0);
    path.now -= 3_600_000;
    let reports = path.reports;
    path.run(1000, 25, NONE);
    assert!(path.reports >= reports + 8);
    near(path.signals()[0], 0.0);
}

#[test]
fn silence_stops_the_reports_and_keeps_the_base_delay() {
    let mut path = Path::new(Config::nada_2016());
    path.run(1000, 25, NONE);
    path.now += 2000;
    path.poll();
    assert_eq!((path.reports, path.observer.next_report()), (9, None));
    path.run(500, 65, NONE);
    assert!(path.signals()[0] > 35.0);
}

#[test]
fn a_packet_at_an_unknown_time_is_not_lost_and_is_no_sample_of_delay() {
    let mut path = Path::new(Config::default());
    path.run(1000, 25, |_| false);
    let before = path.observer.filter.get();
    path.now += 10;
    path.id += 1;
    let departure = SendTime::from_millis(path.now - 500);
    let at = ArrivalTime::from_millis(path.now);
    path.observer.on_untimed(&Arrival::new(path.id, departure, at, DataSize::from_bytes(1250)));
    assert_eq!(path.observer.filter.get(), before);
    path.run(100, 25, |_| false);
    assert_eq!(path.observer.latest.map(|latest| latest.loss), Some(0.0));
}
