//! A queue in a ring.

use core::mem;

/// Values in order of arrival, in a ring that doubles. As a `VecDeque`, but what is pushed goes straight to its place: that one takes it by
/// reference, and a value whose fields have just been written one by one is copied at once only when the last of them has left the
/// processor. A place that holds nothing holds the default.
#[derive(Clone, Debug)]
pub(crate) struct Ring<T> {
    /// As many as a power of two, or none.
    places: Vec<T>,
    /// The place of the first, counted on beyond the ring.
    head: usize,
    len: usize,
}

impl<T: Default> Ring<T> {
    /// Places of the first ring.
    const LEAST: usize = 4;

    pub(crate) const fn new() -> Self {
        Self { places: Vec::new(), head: 0, len: 0 }
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The place of the value `index` behind the first.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "three instructions")]
    fn place(&self, index: usize) -> usize {
        self.head.wrapping_add(index) & self.places.len().wrapping_sub(1)
    }

    #[inline]
    pub(crate) fn get(&self, index: usize) -> Option<&T> {
        if index < self.len { self.places.get(self.place(index)) } else { None }
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, index: usize) -> Option<&mut T> {
        let place = self.place(index);
        if index < self.len { self.places.get_mut(place) } else { None }
    }

    #[inline]
    pub(crate) fn front(&self) -> Option<&T> {
        self.get(0)
    }

    /// From the first to the last.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        (0..self.len).map_while(|index| self.get(index))
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "what is pushed is to go from registers to its place")]
    pub(crate) fn push_back(&mut self, value: T) {
        if self.len == self.places.len() {
            self.grow();
        }
        let place = self.place(self.len);
        self.places[place] = value;
        self.len += 1;
    }

    /// The first, which is no longer in the queue; who takes of it what is dear leaves the default there.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "what is read of it stays in registers")]
    pub(crate) fn pass_front(&mut self) -> Option<&mut T> {
        self.len = self.len.checked_sub(1)?;
        let place = self.place(0);
        self.head = self.head.wrapping_add(1);
        self.places.get_mut(place)
    }

    /// Makes room for as many again.
    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let before = self.places.len();
        let after = (2 * before).max(Self::LEAST);
        let mut places = Vec::with_capacity(after);
        places.extend((0..self.len).map(|index| {
            let place = self.place(index);
            mem::take(&mut self.places[place])
        }));
        places.resize_with(after, T::default);
        (self.places, self.head) = (places, 0);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;

    #[test]
    fn it_holds_what_a_deque_holds() {
        let (mut ring, mut deque) = (Ring::new(), VecDeque::new());
        let mut state = 1u64;
        for turn in 0..20_000u64 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            // Now longer, now shorter, and at times empty.
            let longer = (turn / 1000) % 2 == 0;
            if (state >> 60 < 9) == longer {
                ring.push_back(turn);
                deque.push_back(turn);
            } else {
                assert_eq!(ring.pass_front().copied(), deque.pop_front());
            }
            assert_eq!((ring.len(), ring.is_empty()), (deque.len(), deque.is_empty()));
            assert_eq!(ring.front(), deque.front());
            let index = (state >> 40) as usize % (deque.len() + 2);
            assert_eq!(ring.get(index), deque.get(index));
            assert_eq!(ring.get_mut(index), deque.get_mut(index));
        }
        assert!(deque.len() > 4, "it has grown");
        assert!(ring.iter().eq(&deque));
    }
}
