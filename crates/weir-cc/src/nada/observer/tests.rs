//! The observer on a path of a packet every 10 ms.

use weir_units::DataSize;

use super::*;
use crate::packet::Ecn;
use crate::time::SendTime;

/// Difference between the clocks of the hosts.
const OFFSET: i64 = 7_200_000;

/// Receiver time of `ms` milliseconds.
fn ms(ms: i64) -> ArrivalTime {
    ArrivalTime::from_millis(OFFSET + ms)
}

/// Packet `id` of 1250 bytes, which arrives at `at` ms after a one-way delay of `delay` ms.
fn packet(id: u64, at: i64, delay: i64) -> Arrival {
    Arrival::new(id, SendTime::from_millis(at - delay), ms(at), DataSize::from_bytes(1250))
}

struct Path {
    observer: NadaObserver,
    now: i64,
    id: u64,
    last: Option<NadaReport>,
    reports: usize,
}

impl Path {
    fn new(config: &Config) -> Self {
        let observer = NadaObserver::new(*config).unwrap();
        Self { observer, now: 0, id: 0, last: None, reports: 0 }
    }

    /// A packet every 10 ms (1 Mbit/s) for `span` ms, each with a one-way delay of `delay` ms; packets for which
    /// `lost` holds do not arrive.
    fn run(&mut self, span: i64, delay: i64, lost: impl Fn(u64) -> bool) -> &mut Self {
        let end = self.now + span;
        while self.now < end {
            self.now += 10;
            self.id += 1;
            if !lost(self.id) {
                self.observer.on_arrival(&packet(self.id, self.now, delay));
            }
            self.poll();
        }
        self
    }

    /// `packets` packets, one each 200 ms, with numbers `step` apart.
    fn sparse(&mut self, packets: usize, step: u64) {
        for _ in 0..packets {
            self.now += 200;
            self.id += step;
            self.observer.on_arrival(&packet(self.id, self.now, 25));
            self.poll();
        }
    }

    fn silence(&mut self, span: i64) -> &mut Self {
        (0..span / 10).for_each(|_| {
            self.now += 10;
            self.poll();
        });
        self
    }

    fn poll(&mut self) {
        while let Some(NativeReport::Nada(report)) = self.observer.report(ms(self.now)) {
            self.last = Some(report);
            self.reports += 1;
        }
    }

    fn signal(&self, name: &str) -> f64 {
        let signals = self.observer.signals();
        let mut values = vec![0.0; signals.len()];
        self.observer.read_signals(&mut values);
        values[signals.iter().position(|signal| signal.name == name).unwrap()]
    }

    fn last(&self) -> NadaReport {
        self.last.unwrap()
    }
}

const NONE: fn(u64) -> bool = |_| false;

#[test]
fn an_empty_path_reports_no_congestion_and_allows_ramp_up() {
    let mut path = Path::new(&Config::default());
    path.run(1000, 25, NONE);
    assert_eq!(
        path.last(),
        NadaReport { ramp_up: true, congestion: TimeDelta::ZERO, receive_rate: DataRate::from_mbps(1) }
    );
}

#[test]
fn reports_come_every_100_ms_from_the_first_packet_on() {
    let mut path = Path::new(&Config::default());
    assert_eq!(path.observer.next_report(), None);
    path.run(10, 25, NONE);
    assert_eq!(path.observer.next_report(), Some(ms(110)));
    path.run(1000, 25, NONE);
    // At 110, 210, … 1010 ms.
    assert_eq!(path.reports, 10);
    assert_eq!(path.observer.next_report(), Some(ms(1110)));
}

#[test]
fn a_report_that_is_asked_for_late_keeps_no_debt() {
    let mut path = Path::new(&Config::default());
    path.run(10, 25, NONE);
    path.now = 450;
    path.poll();
    assert_eq!(path.reports, 1);
    assert_eq!(path.observer.next_report(), Some(ms(550)));
}

#[test]
fn queuing_delay_is_the_least_of_15_packets_above_the_base() {
    let mut path = Path::new(&Config::default());
    path.run(1000, 25, NONE);
    // 14 packets at +30 ms: an old one without delay still counts. From the 15th on it does not.
    path.run(140, 55, NONE).run(10, 55, NONE);
    assert_eq!(path.signal("d_queue"), 0.0);
    path.run(100, 55, NONE);
    assert_eq!(path.signal("d_queue"), 30.0);
    assert_eq!(path.last().congestion, TimeDelta::from_millis(30));
    assert!(!path.last().ramp_up);
}

