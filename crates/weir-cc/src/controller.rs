//! The interface of every controller: a sender half, a receiver half, and the observer of arrivals that a receiver
//! half may be.

use core::fmt::Debug;

use weir_units::{DataRate, DataSize, TimeDelta};

use crate::decision::{AllocatedRate, ChangeReason, Decision};
use crate::packet::{Arrival, ProbeId, SendState, SentPacket, Stamp};
use crate::report::{Feedback, NativeReport, Report, ReportKind};
use crate::time::{ArrivalTime, SendTime};

/// The sender half of a controller. The caller passes the time; a controller reads no clock. No call blocks,
/// allocates in steady state or panics, whatever the input.
pub trait Controller: Send + Sync + Debug {
    /// Takes a packet that has left the pacer.
    fn on_sent(&mut self, _packet: &SentPacket, _state: &SendState) {}

    /// Whether the controller uses reports of this kind; by default all kinds. The embedder passes no reports of
    /// other kinds, because off-path attackers may send them.
    fn accepts(&self, _kind: ReportKind) -> bool {
        true
    }

    /// Takes feedback. Returns a decision if a rate was computed, even if the rate did not change.
    fn on_feedback(&mut self, now: SendTime, feedback: &Feedback<'_>, state: &SendState) -> Option<Decision>;

    /// Handles the timeout of [`Self::next_timeout`]. An early or repeated call has no effect.
    fn on_timeout(&mut self, _now: SendTime, _state: &SendState) -> Option<Decision> {
        None
    }

    /// Takes an event outside the controller. Before [`PathEvent::RouteChanged`] the embedder calls
    /// [`SendHistory::change_route`](crate::history::SendHistory::change_route).
    fn on_event(&mut self, now: SendTime, event: PathEvent) -> Option<Decision>;

    /// Time of the next call of [`Self::on_timeout`]; after `on_timeout(t)` it is later than `t`.
    fn next_timeout(&self) -> Option<SendTime> {
        None
    }

    /// Rates, pacing and window that hold at present.
    fn target(&self) -> Target;

    /// Takes the streams that the application sends from now on. It is called before the first packet leaves, and
    /// when the streams change. Without a call a controller assumes a camera without a highest rate.
    fn on_streams(&mut self, _now: SendTime, _streams: StreamsConfig) {}

    /// Values for the header of each packet, for controllers whose receiver half needs them.
    fn stamp(&self) -> Option<Stamp> {
        None
    }

    /// A probe to send, if the controller requests one. Each is returned once. Poll after each call that can change
    /// the target.
    fn poll_probe(&mut self) -> Option<Probe> {
        None
    }

    /// Replaces the controller's own state by the allocation of its coupling: the controller continues from this
    /// rate, or from the nearest rate within its limits. Returns that rate. It makes no decision. [`AllocatedRate`]
    /// lists the state that is scaled.
    fn apply_allocation(&mut self, now: SendTime, share: AllocatedRate) -> DataRate;

    /// Quantities inside the controller that [`Self::read_signals`] writes, by the names of the controller's paper.
    fn signals(&self) -> &'static [Signal] {
        &[]
    }

    /// Writes the present value of each signal; `out` has the length of [`Self::signals`]. NaN where unknown.
    fn read_signals(&self, _out: &mut [f64]) {}

    /// The signals on which a decision for the reason `why` depends, with their present thresholds. It is called only
    /// for reasons that [measurements decide](ChangeReason::is_measured).
    fn evidence(&self, _why: ChangeReason) -> [Option<Evidence>; 3] {
        [None; 3]
    }
}

/// The receiver half of a controller. It takes arrivals and makes reports.
pub trait Receiver: Send + Sync + Debug {
    /// Takes a packet that has arrived.
    fn on_arrival(&mut self, packet: &Arrival);

    /// Time of the next call of [`Self::poll_report`].
    fn next_timeout(&self) -> Option<ArrivalTime>;

    /// The report that is due at `now`; call until `None`.
    fn poll_report(&mut self, now: ArrivalTime) -> Option<Report<'_>>;

    /// Whether its reports cover single packets ([`Report::Packets`]).
    fn reports_packets(&self) -> bool {
        false
    }

