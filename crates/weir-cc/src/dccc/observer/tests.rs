//! The receiver's computations, by hand.

use super::*;
use crate::packet::Stamp;

/// The receiver's clock is two hours ahead.
const OFFSET: i64 = 7_200_000;

/// Receiver time of `ms` milliseconds.
fn at(ms: i64) -> ArrivalTime {
    ArrivalTime::from_millis(OFFSET + ms)
}

fn ms(ms: i64) -> TimeDelta {
    TimeDelta::from_millis(ms)
}

/// A packet that left and arrived at these ms, of 1000 bytes, stamped with a rate in kbit/s and an RTT in ms.
fn packet(departure: i64, arrival: i64, rate: u64, rtt: i64) -> Arrival {
    let (id, stamp) = (departure.unsigned_abs(), Stamp { rtt: ms(rtt), rate: DataRate::from_kbps(rate) });
    let plain = Arrival::new(id, SendTime::from_millis(departure), at(arrival), DataSize::from_bytes(1000));
    Arrival { marker: true, stamp, ..plain }
}

/// By the stamps on the packets.
fn observer() -> DcccObserver {
    DcccObserver::new(Config { sending_rate: SendingRate::Stamped, ..Config::default() }).unwrap()
}

/// The report that is due at `now`, in ms.
fn report(observer: &mut DcccObserver, now: i64) -> Option<DcccReport> {
    observer.report(at(now)).map(|report| match report {
        NativeReport::Dccc(report) => report,
        other => panic!("{other:?}"),
    })
}

/// The delay in ms without the clocks' offset.
fn delay(report: &DcccReport) -> f64 {
    report.delay.assuming_synchronised_clocks().millis_f64() - OFFSET as f64
}

#[test]
fn the_first_packet_is_reported_at_once_and_without_a_rate() {
    let mut observer = observer();
    assert_eq!(observer.next_report(), None);
    observer.on_arrival(&packet(0, 25, 200, 0));
    assert_eq!(observer.next_report(), Some(at(25)));
    let first = report(&mut observer, 25).unwrap();
    assert_eq!((delay(&first), first.interarrival, first.at), (25.0, TimeDelta::ZERO, at(25)));
    assert_eq!(first.receive_rate(), None);
    assert_eq!(observer.next_report(), Some(at(125)), "100 ms while the RTT is unknown");
}

#[test]
fn a_window_averages_delay_and_rate_and_spaces_by_time_stamps() {
    let mut observer = observer();
    observer.on_arrival(&packet(0, 25, 200, 0));
    report(&mut observer, 25);
    for (departure, arrival, rate) in [(40, 65, 200), (80, 108, 208), (90, 121, 216)] {
        observer.on_arrival(&packet(departure, arrival, rate, 50));
    }
    let report_1 = report(&mut observer, 125).unwrap();
    // (25 + 28 + 31)/3 = 28 ms; (200 + 208 + 216)/3 = 208 kbit/s; (121 − 25)/3 = 32 ms, 8000 bit/32 ms = 250 kbit/s.
    assert_eq!(delay(&report_1), 28.0);
    assert_eq!(report_1.sending_rate, DataRate::from_kbps(208));
    assert_eq!(report_1.interarrival, ms(32));
    assert_eq!(report_1.receive_rate(), Some(250e3));
    // By the RTT of the newest stamp.
    assert_eq!(observer.next_report(), Some(at(175)));
    // A lost packet lengthens the time from the last packet of the window before: (161 − 121)/1.
    observer.on_arrival(&packet(130, 161, 216, 50));
    assert_eq!(report(&mut observer, 175).unwrap().interarrival, ms(40));
}

#[test]
fn counting_divides_the_length_of_the_window() {
    let (interarrival, sending_rate) = (Interarrival::Count, SendingRate::Stamped);
    let config = Config { interarrival, sending_rate, ..Config::default() };
    let mut observer = DcccObserver::new(config).unwrap();
    observer.on_arrival(&packet(0, 25, 200, 0));
    report(&mut observer, 25);
    for (departure, arrival) in [(40, 65), (80, 108), (90, 121)] {
        observer.on_arrival(&packet(departure, arrival, 200, 50));
    }
    // (127 − 25)/3.
    assert_eq!(report(&mut observer, 127).unwrap().interarrival, ms(34));
}

