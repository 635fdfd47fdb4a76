//! The sender half of RAP (`rap::Rap`, INFOCOM 1999 and ns-2.35), with values computed by hand.

use weir_units::DataSize;

use super::*;
use crate::controller::{Controller, PathEvent};
use crate::decision::{AllocatedRate, Decision};

fn kbps(rate: u64) -> DataRate {
    DataRate::from_kbps(rate)
}

/// Sender time of `ms` milliseconds.
fn ms(ms: i64) -> SendTime {
    SendTime::from_millis(ms)
}

/// Packets of 1000 bytes; 1 to 10 000 kbit/s, from 400: 5 packets per round trip of 100 ms.
fn rap(config: Config) -> Rap {
    let limits = RateLimits::new(kbps(1), kbps(400), kbps(10_000)).unwrap();
    Rap::new(Config { packet_size: DataSize::from_bytes(1000), ..config }, limits).unwrap()
}

fn packet(id: u64, at: i64) -> SentPacket {
    let size = DataSize::from_bytes(1000);
    SentPacket::new(id, ms(at), size)
}

fn send(sender: &mut Rap, ids: core::ops::Range<u64>, at: i64) {
    ids.for_each(|id| sender.on_sent(&packet(id, at), &SendState::default()));
}

/// Feedback with these results arrives at `at`, in ms.
fn feed(sender: &mut Rap, at: i64, results: &[PacketResult]) -> Option<Decision> {
    // The receiver's clock is an hour ahead, and a packet with a one-way delay of 50 ms waited 10 ms.
    let made = Some(ArrivalTime::from_millis(3_600_000 + at - 50));
    let feedback = Feedback::Packets { results, at: made, rtt: None, missed_reports: 0 };
    sender.on_feedback(ms(at), &feedback, &SendState::default())
}

/// Packets `ids`, which left at `at`, arrived 50 ms later, were reported after 10 ms, in a report that took 50 ms.
fn arrived(ids: core::ops::Range<u64>, at: i64) -> Vec<PacketResult> {
    let fate =
        PacketFate::Arrived { at: Some(ArrivalTime::from_millis(3_600_000 + at + 50)), ecn: Ecn::NotEct };
    ids.map(|id| PacketResult { sent: packet(id, at), fate }).collect()
}

fn ack(sender: &mut Rap, ids: core::ops::Range<u64>, at: i64) -> Option<Decision> {
    feed(sender, at + 110, &arrived(ids, at))
}

fn time_out(sender: &mut Rap, at: i64) -> Option<Decision> {
    sender.on_timeout(ms(at), &SendState::default())
}

#[test]
fn a_round_trip_leaves_out_what_a_packet_waited() {
    let mut sender = rap(Config::default());
    send(&mut sender, 0..1, 0);
    assert_eq!(ack(&mut sender, 0..1, 0), None);
    assert_eq!(sender.frame().rtt(), Some(TimeDelta::from_millis(100)));
    assert_eq!(sender.target().sending_rate, kbps(400), "the start rate stays");
    // The first step ends a round trip after the first acknowledgement.
    assert_eq!(sender.next_timeout(), Some(ms(210)));
}

#[test]
fn a_report_that_does_not_say_when_it_was_made_counts_the_wait_in() {
    let mut sender = rap(Config::default());
    send(&mut sender, 0..1, 0);
    let results = arrived(0..1, 0);
    let feedback = Feedback::packets(&results, None);
    assert_eq!(sender.on_feedback(ms(110), &feedback, &SendState::default()), None);
    assert_eq!(sender.frame().rtt(), Some(TimeDelta::from_millis(110)));
}

/// A sender whose first step, with an SRTT of 100 ms, ends at 210 ms.
fn settled(config: Config) -> Rap {
    let mut sender = rap(config);
    send(&mut sender, 0..1, 0);
    ack(&mut sender, 0..1, 0);
    sender
}

#[test]
fn each_step_adds_a_packet_per_round_trip() {
    let mut sender = settled(Config::default());
    for step in 0..3_i64 {
        let at = 210 + 100 * step;
        let ids = 10 * step as u64 + 1..10 * step as u64 + 9;
        send(&mut sender, ids.clone(), at - 109);
        ack(&mut sender, ids, at - 110);
        let decision = time_out(&mut sender, at).unwrap();
        // 80 kbit/s more: 480, 560, 640.
        assert_eq!(decision.rate, kbps(480 + 80 * step as u64));
    }
}

