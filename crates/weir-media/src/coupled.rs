//! Connection of a flow of a session with its coupler.

use weir_cc::coupled::{CouplerAction, CouplingMessage, Demand, FlowId, FlowParameters, Membership};
use weir_cc::{AllocatedRate, RateLimits, SendTime};
use weir_units::{DataRate, DataSize, TimeDelta};

use crate::config::MediaConfig;
use crate::guard::Alarm;
use crate::session::{Output, Session};

/// Rule for the desired rate `DR` that a flow reports (RFC 8699 §5.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
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

/// Connects a flow of a [`Session`] with its [`Coupler`](weir_cc::coupled::Coupler): makes coupling messages of the
/// session's outputs, and applies the coupler's actions to the session.
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
        let most = (desired != DesiredRate::Unlimited).then_some(config.limits.max());
        let parameters = FlowParameters { priority, desired: most, least: config.limits.min() };
        let segment = DataSize::from_bytes(u64::from(config.payload_limit));
        let (membership, demand) = (Membership::new(parameters, segment), Demand::new());
        Self {
            id,
            limits: config.limits,
            desired,
            membership,
            demand,
            begun: false,
            paused: false,
            standing: ReportAgreement::Coupled,
            feedback_at: None,
        }
    }

    /// Identifier of the flow in its session.
    pub const fn id(&self) -> FlowId {
        self.id
    }

    /// Couples the flow when it begins, unless it has begun. The flow joins with the start rate of its controller.
    pub fn begin(&mut self, now: SendTime, session: &Session) -> Option<CouplingMessage> {
        let target = session.flow(self.id)?.target();
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
    pub fn resume(&mut self, now: SendTime, session: &Session) -> Option<CouplingMessage> {
        self.paused = false;
        if self.standing != ReportAgreement::Coupled {
            return None;
        }
        let window = session.flow(self.id)?.target().window;
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

    /// Takes an output of the session.
    pub fn on_output(
        &mut self,
        now: SendTime,
        session: &Session,
        output: &Output,
    ) -> [Option<CouplingMessage>; 2] {
        match *output {
            Output::Decision(id, decision) if id == self.id => {
                let Some(sender) = session.flow(id) else { return [None; 2] };
                if self.may_join_again(now) {
                    let (rate, window) = (decision.rate, sender.target().window);
                    return [Some(self.membership.join(now, rate, rate, window)), None];
                }
                // A decision that no feedback preceded, such as one of a timeout, does not count as feedback.
                if sender.last_feedback() != core::mem::replace(&mut self.feedback_at, sender.last_feedback())
                {
                    self.membership.on_feedback();
                }
                let parameters_message = (self.desired == DesiredRate::Measured).then(|| {
                    let most = self.limits.max();
                    let measured = self.demand.desired(now, decision.rate, sender.queued());
                    let desired = Some(measured.map_or(most, |rate| rate.min(most)));
                    self.membership
                        .set_parameters(FlowParameters { desired, ..*self.membership.parameters() })
                });
                return [
                    parameters_message.flatten(),
                    self.membership.update(now, decision, sender.target().window),
                ];
            }
            Output::Alarm(id, Alarm::ReportsContradict) if id == self.id => {
                self.standing = ReportAgreement::Doubted;
                return [self.membership.withdraw(), None];
            }
            Output::Alarm(id, Alarm::ReportsAgree)
                if id == self.id && self.standing == ReportAgreement::Doubted =>
            {
                self.standing = ReportAgreement::Agreed(now);
            }
            Output::Rtt(id, rtt) if id == self.id => self.membership.on_rtt(rtt),
            Output::Statistics(id, statistics)
                if id == self.id && self.standing == ReportAgreement::Coupled =>
            {
                return [Some(CouplingMessage::Statistics(statistics)), None];
            }
            Output::Packet(id, ref packet) if id == self.id && self.desired == DesiredRate::Measured => {
                self.demand.on_sent(now, DataSize::from_bytes(u64::from(packet.payload)));
            }
            _ => {}
        }
        [None; 2]
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
        session: &mut Session,
    ) -> Option<DataRate> {
        let share = self.membership.order(now, action);
        self.apply_allocation(now, share, session)
    }

    /// Time of the next call of [`Self::on_timeout`].
    pub fn next_timeout(&self) -> Option<SendTime> {
        self.membership.next_timeout()
    }

    /// Continues the flow at a lower rate, or uncoupled, where the coupler has not answered in time. Returns the rate
    /// that the controller took, if there was one to take.
    pub fn on_timeout(&mut self, now: SendTime, session: &mut Session) -> Option<DataRate> {
        let share = self.membership.on_timeout(now);
        self.apply_allocation(now, share, session)
    }

    fn apply_allocation(
        &mut self,
        now: SendTime,
        share: Option<AllocatedRate>,
        session: &mut Session,
    ) -> Option<DataRate> {
        let taken = session.apply_allocation(now, self.id, share?)?;
        let window = session.flow(self.id).and_then(|sender| sender.target().window);
        self.membership.taken(taken, window);
        Some(taken)
    }
}
