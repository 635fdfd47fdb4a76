//! Packets on the time line of the bottleneck.

/// A packet that arrived.
#[derive(Clone, Copy, Debug)]
pub(super) struct ServedPacket {
    /// Departure from the sender.
    pub(super) sent_us: i64,
    /// Arrival less the least one-way delay of the call: the end of its service, by the sender's clock.
    pub(super) served_us: i64,
    /// Bytes on the wire.
    pub(super) bytes: u32,
    /// Packets before it, in order of departure, that did not arrive.
    pub(super) missing_before: u32,
    /// Whether it is of the same frame as the packet before it. Used only without departures.
    pub(super) continues_frame: bool,
}

impl ServedPacket {
    /// Time from departure to the end of service, less that of the packet with the least delay.
    pub(super) const fn wait_us(&self) -> i64 {
        self.served_us - self.sent_us
    }
}

/// A packet that was lost.
#[derive(Clone, Copy, Debug)]
pub(super) struct LostPacket {
    /// Served packets that were sent before it.
    pub(super) after: usize,
}
