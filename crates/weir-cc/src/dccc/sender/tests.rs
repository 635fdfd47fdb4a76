//! The sender's half, by hand.

use weir_units::{DataRate, DataSize};

use super::*;
use crate::controller::{Controller, PathEvent};
use crate::decision::{AllocatedRate, Decision};
use crate::packet::SentPacket;
use crate::time::ArrivalTime;

fn kbps(rate: u64) -> DataRate {
    DataRate::from_kbps(rate)
}

fn ms(ms: i64) -> TimeDelta {
    TimeDelta::from_millis(ms)
}

/// Sender time of `ms` milliseconds.
fn at(ms: i64) -> SendTime {
    SendTime::from_millis(ms)
}

fn limits(min: u64, start: u64, max: u64) -> RateLimits {
    RateLimits::new(kbps(min), kbps(start), kbps(max)).unwrap()
}

fn dccc(config: Config) -> Dccc {
    Dccc::new(config, limits(10, 1000, 5000)).unwrap()
}

/// T = 100 ms on the one-way delay.
fn fixed() -> Config {
    Config { threshold: DelayThreshold::Fixed(ms(100)), ..Config::default() }
}

fn sent(at_ms: i64) -> SentPacket {
    let size = DataSize::from_bytes(1000);
    SentPacket::new(0, at(at_ms), size)
}

/// A report made `back` ms before `now`, by a receiver whose clock is ahead by `offset` ms.
#[derive(Clone, Copy, Debug)]
struct ReportValues {
    offset: i64,
    delay: i64,
    back: i64,
    sent: u64,
    received: u64,
}

/// e = 130, e_b = 20: RTT = 150 ms. Sent and received at 1 Mbit/s.
const STEADY: ReportValues = ReportValues { offset: 0, delay: 130, back: 20, sent: 1000, received: 1000 };

impl ReportValues {
    /// The report of these values that arrives at `now`, in ms.
    fn report(&self, now: i64) -> DcccReport {
        let packet_size = DataSize::from_bytes(1000);
        DcccReport {
            delay: ApparentDelay::between(at(0), ArrivalTime::from_millis(self.offset + self.delay)),
            sending_rate: kbps(self.sent),
            interarrival: packet_size / kbps(self.received),
            packet_size,
            at: ArrivalTime::from_millis(self.offset + now - self.back),
        }
    }
}

/// The decision on a report of `values` that arrives at `now`, in ms.
fn deliver_at(sender: &mut Dccc, now: i64, values: &ReportValues) -> Option<Decision> {
    let feedback = Feedback::Native { report: NativeReport::Dccc(values.report(now)), rtt: None };
    sender.on_feedback(at(now), &feedback, &SendState::default())
}

/// The rate after a report of `values`.
fn deliver(sender: &mut Dccc, values: &ReportValues) -> DataRate {
    deliver_at(sender, 1000, values).unwrap().rate
}

/// The rate, with the reason of the change.
fn deliver_for_reason(sender: &mut Dccc, values: &ReportValues) -> (DataRate, ChangeReason) {
    let decision = deliver_at(sender, 1000, values).unwrap();
    (decision.rate, decision.why)
}

#[test]
fn it_begins_at_the_start_rate_paced_evenly() {
    let sender = dccc(Config::default());
    let target = sender.target();
    assert_eq!((target.media_rate, target.pacing), (kbps(1000), Pacing::Exact(kbps(1000))));
    assert_eq!(target.limiting_factor, LimitingFactor::RampUp);
    assert_eq!(sender.stamp(), Some(Stamp { rtt: TimeDelta::ZERO, rate: kbps(1000) }));
}

#[test]
fn a_delay_above_the_threshold_lowers_the_rate() {
    let mut sender = dccc(fixed());
    // v = 0.1 · 30/150 = 0.02 = h/x: the rate stands.
    assert_eq!(deliver_for_reason(&mut sender, &STEADY), (kbps(1000), ChangeReason::Growth));
    assert_eq!(sender.target().limiting_factor, LimitingFactor::Delay);
    // e = 180, RTT = 200: v = 0.04: 1000 · (1 + 0.4 · (0.02 − 0.04)) = 992.
    assert_eq!(
        deliver_for_reason(&mut sender, &ReportValues { delay: 180, ..STEADY }),
        (kbps(992), ChangeReason::Delay)
    );
    assert_eq!(sender.stamp(), Some(Stamp { rtt: ms(200), rate: kbps(992) }));
}

