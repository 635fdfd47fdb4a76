//! The sender of every NADA variant: reports, the variant's rule, and the rates for encoder and pacer.

use core::fmt::Debug;

use weir_units::TimeDelta;

use super::config::{NadaPacing, ShapingBuffer};
use super::rate::Shaping;
use crate::controller::{Evidence, LimitingFactor, Pacing, RateLimits, Signal};
use crate::decision::ChangeReason;
use crate::packet::{SendState, SentPacket};
use crate::parts::allocation_history::AllocationHistory;
use crate::parts::drain::Drains;
use crate::parts::feedback_timeout;
use crate::rate_controller::{Computed, FeedbackOutcome, FlowContext, RateController, Rule, SendRates};
use crate::report::{Feedback, NativeReport, ReportKind};
use crate::time::SendTime;

/// Rule of a NADA variant that computes rates from reports. Its state depends on earlier reports.
pub trait NadaVariant: Send + Sync + Debug {
    /// Kind of reports that it accepts.
    const ACCEPTED_REPORT: ReportKind;

    /// Takes a packet that has left.
    fn on_sent(&mut self, _at: SendTime) {}

    /// The rate in bit/s after `report`, not limited yet, and its rule. Returns `None` for a report of another
    /// variant.
    fn on_report(&mut self, now: SendTime, report: &NativeReport, present: &Present) -> Option<RateUpdate>;

    /// Scales the rate by `factor` for coupling, to `share` (bit/s).
    fn scale(&mut self, _share: f64, _factor: f64, _limits: &RateLimits) {}

    /// Removes the allocation of coupling, because feedback is missing or the path has changed.
    fn forget_share(&mut self) {}

    /// Clears the congestion of the path, with which the next report is not comparable.
    fn forget_congestion(&mut self);

    /// Clears all estimates after a change of the path.
    fn forget_path(&mut self) {
        self.forget_congestion();
    }

    /// Quantities that [`Self::read_signals`] writes.
    fn signals(&self) -> &'static [Signal];

    /// Writes the values of the signals; `rate` is the present rate in bit/s.
    fn read_signals(&self, rate: f64, out: &mut [f64]);

    /// The signals on which the decision for the last report depended.
    fn evidence(&self) -> [Option<Evidence>; 3];
}

/// Present state of the sender, from which a variant computes.
#[derive(Clone, Copy, Debug)]
pub struct Present {
    /// The rate in bit/s, above 0.
    pub(super) rate: f64,
    pub(super) limits: RateLimits,
    pub(super) rtt: Option<TimeDelta>,
    /// Factor by which coupling has scaled the rate since the reported packets left.
    pub(super) rescaled: f64,
}

/// A rate that a variant computed, in bit/s and not limited yet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RateUpdate {
    /// A rate from accelerated ramp-up, or from a rule of growth in its place.
    RampUp(f64),
    /// A rate from the gradual update.
    Gradual(f64),
}

/// Constants of a sender that do not belong to its variant.
#[derive(Clone, Copy, Debug)]
pub(super) struct SenderVariant {
    pub(super) pacing: NadaPacing,
    pub(super) shaping: Shaping,
    /// Feedback timeout, after which the rate is halved.
    pub(super) feedback_timeout: TimeDelta,
    /// Time span of the receiver's rate.
    pub(super) log_window: TimeDelta,
    pub(super) buffer: ShapingBuffer,
    /// Time without a round-trip time near the minimum after which the queue is drained.
    pub(super) drain_after: Option<TimeDelta>,
}

/// The sender half of a variant of NADA, which computes the rate by `V`.
pub(super) type Sender<V> = RateController<NadaRule<V>>;

/// State shared by the variants.
#[derive(Debug)]
pub struct NadaRule<V> {
    variant: V,
    constants: SenderVariant,
    allocations: AllocationHistory,
    drains: Drains,
}

impl<V: NadaVariant> Sender<V> {
    /// A sender half that begins at the start rate.
    pub(super) fn by(variant: V, constants: SenderVariant, limits: RateLimits) -> Self {
        let drains = Drains::new(constants.drain_after);
        let rule = NadaRule { variant, constants, allocations: AllocationHistory::NONE, drains };
        Self::new_by(rule, FlowContext::new(limits, Some(constants.feedback_timeout)))
    }
}

