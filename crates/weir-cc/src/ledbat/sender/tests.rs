//! The sender half of LEDBAT (`ledbat::Ledbat`, RFC 6817 §2.4.2), with values computed by hand.

use weir_units::DataRate;

use super::*;
use crate::controller::{Controller, PathEvent};
use crate::decision::AllocatedRate;
use crate::time::ArrivalTime;

const RTT: i64 = 100;

fn kbps(rate: u64) -> DataRate {
    DataRate::from_kbps(rate)
}

/// Sender time of `ms` milliseconds.
fn ms(ms: i64) -> SendTime {
    SendTime::from_millis(ms)
}

/// Packets of 1000 bytes.
fn config() -> Config {
    Config { segment_size: DataSize::from_bytes(1000), flight_headroom: 1.0, ..Config::default() }
}

/// 20 to 10 000 kbit/s, from 800: 10 packets per round trip of 100 ms.
fn ledbat() -> Ledbat {
    let limits = RateLimits::new(kbps(20), kbps(800), kbps(10_000)).unwrap();
    Ledbat::new(config(), limits).unwrap()
}

fn packet(id: u64, at: i64) -> SentPacket {
    let size = DataSize::from_bytes(1000);
    SentPacket::new(id, ms(at), size)
}

/// `bytes` in flight.
fn flying(bytes: u64) -> SendState {
    SendState { in_flight: DataSize::from_bytes(bytes), ..SendState::default() }
}

fn feed(sender: &mut Ledbat, at: i64, results: &[PacketResult], state: &SendState) -> ChangeReason {
    let rtt = Some(TimeDelta::from_millis(RTT));
    let feedback = Feedback::packets(results, rtt);
    sender.on_feedback(ms(at), &feedback, state).unwrap().why
}

/// Packets `ids` left at `at` and met a queue of `queue` ms; reported a round trip later.
fn ack(
    sender: &mut Ledbat,
    ids: core::ops::Range<u64>,
    at: i64,
    queue: i64,
    state: &SendState,
) -> ChangeReason {
    let arrived = ArrivalTime::from_millis(3_600_000 + at + 25 + queue);
    let results: Vec<_> = ids
        .map(|id| PacketResult {
            sent: packet(id, at),
            fate: PacketFate::Arrived { at: Some(arrived), ecn: Ecn::NotEct },
        })
        .collect();
    feed(sender, at + RTT, &results, state)
}

#[test]
fn it_begins_at_the_start_rate_and_with_what_that_has_in_flight() {
    let mut sender = ledbat();
    let target = sender.target();
    assert_eq!(
        (target.media_rate, target.window, target.limiting_factor),
        (kbps(800), None, LimitingFactor::RampUp)
    );
    assert_eq!(ack(&mut sender, 0..1, 0, 0, &flying(100_000)), ChangeReason::Start);
    // 800 kbit/s · 100 ms = 10 000 bytes, and 1 · 1 · 1000 · 1000/10 000 = 100.
    assert_eq!(sender.rule().cwnd, 10_100.0);
    assert_eq!(sender.target().window, Some(DataSize::from_bytes(10_100)));
    assert_eq!(sender.target().sending_rate, kbps(808));
}

/// A sender with a window of 10 000 bytes and a base delay.
fn settled() -> Ledbat {
    let mut sender = ledbat();
    ack(&mut sender, 0..1, 0, 0, &flying(100_000));
    sender.rule_mut().cwnd = 10_000.0;
    sender
}

