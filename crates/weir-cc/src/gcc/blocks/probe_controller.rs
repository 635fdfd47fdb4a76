//! Times and rates of probes (libwebrtc's `ProbeController`, June 2025).
//!
//! The controller reports estimates, application-limited regions, the end of over-use and bounds, and polls probes
//! with [`ProbeController::poll`]. The [probe estimator](super::probe_estimator::ProbeEstimator) measures them, and
//! its results return here as estimates.

use weir_units::{DataRate, TimeDelta};

use crate::controller::{Probe, RateLimits};
use crate::packet::ProbeId;
use crate::time::SendTime;

/// Greatest number of probes requested at once.
const MAX_PROBES: usize = 2;
/// Greatest rate of a probe if there is no maximum (libwebrtc).
const MAX_UNBOUNDED_RATE: DataRate = DataRate::from_kbps(5000);
/// Interval after which a probe is tried again that is due and may not be sent (libwebrtc's process interval).
const RETRY_INTERVAL: TimeDelta = TimeDelta::from_millis(25);

/// Rates and times of probing. Rates are factors.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct ProbeControllerConfig {
    /// Rates of the first two probes, as multiples of the start rate.
    pub initial: [f64; MAX_PROBES],
    /// Share of the last probe's rate above which the estimate leads to a further probe.
    pub further_threshold: f64,
    /// Rate of a further probe, as a multiple of the estimate.
    pub further_step: f64,
    /// Longest wait for a result.
    pub wait: TimeDelta,
    /// Least number of packets in a probe.
    pub min_packets: u32,
    /// Duration of a probe.
    pub duration: TimeDelta,
    /// Whether to probe each [`Self::alr_interval`] in an application-limited region.
    pub alr_periodic: PeriodicProbes,
    /// Interval of these probes, and time from the beginning of the region to the first one.
    pub alr_interval: TimeDelta,
    /// Rate of such a probe, as a multiple of the estimate.
    pub alr_scale: f64,
    /// Greatest rate of a probe as a multiple of the estimate, while loss limits the rate and it grows.
    pub loss_limited_scale: f64,
    /// Greatest rate of a probe as a multiple of the streams' usable rate.
    pub allocation_bound: f64,
    /// Rates of probes after the usable rate of the streams has grown, as multiples of it.
    pub allocation: [f64; MAX_PROBES],
    /// Greatest rate of these probes as a multiple of the estimate.
    pub allocation_estimate_bound: f64,
    /// Rules of probes that recover a dropped estimate.
    pub recovery: RecoveryConfig,
    /// Whether to probe each second in the first 5 s, at the first of [`Self::initial`], while the usable rate of
    /// the streams is zero.
    pub repeat_initial: bool,
    /// Duration of these repeated probes.
    pub repeat_for: TimeDelta,
    /// Duration of one such probe.
    pub repeat_duration: TimeDelta,
}

/// Condition of periodic probes in an application-limited region.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum PeriodicProbes {
    /// For a camera and for a screen.
    Always,
    /// Only if a screen is shared, because a camera fills its target rate soon. libwebrtc.
    #[default]
    Screen,
    /// No periodic probes.
    Never,
}

/// Conditions of a probe for the estimate from before a drop.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct RecoveryConfig {
    /// Share of the estimate below which a new estimate is a drop.
    pub drop: f64,
    /// Time for which a drop is remembered.
    pub memory: TimeDelta,
    /// Rate of the probe as a share of the estimate before the drop.
    pub share: f64,
    /// Share by which the result may be lower than the probe's rate: the probe is sent if even that exceeds the
    /// estimate.
    pub uncertainty: f64,
    /// Time since an application-limited region within which such a probe is allowed.
    pub alr_memory: TimeDelta,
    /// Least interval between two such probes.
    pub interval: TimeDelta,
}

impl Default for ProbeControllerConfig {
    fn default() -> Self {
        Self::LIBWEBRTC_2025
    }
}