#[test]
fn packets_of_different_sizes_make_a_rate_of_bytes() {
    let mut observer = observer();
    observer.on_arrival(&packet(0, 25, 200, 0));
    report(&mut observer, 25);
    for (arrival, bytes) in [(45, 1200), (65, 300)] {
        let size = DataSize::from_bytes(bytes);
        observer.on_arrival(&Arrival { size, ..packet(arrival - 25, arrival, 200, 50) });
    }
    // 1500 bytes in 40 ms are 300 kbit/s.
    let report = report(&mut observer, 125).unwrap();
    assert_eq!((report.packet_size.bytes(), report.receive_rate()), (750, Some(300e3)));
}

#[test]
fn time_stamps_of_a_millisecond_are_cut_on_either_side() {
    let mut observer = DcccObserver::new(Config::dccc_2017(ms(100))).unwrap();
    let micros = |us: i64| TimeDelta::from_micros(us);
    let arrive = |departure: i64, arrival: i64| Arrival {
        departure: SendTime::ZERO + micros(departure),
        at: at(0) + micros(arrival),
        id: departure.unsigned_abs(),
        ..packet(0, 0, 200, 0)
    };
    // 25.9 − 0.0: 25 − 0; 55.1 − 29.9: 55 − 29.
    observer.on_arrival(&arrive(0, 25_900));
    assert_eq!(delay(&report(&mut observer, 26).unwrap()), 25.0);
    observer.on_arrival(&arrive(29_900, 55_100));
    let NativeReport::Dccc(report) = observer.report(at(0) + micros(126_700)).unwrap() else {
        panic!("DCCC's")
    };
    assert_eq!((delay(&report), report.interarrival, report.at), (26.0, ms(30), at(126)));
}

#[test]
fn packets_that_come_at_once_wait_for_others() {
    let mut observer = observer();
    observer.on_arrival(&packet(0, 25, 200, 50));
    report(&mut observer, 25);
    observer.on_arrival(&packet(1, 25, 200, 50));
    assert_eq!(report(&mut observer, 75), None);
    assert_eq!(observer.next_report(), Some(at(125)));
    observer.on_arrival(&packet(30, 85, 200, 50));
    assert_eq!(report(&mut observer, 125).unwrap().interarrival, ms(30));
}

#[test]
fn without_packets_there_is_no_report_and_a_short_gap_counts() {
    let mut observer = observer();
    observer.on_arrival(&packet(0, 25, 200, 50));
    report(&mut observer, 25);
    assert_eq!(report(&mut observer, 75), None);
    assert_eq!(observer.next_report(), None);
    observer.on_arrival(&packet(120, 145, 200, 50));
    assert_eq!(observer.next_report(), Some(at(145)), "it is overdue");
    assert_eq!(report(&mut observer, 145).unwrap().interarrival, ms(120));
}

#[test]
fn a_pause_is_no_interarrival_time() {
    let mut observer = observer();
    observer.on_arrival(&packet(0, 25, 200, 50));
    report(&mut observer, 25);
    assert_eq!(report(&mut observer, 75), None);
    // Four intervals of 50 ms after the last packet.
    observer.on_arrival(&packet(200, 225, 200, 50));
    assert_eq!(observer.next_report(), Some(at(225)));
    assert_eq!(report(&mut observer, 225).unwrap().receive_rate(), None);
}

#[test]
fn a_clock_set_back_begins_anew() {
    let mut observer = observer();
    observer.on_arrival(&packet(0, 3_600_000, 200, 50));
    observer.on_arrival(&packet(10, 35, 200, 50));
    assert_eq!(observer.next_report(), Some(at(35)));
    assert_eq!(delay(&report(&mut observer, 35).unwrap()), 25.0);
}

#[test]
fn the_inner_quantities_are_shown() {
    let mut observer = observer();
    let signals = |observer: &DcccObserver| {
        let mut out = [0.0; 4];
        assert_eq!(observer.signals().len(), out.len());
        observer.read_signals(&mut out);
        out
    };
    assert!(signals(&observer)[..3].iter().all(|value| value.is_nan()));
    observer.on_arrival(&packet(0, 25, 200, 0));
    report(&mut observer, 25);
    assert!(signals(&observer)[0].is_nan(), "the first report has no rate");
    observer.on_arrival(&packet(40, 65, 208, 50));
    report(&mut observer, 125);
    assert_eq!(signals(&observer), [208e3, 200e3, 40.0, 50.0]);
}

