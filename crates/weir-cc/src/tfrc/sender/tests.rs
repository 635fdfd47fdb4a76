//! The sender half of TFRC (`tfrc::sender`, RFC 5348 §4), with values computed by hand.

use weir_units::DataSize;

use super::*;
use crate::controller::Controller;
use crate::decision::{AllocatedRate, Decision};

const RTT: TimeDelta = TimeDelta::from_millis(100);

fn kbps(rate: u64) -> DataRate {
    DataRate::from_kbps(rate)
}

/// Sender time of `ms` milliseconds.
fn ms(ms: i64) -> SendTime {
    SendTime::from_millis(ms)
}

/// 10 to 100 000 kbit/s, from 200 kbit/s. Packets of 1000 bytes.
fn tfrc(config: Config) -> Tfrc {
    let limits = RateLimits::new(kbps(10), kbps(200), kbps(100_000)).unwrap();
    Tfrc::new(Config { segment_size: DataSize::from_bytes(1000), ..config }, limits).unwrap()
}

fn state(application_limited: bool) -> SendState {
    SendState { application_limited, ..SendState::default() }
}

/// A packet of 1000 bytes leaves at `at`, in ms.
fn send(sender: &mut Tfrc, at: i64, application_limited: bool) {
    let size = DataSize::from_bytes(1000);
    let packet = SentPacket::new(0, ms(at), size);
    sender.on_sent(&packet, &state(application_limited));
}

/// Packets have left for a round trip, and a report comes. Returns the rate in kbit/s.
fn deliver(sender: &mut Tfrc, at: i64, p: f64, received: u64, application_limited: bool) -> f64 {
    report(sender, at, p, received, application_limited);
    rate(sender)
}

/// Ten packets leave in the 100 ms before `at`; then a report with these values arrives.
fn report(sender: &mut Tfrc, at: i64, p: f64, received: u64, application_limited: bool) -> Option<Decision> {
    (at - 100..=at).step_by(10).for_each(|at| send(sender, at, application_limited));
    let report = TfrcReport { loss_event_rate: p, receive_rate: kbps(received) };
    let feedback = Feedback::Native { report: NativeReport::Tfrc(report), rtt: Some(RTT) };
    sender.on_feedback(ms(at), &feedback, &state(application_limited))
}

/// `X` in kbit/s.
fn rate(sender: &Tfrc) -> f64 {
    sender.frame().rate() / 1e3
}

/// Checks that `rate` is `expected` within 2e-3.
fn near(rate: f64, expected: f64) {
    assert!((rate / expected - 1.0).abs() < 2e-3, "{rate}, not {expected} kbit/s");
}

#[test]
fn it_begins_at_the_start_rate_and_the_first_report_gives_four_packets_per_round_trip() {
    let mut sender = tfrc(Config::default());
    assert_eq!(sender.target().media_rate, kbps(200));
    // min(4·1000, max(2·1000, 4380)) = 4000 bytes in 100 ms: 320 kbit/s.
    near(deliver(&mut sender, 100, 0.0, 0, false), 320.0);
    // With 1460-byte segments 4380 bytes.
    let mut sender = tfrc(Config::default());
    sender.rule_mut().config.segment_size = DataSize::from_bytes(1460);
    near(deliver(&mut sender, 100, 0.0, 0, false), 350.4);
}

#[test]
fn slow_start_doubles_once_per_round_trip_up_to_twice_what_is_received() {
    let mut sender = tfrc(Config::default());
    deliver(&mut sender, 100, 0.0, 0, false);
    near(deliver(&mut sender, 200, 0.0, 300, false), 640.0);
    near(deliver(&mut sender, 300, 0.0, 600, false), 1280.0);
    // The beginning's infinity is older than two round trips: 2·600 and 2·700.
    near(deliver(&mut sender, 400, 0.0, 600, false), 1200.0);
    near(deliver(&mut sender, 500, 0.0, 700, false), 1400.0);
    assert_eq!(report(&mut sender, 550, 0.0, 1400, false), None, "it is not time to double yet");
    near(rate(&sender), 1400.0);
    near(deliver(&mut sender, 600, 0.0, 1400, false), 2800.0);
}

