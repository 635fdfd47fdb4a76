//! The common part of couplers: a [`CouplingAlgorithm`] in an [`AlgorithmCoupler`] is a [`Coupler`].
//!
//! The frame keeps the members and their presence, refuses messages that make no sense, numbers actions and keeps them
//! until they are polled. The algorithm computes the allocations. Each of its functions gets the frame, in which
//! [`AlgorithmCoupler::flows`] holds the state of each member and [`AlgorithmCoupler::algorithm`] that of the group.
//! A place is the index of a member.
//!
//! ```
//! use weir_cc::coupled::{AlgorithmCoupler, CouplingAlgorithm, MemberDeparture};
//! use weir_cc::coupled::{
//!     Aggregate, CouplerAction, CouplingMessage, CwndUpdate, FlowId, FlowParameters, Join, Update,
//! };
//! use weir_cc::{DataRate, SendTime};
//!
//! /// Equal parts of one rate.
//! #[derive(Debug)]
//! struct EqualParts(DataRate);
//!
//! fn part(frame: &AlgorithmCoupler<EqualParts>) -> DataRate {
//!     frame.algorithm.0.scale(1.0 / frame.flows.len() as f64)
//! }
//!
//! fn order_all(frame: &mut AlgorithmCoupler<EqualParts>) {
//!     (0..frame.flows.len()).for_each(|place| frame.flows.order(place));
//! }
//!
//! impl CouplingAlgorithm for EqualParts {
//!     type Flow = ();
//!
//!     fn admit(_: &mut AlgorithmCoupler<Self>, _: SendTime, _: FlowId, _: &Join) {}
//!
//!     fn on_join(frame: &mut AlgorithmCoupler<Self>, _: SendTime, _: usize, _: &Join) {
//!         order_all(frame);
//!     }
//!
//!     fn on_left(frame: &mut AlgorithmCoupler<Self>, _: SendTime, _: FlowId, _: (), _: MemberDeparture) {
//!         order_all(frame);
//!     }
//!
//!     fn on_rate(frame: &mut AlgorithmCoupler<Self>, _: SendTime, place: usize, _: &Update) {
//!         frame.flows.order(place);
//!     }
//!
//!     fn on_window(_: &mut AlgorithmCoupler<Self>, _: SendTime, _: usize, _: &CwndUpdate) {}
//!
//!     fn on_parameters(_: &mut AlgorithmCoupler<Self>, _: SendTime, _: usize, _: &FlowParameters) {}
//!
//!     fn answer(frame: &mut AlgorithmCoupler<Self>, place: usize, _: &CouplingMessage) {
//!         frame.flows.order(place);
//!     }
//!
//!     fn newest(frame: &mut AlgorithmCoupler<Self>, place: usize) -> Option<CouplerAction> {
//!         Some(CouplerAction::Rate { rate: part(frame), epoch: frame.flows.next_epoch(place) })
//!     }
//!
//!     fn aggregate(frame: &AlgorithmCoupler<Self>, _: usize) -> Option<Aggregate> {
//!         Some(Aggregate { group: 0, sum: frame.algorithm.0.bps_f64() })
//!     }
//! }
//!
//! let coupler = AlgorithmCoupler::of(EqualParts(DataRate::from_mbps(3)));
//! # let _: &dyn weir_cc::coupled::Coupler = &coupler;
//! ```

mod members;
mod refused;
mod soft_state;

use core::fmt::Debug;

use crate::coupled::coupler::{Aggregate, Coupler, Refusal};
use crate::coupled::message::{
    CouplerAction, CouplingMessage, CwndUpdate, FlowId, FlowParameters, Join, Update, WindowEvent,
};
use crate::time::SendTime;

use members::PendingAction;
pub use members::{Members, Presence};
pub use refused::RefusedMessages;
pub use soft_state::SoftState;

/// The algorithm that computes the allocations of a coupler.
///
/// It gets only valid messages, and only those of members. Messages of silent members are passed to
/// [`Self::on_message_of_silent`].
pub trait CouplingAlgorithm: Send + Sync + Debug + Sized {
    /// State of a member.
    type Flow: Send + Sync + Debug;

    /// Whether only flows with windows are coupled. Other flows are refused, and a flow that waits without being a
    /// member continues without coupling.
    const WINDOWS_ONLY: bool = false;
    /// Whether an update may have a rate of zero.
    const ZERO_RATES: bool = false;
    /// Whether a flow that pauses remains a member, so that its state is available when it joins again.
    const KEEPS_PAUSED: bool = false;

