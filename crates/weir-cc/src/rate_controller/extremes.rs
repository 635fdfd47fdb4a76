//! The lowest and the highest rate of the recent past.

use weir_units::TimeDelta;

use crate::time::SendTime;

/// Extremes of the rate in force over the last `N` parts of `MS` ms. The present part comes first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extremes<const N: usize, const MS: i64> {
    /// Lowest and highest rate of each part.
    parts: [(f64, f64); N],
    /// When the present part began, or `None` before the first decision.
    began: Option<SendTime>,
}

impl<const N: usize, const MS: i64> Extremes<N, MS> {
    /// Extremes before the first decision, with the start rate.
    pub(super) const fn new(rate: f64) -> Self {
        Self { parts: [(rate, rate); N], began: None }
    }

    /// Begins the parts that are due by `now`; a new one holds only `rate`, which is in force.
    pub(super) fn advance(&mut self, now: SendTime, rate: f64) {
        let part = TimeDelta::from_millis(MS);
        let began = *self.began.get_or_insert(now);
        match usize::try_from((now - began).nanos() / part.nanos()) {
            Ok(0) => {}
            Ok(passed) if passed < N => {
                self.parts.rotate_right(passed);
                self.parts[..passed].fill((rate, rate));
                self.began = Some(began + TimeDelta::from_nanos(part.nanos() * passed as i64));
            }
            // All of them are over, or the clock was set back.
            _ => {
                self.fill(rate);
                self.began = Some(now);
            }
        }
    }

    /// Takes in `rate`, which is in force from now on.
    pub(super) fn push(&mut self, rate: f64) {
        let (low, high) = self.parts[0];
        self.parts[0] = (low.min(rate), high.max(rate));
    }

    /// Sets all parts to `rate`.
    pub(super) fn fill(&mut self, rate: f64) {
        self.parts.fill((rate, rate));
    }

    pub(super) fn scale(&mut self, factor: f64) {
        self.parts.iter_mut().for_each(|(low, high)| (*low, *high) = (*low * factor, *high * factor));
    }

    pub(super) fn lowest(&self) -> f64 {
        self.parts.iter().fold(f64::INFINITY, |lowest, (low, _)| lowest.min(*low))
    }

    pub(super) fn highest(&self) -> f64 {
        self.parts.iter().fold(0.0, |highest, (_, high)| highest.max(*high))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extremes_leave_with_their_parts() {
        let mut extremes = Extremes::<3, 100>::new(5.0);
        let mut rate = 5.0;
        let mut at = |ms: i64, next: f64| {
            extremes.advance(SendTime::from_millis(ms), rate);
            extremes.push(next);
            rate = next;
            (extremes.lowest(), extremes.highest())
        };
        assert_eq!([at(0, 5.0), at(50, 9.0), at(60, 2.0)], [(5.0, 5.0), (5.0, 9.0), (2.0, 9.0)]);
        assert_eq!(at(250, 3.0), (2.0, 9.0));
        // The part of the first 100 ms is over; in the one after it 2 was in force.
        assert_eq!([at(399, 4.0), at(500, 4.0)], [(2.0, 4.0), (3.0, 4.0)]);
        assert_eq!([at(2000, 7.0), at(-10, 6.0)], [(4.0, 7.0), (6.0, 7.0)]);
    }
}
