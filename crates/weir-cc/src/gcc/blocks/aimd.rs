//! The rate `A` of the delay-based controller at the sender: additive or multiplicative increase, multiplicative
//! decrease (draft-ietf-rmcat-gcc-02 §5.5; libwebrtc's `AimdRateControl`).
//!
//! Three forms share it: that of the draft, that of libwebrtc in 2016 and that of today ([`AimdConfig`]).

use weir_units::{DataRate, TimeDelta};

use super::detector::BandwidthUsage;
use super::link_capacity::{LinkCapacity, LinkCapacityConfig};
use super::rate_control::RateState;
use crate::controller::RateLimits;
use crate::time::SendTime;

/// Rule of the growth of `A` near the capacity of the path.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case", deny_unknown_fields))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum Additive {
    /// Half a packet per response time and update, but not below a least increment per update; a response time
    /// counts at most once. draft-ietf-rmcat-gcc-02 §5.5.
    PerUpdate {
        /// In bit/s: 1000 in the draft.
        least: f64,
    },
    /// Half a packet per response time as a slope, but not below a least slope, over all the time that has passed.
    /// libwebrtc since 2017.
    Slope {
        /// In bit/s per second: 4000 in libwebrtc.
        least: f64,
    },
}

/// Effect of the receive rate `R` on a growing `A`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case", deny_unknown_fields))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum ReceiveRateBound {
    /// `A` never exceeds the multiple of `R`. draft-ietf-rmcat-gcc-02 §5.5.
    Ceiling,
    /// A step of growth that would exceed the multiple of `R` is refused, once `R` exceeds 100 kbit/s or `A` would
    /// exceed 150 kbit/s. `A` is not pulled down. libwebrtc in 2016.
    Refusal,
    /// Growth ends at the multiple of `R` plus a margin; `A` is not pulled down. libwebrtc today.
    Limit {
        /// In bit/s: 10 000 in libwebrtc.
        margin: f64,
    },
}

/// Constants of the rate control.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct AimdConfig {
    /// `η`, multiplicative growth per second, above 1. draft-ietf-rmcat-gcc-02 §5.5.
    pub increase: f64,
    /// Least multiplicative step in bit/s. libwebrtc; 0 in the draft.
    pub least_increase: f64,
    /// Growth near the capacity.
    pub additive: Additive,
    /// Whether growth is additive only while `R` lies within the spread of `C̄` (the draft), or as long as `C̄` is
    /// known (libwebrtc).
    pub additive_only_near: bool,
    /// `β`, share of `R` that is left after over-use, in (0, 1). draft-ietf-rmcat-gcc-02 §5.5.
    pub decrease: f64,
    /// Additional decrease after over-use, in bit/s. libwebrtc since September 2023; 0 before.
    pub extra_decrease: f64,
    /// Effect of `R` on a growing `A`.
    pub bound: ReceiveRateBound,
    /// The multiple of `R` in it, at least 1. draft-ietf-rmcat-gcc-02 §5.5.
    pub bound_factor: f64,
    /// Whether the state is Hold at the beginning and again right after a decrease, as in libwebrtc. Otherwise it
    /// is Increase at the beginning and Decrease until the signal changes, as in the draft.
    pub returns_to_hold: bool,
    /// `R` below this share of `A` lets `A` fall again before the interval between decreases has passed. libwebrtc.
    pub far_below: f64,
    /// Round-trip time while none is known. libwebrtc.
    pub default_rtt: TimeDelta,
    /// `C̄` and its spread.
    pub link_capacity: LinkCapacityConfig,
}

impl AimdConfig {
    /// draft-ietf-rmcat-gcc-02 §5.5.
    pub fn draft_02() -> Self {
        Self {
            increase: 1.08,
            least_increase: 0.0,
            additive: Additive::PerUpdate { least: 1000.0 },
            additive_only_near: true,
            decrease: 0.85,
            extra_decrease: 0.0,
            bound: ReceiveRateBound::Ceiling,
            bound_factor: 1.5,
            returns_to_hold: false,
            far_below: 0.5,
            default_rtt: TimeDelta::from_millis(200),
            link_capacity: LinkCapacityConfig::default(),
        }
    }

    /// libwebrtc of 2016.
    pub fn libwebrtc_2016() -> Self {
        Self {
            least_increase: 1000.0,
            additive_only_near: false,
            bound: ReceiveRateBound::Refusal,
            returns_to_hold: true,
            // A − R > 1.05·R.
            far_below: 1.0 / 2.05,
            ..Self::draft_02()
        }
    }

    /// libwebrtc of June 2025; the source of December 2024 has the same.
    pub fn libwebrtc_2025() -> Self {
        Self {
            additive: Additive::Slope { least: 4000.0 },
            extra_decrease: 5000.0,
            bound: ReceiveRateBound::Limit { margin: 10_000.0 },
            far_below: 0.5,
            link_capacity: LinkCapacityConfig { whole_kbps: true, ..LinkCapacityConfig::default() },
            ..Self::libwebrtc_2016()
        }
    }