    /// The state of a flow that joins. A flow that joins again is still a member, with its former state.
    fn admit(frame: &mut AlgorithmCoupler<Self>, now: SendTime, member: FlowId, join: &Join) -> Self::Flow;

    /// Takes a flow that has joined.
    fn on_join(frame: &mut AlgorithmCoupler<Self>, now: SendTime, place: usize, join: &Join);

    /// Takes a rate that the controller of a member computed. The member waits for an answer.
    fn on_rate(frame: &mut AlgorithmCoupler<Self>, now: SendTime, place: usize, update: &Update);

    /// Takes a window event of a member.
    fn on_window(frame: &mut AlgorithmCoupler<Self>, now: SendTime, place: usize, cwnd_update: &CwndUpdate);

    /// Takes changed parameters of a member.
    fn on_parameters(
        frame: &mut AlgorithmCoupler<Self>,
        now: SendTime,
        place: usize,
        parameters: &FlowParameters,
    );

    /// A member goes, and is at its place for the last time.
    fn on_leaving(
        _frame: &mut AlgorithmCoupler<Self>,
        _now: SendTime,
        _place: usize,
        _departure: MemberDeparture,
    ) {
    }

    /// Takes the departure of a member.
    fn on_left(
        _frame: &mut AlgorithmCoupler<Self>,
        _now: SendTime,
        _member: FlowId,
        _left: Self::Flow,
        _departure: MemberDeparture,
    ) {
    }

    /// Whether a message counts for the mean interval in [`SoftState::intervals`].
    fn counts(_message: &CouplingMessage) -> bool {
        true
    }

    /// Whether window events of this member are used.
    fn takes_windows(_flow: &Self::Flow) -> bool {
        true
    }

    /// Takes an update or a window event of a silent member. Returns whether the algorithm uses it.
    /// [`AlgorithmCoupler::resume`] makes the member active again.
    fn on_message_of_silent(
        _frame: &mut AlgorithmCoupler<Self>,
        _now: SendTime,
        _place: usize,
        _message: &CouplingMessage,
    ) -> bool {
        true
    }

    /// Answers a refused message of a member with its present action.
    fn answer(frame: &mut AlgorithmCoupler<Self>, place: usize, message: &CouplingMessage);

    /// The answer to a join or an update without an action, or `None` for a member that does not wait. Without an
    /// answer, a member that waits would take the coupler for absent.
    fn acknowledgement(_frame: &AlgorithmCoupler<Self>, _place: usize) -> Option<CouplerAction> {
        None
    }

    /// Queues the actions that follow from a message or a timeout; called after each.
    fn settle(_frame: &mut AlgorithmCoupler<Self>) {}

    /// The newest action of a member for which [`Members::order`] was called.
    fn newest(_frame: &mut AlgorithmCoupler<Self>, _place: usize) -> Option<CouplerAction> {
        None
    }

    /// Time without messages after which a member is silent, or `None` if members never become silent.
    fn soft_state(&self) -> Option<SoftState> {
        None
    }

    /// Time of the next call of [`Self::on_timer`].
    fn next_timer(_frame: &AlgorithmCoupler<Self>) -> Option<SendTime> {
        None
    }

    /// Handles the time of [`Self::next_timer`], and members that have become silent.
    fn on_timer(_frame: &mut AlgorithmCoupler<Self>, _now: SendTime) {}

    /// The group of a member and its sum.
    fn aggregate(frame: &AlgorithmCoupler<Self>, place: usize) -> Option<Aggregate>;
}

/// Kind of a member's departure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemberDeparture {
    /// The member pauses intentionally.
    Pause,
    /// The member continues without coupling, with its share.
    Withdrawal,
    /// The member has ended.
    End,
    /// The member has become silent.
    Silence,
}

/// Coupler with a given algorithm.
#[derive(Clone, Debug)]
pub struct AlgorithmCoupler<A: CouplingAlgorithm> {
    /// State of the algorithm for all members.
    pub algorithm: A,
    /// The members.
    pub flows: Members<A::Flow>,
    /// Lower bound of the times at which a member without messages becomes silent.
    expiry: SendTime,
    refused: RefusedMessages,
}

impl<A: CouplingAlgorithm + Default> Default for AlgorithmCoupler<A> {
    fn default() -> Self {
        Self::of(A::default())
    }
}

impl<A: CouplingAlgorithm> AlgorithmCoupler<A> {
    /// A coupler without members.
    pub fn of(algorithm: A) -> Self {
        let refused = RefusedMessages::default();
        Self { algorithm, flows: Members::default(), expiry: SendTime::MAX, refused }
    }

    /// Numbers of refused messages, by reason.
    pub const fn refused(&self) -> RefusedMessages {
        self.refused
    }

