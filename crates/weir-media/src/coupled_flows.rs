//! The flows of a host, with a coupler in the same process.

use weir_cc::SendTime;
use weir_cc::coupled::{Coupler, CouplingMessage, FlowId, Refusal};

use crate::coupled::{CoupledFlow, CoupledOutput, FlowSet};
use crate::session::Output;

/// Flows of one [`FlowSet`], coupled in the process that sends them.
///
/// The caller passes each output of the flows, reports what is done to them, and calls [`Self::on_timeout`] at [`Self::next_timeout`].
#[derive(Debug)]
pub struct CoupledFlows<C> {
    coupler: C,
    flows: Vec<CoupledFlow>,
}

impl<C: Coupler> CoupledFlows<C> {
    /// A coupler without flows.
    pub const fn new(coupler: C) -> Self {
        Self { coupler, flows: Vec::new() }
    }

    /// The coupler.
    pub const fn coupler(&self) -> &C {
        &self.coupler
    }

    /// Couples a flow that the host starts now with the others.
    ///
    /// # Errors
    /// The coupler refuses the message, here and below: for its priority, say.
    pub fn add(&mut self, now: SendTime, flow: CoupledFlow, flows: &mut impl FlowSet) -> Result<(), Refusal> {
        let id = flow.id();
        self.flows.push(flow);
        let result = self.with(now, id, flows, |flow, flows| flow.begin(now, flows));
        if result.is_err() {
            self.flows.pop();
        }
        result
    }

    /// Takes an output of a [`Session`](crate::Session).
    ///
    /// # Errors
    /// As in [`Self::add`].
    pub fn on_output(
        &mut self,
        now: SendTime,
        flows: &mut impl FlowSet,
        output: &Output,
    ) -> Result<(), Refusal> {
        CoupledOutput::of(output).map_or(Ok(()), |(id, output)| self.on_flow_output(now, flows, id, output))
    }

    /// Takes an output of the flow `id`.
    ///
    /// # Errors
    /// As in [`Self::add`].
    pub fn on_flow_output(
        &mut self,
        now: SendTime,
        flows: &mut impl FlowSet,
        id: FlowId,
        output: CoupledOutput,
    ) -> Result<(), Refusal> {
        self.with(now, id, flows, |flow, flows| flow.on_output(now, flows, &output).into_iter().flatten())
    }

    /// The host has paused the flow.
    ///
    /// # Errors
    /// As in [`Self::add`].
    pub fn pause(&mut self, now: SendTime, id: FlowId, flows: &mut impl FlowSet) -> Result<(), Refusal> {
        self.with(now, id, flows, |flow, _| flow.pause())
    }

    /// The host has resumed the flow.
    ///
    /// # Errors
    /// As in [`Self::add`].
    pub fn resume(&mut self, now: SendTime, id: FlowId, flows: &mut impl FlowSet) -> Result<(), Refusal> {
        self.with(now, id, flows, |flow, flows| flow.resume(now, flows))
    }

    /// Changes the weight of the flow.
    ///
    /// # Errors
    /// As in [`Self::add`].
    pub fn weigh(
        &mut self,
        now: SendTime,
        id: FlowId,
        priority: f64,
        flows: &mut impl FlowSet,
    ) -> Result<(), Refusal> {
        self.with(now, id, flows, |flow, _| flow.weigh(priority))
    }

    /// The host has stopped or removed the flow.
    ///
    /// # Errors
    /// As in [`Self::add`].
    pub fn remove(&mut self, now: SendTime, id: FlowId, flows: &mut impl FlowSet) -> Result<(), Refusal> {
        let result = self.with(now, id, flows, |flow, _| flow.leave());
        self.flows.retain(|flow| flow.id() != id);
        result
    }

    /// Time of the next call of [`Self::on_timeout`].
    pub fn next_timeout(&self) -> Option<SendTime> {
        let flows = self.flows.iter().filter_map(CoupledFlow::next_timeout);
        flows.chain(self.coupler.next_timeout()).min()
    }

    /// The time of [`Self::next_timeout`] has come; early or twice is harmless.
    pub fn on_timeout(&mut self, now: SendTime, flows: &mut impl FlowSet) {
        self.coupler.on_timeout(now);
        self.apply(now, flows);
        for flow in &mut self.flows {
            flow.on_timeout(now, flows);
        }
    }

    /// Passes the messages of the flow `id` to the coupler, then applies all of its actions.
    fn with<F: FlowSet, W: IntoIterator<Item = CouplingMessage>>(
        &mut self,
        now: SendTime,
        id: FlowId,
        flows: &mut F,
        messages: impl FnOnce(&mut CoupledFlow, &F) -> W,
    ) -> Result<(), Refusal> {
        let Some(flow) = self.flows.iter_mut().find(|flow| flow.id() == id) else { return Ok(()) };
        let mut result = Ok(());
        for message in messages(flow, flows) {
            result = result.and(self.coupler.on_message(now, id, &message));
        }
        self.apply(now, flows);
        result
    }

    fn apply(&mut self, now: SendTime, flows: &mut impl FlowSet) {
        while let Some((id, action)) = self.coupler.poll_action() {
            if let Some(flow) = self.flows.iter_mut().find(|flow| flow.id() == id) {
                flow.apply(now, &action, flows);
            }
        }
    }
}
