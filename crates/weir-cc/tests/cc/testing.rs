//! The tests for other controllers, used from outside: on a controller of our own, and on broken ones.

use weir_cc::packet_feedback::PacketFeedback;
use weir_cc::rate_controller::{Computed, FeedbackOutcome, FlowContext, RateController, Rule, SendRates};
use weir_cc::testing::{BothHalves, TestedController, controller_tests, halves, properties};
use weir_cc::{
    AllocatedRate, ChangeReason, Controller, DataRate, Decision, Feedback, LimitingFactor, Pacing,
    PacketFate, PathEvent, RateLimits, SendState, SendTime, Signal, Target, TimeDelta,
};

const FEEDBACK_INTERVAL: TimeDelta = TimeDelta::from_millis(50);
/// In bit/s for each feedback: 80 kbit/s in a second.
const STEP: f64 = 4000.0;
const CUT: f64 = 0.7;

/// Additive increase with each feedback, multiplicative decrease once for all losses of a round trip.
#[derive(Debug)]
struct Aimd {
    /// Time of the last cut: packets that left before were sent at the earlier rate.
    cut_at: Option<SendTime>,
}

impl Rule for Aimd {
    fn on_feedback(
        &mut self,
        now: SendTime,
        feedback: &Feedback<'_>,
        _: &SendState,
        frame: &mut FlowContext,
    ) -> FeedbackOutcome {
        let Feedback::Packets { results, rtt, .. } = *feedback else { return FeedbackOutcome::Ignored };
        if results.is_empty() {
            return FeedbackOutcome::NoUpdate;
        }
        frame.end_silence();
        frame.set_rtt(rtt);
        let is_news = |at: SendTime| self.cut_at.is_none_or(|cut| at > cut);
        if results.iter().any(|result| result.fate == PacketFate::Missing && is_news(result.sent.at)) {
            self.cut_at = Some(now);
            return FeedbackOutcome::Rate(Computed {
                rate: frame.rate() * CUT,
                why: ChangeReason::Loss,
                limited_by: Some(LimitingFactor::Loss),
            });
        }
        FeedbackOutcome::Rate(Computed {
            rate: frame.rate() + STEP,
            why: ChangeReason::Growth,
            limited_by: None,
        })
    }

    fn forget_path(&mut self, _: SendTime, _: &mut FlowContext) {
        self.cut_at = None;
    }

    // The rule has no rate but the frame's.
    fn scale(&mut self, _: SendTime, _: f64, _: &FlowContext) {}

    fn send_rates(&self, frame: &FlowContext) -> SendRates {
        SendRates::at(frame.data_rate(), Pacing::Factor(1.0))
    }

    fn signals(&self) -> &'static [Signal] {
        &[Signal { name: "r", unit: "bit/s", meaning: "rate" }]
    }

    fn read_signals(&self, frame: &FlowContext, out: &mut [f64]) {
        out[0] = frame.rate();
    }
}

fn aimd(limits: RateLimits) -> RateController<Aimd> {
    RateController::new_by(Aimd { cut_at: None }, FlowContext::new(limits, Some(TimeDelta::from_secs(1))))
}

controller_tests!(
    aimd_by_loss,
    TestedController::new("aimd", |limits| halves(aimd(limits), PacketFeedback::new(FEEDBACK_INTERVAL)))
        // (2500 − 50)/4 = 613 of them.
        .recovering_within(620)
        .cutting_to(CUT)
);

/// Fault of a broken controller.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    ExceedsItsMaximum,
    TimeoutThatStays,
    DeafOnceItWasSilent,
    ForgetsCoupling,
}

/// The controller above, with a fault.
#[derive(Debug)]
struct Broken {
    controller: RateController<Aimd>,
    fault: Fault,
    limits: RateLimits,
    was_silent: bool,
    share: bool,
}

impl Controller for Broken {
    fn on_sent(&mut self, packet: &weir_cc::SentPacket, state: &SendState) {
        self.controller.on_sent(packet, state);
    }

