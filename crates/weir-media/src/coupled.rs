//! Connection of a flow of a session with its coupler.

use weir_cc::coupled::{
    CouplerAction, CouplingMessage, Demand, FlowId, FlowParameters, Membership, Statistics,
};
use weir_cc::{AllocatedRate, Decision, RateLimits, SendTime, Target};
use weir_units::{DataRate, DataSize, TimeDelta};

use crate::config::MediaConfig;
use crate::guard::Alarm;
use crate::sender::MediaSender;
use crate::session::{Output, Session};

/// Flows that one host sends to one peer, as their coupling sees them: a [`Session`], or a group of endpoints.
pub trait FlowSet {
    /// The present target of the flow's controller, unless there is no such flow.
    fn target(&self, flow: FlowId) -> Option<&Target>;

    /// Time of the last feedback to the flow's controller.
    fn last_feedback(&self, flow: FlowId) -> Option<SendTime>;

    /// Payload bytes of the flow that wait in front of its pacer.
    fn queued(&self, flow: FlowId) -> DataSize;

    /// Applies an allocation to the flow. Returns the rate that its controller took.
    fn apply_allocation(&mut self, now: SendTime, flow: FlowId, share: AllocatedRate) -> Option<DataRate>;
}

impl FlowSet for Session {
    fn target(&self, flow: FlowId) -> Option<&Target> {
        self.flow(flow).map(MediaSender::target)
    }

    fn last_feedback(&self, flow: FlowId) -> Option<SendTime> {
        self.flow(flow).and_then(MediaSender::last_feedback)
    }

    fn queued(&self, flow: FlowId) -> DataSize {
        self.flow(flow).map_or(DataSize::ZERO, MediaSender::queued)
    }

    fn apply_allocation(&mut self, now: SendTime, flow: FlowId, share: AllocatedRate) -> Option<DataRate> {
        Session::apply_allocation(self, now, flow, share)
    }
}

/// An output of a flow that concerns its coupling.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum CoupledOutput {
    /// Its controller computed a rate.
    Decision(Decision),
    /// An alarm about its reports.
    Alarm(Alarm),
    /// A report measured a round-trip time.
    RoundTrip(TimeDelta),
    /// Statistics for shared bottleneck detection.
    Statistics(Statistics),
    /// A packet with this payload left.
    Sent(DataSize),
}

impl CoupledOutput {
    /// The part of an output of a session that concerns coupling, with its flow.
    pub fn of(output: &Output) -> Option<(FlowId, Self)> {
        Some(match *output {
            Output::Decision(id, decision) => (id, Self::Decision(decision)),
            Output::Rtt(id, rtt) => (id, Self::RoundTrip(rtt)),
            Output::Packet(id, ref packet) => {
                (id, Self::Sent(DataSize::from_bytes(u64::from(packet.payload))))
            }
            Output::Alarm(id, alarm) => (id, Self::Alarm(alarm)),
            Output::Statistics(id, statistics) => (id, Self::Statistics(statistics)),
            _ => return None,
        })
    }
}

/// Rule for the desired rate `DR` that a flow reports (RFC 8699 §5.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum DesiredRate {
    /// No desired rate: the flow takes any rate that it is allocated.
    Unlimited,
    /// The upper bound of the flow's rate limits.
    #[default]
    Limits,
    /// The upper bound of the rate limits, or 1.5 times the sending rate while the flow sends clearly less than its
    /// rate.
    Measured,
}

/// Time for which reports must agree before a flow joins again that was withdrawn for contradictory reports.
const AGREEMENT_TIME: TimeDelta = TimeDelta::from_secs(30);

/// Whether the reports on a flow agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReportAgreement {
    /// The flow is coupled.
    Coupled,
    /// Its reports contradict each other: their content must not reach other flows.
    Doubted,
    /// Its reports have agreed since this time.
    Agreed(SendTime),
}

/// Connects a flow of a [`FlowSet`] with its [`Coupler`](weir_cc::coupled::Coupler): makes coupling messages of the
/// flow's outputs, and applies the coupler's actions to the flow.
///
/// Coupling messages that a method returns must be sent to the coupler in order. The coupler's actions go to
/// [`Self::apply`] of the flow that they are for, at once or after the delay from the coupler.
///
/// A flow under [`Alarm::ReportsContradict`] leaves the coupling, so that forged reports on it reach no other. The flow
/// joins again once its reports have agreed for 30 s.
#[derive(Clone, Debug)]
pub struct CoupledFlow {
    id: FlowId,
    limits: RateLimits,
    desired: DesiredRate,
    membership: Membership,
    demand: Demand,
    begun: bool,
    paused: bool,
    standing: ReportAgreement,
    /// Time of the last feedback, as of the last decision.
    feedback_at: Option<SendTime>,
}

impl CoupledFlow {
    /// The flow `id`, made by `config`, with the weight `priority`: positive and finite, or the coupler refuses it.
    pub fn new(id: FlowId, priority: f64, desired: DesiredRate, config: &MediaConfig) -> Self {
        Self::with_limits(id, priority, desired, config.limits, config.payload_limit)
    }

    /// A flow with the rates `limits` and at most `payload` bytes in a packet, otherwise as [`Self::new`].
    pub(crate) fn with_limits(
        id: FlowId,
        priority: f64,
        desired: DesiredRate,
        limits: RateLimits,
        payload: u16,
    ) -> Self {
        let most = (desired != DesiredRate::Unlimited).then_some(limits.max());
        let parameters = FlowParameters { priority, desired: most, least: limits.min() };
        let segment = DataSize::from_bytes(u64::from(payload));
        let (membership, demand) = (Membership::new(parameters, segment), Demand::new());
        Self {
            id,
            limits,
            desired,
            membership,
            demand,
            begun: false,
            paused: false,
            standing: ReportAgreement::Coupled,
            feedback_at: None,
        }
    }

