//! What a law is told about packets: as they are sent, as they arrive, and what became of them.

use core::num::NonZeroU16;

use weir_units::{DataRate, DataSize, TimeDelta};

use crate::time::{ArrivalTime, SendTime};

/// A packet that has just left the pacer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentPacket {
    /// Number on this path, growing by one per packet and never wrapping (the wire carries its lower 16 bits).
    pub id: u64,
    /// When it left.
    pub at: SendTime,
    /// RTP header and payload: what counts as in flight.
    pub size: DataSize,
    /// The payload alone: what the receiver counts ([`Arrival::size`]) and targets mean.
    pub payload: DataSize,
    /// Whether it carries no media, only padding.
    pub padding: bool,
    /// The probe that it belongs to.
    pub probe: Option<ProbeId>,
}

impl SentPacket {
    /// A packet of media, all of it payload, of no probe.
    pub const fn new(id: u64, at: SendTime, size: DataSize) -> Self {
        Self { id, at, size, payload: size, padding: false, probe: None }
    }
}

/// Names a [`Probe`](crate::controller::Probe) among those of a controller under way.
pub type ProbeId = NonZeroU16;

/// The state of the sending endpoint that a law may want to know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SendState {
    /// Bytes sent and neither acknowledged nor known to be lost nor too old to matter.
    pub in_flight: DataSize,
    /// Bytes waiting in the pacer.
    pub queued: DataSize,
    /// Whether the source offers less than the target, so that sending says nothing about capacity.
    pub application_limited: bool,
}

/// The ECN field of a packet as it arrived (RFC 3168).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
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

/// What a law puts into the header of each packet it sends: some laws' receivers need the sender's view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    /// The sender's round-trip time, zero while unknown.
    pub rtt: TimeDelta,
    /// The rate it sends at, zero while unknown.
    pub rate: DataRate,
}

/// A packet as it arrived, times unwrapped from the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Number on this path, unwrapped from the wire.
    pub id: u64,
    /// When it left, by the sender's clock at the resolution of the wire.
    pub departure: SendTime,
    /// When it arrived.
    pub at: ArrivalTime,
    /// Payload: rates of arrivals then compare with targets, which are rates of media.
    pub size: DataSize,
    /// ECN field on arrival.
    pub ecn: Ecn,
    /// Media time in ticks of the media clock (90 kHz for video), unwrapped: packets of a frame share it.
    pub media_time: u64,
    /// RTP marker bit: the last packet of a frame.
    pub marker: bool,
    /// The sender's stamp.
    pub stamp: Stamp,
}

impl Arrival {
    /// A packet of `size` bytes of payload: without a mark, a stamp, a media time and a marker, which are the fields that only
    /// some laws' receiver halves ask for.
    pub const fn new(id: u64, departure: SendTime, at: ArrivalTime, size: DataSize) -> Self {
        let stamp = Stamp { rtt: TimeDelta::ZERO, rate: DataRate::ZERO };
        Self { id, departure, at, size, ecn: Ecn::NotEct, media_time: 0, marker: false, stamp }
    }
}

/// What became of a sent packet, once feedback told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It arrived.
    Arrived {
        /// When, by the receiver's clock; `None` if the report does not tell. It measures no delay then.
        at: Option<ArrivalTime>,
        /// ECN field on arrival.
        ecn: Ecn,
    },
    /// A report covers it and has not seen it.
    Missing,
    /// It was reported missing before and has arrived after all.
    Recovered {
        /// When, by the receiver's clock; `None` if the report does not tell.
        at: Option<ArrivalTime>,
        /// ECN field on arrival.
        ecn: Ecn,
    },
}

/// A sent packet together with its fate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketResult {
    /// The packet.
    pub sent: SentPacket,
    /// What became of it.
    pub fate: Fate,
}
