//! The bound on a coupled flow's rate that comes from its demand, not from congestion.
//!
//! The demand is low if the source has less data, the receiver allows less, or the flow's limits are lower.

use crate::decision::ChangeReason;

/// Bound on a flow's rate by its demand, in bit/s, or no bound.
///
/// A bound is set when the flow's controller lowers the rate without congestion. It rises with the rate of that
/// controller. It is removed once the flow's share of the coupled rate is below it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct DemandBound(Option<f64>);

impl DemandBound {
    /// No bound.
    pub(super) const NONE: Self = Self(None);

    /// A bound of `rate`, in bit/s.
    pub(super) const fn at(rate: f64) -> Self {
        Self(Some(rate))
    }

    /// The bound in bit/s; infinite for no bound.
    pub(super) fn rate(self) -> f64 {
        self.0.unwrap_or(f64::INFINITY)
    }

    /// Sets or raises the bound for a `rate` that the flow's controller computed from `base`, for this reason. A new
    /// bound is at least `least`.
    pub(super) fn follow(&mut self, rate: f64, base: f64, reason: ChangeReason, least: f64) {
        if rate < base && is_demand(reason) {
            *self = Self::at(rate.max(least));
        } else if rate > base {
            self.0 = self.0.map(|bound| bound.max(rate));
        }
    }

    /// Removes the bound if the flow's share of the coupled rate is below it. Returns whether it did.
    pub(super) fn remove_above(&mut self, share: f64) -> bool {
        let removed = self.0.is_some_and(|bound| share < bound);
        if removed {
            *self = Self::NONE;
        }
        removed
    }
}

/// Whether the reason of a lower rate is the demand of the flow: its receiver, its source or its limits.
pub(super) const fn is_demand(reason: ChangeReason) -> bool {
    matches!(reason, ChangeReason::Ceiling | ChangeReason::Application | ChangeReason::Limits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_is_set_by_a_lower_demand_raised_with_the_rate_and_removed_above_the_share() {
        let mut bound = DemandBound::NONE;
        bound.follow(600.0, 1000.0, ChangeReason::Loss, 0.0);
        bound.follow(1200.0, 1000.0, ChangeReason::Growth, 0.0);
        assert_eq!(bound, DemandBound::NONE);
        bound.follow(600.0, 1000.0, ChangeReason::Application, 0.0);
        assert_eq!(bound.rate(), 600.0);
        bound.follow(660.0, 600.0, ChangeReason::Growth, 0.0);
        bound.follow(640.0, 630.0, ChangeReason::Growth, 0.0);
        assert_eq!(bound.rate(), 660.0);
        assert!(!bound.remove_above(660.0) && bound.remove_above(659.0));
        assert_eq!(bound.rate(), f64::INFINITY);
        bound.follow(10.0, 600.0, ChangeReason::Limits, 50.0);
        assert_eq!(bound.rate(), 50.0);
    }
}
