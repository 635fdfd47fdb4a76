//! Bound of a flow without congestion: its source, its receiver or its limits ask for less.

use crate::decision::ChangeReason;

/// Bound on a flow's rate, in bit/s. It begins with a fall without congestion, rises with the flow's own rate, and ends
/// once it does not bind.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Bound(Option<f64>);

impl Bound {
    pub(super) const NONE: Self = Self(None);

    pub(super) const fn of(rate: f64) -> Self {
        Self(Some(rate))
    }

    /// The bound; infinite for none.
    pub(super) fn rate(self) -> f64 {
        self.0.unwrap_or(f64::INFINITY)
    }

    /// Takes a rate that the flow's controller computed from `base`.
    pub(super) fn follow(&mut self, rate: f64, base: f64, why: ChangeReason, least: f64) {
        if rate < base && is_bound(why) {
            *self = Self::of(rate.max(least));
        } else if rate > base {
            self.0 = self.0.map(|bound| bound.max(rate));
        }
    }

    /// Lifts the bound if a share of `share` is below it. Returns whether it did.
    pub(super) fn lift(&mut self, share: f64) -> bool {
        let lifts = self.0.is_some_and(|bound| share < bound);
        if lifts {
            *self = Self::NONE;
        }
        lifts
    }
}

/// Whether the reason of a lower rate bounds only this flow: its source, its receiver, its limits.
pub(super) const fn is_bound(why: ChangeReason) -> bool {
    matches!(why, ChangeReason::Ceiling | ChangeReason::Application | ChangeReason::Limits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_begins_with_a_fall_rises_with_the_rate_and_ends_when_it_does_not_bind() {
        let mut bound = Bound::NONE;
        bound.follow(600.0, 1000.0, ChangeReason::Loss, 0.0);
        bound.follow(1200.0, 1000.0, ChangeReason::Growth, 0.0);
        assert_eq!(bound, Bound::NONE);
        bound.follow(600.0, 1000.0, ChangeReason::Application, 0.0);
        assert_eq!(bound.rate(), 600.0);
        bound.follow(660.0, 600.0, ChangeReason::Growth, 0.0);
        bound.follow(640.0, 630.0, ChangeReason::Growth, 0.0);
        assert_eq!(bound.rate(), 660.0);
        assert!(!bound.lift(660.0) && bound.lift(659.0));
        assert_eq!(bound.rate(), f64::INFINITY);
        bound.follow(10.0, 600.0, ChangeReason::Limits, 50.0);
        assert_eq!(bound.rate(), 50.0);
    }
}
