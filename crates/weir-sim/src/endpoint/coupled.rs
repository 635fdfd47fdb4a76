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
    pub(super) fn begin(&mut self, local: SendTime, sender: Option<&MediaSender>) -> Option<Word> {
        let target = sender.map(MediaSender::target).filter(|_| !self.begun)?;
        self.begun = true;
        let rate = target.sending_rate;
        Some(self.membership.join(local, rate, rate, target.window))
    }

    /// The flow pauses, or goes on: with what a law of its kind begins with, as others have its share by now.
    pub(super) fn turn(&mut self, local: SendTime, turn: Turn, sender: Option<&MediaSender>) -> Option<Word> {
        let window = sender.and_then(|sender| sender.target().window);
        let present = self.membership.present();
        match turn {
            Turn::Pause => self.membership.pause(),
            Turn::Resume => {
                let start = self.limits.start().min(present);
                Some(self.membership.join(local, start, present, window))
            }
        }
    }

    /// A priority that begins to hold by now; call until `None`.
    pub(super) fn wish_anew(&mut self, now: Time) -> Option<Word> {
        while let Some(priority) = self.flow.turn(now) {
            let word = self.membership.wish(Wishes { priority, ..*self.membership.wishes() });
            if word.is_some() {
                return word;
            }
        }
        None
    }

    /// The flow's law decided, and what the flow can use may be another rate.
    pub(super) fn decided(
        &mut self,
        local: SendTime,
        decision: Decision,
        sender: &MediaSender,
    ) -> [Option<Word>; 2] {
        let wish = (self.flow.spec.desired == Desired::Measured).then(|| {
            let most = self.limits.max();
            let measured = self.demand.desired(local, decision.rate, sender.queued());
            let desired = Some(measured.map_or(most, |rate| rate.min(most)));
            self.membership.wish(Wishes { desired, ..*self.membership.wishes() })
        });
        [wish.flatten(), self.membership.update(local, decision, sender.target().window)]
    }

    /// The flow's host tells `word`, and obeys what is answered at once.
    pub(super) fn tell<M: Monitor>(
        &mut self,
        now: Time,
        local: SendTime,
        word: Option<Word>,
        (flow, id): (usize, FlowId),
        session: &mut Session,
        network: &mut Network<M>,
    ) {
        let Some(word) = word else { return };
        network.tell(now, flow, &word);
        while let Some(order) = network.answer(now) {
            self.obey(local, &order, id, session);
        }
    }

    /// An order has come.
    pub(super) fn obey(&mut self, local: SendTime, order: &Order, id: FlowId, session: &mut Session) {
        let share = self.membership.order(local, order);
        self.adopt(local, share, id, session);
    }

    /// If answers are missing the flow goes on with less, or by itself.
    pub(super) fn on_timeout(&mut self, local: SendTime, id: FlowId, session: &mut Session) {
        let share = self.membership.on_timeout(local);
        self.adopt(local, share, id, session);
    }

    fn adopt(&mut self, local: SendTime, share: Option<Share>, id: FlowId, session: &mut Session) {
        let Some(taken) = share.and_then(|share| session.adopt(local, id, share)) else { return };
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

    pub(super) fn next_turn(&self) -> Time {
        self.flow.next_turn()
    }

    /// When the flow waits no longer for an answer of its coupler.
    pub(super) fn next_timeout(&self) -> Option<SendTime> {
        self.membership.next_timeout()
    }
}
