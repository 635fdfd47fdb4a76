//! Events that the embedder of a flow is alerted to.

use super::breakers::Breaker;

/// An event of a flow that its embedder should act on or log.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Alarm {
    /// A circuit breaker tripped and media has stopped, as if the application had paused it. The application restarts
    /// it with [`MediaSender::resume`](crate::MediaSender::resume), when it has reason to believe that the path bears
    /// it.
    Stopped(Breaker),
    /// The receiver reports packets that were never sent
    /// ([`SendHistory::receiver_lies`](weir_cc::history::SendHistory::receiver_lies)). The flow keeps to its least rate,
    /// regardless of its other reports.
    ReceiverLies,
    /// Reports contradict each other on when a packet arrived
    /// ([`SendHistory::is_contested`](weir_cc::history::SendHistory::is_contested)): some are forged. Meanwhile the
    /// rate does not rise above its present value.
    ReportsContradict,
    /// The end of the two states above: the reports are plausible and consistent again.
    ReportsAgree,
    /// More reports were refused that no honest peer sends
    /// ([`RefusedReports::suspicious`](crate::RefusedReports::suspicious)). The alarm is raised at most once a second.
    /// [`MediaSender::refused_reports`](crate::MediaSender::refused_reports) has the counts by kind.
    ReportsRefused,
}
