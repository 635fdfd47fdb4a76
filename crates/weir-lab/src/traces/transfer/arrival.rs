//! A packet as it arrived.

/// A packet of the transfer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    /// Since the first one.
    pub(super) nanos: i64,
    /// Of its stream's clock, since the stream's first packet.
    pub(super) ticks: i64,
    pub(super) bytes: u32,
    pub(super) stream: u32,
}
