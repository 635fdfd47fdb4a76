//! Filters over the last few samples.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use weir_units::TimeDelta;

/// The minimum of the last `length` samples. Each time the minimum leaves, one scan is made: the windows of the
/// controllers are short.
#[derive(Clone, Debug)]
pub struct WindowedMin<T> {
    samples: VecDeque<T>,
    length: usize,
    min: Option<T>,
}

impl<T: Ord + Copy> WindowedMin<T> {
    /// A filter over the last `length` samples; 0 is taken as 1, the sample itself.
    pub fn new(length: usize) -> Self {
        let length = length.max(1);
        Self { samples: VecDeque::with_capacity(length), length, min: None }
    }

    /// Takes a sample. A full window loses its oldest one.
    pub fn push(&mut self, sample: T) {
        let leaving = if self.samples.len() == self.length { self.samples.pop_front() } else { None };
        self.samples.push_back(sample);
        self.min = match self.min {
            Some(min) if min < sample && leaving == Some(min) => self.samples.iter().copied().min(),
            Some(min) if min < sample => Some(min),
            _ => Some(sample),
        };
    }

    /// The smallest sample of the window, or `None` before the first one.
    pub fn min(&self) -> Option<T> {
        self.min
    }

    /// Removes every sample.
    pub fn clear(&mut self) {
        self.samples.clear();
        self.min = None;
    }
}

/// The median of the last `length` samples: of an even number, the mean of the two in the middle, rounded down.
#[derive(Clone, Debug)]
pub(crate) struct WindowedMedian {
    /// Samples in order of time.
    samples: VecDeque<TimeDelta>,
    /// Samples in order of size.
    sorted: Vec<TimeDelta>,
    length: usize,
}

impl WindowedMedian {
    /// A filter over the last `length` samples; 0 is taken as 1, the sample itself.
    pub(crate) fn new(length: usize) -> Self {
        let length = length.max(1);
        Self { samples: VecDeque::with_capacity(length), sorted: Vec::with_capacity(length), length }
    }

    /// Takes a sample. A full window loses its oldest one. Returns the median.
    pub(crate) fn push(&mut self, sample: TimeDelta) -> TimeDelta {
        if self.samples.len() == self.length
            && let Some(oldest) = self.samples.pop_front()
            && let Ok(place) = self.sorted.binary_search(&oldest)
        {
            self.sorted.remove(place);
        }
        self.samples.push_back(sample);
        let place = self.sorted.partition_point(|&other| other < sample);
        self.sorted.insert(place, sample);
        let (low, high) = (self.sorted[(self.sorted.len() - 1) / 2], self.sorted[self.sorted.len() / 2]);
        low + (high - low) / 2
    }

    /// Removes every sample.
    pub(crate) fn clear(&mut self) {
        self.samples.clear();
        self.sorted.clear();
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
    fn the_minimum_is_that_of_a_scan() {
        let mut filter = WindowedMin::new(7);
        let samples: Vec<u32> = (0..1000_u32).map(|n| n.wrapping_mul(2_654_435_769) >> 28).collect();
        for (n, &sample) in samples.iter().enumerate() {
            filter.push(sample);
            assert_eq!(filter.min(), samples[(n + 1).saturating_sub(7)..=n].iter().copied().min());
        }
    }

    #[test]
    fn a_cleared_filter_has_no_value() {
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

    #[test]
    fn the_median_is_in_the_middle_of_the_last_samples() {
        let mut filter = WindowedMedian::new(5);
        // 9 | 9 2: 5.5, rounded down | 9 2 7 | 9 2 7 4: (4 + 7)/2 | 9 2 7 4 4 | 2 7 4 4 30 | 7 4 4 30 31 | 4 4 30 31 32
        let medians = [9, 2, 7, 4, 4, 30, 31, 32].map(|ns| filter.push(TimeDelta::from_nanos(ns)).nanos());
        assert_eq!(medians, [9, 5, 7, 5, 4, 4, 7, 30]);
        filter.clear();
        assert_eq!(filter.push(TimeDelta::from_nanos(3)).nanos(), 3);
        let mut single = WindowedMedian::new(0);
        single.push(TimeDelta::from_nanos(3));
        assert_eq!(single.push(TimeDelta::from_nanos(8)).nanos(), 8);
    }
}
