//! The frame, under a rule with given results.

use super::*;

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

/// A rule whose rate is the receiver's ceiling.
#[derive(Debug)]
struct Obedient {
    why: ChangeReason,
    limited_by: Option<LimitingFactor>,
    draining: bool,
    /// In bytes.
    window: f64,
    scaled: usize,
    pauses: usize,
    routes: usize,
}

impl Rule for Obedient {
    fn on_feedback(
        &mut self,
        _now: SendTime,
        feedback: &Feedback<'_>,
        _state: &SendState,
        frame: &mut FlowContext,
    ) -> FeedbackOutcome {
        match *feedback {
            Feedback::Ceiling(rate) => {
                frame.end_silence();
                frame.set_rtt(Some(TimeDelta::from_millis(80)));
                FeedbackOutcome::Rate(Computed {
                    rate: rate.bps_f64(),
                    why: self.why,
                    limited_by: self.limited_by,
                })
            }
            Feedback::Reception { .. } => FeedbackOutcome::NoUpdate,
            _ => FeedbackOutcome::Ignored,
        }
    }

    fn on_pause(&mut self) {
        self.pauses += 1;
    }

    fn forget_path(&mut self, _now: SendTime, _frame: &mut FlowContext) {
        self.routes += 1;
    }

    fn scale(&mut self, _now: SendTime, factor: f64, _frame: &FlowContext) {
        self.window *= factor;
        self.scaled += 1;
    }

    fn send_rates(&self, frame: &FlowContext) -> SendRates {
        let window = Some(DataSize::from_bytes_f64(self.window));
        SendRates { window, draining: self.draining, ..SendRates::at(frame.data_rate(), Pacing::Unpaced) }
    }

    fn signals(&self) -> &'static [Signal] {
        &[Signal { name: "rate", unit: "bit/s", meaning: "that of the frame" }]
    }

    fn read_signals(&self, frame: &FlowContext, out: &mut [f64]) {
        out[0] = frame.rate();
    }
}

/// 100 to 2000 kbit/s, from 500 kbit/s. The feedback timeout is 3 s.
fn controller() -> RateController<Obedient> {
    let rule = Obedient {
        why: ChangeReason::Delay,
        limited_by: Some(LimitingFactor::Delay),
        draining: false,
        window: 5000.0,
        scaled: 0,
        pauses: 0,
        routes: 0,
    };
    RateController::new_by(rule, FlowContext::new(limits(100, 500, 2000), Some(TimeDelta::from_secs(3))))
}

/// The controller computes `rate` kbit/s from a report.
fn deliver(controller: &mut RateController<Obedient>, rate: u64) -> Decision {
    deliver_at(controller, 0, rate)
}

fn deliver_at(controller: &mut RateController<Obedient>, at: i64, rate: u64) -> Decision {
    controller.on_feedback(ms(at), &Feedback::Ceiling(kbps(rate)), &SendState::default()).unwrap()
}

/// Gives the same rate for 1.2 s, until time 0: it climbs no longer.
fn settle(controller: &mut RateController<Obedient>, rate: u64) {
    for step in 0..=12 {
        deliver_at(controller, 100 * step - 1200, rate);
    }
}

fn factor(controller: &RateController<Obedient>) -> LimitingFactor {
    controller.target().limiting_factor
}

/// A packet of 1000 bytes leaves at `at`, in ms.
fn send(controller: &mut RateController<Obedient>, at: i64) {
    let size = DataSize::from_bytes(1000);
    let packet = SentPacket::new(0, ms(at), size);
    controller.on_sent(&packet, &SendState::default());
}

fn time_out(controller: &mut RateController<Obedient>, at: i64) -> Option<Decision> {
    controller.on_timeout(ms(at), &SendState::default())
}

fn apply_allocation(controller: &mut RateController<Obedient>, rate: u64) -> DataRate {
    controller.apply_allocation(ms(0), AllocatedRate { rate: kbps(rate) })
}