#[test]
fn the_window_moves_in_proportion_to_the_distance_from_the_target() {
    // off_target = (100 − q)/100; two packets: GAIN · off · 2000 · 1000/10 000 = 200 · off. The samples of 0 ms are
    // more than a round trip older.
    for (queue, window) in [(0, 10_200.0), (50, 10_100.0), (100, 10_000.0), (200, 9_800.0), (350, 9_500.0)] {
        let mut sender = settled();
        ack(&mut sender, 1..3, 200, queue, &flying(100_000));
        assert!((sender.rule().cwnd - window).abs() < 1e-9, "{queue} ms: {}", sender.rule().cwnd);
    }
    let mut sender = settled();
    assert_eq!(ack(&mut sender, 1..3, 200, 150, &flying(100_000)), ChangeReason::Delay);
    assert_eq!(sender.target().limiting_factor, LimitingFactor::Delay);
    assert!((sender.rule().off_target().unwrap() + 0.5).abs() < 1e-12);
}

#[test]
fn the_window_keeps_to_what_is_in_flight_and_never_below_two_packets() {
    let mut sender = settled();
    // 4000 bytes in flight and one packet.
    ack(&mut sender, 1..3, 200, 0, &flying(4_000));
    assert_eq!(sender.rule().cwnd, 5_000.0);
    // A hundred packets above a queue of a second: far below zero.
    ack(&mut sender, 3..103, 400, 1000, &flying(100_000));
    assert_eq!(sender.rule().cwnd, 2_000.0);
}

#[test]
fn packets_sent_within_a_round_trip_count_as_in_flight() {
    let mut sender = settled();
    (0..6).for_each(|n| sender.on_sent(&packet(10 + n, 120 + n as i64), &flying(0)));
    ack(&mut sender, 1..3, 200, 0, &flying(1_000));
    // Six packets within the round trip before, and one.
    assert_eq!(sender.rule().cwnd, 7_000.0);
}

/// Of packets 10 to 13 the first is missing.
fn lose(sender: &mut Ledbat, first: u64, at: i64) -> ChangeReason {
    let mut results = vec![PacketResult { sent: packet(first, at), fate: PacketFate::Missing }];
    let arrived = ArrivalTime::from_millis(3_600_000 + at + 125);
    let fate = PacketFate::Arrived { at: Some(arrived), ecn: Ecn::NotEct };
    results.extend((1..4).map(|n| PacketResult { sent: packet(first + n, at), fate }));
    feed(sender, at + RTT, &results, &flying(100_000))
}

#[test]
fn a_loss_halves_the_window_once_per_round_trip() {
    let mut sender = settled();
    // The queue of the others is at the target: no other change.
    assert_eq!(lose(&mut sender, 10, 200), ChangeReason::Loss);
    assert_eq!((sender.rule().cwnd, sender.target().limiting_factor), (5_000.0, LimitingFactor::Loss));
    assert_eq!(lose(&mut sender, 20, 299), ChangeReason::Growth);
    assert_eq!(sender.rule().cwnd, 5_000.0);
    assert_eq!(lose(&mut sender, 30, 300), ChangeReason::Loss);
    assert_eq!(sender.rule().cwnd, 2_500.0);
    lose(&mut sender, 40, 500);
    assert_eq!(sender.rule().cwnd, 2_000.0, "two packets are the least");
}

#[test]
fn the_window_lets_through_what_the_pacer_lets_go_at_the_least_rate() {
    let limits = RateLimits::new(kbps(400), kbps(800), kbps(10_000)).unwrap();
    let mut sender = Ledbat::new(config(), limits).unwrap();
    ack(&mut sender, 0..1, 0, 0, &flying(100_000));
    sender.rule_mut().cwnd = 2_000.0;
    // 1.25 · 400 kbit/s · 100 ms.
    assert_eq!(sender.target().window, Some(DataSize::from_bytes(6_250)));
}

#[test]
fn two_later_packets_do_not_make_a_loss() {
    let mut sender = settled();
    let fate = PacketFate::Arrived { at: Some(ArrivalTime::from_millis(3_600_325)), ecn: Ecn::NotEct };
    let missing = PacketResult { sent: packet(10, 200), fate: PacketFate::Missing };
    let later = |id| PacketResult { sent: packet(id, 200), fate };
    feed(&mut sender, 300, &[missing, later(11), later(12)], &flying(100_000));
    assert_eq!(sender.rule().cwnd, 10_000.0);
}