impl ProbeControllerConfig {
    /// libwebrtc of June 2025.
    pub const LIBWEBRTC_2025: Self = Self {
        initial: [3.0, 6.0],
        further_threshold: 0.7,
        further_step: 2.0,
        wait: TimeDelta::from_secs(1),
        min_packets: 5,
        duration: TimeDelta::from_millis(15),
        alr_periodic: PeriodicProbes::Screen,
        alr_interval: TimeDelta::from_secs(5),
        alr_scale: 2.0,
        loss_limited_scale: 1.5,
        allocation_bound: 2.0,
        allocation: [1.0, 2.0],
        allocation_estimate_bound: 2.0,
        recovery: RecoveryConfig {
            drop: 0.66,
            memory: TimeDelta::from_secs(5),
            share: 0.85,
            uncertainty: 0.05,
            alr_memory: TimeDelta::from_secs(3),
            interval: TimeDelta::from_secs(5),
        },
        repeat_initial: false,
        repeat_for: TimeDelta::from_secs(5),
        repeat_duration: TimeDelta::from_millis(100),
    };
}

impl Default for RecoveryConfig {
    fn default() -> Self {
        ProbeControllerConfig::LIBWEBRTC_2025.recovery
    }
}

/// Factor that limits the estimate, as far as probing depends on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum EstimateLimit {
    /// The delay-based estimate, and the detector sees normal use: probing is allowed.
    #[default]
    Delay,
    /// The detector sees over-use or under-use.
    DelayIncreased,
    /// Loss, but the estimate grows: careful probing is allowed.
    LossIncreasing,
    /// Loss, and the estimate falls or is tested with padding.
    Loss,
    /// The round-trip time.
    Rtt,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    /// No probe has been requested.
    Init,
    /// Results may lead to a further probe if the estimate exceeds this.
    Waiting(DataRate),
    /// No result is awaited.
    Complete,
}

/// Controller that decides when to probe, and at what rate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProbeController {
    config: ProbeControllerConfig,
    state: State,
    limits: RateLimits,
    estimate: DataRate,
    limited: EstimateLimit,
    allocated: Option<DataRate>,
    /// Whether a screen is shared.
    screen: bool,
    /// Time at which the last probes were requested.
    requested_at: SendTime,
    /// Time at which a probe that was due and could not be sent is tried again.
    retry: Option<SendTime>,
    repeat_until: Option<SendTime>,
    alr_since: Option<SendTime>,
    alr_ended: Option<SendTime>,
    /// Time of the last drop of the estimate, and the estimate before it.
    dropped: Option<(SendTime, DataRate)>,
    recovered: Option<SendTime>,
    next_id: ProbeId,
    pending: [Option<Probe>; MAX_PROBES],
}

impl ProbeController {
    /// A controller that has not probed yet.
    pub(crate) fn new(config: ProbeControllerConfig, limits: RateLimits) -> Self {
        Self {
            config,
            state: State::Init,
            limits,
            estimate: limits.start(),
            limited: EstimateLimit::Delay,
            allocated: None,
            screen: false,
            requested_at: SendTime::ZERO,
            retry: None,
            repeat_until: None,
            alr_since: None,
            alr_ended: None,
            dropped: None,
            recovered: None,
            next_id: ProbeId::MIN,
            pending: [None; MAX_PROBES],
        }
    }

    /// Resets all except the streams, for another path at `now` or for a restart, with these bounds. Probing starts
    /// again with [`Self::start`].
    pub(crate) fn restart(&mut self, now: SendTime, limits: RateLimits) {
        let Self { allocated, screen, next_id, .. } = *self;
        *self = Self { allocated, screen, next_id, recovered: Some(now), ..Self::new(self.config, limits) };
    }

    /// Requests the first probes, once, when the first packets can be sent.
    pub(crate) fn start(&mut self, now: SendTime) {
        if self.state != State::Init {
            return;
        }
        if self.config.repeat_initial && self.allocated.is_none() {
            self.repeat_until = Some(now + self.config.repeat_for);
        }
        let start = self.limits.start();
        self.probe(now, &self.config.initial.map(|factor| start.scale(factor)), true);
    }