/// Base, rate and reason of a decision.
fn way(decision: Decision) -> (u64, u64, ChangeReason) {
    (decision.base.bps() / 1000, decision.rate.bps() / 1000, decision.why)
}

#[test]
fn each_decision_starts_from_the_one_before_and_keeps_to_the_limits() {
    let mut controller = controller();
    assert_eq!(controller.target().sending_rate, kbps(500));
    assert_eq!(way(deliver(&mut controller, 800)), (500, 800, ChangeReason::Growth));
    assert_eq!(way(deliver(&mut controller, 600)), (800, 600, ChangeReason::Delay));
    assert_eq!(way(deliver(&mut controller, 9000)), (600, 2000, ChangeReason::Growth));
    assert_eq!(way(deliver(&mut controller, 1)), (2000, 100, ChangeReason::Delay));
    assert_eq!(deliver(&mut controller, 700).rtt, Some(TimeDelta::from_millis(80)));
}

#[test]
fn the_limiting_factor_is_what_keeps_the_rate_from_rising() {
    let mut controller = controller();
    assert_eq!(factor(&controller), LimitingFactor::RampUp, "it begins so");
    settle(&mut controller, 800);
    assert_eq!(factor(&controller), LimitingFactor::Delay);
    // 2 % up are a ripple, 4 % are a climb, whatever the rule finds.
    deliver_at(&mut controller, 100, 816);
    assert_eq!(factor(&controller), LimitingFactor::Delay);
    deliver_at(&mut controller, 200, 832);
    assert_eq!(factor(&controller), LimitingFactor::RampUp);
    settle(&mut controller, 1);
    assert_eq!(factor(&controller), LimitingFactor::Minimum);
    deliver_at(&mut controller, 100, 9000);
    assert_eq!(factor(&controller), LimitingFactor::Maximum, "at once");
    for (at, rate, expected) in [(200, 1820, LimitingFactor::Maximum), (300, 1810, LimitingFactor::RampUp)] {
        deliver_at(&mut controller, at, rate);
        assert_eq!(factor(&controller), expected, "{rate}: a ripple of 10 % below it changes nothing");
    }
    // A rule without a limit was limited by its last one.
    settle(&mut controller, 800);
    controller.rule_mut().limited_by = None;
    deliver_at(&mut controller, 100, 800);
    assert_eq!(factor(&controller), LimitingFactor::Delay);
    controller.rule_mut().limited_by = Some(LimitingFactor::Loss);
    deliver_at(&mut controller, 200, 800);
    assert_eq!(factor(&controller), LimitingFactor::Loss);
    controller.rule_mut().draining = true;
    assert_eq!(factor(&controller), LimitingFactor::Drain);
}

#[test]
fn a_probe_is_a_reason_and_limits_nothing() {
    let mut controller = controller();
    settle(&mut controller, 800);
    controller.rule_mut().why = ChangeReason::Probe;
    assert_eq!(deliver_at(&mut controller, 100, 1200).why, ChangeReason::Probe);
    assert_eq!(factor(&controller), LimitingFactor::Delay, "it was no growth of the rule");
    controller.rule_mut().why = ChangeReason::Delay;
    deliver_at(&mut controller, 200, 1270);
    assert_eq!(factor(&controller), LimitingFactor::RampUp, "this is");
}

#[test]
fn a_cut_at_the_minimum_still_says_its_reason() {
    let mut controller = controller();
    deliver(&mut controller, 1);
    assert_eq!(way(deliver(&mut controller, 50)), (100, 100, ChangeReason::Delay));
    assert_eq!(way(deliver(&mut controller, 100)), (100, 100, ChangeReason::Growth), "nothing was to be cut");
}

