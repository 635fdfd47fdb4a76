//! A set of TCP segment numbers within a sliding window, one bit each. The scoreboard of the sender and the receiver's
//! record of arrived segments use it.

/// Number of bits of a 64-bit word of the ring.
const WORD_BITS: u32 = u64::BITS;

/// Initial number of 64-bit words, for 1024 segments.
const INITIAL_WORDS: usize = 16;

/// A set of segment numbers as a ring of bits.
///
/// All its numbers, and all ranges of its methods, must lie within one window. The window is at most as long as the
/// capacity, which is 1024 segments at first and which [`Self::reserve`] extends. Ranges include `start` and exclude
/// `end`.
#[derive(Clone, Debug, Default)]
pub(super) struct BitRing {
    /// Bits of the segments, 64 in each word. The number of words is a power of two, so that a mask gives the index of
    /// a segment's word.
    words: Vec<u64>,
}

impl BitRing {
    /// An empty set with the initial capacity.
    pub(super) fn new() -> Self {
        Self { words: vec![0; INITIAL_WORDS] }
    }

    /// The empty set with the capacity of this one.
    pub(super) fn emptied(mut self) -> Self {
        self.words.fill(0);
        self
    }

    /// Length of the longest window, in segments.
    fn capacity(&self) -> u32 {
        self.words.len() as u32 * WORD_BITS
    }

    /// Extends the capacity to the window `start..end` where it is too small. All numbers of the set must be at least
    /// `start`.
    #[inline]
    pub(super) fn reserve(&mut self, start: u32, end: u32) {
        if end.saturating_sub(start) > self.capacity() {
            self.grow(start, end - start);
        }
    }

    /// Copies the set to a ring for a window of `span` segments from `start` on.
    #[cold]
    fn grow(&mut self, start: u32, span: u32) {
        let words = span.div_ceil(WORD_BITS).next_power_of_two() as usize;
        let mut larger = Self { words: vec![0; words] };
        for (number, mask) in chunks(start, start.saturating_add(self.capacity())) {
            let slot = larger.slot(number);
            larger.words[slot] |= self.words[self.slot(number)] & mask;
        }
        *self = larger;
    }

    /// Index of the word that has the bit of `number`.
    #[inline]
    fn slot(&self, number: u32) -> usize {
        (number / WORD_BITS) as usize & (self.words.len() - 1)
    }

    /// Whether `number` is in the set.
    #[inline]
    pub(super) fn contains(&self, number: u32) -> bool {
        self.words[self.slot(number)] >> (number % WORD_BITS) & 1 == 1
    }

    /// Adds `number`. Returns whether it was absent.
    #[inline]
    pub(super) fn insert(&mut self, number: u32) -> bool {
        let slot = self.slot(number);
        let mask = 1 << (number % WORD_BITS);
        let absent = self.words[slot] & mask == 0;
        self.words[slot] |= mask;
        absent
    }

    /// Adds the numbers `start..end`. Returns how many of them were absent.
    pub(super) fn insert_range(&mut self, start: u32, end: u32) -> u32 {
        let mut absent = 0;
        for (number, mask) in chunks(start, end) {
            let slot = self.slot(number);
            absent += (mask & !self.words[slot]).count_ones();
            self.words[slot] |= mask;
        }
        absent
    }

    /// Removes the numbers `start..end`. Returns how many of them were present.
    pub(super) fn remove_range(&mut self, start: u32, end: u32) -> u32 {
        let mut present = 0;
        for (number, mask) in chunks(start, end) {
            let slot = self.slot(number);
            present += (mask & self.words[slot]).count_ones();
            self.words[slot] &= !mask;
        }
        present
    }

    /// Number of present numbers in `start..end`.
    pub(super) fn count_range(&self, start: u32, end: u32) -> u32 {
        chunks(start, end).map(|(number, mask)| (mask & self.words[self.slot(number)]).count_ones()).sum()
    }

    /// The lowest present number in `start..end`.
    #[inline]
    pub(super) fn first_present(&self, start: u32, end: u32) -> Option<u32> {
        self.first(start, end, |word| word)
    }