    /// Takes a change of the route that the receiving end knows ([`PathEvent::RouteChanged`] at the other end).
    /// Estimates of delay, loss and capacity are reset. Call it before passing the first packet on the new route.
    /// Later packets from the old route are then ignored.
    fn on_route_changed(&mut self);

    /// Quantities that [`Self::read_signals`] writes.
    fn signals(&self) -> &'static [Signal] {
        &[]
    }

    /// Writes the present value of each signal; `out` has the length of [`Self::signals`]. NaN where unknown.
    fn read_signals(&self, _out: &mut [f64]) {}
}

/// Observer of arrivals that makes the controller's own report. It depends on arrivals alone, so that it can be
/// mounted at either end: at the receiver ([`AtReceiver`](crate::AtReceiver)) or at the sender
/// ([`AtSender`](crate::AtSender)).
pub trait Observer: Send + Sync + Debug {
    /// Takes a packet that has arrived.
    fn on_arrival(&mut self, packet: &Arrival);

    /// Takes an arrived packet without a reported arrival time. [`Arrival::at`] is computed with the delay of the
    /// packet before it, and is no sample of the delay. The observer counts the packet and its mark.
    fn on_untimed(&mut self, packet: &Arrival) {
        self.on_arrival(packet);
    }

    /// Records that the packets between the last arrival and the next one were not reported. They are not lost, and
    /// the time between counts for no rate.
    fn on_unreported(&mut self) {}

    /// Time of the next report.
    fn next_report(&self) -> Option<ArrivalTime>;

    /// The report at `now`, or `None` if none is due or nothing has arrived yet.
    fn report(&mut self, now: ArrivalTime) -> Option<NativeReport>;

    /// Takes a change of the route: estimates of delay, loss and capacity are reset.
    fn on_route_changed(&mut self);

    /// Quantities that [`Self::read_signals`] writes.
    fn signals(&self) -> &'static [Signal] {
        &[]
    }

    /// Writes the present value of each signal; `out` has the length of [`Self::signals`].
    fn read_signals(&self, _out: &mut [f64]) {}
}

/// Rates, pacing and window that a sender should use now.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Target {
    /// Target rate of the encoder.
    pub media_rate: DataRate,
    /// Target rate on the wire; differs from the media rate where a buffer is being shaped.
    pub sending_rate: DataRate,
    /// Pace at which packets leave.
    pub pacing: Pacing,
    /// Burst that may leave ahead of that pace.
    pub burst: Burst,
    /// Congestion window in bytes, for controllers with a window.
    pub window: Option<DataSize>,
    /// Rate up to which padding fills the sending rate when the encoder produces less; zero for no padding.
    pub padding: DataRate,
    /// The share of the media rate, in [0, 1), that the encoder should save by leaving out whole frames; zero for
    /// none. The media rate is that of the remaining frames.
    pub frame_drop: f64,
    /// Reason that keeps the rate from rising over the next second.
    pub limiting_factor: LimitingFactor,
}

impl Target {
    /// `rate` for media and on the wire, unpaced, with the maximum as the limiting factor; otherwise as [`Self::at`].
    pub const fn rate(rate: DataRate) -> Self {
        Self::at(rate, Pacing::Unpaced, LimitingFactor::RampUp)
    }

    /// `rate` for media and on the wire, without burst, window, padding or dropped frames.
    pub const fn at(rate: DataRate, pacing: Pacing, limiting_factor: LimitingFactor) -> Self {
        Self {
            media_rate: rate,
            sending_rate: rate,
            pacing,
            burst: Burst::NONE,
            window: None,
            padding: DataRate::ZERO,
            frame_drop: 0.0,
            limiting_factor,
        }
    }
}

/// Burst of packets ahead of the pace. Packets leave at once until their bytes take `time` at the pacing rate, or
/// `size` in total. Then no packet leaves until the pace has caught up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Burst {
    /// Time at the pacing rate.
    pub time: TimeDelta,
    /// Bytes.
    pub size: DataSize,
}

