//! Conversion between congestion windows and rates.
//!
//! A window of `cwnd` segments is the rate `8 · cwnd · segment / base_rtt` of a path without a queue. Conversely, a
//! rate is the window that fills such a path. The conversion uses the smallest round-trip time, not the present one.
//! Where a queue has grown, a window carries less than its rate, never more. So a flow with a window adds no more to
//! the queue than its share's part of it.
//!
//! A flow that reports its window ([`CouplingMessage::Window`](crate::coupled::CouplingMessage::Window)) is steered by
//! windows; [`WindowConversion`] is the state that a coupler of rates keeps of it. A controller that computes rates and keeps a
//! window as well is steered by rates: its window follows, as an allocation is relative
//! ([`AllocatedRate`](crate::AllocatedRate)).
//!
//! * A loss event is reported as recovery begins, by the window that the congestion controller wants after it
//!   (`ssthresh`). The windows that the transport has in between do not count: there is one reaction for each recovery.
//!   In recovery the window is the transport's own.
//! * A window's `ssthresh` is the flow's own until the group has met congestion. Afterwards it is the flow's part of
//!   the sum up to which the group may use slow start.

use weir_units::{DataSize, TimeDelta};

use crate::coupled::message::{CwndUpdate, WindowEvent, Windowed};
use crate::decision::ChangeReason;
use crate::window::Window;

/// Part of a rate that remains after a loss event if no controller gives another part (RFC 5681 §3.1 eq. (4)).
const LOSS_FACTOR: f64 = 0.5;
const MIN_RTT: TimeDelta = TimeDelta::from_millis(1);
const MAX_RTT: TimeDelta = TimeDelta::from_secs(10);
/// Least slow-start threshold in segments (RFC 5681 §3.1 eq. (4)).
const MIN_THRESHOLD: f64 = 2.0;

/// The round-trip time limited to the range of 1 ms to 10 s, because a reported value can be arbitrary.
pub(super) fn possible_rtt(rtt: TimeDelta) -> TimeDelta {
    rtt.clamp(MIN_RTT, MAX_RTT)
}

/// The rate of `cwnd` segments in bit/s.
pub(super) fn rate_of(cwnd: f64, segment: DataSize, base_rtt: TimeDelta) -> f64 {
    cwnd * segment.bits_f64() / base_rtt.secs_f64()
}

/// The window of a rate in bit/s, in segments.
pub(super) fn window_of(rate: f64, segment: DataSize, base_rtt: TimeDelta) -> f64 {
    rate * base_rtt.secs_f64() / segment.bits_f64()
}

/// The window of a flow in a coupler of rates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct WindowConversion {
    segment: DataSize,
    base_rtt: Option<TimeDelta>,
    /// The last window that was reported by the flow or allocated to it.
    window: Window,
    recovering: bool,
}

/// Effect of a window event in a coupler of rates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum RateUpdate {
    /// The flow's controller computed one rate from another; both are in bit/s.
    Update {
        /// The rate before.
        base: f64,
        /// The rate now.
        rate: f64,
        /// The reason of the change.
        why: ChangeReason,
    },
    /// Retransmission timeout. The caller knows the other flows, and decides whether the rate is reduced and a loss
    /// is reported.
    TimedOut {
        /// The rate of the present window.
        base: f64,
        /// The rate after one loss event. It equals `base` in recovery, whose loss has been reported.
        rate: f64,
    },
    /// The end of recovery, whose loss has been reported.
    Recovered {
        /// The rate of the present window.
        rate: f64,
    },
    /// No effect on a rate.
    NoEffect,
}

impl WindowConversion {
    /// A flow that joins, or `None` for an [impossible](Windowed::is_possible) window.
    pub(super) fn new(joined: &Windowed) -> Option<Self> {
        let base_rtt = joined.base_rtt.map(possible_rtt);
        let conversion = Self { segment: joined.segment, base_rtt, window: joined.window, recovering: false };
        joined.is_possible().then_some(conversion)
    }

    /// The rate of `cwnd` segments in bit/s, or `None` before the first round-trip time.
    pub(super) fn rate(&self, cwnd: f64) -> Option<f64> {
        Some(rate_of(cwnd, self.segment, self.base_rtt?))
    }

    /// Whether the flow accepts a window at present.
    pub(super) const fn is_open(&self) -> bool {
        self.base_rtt.is_some() && !self.recovering
    }

    /// Takes the smallest round-trip time. Returns whether it changed, which changes all rates.
    pub(super) fn on_base_rtt(&mut self, base_rtt: Option<TimeDelta>) -> bool {
        let base_rtt = base_rtt.filter(|&rtt| rtt > TimeDelta::ZERO).map(possible_rtt).or(self.base_rtt);
        core::mem::replace(&mut self.base_rtt, base_rtt) != base_rtt
    }

    /// The effect of `cwnd_update`, whose amounts must be [possible](CwndUpdate::is_possible).
    pub(super) fn on_window(&mut self, cwnd_update: &CwndUpdate) -> RateUpdate {
        self.window = cwnd_update.after;
        let Some(base) = self.rate(cwnd_update.before.cwnd) else { return RateUpdate::NoEffect };
        let at = |cwnd: f64| self.rate(cwnd).unwrap_or(base);
        let (after, threshold) =
            (at(cwnd_update.after.cwnd), at(cwnd_update.after.ssthresh.min(cwnd_update.before.cwnd)));
        let recovering = self.recovering;
        self.recovering = matches!(cwnd_update.event, WindowEvent::RecoveryEntered);
        match cwnd_update.event {
            // There is one loss event for each recovery.
            WindowEvent::RecoveryEntered if recovering => RateUpdate::NoEffect,
            WindowEvent::RecoveryEntered => {
                RateUpdate::Update { base, rate: threshold, why: ChangeReason::Loss }
            }
            WindowEvent::RecoveryLeft => RateUpdate::Recovered { rate: after },
            WindowEvent::TimedOut => {
                RateUpdate::TimedOut { base, rate: if recovering { base } else { base * LOSS_FACTOR } }
            }
            WindowEvent::Reduced => RateUpdate::Update { base, rate: after, why: ChangeReason::Timeout },
            WindowEvent::Marked => RateUpdate::Update { base, rate: after, why: ChangeReason::Mark },
            WindowEvent::Acknowledged => {
                RateUpdate::Update { base, rate: after, why: ChangeReason::Delay.of(after < base) }
            }
            WindowEvent::Repairing | WindowEvent::Idle => {
                self.recovering = recovering;
                RateUpdate::NoEffect
            }
        }
    }

    /// The window of `rate` (bit/s), which the flow uses from now on, or `None` before the first round-trip time. The
    /// group has the rate `sum`. Once it has met congestion, it may use slow start up to `threshold`.
    pub(super) fn allocate(&mut self, rate: f64, sum: f64, threshold: Option<f64>) -> Option<Window> {
        let cwnd = window_of(rate, self.segment, self.base_rtt?).max(1.0);
        let own_window = self.window;
        let ssthresh = match threshold {
            Some(threshold) if sum > 0.0 => (cwnd * (threshold / sum)).max(MIN_THRESHOLD),
            _ if own_window.in_slow_start() => own_window.ssthresh,
            _ => own_window.ssthresh.min(cwnd).max(MIN_THRESHOLD),
        };
        self.window = Window { cwnd, ssthresh };
        Some(self.window)
    }
}
