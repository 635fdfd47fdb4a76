//! What a coupled sender tells of its window, and how it obeys.

use weir_cc::coupled::sbd::SegmentStatistics;
use weir_cc::coupled::{CouplerAction, CouplingMessage, CwndUpdate, Statistics, WindowEvent};
use weir_cc::window::Window;
use weir_cc::{ArrivalTime, SendTime};
use weir_units::TimeDelta;
use weir_world::tcp::{Acknowledgement, Timestamps};

use super::recovery::Reduction;
use super::{State, TcpSender};

/// How a sender stands to a coupler.
#[derive(Clone, Debug, Default)]
pub(super) struct Coupled {
    on: bool,
    /// The timer ran out, and whether the window is reduced for it, the coupler has not said yet.
    reduction: Option<Reduction>,
    /// The window until it has.
    meanwhile: f64,
    /// Segments that other flows' acknowledgements let out.
    clocked: u32,
    delays: Option<Box<Delays>>,
}

/// What is measured of the path for shared bottleneck detection (RFC 8382).
#[derive(Clone, Debug)]
struct Delays {
    statistics: SegmentStatistics,
    /// When the segment of which was told last was sent, and when it arrived.
    last: Option<(SendTime, ArrivalTime)>,
}

impl Delays {
    /// An acknowledgement with these timestamps told of so many segments for the first time.
    fn on_delivery(&mut self, now: SendTime, stamps: Timestamps, news: u32) {
        let sent = stamps.sent(now);
        if news == 0 || sent > now {
            return; // an echo from the future is none
        }
        let about = self.last.map_or(ArrivalTime::ZERO, |(before, arrived)| arrived + (sent - before));
        let arrived = stamps.arrived(about);
        self.last = Some((sent, arrived));
        self.statistics.on_acknowledgement(sent, arrived, news);
    }

    /// A segment is sent again. It had been sent about when the one of which was told last was.
    fn on_retransmission(&mut self) {
        if let Some((sent, _)) = self.last {
            self.statistics.on_retransmission(sent);
        }
    }
}

impl Coupled {
    pub(super) const fn is_on(&self) -> bool {
        self.on
    }

    /// The timer ran out: whether that reduces the window, too, an order says. One that runs out again meanwhile asks for
    /// nothing more.
    pub(super) fn await_order(&mut self, reduction: Reduction, meanwhile: f64) {
        self.reduction.get_or_insert(reduction);
        self.meanwhile = meanwhile;
    }

    /// The window that holds: one for a segment while nobody has said what a timeout means.
    #[inline]
    pub(super) fn limit(&self, cwnd: f64) -> f64 {
        if self.reduction.is_some() { cwnd.min(self.meanwhile) } else { cwnd }
    }

    #[inline]
    pub(super) fn on_delivery(&mut self, now: SendTime, stamps: Timestamps, news: u32) {
        if let Some(delays) = &mut self.delays {
            delays.on_delivery(now, stamps, news);
        }
    }

    #[inline]
    pub(super) fn on_retransmission(&mut self) {
        if let Some(delays) = &mut self.delays {
            delays.on_retransmission();
        }
    }

    /// Whether a segment may leave beyond the window; it is counted.
    #[inline]
    pub(super) fn take_clocked(&mut self) -> bool {
        let may = self.clocked > 0;
        self.clocked -= u32::from(may);
        may
    }
}

impl TcpSender {
    /// From now on what happens to the window is told, and a timeout only sends again: whether it reduces the window, too,
    /// an order says.
    pub fn couple(&mut self) {
        self.coupled.on = true;
    }

    /// From now on delays are measured for a coupler that looks for shared bottlenecks. The receiver has to
    /// [tell](super::super::TcpReceiver::tell_delays) them.
    pub fn measure_delays(&mut self, statistics: SegmentStatistics) {
        self.coupled.delays = Some(Box::new(Delays { statistics, last: None }));
    }

    /// From now on it is on its own; a timeout that waits for an order reduces.
    pub fn uncouple(&mut self, now: SendTime) {
        let Coupled { reduction, meanwhile, .. } = core::mem::take(&mut self.coupled);
        if let Some(reduction) = reduction {
            self.reduce_by_timeout(now, reduction, meanwhile);
        }
    }

