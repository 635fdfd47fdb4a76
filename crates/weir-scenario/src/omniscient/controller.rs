//! The sender half: a target every 100 ms from the observed network state, without feedback.

use weir_cc::{
    AllocatedRate, ChangeReason, Controller, DataRate, DataSize, Decision, Feedback, LimitingFactor, Pacing,
    PathEvent, RateLimits, SendState, SendTime, SentPacket, Signal, Target, TimeDelta,
};
use weir_net::Time;
use weir_wire::media::UDP_IPV4_OVERHEAD;

use super::OperatingPoint;
use super::network_view::{AveragedShare, NetworkView};

/// Interval between decisions.
const INTERVAL: TimeDelta = TimeDelta::from_millis(100);
/// Limit of the pacing rate, as a multiple of the target.
const PACING_FACTOR: f64 = 2.5;
/// The smallest window: three packets.
const LEAST_WINDOW: DataSize = DataSize::from_bytes(3 * 1240);
/// From one decision to the next, this share of the header statistics is kept.
const KEPT: f64 = 0.9;

const SIGNALS: &[Signal] = &[
    Signal {
        name: "share", unit: "bit/s", meaning: "S̄: its share on the wire as it was one round trip ago"
    },
    Signal { name: "waiting", unit: "bit", meaning: "Q: its own bits that wait at the sender and in queues" },
];

/// The omniscient sender.
#[derive(Debug)]
pub struct Omniscient {
    point: OperatingPoint,
    limits: RateLimits,
    /// View of the network, or `None` for a sender without one, which sends at its start rate.
    view: Option<NetworkView>,
    rate: DataRate,
    /// Limit of the bytes in flight.
    window: Option<DataSize>,
    due: SendTime,
    headers: HeaderShare,
    /// Values of [`SIGNALS`], in their order.
    signals: [f64; 2],
}

/// Recent payload and wire bytes, for the share of payload in the sent data.
#[derive(Clone, Copy, Debug, Default)]
struct HeaderShare {
    payload: f64,
    wire: f64,
}

impl HeaderShare {
    fn on_sent(&mut self, packet: &SentPacket) {
        self.payload += packet.payload.bytes_f64();
        self.wire += packet.size.bytes_f64() + UDP_IPV4_OVERHEAD as f64;
    }

    fn forget(&mut self) {
        self.payload *= KEPT;
        self.wire *= KEPT;
    }

    fn payload_share(self) -> f64 {
        if self.wire > 0.0 { self.payload / self.wire } else { 1.0 }
    }
}

impl Omniscient {
    /// A sender without a view of the network, as outside of a simulation.
    pub(crate) fn without_view(point: OperatingPoint, limits: RateLimits) -> Self {
        Self {
            point,
            limits,
            view: None,
            rate: limits.start(),
            window: None,
            due: SendTime::MAX,
            headers: HeaderShare::default(),
            signals: [f64::NAN; 2],
        }
    }

    /// A sender with a view of the network.
    pub(crate) fn with_view(point: OperatingPoint, limits: RateLimits, view: NetworkView) -> Self {
        let due = SendTime::from_nanos(view.start.nanos() as i64);
        Self { due, view: Some(view), ..Self::without_view(point, limits) }
    }

    /// The media rate to send now, or `None` while its share is unknown.
    fn decide(&mut self, now: SendTime, state: &SendState) -> Option<DataRate> {
        let view = self.view.as_mut()?;
        let now = Time::from_nanos(now.nanos().max(0) as u64);
        let payload_share = self.headers.payload_share();
        let AveragedShare { bps, aim, limited } = view.share(now, self.point.window, self.point.share)?;
        // Q in bits on the wire: the sender's own queue holds payload without headers.
        let waiting = 8.0 * (state.queued.bytes_f64() / payload_share + view.waiting(now) as f64);
        self.signals = [bps, waiting];
        // S̄·(R + D) may be in flight.
        self.window = self.point.in_flight.map(|beyond| window(bps, view.round_trip() + beyond));
        let aim = if limited { self.limits.max().bps_f64() } else { aim * payload_share };
        // a·S̄ − Q/T as a rate of payload.
        let media = aim - waiting * payload_share / self.point.drained_within.secs_f64();
        Some(DataRate::from_bps(self.limits.clamp_bps(media).round() as u64))
    }
}

/// The bytes that `bps` carry in `time`, at least [`LEAST_WINDOW`], so that a full packet fits.
fn window(bps: f64, time: TimeDelta) -> DataSize {
    DataSize::from_bytes((bps * time.secs_f64() / 8.0) as u64).max(LEAST_WINDOW)
}

impl Controller for Omniscient {
    fn on_sent(&mut self, packet: &SentPacket, _: &SendState) {
        self.headers.on_sent(packet);
    }

    fn on_feedback(&mut self, _: SendTime, _: &Feedback<'_>, _: &SendState) -> Option<Decision> {
        None
    }

    fn on_timeout(&mut self, now: SendTime, state: &SendState) -> Option<Decision> {
        if now < self.due {
            return None;
        }
        while self.due <= now {
            self.due += INTERVAL;
        }
        let base = self.rate;
        self.rate = self.decide(now, state)?;
        self.headers.forget();
        let why = if self.rate < base { ChangeReason::Ceiling } else { ChangeReason::Growth };
        Some(Decision { rate: self.rate, base, why, rtt: None })
    }

    fn on_event(&mut self, _: SendTime, event: PathEvent) -> Option<Decision> {
        if let PathEvent::Limits(limits) = event {
            self.limits = limits;
            self.rate = limits.clamp(self.rate);
        }
        None
    }

    fn next_timeout(&self) -> Option<SendTime> {
        self.view.as_ref().map(|_| self.due)
    }

    fn target(&self) -> Target {
        // Its share of the network is the rate that it can send without a queue.
        let at_maximum = self.rate >= self.limits.max();
        let limiting_factor = if at_maximum { LimitingFactor::Maximum } else { LimitingFactor::Delay };
        Target {
            window: self.window,
            ..Target::at(self.rate, Pacing::Factor(PACING_FACTOR), limiting_factor)
        }
    }

    /// An allocation changes no share that is already known.
    fn apply_allocation(&mut self, _: SendTime, _: AllocatedRate) -> DataRate {
        self.rate
    }

    fn signals(&self) -> &'static [Signal] {
        SIGNALS
    }

    fn read_signals(&self, out: &mut [f64]) {
        out.copy_from_slice(&self.signals[..out.len().min(2)]);
    }
}
