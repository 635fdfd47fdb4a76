//! Common part of the relatives of ctrlTCP: flows whose windows a rule sets.

use alloc::collections::VecDeque;
use core::fmt::Debug;

use super::flow_table::FlowTable;
use crate::coupled::coupler::{Aggregate, Coupler, Refusal};
use crate::coupled::message::{
    CouplerAction, CouplingMessage, CwndUpdate, FlowId, Join, Update, WindowEvent,
};
use crate::time::SendTime;
use crate::window::Window;

/// A flow, and the window that the rule gives it.
#[derive(Clone, Copy, Debug)]
pub(super) struct ControlledFlow {
    pub(super) window: Window,
    /// Bytes of a segment.
    segment: f64,
    /// Whether it gets its window at once, and not at its own next message.
    pub(super) at_once: bool,
    recovering: bool,
}

/// How flows share; windows are in segments.
pub(super) trait Rule: Send + Sync + Debug + Default {
    /// The flow at `place` has joined with its initial window.
    fn on_join(&mut self, flows: &mut [ControlledFlow], place: usize);

    /// A window event of the flow at `place`, including a flow that is alone.
    fn on_cwnd_update(&mut self, flows: &mut [ControlledFlow], place: usize, cwnd_update: &CwndUpdate);

    /// A flow has left with this window.
    fn on_leave(&mut self, _flows: &mut [ControlledFlow], _left: Window) {}

    /// A flow goes on without coupling, with this window.
    fn on_withdraw(&mut self, flows: &mut [ControlledFlow], left: Window) {
        self.on_leave(flows, left);
    }
}

/// Flows that share by a rule. Marks and timeouts have the effect that each flow's own congestion controller gives
/// them.
#[derive(Clone, Debug, Default)]
pub struct Ensemble<R> {
    rule: R,
    flows: FlowTable<ControlledFlow>,
    actions: VecDeque<(FlowId, CouplerAction)>,
}

#[expect(private_bounds, reason = "the rules are named by their types only")]
impl<R: Rule> Ensemble<R> {
    /// A coupler without flows.
    pub fn new() -> Self {
        Self::default()
    }

    fn join(&mut self, member: FlowId, join: &Join) -> Result<(), Refusal> {
        if let Some(place) = self.flows.place(member) {
            self.send_window(place);
            return Err(Refusal::JoinedAlready(member));
        }
        let sound = |window: Window| window.cwnd > 0.0 && window.cwnd.is_finite() && window.ssthresh >= 0.0;
        let windowed = match join.window {
            Some(windowed) if sound(windowed.window) => windowed,
            other => {
                self.actions.push_back((member, CouplerAction::Uncoupled));
                return Err(other.map_or(Refusal::Kind(member), |_| Refusal::Amount(member)));
            }
        };
        let segment = windowed.segment.bytes_f64().max(1.0);
        let kept = ControlledFlow { window: windowed.window, segment, at_once: true, recovering: false };
        let place = self.flows.insert(member, kept);
        self.rule.on_join(self.flows.all_mut(), place);
        self.flows[place].at_once = true;
        self.send_due_windows();
        Ok(())
    }

    fn on_cwnd_update(&mut self, place: usize, cwnd_update: &CwndUpdate) {
        let flow = &mut self.flows[place];
        match cwnd_update.event {
            WindowEvent::TimedOut => {
                flow.recovering = false;
                self.actions.push_back((self.flows.member(place), CouplerAction::Reduce));
                return;
            }
            WindowEvent::RecoveryEntered => flow.recovering = true,
            WindowEvent::RecoveryLeft => flow.recovering = false,
            _ => {}
        }
        self.rule.on_cwnd_update(self.flows.all_mut(), place, cwnd_update);
        let flow = &mut self.flows[place];
        flow.at_once = !flow.recovering && flow.window != cwnd_update.after;
        self.send_due_windows();
    }

