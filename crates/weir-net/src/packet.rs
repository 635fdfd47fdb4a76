//! The interface of a packet on a link, and the outcome of its passage.

use core::fmt;

use weir_units::TimeDelta;

/// A value that can travel over a link.
pub trait Packet {
    /// Bytes on the wire, headers of all layers included; constant while the packet is on the link. A link counts
    /// at least one byte.
    fn wire_size(&self) -> u32;

    /// Whether it can be marked in place of being dropped (RFC 3168): ECT(0), ECT(1) or "congestion experienced". Must
    /// stay the same while the packet is on the link.
    fn is_ecn_capable(&self) -> bool {
        false
    }

    /// Sets "congestion experienced" (RFC 3168). Called for ECN-capable packets only.
    fn mark_ce(&mut self) {}

    /// Whether it carries the identifier of L4S (RFC 9331 §5): ECT(1) or "congestion experienced".
    fn is_l4s(&self) -> bool {
        false
    }

    /// The flow it belongs to, for disciplines with a queue per flow and for jitter that keeps a flow in order. On
    /// one link packets of the same five-tuple carry the same number.
    fn flow(&self) -> u32 {
        0
    }
}

/// A packet that has left a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exit<P> {
    /// The packet.
    pub packet: P,
    /// Its queuing delay: the time from arrival to the departure of its last bit, less its own serialisation at
    /// the rate of that moment. On a trace, the time from arrival to the first opportunity that serves it. For a
    /// packet that the queue dropped, the time it was in the queue.
    pub wait: TimeDelta,
    /// Outcome of the packet.
    pub fate: Fate,
    /// Whether this link marked it with "congestion experienced".
    pub marked: bool,
}

/// Outcome of a packet that a link took.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fate {
    /// The packet comes out at the far end.
    Arrived,
    /// Random loss hit it: it used capacity but does not arrive.
    Lost,
    /// The queue dropped it after all, unserved. Only queues with an active [`Discipline`](crate::Discipline) do so.
    Dropped(DropReason),
}

/// A packet that a link did not take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dropped<P> {
    /// The packet.
    pub packet: P,
    /// Why it was dropped.
    pub reason: DropReason,
}

/// Why a link dropped a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DropReason {
    /// The packet would have left later than the queue's limit of time allows.
    QueueTime,
    /// The queue's bytes would have exceeded their limit.
    QueueBytes,
    /// The queue's packets would have exceeded their limit.
    QueuePackets,
    /// The link's service has ended for good: a trace that does not repeat, or a last step without rate. Also
    /// given for a packet larger than the token bucket.
    DeadLink,
    /// Active queue management dropped it early, to signal congestion.
    Aqm,
}

impl DropReason {
    /// Every reason, in the order of declaration.
    pub const ALL: [Self; 5] =
        [Self::QueueTime, Self::QueueBytes, Self::QueuePackets, Self::DeadLink, Self::Aqm];

    /// The reason as an identifier, for tables and files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::QueueTime => "queue-time",
            Self::QueueBytes => "queue-bytes",
            Self::QueuePackets => "queue-packets",
            Self::DeadLink => "dead-link",
            Self::Aqm => "aqm",
        }
    }
}

impl fmt::Display for DropReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
