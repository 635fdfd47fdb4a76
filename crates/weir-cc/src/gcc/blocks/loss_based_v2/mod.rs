//! The loss-based controller by maximum likelihood (libwebrtc's `LossBasedBweV2`, the default since 2023).
//!
//! In its model a path loses a share `p` of all packets, and all data above its bandwidth `b`. Of a few candidates
//! for `b` the controller selects the one under which the observations are most likely. The result is then bounded by
//! loss, by the acknowledged rate and by the delay-based estimate.
//!
//! Options that are off in both dated sets are left out: acceleration of the ramp-up, smoothing of the sending rate,
//! and a candidate at the bound in application-limited regions.

mod config;
mod model;
mod observations;

#[cfg(test)]
mod tests;

use weir_units::TimeDelta;

pub use config::LossV2Config;
use model::{Channel, LikelihoodModel};
use observations::Observations;

use crate::controller::RateLimits;
use crate::packet::PacketResult;
use crate::time::SendTime;

/// Duration of the first hold, and the longest one.
const INITIAL_HOLD: TimeDelta = TimeDelta::from_millis(300);
const MAX_HOLD: TimeDelta = TimeDelta::from_secs(60);
/// Least bound of growth within a window, in bit/s.
const LEAST_WINDOW_BOUND: f64 = 5000.0;

/// State of the loss-based estimate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum LossState {
    /// Loss does not limit the rate: the delay-based estimate or the maximum does.
    #[default]
    DelayBased,
    /// Loss limits the rate, and the estimate falls or is held.
    Decreasing,
    /// Loss limits the rate, and the estimate grows.
    Increasing,
    /// Loss limits the rate, and the estimate grows; padding may show spare capacity.
    IncreasingWithPadding,
}

/// Hold after a decrease: the estimate may not exceed `rate` until a time whose distance doubles with each decrease.
#[derive(Clone, Copy, Debug)]
struct Hold {
    until: Option<SendTime>,
    duration: TimeDelta,
    rate: f64,
}

impl Hold {
    const NONE: Self = Self { until: None, duration: INITIAL_HOLD, rate: f64::INFINITY };

    /// Whether the hold continues. An end further away than a hold can last means that the clock was set back.
    fn lasts(&self, now: SendTime) -> bool {
        self.until.is_some_and(|until| until > now && until - now <= self.duration)
    }
}

/// The rate and the beginning of the present period of padding.
#[derive(Clone, Copy, Debug, Default)]
struct PaddingPeriod {
    rate: f64,
    since: Option<SendTime>,
}

impl PaddingPeriod {
    fn lasts(&self, now: SendTime, duration: TimeDelta) -> bool {
        self.since.is_some_and(|since| (now - since).abs() <= duration)
    }
}

/// Window in which growth ends at `bound`.
#[derive(Clone, Copy, Debug)]
struct GrowthWindow {
    since: Option<SendTime>,
    bound: f64,
}

/// The newer loss-based controller. Rates are in bit/s.
#[derive(Clone, Debug)]
pub(crate) struct LossBasedV2 {
    config: LossV2Config,
    limits: RateLimits,
    observations: Observations,
    /// The likeliest channel, or `None` before the first observation.
    best: Option<Channel>,
    average_loss: f64,
    acknowledged: Option<f64>,
    delay_based: f64,
    estimate: f64,
    state: LossState,
    growth: GrowthWindow,
    hold: Hold,
    padding: PaddingPeriod,
}

impl LossBasedV2 {
    /// An estimate without any observation. `limits` bound it.
    pub(crate) fn new(config: LossV2Config, limits: RateLimits) -> Self {
        Self {
            config,
            limits,
            observations: Observations::new(&config),
            best: None,
            average_loss: 0.0,
            acknowledged: None,
            delay_based: f64::INFINITY,
            estimate: limits.start().bps_f64(),
            state: LossState::DelayBased,
            growth: GrowthWindow { since: None, bound: f64::INFINITY },
            hold: Hold::NONE,
            padding: PaddingPeriod::default(),
        }
    }

    /// Resets everything to the start rate of `limits`.
    pub(crate) fn restart(&mut self, limits: RateLimits) {
        *self = Self::new(self.config, limits);
    }

    /// Sets new bounds.
    pub(crate) fn set_limits(&mut self, limits: RateLimits) {
        self.limits = limits;
    }

    /// Sets `R`, the acknowledged rate.
    pub(crate) fn set_acknowledged(&mut self, rate: f64) {
        self.acknowledged = Some(rate);
    }

