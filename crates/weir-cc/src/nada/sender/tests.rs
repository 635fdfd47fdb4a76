//! The sender of RFC 8698.

use weir_units::{DataRate, DataSize};

use super::super::{Config, Nada};
use super::*;
use crate::controller::{Controller, PathEvent};
use crate::decision::{AllocatedRate, Decision};
use crate::report::NadaReport;

fn kbps(rate: u64) -> DataRate {
    DataRate::from_kbps(rate)
}

/// Sender time of `ms` milliseconds.
fn ms(ms: i64) -> SendTime {
    SendTime::from_millis(ms)
}

fn limits(min: u64, start: u64, max: u64) -> RateLimits {
    RateLimits::new(kbps(min), kbps(start), kbps(max)).unwrap()
}

fn nada() -> Nada {
    Nada::new(Config::default(), limits(150, 500, 1500)).unwrap()
}

fn sent(at: i64) -> SentPacket {
    let size = DataSize::from_bytes(1200);
    SentPacket::new(0, ms(at), size)
}

/// A report arrives at `at`, in ms, with `queued` bytes at the sender.
fn deliver(sender: &mut Nada, at: i64, report: NadaReport, queued: u64) -> Decision {
    let feedback =
        Feedback::Native { report: NativeReport::Nada(report), rtt: Some(TimeDelta::from_millis(80)) };
    let state = SendState { queued: DataSize::from_bytes(queued), ..SendState::default() };
    sender.on_feedback(ms(at), &feedback, &state).unwrap()
}

fn gradual(x_curr: i64) -> NadaReport {
    NadaReport { ramp_up: false, congestion: TimeDelta::from_millis(x_curr), receive_rate: kbps(500) }
}

fn ramp_up(receive_rate: u64) -> NadaReport {
    NadaReport { ramp_up: true, congestion: TimeDelta::ZERO, receive_rate: kbps(receive_rate) }
}

/// Ramp-up at a congestion signal of `x_curr` ms and an unknown receive rate, which holds the rate.
fn ramp_up_at(x_curr: i64) -> NadaReport {
    NadaReport { congestion: TimeDelta::from_millis(x_curr), ..ramp_up(0) }
}

fn signals(sender: &Nada) -> [f64; 4] {
    let mut out = [0.0; 4];
    assert_eq!(sender.signals().len(), out.len());
    sender.read_signals(&mut out);
    out
}

#[test]
fn it_begins_at_the_start_rate() {
    let target = nada().target();
    assert_eq!((target.media_rate, target.sending_rate), (kbps(500), kbps(500)));
    assert_eq!(target.limiting_factor, LimitingFactor::RampUp);
    assert_eq!(nada().next_timeout(), None);
}

#[test]
fn ramp_up_goes_by_the_receive_rate_and_the_round_trip_time() {
    let mut sender = nada();
    // gamma = 50/(80 + 220) = 1/6: 600·7/6 = 700.
    let decision = deliver(&mut sender, 100, ramp_up(600), 0);
    assert_eq!((decision.base, decision.rate, decision.why), (kbps(500), kbps(700), ChangeReason::Growth));
    assert_eq!(sender.target().limiting_factor, LimitingFactor::RampUp);
    assert_eq!(decision.rtt, Some(TimeDelta::from_millis(80)));
    assert_eq!(deliver(&mut sender, 200, ramp_up(0), 0).rate, kbps(700), "an unknown receive rate holds");
    deliver(&mut sender, 300, ramp_up(1400), 0);
    assert_eq!(sender.target().limiting_factor, LimitingFactor::Maximum);
}

