//! Joins, leaves and changes of parameters.

use super::CtrlTcp;
use crate::coupled::coupler::Refusal;
use crate::coupled::ctrl::clock::TICKS;
use crate::coupled::ctrl::config::{CoordinatorSelection, Newcomer};
use crate::coupled::ctrl::episode::Episode;
use crate::coupled::ctrl::flow::Flow;
use crate::coupled::ctrl::shares::Shares;
use crate::coupled::message::{CouplerAction, FlowId, FlowParameters, Join, Windowed};
use crate::time::SendTime;

/// Least weight, relative to the greatest.
const LEAST_WEIGHT: f64 = 1e-9;

fn is_priority(priority: f64) -> bool {
    priority > 0.0 && priority.is_finite()
}

fn is_window(windowed: &Windowed) -> bool {
    let window = windowed.window;
    window.cwnd > 0.0 && window.cwnd.is_finite() && window.ssthresh >= 0.0 && !windowed.segment.is_zero()
}

impl CtrlTcp {
    pub(super) fn join(&mut self, now: SendTime, member: FlowId, join: &Join) -> Result<(), Refusal> {
        if let Some(place) = self.flows.place(member) {
            self.send_window(place, f64::INFINITY, None);
            return Err(Refusal::JoinedAlready(member));
        }
        let refusal = match &join.window {
            _ if !is_priority(join.parameters.priority) => Refusal::Priority(member),
            None => Refusal::Kind(member),
            Some(windowed) if !is_window(windowed) => Refusal::Amount(member),
            Some(windowed) => {
                self.take_in(now, member, Flow::new(now, join.parameters, windowed));
                return Ok(());
            }
        };
        self.actions.push_back((member, CouplerAction::Uncoupled));
        Err(refusal)
    }

    fn take_in(&mut self, now: SendTime, member: FlowId, flow: Flow) {
        let (first, window) = (self.flows.is_empty(), flow.held);
        let brought = window.cwnd * flow.segment;
        let place = self.flows.insert(member, flow);
        self.inheriting = false;
        self.reweigh();
        if first {
            self.coordinator = Some(member);
            self.adopt(place, window);
            self.send_window(place, window.cwnd, None);
            return;
        }
        // P2: the pseudo-code adds the newcomer's window to the sum.
        if self.config.newcomer == Newcomer::AddsWindow {
            self.set_sum(self.shares.sum() + brought);
            self.send_window(place, f64::INFINITY, None);
            return;
        }
        // The flow may send one segment by its window.
        let segment = self.flows[place].segment;
        let clocked = self.begin_clock(now, place, segment);
        self.send_window(place, if clocked { f64::INFINITY } else { window.cwnd }, None);
    }

    /// A flow leaves and takes its share along.
    pub(super) fn withdraw(&mut self, now: SendTime, place: usize) {
        let rest = self.shares.sum() - self.shares.share(&self.flows[place]);
        self.set_sum(rest);
        self.leave(now, place);
    }

    /// `LEAVE`: the others inherit.
    pub(super) fn leave(&mut self, now: SendTime, place: usize) {
        self.settle_timeout(place);
        let member = self.flows.member(place);
        if self.episode.is_of(member) {
            // P12: no other flow would end the loss event.
            self.end_episode(now);
        }
        let segment = self.flows.remove(place).segment;
        if self.flows.is_empty() {
            self.shares = Shares::default();
            self.episode = Episode::default();
            self.coordinator = None;
            self.inheriting = false;
            self.next_review = SendTime::from_nanos(i64::MIN);
            self.reweigh();
            return;
        }
        let least = segment * self.flows.len() as f64;
        if self.shares.sum() < least {
            self.set_sum(least);
        }
        self.reweigh();
        self.inheriting = self.flows.len() == 1;
        if self.coordinator == Some(member) {
            self.hand_over(now);
        }
        self.decide_for_all(now);
    }

    pub(super) fn on_parameters(
        &mut self,
        now: SendTime,
        place: usize,
        parameters: &FlowParameters,
    ) -> Result<(), Refusal> {
        let member = self.flows.member(place);
        if !is_priority(parameters.priority) {
            return Err(Refusal::Priority(member));
        }
        let before = self.shares.share(&self.flows[place]);
        self.flows[place].parameters = *parameters;
        self.reweigh();
        let flow = &self.flows[place];
        let rises = self.shares.share(flow) - before > self.config.burst * flow.segment;
        if rises && flow.clock.is_none() && !flow.is_timed_out() {
            self.begin_clock(now, place, before);
        }
        Ok(())
    }

    /// Computes weights anew after a change of members, parameters or round-trip times.
    pub(super) fn reweigh(&mut self) {
        let mean = self.mean_base_rtt();
        self.tenants.clear();
        for place in 0..self.flows.len() {
            self.tenants.add(self.flows.member(place), self.flows[place].parameters.priority);
        }
        let mut most = f64::MIN_POSITIVE;
        for place in 0..self.flows.len() {
            let member = self.flows.member(place);
            let flow = &mut self.flows[place];
            flow.weight = self.tenants.weight(member, flow.parameters.priority);
            most = most.max(flow.weight);
        }
        self.priorities = 0.0;
        for flow in self.flows.all_mut() {
            let priority = (flow.weight / most).max(LEAST_WEIGHT);
            let round_trip = if self.config.by_rates { flow.base_seconds().unwrap_or(mean) } else { 1.0 };
            self.priorities += priority;
            flow.weight = priority * round_trip;
            flow.ticks = ticks(priority);
        }
        self.shares.refill(self.flows.all());
        self.count_clocks();
    }

    /// The mean of the known round-trip times, in seconds.
    fn mean_base_rtt(&self) -> f64 {
        let known = self.flows.all().iter().filter_map(Flow::base_seconds);
        let (sum, count) = known.fold((0.0, 0.0), |(sum, count), seconds| (sum + seconds, count + 1.0));
        if count > 0.0 { sum / count } else { self.config.usual_rtt.secs_f64() }
    }

    /// An active delay-based flow becomes the coordinator.
    pub(super) fn take_lead(&mut self, member: FlowId) {
        if self.config.lead == CoordinatorSelection::Delay && !self.delay_leads() {
            self.coordinator = Some(member);
        }
    }
}

/// A weight, of which the greatest is 1, in whole numbers.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and TICKS")]
fn ticks(weight: f64) -> u64 {
    (libm::round(weight * TICKS) as u64).max(1)
}
