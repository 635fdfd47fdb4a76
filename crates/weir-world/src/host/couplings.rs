//! Couplers, with the messages to them and their actions in transit.

use std::collections::VecDeque;

use weir_cc::SendTime;
use weir_cc::coupled::{Aggregate, Coupler, CouplerAction, CouplingMessage, FlowId};
use weir_net::Time;
use weir_units::TimeDelta;

use crate::coupling::CouplingSpec;
use crate::flow::FlowSpec;
use crate::monitor::Monitor;

/// The couplers of a run.
///
/// A near coupler has no delay, and is polled for its actions as soon as it has received a message. Its actions for
/// other flows wait in a queue. So do all messages to, and all actions of, a far coupler, until their delay has
/// passed.
#[derive(Debug, Default)]
pub struct Couplings {
    all: Vec<DelayedCoupler>,
    /// The coupling of each flow.
    coupling_by_flow: Vec<Option<u32>>,
    /// A coupler without delay that has actions for other flows than the sender of the message.
    immediate: Option<usize>,
}

/// A coupler, and the messages and actions in transit, in the order in which they arrive.
#[derive(Debug)]
struct DelayedCoupler {
    coupler: Box<dyn Coupler>,
    delay: TimeDelta,
    messages: VecDeque<(Time, u32, CouplingMessage)>,
    actions: VecDeque<(Time, SentAction)>,
}

/// A coupler's action for a flow, with the flow's aggregate.
#[derive(Clone, Copy, Debug)]
pub struct SentAction {
    /// Index of the flow.
    pub flow: usize,
    /// The action.
    pub action: CouplerAction,
    /// The aggregate of the flow's group, for observers of signals.
    pub aggregate: Option<Aggregate>,
}

impl DelayedCoupler {
    fn new(spec: CouplingSpec) -> Self {
        let CouplingSpec { coupler, delay, .. } = spec;
        Self { coupler, delay, messages: VecDeque::new(), actions: VecDeque::new() }
    }

    /// Whether messages reach the coupler without delay.
    fn is_near(&self) -> bool {
        self.delay.nanos() <= 0
    }

    /// The coupler's next action.
    fn poll<M: Monitor>(&mut self, monitor: &M) -> Option<SentAction> {
        let (member, action) = self.coupler.poll_action()?;
        let aggregate = if monitor.wants_signals() { self.coupler.aggregate(member) } else { None };
        Some(SentAction { flow: member.0 as usize, action, aggregate })
    }

    fn receive<M: Monitor>(&mut self, now: Time, flow: u32, message: &CouplingMessage, monitor: &mut M) {
        let refused = self.coupler.on_message(local(now), FlowId(flow), message).err();
        monitor.coupling_message(now, flow as usize, message, refused);
    }

    /// Puts the coupler's actions in transit.
    fn send_actions<M: Monitor>(&mut self, now: Time, monitor: &M) {
        while let Some(sent) = self.poll(monitor) {
            self.actions.push_back((now + self.delay, sent));
        }
    }

    /// Time of the next event at the coupler, or of its actions. The result is never before `now`, though the coupler's
    /// timer may have become due by the last message.
    fn next_wake(&self, now: Time) -> Time {
        let message = self.messages.front().map_or(Time::MAX, |&(due, ..)| due);
        let action = self.actions.front().map_or(Time::MAX, |&(due, _)| due);
        let timer = self.coupler.next_timeout();
        let timer = timer.map_or(Time::MAX, |due| Time::from_nanos(due.nanos().max(0) as u64));
        message.min(action).min(timer).max(now)
    }
}

/// Time of a coupler's clock: the true time.
fn local(now: Time) -> SendTime {
    SendTime::from_nanos(now.nanos() as i64)
}

impl Couplings {
    /// The couplers `specs` of the flows `flows`.
    pub fn new(specs: Vec<CouplingSpec>, flows: &[FlowSpec]) -> Self {
        let coupling_by_flow =
            flows.iter().map(|flow| flow.coupled.as_ref().map(|coupled| coupled.coupling as u32));
        Self {
            all: specs.into_iter().map(DelayedCoupler::new).collect(),
            coupling_by_flow: coupling_by_flow.collect(),
            immediate: None,
        }
    }