    /// An acknowledgement has come; poll for segments, if coupled once the orders to what it tells are obeyed.
    pub fn on_ack_coupled(&mut self, now: SendTime, ack: &Acknowledgement) -> Heard {
        if !self.coupled.on {
            return Heard { rtt: self.on_ack(now, ack), connected: false, loss: None, news: None };
        }
        let (state, before, first) = (self.state, self.window, self.board.first());
        let reductions = self.counts.ecn_reductions;
        let rtt = self.on_ack(now, ack);
        let acked = self.board.first().saturating_sub(first);
        if core::mem::take(&mut self.tail.repaired) && self.state == State::Open {
            return self.hear_of_repaired_loss(rtt, before, acked);
        }
        let event = match (state, self.state) {
            (State::SynSent, State::Open) => {
                return Heard { rtt, connected: true, loss: None, news: None };
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
        let news = event.map(|event| CouplingMessage::Window(self.news(event, before, acked)));
        Heard { rtt, connected: false, loss: None, news }
    }

    /// A loss was found that is repaired already: recovery is entered and left at once.
    fn hear_of_repaired_loss(&self, rtt: Option<TimeDelta>, before: Window, acked: u32) -> Heard {
        let loss = self.news(WindowEvent::RecoveryEntered, before, 0);
        let news = self.news(WindowEvent::RecoveryLeft, loss.after, acked);
        Heard {
            rtt,
            connected: false,
            loss: Some(CouplingMessage::Window(loss)),
            news: Some(CouplingMessage::Window(news)),
        }
    }

    /// Statistics of the newest interval of the path that has ended, once: poll after each acknowledgement.
    #[inline]
    pub fn poll_statistics(&mut self) -> Option<Statistics> {
        self.coupled.delays.as_mut().and_then(|delays| delays.statistics.poll())
    }

    /// The sender's time has come, as in [`Self::on_timeout`]. What to tell, if it is coupled and has to send again.
    pub fn on_timeout_coupled(&mut self, now: SendTime) -> Option<CouplingMessage> {
        let (state, before) = (self.state, self.window);
        self.on_timeout(now);
        if !self.coupled.on {
            return None;
        }
        if state != State::Recovery && self.state == State::Recovery {
            return Some(CouplingMessage::Window(self.news(WindowEvent::RecoveryEntered, before, 0)));
        }
        self.coupled
            .reduction
            .is_some()
            .then(|| CouplingMessage::Window(self.news(WindowEvent::TimedOut, before, 0)))
    }

    /// Obeys; poll for segments afterwards. What to tell of it, if anything.
    pub fn apply(&mut self, now: SendTime, order: &CouplerAction) -> Option<CouplingMessage> {
        match *order {
            CouplerAction::Window(window) => {
                let repairing = matches!(self.state, State::Recovery | State::Reducing);
                let sound = window.cwnd.is_finite() && window.cwnd > 0.0 && window.ssthresh > 0.0;
                if self.coupled.on && !repairing && sound {
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
                self.reduce_by_timeout(now, reduction, self.coupled.meanwhile);
                Some(CouplingMessage::Window(self.news(WindowEvent::Reduced, before, 0)))
            }
            CouplerAction::Uncoupled => {
                self.uncouple(now);
                None
            }
            CouplerAction::Rate { .. } => None,
        }
    }

    fn news(&self, event: WindowEvent, before: Window, acked: u32) -> CwndUpdate {
        let Window { cwnd, ssthresh } = self.window;
        // Recovery begins with a window that goes on from what is in the network; it shall end with the threshold.
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

/// What a sender makes of an acknowledgement.
#[derive(Clone, Copy, Debug)]
pub struct Heard {
    /// The round-trip time it measured.
    pub rtt: Option<TimeDelta>,
    /// Whether the connection stands from now on.
    pub connected: bool,
    /// What to tell the coupler first: a loss that is repaired already, always a [`CouplingMessage::Window`].
    pub loss: Option<CouplingMessage>,
    /// What to tell the coupler, always a [`CouplingMessage::Window`].
    pub news: Option<CouplingMessage>,
}
