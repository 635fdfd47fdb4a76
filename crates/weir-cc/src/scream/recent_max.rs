//! Maximum of a value over the recent past, in steps of time.

use weir_units::TimeDelta;

use super::{passed, scaled};
use crate::time::SendTime;

/// The largest value of the present step and of the `N − 1` steps before it.
#[derive(Debug)]
pub(super) struct RecentMax<const N: usize> {
    /// Maximum of each step; the present step comes first.
    steps: [u64; N],
    began: Option<SendTime>,
}

impl<const N: usize> RecentMax<N> {
    pub(super) fn new() -> Self {
        Self { steps: [0; N], began: None }
    }

    /// Takes in a value; a step that has lasted `step` is over.
    pub(super) fn push(&mut self, now: SendTime, step: TimeDelta, value: u64) {
        let began = *self.began.get_or_insert(now);
        if passed(now, Some(began), step) {
            let steps = ((now - began).nanos().max(0) / step.nanos().max(1)).max(1);
            let turned = usize::try_from(steps).unwrap_or(N).min(N);
            self.steps.copy_within(..N - turned, turned);
            self.steps[..turned].fill(0);
            self.began = Some(now);
        }
        self.steps[0] = self.steps[0].max(value);
    }

    /// Scales the measured values by `factor` for coupling.
    pub(super) fn scale(&mut self, factor: f64) {
        self.steps.iter_mut().for_each(|value| *value = scaled(*value, factor));
    }

    pub(super) fn max(&self) -> u64 {
        self.max_of(N)
    }

    /// The largest value of the present step and of the `count − 1` steps before it.
    pub(super) fn max_of(&self, count: usize) -> u64 {
        self.steps.iter().take(count).copied().max().unwrap_or(0)
    }

    /// The largest value of the step before the present one.
    pub(super) fn previous(&self) -> u64 {
        self.steps.get(1).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEP: TimeDelta = TimeDelta::from_millis(100);

    /// Sender time of `ms` milliseconds.
    fn ms(ms: i64) -> SendTime {
        SendTime::from_millis(ms)
    }

    #[test]
    fn a_maximum_leaves_with_its_step() {
        let mut recent = RecentMax::<3>::new();
        recent.push(ms(0), STEP, 9);
        recent.push(ms(50), STEP, 4);
        assert_eq!((recent.max(), recent.previous()), (9, 0));
        recent.push(ms(100), STEP, 5);
        assert_eq!((recent.max(), recent.previous()), (9, 9));
        recent.push(ms(200), STEP, 1);
        assert_eq!((recent.max(), recent.previous()), (9, 5));
        recent.push(ms(300), STEP, 2);
        assert_eq!((recent.max(), recent.max_of(2), recent.previous()), (5, 2, 1));
    }

    #[test]
    fn a_pause_empties_the_steps_it_covers_and_a_clock_set_back_one() {
        let mut recent = RecentMax::<3>::new();
        recent.push(ms(0), STEP, 9);
        recent.push(ms(10_000), STEP, 2);
        assert_eq!(recent.max(), 2);
        recent.push(ms(-10_000), STEP, 1);
        assert_eq!((recent.max(), recent.previous()), (2, 2));
    }
}
