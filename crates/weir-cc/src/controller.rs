//! The interface of every controller: a sender half, a receiver half, and the observer that a receiver half may be.

use core::fmt::Debug;

use weir_units::{DataRate, DataSize, TimeDelta};

use crate::decision::{AllocatedRate, ChangeReason, Decision};
use crate::packet::{Arrival, ProbeId, SendState, SentPacket, Stamp};
use crate::report::{Feedback, NativeReport, Report, ReportKind};
use crate::time::{ArrivalTime, SendTime};

/// The sender half of a controller. The caller passes the time; a controller reads no clock. No call blocks,
/// allocates in steady state or panics, whatever the input.
pub trait Controller: Send + Sync + Debug {
    /// A packet has left the pacer.
    fn on_sent(&mut self, _packet: &SentPacket, _state: &SendState) {}

    /// Whether the controller uses reports of this kind. The embedder passes it no others, and lets no others
    /// change the state it reads: off-path attackers may send them. By default a controller accepts all kinds.
    fn accepts(&self, _kind: ReportKind) -> bool {
        true
    }

    /// Takes feedback in. Returns a decision if a rate was computed, even if the number did not change.
    fn on_feedback(&mut self, now: SendTime, feedback: &Feedback<'_>, state: &SendState) -> Option<Decision>;

    /// The time of [`Self::next_timeout`] has come; early or twice is harmless.
    fn on_timeout(&mut self, _now: SendTime, _state: &SendState) -> Option<Decision> {
        None
    }

    /// A change outside the controller. Before [`PathEvent::RouteChanged`] the embedder calls
    /// [`SendHistory::change_route`](crate::history::SendHistory::change_route).
    fn on_event(&mut self, now: SendTime, event: PathEvent) -> Option<Decision>;

    /// Time of the next call of [`Self::on_timeout`]; after `on_timeout(t)` later than `t`.
    fn next_timeout(&self) -> Option<SendTime> {
        None
    }

    /// Rates, pacing and window to send with now.
    fn target(&self) -> Target;

    /// Streams that the application sends from now on. Called before the first packet leaves, and when they change;
    /// without a call a controller assumes a camera without a highest rate.
    fn on_streams(&mut self, _now: SendTime, _streams: StreamsConfig) {}

    /// Values for the header of each packet, for controllers whose receiver half needs them.
    fn stamp(&self) -> Option<Stamp> {
        None
    }

    /// A probe to send, if the controller wants one: a command, read once and sent once. Poll it after each call
    /// that can change the target.
    fn poll_probe(&mut self) -> Option<Probe> {
        None
    }

    /// Replaces the controller's own state by coupling's allocation: the controller continues from this rate, or
    /// from the nearest one within its limits. Returns the rate taken. Never makes a decision ([`AllocatedRate`]
    /// lists the state that is scaled).
    fn apply_allocation(&mut self, now: SendTime, share: AllocatedRate) -> DataRate;

    /// The internal quantities that [`Self::read_signals`] shows, by the names of the controller's paper.
    fn signals(&self) -> &'static [Signal] {
        &[]
    }

    /// Writes the present value of each signal; `out` has the length of [`Self::signals`]. NaN where unknown.
    fn read_signals(&self, _out: &mut [f64]) {}

    /// The signals that a decision for the reason `why` depends on, with their present thresholds. Called only for
    /// reasons that [measurements decide](ChangeReason::is_measured).
    fn evidence(&self, _why: ChangeReason) -> [Option<Evidence>; 3] {
        [None; 3]
    }
}

/// The receiver half of a controller: arrivals in, reports out.
pub trait Receiver: Send + Sync + Debug {
    /// A packet has arrived.
    fn on_arrival(&mut self, packet: &Arrival);

    /// Time of the next call of [`Self::poll_report`].
    fn next_timeout(&self) -> Option<ArrivalTime>;

    /// The report that is due at `now`, if any; call until `None`.
    fn poll_report(&mut self, now: ArrivalTime) -> Option<Report<'_>>;

    /// Whether its reports cover single packets ([`Report::Packets`]).
    fn reports_packets(&self) -> bool {
        false
    }

    /// The path is another one, and the receiving end knows it ([`PathEvent::RouteChanged`] at the other end).
    /// Estimates of delay, loss and capacity do not hold any more. Call it when the first packet by the new route
    /// comes, before passing that packet. Packets still on their way by the old route are then forgotten.
    fn on_route_changed(&mut self);

    /// The internal quantities that [`Self::read_signals`] shows.
    fn signals(&self) -> &'static [Signal] {
        &[]
    }

    /// Writes the present value of each signal; `out` has the length of [`Self::signals`]. NaN where unknown.
    fn read_signals(&self, _out: &mut [f64]) {}
}

