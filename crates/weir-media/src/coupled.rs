//! A flow of a session as it stands to its coupler.

use weir_cc::coupled::{CouplerAction, CouplingMessage, Demand, FlowId, FlowParameters, Membership};
use weir_cc::{AllocatedRate, RateLimits, SendTime};
use weir_units::{DataRate, DataSize, TimeDelta};

use crate::alarm::Alarm;
use crate::config::MediaConfig;
use crate::session::{Output, Session};

/// What a flow tells as its desired rate `DR` (RFC 8699 §5.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Desired {
    /// Nothing: it takes what it can get.
    Unlimited,
    /// The upper bound of its rate.
    #[default]
    Limits,
    /// The same, and while it sends clearly less than it may, half as much again as it sends.
    Measured,
}

/// A flow that went on by itself because its reports contradicted each other joins again once they have agreed for so long.
const AGREED: TimeDelta = TimeDelta::from_secs(30);

/// How a flow stands to those who report on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReportAgreement {
    /// It is coupled.
    Coupled,
    /// Its reports contradict each other: what they say is to reach no other flow.
    Doubted,
    /// They agree since then.
    Agreed(SendTime),
}

/// Stands between a flow of a [`Session`] and its [`Coupler`](weir_cc::coupled::Coupler): says in words what the session
/// gives out, and makes of orders what the session is to do.
///
/// Each method that returns words wants them told, in order; what the coupler orders then goes to [`Self::apply`] of the
/// flow that it is for, at once or when it has come from where the coupler stands.
///
/// A flow under [`Alarm::ReportsContradict`] goes on by itself, so that what is forged of it reaches no other. It joins again once its
/// reports have agreed for 30 s.
#[derive(Clone, Debug)]
pub struct CoupledFlow {
    id: FlowId,
    limits: RateLimits,
    desired: Desired,
    membership: Membership,
    demand: Demand,
    begun: bool,
    paused: bool,
    standing: ReportAgreement,
    /// When feedback came last, as of the last decision.
    heard_at: Option<SendTime>,
}

impl CoupledFlow {
    /// The flow `id`, made by `config`, with the weight `priority`: positive and finite, or the coupler refuses it.
    pub fn new(id: FlowId, priority: f64, desired: Desired, config: &MediaConfig) -> Self {
        let most = (desired != Desired::Unlimited).then_some(config.limits.max());
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
            heard_at: None,
        }
    }

    /// The flow in its session.
    pub const fn id(&self) -> FlowId {
        self.id
    }

    /// The flow begins, if it has not: it brings in the rate that its law begins with.
    pub fn begin(&mut self, now: SendTime, session: &Session) -> Option<CouplingMessage> {
        let target = session.flow(self.id)?.target();
        if self.standing != ReportAgreement::Coupled {
            return None;
        }
        let first = !core::mem::replace(&mut self.begun, true);
        let rate = target.sending_rate;
        first.then(|| self.membership.join(now, rate, rate, target.window))
    }

    /// The flow was paused: others take its share. Nothing is told of one that goes on by itself.
    pub fn pause(&mut self) -> Option<CouplingMessage> {
        self.paused = true;
        self.membership.pause()
    }

    /// The flow goes on after a pause: with its start rate, as others have its share by now.
    pub fn resume(&mut self, now: SendTime, session: &Session) -> Option<CouplingMessage> {
        self.paused = false;
        if self.standing != ReportAgreement::Coupled {
            return None;
        }
        let window = session.flow(self.id)?.target().window;
        let present = self.membership.present();
        Some(self.membership.join(now, self.limits.start().min(present), present, window))
    }

    /// The flow has another weight from now on.
    pub fn weigh(&mut self, priority: f64) -> Option<CouplingMessage> {
        self.membership.set_parameters(FlowParameters { priority, ..*self.membership.parameters() })
    }

    /// The flow has ended.
    pub fn leave(&mut self) -> Option<CouplingMessage> {
        self.membership.leave()
    }

    /// The session gave something out.
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
                if sender.heard_at() != core::mem::replace(&mut self.heard_at, sender.heard_at()) {
                    self.membership.on_feedback();
                }
                let set_parameters = (self.desired == Desired::Measured).then(|| {
                    let most = self.limits.max();
                    let measured = self.demand.desired(now, decision.rate, sender.queued());
                    let desired = Some(measured.map_or(most, |rate| rate.min(most)));
                    self.membership
                        .set_parameters(FlowParameters { desired, ..*self.membership.parameters() })
                });
                return [
                    set_parameters.flatten(),
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
            Output::Packet(id, ref packet) if id == self.id && self.desired == Desired::Measured => {
                self.demand.on_sent(now, DataSize::from_bytes(u64::from(packet.payload)));
            }
            _ => {}
        }
        [None; 2]
    }

    /// Whether the flow, which goes on by itself, is to join again.
    fn may_join_again(&mut self, now: SendTime) -> bool {
        let may =
            matches!(self.standing, ReportAgreement::Agreed(since) if now - since >= AGREED) && !self.paused;
        if may {
            self.standing = ReportAgreement::Coupled;
        }
        may
    }

    /// The coupler has ordered something. Returns the rate that the controller took, if there was one to take.
    pub fn apply(&mut self, now: SendTime, order: &CouplerAction, session: &mut Session) -> Option<DataRate> {
        let share = self.membership.order(now, order);
        self.apply_allocation(now, share, session)
    }

    /// When [`Self::on_timeout`] wants to be called.
    pub fn next_timeout(&self) -> Option<SendTime> {
        self.membership.next_timeout()
    }

    /// The coupler does not answer in time: the flow goes on with less, or by itself. Returns the rate that the controller took, if
    /// there was one to take.
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
