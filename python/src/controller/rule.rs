//! The sender half of a class.

use pyo3::prelude::*;
use weir_cc::rate_controller::{Computed, FeedbackOutcome, FlowContext, Rule, SendRates};
use weir_cc::{
    ChangeReason, Feedback as SenderFeedback, LimitingFactor, Pacing, PacketFate, ReportKind, SendState,
    SendTime, SentPacket, Signal, TimeDelta,
};

use super::feedback::{Feedback, seconds};
use super::instance::ClassInstance;

/// The pacing rate over the target rate, as for most controllers.
const PACING: f64 = 2.5;

/// The computation of a rate by a class.
#[derive(Debug)]
pub(super) struct ClassRule {
    instance: ClassInstance,
    on_feedback: Option<Py<PyAny>>,
    /// Interval of the timer, if the class has one.
    timer: Option<TimeDelta>,
    due: Option<SendTime>,
}

impl ClassRule {
    pub(super) fn new(instance: ClassInstance, timer: Option<TimeDelta>) -> Self {
        Self { instance, on_feedback: None, timer, due: None }
    }

    /// Makes the instance at the first packet.
    fn begin(&mut self, now: SendTime) {
        self.instance.make(seconds(now.nanos()), true);
        self.on_feedback = self.instance.method("on_feedback");
        self.due = self.timer.map(|interval| now + interval);
    }

    /// The rate that the method `on_feedback` returns.
    fn ask(&self, now: SendTime, feedback: &SenderFeedback<'_>, state: SendState) -> Option<f64> {
        let method = self.on_feedback.as_ref().filter(|_| !self.instance.has_failed())?;
        let feedback = Feedback::of(feedback, state)?;
        let at_s = seconds(now.nanos());
        Python::attach(|py| match method.bind(py).call1((at_s, feedback)) {
            Ok(value) => self.instance.rate(at_s, "on_feedback", &value),
            Err(error) => {
                self.instance.raised(at_s, "on_feedback", error);
                None
            }
        })
    }

    /// Calls an optional method with one number.
    fn notify(&self, now: SendTime, method: &str, number: f64) {
        let Some(callback) = self.instance.method(method).filter(|_| !self.instance.has_failed()) else {
            return;
        };
        if let Err(error) = Python::attach(|py| callback.call1(py, (number,)).map(drop)) {
            self.instance.raised(seconds(now.nanos()), method, error);
        }
    }
}

impl Rule for ClassRule {
    fn on_sent(&mut self, packet: &SentPacket, _: &SendState, _: &FlowContext) {
        if self.on_feedback.is_none() && !self.instance.has_failed() {
            self.begin(packet.at);
        }
    }

    fn accepts(&self, kind: ReportKind) -> bool {
        kind == ReportKind::Packets
    }

    fn on_feedback(
        &mut self,
        now: SendTime,
        feedback: &SenderFeedback<'_>,
        state: &SendState,
        frame: &mut FlowContext,
    ) -> FeedbackOutcome {
        let SenderFeedback::Packets { results, rtt, .. } = feedback else { return FeedbackOutcome::Ignored };
        frame.set_rtt(rtt.or(frame.rtt()));
        frame.end_silence();
        let lost = results.iter().any(|result| result.fate == PacketFate::Missing);
        let (why, limit) = if lost {
            (ChangeReason::Loss, LimitingFactor::Loss)
        } else {
            (ChangeReason::Delay, LimitingFactor::Delay)
        };
        let rate = self.ask(now, feedback, *state);
        rate.map_or(FeedbackOutcome::NoUpdate, |rate| {
            let limited_by = (rate < frame.rate()).then_some(limit);
            FeedbackOutcome::Rate(Computed { rate, why, limited_by })
        })
    }

    fn on_timeout(&mut self, now: SendTime, _: &SendState, frame: &mut FlowContext) -> Option<Computed> {
        let (due, interval) = (self.due?, self.timer?);
        if due > now {
            return None;
        }
        self.due = Some((due + interval).max(now + TimeDelta::from_nanos(1)));
        if self.instance.has_failed() {
            return None;
        }
        let method = self.instance.method("on_timeout")?;
        let at_s = seconds(now.nanos());
        let rate = Python::attach(|py| match method.bind(py).call1((at_s,)) {
            Ok(value) if value.is_none() => None,
            Ok(value) => self.instance.rate(at_s, "on_timeout", &value),
            Err(error) => {
                self.instance.raised(at_s, "on_timeout", error);
                None
            }
        })?;
        let limited_by = (rate < frame.rate()).then_some(LimitingFactor::Delay);
        Some(Computed { rate, why: ChangeReason::Delay, limited_by })
    }

    fn next_timeout(&self) -> Option<SendTime> {
        self.due
    }

    fn forget_path(&mut self, now: SendTime, _: &mut FlowContext) {
        self.notify(now, "on_route_changed", seconds(now.nanos()));
    }

    fn scale(&mut self, now: SendTime, factor: f64, _: &FlowContext) {
        self.notify(now, "scale", factor);
    }

    fn send_rates(&self, frame: &FlowContext) -> SendRates {
        SendRates::at(frame.data_rate(), Pacing::Factor(PACING))
    }

    fn signals(&self) -> &'static [Signal] {
        &[]
    }

    fn read_signals(&self, _: &FlowContext, _: &mut [f64]) {}
}