#[test]
fn a_step_that_was_not_used_adds_nothing() {
    // Five packets are allowed in a step, so 2500 bytes must have been sent. The first packet counts.
    for (packets, rate) in [(1, 400), (2, 480)] {
        let mut sender = settled(Config::default());
        send(&mut sender, 1..1 + packets, 150);
        assert_eq!(time_out(&mut sender, 210).unwrap().rate, kbps(rate));
    }
}

#[test]
fn a_step_without_a_report_adds_nothing() {
    let mut sender = settled(Config::default());
    send(&mut sender, 1..9, 200);
    assert_eq!(time_out(&mut sender, 210).unwrap().rate, kbps(480));
    send(&mut sender, 9..17, 300);
    assert_eq!(time_out(&mut sender, 310), None, "nor does it decide anything");
    assert_eq!(sender.target().sending_rate, kbps(480));
}

#[test]
fn all_losses_of_a_flight_halve_the_rate_once() {
    let mut sender = settled(Config::default());
    send(&mut sender, 1..20, 110);
    let missing = |ids: core::ops::Range<u64>| {
        ids.map(|id| PacketResult { sent: packet(id, 110), fate: PacketFate::Missing }).collect::<Vec<_>>()
    };
    let report = [missing(1..3), arrived(3..6, 110)].concat();
    let decision = feed(&mut sender, 220, &report).unwrap();
    assert_eq!((decision.rate, decision.why), (kbps(200), ChangeReason::Loss));
    assert_eq!(sender.target().limiting_factor, LimitingFactor::Loss);
    assert_eq!(sender.rule().step_due, Some(ms(320)), "a whole round trip without growth");
    // Later losses among the twenty are the same congestion.
    let report = [missing(6..8), arrived(8..11, 110)].concat();
    assert_eq!(feed(&mut sender, 230, &report), None);
    assert_eq!(sender.target().sending_rate, kbps(200));
    // A loss among packets that left after the reaction is another one.
    send(&mut sender, 20..30, 240);
    let report = [missing(20..21), arrived(21..24, 240)].concat();
    assert_eq!(feed(&mut sender, 350, &report).unwrap().rate, kbps(100));
}

#[test]
fn a_packet_is_lost_three_numbers_below_the_newest() {
    let mut sender = settled(Config::default());
    send(&mut sender, 1..10, 110);
    let missing = PacketResult { sent: packet(1, 110), fate: PacketFate::Missing };
    let report = [vec![missing], arrived(2..4, 110)].concat();
    assert_eq!(feed(&mut sender, 220, &report), None);
    assert_eq!(sender.target().sending_rate, kbps(400));
    assert_eq!(feed(&mut sender, 220, &arrived(4..5, 110)).unwrap().rate, kbps(200));
}

#[test]
fn unreported_packets_are_lost_after_each_timeout_and_halve_the_rate() {
    let mut sender = settled(Config { usage_threshold: 1.0, ..Config::default() });
    send(&mut sender, 1..3, 200);
    // 1.2 · 100 + 10 ms; the step ends before.
    assert_eq!(sender.rule().timeout_due(), Some(ms(330)));
    time_out(&mut sender, 210);
    send(&mut sender, 3..4, 250);
    let decision = time_out(&mut sender, 330).unwrap();
    assert_eq!((decision.rate, decision.why), (kbps(200), ChangeReason::Timeout));
    assert_eq!(sender.target().limiting_factor, LimitingFactor::Silence);
    // Packet 3 left before the reaction: the same congestion. Packet 4 is another one.
    send(&mut sender, 4..5, 340);
    assert_eq!(time_out(&mut sender, 380), None);
    assert_eq!(sender.target().sending_rate, kbps(200));
    assert_eq!(time_out(&mut sender, 470).unwrap().rate, kbps(100));
}

#[test]
fn a_missing_packet_is_lost_after_its_timeout_if_no_three_later_ones_come() {
    let mut sender = settled(Config { usage_threshold: 1.0, ..Config::default() });
    send(&mut sender, 1..3, 200);
    time_out(&mut sender, 210);
    let missing = PacketResult { sent: packet(1, 200), fate: PacketFate::Missing };
    assert_eq!(feed(&mut sender, 310, &[vec![missing], arrived(2..3, 200)].concat()), None);
    time_out(&mut sender, 310);
    // 1.2 · 100 + 10 ms after it left.
    assert_eq!(sender.rule().timeout_due(), Some(ms(330)));
    let decision = time_out(&mut sender, 330).unwrap();
    assert_eq!((decision.rate, decision.why), (kbps(200), ChangeReason::Timeout));
    assert_eq!(sender.target().limiting_factor, LimitingFactor::Loss);
    // Three later ones do not lose it again.
    send(&mut sender, 3..6, 340);
    assert_eq!(ack(&mut sender, 3..6, 340), None);
}