    /// Rules of all constants: the name, whether its value is valid, and the valid range.
    pub fn rules(&self) -> [(&'static str, bool, &'static str); 9] {
        let amount = |v: f64| v >= 0.0 && v.is_finite();
        let least = match self.additive {
            Additive::PerUpdate { least } | Additive::Slope { least } => least,
        };
        let margin = match self.bound {
            ReceiveRateBound::Limit { margin } => margin,
            ReceiveRateBound::Ceiling | ReceiveRateBound::Refusal => 0.0,
        };
        [
            ("increase", self.increase > 1.0 && self.increase.is_finite(), "above 1"),
            ("least_increase", amount(self.least_increase), "0 or above"),
            ("additive", amount(least), "0 or above"),
            ("decrease", self.decrease > 0.0 && self.decrease < 1.0, "in (0, 1)"),
            ("extra_decrease", amount(self.extra_decrease), "0 or above"),
            ("bound", amount(margin), "0 or above"),
            ("bound_factor", self.bound_factor >= 1.0 && self.bound_factor.is_finite(), "at least 1"),
            ("far_below", (0.0..=1.0).contains(&self.far_below), "in [0, 1]"),
            ("default_rtt", self.default_rtt > TimeDelta::ZERO, "longer than 0"),
        ]
    }
}

impl Default for AimdConfig {
    fn default() -> Self {
        Self::libwebrtc_2025()
    }
}

/// Addition to a round-trip time that gives a response time. draft-ietf-rmcat-gcc-02 §5.5.
const RESPONSE_MARGIN: TimeDelta = TimeDelta::from_millis(100);
/// Frames per second and bits per packet by which the draft estimates the size of a packet.
const FRAMES_PER_SECOND: f64 = 30.0;
const PACKET_BITS: f64 = 1200.0 * 8.0;
/// Least and greatest interval between two decreases, which is a round-trip time otherwise. libwebrtc.
const MIN_REDUCTION_INTERVAL: TimeDelta = TimeDelta::from_millis(10);
const MAX_REDUCTION_INTERVAL: TimeDelta = TimeDelta::from_millis(200);

/// `A`, the rate of the delay-based controller.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Aimd {
    config: AimdConfig,
    limits: RateLimits,
    state: RateState,
    /// `A` in bit/s.
    rate: f64,
    /// The last known `R`; before that the start rate.
    received: DataRate,
    capacity: LinkCapacity,
    rtt: TimeDelta,
    /// Time when `A` was last allowed to change, or `None` before the first update.
    changed: Option<SendTime>,
}

impl Aimd {
    /// A controller at the start rate.
    pub(crate) fn new(config: AimdConfig, limits: RateLimits) -> Self {
        Self {
            config,
            limits,
            state: if config.returns_to_hold { RateState::Hold } else { RateState::Increase },
            rate: limits.start().bps_f64(),
            received: limits.start(),
            capacity: LinkCapacity::new(config.link_capacity),
            rtt: config.default_rtt,
            changed: None,
        }
    }

    /// Resets everything to the start rate of `limits`.
    pub(crate) fn restart(&mut self, limits: RateLimits) {
        *self = Self::new(self.config, limits);
    }

    /// Sets new bounds and limits `A` to them.
    pub(crate) fn set_limits(&mut self, limits: RateLimits) {
        self.limits = limits;
        self.rate = limits.clamp_bps(self.rate);
    }

    /// Sets the round-trip time, on which additive growth and the interval between decreases depend.
    pub(crate) fn set_rtt(&mut self, rtt: TimeDelta) {
        self.rtt = rtt.max(TimeDelta::ZERO);
    }

    /// Scales `A` by `factor` for coupling, to `share` (bit/s) of the target that it bounds. The time of growth and
    /// the wait after a change continue.
    pub(crate) fn scale(&mut self, factor: f64, share: f64) {
        self.rate = self.limits.clamp_bps(self.rate * factor).max(share);
        self.received = self.received.scale(factor);
    }

    /// Sets `A` to `rate` (bit/s), after a probe or at the start.
    pub(crate) fn set_rate(&mut self, rate: f64, now: SendTime) {
        self.rate = self.limits.clamp_bps(rate);
        self.changed = Some(now);
    }

    /// `A` in bit/s.
    pub(crate) fn rate(&self) -> f64 {
        self.rate
    }

    /// The state machine's state.
    pub(crate) fn state(&self) -> RateState {
        self.state
    }

    /// `C̄`.
    pub(crate) fn capacity(&self) -> &LinkCapacity {
        &self.capacity
    }

