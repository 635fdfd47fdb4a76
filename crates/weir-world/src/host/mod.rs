//! Hosts of flows, the same in every world: starts and stops, pauses, priorities, coupling, and the outputs of media
//! endpoints. The simulator and real sockets both drive them through the trait [`World`].

mod clock;
mod constant;
mod couplings;
mod media;
mod pauses;
mod priorities;

use weir_cc::Ecn;
use weir_cc::coupled::{CouplerAction, CouplingMessage};
use weir_media::MediaPacket;
use weir_net::Time;
use weir_units::TimeDelta;

use crate::flow::{FlowSpec, Side};
use crate::monitor::{Monitor, PacketMeta};

pub use clock::Clock;
pub use constant::ConstantSource;
pub use couplings::{Couplings, SentAction};
pub use media::{MediaSink, MediaSource, ssrc};
pub use priorities::Priorities;

/// Bytes of IPv4 and UDP headers around RTP and RTCP.
pub const UDP_OVERHEAD: u32 = weir_wire::media::UDP_IPV4_OVERHEAD as u32;

/// The surroundings of a host: what carries its packets and its messages to couplers, and what observes it.
pub trait World {
    /// The observer of the run.
    type Monitor: Monitor;

    /// The observer of the run.
    fn monitor(&mut self) -> &mut Self::Monitor;

    /// Buffer into which a host writes an RTCP packet before [`Self::send_rtcp`].
    fn rtcp_buffer(&mut self) -> &mut [u8];

    /// Sends the first `length` bytes of the buffer, an RTCP packet of flow `flow`, from its end `from`.
    fn send_rtcp(&mut self, now: Time, flow: usize, from: Side, length: usize);

    /// Sends a media packet of flow `flow` with the ECN field `ecn`.
    fn send_media(&mut self, now: Time, flow: usize, meta: PacketMeta, packet: &MediaPacket, ecn: Ecn);

    /// Sends a packet of flow `flow` that carries nothing but its size.
    fn send_constant(&mut self, now: Time, flow: usize, meta: PacketMeta);

    /// Sends a message of flow `flow` to its coupler. The host must then apply the actions that
    /// [`Self::poll_action`] returns.
    fn send_message(&mut self, now: Time, flow: usize, message: &CouplingMessage);

    /// The next action for flow `flow`, which has just sent a message; call until `None`.
    fn poll_action(&mut self, now: Time, flow: usize) -> Option<CouplerAction>;
}

/// The index of a flow, its start and its stop.
#[derive(Clone, Copy, Debug)]
pub struct Life {
    /// Index of the flow in [`RunSpec::flows`](crate::RunSpec::flows).
    pub flow: usize,
    /// Its start.
    pub start: Time,
    /// Its stop; [`Time::MAX`] where it lasts as long as the run.
    pub stop: Time,
}

impl Life {
    /// Start and stop of the flow `index`, as `spec` says.
    pub const fn of(index: usize, spec: &FlowSpec) -> Self {
        Self { flow: index, start: spec.start, stop: spec.stop }
    }
}

/// The flow whose hosts flow `index` uses: itself, or the first of its call.
pub fn host_owner(flows: &[FlowSpec], index: usize) -> usize {
    let call = flows[index].call;
    let first = call.and_then(|_| flows.iter().position(|flow| flow.call == call));
    first.unwrap_or(index)
}

/// Metadata of a packet that leaves now.
pub const fn packet_meta(now: Time, wire_size: u32, payload: u32, control: bool) -> PacketMeta {
    PacketMeta {
        sent_at: now,
        wait: TimeDelta::ZERO,
        wire_size,
        payload,
        frame: PacketMeta::NO_FRAME,
        control,
    }
}

/// Buffer for the signals of a controller's half or of a TCP sender.
#[derive(Debug)]
pub struct SignalBuffer {
    side: Side,
    values: Vec<f64>,
}

impl SignalBuffer {
    /// A buffer for `signals` signals of the half at `side`.
    pub fn new(side: Side, signals: usize) -> Self {
        Self { side, values: vec![f64::NAN; signals] }
    }

    /// Reports the signals of flow `flow` that `read` reads to the monitor, if it takes signals.
    pub fn show(
        &mut self,
        now: Time,
        flow: usize,
        monitor: &mut impl Monitor,
        read: impl FnOnce(&mut [f64]),
    ) {
        if monitor.wants_signals() && !self.values.is_empty() {
            read(&mut self.values);
            monitor.signals(now, flow, self.side, &self.values);
        }
    }
}