#[test]
fn after_a_loss_the_rate_is_that_of_the_equation_but_at_most_twice_what_is_received() {
    let mut sender = tfrc(Config::default());
    deliver(&mut sender, 100, 0.0, 0, false);
    // 11.233 packets per round trip of 100 ms: 898.6 kbit/s.
    near(deliver(&mut sender, 200, 0.01, 400, false), 898.6);
    let decision = deliver(&mut sender, 400, 0.001, 500, false);
    // 38.38 packets: 3070 kbit/s; twice 500 is less.
    near(decision, 1000.0);
    assert_eq!(sender.found(), LimitingFactor::Loss);
}

#[test]
fn the_rate_of_ns2_rises_by_a_packet_per_round_trip() {
    let mut sender = tfrc(Config { rtt_filter: 0.9, ..Config::ns2() });
    // The measured timeout is 1 + 4·0.5 = 3 round trips at first, and shrinks.
    deliver(&mut sender, 100, 0.0, 0, false);
    let first = deliver(&mut sender, 200, 0.01, 4000, false);
    assert!((898.0..1000.0).contains(&first), "{first} kbit/s at once");
    // 1000 bytes in 100 ms, once per 100 ms: 80 kbit/s.
    near(deliver(&mut sender, 300, 0.0001, 4000, false), first + 80.0);
    near(deliver(&mut sender, 350, 0.0001, 4000, false), first + 120.0);
    near(deliver(&mut sender, 1350, 0.0001, 4000, false), first + 280.0);
    assert!(deliver(&mut sender, 1450, 0.02, 4000, false) < 800.0, "it falls at once");
}

#[test]
fn while_data_are_scarce_the_greatest_receive_rate_counts_and_a_loss_lowers_it() {
    let mut sender = tfrc(Config::default());
    deliver(&mut sender, 100, 0.0, 0, false);
    deliver(&mut sender, 200, 0.01, 400, false);
    (0..5).for_each(|n| {
        deliver(&mut sender, 300 + 100 * n, 0.01, 200, true);
    });
    // The 400 of the last report that was not limited is long gone by time, but is the greatest; 898.6 > 800.
    near(deliver(&mut sender, 800, 0.01, 200, true), 800.0);
    // p rises: the set is halved to 200; 0.85·100 is less; 200 is the limit, without the factor of two.
    near(deliver(&mut sender, 900, 0.02, 100, true), 200.0);
}

#[test]
fn without_feedback_the_rate_is_halved() {
    let mut sender = tfrc(Config::default());
    assert_eq!(sender.next_timeout(), None);
    send(&mut sender, 0, false);
    assert_eq!(sender.next_timeout(), Some(ms(2000)));
    assert_eq!(sender.on_timeout(ms(1999), &state(false)), None);
    let decision = sender.on_timeout(ms(2000), &state(false)).unwrap();
    assert_eq!((decision.rate, decision.why), (kbps(100), ChangeReason::Timeout));
    assert_eq!(sender.target().limiting_factor, LimitingFactor::Silence);
    // Two packets of 1000 bytes at 100 kbit/s: 160 ms.
    assert_eq!(sender.next_timeout(), Some(ms(2160)));
}

#[test]
fn the_timer_lasts_four_round_trips() {
    let mut sender = tfrc(Config::default());
    deliver(&mut sender, 100, 0.0, 0, false);
    assert_eq!(sender.next_timeout(), Some(ms(500)));
}