    /// Scales each rate by `factor` for coupling, the bounds of the flow's own growth included, so that neither the
    /// hold nor the window of growth undoes the allocation.
    pub(crate) fn scale(&mut self, factor: f64) {
        self.estimate *= factor;
        self.delay_based *= factor;
        self.hold.rate *= factor;
        self.growth.bound *= factor;
        self.padding.rate *= factor;
        self.acknowledged = self.acknowledged.map(|rate| rate * factor);
        if let Some(best) = &mut self.best {
            best.bandwidth *= factor;
        }
    }

    /// The estimate and the state, once there are enough observations.
    pub(crate) fn result(&self) -> Option<(f64, LossState)> {
        let ready = self.best.is_some() && self.observations.count() >= self.config.min_observations as usize;
        ready.then_some((self.estimate, self.state))
    }

    /// `ℓ`, the average loss ratio.
    pub(crate) fn average_loss(&self) -> f64 {
        self.average_loss
    }

    /// `p`, the inherent loss of the likeliest channel.
    pub(crate) fn inherent_loss(&self) -> f64 {
        self.best.map_or(self.config.inherent_loss, |best| best.inherent_loss)
    }

    /// Takes the fates of packets, the delay-based estimate (bit/s; infinite before the first) and whether the flow
    /// is application-limited.
    pub(crate) fn update(&mut self, results: &[PacketResult], delay_based: f64, in_limited_region: bool) {
        self.delay_based = delay_based;
        if !self.observations.add(&self.config, results) {
            return;
        }
        self.average_loss = self.observations.average_loss(&self.config);
        let Some(now) = self.observations.last() else { return };
        // Without a delay-based estimate there is no bandwidth to start from.
        if self.best.is_none() && !delay_based.is_finite() {
            return;
        }
        let present = *self.best.get_or_insert_with(|| {
            self.estimate = delay_based;
            Channel { bandwidth: delay_based, inherent_loss: self.config.inherent_loss }
        });
        let mut best = self.likeliest(&present, now, in_limited_region);
        // No growth while the average loss exceeds the channel's inherent loss.
        if self.average_loss > best.inherent_loss {
            best.bandwidth = best.bandwidth.min(present.bandwidth);
        }
        if self.is_loss_limited() {
            best.bandwidth = self.bound_growth(present.bandwidth, best.bandwidth, now);
        }
        let bounded = self.bound(best.bandwidth);
        self.best = Some(self.settle(best, bounded));
        if self.holds(bounded, now) {
            return;
        }
        self.change_state(bounded, now);
        self.estimate = bounded;
        self.open_growth_window(now);
    }

    /// The likeliest of the candidates.
    fn likeliest(&self, present: &Channel, now: SendTime, in_limited_region: bool) -> Channel {
        // While loss limits the rate, candidates stay within the window of growth.
        let bound = if self.is_loss_limited() && self.growth.bound.is_finite() {
            self.growth.bound
        } else {
            self.limits.max().bps_f64()
        };
        let padded = self.padding.lasts(now, self.config.padding);
        // An application-limited region shows nothing about the bandwidth, unless padding filled up.
        let acknowledged = self.acknowledged.filter(|_| !in_limited_region || padded);
        let delay_based = Some(self.delay_based).filter(|&rate| rate > present.bandwidth);
        let multiples = self.config.candidates.map(|factor| Some(factor * present.bandwidth));
        let model = LikelihoodModel::new(&self.config, &self.observations, self.average_loss);
        let (mut best, mut most) = (*present, f64::NEG_INFINITY);
        for bandwidth in multiples.into_iter().chain([acknowledged, delay_based]).flatten() {
            let bandwidth = bandwidth.min(bound.max(present.bandwidth));
            let candidate = model.fit(&Channel { bandwidth, ..*present });
            let objective = model.objective(&candidate);
            if objective > most {
                (best, most) = (candidate, objective);
            }
        }
        best
    }

    /// Upper bound of the bandwidth's growth while loss limits it.
    fn bound_growth(&self, present: f64, candidate: f64, now: SendTime) -> f64 {
        let mut grown = candidate;
        if self.growth.since.is_some_and(|since| since + self.config.increase_window > now) {
            grown = grown.min(self.growth.bound);
        }
        if let Some(acknowledged) = self.acknowledged
            && self.is_growing(present, grown)
        {
            // Near the rate of the last hold, where losses began, growth is slower.
            let near_hold = acknowledged < self.config.hold_threshold * self.hold.rate;
            let near_hold = near_hold && self.hold.rate.is_finite();
            let factor = if near_hold { self.config.ramp_up_in_hold } else { self.config.ramp_up };
            grown = grown.min(factor * acknowledged).max(present);
            if self.state == LossState::Decreasing && grown <= present {
                // One bit/s of growth, so that the state changes.
                grown = present + 1.0;
            }
        }
        grown
    }