    /// Makes a silent member active again.
    pub fn resume(&mut self, place: usize) {
        self.flows.set_presence(place, Presence::Active);
        self.expect_silence(place);
    }

    /// Makes a member silent: it misses feedback while others get theirs, or has sent no message for a long time.
    pub fn fall_silent(&mut self, now: SendTime, place: usize) {
        A::on_leaving(self, now, place, MemberDeparture::Silence);
        self.flows.set_presence(place, Presence::Silent);
    }

    /// Handles the departure of a member.
    pub fn depart(&mut self, now: SendTime, place: usize, departure: MemberDeparture) {
        A::on_leaving(self, now, place, departure);
        if A::KEEPS_PAUSED && departure == MemberDeparture::Pause {
            self.flows.set_presence(place, Presence::Paused);
            return;
        }
        let member = self.flows.member(place);
        let left = self.flows.remove(place);
        if self.flows.is_empty() {
            self.expiry = SendTime::MAX;
        }
        A::on_left(self, now, member, left, departure);
    }

    /// Includes the time at which a member falls silent: soft state, as RFC 8699 §4 allows for flows that send no message.
    fn expect_silence(&mut self, place: usize) {
        if let Some(soft_state) = self.algorithm.soft_state() {
            self.expiry = self.expiry.min(self.flows.expiry(place, &soft_state));
        }
    }

    fn end_silent(&mut self, now: SendTime) {
        let Some(soft_state) = self.algorithm.soft_state() else { return };
        self.expiry = SendTime::MAX;
        for place in 0..self.flows.len() {
            if !self.flows.is_present(place) {
                continue;
            }
            let expiry = self.flows.expiry(place, &soft_state);
            if expiry <= now {
                self.fall_silent(now, place);
            } else {
                self.expiry = self.expiry.min(expiry);
            }
        }
    }

    fn take_message(
        &mut self,
        now: SendTime,
        member: FlowId,
        message: &CouplingMessage,
    ) -> Result<(), Refusal> {
        let place = self.flows.place(member);
        if let CouplingMessage::Join(join) = message {
            return self.join(now, member, place, join);
        }
        // Only a join may come from a flow that is not yet a member.
        let place = place.ok_or(Refusal::UnknownFlow(member))?;
        self.flows.note_message(now, place, A::counts(message));
        match message {
            CouplingMessage::Update(update) => {
                check_update::<A>(member, update)?;
                if self.takes(now, place, message)? {
                    A::on_rate(self, now, place, update);
                }
            }
            CouplingMessage::Window(cwnd_update) => {
                if !A::takes_windows(&self.flows[place]) {
                    return Err(Refusal::Kind(member));
                }
                if !cwnd_update.is_possible() {
                    return Err(Refusal::Amount(member));
                }
                if self.takes(now, place, message)? {
                    A::on_window(self, now, place, cwnd_update);
                }
            }
            CouplingMessage::FlowParameters(parameters) => {
                check_parameters(member, parameters)?;
                A::on_parameters(self, now, place, parameters);
            }
            CouplingMessage::Pause => self.part(now, place, MemberDeparture::Pause),
            CouplingMessage::Withdraw => self.part(now, place, MemberDeparture::Withdrawal),
            CouplingMessage::Leave => self.part(now, place, MemberDeparture::End),
            CouplingMessage::Statistics(_) | CouplingMessage::Join(_) => {}
        }
        Ok(())
    }

    fn join(
        &mut self,
        now: SendTime,
        member: FlowId,
        place: Option<usize>,
        join: &Join,
    ) -> Result<(), Refusal> {
        if place.is_some_and(|place| self.flows.is_present(place)) {
            return Err(Refusal::JoinedAlready(member));
        }
        check_join::<A>(member, join)?;
        // RFC 8699 §5.3.1 (1): a flow registers when it starts. The algorithm puts it into a group (§5.1).
        let state = A::admit(self, now, member, join);
        let place = self.flows.insert(now, member, state);
        self.expect_silence(place);
        A::on_join(self, now, place, join);
        Ok(())
    }

    /// Whether the algorithm uses a rate or a window of a member.
    fn takes(&mut self, now: SendTime, place: usize, message: &CouplingMessage) -> Result<bool, Refusal> {
        let member = self.flows.member(place);
        match self.flows.presence(place) {
            Presence::Active => Ok(true),
            Presence::Paused => Err(Refusal::UnknownFlow(member)),
            Presence::Silent => {
                let taken = A::on_message_of_silent(self, now, place, message);
                if !taken {
                    self.answer_absent(member, message);
                }
                Ok(taken)
            }
        }
    }

