//! What keeps a controller's rate from rising over the next second, by its decisions alone. `docs/metrics.md` says the same.

use weir_units::{DataRate, TimeDelta};

use super::climb::Climb;
use crate::controller::{LimitingFactor, RateLimits};
use crate::decision::{ChangeReason, Decision};
use crate::time::SendTime;

/// A rate that has come to the maximum is limited by it until it is so much lower: a ripple below the bound changes nothing.
const BELOW_MAXIMUM: f64 = 1.1;
/// What limited the rate is forgotten when the law has found nothing for so long.
const FORGOTTEN_AFTER: TimeDelta = TimeDelta::from_secs(1);

/// What limits a rate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limiting {
    /// What the law found last; [`LimitingFactor::RampUp`] where that was nothing, at first or for a second.
    found: LimitingFactor,
    /// Whether the law found something in the last decision, …
    limits_now: bool,
    /// … and since when it has not.
    free_since: Option<SendTime>,
    /// Whether the last decision was for want of feedback.
    silent: bool,
    climb: Climb,
    at_maximum: bool,
}

impl Limiting {
    /// Before the first decision, at this rate.
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

    /// With a decision for the reason `why` the law has found this to limit its rate.
    pub(super) fn find(&mut self, why: ChangeReason, limited_by: Option<LimitingFactor>) {
        self.limits_now = limited_by.is_some();
        self.silent = match why {
            ChangeReason::Limits => self.silent,
            _ => limited_by == Some(LimitingFactor::Silence),
        };
        match limited_by {
            Some(LimitingFactor::Silence) => {}
            Some(found) => self.found = found,
            // Nothing of another path is known.
            None if why == ChangeReason::Route => self.found = LimitingFactor::RampUp,
            // What limited the rate before may again.
            None => {}
        }
    }

    /// `decision` is the last one; with it the sending rate is `in_force`.
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

    /// Coupling changes the rate by `factor` (above 0), to `rate`.
    pub(super) fn scale(&mut self, factor: f64, rate: DataRate, limits: &RateLimits) {
        self.climb.scale(factor);
        self.see_maximum(rate, limits);
    }

    /// What limits the rate, where coupling does not.
    ///
    /// The maximum, missing feedback and a drain hold whatever the law computes. The minimum is where the law would go lower and has not
    /// climbed for a second. A source that offers less is named instead of what the law found. Otherwise it is ramp-up while the rate
    /// climbs, and what the law found last where it does not.
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
