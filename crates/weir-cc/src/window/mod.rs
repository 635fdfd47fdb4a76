//! Window laws: how a TCP-like sender's congestion window reacts. The transport owns the [`Window`]; a law only
//! changes it.

pub mod cubic;
pub mod newreno;

use core::fmt::Debug;

use weir_units::TimeDelta;

use crate::time::SendTime;

pub use cubic::Cubic;
pub use newreno::NewReno;

/// A window never falls below this by congestion, in segments (RFC 5681 §3.1 eq. (4), RFC 9438 §4.6).
const MIN_SSTHRESH: f64 = 2.0;

/// `L`, by how many segments one acknowledgement may open the window in slow start (RFC 3465 §2.3).
const SLOW_START_LIMIT: f64 = 2.0;

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

    /// Slow start with byte counting (RFC 3465 §2.2): opens the window by the segments acknowledged, at most up
    /// to the threshold, and returns what is left over for congestion avoidance.
    fn slow_start(&mut self, acked: f64) -> f64 {
        if !self.in_slow_start() {
            return acked;
        }
        let opened = self.cwnd + acked.min(SLOW_START_LIMIT);
        self.cwnd = opened.min(self.ssthresh);
        opened - self.cwnd
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

/// What kind of congestion was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Congestion {
    /// A segment was lost and fast retransmit found it.
    Loss,
    /// The retransmission timer ran out.
    Timeout,
}

/// A window law.
pub trait WindowLaw: Send + Sync + Debug {
    /// New data was acknowledged outside of recovery: grow the window.
    fn on_ack(&mut self, window: &mut Window, ack: &Ack);

    /// Congestion was found with `flight` segments outstanding: set `ssthresh` and `cwnd`. The transport itself
    /// sets `cwnd` to 1 after a timeout.
    fn on_congestion(&mut self, window: &mut Window, now: SendTime, kind: Congestion, flight: f64);

    /// Recovery has ended: congestion avoidance begins.
    fn on_recovered(&mut self, _window: &mut Window, _now: SendTime) {}

    /// The sender begins again after it sent nothing for longer than its retransmission timeout, and neither sent nor
    /// heard anything for `idle`. The transport
    /// itself has taken `cwnd` back to the restart window (RFC 5681 §4.1).
    fn on_idle(&mut self, _window: &mut Window, _idle: TimeDelta) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_start_stops_at_the_threshold_and_leaves_the_rest() {
        // 9 + 2 = 11 passes the threshold of 9.5: 1.5 segments are left for congestion avoidance.
        let mut window = Window { cwnd: 9.0, ssthresh: 9.5 };
        assert_eq!(window.slow_start(2.0), 1.5);
        assert_eq!(window.cwnd, 9.5);
        assert_eq!(window.slow_start(2.0), 2.0);
    }

    #[test]
    fn one_acknowledgement_opens_the_window_by_two_segments_at_most() {
        let mut window = Window { cwnd: 10.0, ssthresh: f64::INFINITY };
        assert_eq!(window.slow_start(50.0), 0.0);
        assert_eq!(window.cwnd, 12.0);
    }
}
