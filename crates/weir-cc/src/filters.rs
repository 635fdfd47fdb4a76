//! Filters over the last few samples.

use std::collections::VecDeque;

/// The minimum of the last `length` samples. One scan per query: made for the short windows of the laws.
#[derive(Clone, Debug)]
pub struct WindowedMin<T> {
    samples: VecDeque<T>,
    length: usize,
}

impl<T: Ord + Copy> WindowedMin<T> {
    /// A filter over the last `length` samples; 0 is taken as 1, the sample itself.
    pub fn new(length: usize) -> Self {
        let length = length.max(1);
        Self { samples: VecDeque::with_capacity(length), length }
    }

    /// Takes a sample in; the oldest one leaves a full window.
    pub fn push(&mut self, sample: T) {
        if self.samples.len() == self.length {
            self.samples.pop_front();
        }
        self.samples.push_back(sample);
    }

    /// The smallest sample of the window; `None` before the first one.
    pub fn min(&self) -> Option<T> {
        self.samples.iter().copied().min()
    }

    /// Forgets every sample.
    pub fn clear(&mut self) {
        self.samples.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_minimum_leaves_with_its_sample() {
        let mut filter = WindowedMin::new(3);
        assert_eq!(filter.min(), None);
        // Windows of three over 5 2 7 8 9 4: [5] [5 2] [5 2 7] [2 7 8] [7 8 9] [8 9 4].
        let minima = [5, 2, 7, 8, 9, 4].map(|sample| {
            filter.push(sample);
            filter.min()
        });
        assert_eq!(minima, [5, 2, 2, 2, 7, 4].map(Some));
    }

    #[test]
    fn a_cleared_filter_knows_nothing() {
        let mut filter = WindowedMin::new(3);
        filter.push(1);
        filter.clear();
        assert_eq!(filter.min(), None);
        filter.push(6);
        assert_eq!(filter.min(), Some(6));
    }

    #[test]
    fn a_filter_of_no_length_holds_the_newest_sample() {
        let mut filter = WindowedMin::new(0);
        filter.push(1);
        filter.push(6);
        assert_eq!(filter.min(), Some(6));
    }
}