    fn on_feedback(&mut self, now: SendTime, feedback: &Feedback<'_>, state: &SendState) -> Option<Decision> {
        if self.fault == Fault::DeafOnceItWasSilent && self.was_silent {
            return None;
        }
        self.controller.on_feedback(now, feedback, state)
    }

    fn on_timeout(&mut self, now: SendTime, state: &SendState) -> Option<Decision> {
        let decision = self.controller.on_timeout(now, state);
        self.was_silent |= decision.is_some();
        decision
    }

    fn on_event(&mut self, now: SendTime, event: PathEvent) -> Option<Decision> {
        if let PathEvent::Limits(limits) = event {
            self.limits = limits;
        }
        self.controller.on_event(now, event)
    }

    fn next_timeout(&self) -> Option<SendTime> {
        let own = self.controller.next_timeout();
        if self.fault == Fault::TimeoutThatStays { own.or(Some(SendTime::ZERO)) } else { own }
    }

    fn target(&self) -> Target {
        let target = self.controller.target();
        let exceeds =
            self.fault == Fault::ExceedsItsMaximum && target.limiting_factor == LimitingFactor::Maximum;
        if exceeds { Target { media_rate: target.media_rate.scale(1.01), ..target } } else { target }
    }

    fn apply_allocation(&mut self, now: SendTime, share: AllocatedRate) -> DataRate {
        if self.fault == Fault::ForgetsCoupling && self.share {
            return self.limits.clamp(share.rate);
        }
        self.share = true;
        self.controller.apply_allocation(now, share)
    }

    fn signals(&self) -> &'static [Signal] {
        self.controller.signals()
    }

    fn read_signals(&self, out: &mut [f64]) {
        self.controller.read_signals(out);
    }
}

/// The halves of a controller with `fault`.
fn broken(fault: Fault, limits: RateLimits) -> BothHalves {
    let controller = aimd(limits);
    halves(
        Broken { controller, fault, limits, was_silent: false, share: false },
        PacketFeedback::new(FEEDBACK_INTERVAL),
    )
}

#[test]
#[should_panic(expected = "outside RateLimits")]
fn a_controller_that_exceeds_its_limits_is_caught() {
    properties::a_sender_keeps_its_promises_whatever_comes(&TestedController::new("broken", |limits| {
        broken(Fault::ExceedsItsMaximum, limits)
    }));
}

#[test]
#[should_panic(expected = "after a timeout at")]
fn a_controller_whose_timeout_does_not_move_on_is_caught() {
    properties::a_sender_keeps_its_promises_whatever_comes(&TestedController::new("broken", |limits| {
        broken(Fault::TimeoutThatStays, limits)
    }));
}

#[test]
#[should_panic(expected = "left == right")]
fn a_controller_that_does_not_recover_from_silence_is_caught() {
    let controller = TestedController::new("broken", |limits| broken(Fault::DeafOnceItWasSilent, limits))
        .recovering_within(620);
    properties::a_sender_survives_five_seconds_of_silence_whatever_came_before(&controller);
}

#[test]
#[should_panic(expected = "left == right")]
fn a_controller_that_recovers_more_slowly_than_its_line_says_is_caught() {
    let controller =
        TestedController::new("slow", |limits| halves(aimd(limits), PacketFeedback::new(FEEDBACK_INTERVAL)));
    properties::a_sender_survives_five_seconds_of_silence_whatever_came_before(&controller);
}

#[test]
#[should_panic(expected = "left == right")]
fn a_controller_that_does_not_take_what_coupling_says_is_caught() {
    let controller = TestedController::new("broken", |limits| broken(Fault::ForgetsCoupling, limits));
    properties::coupling_is_the_cause_exactly_while_a_share_is_below_what_the_controller_computed_last(
        &controller,
    );
}

#[test]
#[should_panic(expected = " above ")]
fn a_controller_that_runs_away_while_the_source_offers_less_is_caught() {
    let build = |limits| halves(aimd(limits), PacketFeedback::new(FEEDBACK_INTERVAL));
    let controller = TestedController::new("aimd", build).bounded_when_limited();
    properties::while_the_source_offers_a_tenth_of_the_capacity_the_target_does_not_run_away(&controller);
}