#[test]
fn one_raw_delay_of_10_ms_stops_ramp_up_for_half_a_second() {
    let mut path = Path::new(&Config::default());
    path.run(990, 25, NONE).run(10, 35, NONE);
    let spike = path.now;
    path.run(490, 25, NONE);
    assert!(!path.last().ramp_up, "spike at {spike} ms");
    assert_eq!(path.last().congestion, TimeDelta::ZERO, "the filter hides the spike from x_curr");
    path.run(110, 25, NONE);
    assert!(path.last().ramp_up);
}

#[test]
fn a_lower_base_counts_for_the_delays_before_it() {
    let mut path = Path::new(&Config::default());
    path.run(1000, 45, NONE).run(10, 25, NONE).run(100, 45, NONE);
    assert!(!path.last().ramp_up, "the old packets turn out to be 20 ms above the base");
    path.run(200, 45, NONE);
    assert_eq!(path.signal("d_queue"), 20.0);
}

#[test]
fn loss_is_smoothed_and_costs_by_its_square() {
    let mut path = Path::new(&Config::default());
    // Number 96 is missing: at the report at 1010 ms the window (510, 1010] spans 52 … 101.
    path.run(1010, 25, |id| id == 96);
    // p_inst = 1/50; p_loss = 0.1 · 0.02 = 0.002; x = 10·(0.002/0.01)² = 0.4 ms.
    assert!((path.signal("p_loss") - 0.002).abs() < 1e-12);
    assert_eq!(path.last().congestion, TimeDelta::from_micros(400));
    assert!(!path.last().ramp_up);
    path.run(600, 25, NONE);
    assert!(path.last().ramp_up, "half a second without loss");
}

#[test]
fn marks_are_smoothed_and_cost_less() {
    let mut path = Path::new(&Config::default());
    path.run(1000, 25, NONE);
    let marked = Arrival { ecn: Ecn::Ce, ..packet(101, 1010, 25) };
    path.observer.on_arrival(&marked);
    path.now = 1010;
    path.poll();
    // 1/50 · 0.1 = 0.002; 2·0.2² = 0.08 ms; marks do not end the ramp-up.
    assert!((path.signal("p_mark") - 0.002).abs() < 1e-12);
    assert_eq!(path.last().congestion, TimeDelta::from_micros(80));
    assert!(path.last().ramp_up);
}

#[test]
fn after_a_loss_long_delays_are_warped_until_the_loss_is_old() {
    let mut path = Path::new(&Config::default());
    // Loss of the 50th packet: the first interval is 49 packets, recent for 7 · 49 = 343, faded after 392.
    path.run(500, 25, |id| id == 50).run(3000, 125, NONE);
    // 50·exp(−0.5·(100 − 50)/50) = 30.32653.
    assert!((path.signal("d_tilde") - 30.326_53).abs() < 1e-4);
    path.run(1500, 125, NONE);
    assert_eq!(path.signal("d_tilde"), 100.0);
}

#[test]
fn with_the_open_interval_in_the_average_a_loss_never_gets_old() {
    let mut path = Path::new(&Config { loss_average: LossAverage::WithOpen, ..Config::default() });
    path.run(500, 25, |id| id == 50).run(60_000, 125, NONE);
    assert!((path.signal("d_tilde") - 30.326_53).abs() < 1e-4);
}

#[test]
fn a_late_packet_stays_lost_and_does_not_touch_the_delay() {
    let mut path = Path::new(&Config::default());
    path.run(1000, 25, |id| id == 96);
    path.observer.on_arrival(&packet(96, 1005, 75));
    path.run(10, 25, NONE);
    assert!((path.signal("p_loss") - 0.002).abs() < 1e-12);
    assert_eq!(path.signal("d_queue"), 0.0);
    // Within (510, 1010] came 50 packets, less the lost one, and the late one.
    assert_eq!(path.last().receive_rate, DataRate::from_mbps(1));
    path.observer.on_arrival(&packet(96, 1015, 75));
    path.run(100, 25, NONE);
    assert!(path.signal("p_loss") < 0.004, "a duplicate is nothing new");
}

#[test]
fn silence_stops_the_reports_until_packets_come_again() {
    let mut path = Path::new(&Config::default());
    path.run(1000, 25, NONE).silence(2000);
    // The last packet came at 1000 ms: at the reports of 1010, … 1410 ms the window is not empty.
    assert_eq!(path.reports, 14);
    assert_eq!(path.observer.next_report(), None);
    path.run(110, 25, NONE);
    assert_eq!(path.reports, 15);
    assert_eq!(path.last().receive_rate, DataRate::from_mbps(1));
}

