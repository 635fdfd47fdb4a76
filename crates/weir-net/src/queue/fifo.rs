//! First in, first out: what every queue is made of.

use std::collections::VecDeque;

use crate::packet::{DropReason, Packet};

/// A packet that waits.
#[derive(Clone, Debug)]
pub(crate) struct Queued<P> {
    /// When it arrived, ns.
    pub(crate) arrival: u64,
    /// Bytes it counts with.
    pub(crate) size: u32,
    /// Whether this queue has marked it.
    pub(crate) marked: bool,
    pub(crate) packet: P,
}

impl<P: Packet> Queued<P> {
    /// Marks it instead of dropping it, if it is ECN-capable.
    pub(super) fn mark(&mut self) -> bool {
        let marked = self.packet.mark_ce();
        self.marked |= marked;
        marked
    }
}

/// Packets that a queue has dropped after having taken them, each with the reason.
pub(crate) type Refuse<P> = VecDeque<(Queued<P>, DropReason)>;

/// Packets in order of arrival.
#[derive(Clone, Debug)]
pub(crate) struct Fifo<P> {
    waiting: VecDeque<Queued<P>>,
    bytes: u64,
}

impl<P> Default for Fifo<P> {
    fn default() -> Self {
        Self { waiting: VecDeque::new(), bytes: 0 }
    }
}

impl<P> Fifo<P> {
    #[inline]
    pub(super) fn push(&mut self, packet: Queued<P>) {
        self.bytes += u64::from(packet.size);
        self.waiting.push_back(packet);
    }

    #[inline]
    pub(super) fn pop(&mut self) -> Option<Queued<P>> {
        let packet = self.waiting.pop_front()?;
        self.bytes -= u64::from(packet.size);
        Some(packet)
    }

    pub(super) fn front(&self) -> Option<&Queued<P>> {
        self.waiting.front()
    }

    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }
}
