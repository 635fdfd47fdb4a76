//! Common part of ctrlTCP's relatives (E-TCP, EFCM, RFC 2140): flows whose windows a rule sets.

use core::fmt::Debug;

use crate::coupled::coupler::Aggregate;
use crate::coupled::frame::{AlgorithmCoupler, CouplingAlgorithm, MemberDeparture};
use crate::coupled::message::{
    CouplerAction, CouplingMessage, CwndUpdate, FlowId, FlowParameters, Join, Update, WindowEvent, Windowed,
};
use crate::time::SendTime;
use crate::window::Window;

/// A flow, and the window that the rule gives to it.
#[derive(Clone, Copy, Debug)]
pub struct ControlledFlow {
    pub(super) window: Window,
    /// Size of a segment in bytes.
    segment: f64,
    /// Whether the flow gets its window at once, instead of at its own next message.
    pub(super) at_once: bool,
    recovering: bool,
}

/// Rule by which flows share; windows are in segments.
pub(super) trait Rule: Send + Sync + Debug + Default {
    /// Takes the flow at `place`, which has joined with its initial window.
    fn on_join(&mut self, flows: &mut [ControlledFlow], place: usize);

    /// Takes a window event of the flow at `place`, which may be the only flow.
    fn on_cwnd_update(&mut self, flows: &mut [ControlledFlow], place: usize, cwnd_update: &CwndUpdate);

    /// Takes the window of a flow that has left.
    fn on_leave(&mut self, _flows: &mut [ControlledFlow], _left: Window) {}

    /// Takes the window of a flow that continues without coupling.
    fn on_withdraw(&mut self, flows: &mut [ControlledFlow], left: Window) {
        self.on_leave(flows, left);
    }
}

/// Flows that share windows by a rule. Marks and timeouts have the effect that each flow's own congestion controller
/// gives to them.
#[derive(Clone, Debug, Default)]
pub struct WindowSharing<R>(R);

/// Coupler of flows that share windows by a rule.
pub(super) type RuleCoupler<R> = AlgorithmCoupler<WindowSharing<R>>;

#[expect(private_bounds, reason = "the rules are named by their types only")]
impl<R: Rule> RuleCoupler<R> {
    /// A coupler without flows.
    pub fn new() -> Self {
        Self::default()
    }

    fn send_window(&mut self, place: usize) {
        let Window { cwnd, ssthresh } = self.flows[place].window;
        let window = Window { cwnd: cwnd.max(1.0), ssthresh: ssthresh.max(f64::MIN_POSITIVE) };
        self.flows.push(place, CouplerAction::Window(window));
    }
}

impl<R: Rule> CouplingAlgorithm for WindowSharing<R> {
    type Flow = ControlledFlow;

    const WINDOWS_ONLY: bool = true;

    fn admit(_: &mut AlgorithmCoupler<Self>, _: SendTime, _: FlowId, join: &Join) -> ControlledFlow {
        let Windowed { window, segment, .. } = join.windowed();
        let segment = segment.bytes_f64();
        ControlledFlow { window, segment, at_once: true, recovering: false }
    }

    fn on_join(frame: &mut AlgorithmCoupler<Self>, _: SendTime, place: usize, _: &Join) {
        frame.algorithm.0.on_join(frame.flows.all_mut(), place);
        frame.flows[place].at_once = true;
    }

    fn on_rate(frame: &mut AlgorithmCoupler<Self>, _: SendTime, place: usize, update: &Update) {
        let before = frame.flows[place].window;
        let cwnd = update.window.map_or(before.cwnd, |windowed| windowed.window.cwnd);
        let cwnd_update = CwndUpdate {
            event: WindowEvent::Acknowledged,
            before,
            after: Window { cwnd, ..before },
            acked: 0.0,
            flight: cwnd,
            window_limited: true,
            srtt: None,
            base_rtt: None,
        };
        frame.algorithm.0.on_cwnd_update(frame.flows.all_mut(), place, &cwnd_update);
        // The flow waits for an answer, whatever the window is.
        frame.flows[place].at_once = true;
    }

