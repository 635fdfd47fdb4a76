//! Members of a coupler, and the actions that wait to be polled.

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::ops::{Index, IndexMut};

use super::soft_state::{MessageClock, SoftState};
use crate::coupled::message::{CouplerAction, FlowId};
use crate::time::SendTime;

/// Whether a member is active.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// The member is active.
    Active,
    /// The member has paused by its own message. Another join makes it active again.
    Paused,
    /// The member has sent no message for a long time, or had no feedback while others had. A later message makes it
    /// active again.
    Silent,
}

/// State of a member that every coupler keeps.
#[derive(Clone, Copy, Debug)]
struct MemberState {
    presence: Presence,
    /// The number of the newest action with a rate.
    epoch: u32,
    /// Whether [`PendingAction::Newest`] is in the queue.
    ordered: bool,
    clock: MessageClock,
}

/// An action that waits to be polled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum PendingAction {
    Action(CouplerAction),
    /// The newest action of a member. The algorithm makes it when it is polled.
    Newest,
}

/// Members in the order of their numbers. The place of a member is its index, valid until a member is added or
/// removed.
#[derive(Clone, Debug)]
pub struct Members<F> {
    ids: Vec<FlowId>,
    standings: Vec<MemberState>,
    states: Vec<F>,
    queue: VecDeque<(FlowId, PendingAction)>,
    /// Newest number of an action to a member that has left.
    epochs: u32,
}

impl<F> Default for Members<F> {
    fn default() -> Self {
        Self {
            ids: Vec::new(),
            standings: Vec::new(),
            states: Vec::new(),
            queue: VecDeque::with_capacity(16),
            epochs: 0,
        }
    }
}

impl<F> Members<F> {
    /// The place of a member. The search is skipped if the numbers are consecutive, as they usually are.
    pub fn place(&self, member: FlowId) -> Option<usize> {
        let first = self.ids.first()?;
        let likely = member.0.wrapping_sub(first.0) as usize;
        if self.ids.get(likely) == Some(&member) {
            return Some(likely);
        }
        self.ids.binary_search(&member).ok()
    }

    /// Inserts an active member, or replaces its state. Returns its place. Numbers of actions continue.
    pub(super) fn insert(&mut self, now: SendTime, member: FlowId, state: F) -> usize {
        let (presence, clock) = (Presence::Active, MessageClock::new(now));
        match self.ids.binary_search(&member) {
            Ok(place) => {
                let MemberState { epoch, ordered, .. } = self.standings[place];
                self.standings[place] = MemberState { presence, epoch, ordered, clock };
                self.states[place] = state;
                place
            }
            Err(place) => {
                // A later flow of this number may still receive older actions, and must take its own for newer ones.
                let standing = MemberState { presence, epoch: self.epochs, ordered: false, clock };
                self.ids.insert(place, member);
                self.standings.insert(place, standing);
                self.states.insert(place, state);
                place
            }
        }
    }

    /// Removes the member at `place`.
    pub(super) fn remove(&mut self, place: usize) -> F {
        self.ids.remove(place);
        let epoch = self.standings.remove(place).epoch;
        if self.epochs == 0 || epoch.wrapping_sub(self.epochs).cast_signed() > 0 {
            self.epochs = epoch;
        }
        self.states.remove(place)
    }

    /// The number of the member at `place`.
    pub fn member(&self, place: usize) -> FlowId {
        self.ids[place]
    }

    /// Number of members.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether the coupler has no member.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// States of the members, in the order of places.
    pub fn all(&self) -> &[F] {
        &self.states
    }

    /// States of the members, mutable.
    pub fn all_mut(&mut self) -> &mut [F] {
        &mut self.states
    }

    /// Places and states of the active members.
    pub fn present(&self) -> impl Iterator<Item = (usize, &F)> {
        self.states.iter().enumerate().filter(|&(place, _)| self.is_present(place))
    }

    /// The state of the member at `place`, if there is one.
    pub fn get(&self, place: usize) -> Option<&F> {
        self.states.get(place)
    }

    /// The state of the member at `place`, mutable.
    pub fn get_mut(&mut self, place: usize) -> Option<&mut F> {
        self.states.get_mut(place)
    }

    /// The presence of the member at `place`.
    pub fn presence(&self, place: usize) -> Presence {
        self.standings[place].presence
    }

    /// Whether the member at `place` is active.
    pub fn is_present(&self, place: usize) -> bool {
        self.presence(place) == Presence::Active
    }

    pub(super) fn set_presence(&mut self, place: usize, presence: Presence) {
        self.standings[place].presence = presence;
    }

    /// Records the time of a message, which counts for the mean interval or not.
    pub(super) fn note_message(&mut self, now: SendTime, place: usize, counts: bool) {
        self.standings[place].clock.note(now, counts);
    }