impl<V: NadaVariant> NadaRule<V> {
    fn rescaled(&mut self, now: SendTime, rtt: Option<TimeDelta>) -> f64 {
        let newest = now - rtt.unwrap_or_default();
        self.allocations.over(newest - self.constants.log_window, newest, now)
    }
}

impl<V: NadaVariant> Rule for NadaRule<V> {
    fn on_sent(&mut self, packet: &SentPacket, _state: &SendState, _frame: &FlowContext) {
        self.variant.on_sent(packet.at);
    }

    fn accepts(&self, kind: ReportKind) -> bool {
        kind == V::ACCEPTED_REPORT
    }

    fn on_feedback(
        &mut self,
        now: SendTime,
        feedback: &Feedback<'_>,
        _state: &SendState,
        frame: &mut FlowContext,
    ) -> FeedbackOutcome {
        let Feedback::Native { report, rtt } = feedback else { return FeedbackOutcome::Ignored };
        let rtt = rtt.or(frame.rtt());
        let rescaled = self.rescaled(now, rtt);
        let present = Present { rate: frame.rate(), limits: *frame.limits(), rtt, rescaled };
        let Some(update) = self.variant.on_report(now, report, &present) else {
            return FeedbackOutcome::Ignored;
        };
        frame.set_rtt(rtt);
        frame.end_silence();
        let drained = rtt.is_some_and(|rtt| self.drains.on_rtt(now, rtt));
        if drained {
            self.variant.forget_congestion();
        }
        // The report does not split its congestion signal; ramp-up depends on the receive rate.
        let (rate, why, limited_by) = match update {
            RateUpdate::RampUp(rate) => (rate, ChangeReason::Ceiling, None),
            RateUpdate::Gradual(rate) => (rate, ChangeReason::Delay, Some(LimitingFactor::Delay)),
        };
        let rate = if drained { rate.min(present.rate) } else { rate };
        FeedbackOutcome::Rate(Computed { rate, why, limited_by })
    }

    fn on_silence(&mut self, _now: SendTime, frame: &mut FlowContext) -> f64 {
        self.drains.end();
        self.variant.forget_congestion();
        self.variant.forget_share();
        frame.rate() * feedback_timeout::FACTOR
    }

    fn on_pause(&mut self) {
        self.drains.end();
        self.variant.forget_congestion();
    }

    fn forget_base_delay(&mut self) {
        self.drains.restart();
    }

    fn forget_path(&mut self, _now: SendTime, _frame: &mut FlowContext) {
        self.allocations = AllocationHistory::NONE;
        self.drains.restart();
        self.variant.forget_path();
        self.variant.forget_share();
    }

    fn scale(&mut self, now: SendTime, factor: f64, frame: &FlowContext) {
        self.allocations.on_allocation(now, factor);
        self.variant.scale(frame.rate(), factor, frame.limits());
    }

    fn send_rates(&self, frame: &FlowContext) -> SendRates {
        let rate = frame.data_rate();
        let send_rates = match self.constants.pacing {
            NadaPacing::Shaped => {
                let queued = match self.constants.buffer {
                    ShapingBuffer::Least => frame.least_queued(),
                    ShapingBuffer::Present => frame.queued(),
                };
                let shaped = self.constants.shaping.shape(frame.limits(), rate, queued);
                let (media_rate, sending_rate) = (shaped.media, shaped.sending);
                SendRates { media_rate, ..SendRates::at(sending_rate, Pacing::Factor(1.0)) }
            }
            NadaPacing::Factor(factor) => SendRates::at(rate, Pacing::Factor(factor)),
            NadaPacing::Unpaced => SendRates::at(rate, Pacing::Unpaced),
        };
        self.drains.shape(send_rates, frame.limits())
    }

    fn signals(&self) -> &'static [Signal] {
        self.variant.signals()
    }

    fn read_signals(&self, frame: &FlowContext, out: &mut [f64]) {
        self.variant.read_signals(frame.rate(), out);
    }

    fn evidence(&self, _why: ChangeReason, _frame: &FlowContext) -> [Option<Evidence>; 3] {
        self.variant.evidence()
    }
}

#[cfg(test)]
mod tests;