    fn on_update(&mut self, place: usize, update: &Update) -> Result<(), Refusal> {
        let event = update.window.filter(|event| event.window.cwnd > 0.0 && event.window.cwnd.is_finite());
        let Some(event) = event else {
            self.send_window(place);
            return Err(Refusal::Amount(self.flows.member(place)));
        };
        let before = self.flows[place].window;
        let after = Window { cwnd: event.window.cwnd, ..before };
        let cwnd_update = CwndUpdate {
            event: WindowEvent::Acknowledged,
            before,
            after,
            acked: 0.0,
            flight: after.cwnd,
            window_limited: true,
            srtt: None,
            base_rtt: None,
        };
        self.rule.on_cwnd_update(self.flows.all_mut(), place, &cwnd_update);
        // The flow waits for an answer, whatever the window is.
        self.flows[place].at_once = true;
        self.send_due_windows();
        Ok(())
    }

    fn send_due_windows(&mut self) {
        for place in 0..self.flows.len() {
            if core::mem::take(&mut self.flows[place].at_once) {
                self.send_window(place);
            }
        }
    }

    fn send_window(&mut self, place: usize) {
        let Window { cwnd, ssthresh } = self.flows[place].window;
        let window = Window { cwnd: cwnd.max(1.0), ssthresh: ssthresh.max(f64::MIN_POSITIVE) };
        self.actions.push_back((self.flows.member(place), CouplerAction::Window(window)));
    }
}

fn is_sound(cwnd_update: &CwndUpdate) -> bool {
    let sound = |window: Window| window.cwnd >= 0.0 && window.cwnd.is_finite() && window.ssthresh >= 0.0;
    sound(cwnd_update.before) && sound(cwnd_update.after)
}

impl<R: Rule> Coupler for Ensemble<R> {
    fn on_message(
        &mut self,
        _now: SendTime,
        member: FlowId,
        message: &CouplingMessage,
    ) -> Result<(), Refusal> {
        if let CouplingMessage::Join(join) = message {
            return self.join(member, join);
        }
        let Some(place) = self.flows.place(member) else {
            self.actions.push_back((member, CouplerAction::Uncoupled));
            return Err(Refusal::UnknownFlow(member));
        };
        match message {
            CouplingMessage::Window(cwnd_update) if is_sound(cwnd_update) => {
                self.on_cwnd_update(place, cwnd_update);
            }
            CouplingMessage::Window(cwnd_update) => {
                if cwnd_update.event == WindowEvent::TimedOut {
                    self.actions.push_back((member, CouplerAction::Reduce));
                }
                return Err(Refusal::Amount(member));
            }
            CouplingMessage::Update(update) => return self.on_update(place, update),
            CouplingMessage::Withdraw | CouplingMessage::Pause | CouplingMessage::Leave => {
                let (left, flows) = (self.flows.remove(place).window, self.flows.all_mut());
                match message {
                    CouplingMessage::Withdraw => self.rule.on_withdraw(flows, left),
                    _ => self.rule.on_leave(flows, left),
                }
                if self.flows.is_empty() {
                    self.rule = R::default();
                }
                self.send_due_windows();
            }
            // These rules have no weights.
            CouplingMessage::FlowParameters(_)
            | CouplingMessage::Join(_)
            | CouplingMessage::Statistics(_) => {}
        }
        Ok(())
    }

    fn poll_action(&mut self) -> Option<(FlowId, CouplerAction)> {
        self.actions.pop_front()
    }

    fn aggregate(&self, member: FlowId) -> Option<Aggregate> {
        self.flows.place(member)?;
        let sum = self.flows.all().iter().map(|flow| flow.window.cwnd * flow.segment).sum();
        Some(Aggregate { group: 0, sum })
    }
}

#[cfg(test)]
mod tests;

#[cfg(test)]
pub(super) mod test_support {
    use weir_units::{DataRate, DataSize};

    use super::*;
    use crate::coupled::message::{FlowParameters, Windowed};

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
