//! Window algorithms: reactions of a TCP-like sender's congestion window. The transport owns the [`Window`]; an
//! algorithm only changes it.

mod cubic;
mod dctcp;
mod highspeed;
mod hystart;
mod newreno;
#[cfg(test)]
mod properties;
mod rounds;
mod rules;
mod westwood;

use core::fmt::Debug;

use weir_units::TimeDelta;

use crate::time::SendTime;

pub use cubic::Cubic;
pub use dctcp::Dctcp;
pub use highspeed::{HighSpeed, Response as HighSpeedResponse};
pub use hystart::{Config as HyStartConfig, HyStart};
pub use newreno::NewReno;
pub use rules::{Reduced, Rules};
pub use westwood::{Estimator as WestwoodEstimator, Westwood};

/// Least window after congestion, in segments (RFC 5681 §3.1 eq. (4), RFC 9438 §4.6).
const MIN_SSTHRESH: f64 = 2.0;

/// Largest possible window, in segments.
const LARGEST: f64 = 1e9;

/// The congestion window, in segments. Owned by the transport, changed by the algorithm.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Window {
    /// `cwnd` in segments.
    pub cwnd: f64,
    /// `ssthresh` in segments; infinite until the first congestion. Serialised, that is null.
    #[cfg_attr(feature = "serde", serde(with = "infinite_as_null"))]
    pub ssthresh: f64,
}

/// The serialised form of a value that may be infinite, which JSON has no number for.
#[cfg(feature = "serde")]
mod infinite_as_null {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature is serde's")]
    pub(super) fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        Some(*value).filter(|value| *value != f64::INFINITY).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        Ok(Option::deserialize(deserializer)?.unwrap_or(f64::INFINITY))
    }
}

impl Window {
    /// Whether the window is below the slow-start threshold.
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Whether both values are in their range. Values from another host may be anything.
    pub fn is_possible(&self) -> bool {
        self.cwnd > 0.0 && self.cwnd <= LARGEST && self.ssthresh > 0.0
    }
}

/// Content of an acknowledgement of new data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ack {
    /// Time of arrival.
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

/// Content of any acknowledgement, including a duplicate one and one in recovery.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Delivery {
    /// Time of arrival.
    pub now: SendTime,
    /// Segments newly known to have arrived, cumulatively or by SACK; without SACK a duplicate stands for one.
    pub delivered: f64,
    /// Segments newly known to have arrived with a congestion mark, where marks are counted.
    pub marked: f64,
    /// Segments sent and not known to have arrived.
    pub outstanding: f64,
    /// The sample of the round-trip time, if there is one.
    pub rtt: Option<TimeDelta>,
    /// Smallest round-trip time seen; [`TimeDelta::MAX`] before the first sample.
    pub min_rtt: TimeDelta,
    /// Whether it comes in fast recovery: the window is the transport's then, and is no evidence on slow start.
    pub recovering: bool,
}

/// Kind of a congestion event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Congestion {
    /// A segment was lost and found by fast retransmit.
    Loss,
    /// The retransmission timer ran out.
    Timeout,
    /// A segment arrived with a congestion mark (RFC 3168).
    Ecn,
}

/// A window-based congestion control algorithm.
pub trait WindowAlgorithm: Send + Sync + Debug {
    /// Resets the algorithm to its initial state, for another connection.
    fn reset(&mut self);

    /// Takes an acknowledgement of any kind; called before the other methods for it.
    fn on_delivery(&mut self, _window: &mut Window, _delivery: &Delivery) {}

    /// New data was acknowledged outside of recovery: grows the window.
    fn on_ack(&mut self, window: &mut Window, ack: &Ack);

    /// Congestion was found with `flight` segments outstanding: sets `ssthresh` and `cwnd`. The transport itself sets
    /// `cwnd` to 1 after a timeout.
    fn on_congestion(&mut self, window: &mut Window, now: SendTime, kind: Congestion, flight: f64);

    /// Whether a mark asks for as large a reduction as a loss (RFC 3168 §5), so that one reduction answers all of
    /// either kind in a window.
    fn marks_count_as_losses(&self) -> bool {
        true
    }

    /// Undoes the last [`Self::on_congestion`], which was spurious: segments taken for lost had only been late (RFC
    /// 5682, RFC 3522). The transport has restored `cwnd` and `ssthresh`; an algorithm may restore the rest of its
    /// state (RFC 9438 §4.9). Linux's algorithms do not.
    fn on_undo(&mut self, _window: &mut Window, _now: SendTime) {}

    /// The sender begins again after it sent no data for longer than its retransmission timeout; it neither sent nor
    /// received for `idle`. The transport itself has reduced `cwnd` to the restart window (RFC 5681 §4.1).
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

    /// The same acknowledgement as a [`Delivery`].
    pub(super) fn delivery(ms: i64, delivered: f64, outstanding: f64) -> Delivery {
        let now = SendTime::from_millis(ms);
        Delivery { now, delivered, marked: 0.0, outstanding, rtt: Some(RTT), min_rtt: RTT, recovering: false }
    }
}
