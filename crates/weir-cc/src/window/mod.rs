//! Window laws: how a TCP-like sender's congestion window reacts. The transport owns the [`Window`]; a law only
//! changes it.

use core::fmt::Debug;

use weir_units::TimeDelta;

use crate::time::SendTime;

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
    /// Segments newly acknowledged.
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
pub trait WindowLaw: Send + Debug {
    /// New data was acknowledged outside of recovery: grow the window.
    fn on_ack(&mut self, window: &mut Window, ack: &Ack);

    /// Congestion was found with `flight` segments outstanding: set `ssthresh` and `cwnd`. The transport itself
    /// sets `cwnd` to 1 after a timeout.
    fn on_congestion(&mut self, window: &mut Window, now: SendTime, kind: Congestion, flight: f64);

    /// Recovery has ended: congestion avoidance begins.
    fn on_recovered(&mut self, _window: &mut Window, _now: SendTime) {}

    /// The sender was idle for `idle`.
    fn on_idle(&mut self, _window: &mut Window, _idle: TimeDelta) {}
}
