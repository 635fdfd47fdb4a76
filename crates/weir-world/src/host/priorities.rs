//! Changes of the weight of a coupled flow.

use weir_net::Time;

use crate::coupling::CoupledSpec;

/// The weight of a coupled flow, and its later values.
#[derive(Debug)]
pub struct Priorities {
    spec: CoupledSpec,
    /// Number of later values that have taken effect.
    turned: usize,
}

impl Priorities {
    /// The priorities of `spec`.
    pub fn new(spec: CoupledSpec) -> Self {
        Self { spec, turned: 0 }
    }

    /// The present priority.
    pub fn present(&self) -> f64 {
        let turned = self.turned.checked_sub(1);
        turned.map_or(self.spec.priority, |turn| self.spec.later_priorities[turn].1)
    }

    /// The priority that takes effect by `now`, returned once for each.
    pub fn turn(&mut self, now: Time) -> Option<f64> {
        let &(at, priority) = self.spec.later_priorities.get(self.turned)?;
        (at <= now).then(|| {
            self.turned += 1;
            priority
        })
    }

    /// Time at which the next one takes effect.
    pub fn next_turn(&self) -> Time {
        self.spec.later_priorities.get(self.turned).map_or(Time::MAX, |&(at, _)| at)
    }
}