#[test]
fn below_the_threshold_the_rate_rises_by_the_same_step() {
    let mut sender = dccc(fixed());
    assert_eq!(deliver(&mut sender, &ReportValues { delay: 60, ..STEADY }), kbps(1008));
    assert_eq!(sender.target().limiting_factor, LimitingFactor::RampUp);
    // As eq. (25) is printed: v = 0.1 · (−40/80): 1008 · (1 + 0.4 · 0.05) + 8 = 1036.16.
    let mut printed = dccc(Config { clamp_delay_price: false, ..fixed() });
    deliver(&mut printed, &ReportValues { delay: 100, ..STEADY });
    assert_eq!(deliver(&mut printed, &ReportValues { delay: 60, ..STEADY }), DataRate::from_bps(1_036_160));
}

#[test]
fn receiving_less_than_was_sent_lowers_the_rate() {
    let mut sender = dccc(fixed());
    // g = 1000/800 − 1 = 0.25: 1000 · (1 − 0.1) + 8 = 908. The delay stands: loss.
    assert_eq!(
        deliver_for_reason(&mut sender, &ReportValues { delay: 60, received: 800, ..STEADY }),
        (kbps(908), ChangeReason::Loss)
    );
    assert_eq!(sender.target().limiting_factor, LimitingFactor::Loss);
    // The delay has grown by 20 ms within an RTT of 100 ms: the queue grows.
    assert_eq!(
        deliver_for_reason(&mut sender, &ReportValues { delay: 80, received: 800, ..STEADY }).1,
        ChangeReason::Delay
    );
    assert_eq!(sender.target().limiting_factor, LimitingFactor::Delay);
}

#[test]
fn a_draining_queue_raises_the_rate() {
    let mut sender = dccc(fixed());
    // g = 1000/1250 − 1 = −0.2: 1000 · 1.08 + 8.
    assert_eq!(deliver(&mut sender, &ReportValues { delay: 60, received: 1250, ..STEADY }), kbps(1088));
}

#[test]
fn smoothed_rates_are_those_of_the_same_packets() {
    let mut sender = dccc(Config { smoothing: 0.5, ..fixed() });
    let low = ReportValues { delay: 60, ..STEADY };
    assert_eq!(deliver(&mut sender, &low), kbps(1008));
    // x_recv = (1000 + 600)/2 = 800; x_sent = 1000: g = 0.25. 1008 · 0.9 + 8 = 915.2.
    assert_eq!(deliver(&mut sender, &ReportValues { received: 600, ..low }), DataRate::from_bps(915_200));
}

#[test]
fn hours_between_the_clocks_do_not_matter_above_the_smallest_delay() {
    for offset in [0, 36_000_000, -36_000_000] {
        let mut sender = dccc(Config::default());
        let values = ReportValues { offset, delay: 50, ..STEADY };
        assert_eq!(deliver(&mut sender, &values), kbps(1008));
        assert_eq!(sender.stamp().map(|stamp| stamp.rtt), Some(ms(70)));
        // T = 50 + 50; e = 128, RTT = 148: v = 0.1 · 28/148 = 0.018919.
        // 1008 · (1 − 0.4 · 0.018919) + 8 = 1008.371…
        let rate = deliver(&mut sender, &ReportValues { delay: 128, ..values });
        assert_eq!(rate.bps() / 10, 100_837, "offset {offset}");
    }
}

#[test]
fn a_fixed_threshold_with_clocks_apart_leaves_no_less_than_h_over_beta() {
    let mut sender = dccc(fixed());
    for _ in 0..1000 {
        deliver(&mut sender, &ReportValues { offset: 36_000_000, ..STEADY });
    }
    // v = β: x = h/β = 200 kbit/s.
    assert_eq!(sender.target().media_rate, kbps(200));
}

#[test]
fn a_threshold_below_the_smallest_delay_yields_to_it() {
    let threshold = DelayThreshold::AtLeastMinimum(ms(50));
    let mut sender = dccc(Config { threshold, ..Config::default() });
    // The path alone takes 60 ms: no price.
    assert_eq!(deliver(&mut sender, &ReportValues { delay: 60, ..STEADY }), kbps(1008));
    // e − 60 = 15, RTT = 95: 1008 · (1 − 0.4 · 0.1 · 15/95) + 8 = 1009.633…
    assert_eq!(deliver(&mut sender, &ReportValues { delay: 75, ..STEADY }).bps() / 10, 100_963);
    // Where the path takes 20 ms it is 50 ms that counts: e − 50 = 25, RTT = 95.
    deliver(&mut sender, &ReportValues { delay: 20, ..STEADY });
    deliver(&mut sender, &ReportValues { delay: 75, ..STEADY });
    let mut out = [0.0; 6];
    sender.read_signals(&mut out);
    assert_eq!((out[0], out[4]), (25.0, 95.0));
}