    fn on_window(frame: &mut AlgorithmCoupler<Self>, _: SendTime, place: usize, cwnd_update: &CwndUpdate) {
        let flow = &mut frame.flows[place];
        match cwnd_update.event {
            WindowEvent::TimedOut => {
                flow.recovering = false;
                frame.flows.push(place, CouplerAction::Reduce);
                return;
            }
            WindowEvent::RecoveryEntered => flow.recovering = true,
            WindowEvent::RecoveryLeft => flow.recovering = false,
            _ => {}
        }
        frame.algorithm.0.on_cwnd_update(frame.flows.all_mut(), place, cwnd_update);
        let flow = &mut frame.flows[place];
        flow.at_once = !flow.recovering && flow.window != cwnd_update.after;
    }

    /// These rules have no weights.
    fn on_parameters(_: &mut AlgorithmCoupler<Self>, _: SendTime, _: usize, _: &FlowParameters) {}

    fn on_left(
        frame: &mut AlgorithmCoupler<Self>,
        _: SendTime,
        _: FlowId,
        left: ControlledFlow,
        departure: MemberDeparture,
    ) {
        let WindowSharing(rule) = &mut frame.algorithm;
        match departure {
            MemberDeparture::Withdrawal => rule.on_withdraw(frame.flows.all_mut(), left.window),
            _ => rule.on_leave(frame.flows.all_mut(), left.window),
        }
        if frame.flows.is_empty() {
            *rule = R::default();
        }
    }

    fn answer(frame: &mut AlgorithmCoupler<Self>, place: usize, message: &CouplingMessage) {
        if matches!(message, CouplingMessage::Join(_) | CouplingMessage::Update(_)) {
            frame.send_window(place);
        }
    }

    fn settle(frame: &mut AlgorithmCoupler<Self>) {
        for place in 0..frame.flows.len() {
            if core::mem::take(&mut frame.flows[place].at_once) {
                frame.send_window(place);
            }
        }
    }

    fn aggregate(frame: &AlgorithmCoupler<Self>, _: usize) -> Option<Aggregate> {
        let sum = frame.flows.all().iter().map(|flow| flow.window.cwnd * flow.segment).sum();
        Some(Aggregate { group: 0, sum })
    }
}

#[cfg(test)]
mod tests;

#[cfg(test)]
pub(super) mod test_support {
    use weir_units::{DataRate, DataSize};

    use super::*;
    use crate::coupled::coupler::Coupler;

    pub(crate) fn join(cwnd: f64, ssthresh: f64) -> CouplingMessage {
        let parameters = FlowParameters { priority: 1.0, desired: None, least: DataRate::ZERO };
        let windowed = Windowed {
            window: Window { cwnd, ssthresh },
            segment: DataSize::from_bytes(1000),
            base_rtt: None,
        };
        CouplingMessage::Join(Join {
            parameters,
            start: DataRate::ZERO,
            present: DataRate::ZERO,
            window: Some(windowed),
        })
    }

    pub(crate) fn update_of(event: WindowEvent, before: Window, after: Window) -> CouplingMessage {
        let (acked, flight, window_limited) = (1.0, before.cwnd, true);
        CouplingMessage::Window(CwndUpdate {
            event,
            before,
            after,
            acked,
            flight,
            window_limited,
            srtt: None,
            base_rtt: None,
        })
    }

    /// Sends a message, and returns the resulting actions.
    pub(crate) fn send_message(
        coupler: &mut impl Coupler,
        flow: u32,
        message: &CouplingMessage,
    ) -> Vec<(u32, CouplerAction)> {
        coupler.on_message(SendTime::ZERO, FlowId(flow), message).unwrap();
        core::iter::from_fn(|| coupler.poll_action()).map(|(FlowId(flow), action)| (flow, action)).collect()
    }

    pub(crate) fn window(cwnd: f64, ssthresh: f64) -> CouplerAction {
        CouplerAction::Window(Window { cwnd, ssthresh })
    }
}
