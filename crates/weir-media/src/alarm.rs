//! What an embedder must hear of.

use crate::breakers::Breaker;

/// What happened to a flow that its embedder must hear of.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Alarm {
    /// A circuit breaker tripped and media has stopped, as if the application had paused it. It goes on when the application
    /// says so ([`MediaSender::resume`](crate::MediaSender::resume)), which should have reason to believe that the path bears it.
    Stopped(Breaker),
    /// The receiver tells of packets that were never sent
    /// ([`SendHistory::receiver_lies`](weir_cc::history::SendHistory::receiver_lies)): whatever else it says, the flow keeps
    /// to its least rate.
    ReceiverLies,
    /// Reports contradict each other on when a packet arrived
    /// ([`SendHistory::is_contested`](weir_cc::history::SendHistory::is_contested)): somebody forges some. While they do the rate does
    /// not rise above what it is now.
    ReportsContradict,
    /// Neither is so any more.
    ReportsAgree,
    /// More was refused that no honest peer sends ([`RefusedReports::suspicious`](crate::RefusedReports::suspicious)); told once a second
    /// at most. What, and how much, tells [`MediaSender::refused_reports`](crate::MediaSender::refused_reports).
    ReportsRefused,
}
