//! Coupling of a TCP sender: its reports on the window to the coupler, and the coupler's actions.

use weir_cc::coupled::sbd::SegmentStatistics;
use weir_cc::coupled::{CouplerAction, CouplingMessage, CwndUpdate, Statistics, WindowEvent};
use weir_cc::window::Window;
use weir_cc::{ArrivalTime, SendTime};
use weir_units::TimeDelta;
use weir_world::tcp::{Acknowledgement, Timestamps};

use super::recovery::TimeoutReduction;
use super::{State, TcpSender};

/// Coupling state of a sender.
#[derive(Clone, Debug, Default)]
pub(super) struct SenderCoupling {
    is_coupled: bool,
    /// Reduction for a timeout on which the coupler has not decided yet.
    reduction: Option<TimeoutReduction>,
    /// Effective window until the coupler decides.
    interim_window: f64,
    /// Number of segments that may leave by acknowledgements of other flows.
    clocked: u32,
    delays: Option<Box<PathStatistics>>,
}

/// Measurements of the path for shared bottleneck detection (RFC 8382).
#[derive(Clone, Debug)]
struct PathStatistics {
    statistics: SegmentStatistics,
    /// Departure and arrival of the segment that was reported last.
    last: Option<(SendTime, ArrivalTime)>,
}

impl PathStatistics {
    /// Takes an acknowledgement with these timestamps that reports `segments` segments for the first time.
    fn on_delivery(&mut self, now: SendTime, stamps: Timestamps, segments: u32) {
        let sent = stamps.sent(now);
        if segments == 0 || sent > now {
            return; // an echo from the future is none
        }
        let about = self.last.map_or(ArrivalTime::ZERO, |(before, arrived)| arrived + (sent - before));
        let arrived = stamps.arrived(about);
        self.last = Some((sent, arrived));
        self.statistics.on_acknowledgement(sent, arrived, segments);
    }

    /// Takes a retransmission. Its original left at about the time of the segment reported last.
    fn on_retransmission(&mut self) {
        if let Some((sent, _)) = self.last {
            self.statistics.on_retransmission(sent);
        }
    }
}

impl SenderCoupling {
    pub(super) const fn is_coupled(&self) -> bool {
        self.is_coupled
    }

    /// Starts to wait for the coupler's decision on whether a timeout reduces the window. A further timeout adds no
    /// request.
    pub(super) fn await_decision(&mut self, reduction: TimeoutReduction, interim_window: f64) {
        self.reduction.get_or_insert(reduction);
        self.interim_window = interim_window;
    }

    /// The effective window: that of the timeout until the coupler has decided on it.
    #[inline]
    pub(super) fn limit(&self, cwnd: f64) -> f64 {
        if self.reduction.is_some() { cwnd.min(self.interim_window) } else { cwnd }
    }

    #[inline]
    pub(super) fn on_delivery(&mut self, now: SendTime, stamps: Timestamps, segments: u32) {
        if let Some(delays) = &mut self.delays {
            delays.on_delivery(now, stamps, segments);
        }
    }

    #[inline]
    pub(super) fn on_retransmission(&mut self) {
        if let Some(delays) = &mut self.delays {
            delays.on_retransmission();
        }
    }

    /// Whether a segment may leave beyond the window. If so, it is counted.
    #[inline]
    pub(super) fn take_clocked(&mut self) -> bool {
        let may = self.clocked > 0;
        self.clocked -= u32::from(may);
        may
    }
}

impl TcpSender {
    /// Couples the sender. From now on changes of the window are reported, and a timeout only retransmits: the coupler
    /// decides whether the window is reduced as well.
    pub fn couple(&mut self) {
        self.coupled.is_coupled = true;
    }

    /// Measures delays from now on, for a coupler that detects shared bottlenecks. The receiver must
    /// [report](super::super::TcpReceiver::report_delays) them.
    pub fn measure_delays(&mut self, statistics: SegmentStatistics) {
        self.coupled.delays = Some(Box::new(PathStatistics { statistics, last: None }));
    }

    /// Ends the coupling; a timeout that waits for the coupler's decision reduces the window.
    pub fn uncouple(&mut self, now: SendTime) {
        let SenderCoupling { reduction, interim_window, .. } = core::mem::take(&mut self.coupled);
        if let Some(reduction) = reduction {
            self.reduce_by_timeout(now, reduction, interim_window);
        }
    }

