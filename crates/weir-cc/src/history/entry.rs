//! What a history holds of a packet.

use weir_units::DataSize;

use crate::packet::{ProbeId, SentPacket};
use crate::time::SendTime;

/// What is known of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    InFlight,
    /// It has left the path, and no report has told how: the one that covered it is lost or late, or a law's own report
    /// named a later packet.
    Untold,
    Missing,
    Arrived,
    /// No packet has this number.
    LeftOut,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) at: SendTime,
    /// Bytes, and [`PADDING`] if it carries no media: an entry has 16 bytes.
    pub(super) size: u16,
    pub(super) probe: Option<ProbeId>,
    /// When it arrived, as far as is told, in ms modulo 65 536.
    pub(super) arrived: u16,
    /// Bytes of the size that are not payload.
    pub(super) overhead: u8,
    pub(super) known: Known,
}

/// The bit of [`Entry::size`] that marks padding.
pub(super) const PADDING: u16 = 1 << 15;

/// Of a number that no packet has.
pub(super) const VACANT: Entry =
    Entry { at: SendTime::ZERO, size: 0, probe: None, arrived: 0, overhead: 0, known: Known::Arrived };

impl Entry {
    pub(super) fn size(&self) -> DataSize {
        DataSize::from_bytes(u64::from(self.size & !PADDING))
    }

    /// Its bytes while it is in flight.
    pub(super) fn in_flight(&self) -> DataSize {
        if self.known == Known::InFlight { self.size() } else { DataSize::ZERO }
    }

    pub(super) fn packet(&self, id: u64) -> SentPacket {
        let size = self.size();
        let payload = size.saturating_sub(DataSize::from_bytes(u64::from(self.overhead)));
        let padding = self.size & PADDING != 0;
        SentPacket { id, at: self.at, size, payload, padding, probe: self.probe }
    }
}
