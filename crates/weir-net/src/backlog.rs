//! The backlog of a queue, and the bytes and nanoseconds in which links count it.

use weir_units::{DataSize, TimeDelta};

use crate::packet::Packet;
use crate::server::NEVER;
use crate::time::Time;

/// The packets and bytes in a link's queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Packets whose last bit has not left, the one in service included.
    pub packets: u32,
    /// Bytes not yet served, rounded down.
    pub bytes: DataSize,
}

/// Bytes that a packet counts as; at least one.
#[inline]
pub(crate) fn size_of(packet: &impl Packet) -> u32 {
    packet.wire_size().max(1)
}

/// Nanoseconds as a time span; values out of its range saturate.
#[inline]
pub(crate) fn span(nanos: u64) -> TimeDelta {
    TimeDelta::from_nanos(i64::try_from(nanos).unwrap_or(i64::MAX))
}

/// The later of `now` and the latest time given `before`; always earlier than [`NEVER`].
#[inline]
pub(crate) fn latest(before: u64, now: Time) -> u64 {
    before.max(now.nanos().min(NEVER - 1))
}