#[test]
fn a_gradual_update_takes_the_change_since_the_last_report_of_either_mode() {
    let mut sender = nada();
    deliver(&mut sender, 100, ramp_up(0), 0);
    // x_offset = 40 − 10·1500/500 = 10; x_diff = 40 − 0;
    // 500·(1 − 0.5·0.2·10/500 − 40/500) = 500·(1 − 0.002 − 0.08) = 459.
    let decision = deliver(&mut sender, 200, gradual(40), 0);
    assert_eq!((decision.rate, decision.why), (kbps(459), ChangeReason::Delay));
    assert_eq!(sender.target().limiting_factor, LimitingFactor::Delay);
    let [x_curr, x_offset, x_diff, r_ref] = signals(&sender);
    assert_eq!((x_curr, x_diff), (40.0, 40.0));
    assert!((x_offset - 10.0).abs() < 1e-9 && (r_ref - 459e3).abs() < 1e-6);
}

#[test]
fn the_rate_stays_within_the_limits() {
    let mut sender = nada();
    let decision = deliver(&mut sender, 100, gradual(i64::MAX / 2_000_000), 0);
    assert_eq!((decision.rate, decision.why), (kbps(150), ChangeReason::Delay));
    assert_eq!(sender.target().limiting_factor, LimitingFactor::Minimum);
    let backwards = deliver(&mut sender, -100, gradual(0), 0);
    assert_eq!(backwards.rate, kbps(1500));
}

#[test]
fn the_shaping_buffer_drains_by_both_rates() {
    let mut sender = Nada::new(Config::default(), limits(150, 1000, 1500)).unwrap();
    // r_ref = 1000 stays at x = 15. 2000 bytes: ±48 kbit/s.
    deliver(&mut sender, 0, ramp_up_at(15), 0);
    deliver(&mut sender, 100, gradual(15), 2000);
    let target = sender.target();
    assert_eq!((target.media_rate, target.sending_rate), (kbps(952), kbps(1048)));
    assert_eq!(target.pacing, Pacing::Factor(1.0));
}

#[test]
fn pacing_without_shaping_leaves_the_rates_alone() {
    for (pacing, expected) in
        [(NadaPacing::Unpaced, Pacing::Unpaced), (NadaPacing::Factor(2.5), Pacing::Factor(2.5))]
    {
        let mut sender = Nada::new(Config { pacing, ..Config::default() }, limits(150, 500, 1500)).unwrap();
        deliver(&mut sender, 100, ramp_up(0), 2000);
        let target = sender.target();
        assert_eq!((target.media_rate, target.sending_rate), (kbps(500), kbps(500)));
        assert_eq!(target.pacing, expected);
    }
}

#[test]
fn missing_reports_halve_the_rate_each_second_down_to_the_minimum() {
    let mut sender = nada();
    let state = SendState::default();
    sender.on_sent(&sent(0), &state);
    sender.on_sent(&sent(900), &state);
    assert_eq!(sender.next_timeout(), Some(ms(1000)));
    assert_eq!(sender.on_timeout(ms(999), &state), None);
    let decision = sender.on_timeout(ms(1000), &state).unwrap();
    assert_eq!((decision.base, decision.rate, decision.why), (kbps(500), kbps(250), ChangeReason::Timeout));
    assert_eq!(sender.on_timeout(ms(1000), &state), None, "twice is harmless");
    sender.on_sent(&sent(1500), &state);
    assert_eq!(sender.on_timeout(ms(2000), &state).map(|d| d.rate), Some(kbps(150)));
    assert_eq!(sender.next_timeout(), Some(ms(3000)));
}

#[test]
fn after_a_silence_the_first_report_has_no_difference() {
    let mut sender = nada();
    deliver(&mut sender, 100, gradual(30), 0);
    let state = SendState::default();
    sender.on_sent(&sent(110), &state);
    sender.on_timeout(ms(1110), &state);
    let before = sender.target().media_rate;
    // x = 10·1500/r_ref is the equilibrium: without a difference the rate stays.
    let x = 15e6 / before.bps_f64();
    let report = NadaReport { congestion: TimeDelta::from_millis_f64(x), ..gradual(0) };
    let after = deliver(&mut sender, 9000, report, 0);
    assert!(after.rate.bps().abs_diff(before.bps()) <= 1, "{before:?} → {after:?}");
    assert_eq!(sender.next_timeout(), None);
}