#[test]
fn a_clock_that_was_set_is_not_a_queue() {
    let mut sender = dccc(Config::default());
    deliver(&mut sender, &ReportValues { delay: 50, ..STEADY });
    assert_eq!(deliver(&mut sender, &ReportValues { offset: 10_000, delay: 50, ..STEADY }), kbps(1016));
    // And back: the smallest delay follows.
    assert_eq!(deliver(&mut sender, &ReportValues { delay: 50, ..STEADY }), kbps(1024));
}

#[test]
fn the_smallest_delay_is_learnt_anew_after_a_silence_and_on_another_route() {
    let mut sender = dccc(Config::default());
    let near = ReportValues { delay: 20, ..STEADY };
    let far = ReportValues { delay: 200, ..STEADY };
    let standing = |sender: &Dccc| sender.rule().prices.map(|prices| prices.excess);
    deliver_at(&mut sender, 1000, &near);
    deliver_at(&mut sender, 3999, &far);
    assert_eq!(standing(&sender), Some(ms(130)));
    deliver_at(&mut sender, 6999, &far);
    assert_eq!(standing(&sender), Some(ms(-50)));
    deliver_at(&mut sender, 7100, &near);
    let event = sender.on_event(at(7150), PathEvent::RouteChanged).unwrap();
    assert_eq!(event.rtt, None);
    assert!(event.rate <= kbps(1000));
    deliver_at(&mut sender, 7200, &far);
    assert_eq!(standing(&sender), Some(ms(-50)));
}

#[test]
fn a_report_without_a_rate_gives_the_round_trip_time_alone() {
    let mut sender = dccc(fixed());
    let report = DcccReport { interarrival: TimeDelta::ZERO, ..STEADY.report(1000) };
    let feedback = Feedback::Native { report: NativeReport::Dccc(report), rtt: None };
    assert_eq!(sender.on_feedback(at(1000), &feedback, &SendState::default()), None);
    assert_eq!(sender.stamp(), Some(Stamp { rtt: ms(150), rate: kbps(1000) }));
}

#[test]
fn a_round_trip_time_that_cannot_be_is_discarded() {
    let mut sender = dccc(fixed());
    assert_eq!(deliver_at(&mut sender, 1000, &ReportValues { delay: -30, ..STEADY }), None);
    assert_eq!(sender.stamp().map(|stamp| stamp.rtt), Some(TimeDelta::ZERO));
}

#[test]
fn one_bad_window_brings_the_rate_to_the_minimum_unless_bounded() {
    let lost = ReportValues { delay: 60, received: 100, ..STEADY };
    let mut sender = dccc(fixed());
    assert_eq!(deliver(&mut sender, &lost), kbps(10));
    assert_eq!(sender.target().limiting_factor, LimitingFactor::Minimum);
    // 1000 · (1 − 0.4) + 8.
    assert_eq!(deliver(&mut dccc(Config { g_max: Some(1.0), ..fixed() }), &lost), kbps(608));
}

#[test]
fn silence_halves_the_rate_each_round_trip_down_to_the_minimum() {
    let mut sender = dccc(fixed());
    let state = SendState::default();
    sender.on_sent(&sent(0), &state);
    assert_eq!(sender.next_timeout(), Some(at(1000)), "while the RTT is unknown");
    deliver(&mut sender, &STEADY);
    assert_eq!(sender.next_timeout(), None);
    sender.on_sent(&sent(1010), &state);
    // 4 · 150 ms later, then each 150 ms.
    assert_eq!(sender.next_timeout(), Some(at(1610)));
    assert_eq!(sender.on_timeout(at(1609), &state), None);
    let decision = sender.on_timeout(at(1610), &state).unwrap();
    assert_eq!((decision.base, decision.rate, decision.why), (kbps(1000), kbps(500), ChangeReason::Timeout));
    assert_eq!(sender.target().limiting_factor, LimitingFactor::Silence);
    assert_eq!(sender.on_timeout(at(1610), &state), None, "twice is harmless");
    sender.on_sent(&sent(1700), &state);
    assert_eq!(sender.on_timeout(at(1760), &state).map(|decision| decision.rate), Some(kbps(250)));
    assert_eq!(sender.next_timeout(), Some(at(1910)));
    assert_eq!(sender.on_timeout(at(1910), &state), None, "nothing has left since");
    sender.on_sent(&sent(2000), &state);
    sender.on_event(at(2000), PathEvent::Paused);
    assert_eq!(sender.next_timeout(), None);
    // 4 · 150 ms from the clock that was set back; with the route the RTT is unknown.
    sender.on_sent(&sent(9_000_000), &state);
    sender.on_sent(&sent(3000), &state);
    assert_eq!(sender.next_timeout(), Some(at(3600)));
    sender.on_event(at(3100), PathEvent::RouteChanged);
    assert_eq!(sender.next_timeout(), None);
    sender.on_sent(&sent(3200), &state);
    assert_eq!(sender.next_timeout(), Some(at(4200)));
}