    /// Time at which the member at `place` becomes silent unless it sends a message before.
    pub(super) fn expiry(&self, place: usize, soft_state: &SoftState) -> SendTime {
        self.standings[place].clock.expiry(soft_state)
    }

    /// The number of the newest action with a rate, 0 before the first.
    pub fn epoch(&self, place: usize) -> u32 {
        self.standings[place].epoch
    }

    /// Takes the next number of an action with a rate; 0 is none.
    pub fn next_epoch(&mut self, place: usize) -> u32 {
        let epoch = &mut self.standings[place].epoch;
        *epoch = epoch.wrapping_add(1).max(1);
        *epoch
    }

    /// Queues an action for the member at `place`.
    pub fn push(&mut self, place: usize, action: CouplerAction) {
        self.push_to(self.ids[place], action);
    }

    /// Queues an action for a flow that may be no member.
    pub(super) fn push_to(&mut self, member: FlowId, action: CouplerAction) {
        self.queue.push_back((member, PendingAction::Action(action)));
    }

    /// Queues the newest action of the member at `place`. It is polled once, however often it changes before.
    pub fn order(&mut self, place: usize) {
        if !core::mem::replace(&mut self.standings[place].ordered, true) {
            self.queue.push_back((self.ids[place], PendingAction::Newest));
        }
    }

    /// Queues a further action of the member at `place` in front of all others.
    pub fn order_next(&mut self, place: usize) {
        if !core::mem::replace(&mut self.standings[place].ordered, true) {
            self.queue.push_front((self.ids[place], PendingAction::Newest));
        }
    }

    /// Whether the newest action of the member at `place` waits to be polled.
    pub fn is_ordered(&self, place: usize) -> bool {
        self.standings[place].ordered
    }

    pub(super) fn pop(&mut self) -> Option<(FlowId, PendingAction)> {
        let (member, pending) = self.queue.pop_front()?;
        if pending == PendingAction::Newest
            && let Some(place) = self.place(member)
        {
            self.standings[place].ordered = false;
        }
        Some((member, pending))
    }

    /// Removes the queued actions of a member that departs.
    pub(super) fn drop_actions(&mut self, place: usize) {
        let member = self.ids[place];
        self.standings[place].ordered = false;
        self.queue.retain(|&(of, _)| of != member);
    }
}

impl<F> Index<usize> for Members<F> {
    type Output = F;

    fn index(&self, place: usize) -> &F {
        &self.states[place]
    }
}

impl<F> IndexMut<usize> for Members<F> {
    fn index_mut(&mut self, place: usize) -> &mut F {
        &mut self.states[place]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_stand_in_the_order_of_their_numbers() {
        let mut roster = Members::default();
        for number in [5, 1, 3] {
            roster.insert(SendTime::ZERO, FlowId(number), number * 10);
        }
        assert_eq!(roster.all(), [10, 30, 50]);
        assert_eq!((roster.place(FlowId(3)), roster.place(FlowId(2))), (Some(1), None));
        assert_eq!(
            (roster.place(FlowId(1)), roster.place(FlowId(5)), roster.place(FlowId(0))),
            (Some(0), Some(2), None)
        );
        assert_eq!(Members::<u32>::default().place(FlowId(0)), None);
        assert_eq!(roster.insert(SendTime::ZERO, FlowId(3), 31), 1);
        assert_eq!(roster.remove(0), 10);
        assert_eq!((roster.member(0), roster[0], roster.len()), (FlowId(3), 31, 2));
    }

    #[test]
    fn numbers_of_actions_go_on_after_a_member_has_left() {
        let mut members = Members::default();
        members.insert(SendTime::ZERO, FlowId(0), ());
        assert_eq!([members.next_epoch(0), members.next_epoch(0)], [1, 2]);
        members.insert(SendTime::ZERO, FlowId(0), ());
        assert_eq!(members.epoch(0), 2, "it joined again");
        members.remove(0);
        members.insert(SendTime::ZERO, FlowId(0), ());
        assert_eq!(members.next_epoch(0), 3);
    }

    #[test]
    fn the_newest_action_waits_once_and_goes_with_its_member() {
        let mut members = Members::default();
        members.insert(SendTime::ZERO, FlowId(4), ());
        members.order(0);
        members.order(0);
        assert_eq!(members.pop(), Some((FlowId(4), PendingAction::Newest)));
        assert_eq!(members.pop(), None);
        members.push(0, CouplerAction::Segment);
        members.order_next(0);
        members.push_to(FlowId(5), CouplerAction::Reduce);
        members.drop_actions(0);
        assert_eq!(members.pop(), Some((FlowId(5), PendingAction::Action(CouplerAction::Reduce))));
        assert_eq!(members.pop(), None);
    }
}