#[test]
fn a_source_without_data_is_not_taken_for_a_silent_path() {
    let mut sender = nada();
    let state = SendState::default();
    sender.on_sent(&sent(0), &state);
    deliver(&mut sender, 100, ramp_up(0), 0);
    assert_eq!(sender.next_timeout(), None);
    sender.on_sent(&sent(60_000), &state);
    assert_eq!(sender.next_timeout(), Some(ms(61_000)));
    sender.on_event(ms(60_001), PathEvent::Paused);
    assert_eq!(sender.next_timeout(), None);
}

#[test]
fn events_and_coupling_become_the_controllers_own_state() {
    let mut sender = nada();
    assert_eq!(sender.apply_allocation(ms(0), AllocatedRate { rate: kbps(900) }), kbps(900));
    assert_eq!(
        (sender.target().media_rate, sender.target().limiting_factor),
        (kbps(900), LimitingFactor::RampUp)
    );
    assert_eq!(deliver(&mut sender, 100, ramp_up(0), 0).base, kbps(900));
    let narrower = PathEvent::Limits(limits(100, 300, 600));
    let decision = sender.on_event(ms(200), narrower).unwrap();
    assert_eq!((decision.base, decision.rate, decision.why), (kbps(900), kbps(600), ChangeReason::Limits));
    assert_eq!(sender.target().limiting_factor, LimitingFactor::Maximum);
    let decision = sender.on_event(ms(300), PathEvent::RouteChanged).unwrap();
    assert_eq!((decision.rate, decision.why, decision.rtt), (kbps(300), ChangeReason::Route, None));
    assert_eq!(sender.on_event(ms(400), PathEvent::Resumed), None);
}

#[test]
fn feedback_for_other_controllers_is_ignored() {
    let mut sender = nada();
    let state = SendState::default();
    assert_eq!(sender.on_feedback(ms(0), &Feedback::Ceiling(kbps(1)), &state), None);
    assert_eq!(sender.target().media_rate, kbps(500));
}

#[test]
fn a_source_that_offers_less_is_what_limits_the_rate() {
    let mut sender = nada();
    let feedback = Feedback::Native { report: NativeReport::Nada(ramp_up(600)), rtt: None };
    let state = SendState { application_limited: true, ..SendState::default() };
    assert!(sender.on_feedback(ms(100), &feedback, &state).is_some());
    assert_eq!(sender.target().limiting_factor, LimitingFactor::Application);
    deliver(&mut sender, 200, ramp_up(600), 0);
    assert_eq!(sender.target().limiting_factor, LimitingFactor::RampUp);
}

#[test]
fn the_round_trip_time_is_kept_until_a_new_one_comes() {
    let mut sender = nada();
    deliver(&mut sender, 100, ramp_up(600), 0);
    let feedback = Feedback::Native { report: NativeReport::Nada(ramp_up(600)), rtt: None };
    let decision = sender.on_feedback(ms(200), &feedback, &SendState::default()).unwrap();
    assert_eq!((decision.rtt, decision.rate), (Some(TimeDelta::from_millis(80)), kbps(700)));
    // No round-trip time of the other path: gamma = 50/220, 600·(1 + 50/220) = 736.364, from the start rate.
    sender.on_event(ms(300), PathEvent::RouteChanged);
    let decision = sender.on_feedback(ms(400), &feedback, &SendState::default()).unwrap();
    assert_eq!((decision.rtt, decision.rate), (None, DataRate::from_bps(736_364)));
}

#[test]
fn the_buffer_counts_as_it_was_at_the_last_report_or_timeout() {
    let mut sender = Nada::new(Config::default(), limits(150, 1000, 1500)).unwrap();
    let state = SendState { queued: DataSize::from_bytes(500), ..SendState::default() };
    sender.on_sent(&sent(0), &state);
    sender.on_timeout(ms(1000), &state);
    // 0.1 · 8 · 500 · 30 = 12 kbit/s, from half of 1000.
    assert_eq!((sender.target().media_rate, sender.target().sending_rate), (kbps(488), kbps(512)));
    sender.on_event(ms(1100), PathEvent::Paused);
    assert_eq!((sender.target().media_rate, sender.target().sending_rate), (kbps(500), kbps(500)));
}

