//! TCP-like flows, coupled without delay.

mod clocked;
mod delay;
mod losses;
mod members;
mod properties;
mod timeouts;
mod vectors;

use alloc::collections::BTreeMap;

use weir_units::{DataRate, DataSize, TimeDelta};

use super::{Config, CtrlTcp, Newcomer};
use crate::coupled::{
    Coupler, CouplerAction, CouplingMessage, CwndUpdate, FlowId, FlowParameters, Join, WindowEvent, Windowed,
};
use crate::time::SendTime;
use crate::window::Window;

const MSS: f64 = 1000.0;
const RTT: TimeDelta = TimeDelta::from_millis(100);

/// Flows and their coupler; windows and sums in segments.
struct Rig {
    coupler: CtrlTcp,
    now: SendTime,
    /// The window that each flow has.
    windows: BTreeMap<u32, Window>,
    /// All actions but those of windows, which are applied.
    actions: Vec<(u32, CouplerAction)>,
}

fn ramped() -> Config {
    Config { newcomer: Newcomer::Ramped, ..Config::default() }
}

fn parameters(priority: f64) -> FlowParameters {
    FlowParameters { priority, desired: None, least: DataRate::ZERO }
}

fn window(cwnd: f64, ssthresh: f64) -> Window {
    Window { cwnd, ssthresh }
}

/// A join with this window.
fn join(priority: f64, window: Window) -> CouplingMessage {
    let segment = DataSize::from_bytes(1000);
    let windowed = Windowed { window, segment, base_rtt: Some(RTT) };
    let (start, present) = (DataRate::from_kbps(300), DataRate::from_kbps(300));
    CouplingMessage::Join(Join { parameters: parameters(priority), start, present, window: Some(windowed) })
}

/// An event of a flow whose window stays.
fn update_of(event: WindowEvent, stays: Window) -> CwndUpdate {
    update_between(event, stays, stays)
}

/// An event of a flow whose window becomes `after` by its own controller, all of it in use.
fn update_between(event: WindowEvent, before: Window, after: Window) -> CwndUpdate {
    let acked = f64::from(u8::from(matches!(event, WindowEvent::Acknowledged | WindowEvent::Repairing)));
    let flight = before.cwnd - acked;
    let (srtt, base_rtt) = (Some(RTT), Some(RTT));
    CwndUpdate { event, before, after, acked, flight, window_limited: true, srtt, base_rtt }
}

impl Rig {
    fn new(config: Config) -> Self {
        Self::of(CtrlTcp::new(config).unwrap())
    }

    fn of(coupler: CtrlTcp) -> Self {
        Self { coupler, now: SendTime::ZERO, windows: BTreeMap::new(), actions: Vec::new() }
    }

    /// Flows 0, 1, … of these priorities, in congestion avoidance, with this sum.
    fn sharing(config: Config, sum: f64, priorities: &[f64]) -> Self {
        Self::with_threshold(config, sum, 1.0, priorities)
    }

    /// Flows with `priorities`, the first of which brings a window of `sum` segments and `ssthresh`.
    fn with_threshold(config: Config, sum: f64, ssthresh: f64, priorities: &[f64]) -> Self {
        let mut rig = Self::new(config);
        for (flow, &priority) in (0..).zip(priorities) {
            let brought = if flow == 0 { window(sum, ssthresh) } else { window(10.0, f64::INFINITY) };
            rig.join(flow, priority, brought);
            rig.settle();
        }
        rig
    }

    /// Brings all flows to their shares, with acknowledgements of each.
    fn settle(&mut self) {
        for _ in 0..100 {
            for flow in self.windows.keys().copied().collect::<Vec<_>>() {
                let stays = self.windows[&flow];
                let limited =
                    CwndUpdate { window_limited: false, ..update_of(WindowEvent::Acknowledged, stays) };
                self.send_message(flow, &CouplingMessage::Window(limited));
            }
        }
        self.actions.clear();
    }

    fn wait(&mut self, ms: i64) {
        self.now += TimeDelta::from_millis(ms);
    }

    fn send_message(&mut self, flow: u32, message: &CouplingMessage) {
        let _ = self.coupler.on_message(self.now, FlowId(flow), message);
        self.apply();
    }

    /// Stores the ordered windows, and the other actions.
    fn apply(&mut self) {
        while let Some((FlowId(flow), action)) = self.coupler.poll_action() {
            match action {
                CouplerAction::Window(window) => drop(self.windows.insert(flow, window)),
                other => self.actions.push((flow, other)),
            }
        }
    }

    fn join(&mut self, flow: u32, priority: f64, brought: Window) {
        self.windows.insert(flow, brought);
        self.send_message(flow, &join(priority, brought));
    }

    /// An event in which the flow's own controller makes this window; the flow applies the action.
    fn event(&mut self, flow: u32, event: WindowEvent, cwnd: f64) {
        let before = self.windows[&flow];
        let ssthresh = if event == WindowEvent::RecoveryEntered { cwnd } else { before.ssthresh };
        self.report_window(flow, event, window(cwnd, ssthresh));
    }

    /// Flow `flow` sends a window event after which its window is `after`.
    fn report_window(&mut self, flow: u32, event: WindowEvent, after: Window) {
        let before = self.windows[&flow];
        if !matches!(event, WindowEvent::TimedOut | WindowEvent::RecoveryEntered) {
            self.windows.insert(flow, after);
        }
        let cwnd_update = update_between(event, before, after);
        self.send_message(flow, &CouplingMessage::Window(cwnd_update));
    }

    /// An acknowledgement that leaves the window as it is.
    fn ack(&mut self, flow: u32) {
        let cwnd = self.windows[&flow].cwnd;
        self.event(flow, WindowEvent::Acknowledged, cwnd);
    }

    /// Fast recovery of a NewReno flow begins at its present window.
    fn enter_recovery(&mut self, flow: u32) {
        let half = self.windows[&flow].cwnd / 2.0;
        self.event(flow, WindowEvent::RecoveryEntered, half);
    }

    fn leave_recovery(&mut self, flow: u32, cwnd: f64) {
        self.event(flow, WindowEvent::RecoveryLeft, cwnd);
    }

    fn time_out(&mut self, flow: u32) {
        let cwnd = self.windows[&flow].cwnd;
        self.event(flow, WindowEvent::TimedOut, cwnd);
    }

    fn sum(&self) -> f64 {
        let flow = *self.windows.keys().next().unwrap();
        self.coupler.aggregate(FlowId(flow)).unwrap().sum / MSS
    }

    fn threshold(&self) -> Option<f64> {
        self.coupler.threshold().map(|bytes| bytes / MSS)
    }

    fn share(&self, flow: u32) -> f64 {
        self.coupler.share(FlowId(flow)).unwrap() / MSS
    }

    fn cwnd(&self, flow: u32) -> f64 {
        self.windows[&flow].cwnd
    }
}

/// Whether `value` is `expected` within 1e-9.
fn close(value: f64, expected: f64) -> bool {
    (value - expected).abs() < 1e-9
}
