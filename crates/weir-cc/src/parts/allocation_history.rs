//! Scale of feedback on packets that left before an allocation by coupling.

use alloc::vec::Vec;

use weir_units::TimeDelta;

use crate::time::SendTime;

/// Greatest number of allocations that are distinguished. With their least distance they cover more than a second.
const MAX_ALLOCATIONS: usize = 64;
const MIN_SPACING: TimeDelta = TimeDelta::from_millis(20);

/// Factors by which coupling has scaled a flow since the departure of a packet. Bytes sent, received or acknowledged
/// before an allocation count on the scale of that time. Multiplied by [`Self::since`] they count on the present
/// scale, and do not undo the allocation. Without an allocation all factors are exactly 1.
#[derive(Clone, Debug)]
pub(crate) struct AllocationHistory {
    /// The present scale; 1 before the first allocation.
    scale: f64,
    /// Scales with the times since which they hold, the oldest first; `before` holds before the first. A flow without
    /// coupling has none.
    since: Vec<(SendTime, f64)>,
    before: f64,
}

impl AllocationHistory {
    pub(crate) const NONE: Self = Self { scale: 1.0, since: Vec::new(), before: 1.0 };

    /// Scales the flow by `factor` (above 0) for coupling.
    pub(crate) fn on_allocation(&mut self, now: SendTime, factor: f64) {
        self.rewind(now);
        self.scale *= factor;
        match self.since.last_mut() {
            Some((last, held)) if now - *last < MIN_SPACING => *held = self.scale,
            _ => self.push(now),
        }
        self.keep_in_range();
    }

    /// The factor from the scale at which a packet left to that of `now`.
    pub(crate) fn since(&mut self, departure: SendTime, now: SendTime) -> f64 {
        self.rewind(now);
        if self.since.is_empty() {
            return 1.0;
        }
        let held = self.since.iter().rev().find(|&&(since, _)| since <= departure);
        self.scale / held.map_or(self.before, |&(_, scale)| scale)
    }

    /// As [`Self::since`], for packets that left evenly from `first` to `last`.
    pub(crate) fn over(&mut self, first: SendTime, last: SendTime, now: SendTime) -> f64 {
        if last <= first {
            return self.since(last, now);
        }
        self.rewind(now);
        if self.since.is_empty() {
            return 1.0;
        }
        let (mut mean, mut from, mut scale) = (0.0, first, self.before);
        for &(since, next) in &self.since {
            let until = since.clamp(from, last);
            mean += scale * (until - from).secs_f64();
            (from, scale) = (until, next);
        }
        mean += scale * (last - from).secs_f64();
        self.scale * (last - first).secs_f64() / mean
    }

    fn push(&mut self, now: SendTime) {
        if self.since.len() == MAX_ALLOCATIONS {
            self.before = self.since.remove(0).1;
        }
        self.since.reserve_exact(MAX_ALLOCATIONS - self.since.len());
        self.since.push((now, self.scale));
    }

    /// Removes allocations later than `now`: the clock was set back, and they do not apply to packets that leave now.
    fn rewind(&mut self, now: SendTime) {
        if self.since.last().is_some_and(|&(last, _)| last > now) {
            *self = Self::NONE;
        }
    }

    /// Keeps the scales in the range in which they are exact, by setting the present one to 1, because only ratios
    /// count.
    fn keep_in_range(&mut self) {
        if !(1e-6..1e6).contains(&self.scale) {
            let scale = self.scale;
            for (_, held) in &mut self.since {
                *held /= scale;
            }
            self.before /= scale;
            self.scale = 1.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: SendTime = SendTime::from_millis(70_000);

    /// Sender time of `ms` milliseconds.
    fn ms(ms: i64) -> SendTime {
        SendTime::from_millis(ms)
    }

    #[test]
    fn packets_sent_before_an_allocation_are_scaled_to_it() {
        let mut words = AllocationHistory::NONE;
        assert_eq!((words.since(ms(0), NOW), words.over(ms(0), ms(9), NOW)), (1.0, 1.0));
        words.on_allocation(ms(1000), 2.0);
        words.on_allocation(ms(2000), 0.5);
        words.on_allocation(ms(3000), 0.5);
        assert_eq!(words.since(ms(500), NOW), 0.5);
        assert_eq!(words.since(ms(1000), NOW), 0.25);
        assert_eq!(words.since(ms(2999), NOW), 0.5);
        assert_eq!(words.since(ms(3000), NOW), 1.0);
        // Half a second each at 1 and 2, 1.5 on average; now it is 0.5.
        assert!((words.over(ms(500), ms(1500), NOW) - 0.5 / 1.5).abs() < 1e-12);
        assert_eq!(words.over(ms(3000), ms(4000), NOW), 1.0);
        assert_eq!(words.over(ms(500), ms(500), NOW), 0.5);
    }

    #[test]
    fn of_many_allocations_those_of_a_second_are_distinguished() {
        let mut words = AllocationHistory::NONE;
        (0..3000).for_each(|n| words.on_allocation(ms(n), 1.001));
        for age in [0, 100, 500, 1200] {
            let ratio = words.since(ms(2999 - age), NOW) / libm::pow(1.001, age as f64);
            assert!((0.97..1.03).contains(&ratio), "{age} ms: {ratio}");
        }
        // Older ones count as of 64 spacings ago.
        let oldest = words.since(ms(0), NOW);
        assert!((libm::pow(1.001, 1200.0)..libm::pow(1.001, 1320.0)).contains(&oldest), "{oldest}");
    }

    #[test]
    fn extreme_allocations_leave_ratios_as_they_are() {
        let mut words = AllocationHistory::NONE;
        for n in 0..20 {
            words.on_allocation(ms(100 * n), 1e-3);
            assert!((words.since(ms(100 * n - 1), NOW) * 1e3 - 1.0).abs() < 1e-9);
        }
    }

    #[test]
    fn a_clock_set_back_forgets_later_allocations() {
        let mut words = AllocationHistory::NONE;
        words.on_allocation(ms(20_000), 0.001);
        assert_eq!(words.since(ms(8000), ms(8010)), 1.0);
        assert_eq!(words.since(ms(19_990), ms(20_010)), 1.0, "they do not come back");
    }
}
