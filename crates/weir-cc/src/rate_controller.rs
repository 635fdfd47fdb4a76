//! The shell of every controller that computes a rate: limits, the limiting factor, reasons of changes, missing
//! feedback, events, decisions, and coupling's allocations.
//!
//! A controller's computation is a [`Rule`]; a [`RateController`] makes a [`Controller`] of it. Both share the
//! flow's [`FlowContext`].

mod climb;
mod extremes;
mod limiting;
mod standing;

pub use crate::parts::filters::WindowedMin;
pub(crate) use standing::{Decided, RateInForce};

use core::fmt::Debug;

use weir_units::{DataRate, DataSize, TimeDelta};

use crate::controller::{
    Controller, Evidence, LimitingFactor, Pacing, PathEvent, RateLimits, Signal, Target,
};
use crate::decision::{AllocatedRate, ChangeReason, Decision};
use crate::packet::{SendState, SentPacket, Stamp};
use crate::parts::feedback_timeout::{self, FeedbackTimeout};
use crate::parts::least_queued::LeastQueued;
use crate::report::{Feedback, ReportKind};
use crate::time::SendTime;

/// Computation of a controller's rate. Its state is what it remembers of the path; the rate itself is the
/// [`FlowContext`]'s.
pub trait Rule: Send + Sync + Debug {
    /// Takes in that a packet has left.
    fn on_sent(&mut self, _packet: &SentPacket, _state: &SendState, _frame: &FlowContext) {}

    /// Whether the controller accepts reports of this kind ([`Controller::accepts`]).
    fn accepts(&self, _kind: ReportKind) -> bool {
        true
    }

    /// Takes in feedback.
    fn on_feedback(
        &mut self,
        now: SendTime,
        feedback: &Feedback<'_>,
        state: &SendState,
        frame: &mut FlowContext,
    ) -> FeedbackOutcome;

    /// The time of [`Self::next_timeout`] may have come. Returns the rate, if one was computed.
    fn on_timeout(
        &mut self,
        _now: SendTime,
        _state: &SendState,
        _frame: &mut FlowContext,
    ) -> Option<Computed> {
        None
    }

    /// Time of the next [`Self::on_timeout`] of the rule itself, apart from the clock of missing feedback.
    fn next_timeout(&self) -> Option<SendTime> {
        None
    }

    /// Computes the new rate, in bit/s, after feedback has been missing for the feedback timeout.
    fn on_silence(&mut self, _now: SendTime, frame: &mut FlowContext) -> f64 {
        frame.rate() * feedback_timeout::FACTOR
    }

    /// Resets clocks when the application stops sending on purpose, and when it goes on.
    fn on_pause(&mut self) {}

    /// Takes in new limits of the frame. Returns the rate in bit/s, not yet within them.
    fn on_limits(&mut self, frame: &FlowContext) -> f64 {
        frame.rate()
    }

    /// Takes in that the path is another one, on which the frame's rate holds: at most the start rate.
    fn forget_path(&mut self, now: SendTime, frame: &mut FlowContext);

    /// Forgets the base delay, which does not hold: it is measured anew.
    fn forget_base_delay(&mut self) {}

    /// Scales the flow for coupling: multiply each rate and each window of the rule by `factor`, above 0. Clocks,
    /// phases, histories and estimates of the path stay.
    fn scale(&mut self, now: SendTime, factor: f64, frame: &FlowContext);

    /// The frame's rate adjusted by the last round trip, for rules that do so.
    fn instantaneous_rate(&self, frame: &FlowContext) -> DataRate {
        frame.data_rate()
    }

    /// Rates and window for encoder and pacer at the frame's rate.
    fn send_rates(&self, frame: &FlowContext) -> SendRates;

    /// Values for the header of each packet.
    fn stamp(&self, _frame: &FlowContext) -> Option<Stamp> {
        None
    }

    /// Names and units of the internal quantities.
    fn signals(&self) -> &'static [Signal];

    /// Writes the values of [`Self::signals`] to `out`.
    fn read_signals(&self, frame: &FlowContext, out: &mut [f64]);

    /// The signals that a decision depends on ([`Controller::evidence`]).
    fn evidence(&self, _why: ChangeReason, _frame: &FlowContext) -> [Option<Evidence>; 3] {
        [None; 3]
    }
}

/// Result of feedback to a rule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FeedbackOutcome {
    /// The feedback is of a kind that the rule does not use.
    Ignored,
    /// The feedback was taken in; no rate was computed.
    NoUpdate,
    /// A rate was computed.
    Rate(Computed),
}

/// A rate as a rule computed it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Computed {
    /// In bit/s, not yet within the limits.
    pub rate: f64,
    /// Reason of the change, if the rate is lower now.
    pub why: ChangeReason,
    /// Limit of the rate where it does not rise: delay, loss or the receiver, or `None` without one. The frame
    /// finds out whether the rate rises ([`Target::limiting_factor`]).
    pub limited_by: Option<LimitingFactor>,
}