#[test]
fn silence_keeps_the_base_delay_but_not_the_filter() {
    let mut path = Path::new(&Config::default());
    path.run(1000, 25, NONE).silence(2000).run(110, 65, NONE);
    assert_eq!(path.signal("d_queue"), 40.0);
}

#[test]
fn few_packets_raise_no_ratio_but_a_clean_window_lowers_it() {
    let mut path = Path::new(&Config::default());
    // Every other number is missing, at a packet each 200 ms: two or three in the window.
    path.sparse(20, 2);
    assert_eq!(path.signal("p_loss"), 0.0);
    path.run(5000, 25, |id| id % 2 == 0);
    let high = path.signal("p_loss");
    assert!(high > 0.3, "{high}");
    path.sparse(40, 1);
    assert!(path.signal("p_loss") < 0.1 * high);
}

#[test]
fn a_clock_set_forward_is_no_queue() {
    let mut path = Path::new(&Config::default());
    path.run(1000, 25, NONE).run(1000, 25 + 3_600_000, NONE);
    assert_eq!(path.last().congestion, TimeDelta::ZERO);
    assert!(path.last().ramp_up);
}

#[test]
fn a_clock_set_back_does_not_stop_the_reports() {
    let mut path = Path::new(&Config::default());
    path.run(1000, 25, NONE);
    let reports = path.reports;
    path.now = -3_600_000;
    path.run(1000, 25 - 3_601_000, NONE);
    assert!(path.reports > reports + 8, "{} reports", path.reports);
    assert_eq!(path.last().congestion, TimeDelta::ZERO);
}

#[test]
fn a_loss_is_forgotten_when_the_clock_is_set_back() {
    let mut path = Path::new(&Config::default());
    path.run(1000, 25, |id| id == 96);
    path.now = -3_600_000;
    path.run(300, 25 - 3_601_000, NONE);
    assert!(path.last().ramp_up, "the loss would lie an hour ahead");
}

#[test]
fn half_a_second_after_a_loss_ramp_up_is_allowed_again() {
    let mut path = Path::new(&Config::default());
    // Packet 95 is missing: it shows with packet 96, at 960 ms.
    path.run(1410, 25, |id| id == 95);
    assert!(!path.last().ramp_up, "at 1410 ms");
    path.run(100, 25, NONE);
    assert!(path.last().ramp_up, "at 1510 ms");
    let mut path = Path::new(&Config::default());
    // Packet 100 shows its loss at 1010 ms, half a second before the report at 1510 ms.
    path.run(1510, 25, |id| id == 100);
    assert!(path.last().ramp_up);
}

#[test]
fn the_filter_reads_nothing_from_before_a_silence() {
    let mut path = Path::new(&Config::default());
    path.run(1000, 25, NONE);
    path.now += 600;
    path.run(10, 65, NONE);
    path.run(100, 65, NONE);
    assert_eq!(path.signal("d_queue"), 40.0);
}

#[test]
fn another_route_has_its_own_base_delay_and_no_loss_yet() {
    let mut path = Path::new(&Config::default());
    path.run(3000, 20, |id| id % 10 == 0);
    let congested = path.last.unwrap().congestion;
    assert!(congested > TimeDelta::from_millis(100), "{congested:?}");
    path.observer.on_route_changed();
    // 60 ms more on the path: a queue, as no change of route was reported.
    let last_report = path.run(1000, 80, |_| false).last.unwrap();
    assert_eq!((last_report.congestion, last_report.ramp_up), (TimeDelta::ZERO, true));
}

#[test]
fn a_packet_at_an_unknown_time_is_not_lost_and_its_mark_counts_and_its_delay_does_not() {
    let config = Config { smoothed_each: SmoothedEach::Packet, ..Config::default() };
    let mut path = Path::new(&config);
    path.run(1000, 25, |_| false);
    // 30 packets at unknown times, each with an estimated delay that no packet had.
    for _ in 0..30 {
        path.now += 10;
        path.id += 1;
        path.observer.on_untimed(&Arrival { ecn: Ecn::Ce, ..packet(path.id, path.now, 5) });
        path.poll();
    }
    path.run(10, 25, |_| false);
    assert_eq!(
        path.observer.delays.min().map(|delay| path.observer.log.above_base(Some(delay))),
        Some(TimeDelta::ZERO)
    );
    assert_eq!((path.observer.p_loss, path.observer.lost_at), (0.0, None));
    assert!(path.observer.p_mark > 0.2, "{}", path.observer.p_mark);
    let base = path.observer.log.base();
    assert_eq!(base, Some(ApparentDelay::between(SendTime::ZERO, ms(25))), "reported packets alone");
}