    /// The bandwidth between the bounds of this instant.
    fn bound(&self, bandwidth: f64) -> f64 {
        bandwidth.min(self.upper_bound()).min(self.delay_based).max(self.lower_bound())
    }

    /// Upper bound by the average loss.
    fn upper_bound(&self) -> f64 {
        let excess = self.average_loss - self.config.bound_loss;
        if excess > 0.0 { self.config.bound_balance.bps_f64() / excess } else { self.limits.max().bps_f64() }
    }

    fn lower_bound(&self) -> f64 {
        let acknowledged = self.acknowledged.unwrap_or(0.0);
        self.limits.min().bps_f64().max(self.config.least_of_acknowledged * acknowledged)
    }

    /// The model after a step that selected `best` and bounded its bandwidth to `bounded`.
    fn settle(&self, best: Channel, bounded: f64) -> Channel {
        if self.config.bound_best && bounded < best.bandwidth {
            Channel { bandwidth: bounded, inherent_loss: 0.0 }
        } else if self.config.least_of_acknowledged > 0.0 {
            Channel { bandwidth: best.bandwidth.max(self.lower_bound()), ..best }
        } else {
            best
        }
    }

    /// Whether the estimate is held; if so, it is set to the rate of the hold.
    fn holds(&mut self, bounded: f64, now: SendTime) -> bool {
        let held = self.state == LossState::Decreasing && self.hold.lasts(now) && bounded < self.delay_based;
        if held {
            if self.config.least_of_acknowledged > 0.0 {
                self.hold.rate = self.hold.rate.max(self.lower_bound());
            }
            self.estimate = bounded.min(self.hold.rate);
        }
        held
    }

    fn change_state(&mut self, bounded: f64, now: SendTime) {
        let limited = bounded < self.delay_based && bounded < self.limits.max().bps_f64();
        if limited && self.is_growing(self.estimate, bounded) && self.may_continue_growing(bounded, now) {
            let with_padding = self.config.padding > TimeDelta::ZERO;
            if with_padding && bounded > self.padding.rate {
                self.padding = PaddingPeriod { rate: bounded, since: Some(now) };
            }
            self.state = if with_padding { LossState::IncreasingWithPadding } else { LossState::Increasing };
        } else if limited {
            // Each hold lasts longer than the one before.
            if self.state != LossState::Decreasing && self.config.hold_factor > 0.0 {
                self.hold = Hold {
                    until: Some(now + self.hold.duration),
                    duration: self.hold.duration.scale(self.config.hold_factor).min(MAX_HOLD),
                    rate: bounded,
                };
            }
            self.padding = PaddingPeriod::default();
            self.state = LossState::Decreasing;
        } else {
            self.hold = Hold::NONE;
            self.padding = PaddingPeriod::default();
            self.state = LossState::DelayBased;
        }
    }

    /// Sets a new bound for growth under loss once per window.
    fn open_growth_window(&mut self, now: SendTime) {
        // A clock that was set back must not keep the bound for ever.
        let over = self.growth.since.is_none_or(|since| (now - since).abs() > self.config.increase_window);
        if let Some(best) = self.best
            && self.is_loss_limited()
            && over
        {
            let bound = (best.bandwidth * self.config.increase).max(LEAST_WINDOW_BOUND);
            self.growth = GrowthWindow { since: Some(now), bound };
        }
    }

    fn is_loss_limited(&self) -> bool {
        self.state != LossState::DelayBased
    }

    fn is_growing(&self, from: f64, to: f64) -> bool {
        let grew = matches!(self.state, LossState::Increasing | LossState::IncreasingWithPadding);
        self.is_loss_limited() && (to > from || (to == from && grew))
    }

    /// Whether growth with padding continues: its period lasts, or the rate grows beyond that of the period.
    fn may_continue_growing(&self, rate: f64, now: SendTime) -> bool {
        self.config.padding == TimeDelta::ZERO
            || self.state != LossState::IncreasingWithPadding
            || self.padding.lasts(now, self.config.padding)
            || rate > self.padding.rate
    }
}
