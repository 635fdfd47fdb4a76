//! Limiting factor of a controller's rate over the next second, by its decisions alone. `docs/metrics.md` has the
//! same definition.

use weir_units::{DataRate, TimeDelta};

use super::climb::Climb;
use crate::controller::{LimitingFactor, RateLimits};
use crate::decision::{ChangeReason, Decision};
use crate::time::SendTime;

/// Factor below the maximum at which a rate that has reached it no longer counts as limited by it: a ripple below
/// the bound changes nothing.
const BELOW_MAXIMUM: f64 = 1.1;
/// Time without a limit in the controller's decisions after which the last limit is forgotten.
const FORGOTTEN_AFTER: TimeDelta = TimeDelta::from_secs(1);

/// State of the limiting factor.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limiting {
    /// The limit that the controller found last; [`LimitingFactor::RampUp`] without one, at first or for a second.
    found: LimitingFactor,
    /// Whether the controller found a limit in the last decision.
    limits_now: bool,
    /// Time since which the controller's decisions have had no limit.
    free_since: Option<SendTime>,
    /// Whether the last decision was a feedback timeout.
    silent: bool,
    climb: Climb,
    at_maximum: bool,
}

impl Limiting {
    /// State before the first decision, at this rate.
    pub(super) fn new(rate: DataRate, limits: &RateLimits) -> Self {
        Self {
            found: LimitingFactor::RampUp,
            limits_now: false,
            free_since: None,
            silent: false,
            climb: Climb::new(rate.bps_f64()),
            at_maximum: rate >= limits.max(),
        }
    }

    /// Takes in the limit that the controller has found with a decision for the reason `why`.
    pub(super) fn find(&mut self, why: ChangeReason, limited_by: Option<LimitingFactor>) {
        self.limits_now = limited_by.is_some();
        self.silent = match why {
            ChangeReason::Limits => self.silent,
            _ => limited_by == Some(LimitingFactor::Silence),
        };
        match limited_by {
            Some(LimitingFactor::Silence) => {}
            Some(found) => self.found = found,
            // The limits of another path are unknown.
            None if why == ChangeReason::Route => self.found = LimitingFactor::RampUp,
            // The limit from before may hold again.
            None => {}
        }
    }

    /// Takes in the last decision, with which the sending rate is `in_force`.
    pub(super) fn follow(
        &mut self,
        now: SendTime,
        decision: &Decision,
        in_force: DataRate,
        limits: &RateLimits,
    ) {
        let Decision { rate, base, why, .. } = *decision;
        if why == ChangeReason::Route {
            self.climb = Climb::new(rate.bps_f64());
        } else if !why.is_own_rule() && !base.is_zero() {
            self.climb.scale(rate.bps_f64().max(1.0) / base.bps_f64());
        }
        self.climb.decide(now, in_force.bps_f64().max(1.0), self.limits_now);
        // The clock may have been set back.
        let since = self.free_since.filter(|_| !self.limits_now).map_or(now, |since| since.min(now));
        self.free_since = Some(since);
        if now - since >= FORGOTTEN_AFTER {
            self.found = LimitingFactor::RampUp;
        }
        self.see_maximum(rate, limits);
    }

    /// Scales the rate by `factor` (above 0) for coupling, to `rate`.
    pub(super) fn scale(&mut self, factor: f64, rate: DataRate, limits: &RateLimits) {
        self.climb.scale(factor);
        self.see_maximum(rate, limits);
    }

    /// Limiting factor of the rate, apart from coupling.
    ///
    /// The maximum, missing feedback and a drain take precedence over the controller's computation. The minimum is
    /// the factor where the controller would go lower and has not climbed for a second. A source that offers less
    /// replaces the controller's limit. Otherwise the factor is ramp-up while the rate climbs, and the controller's
    /// last limit where it does not.
    pub(super) fn factor(
        &self,
        at_minimum: bool,
        application_limited: bool,
        draining: bool,
    ) -> LimitingFactor {
        let climbing = self.climb.is_climbing();
        if self.at_maximum {
            LimitingFactor::Maximum
        } else if self.silent {
            LimitingFactor::Silence
        } else if draining {
            LimitingFactor::Drain
        } else if at_minimum && !climbing {
            LimitingFactor::Minimum
        } else if application_limited {
            LimitingFactor::Application
        } else if climbing {
            LimitingFactor::RampUp
        } else {
            self.found
        }
    }

    #[cfg(test)]
    pub(super) fn found(&self) -> LimitingFactor {
        self.found
    }

    fn see_maximum(&mut self, rate: DataRate, limits: &RateLimits) {
        let near = rate.bps_f64() * BELOW_MAXIMUM >= limits.max().bps_f64();
        self.at_maximum = rate >= limits.max() || (self.at_maximum && near);
    }
}
