//! Entry of a packet in the send history.

use weir_units::DataSize;

use crate::packet::{Ecn, ProbeId, SentPacket};
use crate::time::{ArrivalTime, SendTime};

/// Reported state of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KnownFate {
    InFlight,
    /// The packet is no longer in flight, and its fate is not reported. The report on it is lost or late, or a
    /// controller's own report echoed a later packet.
    Unreported,
    Missing,
    Arrived,
    /// The packet has arrived, at a time that is not reported.
    Untimed,
    /// No packet has this number, which was skipped.
    Skipped,
}

impl KnownFate {
    /// The state of a packet that has arrived, with or without a reported time.
    pub(super) fn of_arrival(at: Option<ArrivalTime>) -> Self {
        if at.is_some() { Self::Arrived } else { Self::Untimed }
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) at: SendTime,
    /// Size in bytes, with [`PADDING`] if the packet has no media, and [`CAPABLE`] if it left ECN-capable, so that an
    /// entry has 16 bytes.
    pub(super) size: u16,
    pub(super) probe: Option<ProbeId>,
    /// Reported arrival time in ms modulo 65 536.
    pub(super) arrived: u16,
    /// Bytes of the size that are not payload.
    pub(super) overhead: u8,
    pub(super) known: KnownFate,
}

/// The bit of [`Entry::size`] that marks padding.
pub(super) const PADDING: u16 = 1 << 15;
/// The bit of [`Entry::size`] that marks a packet as ECN-capable.
pub(super) const CAPABLE: u16 = 1 << 14;
/// The bits of [`Entry::size`] that hold the bytes.
pub(super) const BYTES: u16 = CAPABLE - 1;

/// Entry of a number without a packet.
pub(super) const SKIPPED: Entry =
    Entry { at: SendTime::ZERO, size: 0, probe: None, arrived: 0, overhead: 0, known: KnownFate::Arrived };

impl Entry {
    pub(super) fn size(&self) -> DataSize {
        DataSize::from_bytes(u64::from(self.size & BYTES))
    }

    /// Size of the packet while it is in flight, else zero.
    pub(super) fn in_flight(&self) -> DataSize {
        if self.known == KnownFate::InFlight { self.size() } else { DataSize::ZERO }
    }

    /// `ecn`, or `None` if it is impossible: a queue marks only packets that left ECN-capable (RFC 3168 §5).
    pub(super) fn possible(&self, ecn: Ecn) -> Option<Ecn> {
        (ecn != Ecn::Ce || self.size & CAPABLE != 0).then_some(ecn)
    }

    pub(super) fn packet(&self, id: u64) -> SentPacket {
        let size = self.size();
        let payload = size.saturating_sub(DataSize::from_bytes(u64::from(self.overhead)));
        let padding = self.size & PADDING != 0;
        SentPacket { id, at: self.at, size, payload, padding, probe: self.probe }
    }
}