    /// Takes the estimate `rate` and the factor that limits it.
    pub(crate) fn on_estimate(&mut self, now: SendTime, rate: DataRate, limited: EstimateLimit) {
        self.rewind(now);
        self.limited = limited;
        if rate < self.estimate.scale(self.config.recovery.drop) {
            self.dropped = Some((now, self.estimate));
        }
        self.estimate = rate;
        // The path carried most of the last probe: a further one tests more.
        if let State::Waiting(further) = self.state
            && rate > further
        {
            self.probe(now, &[rate.scale(self.config.further_step)], true);
        }
    }

    /// Scales the estimate by `factor` for coupling, which is no reason to probe.
    pub(crate) fn scale(&mut self, factor: f64) {
        self.estimate = self.estimate.scale(factor);
        self.dropped = self.dropped.map(|(at, rate)| (at, rate.scale(factor)));
        if let State::Waiting(further) = &mut self.state {
            *further = further.scale(factor);
        }
    }

    /// Reports, as seen at `now`, the start of the present application-limited region, or `None` if there is none.
    pub(crate) fn on_alr(&mut self, now: SendTime, since: Option<SendTime>) {
        if self.alr_since.is_some() && since.is_none() {
            self.alr_ended = Some(now);
        }
        self.alr_since = since;
    }

    /// Takes the return to normal use after under-use: probes for the estimate before a drop.
    pub(crate) fn on_recovered(&mut self, now: SendTime) {
        self.rewind(now);
        let recovery = self.config.recovery;
        let limited_lately =
            self.alr_since.is_some() || self.alr_ended.is_some_and(|ended| now - ended < recovery.alr_memory);
        let Some((_, before)) = self.dropped.filter(|(at, _)| now - *at < recovery.memory) else { return };
        let rate = before.scale(recovery.share);
        let promising = rate.scale(1.0 - recovery.uncertainty) > self.estimate;
        let too_soon = self.recovered.is_some_and(|last| now - last <= recovery.interval);
        if limited_lately && self.state == State::Complete && promising && !too_soon {
            self.recovered = Some(now);
            self.probe(now, &[rate], false);
        }
    }

    /// Sets new bounds. Probes for a raised maximum.
    pub(crate) fn set_limits(&mut self, now: SendTime, limits: RateLimits) {
        let before = self.most();
        self.limits = limits;
        let most = self.most();
        if self.state == State::Complete && most > before && self.estimate < most {
            self.probe(now, &[most], false);
        }
    }

    /// Sets whether a screen is shared.
    pub(crate) fn set_screen(&mut self, screen: bool) {
        self.screen = screen;
    }

    /// Sets the usable rate of all streams together. If it has grown in an application-limited region, it is probed.
    pub(crate) fn set_allocated(&mut self, now: SendTime, rate: DataRate) {
        self.repeat_until = None;
        let changed = self.allocated.replace(rate) != Some(rate);
        let room = self.estimate < self.most() && self.estimate < rate;
        if self.state != State::Complete || !changed || !room || self.alr_since.is_none() {
            return;
        }
        let bound = self.estimate.scale(self.config.allocation_estimate_bound);
        let [first, second] = self.config.allocation.map(|factor| rate.scale(factor));
        // The second probe is left out where the bound or the first one covers it.
        if bound < first {
            self.probe(now, &[bound], true);
        } else if second.min(bound) > first {
            self.probe(now, &[first, second.min(bound)], bound < second);
        } else {
            self.probe(now, &[first], bound < second);
        }
    }

    /// Handles the timeout of [`Self::next_timeout`]. An early or repeated call has no effect.
    pub(crate) fn on_timeout(&mut self, now: SendTime) {
        self.rewind(now);
        if matches!(self.state, State::Waiting(_)) && now - self.requested_at > self.config.wait {
            self.state = State::Complete;
        }
        if self.state != State::Complete || self.retry.is_some_and(|retry| now < retry) {
            return;
        }
        if self.repetition_due().is_some_and(|due| now >= due) {
            self.probe(now, &[self.estimate.scale(self.config.initial[0])], true);
        } else if self.periodic_due().is_some_and(|due| now >= due) {
            self.probe(now, &[self.estimate.scale(self.config.alr_scale)], true);
        }
    }