    /// Handles a departure by the member's own message. The member waits for no action.
    fn part(&mut self, now: SendTime, place: usize, departure: MemberDeparture) {
        self.flows.drop_actions(place);
        self.depart(now, place, departure);
    }

    /// Answers an invalid message with the present action of its sender.
    fn answer_refused(&mut self, member: FlowId, message: &CouplingMessage) {
        match (self.flows.place(member), message) {
            (Some(_), CouplingMessage::Window(cwnd_update)) if cwnd_update.event == WindowEvent::TimedOut => {
                self.flows.push_to(member, CouplerAction::Reduce);
            }
            (Some(place), _) if self.flows.is_present(place) => A::answer(self, place, message),
            _ => self.answer_absent(member, message),
        }
    }

    /// Answers a flow that is not active and waits: it continues without coupling.
    fn answer_absent(&mut self, member: FlowId, message: &CouplingMessage) {
        let waits = match message {
            CouplingMessage::Join(_) | CouplingMessage::Update(_) => A::WINDOWS_ONLY,
            CouplingMessage::Window(cwnd_update) => cwnd_update.event == WindowEvent::TimedOut,
            _ => false,
        };
        if waits {
            let answer = if A::WINDOWS_ONLY { CouplerAction::Uncoupled } else { CouplerAction::Reduce };
            self.flows.push_to(member, answer);
        }
    }

    fn acknowledge(&mut self, member: FlowId) {
        if let Some(place) = self.flows.place(member)
            && !self.flows.is_ordered(place)
            && let Some(answer) = A::acknowledgement(self, place)
        {
            self.flows.push(place, answer);
        }
    }
}

fn check_parameters(member: FlowId, parameters: &FlowParameters) -> Result<(), Refusal> {
    if parameters.is_possible() { Ok(()) } else { Err(Refusal::Priority(member)) }
}

fn check_join<A: CouplingAlgorithm>(member: FlowId, join: &Join) -> Result<(), Refusal> {
    check_parameters(member, &join.parameters)?;
    let rates = A::WINDOWS_ONLY || !(join.start.is_zero() || join.present.is_zero());
    match &join.window {
        None if A::WINDOWS_ONLY => Err(Refusal::Kind(member)),
        Some(windowed) if !windowed.is_possible() => Err(Refusal::Amount(member)),
        _ if !rates => Err(Refusal::Amount(member)),
        _ => Ok(()),
    }
}

fn check_update<A: CouplingAlgorithm>(member: FlowId, update: &Update) -> Result<(), Refusal> {
    let rates = A::ZERO_RATES || !(update.decision.rate.is_zero() || update.decision.base.is_zero());
    match &update.window {
        None if A::WINDOWS_ONLY => Err(Refusal::Kind(member)),
        Some(windowed) if A::WINDOWS_ONLY && !windowed.window.is_possible() => Err(Refusal::Amount(member)),
        _ if !rates && !A::WINDOWS_ONLY => Err(Refusal::Amount(member)),
        _ => Ok(()),
    }
}

impl<A: CouplingAlgorithm> Coupler for AlgorithmCoupler<A> {
    fn on_message(
        &mut self,
        now: SendTime,
        member: FlowId,
        message: &CouplingMessage,
    ) -> Result<(), Refusal> {
        let taken = self.take_message(now, member, message);
        if let Err(refusal) = taken {
            self.refused.count(refusal);
            self.answer_refused(member, message);
        }
        A::settle(self);
        if matches!(message, CouplingMessage::Join(_) | CouplingMessage::Update(_)) {
            self.acknowledge(member);
        }
        taken
    }

    fn poll_action(&mut self) -> Option<(FlowId, CouplerAction)> {
        loop {
            let (member, pending) = self.flows.pop()?;
            let action = match pending {
                PendingAction::Action(action) => Some(action),
                PendingAction::Newest => self.flows.place(member).and_then(|place| A::newest(self, place)),
            };
            if let Some(action) = action {
                return Some((member, action));
            }
        }
    }

    fn next_timeout(&self) -> Option<SendTime> {
        let due = A::next_timer(self).unwrap_or(SendTime::MAX).min(self.expiry);
        (due < SendTime::MAX).then_some(due)
    }

    fn on_timeout(&mut self, now: SendTime) {
        if self.next_timeout().is_none_or(|due| now < due) {
            return;
        }
        if now >= self.expiry {
            self.end_silent(now);
        }
        A::on_timer(self, now);
        A::settle(self);
    }

    fn aggregate(&self, member: FlowId) -> Option<Aggregate> {
        A::aggregate(self, self.flows.place(member)?)
    }
}
