//! The flows of a session, with a coupler in the same process.

use weir_cc::SendTime;
use weir_cc::coupled::{Coupler, CouplingMessage, FlowId, Refusal};

use crate::coupled::CoupledFlow;
use crate::session::{Output, Session};

/// Flows of one [`Session`], coupled in the process that sends them.
///
/// An instance accompanies the session. The caller passes each output of the session, reports what is done to its
/// flows, and calls [`Self::on_timeout`] at [`Self::next_timeout`].
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

    /// Couples a flow that the session starts now with the others.
    ///
    /// # Errors
    /// The coupler refuses the message, here and below: for its priority, say.
    pub fn add(&mut self, now: SendTime, flow: CoupledFlow, session: &mut Session) -> Result<(), Refusal> {
        let id = flow.id();
        self.flows.push(flow);
        let result = self.with(now, id, session, |flow, session| flow.begin(now, session));
        if result.is_err() {
            self.flows.pop();
        }
        result
    }

    /// Takes an output of the session.
    ///
    /// # Errors
    /// As in [`Self::add`].
    pub fn on_output(
        &mut self,
        now: SendTime,
        session: &mut Session,
        output: &Output,
    ) -> Result<(), Refusal> {
        match *output {
            Output::Decision(id, _)
            | Output::Rtt(id, _)
            | Output::Packet(id, _)
            | Output::Alarm(id, _)
            | Output::Statistics(id, _) => self.with(now, id, session, |flow, session| {
                flow.on_output(now, session, output).into_iter().flatten()
            }),
            _ => Ok(()),
        }
    }

    /// The session has paused the flow.
    ///
    /// # Errors
    /// As in [`Self::add`].
    pub fn pause(&mut self, now: SendTime, id: FlowId, session: &mut Session) -> Result<(), Refusal> {
        self.with(now, id, session, |flow, _| flow.pause())
    }

    /// The session has resumed the flow.
    ///
    /// # Errors
    /// As in [`Self::add`].
    pub fn resume(&mut self, now: SendTime, id: FlowId, session: &mut Session) -> Result<(), Refusal> {
        self.with(now, id, session, |flow, session| flow.resume(now, session))
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
        session: &mut Session,
    ) -> Result<(), Refusal> {
        self.with(now, id, session, |flow, _| flow.weigh(priority))
    }

    /// The session has stopped or removed the flow.
    ///
    /// # Errors
    /// As in [`Self::add`].
    pub fn remove(&mut self, now: SendTime, id: FlowId, session: &mut Session) -> Result<(), Refusal> {
        let result = self.with(now, id, session, |flow, _| flow.leave());
        self.flows.retain(|flow| flow.id() != id);
        result
    }

    /// Time of the next call of [`Self::on_timeout`].
    pub fn next_timeout(&self) -> Option<SendTime> {
        let flows = self.flows.iter().filter_map(CoupledFlow::next_timeout);
        flows.chain(self.coupler.next_timeout()).min()
    }

    /// The time of [`Self::next_timeout`] has come; early or twice is harmless.
    pub fn on_timeout(&mut self, now: SendTime, session: &mut Session) {
        self.coupler.on_timeout(now);
        self.apply(now, session);
        for flow in &mut self.flows {
            flow.on_timeout(now, session);
        }
    }

    /// Passes the messages of the flow `id` to the coupler, then applies all of its actions.
    fn with<W: IntoIterator<Item = CouplingMessage>>(
        &mut self,
        now: SendTime,
        id: FlowId,
        session: &mut Session,
        messages: impl FnOnce(&mut CoupledFlow, &Session) -> W,
    ) -> Result<(), Refusal> {
        let Some(flow) = self.flows.iter_mut().find(|flow| flow.id() == id) else { return Ok(()) };
        let mut result = Ok(());
        for message in messages(flow, session) {
            result = result.and(self.coupler.on_message(now, id, &message));
        }
        self.apply(now, session);
        result
    }

    fn apply(&mut self, now: SendTime, session: &mut Session) {
        while let Some((id, action)) = self.coupler.poll_action() {
            if let Some(flow) = self.flows.iter_mut().find(|flow| flow.id() == id) {
                flow.apply(now, &action, session);
            }
        }
    }
}