    /// Time of the next call of [`Self::on_timeout`]; after `on_timeout(t)` later than `t`.
    #[cfg(test)]
    pub(crate) fn next_timeout(&self) -> Option<SendTime> {
        match self.state {
            State::Init => None,
            State::Waiting(_) => Some(self.requested_at + self.config.wait + TimeDelta::from_nanos(1)),
            State::Complete => {
                let due = self.repetition_due().into_iter().chain(self.periodic_due()).min()?;
                Some(self.retry.map_or(due, |retry| due.max(retry)))
            }
        }
    }

    /// The next probe to send; each is returned once.
    pub(crate) fn poll(&mut self) -> Option<Probe> {
        self.pending.iter_mut().find_map(Option::take)
    }

    /// Limits stored times after the sender's clock was set back: past times are at most `now`, and awaited times are
    /// not further away than at their start.
    fn rewind(&mut self, now: SendTime) {
        let past = |at: &mut SendTime| *at = now.min(*at);
        past(&mut self.requested_at);
        self.dropped.iter_mut().for_each(|(at, _)| past(at));
        [&mut self.alr_since, &mut self.alr_ended, &mut self.recovered].into_iter().flatten().for_each(past);
        self.retry = self.retry.map(|retry| retry.min(now + RETRY_INTERVAL));
        self.repeat_until = self.repeat_until.map(|until| until.min(now + self.config.repeat_for));
    }

    fn periodic_due(&self) -> Option<SendTime> {
        let wanted = match self.config.alr_periodic {
            PeriodicProbes::Always => true,
            PeriodicProbes::Screen => self.screen,
            PeriodicProbes::Never => false,
        };
        let since = self.alr_since.filter(|_| wanted)?;
        Some(since.max(self.requested_at) + self.config.alr_interval)
    }

    fn repetition_due(&self) -> Option<SendTime> {
        let due = self.requested_at + self.config.wait;
        self.repeat_until.filter(|&until| due < until).map(|_| due)
    }

    /// Upper bound of every probe, whatever the streams can use.
    fn most(&self) -> DataRate {
        if self.limits.max() == DataRate::MAX { MAX_UNBOUNDED_RATE } else { self.limits.max() }
    }

    /// Requests probes of these rates, as far as the limit of the estimate allows. With `further` their results may
    /// lead to another probe.
    fn probe(&mut self, now: SendTime, rates: &[DataRate], mut further: bool) {
        let mut bound = self.most();
        if let Some(allocated) = self.allocated.filter(|rate| !rate.is_zero()) {
            bound = bound.min(allocated.scale(self.config.allocation_bound));
        }
        // Under congestion a probe would add to the queue or to the losses.
        match self.limited {
            EstimateLimit::DelayIncreased | EstimateLimit::Loss | EstimateLimit::Rtt => {
                self.retry = Some(now + RETRY_INTERVAL);
                return;
            }
            EstimateLimit::LossIncreasing => {
                bound = bound.min(self.estimate.scale(self.config.loss_limited_scale));
            }
            EstimateLimit::Delay => {}
        }
        let duration = match self.repeat_until {
            Some(until) if now < until => self.config.repeat_duration,
            _ => self.config.duration,
        };
        self.pending = [None; MAX_PROBES];
        let mut last = DataRate::ZERO;
        for (pending, &rate) in self.pending.iter_mut().zip(rates) {
            // A probe at the bound leads to no further one.
            further &= rate < bound;
            last = rate.min(bound);
            let id = self.next_id;
            self.next_id = id.checked_add(1).unwrap_or(ProbeId::MIN);
            let packets = self.config.min_packets;
            *pending = Some(Probe { id, rate: last, packets, size: last * duration });
        }
        self.requested_at = now;
        self.retry = None;
        self.state =
            if further { State::Waiting(last.scale(self.config.further_threshold)) } else { State::Complete };
    }
}

#[cfg(test)]
mod tests;