    /// The number of couplers.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether there is no coupler.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Sends `message` of `flow` to its coupler. Returns the coupler if it is a far one: the message
    /// is then in transit.
    pub fn send<M: Monitor>(
        &mut self,
        now: Time,
        flow: usize,
        message: &CouplingMessage,
        monitor: &mut M,
    ) -> Option<usize> {
        let index = self.of(flow)?;
        let coupling = &mut self.all[index];
        if coupling.is_near() {
            coupling.receive(now, flow as u32, message, monitor);
            return None;
        }
        coupling.messages.push_back((now + coupling.delay, flow as u32, *message));
        Some(index)
    }

    /// The near coupler of `flow`.
    #[inline]
    pub fn near(&self, flow: usize) -> Option<usize> {
        self.of(flow).filter(|&index| self.all[index].is_near())
    }

    #[inline]
    fn of(&self, flow: usize) -> Option<usize> {
        self.coupling_by_flow.get(flow).copied().flatten().map(|index| index as usize)
    }

    /// The next action for `flow` of coupler `index`, a near one that has just received a message of `flow`. Actions
    /// for other flows are queued for this instant.
    pub fn answer<M: Monitor>(
        &mut self,
        now: Time,
        index: usize,
        flow: usize,
        monitor: &M,
    ) -> Option<SentAction> {
        let coupling = &mut self.all[index];
        while let Some(sent) = coupling.poll(monitor) {
            if sent.flow == flow {
                return Some(sent);
            }
            coupling.actions.push_back((now, sent));
            self.immediate = Some(index);
        }
        None
    }

    /// A coupler with actions that are due at this instant. Each is returned once.
    #[inline]
    pub fn take_immediate(&mut self) -> Option<usize> {
        self.immediate.take()
    }

    /// Passes the messages that have come by `now` to coupler `index`, and calls its timer.
    pub fn receive<M: Monitor>(&mut self, now: Time, index: usize, monitor: &mut M) {
        let coupling = &mut self.all[index];
        if coupling.coupler.next_timeout().is_some_and(|due| due <= local(now)) {
            coupling.coupler.on_timeout(local(now));
            coupling.send_actions(now, monitor);
        }
        while coupling.messages.front().is_some_and(|&(due, ..)| due <= now) {
            let Some((_, flow, message)) = coupling.messages.pop_front() else { break };
            coupling.receive(now, flow, &message, monitor);
            coupling.send_actions(now, monitor);
        }
    }

    /// The next action of coupler `index` that has arrived at its host.
    pub fn next_arrived(&mut self, now: Time, index: usize) -> Option<SentAction> {
        let actions = &mut self.all[index].actions;
        let due = actions.front().is_some_and(|&(due, _)| due <= now);
        if due { actions.pop_front().map(|(_, sent)| sent) } else { None }
    }

    /// The next of all couplers' actions that are due at `now`, for a world without a schedule of its own.
    pub fn next_due<M: Monitor>(&mut self, now: Time, monitor: &mut M) -> Option<SentAction> {
        for index in 0..self.all.len() {
            if self.next_wake(now, index) > now {
                continue;
            }
            self.receive(now, index, monitor);
            if let Some(sent) = self.next_arrived(now, index) {
                monitor.coupler_action(now, sent.flow, &sent.action, sent.aggregate);
                return Some(sent);
            }
        }
        None
    }

    /// Time of the next event at any coupler; [`Time::MAX`] without one.
    pub fn next_event(&self, now: Time) -> Time {
        (0..self.all.len()).map(|index| self.next_wake(now, index)).min().unwrap_or(Time::MAX)
    }

    /// Time of the next event at coupler `index`.
    pub fn next_wake(&self, now: Time, index: usize) -> Time {
        self.all[index].next_wake(now)
    }
}
