//! Outputs of an endpoint to its embedder.

use weir_cc::{Decision, Probe, Target};
use weir_units::{DataRate, TimeDelta};

use crate::allocation::LayerRates;
use crate::guard::Alarm;

/// Place of a stream in its endpoint, in the order in which streams were added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct StreamId(pub(crate) usize);

impl StreamId {
    /// The place as a number, from 0.
    pub const fn index(self) -> usize {
        self.0
    }
}

/// Place of an encoder in its endpoint, in the order in which encoders were added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct EncoderId(pub(crate) usize);

impl EncoderId {
    /// The place as a number, from 0.
    pub const fn index(self) -> usize {
        self.0
    }
}

/// Share of an encoder in the target, and the rates of its layers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
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
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum EndpointEvent<P> {
    /// A new target: the encoders together should produce its media rate.
    Target(Target),
    /// Another allocation for an encoder ([`Endpoint::add_encoder`](crate::Endpoint::add_encoder)).
    Allocation(LayerAllocation),
    /// The receiver requests a key frame of the stream.
    KeyFrameRequest(StreamId),
    /// The encoder of the stream should leave out its next frame: the queue is too long, or the controller asks for it.
    LeaveOutFrame(StreamId),
    /// A waiting packet was dropped: its time has passed, or media has stopped.
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

impl<P> EndpointEvent<P> {
    /// Reports the event to `tracing`, where the feature is on.
    #[cfg(feature = "tracing")]
    pub(super) fn trace(&self) {
        use tracing::{debug, trace, warn};
        match self {
            Self::Target(target) => debug!(
                media_bps = target.media_rate.bps(),
                limited_by = target.limiting_factor.name(),
                "target"
            ),
            Self::Allocation(allocation) => {
                debug!(encoder = allocation.encoder.0, bps = allocation.rate.bps(), "allocation");
            }
            Self::KeyFrameRequest(stream) => debug!(stream = stream.0, "key frame request"),
            Self::LeaveOutFrame(stream) => debug!(stream = stream.0, "leave out a frame"),
            Self::Expired { stream, .. } => debug!(stream = stream.0, "expired packet"),
            Self::Lost { stream, sequence, .. } => debug!(stream = stream.0, sequence, "lost packet"),
            Self::Alarm(alarm) => warn!(?alarm, "alarm"),
            Self::RoundTrip(rtt) => trace!(ms = rtt.millis_f64(), "round trip"),
            Self::Decision(decision) => {
                debug!(bps = decision.rate.bps(), from_bps = decision.base.bps(), why = ?decision.why, "decision");
            }
        }
    }

    /// Reports the event to `tracing`, where the feature is on.
    #[cfg(not(feature = "tracing"))]
    #[expect(clippy::unused_self, reason = "the feature is off")]
    pub(super) const fn trace(&self) {}
}

/// Content of a packet that leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
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
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
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
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct PacketBatch {
    /// Length of each packet in bytes; the last one may be shorter.
    pub segment: usize,
    /// Length of all packets together in bytes.
    pub length: usize,
    /// Number of packets.
    pub packets: usize,
}