/// An observer that goes by departures, as by default, has seen packet 0.
fn by_departures() -> DcccObserver {
    let mut observer = DcccObserver::new(Config::default()).unwrap();
    observer.on_arrival(&numbered(0, 0, 25));
    report(&mut observer, 25);
    observer
}

/// A packet stamped with a rate that was never sent.
fn numbered(id: u64, departure: i64, arrival: i64) -> Arrival {
    Arrival { id, ..packet(departure, arrival, 5000, 50) }
}

#[test]
fn the_sent_rate_follows_departures_and_not_the_target() {
    let mut observer = by_departures();
    for (id, departure) in [(1, 30), (2, 33), (3, 80)] {
        observer.on_arrival(&numbered(id, departure, departure + 25));
    }
    // 3 · 8000 bit in 80 ms, sent and received.
    let first = report(&mut observer, 125).unwrap();
    assert_eq!((first.sending_rate.bps(), first.receive_rate().map(f64::round)), (300_000, Some(300e3)));
    // Packet 5 is lost: three were sent in 60 ms, and two came. The path takes 10 ms longer: 8000 bit each 35 ms.
    for (id, departure) in [(4, 100), (6, 140)] {
        observer.on_arrival(&numbered(id, departure, departure + 35));
    }
    let second = report(&mut observer, 180).unwrap();
    assert_eq!((second.sending_rate.bps(), second.interarrival), (400_000, ms(35)));
}

#[test]
fn a_source_that_pauses_is_no_congestion_and_an_outage_begins_anew() {
    let mut observer = by_departures();
    // 400 ms between packets at an interval of 50 ms: 20 kbit/s sent and received.
    observer.on_arrival(&numbered(1, 400, 425));
    let sparse = report(&mut observer, 425).unwrap();
    assert_eq!((sparse.sending_rate.bps(), sparse.receive_rate()), (20_000, Some(20e3)));
    // Sent 10 ms later, and 200 ms late.
    observer.on_arrival(&numbered(2, 410, 635));
    assert_eq!(report(&mut observer, 635).unwrap().receive_rate(), None);
}

#[test]
fn packets_that_leave_at_once_wait_for_others() {
    let mut observer = by_departures();
    for (id, departure, arrival) in [(1, 0, 26), (2, 0, 27)] {
        observer.on_arrival(&numbered(id, departure, arrival));
    }
    assert_eq!(report(&mut observer, 125), None);
    observer.on_arrival(&numbered(3, 100, 130));
    assert_eq!(report(&mut observer, 175).unwrap().sending_rate.bps(), 240_000);
}

#[test]
fn unreported_packets_and_their_time_do_not_count() {
    let mut observer = by_departures();
    observer.on_arrival(&numbered(1, 10, 35));
    observer.on_unreported();
    // Packets 2 to 4 are not reported: of the 40 ms between 1 and 5 a fourth counts. 2 · 8000 bit in 20 ms.
    observer.on_arrival(&numbered(5, 50, 75));
    let report = report(&mut observer, 125).unwrap();
    assert_eq!((report.sending_rate.bps(), report.interarrival), (800_000, ms(10)));
}

#[test]
fn a_packet_at_an_unknown_time_counts_in_the_spacing_and_not_in_the_means() {
    let mut observer = observer();
    observer.on_arrival(&packet(0, 25, 200, 0));
    report(&mut observer, 25);
    observer.on_arrival(&packet(40, 65, 200, 50));
    observer.on_untimed(&packet(80, 120, 800, 50));
    observer.on_arrival(&packet(90, 125, 216, 50));
    let reported = report(&mut observer, 125).unwrap();
    // Delays of 25 and 35 ms, rates of 200 and 216 kbit/s; 100 ms for three packets.
    assert_eq!((delay(&reported), reported.sending_rate), (30.0, DataRate::from_kbps(208)));
    assert_eq!(reported.interarrival, ms(100) / 3);
}
