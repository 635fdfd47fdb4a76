//! Endpoints of one peer under one coupler.

use weir_cc::coupled::{Coupler, FlowId, Refusal};
use weir_cc::{AllocatedRate, SendTime, Target};
use weir_units::{DataRate, DataSize};

use super::event::{Departure, EndpointEvent};
use super::payload::Payload;
use super::{Endpoint, EndpointError, PacketNumbering};
use crate::coupled::{CoupledFlow, CoupledOutput, DesiredRate, FlowSet};
use crate::coupled_flows::CoupledFlows;
use crate::guard::Alarm;

/// Numbers after which silent members skip those of the others: less than half of all, which 16 bits cannot tell apart.
const SILENT_NUMBERS: u16 = 8192;
/// Most payload bytes in a packet, for couplers that count packets.
const SEGMENT: u16 = 1200;

/// Endpoints that share a path to one peer, such as audio, video and data of a call. Each has its controller, and a
/// coupler allocates the sum of their rates by their priorities (RFC 8699). All packets have transport-wide numbers of
/// one sequence, as browsers expect.
///
/// The group is driven as an [`Endpoint`] is; streams are added to the endpoints, and packets queued there
/// ([`Self::endpoint_mut`]).
#[derive(Debug)]
pub struct EndpointGroup<P> {
    members: GroupMembers<P>,
    coupled: CoupledFlows<Box<dyn Coupler>>,
    /// Transport-wide number of the next packet.
    number: u16,
    /// Source identifiers of all streams, for feedback that names any of them.
    sources: Vec<u32>,
    /// A refusal by the coupler, which the next call of [`Self::poll_event`] returns.
    refusal: Option<Refusal>,
}

/// The endpoints, by the numbers of their flows.
#[derive(Debug)]
struct GroupMembers<P>(Vec<Endpoint<P>>);

/// Error of a call of an [`EndpointGroup`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum GroupError {
    /// The call failed at an endpoint.
    Endpoint(EndpointError),
    /// The coupler refuses the flow, because of its priority for instance.
    Refused(Refusal),
}

impl core::fmt::Display for GroupError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Endpoint(error) => error.fmt(f),
            Self::Refused(refusal) => write!(f, "the coupler refuses the flow: {refusal}"),
        }
    }
}

impl core::error::Error for GroupError {}

impl From<EndpointError> for GroupError {
    fn from(error: EndpointError) -> Self {
        Self::Endpoint(error)
    }
}

impl From<Refusal> for GroupError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl<P: Payload> EndpointGroup<P> {
    /// A group without endpoints.
    pub fn new(coupler: Box<dyn Coupler>) -> Self {
        Self {
            members: GroupMembers(Vec::new()),
            coupled: CoupledFlows::new(coupler),
            number: 0,
            sources: Vec::new(),
            refusal: None,
        }
    }

    /// Adds an endpoint with the weight `priority`, positive and finite. Packets of endpoints that were added first leave
    /// first.
    ///
    /// # Errors
    /// If the coupler refuses the priority, or the endpoint numbers its packets itself.
    pub fn add(
        &mut self,
        now: SendTime,
        mut endpoint: Endpoint<P>,
        priority: f64,
        desired: DesiredRate,
    ) -> Result<FlowId, GroupError> {
        if endpoint.config.numbering != PacketNumbering::Given {
            return Err(EndpointError::WrongNumbering.into());
        }
        endpoint.begin(now)?;
        let (id, limits) = (FlowId(self.members.0.len() as u32), endpoint.config.limits);
        self.members.0.push(endpoint);
        let flow = CoupledFlow::with_limits(id, priority, desired, limits, SEGMENT);
        if let Err(refusal) = self.coupled.add(now, flow, &mut self.members) {
            self.members.0.pop();
            return Err(refusal.into());
        }
        Ok(id)
    }

    /// An endpoint of the group.
    pub fn endpoint(&self, flow: FlowId) -> Option<&Endpoint<P>> {
        self.members.0.get(flow.number())
    }

    /// An endpoint of the group, to add streams and to queue packets.
    pub fn endpoint_mut(&mut self, flow: FlowId) -> Option<&mut Endpoint<P>> {
        self.members.0.get_mut(flow.number())
    }

    /// The next packet that may leave now, with its endpoint; call until `None`.
    ///
    /// # Errors
    /// As [`Endpoint::poll_packet`].
    pub fn poll_packet(
        &mut self,
        now: SendTime,
        out: &mut [u8],
    ) -> Result<Option<(FlowId, Departure<P>)>, GroupError> {
        for (place, endpoint) in self.members.0.iter_mut().enumerate() {
            if let Some(departure) = endpoint.poll_packet_as(now, self.number, out)? {
                self.number = self.number.wrapping_add(1);
                if self.number.is_multiple_of(SILENT_NUMBERS) {
                    self.skip_numbers();
                }
                let (id, sent) = (FlowId(place as u32), departure.length - departure.header);
                let output = CoupledOutput::Sent(DataSize::from_bytes(sent as u64));
                self.pass_on(now, id, output);
                return Ok(Some((id, departure)));
            }
        }
        Ok(None)
    }

    /// Takes an RTCP compound packet from the peer. Each endpoint uses the parts about its streams, and its packets of
    /// transport-wide feedback.
    ///
    /// # Errors
    /// If the time ran back.
    pub fn on_rtcp(&mut self, now: SendTime, bytes: &[u8]) -> Result<(), GroupError> {
        if self.members.0.iter().flat_map(Endpoint::sources).count() != self.sources.len() {
            self.sources = self.members.0.iter().flat_map(Endpoint::sources).collect();
            let sources = &self.sources;
            self.members.0.iter_mut().for_each(|endpoint| endpoint.path.share_transport(sources));
        }
        for endpoint in &mut self.members.0 {
            // Feedback cannot be about packets of a member that has sent none.
            if endpoint.path.next_number() > 0 {
                endpoint.on_rtcp(now, bytes)?;
            }
        }
        Ok(())
    }

