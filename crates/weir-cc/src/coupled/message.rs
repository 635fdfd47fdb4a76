//! Messages between the hosts of flows and their coupler.

use weir_units::{DataRate, DataSize, TimeDelta};

use crate::decision::Decision;
use crate::window::Window;

/// The number of a flow within a session or a coupler. A session counts up from 0 and reuses no number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct FlowId(pub u32);

impl FlowId {
    /// The number, as an index.
    pub const fn number(self) -> usize {
        self.0 as usize
    }
}

/// Message of a flow's host to the coupler.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum CouplingMessage {
    /// The flow begins, or continues after a pause, and registers (RFC 8699 §5.1).
    Join(Join),
    /// The flow's parameters have changed.
    FlowParameters(FlowParameters),
    /// The flow's controller computed a rate: UPDATE (RFC 8699 §5.3).
    Update(Update),
    /// An event changed the flow's congestion window.
    Window(CwndUpdate),
    /// Statistics of its one-way delay and loss over the last interval (RFC 8382 §3.2).
    Statistics(Statistics),
    /// The flow stops sending intentionally, and may join again.
    Pause,
    /// The flow continues without coupling at its present rate, which the others neither inherit nor count. It may
    /// join again later.
    ///
    /// The FSE undoes the cuts of its last ten seconds for the others; the other couplers do not.
    Withdraw,
    /// The flow has ended.
    Leave,
}

/// Registration of a flow.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Join {
    /// The flow's parameters.
    pub parameters: FlowParameters,
    /// The rate with which a controller of its kind begins; it is the amount that the flow brings into a group of
    /// others.
    pub start: DataRate,
    /// The rate with which the flow would continue if it were alone; at first the start rate.
    pub present: DataRate,
    /// The flow's window, or `None` for a flow that is controlled by rates alone.
    pub window: Option<Windowed>,
}

impl Join {
    /// The window of the flow. A flow without a window has one segment of one byte.
    pub(super) fn windowed(&self) -> Windowed {
        let window = Window { cwnd: 1.0, ssthresh: f64::INFINITY };
        self.window.unwrap_or(Windowed { window, segment: DataSize::from_bytes(1), base_rtt: None })
    }
}

/// Priority and bounds of a flow in its coupling.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct FlowParameters {
    /// `P`: the flow's weight against the others'; positive and finite. Only ratios matter.
    pub priority: f64,
    /// `DR`: the greatest rate that the flow can use, or `None` for a greedy flow.
    pub desired: Option<DataRate>,
    /// Least rate that the flow can use.
    pub least: DataRate,
}

impl FlowParameters {
    /// Whether the priority is in its range. Values from another host can be arbitrary.
    pub fn is_possible(&self) -> bool {
        self.priority > 0.0 && self.priority.is_finite()
    }
}

/// The window of a flow that has one.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Windowed {
    /// The window.
    pub window: Window,
    /// Size of the segments in which windows are counted.
    pub segment: DataSize,
    /// Smallest measured round-trip time, or `None` before the first sample.
    pub base_rtt: Option<TimeDelta>,
}

impl Windowed {
    /// Whether every value is in its range. Values from another host can be arbitrary.
    pub fn is_possible(&self) -> bool {
        let base_rtt = self.base_rtt.is_none_or(|rtt| rtt > TimeDelta::ZERO);
        base_rtt && !self.segment.is_zero() && self.window.is_possible()
    }
}

/// A rate that the flow's controller computed.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Update {
    /// `CC_R`, the rate from which it was computed, and the reason.
    pub decision: Decision,
    /// The window that belongs to the rate, or `None` for a controller without one.
    pub window: Option<Windowed>,
    /// The newest action that the flow had taken when it computed ([`CouplerAction::epoch`]); 0 before the first.
    pub epoch: u32,
    /// Whether feedback has arrived since the previous update. Controllers compute rates by the clock, too.
    pub has_feedback: bool,
}

/// An event that changed the window of a flow.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CwndUpdate {
    /// Kind of event.
    pub event: WindowEvent,
    /// The window before.
    pub before: Window,
    /// The window that the flow's own congestion controller computed.
    pub after: Window,
    /// Segments that were newly acknowledged.
    pub acked: f64,
    /// Segments estimated to be in flight.
    pub flight: f64,
    /// Whether the window, not the application, limited sending.
    pub window_limited: bool,
    /// Smoothed round-trip time, or `None` before the first sample.
    pub srtt: Option<TimeDelta>,
    /// Smallest measured round-trip time, or `None` before the first sample.
    pub base_rtt: Option<TimeDelta>,
}

impl CwndUpdate {
    /// Whether every amount is in its range. Values from another host can be arbitrary.
    pub fn is_possible(&self) -> bool {
        let amount = |value: f64| value >= 0.0 && value.is_finite();
        self.before.is_possible() && self.after.is_possible() && amount(self.acked) && amount(self.flight)
    }
}

/// Kinds of window events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum WindowEvent {
    /// New data was acknowledged outside of fast recovery, also while a timeout's losses are retransmitted. The
    /// congestion controller may have grown the window.
    Acknowledged,
    /// New data was acknowledged in fast recovery. It shows the other flows that the path delivers data.
    Repairing,
    /// Fast recovery begins: a loss event. The window after is the one that the congestion controller wants at the end
    /// of recovery.
    RecoveryEntered,
    /// Fast recovery has ended. The window after is the one with which the flow would continue.
    RecoveryLeft,
    /// Retransmission timeout: outstanding data is retransmitted. An action decides whether the window is reduced,
    /// too.
    TimedOut,
    /// The window was reduced for a timeout, by an action of the coupler.
    Reduced,
    /// The flow reacted to a congestion mark.
    Marked,
    /// All data is acknowledged, and none waits to be sent.
    Idle,
}

/// Statistics of a flow's one-way delay and loss (RFC 8382 §3.2), of which the interval is the newest part.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
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
    /// Number of packets in the measurement; 0 if unknown.
    pub packets: u32,
    /// Whether the flow passes a bottleneck by its own statistics.
    pub bottleneck: bool,
    /// Mean delay above the smallest of the interval's window, in seconds: the queuing delay that the harm guard
    /// watches.
    pub queuing: f64,
    /// Samples in the interval; 0 in a pause.
    pub samples: u32,
}

impl Statistics {
    /// Whether every value is in its range. Values from another host may be anything.
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

/// Action that a coupler requests of a flow.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum CouplerAction {
    /// Send at this rate: the flow's FSE share (`FSE_R`, RFC 8699 §5.2).
    Rate {
        /// The rate.
        rate: DataRate,
        /// Number of the action, from 1 on for each flow. An action older than the newest one taken is ignored. 0
        /// answers a message that changed nothing, and is not taken.
        epoch: u32,
    },
    /// Continue with this window.
    Window(Window),
    /// Send one new segment, even beyond the window, because another flow was acknowledged (ACK clock).
    Segment,
    /// Reduce the window for the timeout, too, as the flow does without coupling.
    Reduce,
    /// The flow is in no group and continues without coupling. Messages of a rate-controlled flow still count, and it
    /// may be put into a group again; those of a TCP connection do not count.
    Uncoupled,
}

impl CouplerAction {
    /// The number of an action with a rate; 0 for others.
    pub const fn epoch(&self) -> u32 {
        if let Self::Rate { epoch, .. } = self { *epoch } else { 0 }
    }
}