    /// The lowest absent number in `start..end`.
    #[inline]
    pub(super) fn first_absent(&self, start: u32, end: u32) -> Option<u32> {
        self.first(start, end, |word| !word)
    }

    /// The lowest number in `start..end` whose bit is set in the `view` of its word.
    #[inline]
    fn first(&self, start: u32, end: u32, view: impl Fn(u64) -> u64) -> Option<u32> {
        chunks(start, end).find_map(|(number, mask)| {
            let hits = view(self.words[self.slot(number)]) & mask;
            (hits != 0).then(|| number / WORD_BITS * WORD_BITS + hits.trailing_zeros())
        })
    }

    /// The highest absent number in `start..end`.
    pub(super) fn last_absent(&self, start: u32, end: u32) -> Option<u32> {
        let mut end = end;
        while start < end {
            let begin = ((end - 1) / WORD_BITS * WORD_BITS).max(start);
            let hits = !self.words[self.slot(begin)] & mask(begin, end);
            if hits != 0 {
                return Some(begin / WORD_BITS * WORD_BITS + (WORD_BITS - 1 - hits.leading_zeros()));
            }
            end = begin;
        }
        None
    }
}

/// The mask of the bits of `start..end`, a non-empty range within one word.
#[inline]
fn mask(start: u32, end: u32) -> u64 {
    (u64::MAX >> (WORD_BITS - (end - start))) << (start % WORD_BITS)
}

/// The parts of `start..end` in each word of the ring: the first number of the part, and the mask of its bits.
#[inline]
fn chunks(start: u32, end: u32) -> impl Iterator<Item = (u32, u64)> {
    let mut next = start;
    core::iter::from_fn(move || {
        (next < end).then(|| {
            let number = next;
            next = (number | (WORD_BITS - 1)).saturating_add(1).min(end);
            (number, mask(number, next))
        })
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn content(ring: &BitRing, start: u32, end: u32) -> Vec<u32> {
        (start..end).filter(|&number| ring.contains(number)).collect()
    }

    #[test]
    fn growing_keeps_the_content_of_an_unaligned_full_window() {
        let start = 1000;
        let end = start + INITIAL_WORDS as u32 * WORD_BITS;
        let mut ring = BitRing::new();
        ring.reserve(start, end);
        for number in (start..end).step_by(3) {
            assert!(ring.insert(number));
        }
        let before = content(&ring, start, end);
        ring.reserve(start, end + 1);
        assert_eq!(content(&ring, start, end + 500), before);
    }

    #[test]
    fn range_at_the_end_of_the_number_space_is_finite() {
        let mut ring = BitRing::new();
        assert_eq!(ring.insert_range(u32::MAX - 3, u32::MAX), 3);
        assert_eq!(ring.first_absent(u32::MAX - 3, u32::MAX), None);
        assert_eq!(ring.remove_range(u32::MAX - 3, u32::MAX), 3);
    }

    proptest! {
        #[test]
        fn ring_is_a_set(
            base in 0u32..5000,
            ranges in proptest::collection::vec((0u32..1024, 0u32..300, any::<bool>()), 1..30),
            probe in (0u32..1024, 0u32..1024),
        ) {
            let mut ring = BitRing::new();
            let mut set = BTreeSet::new();
            for (offset, length, insert) in ranges {
                let start = base + offset;
                let end = (start + length).min(base + 1024);
                let before = set.len();
                let changed = if insert {
                    set.extend(start..end);
                    ring.insert_range(start, end)
                } else {
                    set.retain(|number| !(start..end).contains(number));
                    ring.remove_range(start, end)
                };
                prop_assert_eq!(changed as usize, set.len().abs_diff(before));
            }
            let (start, end) = (base + probe.0, base + probe.1);
            prop_assert_eq!(
                ring.count_range(start, end) as usize,
                (start..end).filter(|n| set.contains(n)).count()
            );
            prop_assert_eq!(ring.first_present(start, end), (start..end).find(|n| set.contains(n)));
            prop_assert_eq!(ring.first_absent(start, end), (start..end).find(|n| !set.contains(n)));
            prop_assert_eq!(ring.last_absent(start, end), (start..end).rev().find(|n| !set.contains(n)));
        }
    }
}
