//! Window laws: how a TCP-like sender's congestion window reacts. The transport owns the [`Window`]; a law only
//! changes it.

pub mod cubic;
pub mod dctcp;
pub mod highspeed;
pub mod hystart;
pub mod newreno;
#[cfg(test)]
mod properties;
mod rounds;
mod rules;
pub mod westwood;

use core::fmt::Debug;

use weir_units::TimeDelta;

use crate::time::SendTime;

pub use cubic::Cubic;
pub use dctcp::Dctcp;
pub use highspeed::HighSpeed;
pub use newreno::NewReno;
pub use rules::{Reduced, Rules};
pub use westwood::Westwood;

/// A window never falls below this by congestion, in segments (RFC 5681 §3.1 eq. (4), RFC 9438 §4.6).
const MIN_SSTHRESH: f64 = 2.0;

/// The congestion window, in segments. Owned by the transport, changed by the law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// `cwnd` in segments.
    pub cwnd: f64,
    /// `ssthresh` in segments; infinite until the first congestion.
    pub ssthresh: f64,
}

impl Window {
    /// Whether the window is below the slow-start threshold.
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }
}

/// What an acknowledgement told.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ack {
    /// When it came.
    pub now: SendTime,
    /// Segments newly acknowledged, cumulatively.
    pub acked: f64,
    /// Smoothed round-trip time.
    pub srtt: TimeDelta,
    /// Smallest round-trip time seen.
    pub min_rtt: TimeDelta,
    /// Whether the window, not the application, limited sending.
    pub window_limited: bool,
}

/// What every acknowledgement tells, also a duplicate one and one in recovery.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Delivery {
    /// When it came.
    pub now: SendTime,
    /// Segments newly known to have arrived, cumulatively or by SACK; without SACK a duplicate tells of one.
    pub delivered: f64,
    /// How many segments are newly known to have arrived with a congestion mark, where marks are counted.
    pub marked: f64,
    /// Segments sent and not known to have arrived.
    pub outstanding: f64,
    /// The sample of the round-trip time, if there is one.
    pub rtt: Option<TimeDelta>,
    /// Smallest round-trip time seen; [`TimeDelta::MAX`] before the first sample.
    pub min_rtt: TimeDelta,
    /// Whether it comes in fast recovery: the window is the transport's then, and says nothing of slow start.
    pub recovering: bool,
}

/// What kind of congestion was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Congestion {
    /// A segment was lost and fast retransmit found it.
    Loss,
    /// The retransmission timer ran out.
    Timeout,
    /// A segment arrived with a congestion mark (RFC 3168).
    Ecn,
}

/// A window law.
pub trait WindowAlgorithm: Send + Sync + Debug {
    /// Another connection begins: the law is as when it was made.
    fn reset(&mut self);

    /// An acknowledgement of any kind has come; before any of the others is called for it.
    fn on_delivery(&mut self, _window: &mut Window, _delivery: &Delivery) {}

    /// New data was acknowledged outside of recovery: grow the window.
    fn on_ack(&mut self, window: &mut Window, ack: &Ack);

    /// Congestion was found with `flight` segments outstanding: set `ssthresh` and `cwnd`. The transport itself
    /// sets `cwnd` to 1 after a timeout.
    fn on_congestion(&mut self, window: &mut Window, now: SendTime, kind: Congestion, flight: f64);

    /// Whether a mark asks for as much as a loss does (RFC 3168 §5), so that one reduction answers all of either kind in
    /// a window.
    fn marks_count_as_losses(&self) -> bool {
        true
    }

    /// What [`Self::on_congestion`] was told last was none: what was taken for lost had only been late (RFC 5682, RFC 3522). The
    /// transport has taken `cwnd` and `ssthresh` back to what they were before; a law may take back what it had concluded
    /// besides (RFC 9438 §4.9). Linux's laws do not.
    fn on_undo(&mut self, _window: &mut Window, _now: SendTime) {}

    /// The sender begins again after it sent nothing for longer than its retransmission timeout, and neither sent nor
    /// heard anything for `idle`. The transport itself has taken `cwnd` back to the restart window (RFC 5681 §4.1).
    fn on_idle(&mut self, _window: &mut Window, _idle: TimeDelta) {}
}

#[cfg(test)]
mod test_support {
    use super::*;

    const RTT: TimeDelta = TimeDelta::from_millis(100);

    /// An acknowledgement of `acked` segments at a round-trip time of 100 ms.
    pub(super) fn ack(ms: i64, acked: f64) -> Ack {
        Ack { now: SendTime::from_millis(ms), acked, srtt: RTT, min_rtt: RTT, window_limited: true }
    }

    /// The same as it tells of deliveries.
    pub(super) fn delivery(ms: i64, delivered: f64, outstanding: f64) -> Delivery {
        let now = SendTime::from_millis(ms);
        Delivery { now, delivered, marked: 0.0, outstanding, rtt: Some(RTT), min_rtt: RTT, recovering: false }
    }
}