#[test]
fn a_pause_and_another_route_forget_the_signal() {
    for event in [PathEvent::Paused, PathEvent::Resumed, PathEvent::RouteChanged] {
        let mut sender = nada();
        deliver(&mut sender, 100, gradual(30), 0);
        sender.on_event(ms(200), event);
        assert!(signals(&sender)[..3].iter().all(|value| value.is_nan()), "{event:?}");
        // The next report counts for an interval, and against itself.
        let rate = deliver(&mut sender, 5000, gradual(40), 0);
        assert_eq!(signals(&sender)[2], 0.0);
        let base = rate.base.bps_f64();
        let (config, interval) = (Config::default(), TimeDelta::from_millis(100));
        let expected = config.gradual(base, config.equilibrium(base, 1.5e6), interval, 40.0, 0.0);
        assert!((rate.rate.bps_f64() - expected.rate).abs() < 2.0, "{event:?}: {rate:?}");
    }
}

#[test]
fn a_negative_signal_is_none() {
    let mut sender = nada();
    deliver(&mut sender, 100, gradual(-30), 0);
    assert_eq!(signals(&sender)[0], 0.0);
}

#[test]
fn a_frame_captured_a_moment_ago_is_no_backlog() {
    let mut sender = Nada::new(Config::default(), limits(150, 1000, 1500)).unwrap();
    let left = |sender: &mut Nada, at, queued| {
        let queued = DataSize::from_bytes(queued);
        sender.on_sent(&sent(at), &SendState { queued, ..SendState::default() });
    };
    deliver(&mut sender, 0, ramp_up_at(15), 0);
    // Each report comes just after a capture of 4000 bytes, and between reports all packets have left.
    for round in 1..4 {
        left(&mut sender, 100 * round - 50, 2000);
        left(&mut sender, 100 * round - 30, 0);
        deliver(&mut sender, 100 * round, gradual(15), 4000);
        let target = sender.target();
        assert_eq!((target.media_rate, target.sending_rate), (kbps(1000), kbps(1000)));
    }
    let present = Config { shaping_buffer: ShapingBuffer::Present, ..Config::default() };
    let mut literal = Nada::new(present, limits(150, 1000, 1500)).unwrap();
    left(&mut literal, 50, 0);
    deliver(&mut literal, 100, ramp_up_at(15), 2000);
    assert_eq!(literal.target().media_rate, kbps(952));
}

#[test]
fn a_minute_without_the_empty_path_the_sender_yields_and_learns_nothing_from_it() {
    let mut sender = Nada::new(Config::default(), limits(150, 1000, 1500)).unwrap();
    let rtt = |sender: &mut Nada, at, rtt, report| {
        let rtt = Some(TimeDelta::from_millis(rtt));
        let feedback = Feedback::Native { report: NativeReport::Nada(report), rtt };
        sender.on_feedback(ms(at), &feedback, &SendState::default()).unwrap().rate
    };
    rtt(&mut sender, 0, 50, ramp_up_at(15));
    assert_eq!(rtt(&mut sender, 60_000, 70, gradual(15)), kbps(1000));
    assert_eq!((sender.target().media_rate, sender.target().sending_rate), (kbps(500), kbps(500)));
    // 5 · 50 ms later the whole rate is back, and did not follow the empty queue.
    for at in [60_100, 60_200] {
        assert_eq!(rtt(&mut sender, at, 50, ramp_up(2000)), kbps(1000));
    }
    assert_eq!(rtt(&mut sender, 60_300, 50, gradual(0)), kbps(1000));
    assert_eq!(sender.target().media_rate, kbps(1000));
    // The first report after it counts against itself.
    assert_eq!(rtt(&mut sender, 60_400, 70, gradual(15)), kbps(1000));
}
