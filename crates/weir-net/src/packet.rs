//! What a link asks of a packet, and what becomes of one.

use core::fmt;

use weir_units::TimeDelta;

/// Anything that can travel over a link.
pub trait Packet {
    /// Bytes on the wire, headers of all layers included; must stay the same while the packet is on the link. A link
    /// counts at least one byte.
    fn wire_size(&self) -> u32;

    /// Sets "congestion experienced" (RFC 3168) if the packet is ECN-capable; returns whether it carries it now.
    fn mark_ce(&mut self) -> bool {
        false
    }
}

/// A packet that has come out at the far end of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exit<P> {
    /// The packet.
    pub packet: P,
    /// Its queuing delay: the time from arrival to the departure of its last bit, less its own serialisation at
    /// the rate of that moment. On a trace, the time from arrival to the first opportunity that serves it.
    pub wait: TimeDelta,
    /// Whether random loss hit it: it used capacity but does not arrive.
    pub lost: bool,
    /// Whether this link marked it with "congestion experienced".
    pub marked: bool,
}

/// A packet that a link did not take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dropped<P> {
    /// The packet.
    pub packet: P,
    /// Why it was dropped.
    pub reason: DropReason,
}

/// Why a link did not take a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DropReason {
    /// It would have left later than the queue's limit of time allows.
    QueueTime,
    /// The queue's bytes would have exceeded their limit.
    QueueBytes,
    /// The queue's packets would have exceeded their limit.
    QueuePackets,
    /// The link's service has ended for good: a trace that does not repeat, or a last step without rate.
    DeadLink,
}

impl DropReason {
    /// Every reason, in the order of declaration.
    pub const ALL: [Self; 4] = [Self::QueueTime, Self::QueueBytes, Self::QueuePackets, Self::DeadLink];

    /// The reason in a word, for tables and files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::QueueTime => "queue-time",
            Self::QueueBytes => "queue-bytes",
            Self::QueuePackets => "queue-packets",
            Self::DeadLink => "dead-link",
        }
    }
}

impl fmt::Display for DropReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