/// Measures arrivals and makes the controller's own report. Depends on arrivals alone, so that it fits at either
/// end: at the receiver ([`AtReceiver`](crate::AtReceiver)) or at the sender ([`AtSender`](crate::AtSender)).
pub trait Observer: Send + Sync + Debug {
    /// A packet has arrived.
    fn on_arrival(&mut self, packet: &Arrival);

    /// A packet has arrived, and its arrival time was not reported. [`Arrival::at`] is the time it would have with
    /// the delay of the packet before it; this is no sample of delay. An observer of samples leaves it out of them,
    /// and counts the packet and its mark.
    fn on_untimed(&mut self, packet: &Arrival) {
        self.on_arrival(packet);
    }

    /// Packets that left between the last packet shown and the next one were not reported. They are not lost, and
    /// the time in between counts for no rate.
    fn on_unreported(&mut self) {}

    /// When the next report is due.
    fn next_report(&self) -> Option<ArrivalTime>;

    /// The report at `now`, or `None` if none is due or there was no arrival yet.
    fn report(&mut self, now: ArrivalTime) -> Option<NativeReport>;

    /// The path is another one: estimates of delay, loss and capacity do not hold any more.
    fn on_route_changed(&mut self);

    /// The internal quantities that [`Self::read_signals`] shows.
    fn signals(&self) -> &'static [Signal] {
        &[]
    }

    /// Writes the present value of each signal; `out` has the length of [`Self::signals`].
    fn read_signals(&self, _out: &mut [f64]) {}
}

/// Rates, pacing and window that a sender should use now.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Target {
    /// For the encoder.
    pub media_rate: DataRate,
    /// Target rate on the wire; differs from the media rate where a buffer is being shaped.
    pub sending_rate: DataRate,
    /// How packets leave the pacer.
    pub pacing: Pacing,
    /// Lead of packets over that pace.
    pub burst: Burst,
    /// Congestion window in bytes, for controllers with a window.
    pub window: Option<DataSize>,
    /// Target rate up to which padding fills up when the encoder produces less; zero for none.
    pub padding: DataRate,
    /// The share of the media rate, in [0, 1), that the encoder should save by leaving out whole frames; zero for
    /// none. The media rate is that of the remaining frames.
    pub frame_drop: f64,
    /// Reason that keeps the rate from rising over the next second.
    pub limiting_factor: LimitingFactor,
}

impl Target {
    /// `rate` for media and on the wire, unpaced, limited by nothing; else as [`Self::at`].
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

/// Lead of packets over the pace. Packets leave at once until their bytes take `time` at the pacing rate, or `size`
/// together. Then none leaves until the pace has caught up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Burst {
    /// Time at the pacing rate.
    pub time: TimeDelta,
    /// Bytes.
    pub size: DataSize,
}

impl Burst {
    /// Each packet waits until the one before it is paid for.
    pub const NONE: Self = Self { time: TimeDelta::ZERO, size: DataSize::ZERO };
}

/// Streams that the application sends, as far as a controller needs to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamsConfig {
    /// The highest rate that the streams can use together; zero where it is unknown.
    pub usable: DataRate,
    /// Whether a screen is shared: little most of the time, and now and then much.
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

/// How packets leave the pacer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pacing {
    /// At once, as the encoder makes them.
    Unpaced,
    /// At the sending rate times this factor.
    Factor(f64),
    /// At exactly this rate.
    Exact(DataRate),
}

/// Reason that keeps the sending rate from rising over the next second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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

/// A command to send a cluster of packets at a rate above the target rate, to test whether the path carries it.
/// Media goes first, padding fills up; each packet of the cluster carries the id ([`SentPacket::probe`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probe {
    /// Its id, repeated by each packet of it.
    pub id: ProbeId,
    /// The rate to send it at.
    pub rate: DataRate,
    /// Number of packets that must have left before it ends …
    pub packets: u32,
    /// … and number of bytes.
    pub size: DataSize,
}

/// A change outside the controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathEvent {
    /// New bounds for the rate.
    Limits(RateLimits),
    /// The application stopped sending on purpose.
    Paused,
    /// The application sends again.
    Resumed,
    /// The path is another one: estimates of delay, loss and capacity do not hold any more. No packet is in flight
    /// on it, and later feedback covers only packets that left after this event.
    /// [`SendHistory::change_route`](crate::history::SendHistory::change_route), called before, ensures both. The
    /// event at the other end is [`Receiver::on_route_changed`].
    RouteChanged,
    /// An arrival reported before the round trip was known cannot have been at its time
    /// ([`SendHistory::take_refuted_delay`](crate::history::SendHistory::take_refuted_delay)). A base delay
    /// measured by then does not hold. The rate stays.
    DelayRefuted,
}

/// Bounds of the sending rate: `min ≤ start ≤ max`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateLimits {
    min: DataRate,
    start: DataRate,
    max: DataRate,
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

/// A quantity inside a controller that is worth watching.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
