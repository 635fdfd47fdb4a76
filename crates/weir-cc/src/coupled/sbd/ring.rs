//! A ring buffer of the last values of a series.

/// The last values of a series, a fixed number; 0 before the first value.
use alloc::boxed::Box;
use alloc::vec;

#[derive(Clone, Debug)]
pub(super) struct Ring<T> {
    values: Box<[T]>,
    /// Index of the newest value.
    newest: usize,
}

impl<T: Copy + Default> Ring<T> {
    /// A ring of `length` values, at least one.
    pub(super) fn new(length: usize) -> Self {
        Self { values: vec![T::default(); length.max(1)].into_boxed_slice(), newest: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    /// Adds the newest value and returns the oldest, which is removed.
    pub(super) fn push(&mut self, value: T) -> T {
        self.newest = if self.newest == 0 { self.values.len() - 1 } else { self.newest - 1 };
        core::mem::replace(&mut self.values[self.newest], value)
    }

    /// The value `age` places before the newest; 0 outside of the ring.
    pub(super) fn get(&self, age: usize) -> T {
        self.place(age).map_or_else(T::default, |place| self.values[place])
    }

    /// The same value, mutable.
    pub(super) fn get_mut(&mut self, age: usize) -> Option<&mut T> {
        self.place(age).map(|place| &mut self.values[place])
    }

    /// All values, the newest first.
    pub(super) fn iter(&self) -> impl Iterator<Item = T> + '_ {
        let (newer, older) = self.halves();
        newer.iter().chain(older).copied()
    }

    /// All values in two parts, each with the newest value first.
    pub(super) fn halves(&self) -> (&[T], &[T]) {
        let (newer, older) = self.values.split_at(self.newest);
        (older, newer)
    }

    pub(super) fn clear(&mut self) {
        self.values.fill(T::default());
    }

    fn place(&self, age: usize) -> Option<usize> {
        let length = self.values.len();
        let place = self.newest + age;
        (age < length).then(|| if place < length { place } else { place - length })
    }
}

impl Ring<f64> {
    /// The sum, in the order of places, four at a time, as each interval needs it.
    pub(super) fn sum(&self) -> f64 {
        let mut sums = [0.0; 4];
        for chunk in self.values.chunks(4) {
            for (sum, value) in sums.iter_mut().zip(chunk) {
                *sum += value;
            }
        }
        sums.iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_value_leaves_first() {
        let mut ring = Ring::new(3);
        let left: Vec<u8> = (1..=5).map(|value| ring.push(value)).collect();
        assert_eq!(left, [0, 0, 0, 1, 2]);
        assert_eq!([0, 1, 2, 3].map(|age| ring.get(age)), [5, 4, 3, 0]);
        assert_eq!(ring.iter().collect::<Vec<_>>(), [5, 4, 3]);
    }
}
