//! The sender half of SCReAM v1 (`scream::v1::Scream`, RFC 8298), with values computed by hand.

use weir_units::DataSize;

use super::*;
use crate::packet::Ecn;
use crate::scream::fixture::{Bench, SIZE, kbps, limits, ms};

const ARRIVED: Option<Ecn> = Some(Ecn::NotEct);

fn bench() -> Bench<Scream> {
    Bench::new(Scream::new(Config::default(), limits()).unwrap())
}

fn state() -> SendState {
    SendState::default()
}

#[test]
fn it_begins_at_the_start_rate_with_the_lowest_window() {
    let target = bench().controller.target();
    assert_eq!((target.media_rate, target.sending_rate), (kbps(500), kbps(500)));
    // MIN_CWND and a packet.
    assert_eq!(target.window, Some(DataSize::from_bytes(4000)));
    assert_eq!((target.pacing, target.limiting_factor), (Pacing::Exact(kbps(500)), LimitingFactor::RampUp));
    assert_eq!(bench().controller.next_timeout(), None);
}

#[test]
fn acknowledgements_open_the_window_and_set_the_pace() {
    let mut bench = bench();
    bench.send(0, 3);
    assert_eq!(bench.deliver(0, &[ARRIVED; 2]), None);
    // 1.5 times the 1000 bytes in flight and the 2000 acknowledged exceed the window of 3000: it grows by 2000 to 5000,
    // and a packet more may be in flight. The pace is a window per s_rtt: 8·5000/0.05 = 800 kbit/s.
    let target = bench.controller.target();
    assert_eq!((bench.signal("cwnd"), bench.signal("bytes_in_flight")), (5000.0, 1000.0));
    assert_eq!(target.window, Some(DataSize::from_bytes(6000)));
    assert_eq!(target.pacing, Pacing::Exact(kbps(800)));
    assert_eq!(bench.signal("qdelay"), 0.0);
}

#[test]
fn a_loss_lowers_window_and_rate_once_per_round_trip() {
    let mut bench = bench();
    bench.send(0, 10);
    bench.deliver(0, &[ARRIVED; 5]);
    assert_eq!(bench.signal("cwnd"), 8000.0);
    let decision = bench.deliver(0, &[None, ARRIVED]).unwrap();
    // 0.8·8000; 0.9·500.
    assert_eq!((decision.base, decision.rate, decision.why), (kbps(500), kbps(450), ChangeReason::Loss));
    assert_eq!(bench.controller.target().limiting_factor, LimitingFactor::Loss);
    assert_eq!((bench.signal("cwnd"), bench.signal("in_fast_increase")), (6400.0, 0.0));
    assert_eq!(bench.deliver(0, &[None, ARRIVED]), None, "within the same round trip");
    bench.send(60, 2);
    bench.deliver(0, &[ARRIVED; 2]);
    assert_eq!(bench.signal("target_bitrate"), 450e3);
}

#[test]
fn a_mark_lowers_window_and_rate_by_a_tenth() {
    let mut bench = bench();
    bench.send(0, 10);
    bench.deliver(0, &[ARRIVED; 5]);
    let decision = bench.deliver(0, &[Some(Ecn::Ce)]).unwrap();
    assert_eq!((decision.rate, decision.why), (kbps(450), ChangeReason::Mark));
    assert_eq!(bench.controller.target().limiting_factor, LimitingFactor::Delay);
    assert_eq!(bench.signal("cwnd"), 7200.0);
}

#[test]
fn a_mark_and_a_loss_of_the_same_round_trip_are_one_congestion() {
    for (first, second, window) in [
        ([None, ARRIVED], [Some(Ecn::Ce), ARRIVED], 6400.0),
        ([Some(Ecn::Ce), ARRIVED], [None, ARRIVED], 7200.0),
    ] {
        let mut bench = bench();
        bench.send(0, 10);
        bench.deliver(0, &[ARRIVED; 4]);
        bench.deliver(0, &[ARRIVED]);
        assert_eq!(bench.signal("cwnd"), 8000.0);
        assert!(bench.deliver(0, &first).is_some());
        assert_eq!(bench.deliver(0, &second), None, "within the same round trip");
        assert!((bench.signal("cwnd") - window).abs() < 500.0, "{}", bench.signal("cwnd"));
        // A round trip later another one counts.
        bench.send(60, 2);
        assert!(bench.deliver(0, &second).is_some());
    }
}

#[test]
fn an_empty_report_after_a_missed_one_leaves_the_window_unchanged() {
    let mut bench = bench();
    bench.send(0, 3);
    bench.deliver(0, &[ARRIVED; 3]);
    let window = bench.controller.target().window.unwrap();
    // No report covers these three packets.
    bench.send(100, 3);
    let results = [];
    let feedback = Feedback::Packets { results: &results, at: None, rtt: None, missed_reports: 1 };
    bench.controller.on_feedback(
        ms(200),
        &feedback,
        &SendState { in_flight: DataSize::from_bytes(3 * SIZE), ..state() },
    );
    assert_eq!(bench.controller.target().window, Some(window), "a later report may still cover them");
}

#[test]
fn the_rate_climbs_each_fifth_of_a_second_while_the_source_fills_it() {
    let mut bench = bench();
    // 1000 bytes each 16 ms are 500 kbit/s.
    bench.flow(0, 1000, 16, 1);
    // At 200, 400, 600 and 800 ms: 40 kbit/s each.
    assert_eq!(bench.controller.target().media_rate, kbps(660));
    assert_eq!(bench.controller.target().limiting_factor, LimitingFactor::RampUp);
}

