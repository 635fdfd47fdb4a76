//! Rate in force of every rate controller: the rate between the limits, the rate of its last decision, and its
//! limiting factor.

use weir_units::{DataRate, TimeDelta};

use super::limiting::Limiting;
use crate::controller::{LimitingFactor, RateLimits};
use crate::decision::{AllocatedRate, ChangeReason, Decision};
use crate::time::SendTime;

/// A controller's rate between the limits, and the rate of its last decision.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RateInForce {
    pub(crate) limits: RateLimits,
    /// Rate of the last decision, or coupling's later allocation; the start rate before.
    decided: DataRate,
    /// Rate that the controller itself computed last; the start rate before.
    computed: DataRate,
    /// The last allocation of a coupler.
    share: Option<DataRate>,
    pub(crate) application_limited: bool,
    limiting: Limiting,
}

/// A rate as a controller computed it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Decided {
    /// Computed rate, within the limits.
    pub(crate) rate: DataRate,
    /// Whether the rate is lower than before, also where rounding or the minimum hides that.
    pub(crate) lower: bool,
    /// Reason of the change, if the rate is lower.
    pub(crate) why: ChangeReason,
    /// Limit of the rate where it does not climb, or `None` without one.
    pub(crate) limited_by: Option<LimitingFactor>,
    pub(crate) rtt: Option<TimeDelta>,
}

impl RateInForce {
    pub(crate) fn new(limits: RateLimits) -> Self {
        Self::at(limits, limits.start())
    }

    /// State before the first decision, at this rate within the limits.
    pub(super) fn at(limits: RateLimits, rate: DataRate) -> Self {
        Self {
            limits,
            decided: rate,
            computed: rate,
            share: None,
            application_limited: false,
            limiting: Limiting::new(rate, &limits),
        }
    }

    /// The rate of the last decision, from which the next one starts.
    pub(crate) fn decided(&self) -> DataRate {
        self.decided
    }

    /// Takes in the rate that the controller has computed. The caller passes the resulting decision to
    /// [`Self::follow`].
    pub(crate) fn decide(&mut self, decided: Decided) -> Decision {
        let Decided { rate, lower, why, limited_by, rtt } = decided;
        self.computed = rate;
        let base = core::mem::replace(&mut self.decided, rate);
        let why = why.of(lower || rate < base);
        self.limiting.find(why, limited_by);
        Decision { rate, base, why, rtt }
    }

    /// Takes in the last decision, with which the sending rate is `in_force`.
    pub(crate) fn follow(&mut self, now: SendTime, decision: &Decision, in_force: DataRate) {
        self.limiting.follow(now, decision, in_force, &self.limits);
    }

    /// Takes coupling's allocation. Returns the rate within the limits, and the factor by which the controller has
    /// to scale, unless nothing changes.
    pub(crate) fn apply_allocation(&mut self, share: AllocatedRate) -> Option<(DataRate, f64)> {
        let share = self.limits.clamp(share.rate);
        self.share = Some(share);
        let present = core::mem::replace(&mut self.decided, share);
        (share != present).then(|| {
            let factor = share.bps_f64() / present.bps_f64();
            self.limiting.scale(factor, share, &self.limits);
            (share, factor)
        })
    }

    /// The last allocation of a coupler, or `None` before the first one.
    pub(crate) const fn share(&self) -> Option<DataRate> {
        self.share
    }

    /// Whether the rate in force is an allocation below the rate that the controller itself computed last.
    fn is_coupled(&self) -> bool {
        self.decided < self.computed
    }

    /// Limiting factor of the rate in force over the next second; `draining` while the controller lets the queue
    /// drain.
    pub(crate) fn limiting_factor(&self, draining: bool) -> LimitingFactor {
        if self.is_coupled() {
            return LimitingFactor::Coupling;
        }
        let at_minimum = self.decided <= self.limits.min();
        self.limiting.factor(at_minimum, self.application_limited, draining)
    }

    /// Limit of the rate that the controller found last.
    #[cfg(test)]
    pub(crate) fn found(&self) -> LimitingFactor {
        self.limiting.found()
    }
}