    /// Identifier of the flow in its set.
    pub const fn id(&self) -> FlowId {
        self.id
    }

    /// Couples the flow when it begins, unless it has begun. The flow joins with the start rate of its controller.
    pub fn begin(&mut self, now: SendTime, flows: &impl FlowSet) -> Option<CouplingMessage> {
        let target = flows.target(self.id)?;
        if self.standing != ReportAgreement::Coupled {
            return None;
        }
        let first = !core::mem::replace(&mut self.begun, true);
        let rate = target.sending_rate;
        first.then(|| self.membership.join(now, rate, rate, target.window))
    }

    /// Withdraws the flow from its coupling during a pause, so that others take its share. A flow that is not coupled
    /// sends no message.
    pub fn pause(&mut self) -> Option<CouplingMessage> {
        self.paused = true;
        self.membership.pause()
    }

    /// Couples the flow again after a pause, at its start rate, as others have its share by then.
    pub fn resume(&mut self, now: SendTime, flows: &impl FlowSet) -> Option<CouplingMessage> {
        self.paused = false;
        if self.standing != ReportAgreement::Coupled {
            return None;
        }
        let window = flows.target(self.id)?.window;
        let present = self.membership.present();
        Some(self.membership.join(now, self.limits.start().min(present), present, window))
    }

    /// Changes the weight of the flow.
    pub fn weigh(&mut self, priority: f64) -> Option<CouplingMessage> {
        self.membership.set_parameters(FlowParameters { priority, ..*self.membership.parameters() })
    }

    /// Withdraws the flow when it has ended.
    pub fn leave(&mut self) -> Option<CouplingMessage> {
        self.membership.leave()
    }

    /// Takes an output of the flow.
    pub fn on_output(
        &mut self,
        now: SendTime,
        flows: &impl FlowSet,
        output: &CoupledOutput,
    ) -> [Option<CouplingMessage>; 2] {
        match *output {
            CoupledOutput::Decision(decision) => return self.on_decision(now, flows, decision),
            CoupledOutput::Alarm(Alarm::ReportsContradict) => {
                self.standing = ReportAgreement::Doubted;
                return [self.membership.withdraw(), None];
            }
            CoupledOutput::Alarm(Alarm::ReportsAgree) if self.standing == ReportAgreement::Doubted => {
                self.standing = ReportAgreement::Agreed(now);
            }
            CoupledOutput::RoundTrip(rtt) => self.membership.on_rtt(rtt),
            CoupledOutput::Statistics(statistics) if self.standing == ReportAgreement::Coupled => {
                return [Some(CouplingMessage::Statistics(statistics)), None];
            }
            CoupledOutput::Sent(payload) if self.desired == DesiredRate::Measured => {
                self.demand.on_sent(now, payload);
            }
            _ => {}
        }
        [None; 2]
    }

    fn on_decision(
        &mut self,
        now: SendTime,
        flows: &impl FlowSet,
        decision: Decision,
    ) -> [Option<CouplingMessage>; 2] {
        let Some(window) = flows.target(self.id).map(|target| target.window) else { return [None; 2] };
        if self.may_join_again(now) {
            let rate = decision.rate;
            return [Some(self.membership.join(now, rate, rate, window)), None];
        }
        // A decision that no feedback preceded, such as one of a timeout, does not count as feedback.
        let feedback_at = flows.last_feedback(self.id);
        if feedback_at != core::mem::replace(&mut self.feedback_at, feedback_at) {
            self.membership.on_feedback();
        }
        let parameters_message = (self.desired == DesiredRate::Measured).then(|| {
            let most = self.limits.max();
            let measured = self.demand.desired(now, decision.rate, flows.queued(self.id));
            let desired = Some(measured.map_or(most, |rate| rate.min(most)));
            self.membership.set_parameters(FlowParameters { desired, ..*self.membership.parameters() })
        });
        [parameters_message.flatten(), self.membership.update(now, decision, window)]
    }

    /// Whether the flow, which is not coupled now, joins again.
    fn may_join_again(&mut self, now: SendTime) -> bool {
        let may = matches!(self.standing, ReportAgreement::Agreed(since) if now - since >= AGREEMENT_TIME)
            && !self.paused;
        if may {
            self.standing = ReportAgreement::Coupled;
        }
        may
    }

    /// Applies an action of the coupler. Returns the rate that the controller took, if there was one to take.
    pub fn apply(
        &mut self,
        now: SendTime,
        action: &CouplerAction,
        flows: &mut impl FlowSet,
    ) -> Option<DataRate> {
        let share = self.membership.order(now, action);
        self.apply_allocation(now, share, flows)
    }

    /// Time of the next call of [`Self::on_timeout`].
    pub fn next_timeout(&self) -> Option<SendTime> {
        self.membership.next_timeout()
    }

    /// Continues the flow at a lower rate, or uncoupled, where the coupler has not answered in time. Returns the rate
    /// that the controller took, if there was one to take.
    pub fn on_timeout(&mut self, now: SendTime, flows: &mut impl FlowSet) -> Option<DataRate> {
        let share = self.membership.on_timeout(now);
        self.apply_allocation(now, share, flows)
    }

    fn apply_allocation(
        &mut self,
        now: SendTime,
        share: Option<AllocatedRate>,
        flows: &mut impl FlowSet,
    ) -> Option<DataRate> {
        let taken = flows.apply_allocation(now, self.id, share?)?;
        let window = flows.target(self.id).and_then(|target| target.window);
        self.membership.taken(taken, window);
        Some(taken)
    }
}