#[test]
fn the_present_rate_as_a_share_changes_nothing() {
    let (mut coupled, mut alone) = (controller(), controller());
    for controller in [&mut coupled, &mut alone] {
        controller.rule_mut().limited_by = Some(LimitingFactor::Loss);
        deliver(controller, 800);
    }
    assert_eq!(apply_allocation(&mut coupled, 800), kbps(800));
    assert_eq!((coupled.frame.share(), alone.frame.share()), (Some(kbps(800)), None));
    assert_eq!((coupled.rule().scaled, coupled.target()), (0, alone.target()));
    assert_eq!(deliver(&mut coupled, 700), deliver(&mut alone, 700));
}

#[test]
fn a_share_scales_the_rule_and_is_where_the_next_decision_starts() {
    let mut controller = controller();
    assert_eq!(apply_allocation(&mut controller, 300), kbps(300), "before the first decision");
    assert_eq!(deliver(&mut controller, 800).base, kbps(300));
    // 5000 · 300/500 · 400/800.
    assert_eq!(apply_allocation(&mut controller, 400), kbps(400));
    let target = controller.target();
    assert_eq!((target.sending_rate, target.limiting_factor), (kbps(400), LimitingFactor::Coupling));
    assert_eq!(target.window, Some(DataSize::from_bytes(1500)));
    assert_eq!(controller.frame().rate(), 400e3);
    assert_eq!(way(deliver(&mut controller, 420)), (400, 420, ChangeReason::Growth));
}

#[test]
fn coupling_limits_the_rate_exactly_while_the_share_is_below_what_the_controller_computed() {
    let mut controller = controller();
    settle(&mut controller, 800);
    for (share, factor) in [
        (400, LimitingFactor::Coupling),
        (700, LimitingFactor::Coupling),
        (800, LimitingFactor::Delay),
        (900, LimitingFactor::Delay),
        (799, LimitingFactor::Coupling),
        (50, LimitingFactor::Coupling),
        (5000, LimitingFactor::Maximum),
    ] {
        apply_allocation(&mut controller, share);
        assert_eq!(controller.target().limiting_factor, factor, "{share}");
    }
    deliver(&mut controller, 1990);
    assert_eq!(factor(&controller), LimitingFactor::Maximum, "it is the controller's own");
}

#[test]
fn a_share_beyond_the_limits_is_the_nearest_rate_within_them() {
    let mut controller = controller();
    assert_eq!(apply_allocation(&mut controller, 9000), kbps(2000));
    // 5000 · 2000/500.
    assert_eq!(
        (controller.target().window, controller.target().limiting_factor),
        (Some(DataSize::from_bytes(20_000)), LimitingFactor::Maximum)
    );
    assert_eq!(apply_allocation(&mut controller, 8000), kbps(2000));
    assert_eq!(controller.rule().scaled, 1, "it stands there already");
    assert_eq!(way(deliver(&mut controller, 1500)), (2000, 1500, ChangeReason::Delay));
    assert_eq!(apply_allocation(&mut controller, 1), kbps(100));
    assert_eq!(way(deliver(&mut controller, 1000)), (100, 1000, ChangeReason::Growth));
}

#[test]
fn a_pause_ends_the_silence_without_a_decision() {
    let mut controller = controller();
    for (n, event) in [PathEvent::Paused, PathEvent::Resumed].into_iter().enumerate() {
        send(&mut controller, 0);
        assert_eq!(controller.next_timeout(), Some(ms(3000)));
        let before = controller.target();
        assert_eq!(controller.on_event(ms(100), event), None);
        assert_eq!(
            (controller.next_timeout(), controller.target(), controller.rule().pauses),
            (None, before, n + 1)
        );
    }
}

