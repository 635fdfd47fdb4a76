//! The target: the least of the rates allowed by delay, loss and the receiver (libwebrtc's
//! `SendSideBandwidthEstimation`).

use weir_units::{DataRate, TimeDelta};

use super::config::Config;
use crate::controller::{LimitingFactor, RateLimits};
use crate::decision::ChangeReason;
use crate::gcc::blocks::loss::LossVerdict;
use crate::gcc::blocks::loss_based_v1::LossBasedV1;
use crate::gcc::blocks::loss_based_v2::{LossBasedV2, LossState};
use crate::gcc::blocks::rtt_backoff::RttBackoff;
use crate::packet::PacketResult;
use crate::time::SendTime;

/// The target rate and its inputs; rates are in bit/s.
#[derive(Clone, Debug)]
pub(super) struct TargetRate {
    limits: RateLimits,
    v1: LossBasedV1,
    v2: Option<LossBasedV2>,
    in_start_phase: bool,
    backoff: RttBackoff,
    /// The delay-based estimate; infinite before the first.
    delay_based: f64,
    /// The receiver's ceiling; infinite without one.
    ceiling: f64,
    /// The target before the ceiling.
    rate: f64,
    loss_state: LossState,
    rtt: TimeDelta,
    /// Factor that limits `rate`: loss, or the round-trip time.
    limited_by: Option<LimitingFactor>,
}

impl TargetRate {
    pub(super) fn new(config: &Config, limits: RateLimits) -> Self {
        Self {
            limits,
            v1: LossBasedV1::new(config.loss_v1),
            v2: config.use_loss_v2.then(|| LossBasedV2::new(config.loss_v2, limits)),
            in_start_phase: config.use_loss_v2 && config.loss_v2.in_start_phase,
            backoff: RttBackoff::new(config.rtt_backoff),
            delay_based: f64::INFINITY,
            ceiling: f64::INFINITY,
            rate: limits.start().bps_f64(),
            loss_state: LossState::DelayBased,
            rtt: TimeDelta::ZERO,
            limited_by: None,
        }
    }

    /// Resets everything to the start rate of `limits`.
    pub(super) fn restart(&mut self, limits: RateLimits) {
        // All fields by name, so that none is forgotten.
        let Self {
            limits: bounds,
            v1,
            v2,
            in_start_phase: _,
            backoff,
            delay_based,
            ceiling,
            rate,
            loss_state,
            rtt,
            limited_by,
        } = self;
        *bounds = limits;
        v1.restart();
        if let Some(v2) = v2 {
            v2.restart(limits);
        }
        backoff.restart();
        (*delay_based, *ceiling) = (f64::INFINITY, f64::INFINITY);
        *rate = limits.start().bps_f64();
        *loss_state = LossState::DelayBased;
        *rtt = TimeDelta::ZERO;
        *limited_by = None;
    }

    /// The target.
    pub(super) fn rate(&self) -> f64 {
        self.limits.clamp_bps(self.rate.min(self.ceiling))
    }

    /// Limit of the target, if it is not the delay-based estimate.
    pub(super) fn limited_by(&self) -> Option<LimitingFactor> {
        if self.rate > self.ceiling { Some(LimitingFactor::Receiver) } else { self.limited_by }
    }

    /// Reason of a lower target.
    pub(super) fn why(&self) -> ChangeReason {
        match self.limited_by {
            _ if self.rate > self.ceiling => ChangeReason::Ceiling,
            Some(LimitingFactor::Loss) => ChangeReason::Loss,
            Some(LimitingFactor::Silence) => ChangeReason::Timeout,
            _ => ChangeReason::Delay,
        }
    }

    /// Whether losses are lowering the target.
    pub(super) fn is_cut_by_loss(&self) -> bool {
        self.limited_by == Some(LimitingFactor::Loss) && self.loss_state == LossState::Decreasing
    }

    pub(super) fn loss_state(&self) -> LossState {
        self.loss_state
    }

    pub(super) fn v2(&self) -> Option<&LossBasedV2> {
        self.v2.as_ref()
    }

    pub(super) fn v1(&self) -> &LossBasedV1 {
        &self.v1
    }

    pub(super) fn backoff(&self) -> &RttBackoff {
        &self.backoff
    }

    pub(super) fn set_limits(&mut self, limits: RateLimits) {
        self.limits = limits;
        if let Some(v2) = &mut self.v2 {
            v2.set_limits(limits);
        }
        self.set(self.rate);
    }

    pub(super) fn set_ceiling(&mut self, ceiling: f64) {
        self.ceiling = ceiling;
    }

    pub(super) fn on_sent(&mut self, at: SendTime) {
        self.backoff.on_sent(at);
    }

    /// Takes the shortest round-trip time of a feedback, without the time that packets waited. The back-off depends
    /// on it.
    pub(super) fn on_rounds(&mut self, shortest: TimeDelta) {
        self.backoff.on_rtt(shortest);
    }

    /// Sets the round-trip time of the older loss controller.
    pub(super) fn set_rtt(&mut self, rtt: TimeDelta) {
        if rtt > TimeDelta::ZERO {
            self.rtt = rtt;
        }
    }

