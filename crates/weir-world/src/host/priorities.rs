//! The priority of a coupled flow, which is its weight in the coupling, and scheduled changes of it.

use weir_net::Time;

use crate::coupling::CoupledSpec;

/// The priority of a coupled flow, and its scheduled later values.
#[derive(Debug)]
pub struct Priorities {
    spec: CoupledSpec,
    /// Number of later priorities that have taken effect.
    applied: usize,
}

impl Priorities {
    /// The priorities of `spec`.
    pub fn new(spec: CoupledSpec) -> Self {
        Self { spec, applied: 0 }
    }

    /// The present priority.
    pub fn present(&self) -> f64 {
        let applied = self.applied.checked_sub(1);
        applied.map_or(self.spec.priority, |last| self.spec.later_priorities[last].1)
    }

    /// The next priority, if it takes effect by `now`. Each is returned once.
    pub fn next_due(&mut self, now: Time) -> Option<f64> {
        let &(at, priority) = self.spec.later_priorities.get(self.applied)?;
        (at <= now).then(|| {
            self.applied += 1;
            priority
        })
    }

    /// Time at which the next priority takes effect, or [`Time::MAX`] without one.
    pub fn next_change(&self) -> Time {
        self.spec.later_priorities.get(self.applied).map_or(Time::MAX, |&(at, _)| at)
    }
}