    /// Takes an acknowledgement. Poll for segments afterwards; if coupled, after the coupler's actions are applied.
    pub fn on_ack_coupled(&mut self, now: SendTime, ack: &Acknowledgement) -> AckResult {
        if !self.coupled.is_coupled {
            return AckResult { rtt: self.on_ack(now, ack), connected: false, loss: None, message: None };
        }
        let (state, before, first) = (self.state, self.window, self.board.first());
        let reductions = self.counts.ecn_reductions;
        let rtt = self.on_ack(now, ack);
        let acked = self.board.first().saturating_sub(first);
        if core::mem::take(&mut self.tail.repaired) && self.state == State::Open {
            return self.report_repaired_loss(rtt, before, acked);
        }
        let event = match (state, self.state) {
            (State::SynSent, State::Open) => {
                return AckResult { rtt, connected: true, loss: None, message: None };
            }
            (State::Open | State::Reducing | State::Loss, State::Recovery) => {
                Some(WindowEvent::RecoveryEntered)
            }
            (State::Recovery, State::Open) => Some(WindowEvent::RecoveryLeft),
            _ if self.counts.ecn_reductions > reductions => Some(WindowEvent::Marked),
            (State::Reducing, State::Open) => Some(WindowEvent::RecoveryLeft),
            (_, State::Recovery | State::Reducing) => (acked > 0).then_some(WindowEvent::Repairing),
            (_, State::Open | State::Loss) => (acked > 0).then_some(WindowEvent::Acknowledged),
            _ => None,
        };
        let message = event.map(|event| CouplingMessage::Window(self.cwnd_update(event, before, acked)));
        AckResult { rtt, connected: false, loss: None, message }
    }

    /// The report of a loss that is repaired already: recovery is entered and left at once.
    fn report_repaired_loss(&self, rtt: Option<TimeDelta>, before: Window, acked: u32) -> AckResult {
        let loss = self.cwnd_update(WindowEvent::RecoveryEntered, before, 0);
        let recovered = self.cwnd_update(WindowEvent::RecoveryLeft, loss.after, acked);
        AckResult {
            rtt,
            connected: false,
            loss: Some(CouplingMessage::Window(loss)),
            message: Some(CouplingMessage::Window(recovered)),
        }
    }

    /// Statistics of the newest interval that has ended, returned once: poll after each acknowledgement.
    #[inline]
    pub fn poll_statistics(&mut self) -> Option<Statistics> {
        self.coupled.delays.as_mut().and_then(|delays| delays.statistics.poll())
    }

    /// Serves the timer, as in [`Self::on_timeout`]. Returns the message to the coupler, if the sender is coupled and
    /// must retransmit.
    pub fn on_timeout_coupled(&mut self, now: SendTime) -> Option<CouplingMessage> {
        let (state, before) = (self.state, self.window);
        self.on_timeout(now);
        if !self.coupled.is_coupled {
            return None;
        }
        if state != State::Recovery && self.state == State::Recovery {
            return Some(CouplingMessage::Window(self.cwnd_update(WindowEvent::RecoveryEntered, before, 0)));
        }
        self.coupled
            .reduction
            .is_some()
            .then(|| CouplingMessage::Window(self.cwnd_update(WindowEvent::TimedOut, before, 0)))
    }

    /// Applies an action of the coupler; poll for segments afterwards. Returns the message that follows, if any.
    pub fn apply(&mut self, now: SendTime, action: &CouplerAction) -> Option<CouplingMessage> {
        match *action {
            CouplerAction::Window(window) => {
                let repairing = matches!(self.state, State::Recovery | State::Reducing);
                let sound = window.cwnd.is_finite() && window.cwnd > 0.0 && window.ssthresh > 0.0;
                if self.coupled.is_coupled && !repairing && sound {
                    self.coupled.reduction = None;
                    self.window = window;
                }
                None
            }
            CouplerAction::Segment => {
                self.coupled.clocked += u32::from(self.state == State::Open);
                None
            }
            CouplerAction::Reduce => {
                let reduction = self.coupled.reduction.take()?;
                let before = self.window;
                self.reduce_by_timeout(now, reduction, self.coupled.interim_window);
                Some(CouplingMessage::Window(self.cwnd_update(WindowEvent::Reduced, before, 0)))
            }
            CouplerAction::Uncoupled => {
                self.uncouple(now);
                None
            }
            CouplerAction::Rate { .. } => None,
        }
    }

    fn cwnd_update(&self, event: WindowEvent, before: Window, acked: u32) -> CwndUpdate {
        let Window { cwnd, ssthresh } = self.window;
        // In recovery the window is computed from the data in flight; at its end it is the threshold, which is
        // reported.
        let cwnd = if event == WindowEvent::RecoveryEntered { ssthresh } else { cwnd };
        CwndUpdate {
            event,
            before,
            after: Window { cwnd, ssthresh },
            acked: f64::from(acked),
            flight: f64::from(self.board.pipe()),
            window_limited: self.window_limited,
            srtt: self.rtt.smoothed(),
            base_rtt: self.rtt.latest().map(|_| self.rtt.min()),
        }
    }
}

/// Results of an acknowledgement.
#[derive(Clone, Copy, Debug)]
pub struct AckResult {
    /// The round-trip time measured by the acknowledgement.
    pub rtt: Option<TimeDelta>,
    /// Whether the acknowledgement completes the handshake.
    pub connected: bool,
    /// First message to the coupler, on a loss that is repaired already; always a [`CouplingMessage::Window`].
    pub loss: Option<CouplingMessage>,
    /// Message to the coupler; always a [`CouplingMessage::Window`].
    pub message: Option<CouplingMessage>,
}
