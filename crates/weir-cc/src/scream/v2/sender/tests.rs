//! The sender half of SCReAM v2 (`scream::v2`), from feedback to target rate.

use weir_units::DataSize;

use super::*;
use crate::packet::Ecn;
use crate::scream::fixture::{Bench, kbps, limits, ms};

const ARRIVED: Option<Ecn> = Some(Ecn::NotEct);
const L4S: Option<Ecn> = Some(Ecn::Ect1);
const MARKED: Option<Ecn> = Some(Ecn::Ce);

fn bench() -> Bench<ScreamV2> {
    Bench::new(ScreamV2::new(Config::default(), limits()).unwrap())
}

fn state() -> SendState {
    SendState::default()
}

/// Checks that `value` is `expected` within 1e-5, relative.
fn near(value: f64, expected: f64) {
    assert!((value - expected).abs() < 1e-5 * expected.abs(), "{value} instead of {expected}");
}

#[test]
fn it_begins_at_the_start_rate_without_a_window() {
    let target = bench().controller.target();
    assert_eq!((target.media_rate, target.sending_rate), (kbps(500), kbps(500)));
    assert_eq!((target.window, target.limiting_factor), (None, LimitingFactor::RampUp));
    assert_eq!(target.pacing, Pacing::Exact(kbps(750)));
    assert!(bench().signal("ref_wnd").is_nan());
}

#[test]
fn marks_are_those_of_l4s_once_packets_come_as_ect_1() {
    let mut l4s = bench();
    l4s.controller.apply_allocation(ms(0), AllocatedRate { rate: kbps(2000) });
    l4s.send(0, 20);
    l4s.deliver(0, &[L4S; 20]);
    l4s.send(100, 20);
    let before = l4s.signal("ref_wnd");
    l4s.deliver(0, &[L4S, L4S, L4S, MARKED]);
    assert!(l4s.signal("l4s_alpha") > 0.0);
    assert!(l4s.signal("ref_wnd") > 0.9 * before, "an eighth of a quarter, halved");
    let mut classic = bench();
    classic.controller.apply_allocation(ms(0), AllocatedRate { rate: kbps(2000) });
    classic.send(0, 20);
    classic.deliver(0, &[Some(Ecn::Ect0); 20]);
    classic.send(100, 20);
    let before = classic.signal("ref_wnd");
    classic.deliver(0, &[Some(Ecn::Ect0), Some(Ecn::Ect0), Some(Ecn::Ect0), MARKED]);
    assert_eq!(classic.signal("l4s_alpha"), 0.0);
    assert!(classic.signal("ref_wnd") < 0.85 * before);
}

#[test]
fn silence_halves_rate_and_window_down_to_the_lowest_rate() {
    let mut bench = bench();
    bench.controller.apply_allocation(ms(0), AllocatedRate { rate: kbps(1600) });
    bench.send(0, 10);
    bench.deliver(0, &[ARRIVED; 10]);
    let (rate, window) = (bench.controller.target().media_rate, bench.signal("ref_wnd"));
    bench.send(100, 1);
    assert_eq!(bench.controller.next_timeout(), Some(ms(1100)));
    let decision = bench.controller.on_timeout(ms(1100), &state()).unwrap();
    near(decision.rate.bps_f64(), rate.bps_f64() / 2.0);
    assert_eq!(
        (decision.why, bench.controller.target().limiting_factor),
        (ChangeReason::Timeout, LimitingFactor::Silence)
    );
    near(bench.signal("ref_wnd"), window / 2.0);
    let target = bench.controller.target();
    assert_eq!((target.window, target.pacing), (None, Pacing::Exact(kbps(100))));
    for s in 2..9 {
        bench.send(s * 1000, 1);
        bench.controller.on_timeout(ms(s * 1000 + 100), &state());
    }
    assert_eq!((bench.controller.target().media_rate, bench.signal("ref_wnd")), (kbps(100), 2000.0));
}

#[test]
fn silence_begins_although_feedback_reported_some_packets() {
    let mut bench = bench();
    bench.send(0, 10);
    bench.deliver(0, &[ARRIVED; 3]);
    assert_eq!(bench.controller.next_timeout(), Some(ms(1050)));
    let decision = bench.controller.on_timeout(ms(1050), &state()).unwrap();
    assert_eq!(
        (decision.why, bench.controller.target().limiting_factor),
        (ChangeReason::Timeout, LimitingFactor::Silence)
    );
}

#[test]
fn events_become_the_controllers_own_state() {
    let mut bench = bench();
    bench.send(0, 4);
    bench.deliver(0, &[ARRIVED; 2]);
    let narrower = RateLimits::new(kbps(100), kbps(200), kbps(400)).unwrap();
    let decision = bench.controller.on_event(ms(60), PathEvent::Limits(narrower)).unwrap();
    assert_eq!((decision.rate, decision.why), (kbps(400), ChangeReason::Limits));
    assert_eq!(bench.controller.target().limiting_factor, LimitingFactor::Maximum);
    let decision = bench.controller.on_event(ms(70), PathEvent::RouteChanged).unwrap();
    assert_eq!((decision.rate, decision.why, decision.rtt), (kbps(200), ChangeReason::Route, None));
    assert_eq!(bench.controller.target().window, None);
    assert_eq!(bench.controller.on_event(ms(80), PathEvent::Paused), None);
    assert_eq!(bench.controller.next_timeout(), None);
}

