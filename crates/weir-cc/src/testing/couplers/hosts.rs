//! A coupler and the hosts of its flows, which take actions at once.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use weir_units::{DataRate, DataSize, TimeDelta};

use super::Composition;
use crate::coupled::{
    Coupler, CouplerAction, CouplingMessage, CwndUpdate, FlowId, FlowParameters, Join, Refusal, Update,
    WindowEvent, Windowed,
};
use crate::decision::{ChangeReason, Decision};
use crate::time::SendTime;
use crate::window::Window;

pub(super) const RTT: TimeDelta = TimeDelta::from_millis(100);
pub(super) const SEGMENT: DataSize = DataSize::from_bytes(1000);
/// The start rate of each flow, and its window's.
const START: DataRate = DataRate::from_kbps(800);
const WINDOW: Window = Window { cwnd: 10.0, ssthresh: 10.0 };

/// A flow as its host knows it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Host {
    pub(super) rate: DataRate,
    pub(super) window: Window,
    epoch: u32,
    /// Whether a window steers it.
    pub(super) windowed: bool,
}

/// A coupler and its hosts.
pub(super) struct Hosts {
    pub(super) coupler: Box<dyn Coupler>,
    pub(super) now: SendTime,
    pub(super) flows: BTreeMap<u32, Host>,
    windows: bool,
}

pub(super) fn parameters(priority: f64) -> FlowParameters {
    FlowParameters { priority, desired: None, least: DataRate::ZERO }
}

impl Hosts {
    /// Hosts without flows, and the coupler of `composition`.
    pub(super) fn of(composition: &Composition) -> Self {
        Self {
            coupler: (composition.build)(),
            now: SendTime::from_millis(5000),
            flows: BTreeMap::new(),
            windows: composition.windows,
        }
    }

    /// Flows 0, 1, … of these priorities; those with odd numbers have windows, or all.
    pub(super) fn sharing(composition: &Composition, priorities: &[f64]) -> Self {
        let mut hosts = Self::of(composition);
        for (flow, &priority) in (0..).zip(priorities) {
            hosts.joins(flow, priority).expect("the join is possible");
        }
        hosts.settle();
        hosts
    }

    /// The join of `flow`; flows with odd numbers have a window.
    pub(super) fn join_message(&self, flow: u32, priority: f64) -> CouplingMessage {
        let windowed = Windowed { window: WINDOW, segment: SEGMENT, base_rtt: Some(RTT) };
        let window = (self.windows || flow % 2 == 1).then_some(windowed);
        CouplingMessage::Join(Join { parameters: parameters(priority), start: START, present: START, window })
    }

    /// Flow `flow` joins.
    pub(super) fn joins(&mut self, flow: u32, priority: f64) -> Result<(), Refusal> {
        let message = self.join_message(flow, priority);
        let windowed = self.windows || flow % 2 == 1;
        self.flows.insert(flow, Host { rate: START, window: WINDOW, epoch: 0, windowed });
        self.send(flow, &message).0
    }

    /// Sends a message; returns the resulting actions, which the hosts have taken.
    pub(super) fn send(
        &mut self,
        flow: u32,
        message: &CouplingMessage,
    ) -> (Result<(), Refusal>, Vec<(u32, CouplerAction)>) {
        let result = self.coupler.on_message(self.now, FlowId(flow), message);
        (result, self.take_actions())
    }

    /// The coupler's actions, which the hosts apply.
    pub(super) fn take_actions(&mut self) -> Vec<(u32, CouplerAction)> {
        let mut actions = Vec::new();
        while let Some((FlowId(flow), action)) = self.coupler.poll_action() {
            actions.push((flow, action));
            assert!(actions.len() < 1000, "actions end");
            let Some(host) = self.flows.get_mut(&flow) else { continue };
            match action {
                CouplerAction::Rate { epoch: 0, .. } => {}
                CouplerAction::Rate { rate, epoch } => (host.rate, host.epoch) = (rate, epoch),
                CouplerAction::Window(window) => host.window = window,
                _ => {}
            }
        }
        actions
    }

