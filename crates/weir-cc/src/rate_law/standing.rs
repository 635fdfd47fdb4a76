//! Where every rate controller stands: its rate between the limits, the rate of its last decision, and what limits it.

use weir_units::{DataRate, TimeDelta};

use super::limiting::Limiting;
use crate::controller::{LimitingFactor, RateLimits};
use crate::decision::{AllocatedRate, ChangeReason, Decision};
use crate::time::SendTime;

/// Where a law stands: its rate between the limits, and the rate of its last decision.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RateInForce {
    pub(crate) limits: RateLimits,
    /// Of the last decision, or coupling's later word; the start rate before.
    decided: DataRate,
    /// What the law itself computed last; the start rate before.
    computed: DataRate,
    /// The last share from a coupler.
    share: Option<DataRate>,
    pub(crate) application_limited: bool,
    limiting: Limiting,
}

/// A rate as a law computed it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Decided {
    /// Within the limits.
    pub(crate) rate: DataRate,
    /// Whether it is lower than before, also where rounding or the minimum hides that.
    pub(crate) lower: bool,
    /// What lowered it, if it is lower.
    pub(crate) why: ChangeReason,
    /// What limits it where it does not climb; `None` where the law knows of nothing.
    pub(crate) limited_by: Option<LimitingFactor>,
    pub(crate) rtt: Option<TimeDelta>,
}

impl RateInForce {
    pub(crate) fn new(limits: RateLimits) -> Self {
        Self::at(limits, limits.start())
    }

    /// Before the first decision, at this rate within the limits.
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

    /// The law has computed a rate; [`Self::follow`] is to be called with what comes of it.
    pub(crate) fn decide(&mut self, decided: Decided) -> Decision {
        let Decided { rate, lower, why, limited_by, rtt } = decided;
        self.computed = rate;
        let base = core::mem::replace(&mut self.decided, rate);
        let why = why.of(lower || rate < base);
        self.limiting.find(why, limited_by);
        Decision { rate, base, why, rtt }
    }

    /// `decision` is the last one; with it the sending rate is `in_force`.
    pub(crate) fn follow(&mut self, now: SendTime, decision: &Decision, in_force: DataRate) {
        self.limiting.follow(now, decision, in_force, &self.limits);
    }

    /// Takes coupling's word: the share within the limits, and the factor by which the law has to scale, unless there is
    /// nothing to do.
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

    /// The share that a coupler gave last; `None` before the first one.
    pub(crate) const fn share(&self) -> Option<DataRate> {
        self.share
    }

    /// Whether the rate in force is a share below what the law itself computed last.
    fn is_coupled(&self) -> bool {
        self.decided < self.computed
    }

    /// What keeps the rate in force from rising over the next second; `draining` while the law lets the queue drain.
    pub(crate) fn limiting_factor(&self, draining: bool) -> LimitingFactor {
        if self.is_coupled() {
            return LimitingFactor::Coupling;
        }
        let at_minimum = self.decided <= self.limits.min();
        self.limiting.factor(at_minimum, self.application_limited, draining)
    }

    /// What the law found last to limit its rate.
    #[cfg(test)]
    pub(crate) fn found(&self) -> LimitingFactor {
        self.limiting.found()
    }
}