/// Rates and window for encoder and pacer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SendRates {
    /// For the encoder.
    pub media_rate: DataRate,
    /// For the wire.
    pub sending_rate: DataRate,
    /// How packets leave.
    pub pacing: Pacing,
    /// Congestion window in bytes.
    pub window: Option<DataSize>,
    /// Target rate up to which padding fills up what the encoder leaves free; zero for none.
    pub padding: DataRate,
    /// Whether the rule lets the queue drain.
    pub draining: bool,
}

impl SendRates {
    /// `rate` for encoder and wire alike, without a window or padding.
    pub const fn at(rate: DataRate, pacing: Pacing) -> Self {
        let padding = DataRate::ZERO;
        Self { media_rate: rate, sending_rate: rate, pacing, window: None, padding, draining: false }
    }
}

/// State of a flow that the rule does not compute.
#[derive(Clone, Copy, Debug)]
pub struct FlowContext {
    standing: RateInForce,
    /// In bit/s, within the limits; [`RateInForce::decided`] before rounding.
    rate: f64,
    queued: DataSize,
    least_queued: LeastQueued,
    rtt: Option<TimeDelta>,
    silence: Option<FeedbackTimeout>,
}

impl FlowContext {
    /// At the start rate. Without feedback for `feedback_timeout` the rate is halved, and again each second after.
    /// A rule that has its own clock of missing feedback passes `None`.
    pub fn new(limits: RateLimits, feedback_timeout: Option<TimeDelta>) -> Self {
        Self::with_silence(limits, feedback_timeout.map(FeedbackTimeout::new))
    }

    pub(crate) fn with_silence(limits: RateLimits, silence: Option<FeedbackTimeout>) -> Self {
        Self {
            standing: RateInForce::new(limits),
            rate: limits.start().bps_f64(),
            queued: DataSize::ZERO,
            least_queued: LeastQueued::NOTHING,
            rtt: None,
            silence,
        }
    }

    /// The bounds of the rate.
    pub const fn limits(&self) -> &RateLimits {
        &self.standing.limits
    }

    /// The rate in bit/s, above 0 and within the limits.
    pub const fn rate(&self) -> f64 {
        self.rate
    }

    /// The rate in whole bit/s: that of the last decision, or coupling's later allocation.
    pub fn data_rate(&self) -> DataRate {
        self.standing.decided()
    }

    /// The last allocation of a coupler, within the limits, or `None` for a flow that was never coupled. The rate
    /// in force may have left it since.
    pub const fn share(&self) -> Option<DataRate> {
        self.standing.share()
    }

    /// Backlog in front of the pacer, as of the last feedback or timeout, a frame just captured included.
    pub const fn queued(&self) -> DataSize {
        self.queued
    }

    /// The least backlog since the feedback or timeout before: packets about to leave within a frame do not count.
    pub const fn least_queued(&self) -> DataSize {
        self.least_queued.get()
    }

    /// The round-trip time, if one is known.
    pub const fn rtt(&self) -> Option<TimeDelta> {
        self.rtt
    }

    /// Sets the round-trip time that decisions carry from now on.
    pub fn set_rtt(&mut self, rtt: Option<TimeDelta>) {
        self.rtt = rtt;
    }

    fn set_queued(&mut self, queued: DataSize) {
        self.queued = queued;
        self.least_queued.on_report(queued);
    }

    /// Begins at this rate (bit/s) and not at the start rate, before any packet was sent.
    pub(crate) fn begin_at(&mut self, rate: f64) {
        self.rate = self.standing.limits.clamp_bps(rate);
        self.standing = RateInForce::at(self.standing.limits, self.standing.limits.round(self.rate));
    }

    /// The clock of missing feedback, if the frame has it.
    pub(crate) fn silence(&mut self) -> Option<&mut FeedbackTimeout> {
        self.silence.as_mut()
    }

    /// Ends the wait for feedback. The next packet begins the next wait, so that a source without data is not
    /// punished.
    pub fn end_silence(&mut self) {
        if let Some(silence) = &mut self.silence {
            silence.end();
        }
    }
}

/// A controller that computes its rate by the rule `R`.
#[derive(Debug)]
pub struct RateController<R> {
    frame: FlowContext,
    rule: R,
}

impl<R: Rule> RateController<R> {
    /// The controller that `rule` makes of `frame`.
    pub const fn new_by(rule: R, frame: FlowContext) -> Self {
        Self { frame, rule }
    }

    fn decide(&mut self, now: SendTime, Computed { rate, why, limited_by }: Computed) -> Decision {
        let frame = &mut self.frame;
        let lower = rate < frame.rate;
        frame.rate = frame.standing.limits.clamp_bps(rate);
        let rate = frame.standing.limits.round(frame.rate);
        let decision = frame.standing.decide(Decided { rate, lower, why, limited_by, rtt: frame.rtt });
        frame.standing.follow(now, &decision, self.rule.instantaneous_rate(frame));
        decision
    }