impl Burst {
    /// No burst: each packet waits until the time of the previous one at the pacing rate has passed.
    pub const NONE: Self = Self { time: TimeDelta::ZERO, size: DataSize::ZERO };
}

/// Streams that the application sends, as far as a controller needs them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct StreamsConfig {
    /// The highest rate that the streams can use together; zero where it is unknown.
    pub usable: DataRate,
    /// Whether a screen is shared, which mostly sends little and sometimes much.
    pub screen: bool,
}

impl StreamsConfig {
    /// A camera whose streams can use at most `usable` together, zero where that is unknown.
    pub const fn camera(usable: DataRate) -> Self {
        Self { usable, screen: false }
    }

    /// A shared screen whose streams can use at most `usable` together, zero where that is unknown.
    pub const fn screen(usable: DataRate) -> Self {
        Self { usable, screen: true }
    }
}

/// Pace at which packets leave.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Pacing {
    /// As soon as the encoder makes them.
    Unpaced,
    /// At the sending rate times this factor.
    Factor(f64),
    /// At exactly this rate.
    Exact(DataRate),
}

/// Reason that keeps the sending rate from rising over the next second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum LimitingFactor {
    /// Only the controller's own rule of growth. The rate rises by more than 5 % in a second, and has done so until
    /// a second brings less than 2 %.
    RampUp,
    /// Queuing delay or its gradient.
    Delay,
    /// Loss, or marks by ECN.
    Loss,
    /// The receiver's ceiling.
    Receiver,
    /// Missing feedback.
    Silence,
    /// The controller lets the queue drain, to measure the path without one.
    Drain,
    /// The source offers less: the flow is application-limited.
    Application,
    /// Coupling's allocation, which is below the rate that the controller itself computed last.
    Coupling,
    /// The configured minimum, at which the controller would go lower.
    Minimum,
    /// The configured maximum.
    Maximum,
}

impl LimitingFactor {
    /// Every factor, in the order of declaration.
    pub const ALL: [Self; 10] = [
        Self::RampUp,
        Self::Delay,
        Self::Loss,
        Self::Receiver,
        Self::Silence,
        Self::Drain,
        Self::Application,
        Self::Coupling,
        Self::Minimum,
        Self::Maximum,
    ];

    /// The factor's name, for tables and files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::RampUp => "ramp-up",
            Self::Delay => "delay",
            Self::Loss => "loss",
            Self::Receiver => "receiver",
            Self::Silence => "silence",
            Self::Drain => "drain",
            Self::Application => "application",
            Self::Coupling => "coupling",
            Self::Minimum => "minimum",
            Self::Maximum => "maximum",
        }
    }

    /// The limit as part of a sentence.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::RampUp => {
                "the controller's own growth: within the last second the rate rose at a pace of more than 5 % in a second"
            }
            Self::Delay => "queuing delay, or its growth",
            Self::Loss => "loss, or marks by ECN",
            Self::Receiver => "the receiver's ceiling",
            Self::Silence => "missing feedback",
            Self::Drain => "a drain of the queue, by which the controller sees the path without one",
            Self::Application => "the source, which offers less",
            Self::Coupling => "the share that coupling gave",
            Self::Minimum => "the configured minimum, below which the controller would go",
            Self::Maximum => "the configured maximum",
        }
    }
}

/// A signal that a decision depended on.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Evidence {
    /// Its name among [`Controller::signals`].
    pub signal: &'static str,
    /// The value that the controller compared it with, in the signal's unit; NaN if there is none.
    pub threshold: f64,
}

impl Evidence {
    /// A signal that is compared with `threshold`.
    pub const fn against(signal: &'static str, threshold: f64) -> Option<Self> {
        Some(Self { signal, threshold })
    }

    /// A signal that the rate follows without a threshold.
    pub const fn of(signal: &'static str) -> Option<Self> {
        Self::against(signal, f64::NAN)
    }
}

/// Request for a cluster of packets above the target rate, to test whether the path carries that rate. Media is sent
/// first, then padding. Each packet of the cluster has the id ([`SentPacket::probe`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Probe {
    /// Id of the probe, which each of its packets carries.
    pub id: ProbeId,
    /// Sending rate of the cluster.
    pub rate: DataRate,
    /// Least number of packets.
    pub packets: u32,
    /// Least number of bytes.
    pub size: DataSize,
}