#[test]
fn feedback_that_moves_no_window_makes_no_decision() {
    let mut sender = settled();
    let before = sender.target();
    let results = [PacketResult { sent: packet(10, 200), fate: PacketFate::Missing }];
    let feedback = Feedback::packets(&results, None);
    assert_eq!(sender.on_feedback(ms(300), &feedback, &flying(100_000)), None);
    assert_eq!((sender.rule().cwnd, sender.target()), (10_000.0, before));
}

#[test]
fn a_mark_is_a_loss() {
    let mut sender = settled();
    let fate = PacketFate::Arrived { at: Some(ArrivalTime::from_millis(3_600_325)), ecn: Ecn::Ce };
    let marked = [PacketResult { sent: packet(10, 200), fate }];
    assert_eq!(feed(&mut sender, 300, &marked, &flying(100_000)), ChangeReason::Mark);
    assert_eq!(sender.rule().cwnd, 5_000.0);
}

#[test]
fn silence_leaves_one_packet_and_then_halves() {
    let mut sender = settled();
    assert_eq!(sender.next_timeout(), None);
    sender.on_sent(&packet(10, 200), &flying(0));
    // SRTT + 4·RTTVAR = 300 ms is below the least of 1 s.
    assert_eq!(sender.next_timeout(), Some(ms(1200)));
    assert_eq!(sender.on_timeout(ms(1199), &flying(0)), None);
    let decision = sender.on_timeout(ms(1200), &flying(0)).unwrap();
    // 1000 bytes per 100 ms.
    assert_eq!((decision.rate, decision.why), (kbps(80), ChangeReason::Timeout));
    assert_eq!(sender.target().limiting_factor, LimitingFactor::Silence);
    assert_eq!(sender.next_timeout(), Some(ms(3200)));
    sender.on_sent(&packet(11, 1300), &flying(0));
    sender.on_timeout(ms(3200), &flying(0));
    assert_eq!(sender.frame().data_rate(), kbps(40));
    assert_eq!(sender.target().window, Some(DataSize::from_bytes(1000)), "a packet always fits");
    assert_eq!(sender.next_timeout(), Some(ms(7200)));
    assert_eq!(sender.on_timeout(ms(7200), &flying(0)), None, "nothing has left since");
    assert_eq!(sender.next_timeout(), None);
    // The next acknowledgement lifts it to two packets.
    ack(&mut sender, 10..11, 7100, 0, &flying(1_000));
    assert_eq!(sender.rule().cwnd, 2_000.0);
}

#[test]
fn outstanding_packets_time_out_although_a_report_had_some() {
    let mut sender = settled();
    (10..30).for_each(|id| sender.on_sent(&packet(id, 200), &flying(20_000)));
    ack(&mut sender, 10..11, 200, 0, &flying(20_000));
    // The report came at 300 ms and left 19 packets: CTO from there.
    assert_eq!(sender.next_timeout(), Some(ms(1300)));
    let decision = sender.on_timeout(ms(1300), &flying(19_000)).unwrap();
    assert_eq!((decision.rate, decision.why), (kbps(80), ChangeReason::Timeout));
    assert_eq!(sender.target().limiting_factor, LimitingFactor::Silence);
    ack(&mut sender, 11..30, 1300, 0, &flying(19_000));
    assert_eq!(sender.next_timeout(), None, "nothing is outstanding");
}

#[test]
fn the_timeout_survives_a_clock_set_back_and_ends_with_the_route() {
    let mut sender = settled();
    sender.on_sent(&packet(10, 9_000_000), &flying(0));
    sender.on_sent(&packet(11, 200), &flying(0));
    // No further off than the second of two timeouts would be.
    assert_eq!(sender.next_timeout(), Some(ms(2200)));
    sender.on_timeout(ms(2200), &flying(0));
    assert_eq!(sender.rule().cto, TimeDelta::from_secs(2));
    sender.on_event(ms(2300), PathEvent::RouteChanged);
    assert_eq!((sender.next_timeout(), sender.rule().cto), (None, TimeDelta::from_secs(1)));
    sender.on_sent(&packet(12, 2400), &flying(0));
    assert_eq!(sender.next_timeout(), Some(ms(3400)));
}

