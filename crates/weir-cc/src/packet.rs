//! Packets as a controller gets them: sent packets, arrivals, and the fates of sent packets.

use core::num::NonZeroU16;

use weir_units::{DataRate, DataSize, TimeDelta};

use crate::time::{ArrivalTime, SendTime};

/// A packet that has just left the pacer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SentPacket {
    /// Number on this path, growing by one per packet and never wrapping. The wire carries the lower 16 bits of
    /// [`SendHistory::next_number`](crate::history::SendHistory::next_number), which are its own unless numbers are
    /// skipped or given.
    pub id: u64,
    /// Time of departure.
    pub at: SendTime,
    /// RTP header and payload: the size that counts as in flight.
    pub size: DataSize,
    /// The payload alone: the size that the receiver counts ([`Arrival::size`]) and targets mean.
    pub payload: DataSize,
    /// Whether it has only padding and no media.
    pub padding: bool,
    /// The probe that it belongs to.
    pub probe: Option<ProbeId>,
}

impl SentPacket {
    /// A media packet whose whole size is payload, without a probe.
    pub const fn new(id: u64, at: SendTime, size: DataSize) -> Self {
        Self { id, at, size, payload: size, padding: false, probe: None }
    }
}

/// Identifier of a [`Probe`](crate::controller::Probe) among those of a controller in progress.
pub type ProbeId = NonZeroU16;

/// The state of the sending endpoint that a controller may use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SendState {
    /// Bytes sent that are neither acknowledged nor known to be lost, nor too old to count.
    pub in_flight: DataSize,
    /// Bytes waiting in the pacer.
    pub queued: DataSize,
    /// Whether the source sends less than the target, so that the sending rate shows nothing about the capacity.
    pub application_limited: bool,
}

/// The ECN field of a packet as it arrived (RFC 3168).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Ecn {
    /// The transport does not use ECN.
    #[default]
    NotEct,
    /// ECN-capable, codepoint ECT(0).
    Ect0,
    /// ECN-capable, codepoint ECT(1): L4S.
    Ect1,
    /// Congestion experienced.
    Ce,
}

/// Values that a controller puts into the header of each packet, for receiver halves that need the sender's state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Stamp {
    /// The sender's round-trip time, zero while unknown.
    pub rtt: TimeDelta,
    /// The sending rate, zero while unknown.
    pub rate: DataRate,
}

/// A packet that has arrived, with times unwrapped from the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Arrival {
    /// Number on this path, unwrapped from the wire.
    pub id: u64,
    /// Time of departure, by the sender's clock with the resolution of the wire.
    pub departure: SendTime,
    /// Time of arrival.
    pub at: ArrivalTime,
    /// Payload, so that rates of arrivals are comparable with targets, which are rates of media.
    pub size: DataSize,
    /// ECN field on arrival.
    pub ecn: Ecn,
    /// Media time in ticks of the media clock (90 kHz for video), unwrapped. All packets of a frame have the same.
    pub media_time: u64,
    /// RTP marker bit: the last packet of a frame.
    pub marker: bool,
    /// The sender's stamp.
    pub stamp: Stamp,
}

impl Arrival {
    /// A packet of `size` bytes of payload, without mark, stamp, media time and marker: only some controllers'
    /// receiver halves read these fields.
    pub const fn new(id: u64, departure: SendTime, at: ArrivalTime, size: DataSize) -> Self {
        let stamp = Stamp { rtt: TimeDelta::ZERO, rate: DataRate::ZERO };
        Self { id, departure, at, size, ecn: Ecn::NotEct, media_time: 0, marker: false, stamp }
    }
}

/// Fate of a sent packet according to feedback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum PacketFate {
    /// The packet arrived.
    Arrived {
        /// Arrival time by the receiver's clock, or `None` if the report does not carry it; the packet then gives
        /// no delay sample.
        at: Option<ArrivalTime>,
        /// ECN field on arrival.
        ecn: Ecn,
    },
    /// The packet is missing in a report that covers it.
    Missing,
    /// The packet was reported as missing before, and has arrived.
    Recovered {
        /// Arrival time by the receiver's clock, or `None` if the report does not carry it.
        at: Option<ArrivalTime>,
        /// ECN field on arrival.
        ecn: Ecn,
    },
}

/// A sent packet together with its fate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct PacketResult {
    /// The packet.
    pub sent: SentPacket,
    /// Fate of the packet.
    pub fate: PacketFate,
}