#[test]
fn silence_halves_the_rate_down_to_the_lowest_and_opens_the_window() {
    let mut bench = bench();
    bench.flow(0, 160, 16, 1);
    assert_eq!(bench.signal("cwnd"), 3000.0);
    for at in (160..1160).step_by(16) {
        bench.send(at, 1);
        bench.controller.on_timeout(ms(at), &state());
    }
    let before = bench.controller.target().media_rate;
    let decision = bench.controller.on_timeout(ms(1160), &state()).unwrap();
    assert_eq!((decision.rate, decision.why), (before.scale(0.5), ChangeReason::Timeout));
    let target = bench.controller.target();
    assert_eq!(target.limiting_factor, LimitingFactor::Silence);
    // RATE_PACE_MIN is below the lowest rate.
    assert_eq!((target.window, target.pacing), (None, Pacing::Exact(kbps(100))));
    for s in 2..6 {
        bench.send(s * 1000, 1);
        bench.controller.on_timeout(ms(s * 1000 + 160), &state());
    }
    assert_eq!(
        (bench.controller.target().media_rate, bench.controller.target().limiting_factor),
        (kbps(100), LimitingFactor::Silence)
    );
    bench.deliver(0, &[ARRIVED]);
    assert!(bench.controller.target().window.is_some());
}

#[test]
fn silence_begins_although_feedback_reported_some_packets() {
    let mut bench = bench();
    bench.send(0, 10);
    bench.deliver(0, &[ARRIVED; 3]);
    // The window may be closed: no further packet leaves, and seven packets are without feedback since 50 ms.
    let halved = (100..=1050).filter_map(|at| bench.controller.on_timeout(ms(at), &state())).last();
    assert_eq!(halved.map(|decision| decision.why), Some(ChangeReason::Timeout));
    assert_eq!(bench.controller.target().limiting_factor, LimitingFactor::Silence);
    assert_eq!(
        bench.controller.target().window,
        None,
        "the window is open for what is to notice the end of it"
    );
}

#[test]
fn a_source_without_data_is_not_taken_for_a_silent_path() {
    let mut bench = bench();
    bench.send(0, 1);
    bench.deliver(0, &[ARRIVED]);
    bench.controller.on_timeout(ms(200), &state());
    bench.controller.on_timeout(ms(400), &state());
    assert_eq!(bench.controller.next_timeout(), None);
    let before = bench.controller.target().media_rate;
    bench.send(60_000, 1);
    assert_eq!(
        (bench.controller.next_timeout(), bench.controller.target().media_rate),
        (Some(ms(60_200)), before)
    );
}

#[test]
fn events_and_coupling_become_the_controllers_own_state() {
    let mut bench = bench();
    bench.flow(0, 160, 16, 1);
    assert_eq!(bench.controller.apply_allocation(ms(160), AllocatedRate { rate: kbps(1600) }), kbps(1600));
    let target = bench.controller.target();
    assert_eq!((target.media_rate, target.limiting_factor), (kbps(1600), LimitingFactor::RampUp));
    // 3000 · 1600/500.
    assert_eq!(bench.signal("cwnd"), 9_600.0);
    let narrower = RateLimits::new(kbps(100), kbps(300), kbps(900)).unwrap();
    let decision = bench.controller.on_event(ms(170), PathEvent::Limits(narrower)).unwrap();
    assert_eq!((decision.base, decision.rate, decision.why), (kbps(1600), kbps(900), ChangeReason::Limits));
    assert_eq!(bench.controller.target().limiting_factor, LimitingFactor::Maximum);
    let decision = bench.controller.on_event(ms(180), PathEvent::RouteChanged).unwrap();
    assert_eq!((decision.rate, decision.why, decision.rtt), (kbps(300), ChangeReason::Route, None));
    assert_eq!((bench.signal("cwnd"), bench.signal("in_fast_increase")), (3000.0, 1.0));
    assert_eq!(bench.controller.on_event(ms(190), PathEvent::Resumed), None);
}

#[test]
fn another_route_starts_without_the_old_maximum() {
    let mut bench = bench();
    bench.flow(0, 400, 16, 1);
    bench.send(400, 2);
    bench.deliver(0, &[None, ARRIVED]);
    assert!(bench.signal("target_bitrate_last_max") > 400e3);
    bench.controller.on_event(ms(460), PathEvent::RouteChanged);
    assert_eq!((bench.signal("target_bitrate_last_max"), bench.signal("current_rate")), (1.0, 0.0));
}

#[test]
fn feedback_for_other_controllers_is_ignored() {
    let mut bench = bench();
    assert_eq!(bench.controller.on_feedback(ms(0), &Feedback::Ceiling(kbps(1)), &state()), None);
    assert_eq!(bench.controller.target().media_rate, kbps(500));
}

#[test]
fn window_and_pacer_let_the_lowest_rate_through() {
    let limits = RateLimits::new(kbps(400), kbps(500), kbps(2000)).unwrap();
    let mut bench = Bench::new(Scream::new(Config::default(), limits).unwrap());
    // A second of queue, and losses.
    for n in 0..20 {
        bench.send(n * 1100, 10);
        bench.deliver(1000, &[ARRIVED; 1]);
        bench.deliver(1000, &[None, ARRIVED]);
        bench.deliver(1000, &[ARRIVED; 7]);
    }
    // The window holds what the lowest rate and 10 %, 440 kbit/s, send in s_rtt and in the interval of reports at that
    // rate, 1/44 s = 22.7 ms.
    let least = 440e3 / 8.0 * (bench.signal("s_rtt") + 1.0 / 44.0);
    assert!(least > 5.0 * bench.signal("cwnd"));
    let target = bench.controller.target();
    assert!(target.window.unwrap() >= DataSize::from_bytes_f64(least - 1.0), "{target:?}");
    assert_eq!(target.pacing, Pacing::Exact(kbps(440)));
}