#[test]
fn silence_halves_the_rate_each_second_and_an_early_timeout_does_nothing() {
    let mut controller = controller();
    assert_eq!(time_out(&mut controller, 9000), None, "nothing has left");
    send(&mut controller, 0);
    let before = controller.target();
    assert_eq!(time_out(&mut controller, 2999), None);
    assert_eq!((controller.target(), controller.next_timeout()), (before, Some(ms(3000))));
    assert_eq!(time_out(&mut controller, 3000).map(way), Some((500, 250, ChangeReason::Timeout)));
    assert_eq!(factor(&controller), LimitingFactor::Silence);
    assert_eq!(time_out(&mut controller, 3000), None, "twice is harmless");
    send(&mut controller, 3500);
    assert_eq!(time_out(&mut controller, 4000).map(way), Some((250, 125, ChangeReason::Timeout)));
    send(&mut controller, 4500);
    assert_eq!(time_out(&mut controller, 5000).map(way), Some((125, 100, ChangeReason::Timeout)));
    send(&mut controller, 5500);
    assert_eq!(
        time_out(&mut controller, 6000).map(way),
        Some((100, 100, ChangeReason::Timeout)),
        "a cut at the minimum"
    );
    assert_eq!(factor(&controller), LimitingFactor::Silence, "also there");
    deliver_at(&mut controller, 6100, 100);
    assert_eq!(factor(&controller), LimitingFactor::Minimum, "feedback ends it");
}

#[test]
fn limits_and_another_route_decide() {
    let mut controller = controller();
    deliver(&mut controller, 800);
    let decision = controller.on_event(ms(0), PathEvent::Limits(limits(100, 300, 600))).unwrap();
    assert_eq!(way(decision), (800, 600, ChangeReason::Limits));
    assert_eq!(controller.target().limiting_factor, LimitingFactor::Maximum);
    send(&mut controller, 0);
    let decision = controller.on_event(ms(10), PathEvent::RouteChanged).unwrap();
    assert_eq!((way(decision), decision.rtt), ((600, 300, ChangeReason::Route), None));
    assert_eq!(
        (controller.target().limiting_factor, controller.next_timeout(), controller.rule().routes),
        (LimitingFactor::RampUp, None, 1)
    );
    // Below the start rate it stays.
    deliver(&mut controller, 200);
    let decision = controller.on_event(ms(20), PathEvent::RouteChanged).unwrap();
    assert_eq!(way(decision), (200, 200, ChangeReason::Route));
}

#[test]
fn the_least_queued_bytes_are_those_since_the_last_feedback() {
    let mut controller = controller();
    let waiting = |bytes| SendState { queued: DataSize::from_bytes(bytes), ..SendState::default() };
    let size = DataSize::from_bytes(1000);
    let packet = SentPacket::new(0, ms(0), size);
    let queued_and_least = |controller: &RateController<Obedient>| {
        (controller.frame().queued().bytes(), controller.frame().least_queued().bytes())
    };
    controller.on_sent(&packet, &waiting(700));
    controller.on_feedback(ms(10), &Feedback::Ceiling(kbps(500)), &waiting(5000));
    assert_eq!(queued_and_least(&controller), (5000, 700));
    controller.on_sent(&packet, &waiting(4000));
    assert_eq!(controller.on_timeout(ms(500), &waiting(4500)), None, "it is not due");
    assert_eq!(queued_and_least(&controller), (5000, 700));
    controller.on_timeout(ms(4000), &waiting(4500));
    assert_eq!(queued_and_least(&controller), (4500, 4000));
    controller.on_event(ms(4100), PathEvent::Paused);
    assert_eq!(queued_and_least(&controller), (0, 0));
}

#[test]
fn recorded_and_foreign_reports_make_no_decision() {
    let mut controller = controller();
    let state =
        SendState { queued: DataSize::from_bytes(900), application_limited: true, ..SendState::default() };
    let foreign = Feedback::packets(&[], None);
    assert_eq!(controller.on_feedback(ms(0), &foreign, &state), None);
    assert_eq!(
        (controller.frame().queued(), controller.target().limiting_factor),
        (DataSize::ZERO, LimitingFactor::RampUp)
    );
    let noted = Feedback::Reception { report: crate::report::ReceptionReport::default(), rtt: None };
    assert_eq!(controller.on_feedback(ms(0), &noted, &state), None);
    assert_eq!(
        (controller.frame().queued(), controller.target().limiting_factor),
        (DataSize::from_bytes(900), LimitingFactor::Application)
    );
}