#[test]
fn ns2_begins_with_a_packet_each_two_seconds_and_then_one_per_round_trip() {
    let mut sender = rap(Config::ns2());
    // 8000 bits in 2 s.
    assert_eq!(sender.target().sending_rate, kbps(4));
    send(&mut sender, 0..1, 0);
    let decision = ack(&mut sender, 0..1, 0).unwrap();
    assert_eq!((decision.rate, decision.why), (kbps(80), ChangeReason::Start));
    // The first step lasts two seconds; one packet of the one allowed was sent.
    assert_eq!(sender.rule().step_due, Some(ms(2000)));
    assert_eq!(time_out(&mut sender, 2000).unwrap().rate, kbps(160));
}

#[test]
fn fine_grain_follows_the_round_trip_time_and_leaves_the_gap() {
    let mut sender = settled(Config { fine_grain: true, ..Config::default() });
    send(&mut sender, 1..2, 110);
    // A round trip of 200 ms: XRTT/FRTT = 101/190.
    let mut late = arrived(1..2, 110);
    late[0].fate =
        PacketFate::Arrived { at: Some(ArrivalTime::from_millis(3_600_000 + 260)), ecn: Ecn::NotEct };
    assert_eq!(feed(&mut sender, 320, &late), None);
    assert_eq!(sender.frame().data_rate(), kbps(400));
    let rate = sender.target().sending_rate.bps_f64();
    assert!((rate - 400e3 * 101.0 / 190.0).abs() < 1.0, "{rate}");
}

#[test]
fn coupling_gives_the_rate_and_the_next_step_adds_to_it() {
    let mut sender = settled(Config::default());
    assert_eq!(sender.apply_allocation(ms(150), AllocatedRate { rate: kbps(160) }), kbps(160));
    assert_eq!(
        (sender.target().sending_rate, sender.target().limiting_factor),
        (kbps(160), LimitingFactor::Coupling)
    );
    send(&mut sender, 1..3, 150);
    assert_eq!(time_out(&mut sender, 210).unwrap().rate, kbps(240));
}

#[test]
fn another_route_has_no_losses_of_the_last_one() {
    let mut sender = settled(Config::default());
    send(&mut sender, 1..10, 110);
    let missing = |id| PacketResult { sent: packet(id, 110), fate: PacketFate::Missing };
    feed(&mut sender, 220, &[vec![missing(1)], arrived(2..3, 110)].concat());
    let decision = sender.on_event(ms(225), PathEvent::RouteChanged).unwrap();
    // By then 3 to 9 would time out, on the other route.
    assert_eq!((decision.rate, decision.why, decision.rtt), (kbps(400), ChangeReason::Route, None));
    assert_eq!(sender.target().limiting_factor, LimitingFactor::RampUp);
    assert_eq!(time_out(&mut sender, 2110), None);
    assert_eq!(sender.target().sending_rate, kbps(400));
    send(&mut sender, 10..20, 2200);
    // Packet 1 would be lost by 14, packet 15 is by 18.
    assert_eq!(feed(&mut sender, 2310, &arrived(10..15, 2200)), None);
    assert_eq!(sender.target().sending_rate, kbps(400));
    let lost = vec![PacketResult { sent: packet(15, 2200), fate: PacketFate::Missing }];
    let decision = feed(&mut sender, 2310, &[lost, arrived(16..19, 2200)].concat()).unwrap();
    assert_eq!((decision.rate, decision.why), (kbps(200), ChangeReason::Loss));
}

#[test]
fn an_arrival_without_a_time_is_no_sample_and_its_mark_counts() {
    let mut sender = settled(Config::default());
    let rtt = sender.frame().rtt();
    send(&mut sender, 1..6, 110);
    let untimed =
        |id, ecn| PacketResult { sent: packet(id, 110), fate: PacketFate::Arrived { at: None, ecn } };
    assert_eq!(feed(&mut sender, 900, &[1, 2, 3, 4].map(|id| untimed(id, Ecn::Ect0))), None, "none is lost");
    assert_eq!(sender.frame().rtt(), rtt);
    let decision = feed(&mut sender, 910, &[untimed(5, Ecn::Ce)]).unwrap();
    assert_eq!((decision.rate, decision.why), (kbps(200), ChangeReason::Mark));
}
