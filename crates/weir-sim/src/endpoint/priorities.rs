//! How the weight of a coupled flow changes.

use weir_net::Time;
use weir_world::CoupledSpec;

/// The weight of a coupled flow, and its later ones.
#[derive(Debug)]
pub(crate) struct Priorities {
    spec: CoupledSpec,
    /// How many of the later ones hold.
    turned: usize,
}

impl Priorities {
    pub(super) fn new(spec: CoupledSpec) -> Self {
        Self { spec, turned: 0 }
    }

    /// The priority that holds.
    pub(super) fn present(&self) -> f64 {
        let turned = self.turned.checked_sub(1);
        turned.map_or(self.spec.priority, |turn| self.spec.later_priorities[turn].1)
    }

    /// The priority that begins to hold by `now`, once for each.
    pub(super) fn turn(&mut self, now: Time) -> Option<f64> {
        let &(at, priority) = self.spec.later_priorities.get(self.turned)?;
        (at <= now).then(|| {
            self.turned += 1;
            priority
        })
    }

    /// When the next one begins to hold.
    pub(super) fn next_turn(&self) -> Time {
        self.spec.later_priorities.get(self.turned).map_or(Time::MAX, |&(at, _)| at)
    }
}
