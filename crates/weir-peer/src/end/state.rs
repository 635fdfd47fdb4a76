//! States of an end, and its outputs.

use std::net::SocketAddr;

use weir_cc::Ecn;

use crate::message::CallRefusal;

/// The end of a session, by its cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EndOutcome {
    /// All was sent.
    Done,
    /// The user ended it, here or at the other end.
    Interrupted,
    /// The listener refused.
    Refused(CallRefusal),
    /// There was no valid answer to the call, perhaps for this reason.
    NoAnswer(Option<CallRefusal>),
    /// No report of the peer came any more.
    Silent,
    /// The peer sends above the ceiling of rate.
    AboveCeiling,
    /// The terms do not fit.
    Terms(String),
}

/// Datagrams that were dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DroppedDatagrams {
    /// Wrong tags, and packets without a session.
    pub forged: u64,
    /// Counters that came before, or are too old.
    pub replayed: u64,
    /// Packets of other addresses than the peer's.
    pub foreign: u64,
    /// Valid packets without meaning.
    pub unreadable: u64,
    /// Answers to hellos.
    pub hellos: u64,
}

/// A datagram to send.
#[derive(Clone, Copy, Debug)]
pub struct OutgoingDatagram<'a> {
    /// Destination.
    pub to: SocketAddr,
    /// ECN field.
    pub ecn: Ecn,
    /// Content.
    pub bytes: &'a [u8],
    /// Bytes without the trailer.
    pub plain: usize,
}

/// The state of an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndPhase {
    /// No session yet.
    Waiting,
    /// Flows are sent or received.
    Running,
    /// All is over but the goodbyes.
    Farewell,
    /// All is over.
    Ended,
}