    /// Takes the fates that the older loss controller counts if no receiver report covers losses.
    pub(super) fn on_results(&mut self, results: &[PacketResult], now: SendTime) {
        if self.v1.on_results(results, now) {
            self.update(now);
        }
    }

    /// Takes a receiver report: `lost` more packets, less late ones, of `expected`.
    pub(super) fn on_losses(&mut self, (lost, expected): (i64, u64), now: SendTime) {
        if self.v1.on_report(lost, expected, now) {
            self.update(now);
        }
    }

    pub(super) fn set_acknowledged(&mut self, rate: f64) {
        if let Some(v2) = &mut self.v2 {
            v2.set_acknowledged(rate);
        }
    }

    /// Sets the delay-based estimate to `rate`. The result of a probe is not bounded by the previous rate.
    pub(super) fn set_delay_based(&mut self, rate: f64, replace: bool) {
        self.delay_based = rate;
        if replace {
            self.v1.forget_rates();
        }
        self.set(if replace { rate } else { self.rate });
    }

    /// Scales every rate of the controller by `factor` for coupling, to `share` of the target.
    pub(super) fn scale(&mut self, share: f64, factor: f64) {
        self.rate = share;
        self.delay_based = share.max(self.delay_based * factor);
        self.v1.scale_rates(factor);
        if let Some(v2) = &mut self.v2 {
            v2.scale(factor);
        }
    }

    /// `rate`, limited to the receiver's ceiling.
    pub(super) fn below_ceiling(&self, rate: DataRate) -> DataRate {
        if self.ceiling.is_finite() { rate.min(DataRate::from_bps_f64(self.ceiling)) } else { rate }
    }

    /// Takes the fates that the newer loss controller observes, and computes the target.
    pub(super) fn observe(&mut self, results: &[PacketResult], in_limited_region: bool, now: SendTime) {
        if let Some(v2) = &mut self.v2 {
            v2.update(results, self.delay_based, in_limited_region);
            self.update(now);
        }
    }

    /// Computes the target; to be called with each feedback and tick.
    pub(super) fn update(&mut self, now: SendTime) {
        // While the round-trip time is above its limit only the back-off changes the rate.
        if self.backoff.is_above_limit() {
            self.back_off(now);
            return;
        }
        self.limited_by = None;
        let loss_decides = self.v2.as_ref().is_some_and(|v2| v2.result().is_some() && self.in_start_phase);
        let trusted = self.delay_based.is_finite() && self.v1.is_starting(now) && !loss_decides;
        // Start phase without losses: the delay-based estimate, which probes raise, is taken at once.
        if trusted && self.delay_based > self.rate {
            self.v1.forget_rates();
            self.v1.remember(self.rate, now);
            self.set(self.delay_based);
            return;
        }
        self.v1.remember(self.rate, now);
        if self.v1.has_report() {
            self.apply_loss(now);
        }
    }

    fn apply_loss(&mut self, now: SendTime) {
        if let Some((rate, state)) = self.v2.as_ref().and_then(LossBasedV2::result) {
            self.loss_state = state;
            self.limited_by = (state != LossState::DelayBased).then_some(LimitingFactor::Loss);
            self.set(rate);
            return;
        }
        let (rate, verdict) = self.v1.update(self.rate, self.rtt, now);
        let lossy = verdict != LossVerdict::Increase && self.v1.loss_ratio() > 0.0;
        self.limited_by = lossy.then_some(LimitingFactor::Loss);
        self.set(rate);
    }

    fn back_off(&mut self, now: SendTime) {
        if self.rate > self.limits.min().bps_f64()
            && let Some((factor, limited_by)) = self.backoff.step(now)
        {
            self.limited_by = Some(limited_by);
            // The receiver's ceiling is no reason to begin at a higher rate.
            self.set(self.rate() * factor);
        }
    }

    /// Sets the rate within the bounds of the delay-based estimate and the limits.
    fn set(&mut self, rate: f64) {
        self.rate = self.limits.clamp_bps(rate.min(self.delay_based));
    }
}

/// The target as published to encoder, pacer and the dependent parts. The next packet, tick or feedback publishes a change.
#[derive(Clone, Copy, Debug)]
pub(super) struct PublishedTarget {
    /// In bit/s.
    pub(super) rate: f64,
    /// Whether padding fills the target.
    pub(super) pads: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_a_restart_it_is_as_new() {
        let limits = |kbps| {
            let [min, start, max] = [50, kbps, 8000].map(DataRate::from_kbps);
            RateLimits::new(min, start, max).unwrap()
        };
        let (config, at) = (Config::default(), SendTime::from_millis);
        let mut target = TargetRate::new(&config, limits(1000));
        target.set_ceiling(4e5);
        target.set_delay_based(9e5, true);
        target.set_rtt(TimeDelta::from_millis(80));
        target.on_sent(at(10));
        target.on_rounds(TimeDelta::from_secs(5));
        target.on_sent(at(20));
        target.on_losses((50, 100), at(30));
        target.update(at(5000));
        target.set_acknowledged(7e5);
        let used = format!("{target:?}");
        target.restart(limits(600));
        let new = format!("{:?}", TargetRate::new(&config, limits(600)));
        assert_ne!(used, new);
        assert_eq!(format!("{target:?}"), new);
    }
}
