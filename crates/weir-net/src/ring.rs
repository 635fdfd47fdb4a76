//! A queue in a ring.

/// Values in order of arrival, in a ring that doubles. As a `VecDeque`, but what is pushed goes straight to its place: that one takes it by
/// reference, and to copy at once fields that have just been written one by one the processor waits until all of them are in its cache.
#[derive(Clone, Debug)]
pub(crate) struct Ring<T> {
    /// As many as a power of two, or none. Of a `T` with a niche a place takes no more room than the value.
    places: Vec<Option<T>>,
    /// The place of the first, counted on beyond the ring.
    head: usize,
    len: usize,
}

impl<T> Ring<T> {
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
        if index < self.len { self.places.get(self.place(index))?.as_ref() } else { None }
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, index: usize) -> Option<&mut T> {
        let place = self.place(index);
        if index < self.len { self.places.get_mut(place)?.as_mut() } else { None }
    }

    #[inline]
    pub(crate) fn front(&self) -> Option<&T> {
        self.places.get(self.place(0))?.as_ref()
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
        self.places[place] = Some(value);
        self.len += 1;
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "what is read of it stays in registers")]
    pub(crate) fn pop_front(&mut self) -> Option<T> {
        let place = self.place(0);
        let first = self.places.get_mut(place)?.take()?;
        self.head = self.head.wrapping_add(1);
        self.len -= 1;
        Some(first)
    }

    /// Makes room for as many again.
    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let before = self.places.len();
        if before > 0 {
            let first = self.place(0);
            self.places.rotate_left(first);
        }
        self.head = 0;
        let after = (2 * before).max(Self::LEAST);
        self.places.reserve_exact(after - before);
        self.places.resize_with(after, || None);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;

    #[test]
    fn it_holds_what_a_deque_holds() {
        // The head is counted on beyond the largest number, too.
        let mut ring = Ring { head: usize::MAX - 300, ..Ring::new() };
        let mut deque = VecDeque::new();
        let mut state = 1u64;
        for turn in 0..20_000u64 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            // Now longer, now shorter, and at times empty.
            let longer = (turn / 1000) % 2 == 0;
            if (state >> 60 < 9) == longer {
                ring.push_back(turn);
                deque.push_back(turn);
            } else {
                assert_eq!(ring.pop_front(), deque.pop_front());
            }
            assert_eq!((ring.len(), ring.is_empty()), (deque.len(), deque.is_empty()));
            assert_eq!(ring.front(), deque.front());
            let index = (state >> 40) as usize % (deque.len() + 2);
            assert_eq!(ring.get(index), deque.get(index));
            assert_eq!(ring.get_mut(index), deque.get_mut(index));
        }
        assert!(ring.places.len() > Ring::<u64>::LEAST, "it has not grown");
        assert!(ring.iter().eq(&deque));
    }
}
