//! Table of the coupled flows.

use alloc::vec::Vec;

use crate::coupled::message::FlowId;

/// State of each member, in the order of their numbers.
#[derive(Clone, Debug)]
pub(super) struct FlowTable<T> {
    members: Vec<FlowId>,
    known: Vec<T>,
}

impl<T> Default for FlowTable<T> {
    fn default() -> Self {
        Self { members: Vec::new(), known: Vec::new() }
    }
}

impl<T> FlowTable<T> {
    /// The place of a member. Where the numbers are consecutive, as they mostly are, the search is skipped.
    pub(super) fn place(&self, member: FlowId) -> Option<usize> {
        let first = self.members.first()?;
        let likely = member.0.wrapping_sub(first.0) as usize;
        if self.members.get(likely) == Some(&member) {
            return Some(likely);
        }
        self.members.binary_search(&member).ok()
    }

    /// Inserts a member, or replaces its state; returns its place.
    pub(super) fn insert(&mut self, member: FlowId, known: T) -> usize {
        match self.members.binary_search(&member) {
            Ok(place) => {
                self.known[place] = known;
                place
            }
            Err(place) => {
                self.members.insert(place, member);
                self.known.insert(place, known);
                place
            }
        }
    }

    /// Removes the member at `place`.
    pub(super) fn remove(&mut self, place: usize) -> T {
        self.members.remove(place);
        self.known.remove(place)
    }

    pub(super) fn member(&self, place: usize) -> FlowId {
        self.members[place]
    }

    pub(super) fn len(&self) -> usize {
        self.members.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// States of the members, in the order of places.
    pub(super) fn all(&self) -> &[T] {
        &self.known
    }

    /// States of the members, mutable.
    pub(super) fn all_mut(&mut self) -> &mut [T] {
        &mut self.known
    }
}

impl<T> core::ops::Index<usize> for FlowTable<T> {
    type Output = T;

    fn index(&self, place: usize) -> &T {
        &self.known[place]
    }
}

impl<T> core::ops::IndexMut<usize> for FlowTable<T> {
    fn index_mut(&mut self, place: usize) -> &mut T {
        &mut self.known[place]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_stand_in_the_order_of_their_numbers() {
        let mut roster = FlowTable::default();
        for number in [5, 1, 3] {
            roster.insert(FlowId(number), number * 10);
        }
        assert_eq!(roster.all(), [10, 30, 50]);
        assert_eq!((roster.place(FlowId(3)), roster.place(FlowId(2))), (Some(1), None));
        assert_eq!(
            (roster.place(FlowId(1)), roster.place(FlowId(5)), roster.place(FlowId(0))),
            (Some(0), Some(2), None)
        );
        assert_eq!(FlowTable::<u32>::default().place(FlowId(0)), None);
        assert_eq!(roster.insert(FlowId(3), 31), 1);
        assert_eq!(roster.remove(0), 10);
        assert_eq!((roster.member(0), roster[0], roster.len()), (FlowId(3), 31, 2));
    }
}