#[test]
fn events_and_coupling_become_the_controllers_own_state() {
    let mut sender = dccc(fixed());
    assert_eq!(sender.apply_allocation(at(0), AllocatedRate { rate: kbps(600) }), kbps(600));
    assert_eq!(
        (sender.target().media_rate, sender.target().limiting_factor),
        (kbps(600), LimitingFactor::Coupling)
    );
    assert_eq!(deliver(&mut sender, &ReportValues { delay: 60, ..STEADY }), kbps(608));
    let decision = sender.on_event(at(1100), PathEvent::Limits(limits(10, 300, 400))).unwrap();
    assert_eq!((decision.base, decision.rate, decision.why), (kbps(608), kbps(400), ChangeReason::Limits));
    assert_eq!(sender.target().limiting_factor, LimitingFactor::Maximum);
}

#[test]
fn feedback_for_other_controllers_is_ignored() {
    let mut sender = dccc(fixed());
    let state = SendState::default();
    assert_eq!(sender.on_feedback(at(0), &Feedback::Ceiling(kbps(1)), &state), None);
    assert_eq!(sender.target().media_rate, kbps(1000));
}

/// The rate after a report of `values` with a known round-trip time `rtt`, in ms.
fn deliver_with_rtt(sender: &mut Dccc, now: i64, values: &ReportValues, rtt: i64) -> DataRate {
    let feedback = Feedback::Native { report: NativeReport::Dccc(values.report(now)), rtt: Some(ms(rtt)) };
    sender.on_feedback(at(now), &feedback, &SendState::default()).unwrap().rate
}

#[test]
fn a_backlog_at_the_sender_drains_and_the_stamp_has_the_sending_rate() {
    let mut sender = dccc(fixed());
    let waits = |bytes| SendState { queued: DataSize::from_bytes(bytes), ..SendState::default() };
    let deliver = |sender: &mut Dccc, now, queued| {
        let feedback = Feedback::Native { report: NativeReport::Dccc(STEADY.report(now)), rtt: None };
        sender.on_feedback(at(now), &feedback, &waits(queued))
    };
    // 6250 bytes and one packet of 1000 that waits for its turn, beside a frame captured a moment ago.
    sender.on_sent(&sent(950), &waits(7250));
    deliver(&mut sender, 1000, 9000);
    // 6250 bytes in 0.5 s: 100 kbit/s.
    let target = sender.target();
    assert_eq!((target.media_rate, target.sending_rate), (kbps(900), kbps(1000)));
    assert_eq!(sender.stamp().map(|stamp| stamp.rate), Some(kbps(1000)));
    sender.on_sent(&sent(1050), &waits(0));
    deliver(&mut sender, 1100, 9000);
    assert_eq!(sender.target().media_rate, kbps(1000));
}

#[test]
fn jitter_is_no_loss() {
    let mut sender = dccc(fixed());
    // Packets bunch: g swings by 10 % around zero, and the delay goes with it.
    for round in 0..200 {
        let (delay, received) = if round % 2 == 0 { (60, 900) } else { (55, 1125) };
        let now = 1000 + 50 * round;
        deliver_with_rtt(&mut sender, now, &ReportValues { delay, received, ..STEADY }, 80);
        assert!(round < 16 || sender.target().limiting_factor != LimitingFactor::Loss, "round {round}");
    }
    // A tenth is lost, on average too.
    for round in 200..240 {
        deliver_with_rtt(
            &mut sender,
            1000 + 50 * round,
            &ReportValues { delay: 60, received: 900, ..STEADY },
            80,
        );
    }
    assert_eq!(sender.target().limiting_factor, LimitingFactor::Loss);
}

