//! What a history holds of a packet.

use weir_units::DataSize;

use crate::packet::{Ecn, ProbeId, SentPacket};
use crate::time::{ArrivalTime, SendTime};

/// What is known of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    InFlight,
    /// It has left the path, and no report has told how: the one that covered it is lost or late, or a law's own report
    /// named a later packet.
    Untold,
    Missing,
    Arrived,
    /// It has arrived, and no report has told when.
    Untimed,
    /// No packet has this number.
    LeftOut,
}

impl Known {
    /// What is known of a packet that arrived, `at` if that is told.
    pub(super) fn of_arrival(at: Option<ArrivalTime>) -> Self {
        if at.is_some() { Self::Arrived } else { Self::Untimed }
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) at: SendTime,
    /// Bytes, [`PADDING`] if it carries no media, and [`CAPABLE`] if it left ECN-capable: an entry has 16 bytes.
    pub(super) size: u16,
    pub(super) probe: Option<ProbeId>,
    /// When it arrived, where that is told, in ms modulo 65 536.
    pub(super) arrived: u16,
    /// Bytes of the size that are not payload.
    pub(super) overhead: u8,
    pub(super) known: Known,
}

/// The bit of [`Entry::size`] that marks padding.
pub(super) const PADDING: u16 = 1 << 15;
/// The bit of [`Entry::size`] that marks a packet as ECN-capable.
pub(super) const CAPABLE: u16 = 1 << 14;
/// The bits of [`Entry::size`] that are its bytes.
pub(super) const BYTES: u16 = CAPABLE - 1;

/// Of a number that no packet has.
pub(super) const VACANT: Entry =
    Entry { at: SendTime::ZERO, size: 0, probe: None, arrived: 0, overhead: 0, known: Known::Arrived };

impl Entry {
    pub(super) fn size(&self) -> DataSize {
        DataSize::from_bytes(u64::from(self.size & BYTES))
    }

    /// Its bytes while it is in flight.
    pub(super) fn in_flight(&self) -> DataSize {
        if self.known == Known::InFlight { self.size() } else { DataSize::ZERO }
    }

    /// `ecn`, as it can have arrived. A queue marks only what left ECN-capable (RFC 3168 §5); `None` for another mark.
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