    /// Whether a persisting over-use may lower `A` again: a round-trip time after the last change, or at once if
    /// `R` is far below `A`.
    pub(crate) fn may_reduce_again(&self, received: Option<DataRate>, now: SendTime) -> bool {
        self.changed.is_none_or(|changed| (now - changed).abs() >= self.reduction_interval())
            || received.is_some_and(|r| r.bps_f64() < self.config.far_below * self.rate)
    }

    /// Time for which a reduction can show its effect before the next one.
    pub(crate) fn reduction_interval(&self) -> TimeDelta {
        self.rtt.clamp(MIN_REDUCTION_INTERVAL, MAX_REDUCTION_INTERVAL)
    }

    /// Halves `A` after over-use while `R` is unknown.
    pub(crate) fn halve(&mut self, now: SendTime) {
        self.set_rate(self.rate / 2.0, now);
    }

    /// Takes the detector's state and `R` at `now`; if `R` is unknown, the last known value counts. Returns `A` in
    /// bit/s.
    pub(crate) fn update(&mut self, usage: BandwidthUsage, received: Option<DataRate>, now: SendTime) -> f64 {
        self.received = received.unwrap_or(self.received);
        let before = self.state;
        self.state = before.after(usage);
        match self.state {
            RateState::Hold => {}
            RateState::Increase => {
                // From Hold the time of growth begins now.
                let since = if before == RateState::Hold { Some(now) } else { self.changed };
                self.increase(since.map(|since| now - since));
                self.changed = Some(now);
            }
            RateState::Decrease => {
                self.decrease();
                self.changed = Some(now);
            }
        }
        self.rate = self.limits.clamp_bps(self.rate);
        self.rate
    }

    fn increase(&mut self, elapsed: Option<TimeDelta>) {
        let received = self.received.bps_f64();
        // R above C̄ + 3σ: the capacity has grown, and is estimated anew (draft-ietf-rmcat-gcc-02 §5.5).
        if self.capacity.is_exceeded_by(self.received) {
            self.capacity.clear();
        }
        let grown = self.rate + self.increment(elapsed);
        let bound = self.config.bound_factor * received;
        self.rate = match self.config.bound {
            ReceiveRateBound::Ceiling => grown.min(bound),
            ReceiveRateBound::Refusal if grown > bound && (received > 100e3 || grown > 150e3) => self.rate,
            ReceiveRateBound::Refusal => grown,
            ReceiveRateBound::Limit { margin } => grown.min(bound + margin).max(self.rate),
        };
    }

    /// Growth of `A` in bit/s; `elapsed` is the time since the previous update (`None` at the first).
    fn increment(&self, elapsed: Option<TimeDelta>) -> f64 {
        let near = !self.config.additive_only_near || !self.capacity.is_undercut_by(self.received);
        // Near C̄ growth is additive, elsewhere multiplicative (draft-ietf-rmcat-gcc-02 §5.5).
        if self.capacity.mean().is_some() && near {
            return self.additive(elapsed.unwrap_or(TimeDelta::ZERO).max(TimeDelta::ZERO));
        }
        // Growth of at most a second, however late the update is.
        let seconds = elapsed.map_or(1.0, |elapsed| elapsed.secs_f64().clamp(0.0, 1.0));
        let factor = libm::pow(self.config.increase, seconds);
        (self.rate * (factor - 1.0)).max(self.config.least_increase)
    }

    fn additive(&self, elapsed: TimeDelta) -> f64 {
        // The size of a packet, by that of a frame.
        let frame = self.rate / FRAMES_PER_SECOND;
        let packet = frame / libm::ceil(frame / PACKET_BITS).max(1.0);
        let response = (RESPONSE_MARGIN + self.rtt).secs_f64();
        match self.config.additive {
            Additive::PerUpdate { least } => {
                (0.5 * (elapsed.secs_f64() / response).min(1.0) * packet).max(least)
            }
            Additive::Slope { least } => elapsed.secs_f64() * (packet / (2.0 * response)).max(least),
        }
    }

    fn decrease(&mut self) {
        let AimdConfig { decrease, extra_decrease, .. } = self.config;
        let mut lowered = decrease * self.received.bps_f64();
        if lowered > extra_decrease {
            lowered -= extra_decrease;
        }
        // R above A: the estimate of the capacity knows better, if there is one.
        if lowered > self.rate {
            lowered = self.capacity.mean().map_or(lowered, |capacity| decrease * capacity);
        }
        self.rate = self.rate.min(lowered);
        // R below C̄ − 3σ: the capacity has fallen, and is estimated anew.
        if self.capacity.is_undercut_by(self.received) {
            self.capacity.clear();
        }
        self.capacity.on_overuse(self.received);
        if self.config.returns_to_hold {
            self.state = RateState::Hold;
        }
    }
}

#[cfg(test)]
mod tests;