#[test]
fn the_rate_grows_to_no_more_than_twice_what_was_sent() {
    let mut sender = dccc(fixed());
    let idle = ReportValues { delay: 60, sent: 300, received: 300, ..STEADY };
    assert_eq!(deliver(&mut sender, &idle), kbps(1000), "it holds");
    assert_eq!(deliver(&mut sender, &ReportValues { sent: 502, received: 502, ..idle }), kbps(1004));
}

#[test]
fn sparse_packets_are_no_silence() {
    let mut sender = dccc(fixed());
    let state = SendState::default();
    // A packet each 400 ms, at an interval of 150 ms.
    for n in 0..4 {
        sender.on_sent(&sent(400 * n), &state);
        deliver_at(&mut sender, 400 * n + 150, &STEADY);
    }
    sender.on_sent(&sent(1600), &state);
    // 4 · 400 ms, where 4 · 150 would halve the rate for the loss of one packet.
    assert_eq!(sender.next_timeout(), Some(at(3200)));
}

#[test]
fn the_spacing_of_packets_is_that_of_the_last_second_or_two() {
    let mut spacing = Spacing::default();
    for ms in [0, 400, 800, 990] {
        spacing.on_sent(at(ms));
    }
    // Each 10 ms from then on: the longest is of the second before.
    for n in 100..200 {
        spacing.on_sent(at(10 * n));
    }
    assert_eq!(spacing.get(), ms(400));
    spacing.on_sent(at(2000));
    assert_eq!(spacing.get(), ms(10));
}

#[test]
fn a_minute_without_the_empty_path_the_sender_yields_and_does_not_rise_by_it() {
    let mut sender = dccc(Config::default());
    let values = ReportValues { delay: 50, ..STEADY };
    deliver_with_rtt(&mut sender, 0, &values, 70);
    // Each second a report, so that nothing is forgotten.
    for second in 1..=60 {
        deliver_with_rtt(&mut sender, 1000 * second, &ReportValues { delay: 100, ..STEADY }, 120);
    }
    let before = sender.frame().data_rate();
    let target = sender.target();
    assert_eq!((target.sending_rate, target.media_rate), (before.scale(0.5), before.scale(0.5)));
    assert_eq!(target.pacing, Pacing::Exact(target.sending_rate));
    assert_eq!(sender.stamp().map(|stamp| stamp.rate), Some(target.sending_rate));
    // The queue drains by itself: more comes than is sent.
    let draining = ReportValues { delay: 60, sent: 500, received: 1000, ..STEADY };
    assert_eq!(deliver_with_rtt(&mut sender, 60_100, &draining, 70), before);
    // 5 · 120 ms of draining, and a round trip until the reports cover it.
    assert_eq!(deliver_with_rtt(&mut sender, 60_600, &values, 70), before);
    assert_eq!(sender.target().sending_rate, before);
    assert_eq!(deliver_with_rtt(&mut sender, 60_669, &values, 70), before);
    assert!(deliver_with_rtt(&mut sender, 60_670, &values, 70) > before);
}

#[test]
fn a_fixed_threshold_needs_no_drains() {
    let mut sender = dccc(fixed());
    for second in 0..100 {
        deliver_with_rtt(&mut sender, 1000 * second, &STEADY, if second == 0 { 20 } else { 150 });
        assert_eq!(sender.target().sending_rate, sender.frame().data_rate());
    }
}

#[test]
fn an_encoder_that_is_not_the_papers_yields_to_what_waits_and_bounds_the_rate() {
    // 13 500 bytes, less one packet, in half a second: 200 kbit/s.
    let state = SendState { queued: DataSize::from_bytes(13_500), ..SendState::default() };
    // A draining queue: more comes than is sent, of which twice is less than the rate.
    let draining = ReportValues { delay: 50, sent: 100, received: 1000, ..STEADY };
    let after = |config: Config| {
        let mut sender = dccc(config);
        let feedback = Feedback::Native { report: NativeReport::Dccc(draining.report(1000)), rtt: None };
        sender.on_sent(&sent(0), &state);
        sender.on_feedback(at(1000), &feedback, &state);
        let rate = sender.frame().data_rate();
        (rate, rate.saturating_sub(sender.target().media_rate))
    };
    assert_eq!(after(fixed()), (kbps(1000), kbps(200)));
    // 1000·(1 + 0.4·(0.02 + 0.9)), eq. (25).
    assert_eq!(after(Config::dccc_2017(ms(100))), (kbps(1368), DataRate::ZERO));
}
