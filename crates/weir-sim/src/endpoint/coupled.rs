//! Coupled flows at their hosts.

use weir_cc::coupled::{Demand, Membership, Order, Wishes, Word};
use weir_cc::{Decision, RateLimits, SendTime, Share};
use weir_media::{FlowId, MediaConfig, MediaSender, Session};
use weir_net::Time;
use weir_units::{DataSize, TimeDelta};
use weir_world::{CoupledSpec, Desired, Monitor};

use super::pauses::Turn;
use crate::network::Network;

/// A coupled flow at its host: what it wishes for, and later wishes.
#[derive(Debug)]
pub(crate) struct CoupledFlow {
    spec: CoupledSpec,
    /// How many of the later priorities hold.
    turned: usize,
}

impl CoupledFlow {
    pub(super) fn new(spec: CoupledSpec) -> Self {
        Self { spec, turned: 0 }
    }

    /// The priority that holds.
    pub(super) fn priority(&self) -> f64 {
        let turned = self.turned.checked_sub(1);
        turned.map_or(self.spec.priority, |turn| self.spec.later_priorities[turn].1)
    }

    /// The priority that begins to hold by `now`, once for each.
    pub(super) fn turn(&mut self, now: Time) -> Option<f64> {
        let &(at, priority) = self.spec.later_priorities.get(self.turned)?;
        (at <= now).then(|| {
            self.turned += 1;
            priority
        })
    }

    pub(super) fn next_turn(&self) -> Time {
        self.spec.later_priorities.get(self.turned).map_or(Time::MAX, |&(at, _)| at)
    }
}

/// A media flow as it stands to its coupler.
#[derive(Debug)]
pub(super) struct CoupledMedia {
    flow: CoupledFlow,
    limits: RateLimits,
    membership: Membership,
    demand: Demand,
    begun: bool,
}

impl CoupledMedia {
    pub(super) fn new(spec: CoupledSpec, config: &MediaConfig) -> Self {
        let desired = (spec.desired != Desired::Unlimited).then_some(config.limits.max());
        let wishes = Wishes { priority: spec.priority, desired, least: config.limits.min() };
        let segment = DataSize::from_bytes(u64::from(config.payload_limit));
        Self {
            flow: CoupledFlow::new(spec),
            limits: config.limits,
            membership: Membership::new(wishes, segment),
            demand: Demand::new(),
            begun: false,
        }
    }

    /// The flow begins, if it has not: it brings in what its law begins with.
    pub(super) fn begin<M: Monitor>(
        &mut self,
        now: Time,
        local: SendTime,
        flow: usize,
        sender: Option<&MediaSender>,
        network: &mut Network<M>,
    ) {
        let Some(target) = sender.map(MediaSender::target).filter(|_| !self.begun) else { return };
        self.begun = true;
        let rate = target.sending_rate;
        network.tell(now, flow, self.membership.join(local, rate, rate, target.window));
    }

    /// The flow pauses, or goes on: with what a law of its kind begins with, as others have its share by now.
    pub(super) fn turn<M: Monitor>(
        &mut self,
        now: Time,
        local: SendTime,
        flow: usize,
        turn: Turn,
        sender: Option<&MediaSender>,
        network: &mut Network<M>,
    ) {
        let window = sender.and_then(|sender| sender.target().window);
        let present = self.membership.present();
        let word = match turn {
            Turn::Pause => self.membership.pause(),
            Turn::Resume => {
                let start = self.limits.start().min(present);
                Some(self.membership.join(local, start, present, window))
            }
        };
        if let Some(word) = word {
            network.tell(now, flow, word);
        }
    }

    /// Priorities that begin to hold now.
    pub(super) fn wish_anew<M: Monitor>(&mut self, now: Time, flow: usize, network: &mut Network<M>) {
        while let Some(priority) = self.flow.turn(now) {
            let wishes = Wishes { priority, ..*self.membership.wishes() };
            if let Some(word) = self.membership.wish(wishes) {
                network.tell(now, flow, word);
            }
        }
    }

    /// The flow's law decided.
    pub(super) fn decided<M: Monitor>(
        &mut self,
        now: Time,
        local: SendTime,
        flow: usize,
        decision: Decision,
        sender: &MediaSender,
        network: &mut Network<M>,
    ) {
        if self.flow.spec.desired == Desired::Measured {
            let most = self.limits.max();
            let measured = self.demand.desired(local, decision.rate, sender.queued());
            let desired = Some(measured.map_or(most, |rate| rate.min(most)));
            if let Some(word) = self.membership.wish(Wishes { desired, ..*self.membership.wishes() }) {
                network.tell(now, flow, word);
            }
        }
        if let Some(word) = self.membership.update(local, decision, sender.target().window) {
            network.tell(now, flow, word);
        }
    }

    pub(super) fn adopt(&mut self, local: SendTime, id: FlowId, share: Share, session: &mut Session) {
        let Some(taken) = session.adopt(local, id, share) else { return };
        let window = session.flow(id).and_then(|sender| sender.target().window);
        self.membership.taken(taken, window);
    }

    pub(super) fn leave(&mut self) -> Option<Word> {
        self.membership.leave()
    }

    pub(super) fn on_rtt(&mut self, rtt: TimeDelta) {
        self.membership.on_rtt(rtt);
    }

    pub(super) fn on_sent(&mut self, local: SendTime, payload: DataSize) {
        self.demand.on_sent(local, payload);
    }

    /// An order has come: the share to adopt, if there is one.
    pub(super) fn order(&mut self, local: SendTime, order: &Order) -> Option<Share> {
        self.membership.order(local, order)
    }

    pub(super) fn next_turn(&self) -> Time {
        self.flow.next_turn()
    }

    /// When the flow waits no longer for an answer of its coupler.
    pub(super) fn next_timeout(&self) -> Option<SendTime> {
        self.membership.next_timeout()
    }

    pub(super) fn on_timeout(&mut self, local: SendTime) -> Option<Share> {
        self.membership.on_timeout(local)
    }
}
