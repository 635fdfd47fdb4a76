//! The sender of every variant: reports → the variant's rule → rate → encoder and pacer.

use core::fmt::Debug;

use weir_units::{DataRate, DataSize, TimeDelta};

use super::config::NadaPacing;
use super::rate::{Shaped, Shaping};
use crate::controller::{Cause, Controller, Decision, Pacing, PathEvent, RateLimits, Share, Signal, Target};
use crate::packet::{SendState, SentPacket};
use crate::parts::silence::{self, Silence};
use crate::report::{Feedback, LawReport};
use crate::time::SendTime;

/// How a variant of NADA turns a report into a rate. Its state is what it remembers of earlier reports.
pub trait Rule: Send + Sync + Debug {
    /// A packet has left.
    fn on_sent(&mut self, _at: SendTime) {}

    /// The rate in bit/s after `report`, not yet within the limits, and what limits it; `None` if the report is none
    /// of the variant's.
    fn on_report(&mut self, now: SendTime, report: &LawReport, present: &Present) -> Option<(f64, Cause)>;

    /// What was learnt of the path's congestion does not hold for the next report.
    fn forget_congestion(&mut self);

    /// The path is another one.
    fn forget_path(&mut self) {
        self.forget_congestion();
    }

    /// The inner quantities.
    fn signals(&self) -> &'static [Signal];

    /// Their values; `rate` is the present one in bit/s.
    fn read_signals(&self, rate: f64, out: &mut [f64]);
}

/// What a rule starts from.
#[derive(Clone, Copy, Debug)]
pub struct Present {
    /// The rate in bit/s, above 0.
    pub(super) rate: f64,
    pub(super) limits: RateLimits,
    pub(super) rtt: Option<TimeDelta>,
}

/// What a sender does besides its rule.
#[derive(Clone, Copy, Debug)]
pub(super) struct Habits {
    pub(super) pacing: NadaPacing,
    pub(super) shaping: Shaping,
    /// Without a report for so long the rate is halved.
    pub(super) feedback_timeout: TimeDelta,
}

/// The sender half of a variant of NADA, which computes the rate by the rule `R`.
#[derive(Debug)]
pub struct Sender<R> {
    rule: R,
    pacing: NadaPacing,
    shaping: Shaping,
    limits: RateLimits,
    /// The reference rate in bit/s.
    rate: f64,
    rtt: Option<TimeDelta>,
    /// What waits in the shaping buffer.
    queued: DataSize,
    cause: Cause,
    application_limited: bool,
    silence: Silence,
}

impl<R: Rule> Sender<R> {
    /// A sender half that begins at the start rate.
    pub(super) fn by(rule: R, habits: Habits, limits: RateLimits) -> Self {
        Self {
            rule,
            pacing: habits.pacing,
            shaping: habits.shaping,
            limits,
            rate: limits.start().bps_f64(),
            rtt: None,
            queued: DataSize::ZERO,
            cause: Cause::RampUp,
            application_limited: false,
            silence: Silence::new(habits.feedback_timeout),
        }
    }

    fn reference_rate(&self) -> DataRate {
        DataRate::from_bps_f64(self.rate)
    }

    fn decision(&self, base: DataRate) -> Decision {
        let rate = self.reference_rate();
        Decision { rate, base, cause: self.cause_of(rate), rtt: self.rtt }
    }

    /// What limits `rate`: a bound, else the source, else what the law found.
    fn cause_of(&self, rate: DataRate) -> Cause {
        let cause = if self.application_limited { Cause::Application } else { self.cause };
        self.limits.cause(rate, cause)
    }
}

impl<R: Rule> Controller for Sender<R> {
    fn on_sent(&mut self, packet: &SentPacket, _state: &SendState) {
        self.silence.on_sent(packet.at);
        self.rule.on_sent(packet.at);
    }

    fn on_feedback(&mut self, now: SendTime, feedback: &Feedback<'_>, state: &SendState) -> Option<Decision> {
        let Feedback::Law { report, rtt } = feedback else {
            return None;
        };
        let base = self.reference_rate();
        let rtt = rtt.or(self.rtt);
        let present = Present { rate: self.rate, limits: self.limits, rtt };
        let (rate, cause) = self.rule.on_report(now, report, &present)?;
        self.rtt = rtt;
        self.queued = state.queued;
        self.application_limited = state.application_limited;
        self.rate = self.limits.clamp_bps(rate);
        self.cause = cause;
        self.silence.end();
        Some(self.decision(base))
    }

    fn on_timeout(&mut self, now: SendTime, state: &SendState) -> Option<Decision> {
        if !self.silence.step(now) {
            return None;
        }
        let base = self.reference_rate();
        self.queued = state.queued;
        self.rate = self.limits.clamp_bps(self.rate * silence::FACTOR);
        self.cause = Cause::Receiver;
        self.rule.forget_congestion();
        Some(self.decision(base))
    }

    fn on_event(&mut self, _now: SendTime, event: PathEvent) -> Option<Decision> {
        let base = self.reference_rate();
        match event {
            PathEvent::Limits(limits) => {
                self.limits = limits;
                self.rate = limits.clamp_bps(self.rate);
            }
            PathEvent::Paused | PathEvent::Resumed => {
                self.silence.end();
                self.queued = DataSize::ZERO;
                self.rule.forget_congestion();
                return None;
            }
            PathEvent::RouteChanged => {
                self.silence.end();
                self.rate = self.rate.min(self.limits.start().bps_f64());
                self.rtt = None;
                self.cause = Cause::RampUp;
                self.rule.forget_path();
            }
        }
        Some(self.decision(base))
    }

    fn next_timeout(&self) -> Option<SendTime> {
        self.silence.next_timeout()
    }

    fn target(&self) -> Target {
        let rate = self.reference_rate();
        let (Shaped { media, sending }, pacing) = match self.pacing {
            NadaPacing::Shaped => (self.shaping.shape(&self.limits, rate, self.queued), Pacing::Factor(1.0)),
            NadaPacing::Factor(factor) => (Shaped { media: rate, sending: rate }, Pacing::Factor(factor)),
            NadaPacing::Unpaced => (Shaped { media: rate, sending: rate }, Pacing::Unpaced),
        };
        Target {
            media_rate: media,
            sending_rate: sending,
            pacing,
            window: None,
            padding: DataRate::ZERO,
            cause: self.cause_of(rate),
        }
    }

    fn adopt(&mut self, _now: SendTime, share: Share) {
        self.rate = self.limits.clamp_bps(share.rate.bps_f64());
        self.cause = Cause::Coupling;
    }

    fn signals(&self) -> &'static [Signal] {
        self.rule.signals()
    }

    fn read_signals(&self, out: &mut [f64]) {
        self.rule.read_signals(self.rate, out);
    }
}

#[cfg(test)]
mod tests;