#[test]
fn the_window_lets_through_what_the_pacer_lets_go_at_the_lowest_rate() {
    let limits = RateLimits::new(kbps(400), kbps(500), kbps(2000)).unwrap();
    let mut bench = Bench::new(ScreamV2::new(Config::default(), limits).unwrap());
    // A second of queue, and losses.
    for n in 0..20 {
        bench.send(n * 1100, 20);
        bench.deliver(1000, &[ARRIVED; 1]);
        bench.deliver(1000, &[None, ARRIVED]);
        bench.deliver(1000, &[ARRIVED; 17]);
    }
    // 1.5·400 kbit/s for s_rtt, with headers.
    let least = 1.5 * 400e3 / 8.0 * bench.signal("s_rtt") * 1.02;
    assert!(least > 1.5 * 5.0 * bench.signal("ref_wnd"));
    assert_eq!(bench.controller.target().window, Some(DataSize::from_bytes_f64(least)));
}

#[test]
fn the_first_round_trip_makes_the_window_of_the_start_rate() {
    let mut bench = bench();
    bench.send(0, 4);
    bench.deliver(0, &[ARRIVED; 2]);
    // 500 kbit/s · 51 ms/8 · 1.1 · 1.02 = 3576, of few packets: (3576 + 1000)/1.1.
    near(bench.signal("ref_wnd"), (500e3 * 0.051 / 8.0 * 1.1 * 1.02 + 1000.0) / 1.1);
    let target = bench.controller.target();
    assert_eq!(target.media_rate, kbps(500), "until the window is updated");
    let window = 5.0 * bench.signal("ref_wnd") + 1000.0;
    assert_eq!(target.window, Some(DataSize::from_bytes_f64(window)));
    assert_eq!(target.pacing, Pacing::Exact(target.media_rate.scale(1.5)));
    // 40 ms later it has grown, and the rate is that of the window: less by how few packets it was.
    bench.send(40, 2);
    let before = bench.signal("ref_wnd");
    bench.deliver(0, &[ARRIVED; 4]);
    let grown = bench.signal("ref_wnd");
    assert!(grown > before);
    let rate = 8.0 * grown / 0.051 / 1.1 / 1.02 * (1.0 - (1000.0 / before - 0.1).clamp(0.0, 0.2));
    near(bench.controller.target().sending_rate.bps_f64(), libm::round(rate));
}

/// Packets each 10 ms until `end` ms, of which each `every`th is lost.
fn lose(bench: &mut Bench<ScreamV2>, begin: i64, end: i64, every: i64) {
    for at in (begin..end).step_by(10) {
        bench.send(at, 1);
        let lost = at / 10 % every == 0;
        bench.deliver(0, &[if lost { None } else { ARRIVED }]);
    }
}

#[test]
fn rare_losses_change_nothing_and_frequent_ones_are_the_cause_for_two_hundred_round_trips() {
    let mut rare = bench();
    lose(&mut rare, 0, 20_000, 200);
    assert!(rare.signal("loss_rate") > 0.002 && rare.controller.congestion == LimitingFactor::Delay);
    let mut frequent = bench();
    lose(&mut frequent, 0, 20_000, 20);
    let Decision { why, .. } = {
        lose(&mut frequent, 20_000, 20_600, 20);
        frequent.send(20_600, 1);
        frequent.deliver(0, &[None]);
        let mut last = None;
        for at in (20_610..21_000).step_by(10) {
            frequent.send(at, 1);
            last = frequent
                .deliver(0, &[ARRIVED])
                .filter(|decision| decision.why == ChangeReason::Loss)
                .or(last);
        }
        last.expect("a loss event")
    };
    assert_eq!((why, frequent.controller.standing.found()), (ChangeReason::Loss, LimitingFactor::Loss));
    frequent.flow(21_000, 25_000, 50, 2);
    assert_eq!(frequent.controller.standing.found(), LimitingFactor::Loss);
    frequent.flow(25_000, 33_000, 50, 2);
    assert_ne!(frequent.controller.target().limiting_factor, LimitingFactor::Loss);
}

#[test]
fn a_queue_that_never_empties_leaves_the_encoder_half_for_five_round_trips() {
    let mut bench = bench();
    bench.send(0, 2);
    bench.deliver(0, &[ARRIVED; 2]);
    let (mut halved, mut qdelay) = (Vec::new(), 0.0);
    for at in (100..62_000).step_by(100) {
        bench.send(at, 2);
        bench.deliver(20, &[ARRIVED; 2]);
        let Target { media_rate, sending_rate, .. } = bench.controller.target();
        if media_rate < sending_rate {
            assert_eq!(media_rate, kbps(100).max(sending_rate.scale(0.5)));
            halved.push(at);
        }
        qdelay = bench.signal("qdelay");
    }
    // Rate cuts by drains of 70 ms, at a report each 100 ms; a supposed queue of 20 ms is the base then.
    assert!(halved.len() >= 3 && halved.len() <= 5 && halved[0] >= 60_000, "{halved:?}");
    assert_eq!(qdelay, 0.0);
}