    /// The message of a flow whose controller changes its rate or its window by this factor.
    pub(super) fn moved(&self, flow: u32, factor: f64) -> CouplingMessage {
        let Host { rate, window, epoch, windowed } = self.flows[&flow];
        if windowed {
            let cwnd = window.cwnd * factor;
            let grows = factor >= 1.0;
            let event = if grows { WindowEvent::Acknowledged } else { WindowEvent::Marked };
            let after = Window { cwnd, ssthresh: if grows { window.ssthresh } else { cwnd } };
            return CouplingMessage::Window(CwndUpdate {
                event,
                before: window,
                after,
                acked: 1.0,
                flight: window.cwnd - 1.0,
                window_limited: true,
                srtt: Some(RTT),
                base_rtt: Some(RTT),
            });
        }
        let why = if factor < 1.0 { ChangeReason::Delay } else { ChangeReason::Growth };
        let decision = Decision { rate: rate.scale(factor), base: rate, why, rtt: Some(RTT) };
        CouplingMessage::Update(Update { decision, window: None, epoch, has_feedback: true })
    }

    /// The controller of a flow changes its rate or its window by this factor.
    pub(super) fn moves(&mut self, flow: u32, factor: f64) -> Vec<(u32, CouplerAction)> {
        let message = self.moved(flow, factor);
        match (&message, self.flows.get_mut(&flow)) {
            (CouplingMessage::Window(cwnd_update), Some(host)) => host.window = cwnd_update.after,
            (CouplingMessage::Update(update), Some(host)) => host.rate = update.decision.rate,
            _ => {}
        }
        self.send(flow, &message).1
    }

    /// All flows report, without a change, until each has its share.
    pub(super) fn settle(&mut self) {
        for _ in 0..20 {
            let flows: Vec<u32> = self.flows.keys().copied().collect();
            for flow in flows {
                self.now += TimeDelta::from_millis(10);
                self.wake();
                self.moves(flow, 1.0);
            }
        }
    }

    /// Lets a due timeout come.
    pub(super) fn wake(&mut self) {
        if self.coupler.next_timeout().is_some_and(|due| due <= self.now) {
            self.coupler.on_timeout(self.now);
            self.take_actions();
        }
    }

    pub(super) fn sum(&self, flow: u32) -> Option<f64> {
        self.coupler.aggregate(FlowId(flow)).map(|aggregate| aggregate.sum)
    }

    /// The number of the newest action that a flow has taken.
    pub(super) fn epoch(&self, flow: u32) -> u32 {
        self.flows[&flow].epoch
    }

    /// The sums of all flows.
    pub(super) fn sums(&self) -> Vec<Option<f64>> {
        self.flows.keys().map(|&flow| self.sum(flow)).collect()
    }

    /// Share of a flow, in the aggregate's unit.
    pub(super) fn allocation(&self, flow: u32) -> f64 {
        let host = &self.flows[&flow];
        match (self.windows, host.windowed) {
            (true, _) => host.window.cwnd * SEGMENT.bytes_f64(),
            (false, true) => host.window.cwnd * SEGMENT.bits_f64() / RTT.secs_f64(),
            (false, false) => host.rate.bps_f64(),
        }
    }

    /// Two segments in the aggregate's unit: the least window of a flow, and the rounding of one.
    pub(super) fn two_segments(&self) -> f64 {
        2.0 * if self.windows { SEGMENT.bytes_f64() } else { SEGMENT.bits_f64() / RTT.secs_f64() }
    }
}

/// Checks that an action is one that a flow can take.
///
/// # Panics
/// If it is not.
pub fn check_action(action: &CouplerAction) {
    if let CouplerAction::Window(window) = action {
        let Window { cwnd, ssthresh } = *window;
        assert!(cwnd >= 1.0 && cwnd.is_finite() && ssthresh > 0.0, "{action:?}");
    }
}
