//! Outputs of an endpoint to its embedder.

use weir_cc::{Decision, Probe, Target};
use weir_units::{DataRate, TimeDelta};

use crate::allocation::LayerRates;
use crate::guard::Alarm;

/// Place of a stream in its endpoint, in the order in which streams were added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StreamId(pub(crate) usize);

impl StreamId {
    /// The place as a number, from 0.
    pub const fn index(self) -> usize {
        self.0
    }
}

/// Place of an encoder in its endpoint, in the order in which encoders were added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EncoderId(pub(crate) usize);

impl EncoderId {
    /// The place as a number, from 0.
    pub const fn index(self) -> usize {
        self.0
    }
}

/// Share of an encoder in the target, and the rates of its layers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LayerAllocation {
    /// The encoder.
    pub encoder: EncoderId,
    /// Its rate; zero while it is paused.
    pub rate: DataRate,
    /// Rates of its layers; none for an encoder without layers, or a paused one.
    pub layers: Option<LayerRates>,
}

/// An event for the embedder of an endpoint. `P` is the payload of its packets.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum EndpointEvent<P> {
    /// A new target: the encoders together should produce its media rate.
    Target(Target),
    /// Another allocation for an encoder ([`Endpoint::add_encoder`](crate::Endpoint::add_encoder)).
    Allocation(LayerAllocation),
    /// The receiver requests a key frame of the stream.
    KeyFrameRequest(StreamId),
    /// The encoder of the stream should leave out its next frame: the queue is too long, or the controller asks for it.
    LeaveOutFrame(StreamId),
    /// A packet waited beyond its time and was dropped.
    Expired {
        /// Its stream.
        stream: StreamId,
        /// Its payload.
        payload: P,
    },
    /// Feedback reports a packet as missing. A later report may correct that.
    Lost {
        /// Its stream.
        stream: StreamId,
        /// Its RTP sequence number.
        sequence: u16,
        /// Its payload, for a second after the packet left.
        payload: Option<P>,
    },
    /// A circuit breaker stopped media, or a receiver cannot be believed.
    Alarm(Alarm),
    /// A report measured a round-trip time.
    RoundTrip(TimeDelta),
    /// The controller computed a rate.
    Decision(Decision),
}

/// Content of a packet that leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PacketKind {
    /// A packet of the embedder, for the first time.
    Media,
    /// A packet that is sent again: on request, or as padding with the bytes of a recent packet.
    Retransmission {
        /// Whether it fills the rate, and was not requested.
        padding: bool,
    },
    /// Padding without any payload.
    Padding,
}

/// A packet that leaves now.
#[derive(Clone, Debug, PartialEq)]
pub struct Departure<P> {
    /// The stream of the embedder that it belongs to.
    pub stream: StreamId,
    /// Its content.
    pub kind: PacketKind,
    /// Length of the whole packet in bytes.
    pub length: usize,
    /// Length of the header in bytes, with the original sequence number of a retransmission. The payload follows.
    pub header: usize,
    /// The payload; none for padding.
    pub payload: Option<P>,
    /// Its RTP sequence number.
    pub sequence: u16,
    /// Its transport-wide sequence number.
    pub transport_sequence: u16,
    /// The probe that it belongs to.
    pub probe: Option<Probe>,
}

/// Packets that leave together in one buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketBatch {
    /// Length of each packet in bytes; the last one may be shorter.
    pub segment: usize,
    /// Length of all packets together in bytes.
    pub length: usize,
    /// Number of packets.
    pub packets: usize,
}
