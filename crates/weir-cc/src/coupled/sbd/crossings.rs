//! `freq_est`: frequency of significant crossings of the mean by the delay (RFC 8382 §3.2.4).

use super::ring::Ring;

/// Side of the mean of the last significant delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MeanSide {
    Above,
    Below,
}

/// Counter of significant crossings of the mean in the last `N` intervals.
#[derive(Clone, Debug)]
pub(super) struct Crossings {
    /// Whether the mean was crossed, by interval.
    last: Ring<bool>,
    count: u32,
    side: Option<MeanSide>,
}

impl Crossings {
    /// Counts over `intervals`.
    pub(super) fn new(intervals: u32) -> Self {
        Self { last: Ring::new(intervals as usize), count: 0, side: None }
    }

    /// Takes an interval whose mean delay is `above` the long-term mean, in seconds. `significant` is the least
    /// excursion that counts. The first excursion determines a side and is no crossing.
    pub(super) fn on_interval(&mut self, above: f64, significant: f64) {
        let side = if above > significant {
            Some(MeanSide::Above)
        } else if above < -significant {
            Some(MeanSide::Below)
        } else {
            None
        };
        let crossed = matches!((self.side, side), (Some(before), Some(now)) if before != now);
        self.side = side.or(self.side);
        self.push(crossed);
    }

    /// Takes an interval without evidence: an empty one, or one on a path without a bottleneck (RFC 8382 §4.2).
    pub(super) fn on_silence(&mut self) {
        self.push(false);
    }

    /// `freq_est`, in [0, 1].
    pub(super) fn frequency(&self) -> f64 {
        f64::from(self.count) / self.last.len() as f64
    }

    pub(super) fn clear(&mut self) {
        self.last.clear();
        self.count = 0;
        self.side = None;
    }

    fn push(&mut self, crossed: bool) {
        let left = self.last.push(crossed);
        self.count = self.count + u32::from(crossed) - u32::from(left);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `freq_est` after delays `amplitude` above and below their mean in turn, where 0.7 is significant.
    fn alternating(amplitude: f64, intervals: u32) -> f64 {
        let mut crossings = Crossings::new(50);
        for interval in 0..intervals {
            crossings.on_interval(if interval % 2 == 0 { amplitude } else { -amplitude }, 0.7);
        }
        crossings.frequency()
    }

    #[test]
    fn after_the_first_excursion_every_significant_swing_counts() {
        assert_eq!(alternating(0.8, 1), 0.0);
        assert_eq!(alternating(0.8, 2), 1.0 / 50.0);
        assert_eq!(alternating(0.8, 50), 49.0 / 50.0);
        assert_eq!(alternating(0.8, 51), 1.0);
        assert_eq!(alternating(0.8, 500), 1.0);
    }

    #[test]
    fn swings_that_are_too_small_do_not_count() {
        assert_eq!(alternating(0.7, 500), 0.0);
    }

    #[test]
    fn silence_crosses_nothing_and_the_side_stays() {
        let mut crossings = Crossings::new(10);
        crossings.on_interval(1.0, 0.7);
        crossings.on_silence();
        crossings.on_interval(0.1, 0.7);
        crossings.on_interval(1.0, 0.7);
        assert_eq!(crossings.frequency(), 0.0);
        crossings.on_interval(-1.0, 0.7);
        assert_eq!(crossings.frequency(), 0.1);
        (0..10).for_each(|_| crossings.on_silence());
        assert_eq!(crossings.frequency(), 0.0);
    }
}
