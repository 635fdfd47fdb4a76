//! What is said between the hosts of flows and their coupler.

use weir_units::{DataRate, DataSize, TimeDelta};

use crate::decision::Decision;
use crate::window::Window;

/// The number of a flow within a session or a coupler. A session counts up from 0 and uses none again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowId(pub u32);

impl FlowId {
    /// The number, as an index.
    pub const fn number(self) -> usize {
        self.0 as usize
    }
}

/// What a flow's host tells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CouplingMessage {
    /// The flow begins, or goes on after a pause: it registers (RFC 8699 §5.1).
    Join(Join),
    /// It wishes for another share from now on.
    FlowParameters(FlowParameters),
    /// Its law computed a rate: UPDATE (RFC 8699 §5.3).
    Update(Update),
    /// Something happened to its window.
    Window(CwndUpdate),
    /// Statistics of its one-way delay and loss over the last interval (RFC 8382 §3.2).
    Statistics(Statistics),
    /// It stops sending on purpose, and may join again.
    Pause,
    /// The flow goes on sending by itself with its share, which the others neither inherit nor count. It may join again.
    ///
    /// The FSE gives back the cuts of its last ten seconds to the others; the other couplers do not.
    Withdraw,
    /// It has ended.
    Leave,
}

/// A flow registers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Join {
    /// What it wishes for.
    pub parameters: FlowParameters,
    /// The rate a law of its kind begins with: what it brings into a group of others.
    pub start: DataRate,
    /// The rate it would go on with if it were alone; the start rate the first time.
    pub present: DataRate,
    /// Its window; `None` for a flow that is steered by rates alone.
    pub window: Option<Windowed>,
}

/// What a flow wishes for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowParameters {
    /// `P`: its weight against the others'; positive and finite. Only ratios matter.
    pub priority: f64,
    /// `DR`: the most it can use; `None` for a greedy flow.
    pub desired: Option<DataRate>,
    /// The least it can live with.
    pub least: DataRate,
}

/// The window of a flow that has one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Windowed {
    /// The window.
    pub window: Window,
    /// Bytes of a segment, by which windows count.
    pub segment: DataSize,
    /// Smallest round-trip time seen; `None` before the first sample.
    pub base_rtt: Option<TimeDelta>,
}

/// A law computed a rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Update {
    /// `CC_R`, the rate it started from, and why.
    pub decision: Decision,
    /// The window that belongs to it; `None` for a law without one.
    pub window: Option<Windowed>,
    /// The newest order that the flow had taken when it computed ([`CouplerAction::epoch`]); 0 before the first.
    pub epoch: u32,
    /// Whether feedback has come since the update before: laws compute by the clock, too.
    pub heard: bool,
}

/// Something happened to the window of a flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CwndUpdate {
    /// What.
    pub event: WindowEvent,
    /// The window before.
    pub before: Window,
    /// The window that its own law made of it.
    pub after: Window,
    /// Segments that were newly acknowledged.
    pub acked: f64,
    /// Segments believed to be in the network.
    pub flight: f64,
    /// Whether the window, not the application, limited sending.
    pub window_limited: bool,
    /// Smoothed round-trip time; `None` before the first sample.
    pub srtt: Option<TimeDelta>,
    /// Smallest round-trip time seen; `None` before the first sample.
    pub base_rtt: Option<TimeDelta>,
}

/// What happened to a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WindowEvent {
    /// New data was acknowledged outside of fast recovery, also while a timeout's losses are sent again: the law may have
    /// grown the window.
    Acknowledged,
    /// New data was acknowledged in fast recovery: others hear that the path delivers.
    Repairing,
    /// Fast recovery begins: a loss event. What its law wants at the end of it is the window after.
    RecoveryEntered,
    /// Fast recovery is over: the window after is what the flow would go on with.
    RecoveryLeft,
    /// The retransmission timer ran out: what was outstanding is sent again. Whether the window is reduced, too, an order
    /// says.
    TimedOut,
    /// The window was reduced for a timeout, as ordered.
    Reduced,
    /// A congestion mark was answered.
    Marked,
    /// All is acknowledged and nothing waits to be sent.
    Idle,
}

/// Statistics of a flow's one-way delay and loss (RFC 8382 §3.2), of which the interval is the newest part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Statistics {
    /// The number of the interval, counted from 0 on the sender's clock.
    pub interval: u64,
    /// `skew_est`, in [-1, 1].
    pub skew: f64,
    /// `var_est` in seconds.
    pub variability: f64,
    /// `freq_est`, in [0, 1].
    pub frequency: f64,
    /// `pkt_loss`, in [0, 1].
    pub loss: f64,
    /// Packets by which it is measured; 0 if that is not known.
    pub packets: u32,
    /// Whether the flow passes a bottleneck by its own statistics.
    pub bottleneck: bool,
    /// Mean delay above the smallest of the interval's window, in seconds: what the guard against harm watches.
    pub queuing: f64,
    /// Samples in the interval; 0 in a pause.
    pub samples: u32,
}

impl Statistics {
    /// Whether every value is in its range. What comes from elsewhere may say anything.
    pub fn is_possible(&self) -> bool {
        let amount = |value: f64| value >= 0.0 && value.is_finite();
        let ratio = |value: f64| (0.0..=1.0).contains(&value);
        (-1.0..=1.0).contains(&self.skew)
            && amount(self.variability)
            && ratio(self.frequency)
            && ratio(self.loss)
            && amount(self.queuing)
    }
}

/// What a coupler wants a flow to do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CouplerAction {
    /// Send at this rate: `FSE_R`.
    Rate {
        /// The rate.
        rate: DataRate,
        /// Orders of rates to one flow are numbered from 1; an older one than the newest taken is not taken any more. 0
        /// answers a word that changed nothing, and is never taken.
        epoch: u32,
    },
    /// Go on with this window.
    Window(Window),
    /// Send one segment that is not sent yet, whatever the window says: another flow's acknowledgement is its clock.
    Segment,
    /// The timer that ran out also reduces the window, as it does without coupling.
    Reduce,
    /// You are in no group: go on by yourself. A flow of rates is still heard, and may be in one again; a connection is not.
    Uncoupled,
}

impl CouplerAction {
    /// The number of an order of a rate; 0 for others.
    pub const fn epoch(&self) -> u32 {
        if let Self::Rate { epoch, .. } = self { *epoch } else { 0 }
    }
}