#[test]
fn coupling_gives_the_rate_and_the_window_follows() {
    let mut sender = ledbat();
    ack(&mut sender, 0..1, 0, 0, &flying(100_000));
    // 10 100 bytes at 808 kbit/s, times 400/808.
    assert_eq!(sender.apply_allocation(ms(200), AllocatedRate { rate: kbps(400) }), kbps(400));
    let target = sender.target();
    assert_eq!((target.sending_rate, target.limiting_factor), (kbps(400), LimitingFactor::Coupling));
    assert_eq!(target.window, Some(DataSize::from_bytes(5000)));
}

#[test]
fn headers_fill_the_window_but_are_no_media() {
    let mut sender = settled();
    let size = DataSize::from_bytes(1250);
    sender.on_sent(&SentPacket { size, ..packet(10, 200) }, &flying(0));
    // The queue is at the target. 10 000 bytes per 100 ms, four fifths of them payload.
    ack(&mut sender, 10..11, 200, 100, &flying(100_000));
    assert_eq!(sender.rule().cwnd, 10_000.0);
    assert_eq!(sender.target().media_rate, kbps(640));
}

#[test]
fn a_change_of_route_forgets_the_delays() {
    let mut sender = settled();
    sender.on_event(ms(200), PathEvent::RouteChanged);
    assert_eq!((sender.frame().data_rate(), sender.rule().delay.get()), (kbps(800), None));
}

#[test]
fn a_slower_route_is_no_queue_and_has_no_losses_of_the_last_one() {
    let mut sender = settled();
    (10..20).for_each(|id| sender.on_sent(&packet(id, 200), &flying(10_000)));
    let missing = |id| PacketResult { sent: packet(id, 200), fate: PacketFate::Missing };
    let at = ArrivalTime::from_millis(3_600_225);
    let arrived =
        PacketResult { sent: packet(11, 200), fate: PacketFate::Arrived { at: Some(at), ecn: Ecn::NotEct } };
    feed(&mut sender, 300, &[missing(10), arrived], &flying(10_000));
    sender.on_event(ms(310), PathEvent::RouteChanged);
    assert_eq!((sender.rule().rtt.is_none(), sender.rule().delay.get()), (true, None));
    // The new route is slower by 100 ms: that is no queue. Packet 10 would be lost by now, on the other one.
    (20..24).for_each(|id| sender.on_sent(&packet(id, 330), &flying(4_000)));
    ack(&mut sender, 20..24, 330, 100, &flying(4_000));
    assert_eq!(
        (sender.rule().delay.get(), sender.target().limiting_factor),
        (Some(TimeDelta::ZERO), LimitingFactor::RampUp)
    );
}

#[test]
fn an_arrival_without_a_time_is_acknowledged_and_its_mark_counts_and_its_delay_does_not() {
    let untimed =
        |id, ecn| [PacketResult { sent: packet(id, 200), fate: PacketFate::Arrived { at: None, ecn } }];
    let mut sender = settled();
    let (queue, srtt) = (sender.rule().delay.get(), sender.rule().smoothed_rtt());
    // 10 000 + 1 · 1 · 1000 · 1000/10 000.
    feed(&mut sender, 900, &untimed(10, Ecn::Ect0), &flying(100_000));
    assert_eq!(sender.rule().cwnd, 10_100.0);
    assert_eq!((sender.rule().delay.get(), sender.rule().smoothed_rtt()), (queue, srtt));
    assert_eq!(feed(&mut sender, 910, &untimed(11, Ecn::Ce), &flying(100_000)), ChangeReason::Mark);
    assert!(sender.rule().cwnd < 5_100.0, "{}", sender.rule().cwnd);
}