#[test]
fn silence_after_losses_halves_what_was_received_or_computed() {
    // The receive rate is the limit: X_Bps = 3070 > 2·500. First 500, then 250.
    let mut sender = tfrc(Config::default());
    for at in [100, 300, 600] {
        deliver(&mut sender, at, 0.001, 500, false);
    }
    near(rate(&sender), 1000.0);
    for (at, left) in [(1100, 500.0), (1600, 250.0)] {
        send(&mut sender, at - 1, false);
        sender.on_timeout(ms(at), &state(false));
        near(rate(&sender), left);
    }
    // The equation is the limit: 898.6/2.
    let mut sender = tfrc(Config::default());
    for at in [100, 300, 600] {
        deliver(&mut sender, at, 0.01, 800, false);
    }
    send(&mut sender, 900, false);
    sender.on_timeout(ms(1100), &state(false));
    near(rate(&sender), 449.3);
}

#[test]
fn an_idle_sender_keeps_a_rate_that_it_could_begin_with() {
    let mut sender = tfrc(Config::default());
    deliver(&mut sender, 100, 0.0, 0, false);
    // No packet was sent since: 320 < 2·320.
    sender.on_timeout(ms(500), &state(true));
    near(rate(&sender), 320.0);
    send(&mut sender, 600, true);
    sender.on_timeout(ms(900), &state(true));
    near(rate(&sender), 160.0);
}

#[test]
fn a_longer_round_trip_lowers_the_rate_for_the_moment() {
    let mut sender = tfrc(Config::default());
    deliver(&mut sender, 100, 0.0, 0, false);
    let report = TfrcReport { loss_event_rate: 0.0, receive_rate: kbps(300) };
    let rtt = Some(TimeDelta::from_millis(144));
    let feedback = Feedback::Native { report: NativeReport::Tfrc(report), rtt };
    sender.on_feedback(ms(150), &feedback, &state(false));
    // X stays at 320. (0.9·√100 + 0.1·√144)/√144 = 10.2/12 = 0.85: 272.
    assert_eq!(sender.frame().rate().round(), 320e3);
    assert_eq!(sender.target().sending_rate, kbps(272));
    let mut plain = tfrc(Config { oscillation_prevention: false, ..Config::default() });
    deliver(&mut plain, 100, 0.0, 0, false);
    plain.on_feedback(ms(150), &feedback, &state(false));
    assert_eq!(plain.target().sending_rate, kbps(320));
}

#[test]
fn coupling_gives_the_rate_and_the_controller_goes_on_from_there() {
    let mut sender = tfrc(Config::default());
    for at in [100, 300, 600] {
        deliver(&mut sender, at, 0.001, 500, false);
    }
    assert_eq!(sender.apply_allocation(ms(650), AllocatedRate { rate: kbps(300) }), kbps(300));
    let target = sender.target();
    assert_eq!((target.sending_rate, target.limiting_factor), (kbps(300), LimitingFactor::Coupling));
    // The receive rate of 500 is 150 at this rate: a feedback timeout leaves half of twice that.
    send(&mut sender, 700, false);
    sender.on_timeout(ms(1100), &state(false));
    assert_eq!(sender.target().sending_rate, kbps(150));
}

#[test]
fn bytes_received_before_an_allocation_are_scaled() {
    let mut sender = tfrc(Config::default());
    for at in [100, 300, 600] {
        deliver(&mut sender, at, 0.001, 500, false);
    }
    sender.apply_allocation(ms(650), AllocatedRate { rate: kbps(300) });
    // The packets left from 500 to 600 ms: 0.3·500 = 150, twice that.
    near(deliver(&mut sender, 700, 0.001, 500, false), 300.0);
    // From 700 to 800 ms: the 250 themselves.
    near(deliver(&mut sender, 900, 0.001, 250, false), 500.0);
}

#[test]
fn the_stamp_carries_the_round_trip_time() {
    let mut sender = tfrc(Config::default());
    assert_eq!(sender.stamp().unwrap().rtt, TimeDelta::ZERO);
    deliver(&mut sender, 100, 0.0, 0, false);
    assert_eq!(sender.stamp(), Some(Stamp { rtt: RTT, rate: kbps(320) }));
}