    /// The numbers up to the present one are those of other members, too, for members that are silent.
    fn skip_numbers(&mut self) {
        for endpoint in self.members.0.iter_mut().filter(|endpoint| endpoint.path.next_number() > 0) {
            // A number that does not follow is refused when a packet leaves with it.
            _ = endpoint.path.skip_to(self.number);
        }
    }

    /// An endpoint pauses ([`Endpoint::pause`]), and others take its share.
    ///
    /// # Errors
    /// If the time ran back, or the coupler refuses a message.
    pub fn pause(&mut self, now: SendTime, flow: FlowId) -> Result<(), GroupError> {
        if let Some(endpoint) = self.members.0.get_mut(flow.number()) {
            endpoint.pause(now)?;
            self.coupled.pause(now, flow, &mut self.members)?;
        }
        Ok(())
    }

    /// An endpoint sends again ([`Endpoint::resume`]), after a pause or after a circuit breaker stopped its media.
    ///
    /// # Errors
    /// If the time ran back, or the coupler refuses a message.
    pub fn resume(&mut self, now: SendTime, flow: FlowId) -> Result<(), GroupError> {
        if let Some(endpoint) = self.members.0.get_mut(flow.number()) {
            endpoint.resume(now)?;
            self.coupled.resume(now, flow, &mut self.members)?;
        }
        Ok(())
    }

    /// Changes the weight of an endpoint.
    ///
    /// # Errors
    /// If the coupler refuses the weight.
    pub fn weigh(&mut self, now: SendTime, flow: FlowId, priority: f64) -> Result<(), GroupError> {
        Ok(self.coupled.weigh(now, flow, priority, &mut self.members)?)
    }

    /// Serves the timers that are due. An early call is harmless.
    ///
    /// # Errors
    /// If the time ran back.
    pub fn on_timeout(&mut self, now: SendTime) -> Result<(), GroupError> {
        for endpoint in &mut self.members.0 {
            endpoint.on_timeout(now)?;
        }
        self.coupled.on_timeout(now, &mut self.members);
        Ok(())
    }

    /// Time of the next call of [`Self::on_timeout`] and [`Self::poll_packet`]. A past time means at once.
    pub fn next_timeout(&self) -> Option<SendTime> {
        self.members.0.iter().filter_map(Endpoint::next_timeout).chain(self.coupled.next_timeout()).min()
    }

    /// Writes the RTCP packet that is due into `out` and returns its length; call until `None`.
    ///
    /// # Errors
    /// If the time ran back.
    pub fn poll_rtcp(&mut self, now: SendTime, out: &mut [u8]) -> Result<Option<usize>, GroupError> {
        for endpoint in &mut self.members.0 {
            if let Some(length) = endpoint.poll_rtcp(now, out)? {
                return Ok(Some(length));
            }
        }
        Ok(None)
    }

    /// The coupler gets an output of the endpoint. The packet or the event itself is the embedder's in any case.
    fn pass_on(&mut self, now: SendTime, flow: FlowId, output: CoupledOutput) {
        let refused = self.coupled.on_flow_output(now, &mut self.members, flow, output).err();
        self.refusal = refused.or(self.refusal.take());
    }

    /// The next event, with its endpoint; call until `None`. The coupler gets decisions and alarms by these calls.
    ///
    /// # Errors
    /// If the coupler refused a message on an event or a packet before.
    pub fn poll_event(&mut self, now: SendTime) -> Result<Option<(FlowId, EndpointEvent<P>)>, GroupError> {
        if let Some(refusal) = self.refusal.take() {
            return Err(refusal.into());
        }
        for place in 0..self.members.0.len() {
            let Some(event) = self.members.0[place].poll_event() else { continue };
            let (id, output) = (FlowId(place as u32), coupled(&event));
            if matches!(event, EndpointEvent::Alarm(Alarm::Stopped(_))) {
                self.refusal = self.coupled.pause(now, id, &mut self.members).err();
            }
            if let Some(output) = output {
                self.pass_on(now, id, output);
            }
            return Ok(Some((id, event)));
        }
        Ok(None)
    }
}

/// The part of an event that concerns coupling.
fn coupled<P>(event: &EndpointEvent<P>) -> Option<CoupledOutput> {
    Some(match *event {
        EndpointEvent::Decision(decision) => CoupledOutput::Decision(decision),
        EndpointEvent::RoundTrip(rtt) => CoupledOutput::RoundTrip(rtt),
        EndpointEvent::Alarm(alarm) => CoupledOutput::Alarm(alarm),
        _ => return None,
    })
}

impl<P: Payload> FlowSet for GroupMembers<P> {
    fn target(&self, flow: FlowId) -> Option<&Target> {
        self.0.get(flow.number()).map(Endpoint::target)
    }

    fn last_feedback(&self, flow: FlowId) -> Option<SendTime> {
        self.0.get(flow.number()).and_then(|endpoint| endpoint.path.last_feedback())
    }

    fn queued(&self, flow: FlowId) -> DataSize {
        self.0.get(flow.number()).map_or(DataSize::ZERO, Endpoint::queued)
    }

    fn apply_allocation(&mut self, now: SendTime, flow: FlowId, share: AllocatedRate) -> Option<DataRate> {
        self.0.get_mut(flow.number()).map(|endpoint| endpoint.path.apply_allocation(now, share))
    }
}