/// An event outside the controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum PathEvent {
    /// New bounds for the rate.
    Limits(RateLimits),
    /// The application has stopped sending intentionally.
    Paused,
    /// The application sends again.
    Resumed,
    /// The route has changed: estimates of delay, loss and capacity are invalid. No packet is in flight on the new
    /// route, and later feedback covers only packets that leave after this event.
    /// [`SendHistory::change_route`](crate::history::SendHistory::change_route), called before, ensures both. The
    /// event at the other end is [`Receiver::on_route_changed`].
    RouteChanged,
    /// An arrival reported before the round trip was known had an impossible time
    /// ([`SendHistory::take_refuted_delay`](crate::history::SendHistory::take_refuted_delay)). A base delay measured
    /// until then is invalid. The rate stays.
    DelayRefuted,
}

/// Bounds of the sending rate: `min ≤ start ≤ max`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "UncheckedLimits"))]
pub struct RateLimits {
    min: DataRate,
    start: DataRate,
    max: DataRate,
}

/// Rate limits as they are read, before their order is checked.
#[cfg(feature = "serde")]
#[derive(serde::Deserialize)]
struct UncheckedLimits {
    min: DataRate,
    start: DataRate,
    max: DataRate,
}

#[cfg(feature = "serde")]
impl TryFrom<UncheckedLimits> for RateLimits {
    type Error = LimitsOutOfOrder;

    fn try_from(limits: UncheckedLimits) -> Result<Self, LimitsOutOfOrder> {
        Self::new(limits.min, limits.start, limits.max)
    }
}

/// Error of rate limits that are out of order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LimitsOutOfOrder;

impl core::fmt::Display for LimitsOutOfOrder {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("rates must satisfy 0 < min ≤ start ≤ max")
    }
}

impl core::error::Error for LimitsOutOfOrder {}

impl RateLimits {
    /// Bounds and start rate.
    ///
    /// # Errors
    /// [`LimitsOutOfOrder`] unless `0 < min ≤ start ≤ max`.
    pub fn new(min: DataRate, start: DataRate, max: DataRate) -> Result<Self, LimitsOutOfOrder> {
        if min.is_zero() || min > start || start > max {
            return Err(LimitsOutOfOrder);
        }
        Ok(Self { min, start, max })
    }

    /// The lowest rate.
    pub const fn min(&self) -> DataRate {
        self.min
    }

    /// The rate to begin with.
    pub const fn start(&self) -> DataRate {
        self.start
    }

    /// The highest rate.
    pub const fn max(&self) -> DataRate {
        self.max
    }

    /// `rate` brought within the bounds.
    pub fn clamp(&self, rate: DataRate) -> DataRate {
        rate.clamp(self.min, self.max)
    }

    /// `bps` bit/s brought within the bounds, unrounded; NaN gives the minimum.
    pub fn clamp_bps(&self, bps: f64) -> f64 {
        bps.max(self.min.bps_f64()).min(self.max.bps_f64())
    }

    /// The whole bit/s nearest to `bps`, within the bounds: above the precision of an `f64`, rounding alone leads
    /// out of them.
    pub fn round(&self, bps: f64) -> DataRate {
        self.clamp(DataRate::from_bps_f64(bps))
    }
}

/// A quantity inside a controller that can be plotted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Signal {
    /// Its name in the controller's paper.
    pub name: &'static str,
    /// Its unit; empty for a pure number.
    pub unit: &'static str,
    /// Its meaning, in a sentence.
    pub meaning: &'static str,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_keep_their_order() {
        let r = DataRate::from_kbps;
        assert!(RateLimits::new(r(50), r(300), r(2500)).is_ok());
        assert!(RateLimits::new(r(50), r(30), r(2500)).is_err());
        assert!(RateLimits::new(r(0), r(30), r(2500)).is_err());
        let limits = RateLimits::new(r(50), r(300), r(2500)).unwrap();
        assert_eq!(limits.clamp_bps(f64::NAN), 50e3);
    }
}