    #[cfg(test)]
    pub(crate) fn rule(&self) -> &R {
        &self.rule
    }

    #[cfg(test)]
    pub(crate) fn rule_mut(&mut self) -> &mut R {
        &mut self.rule
    }

    /// Limit of the rate that the rule found last.
    #[cfg(test)]
    pub(crate) fn found(&self) -> LimitingFactor {
        self.frame.standing.found()
    }

    #[cfg(test)]
    pub(crate) fn frame(&self) -> &FlowContext {
        &self.frame
    }
}

impl<R: Rule> Controller for RateController<R> {
    fn on_sent(&mut self, packet: &SentPacket, state: &SendState) {
        if let Some(silence) = &mut self.frame.silence {
            silence.on_sent(packet.at);
        }
        self.frame.least_queued.on_sent(state.queued);
        self.rule.on_sent(packet, state, &self.frame);
    }

    fn accepts(&self, kind: ReportKind) -> bool {
        self.rule.accepts(kind)
    }

    fn on_feedback(&mut self, now: SendTime, feedback: &Feedback<'_>, state: &SendState) -> Option<Decision> {
        let outcome = self.rule.on_feedback(now, feedback, state, &mut self.frame);
        if outcome == FeedbackOutcome::Ignored {
            return None;
        }
        self.frame.set_queued(state.queued);
        self.frame.standing.application_limited = state.application_limited;
        let FeedbackOutcome::Rate(computed) = outcome else { return None };
        Some(self.decide(now, computed))
    }

    fn on_timeout(&mut self, now: SendTime, state: &SendState) -> Option<Decision> {
        if self.next_timeout().is_some_and(|due| due <= now) {
            self.frame.set_queued(state.queued);
        }
        let computed = if self.frame.silence.as_mut().is_some_and(|silence| silence.step(now)) {
            let rate = self.rule.on_silence(now, &mut self.frame);
            Computed { rate, why: ChangeReason::Timeout, limited_by: Some(LimitingFactor::Silence) }
        } else {
            self.rule.on_timeout(now, state, &mut self.frame)?
        };
        Some(self.decide(now, computed))
    }

    fn on_event(&mut self, now: SendTime, event: PathEvent) -> Option<Decision> {
        let frame = &mut self.frame;
        match event {
            PathEvent::Limits(limits) => {
                frame.standing.limits = limits;
                let rate = self.rule.on_limits(frame);
                Some(self.decide(now, Computed { rate, why: ChangeReason::Limits, limited_by: None }))
            }
            PathEvent::Paused | PathEvent::Resumed => {
                frame.end_silence();
                frame.queued = DataSize::ZERO;
                frame.least_queued = LeastQueued::NOTHING;
                self.rule.on_pause();
                None
            }
            PathEvent::DelayRefuted => {
                self.rule.forget_base_delay();
                None
            }
            PathEvent::RouteChanged => {
                frame.end_silence();
                frame.rate = frame.rate.min(frame.limits().start().bps_f64());
                frame.rtt = None;
                self.rule.forget_path(now, frame);
                let rate = frame.rate;
                Some(self.decide(now, Computed { rate, why: ChangeReason::Route, limited_by: None }))
            }
        }
    }

    fn next_timeout(&self) -> Option<SendTime> {
        let silence = self.frame.silence.as_ref().and_then(FeedbackTimeout::next_timeout);
        silence.into_iter().chain(self.rule.next_timeout()).min()
    }

    fn target(&self) -> Target {
        let SendRates { media_rate, sending_rate, pacing, window, padding, draining } =
            self.rule.send_rates(&self.frame);
        let limiting_factor = self.frame.standing.limiting_factor(draining);
        Target { media_rate, window, padding, ..Target::at(sending_rate, pacing, limiting_factor) }
    }

    fn stamp(&self) -> Option<Stamp> {
        self.rule.stamp(&self.frame)
    }

    fn apply_allocation(&mut self, now: SendTime, share: AllocatedRate) -> DataRate {
        if let Some((taken, factor)) = self.frame.standing.apply_allocation(share) {
            self.frame.rate = taken.bps_f64();
            self.rule.scale(now, factor, &self.frame);
        }
        self.frame.data_rate()
    }

    fn signals(&self) -> &'static [Signal] {
        self.rule.signals()
    }

    fn read_signals(&self, out: &mut [f64]) {
        self.rule.read_signals(&self.frame, out);
    }

    fn evidence(&self, why: ChangeReason) -> [Option<Evidence>; 3] {
        self.rule.evidence(why, &self.frame)
    }
}

#[cfg(test)]
mod tests;
