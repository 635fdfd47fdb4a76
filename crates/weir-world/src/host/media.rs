//! Hosts of media flows, which drive the endpoints of weir-media. The flows of one call share a host at either end;
//! other flows each have their own.

use weir_cc::coupled::{CouplerAction, CouplingMessage};
use weir_cc::{ArrivalTime, Controller, DataRate, Ecn, PathEvent, Receiver, SendTime};
use weir_media::{
    Alarm, CoupledFlow, CoupledOutput, FlowId, MediaConfig, MediaPacket, MediaReceiver, MediaSender, Output,
    SenderSeeds, SentFrame, Session,
};
use weir_net::Time;
use weir_wire::media::MediaHeader;

use super::clock::Clock;
use super::pauses::{PauseEdge, Pauses};
use super::priorities::Priorities;
use super::{Life, SignalBuffer, UDP_OVERHEAD, World, packet_meta};
use crate::coupling::CoupledSpec;
use crate::flow::Side;
use crate::monitor::{FrameMeta, Monitor, PacketMeta};

/// RTP source identifier of the end of flow `flow` at `side`; audio has bit 31 changed, and retransmissions
/// bit 30.
pub const fn ssrc(flow: usize, side: Side) -> u32 {
    2 * flow as u32 + 1 + side as u32
}

/// The sending host.
#[derive(Debug)]
pub struct MediaSource {
    clock: Clock,
    session: Session,
    /// Flows by their numbers in the session.
    flows: Vec<SendingFlow>,
}

#[derive(Debug)]
struct SendingFlow {
    id: FlowId,
    life: Life,
    /// Time of the next call of [`Self::apply_schedule`], unless the flow is coupled.
    change_due: Time,
    ecn: Ecn,
    pauses: Pauses,
    signals: SignalBuffer,
    /// Whether an event may have changed the signals.
    signals_changed: bool,
    coupled: Option<Box<FlowCoupling>>,
}

/// State of a coupled flow.
#[derive(Debug)]
struct FlowCoupling {
    flow: CoupledFlow,
    priorities: Priorities,
}

impl SendingFlow {
    /// Performs the flow's start, stop, pauses and changes of weight that are due at `now`, and reports them to its
    /// coupler.
    fn apply_schedule(&mut self, now: Time, local: SendTime, session: &mut Session, world: &mut impl World) {
        let (id, Life { start, stop, .. }) = (self.id, self.life);
        if now >= stop {
            session.stop(id);
            return self.send_messages(now, local, session, world, |flow, _| flow.leave());
        }
        if now < start {
            return;
        }
        // Both act only at the first call.
        session.start(local, id);
        self.send_messages(now, local, session, world, |flow, session| flow.begin(local, session));
        while let Some(edge) = self.pauses.next_due(now) {
            match edge {
                PauseEdge::Pause => session.pause(local, id),
                PauseEdge::Resume => session.resume(local, id),
            }
            self.send_messages(now, local, session, world, |flow, session| match edge {
                PauseEdge::Pause => flow.pause(),
                PauseEdge::Resume => flow.resume(local, session),
            });
            self.signals_changed = true;
        }
        while let Some(priority) = self.coupled.as_mut().and_then(|coupled| coupled.priorities.next_due(now))
        {
            self.send_messages(now, local, session, world, |flow, _| flow.weigh(priority));
        }
        if let Some(coupled) = &mut self.coupled {
            let taken = coupled.flow.on_timeout(local, session);
            allocated(now, self.life.flow, (id, taken), session, world);
        }
    }

    /// Sends `messages` to the flow's coupler, if it has one, and applies the actions of its immediate answer.
    fn send_messages<W: IntoIterator<Item = CouplingMessage>>(
        &mut self,
        now: Time,
        local: SendTime,
        session: &mut Session,
        world: &mut impl World,
        messages: impl FnOnce(&mut CoupledFlow, &Session) -> W,
    ) {
        let Some(FlowCoupling { flow, .. }) = self.coupled.as_deref_mut() else { return };
        for message in messages(flow, session) {
            world.send_message(now, self.life.flow, &message);
            while let Some(action) = world.poll_action(now, self.life.flow) {
                let taken = flow.apply(local, &action, session);
                allocated(now, self.life.flow, (self.id, taken), session, world);
            }
        }
    }

    /// Time of the next call of [`Self::apply_schedule`].
    fn next_change(&self, now: Time) -> Time {
        if now < self.life.start {
            self.life.start
        } else if now < self.life.stop {
            let next_priority_change =
                self.coupled.as_ref().map_or(Time::MAX, |coupled| coupled.priorities.next_change());
            self.life.stop.min(self.pauses.next_edge()).min(next_priority_change)
        } else {
            Time::MAX
        }
    }

    /// Time at which the flow stops waiting for an answer of its coupler.
    fn answer_timeout(&self) -> Option<SendTime> {
        self.coupled.as_ref().and_then(|coupled| coupled.flow.next_timeout())
    }
}

impl MediaSource {
    /// A host without flows.
    pub fn new(clock: Clock) -> Self {
        Self { clock, session: Session::new(), flows: Vec::new() }
    }

    /// Adds the sending half of a flow.
    ///
    /// # Panics
    /// The host has a flow of this index already.
    pub fn add(
        &mut self,
        life: Life,
        controller: Box<dyn Controller>,
        config: &MediaConfig,
        seeds: SenderSeeds,
        pauses: Vec<(Time, Time)>,
        coupled: Option<CoupledSpec>,
    ) {
        let signals = SignalBuffer::new(Side::Sender, controller.signals().len());
        let mut sender = MediaSender::new(controller, *config, ssrc(life.flow, Side::Sender), seeds);
        sender.believe_only(&[ssrc(life.flow, Side::Receiver)]);
        let id = self.session.add(sender).expect("the identifiers of flows differ");
        let (ecn, pauses) = (config.ecn, Pauses::new(pauses));
        let coupled = coupled.map(|spec| {
            let flow = CoupledFlow::new(id, spec.priority, spec.desired, config);
            Box::new(FlowCoupling { flow, priorities: Priorities::new(spec) })
        });
        if self.flows.is_empty() {
            self.flows.reserve_exact(1); // most have one flow
        }
        let (change_due, signals_changed) = (life.start, false);
        self.flows.push(SendingFlow { id, life, change_due, ecn, pauses, signals, signals_changed, coupled });
    }

    /// Time of the first [`Self::wake`].
    pub fn first_wake(&self) -> Time {
        self.flows.iter().map(|flow| flow.life.start).min().unwrap_or(Time::MAX)
    }

    /// Serves starts, stops, pauses and timers that are due at `now`. Returns the time of the next call.
    pub fn wake(&mut self, now: Time, world: &mut impl World) -> Time {
        let local = SendTime::from_nanos(self.clock.read(now));
        for flow in &mut self.flows {
            if flow.change_due <= now || flow.coupled.is_some() {
                flow.apply_schedule(now, local, &mut self.session, world);
                flow.change_due = flow.next_change(now);
            }
        }
        self.drain(now, local, world)
    }

    /// Applies an action of the coupler for `flow`.
    pub fn apply(&mut self, now: Time, flow: usize, action: &CouplerAction, world: &mut impl World) {
        let local = SendTime::from_nanos(self.clock.read(now));
        let Some(flow) = self.flows.iter_mut().find(|own| own.life.flow == flow) else { return };
        if let Some(coupled) = &mut flow.coupled {
            let taken = coupled.flow.apply(local, action, &mut self.session);
            allocated(now, flow.life.flow, (flow.id, taken), &self.session, world);
            flow.signals_changed = true;
        }
    }

    /// Takes the RTCP packet `bytes` for flow `flow`. Then call [`Self::poll`].
    pub fn on_rtcp(&mut self, now: Time, flow: usize, bytes: &[u8], monitor: &mut impl Monitor) {
        if monitor.wants_rtp() {
            monitor.rtcp_arrived(now, flow, Side::Sender, bytes);
        }
        self.session.on_rtcp(SendTime::from_nanos(self.clock.read(now)), bytes);
        let flows = self.flows.iter_mut();
        flows.filter(|own| own.life.flow == flow).for_each(|flow| flow.signals_changed = true);
    }

    /// Passes an event of the path to the controller of flow `flow`. Then call [`Self::poll`].
    pub fn on_event(&mut self, now: Time, flow: usize, event: PathEvent) {
        let local = SendTime::from_nanos(self.clock.read(now));
        if let Some(own) = self.flows.iter_mut().find(|own| own.life.flow == flow) {
            own.signals_changed = true;
            self.session.on_event(local, own.id, event);
        }
    }

    /// The sending end of flow `flow`.
    pub fn sender(&self, flow: usize) -> Option<&MediaSender> {
        let own = self.flows.iter().find(|own| own.life.flow == flow)?;
        self.session.flow(own.id)
    }

    /// Sends what is due after a packet. Returns the time of the next [`Self::wake`].
    pub fn poll(&mut self, now: Time, world: &mut impl World) -> Time {
        self.drain(now, SendTime::from_nanos(self.clock.read(now)), world)
    }

    /// Sends all output that is due, and reports changes to the monitor and the couplers.
    fn drain(&mut self, now: Time, local: SendTime, world: &mut impl World) -> Time {
        let flows = &mut self.flows;
        let flow_of = |flows: &[SendingFlow], id: FlowId| flows[id.number()].life.flow;
        let wake = loop {
            let output = self.session.poll(local, world.rtcp_buffer());
            if let Output::Decision(id, decision) = output
                && let Some(sender) = self.session.flow(id)
            {
                // Reported before the coupler answers with another rate.
                world.monitor().decided(now, flow_of(flows, id), &decision, sender.controller());
            }
            if let Some((id, output)) = CoupledOutput::of(&output) {
                let messages = |flow: &mut CoupledFlow, session: &Session| {
                    flow.on_output(local, session, &output).into_iter().flatten()
                };
                flows[id.number()].send_messages(now, local, &mut self.session, world, messages);
            }
            match &output {
                &Output::Rtt(id, rtt) => world.monitor().rtt(now, flow_of(flows, id), rtt),
                Output::Alarm(id, Alarm::Stopped(breaker)) => {
                    world.monitor().stopped(now, flow_of(flows, *id), breaker);
                }
                Output::Statistics(..) | Output::Alarm(..) => {}
                Output::Decision(id, _) => flows[id.number()].signals_changed = true,
                Output::Frame(id, frame) => world.monitor().frame(now, flow_of(flows, *id), &seen(frame)),
                Output::Packet(id, packet) => send(now, &flows[id.number()], packet, world),
                &Output::Rtcp(id, length) => {
                    world.send_rtcp(now, flow_of(flows, id), Side::Sender, length);
                }
                Output::Target(id, target) => world.monitor().target(now, flow_of(flows, *id), target),
                Output::Wake(wake) => break *wake,
            }
        };
        for (flow, (_, sender)) in flows.iter_mut().zip(self.session.flows()) {
            if core::mem::take(&mut flow.signals_changed) {
                let read = |out: &mut [f64]| sender.controller().read_signals(out);
                flow.signals.show(now, flow.life.flow, world.monitor(), read);
            }
        }
        let wake = wake.map(|wake| wake.at);
        let due = flows.iter().filter_map(SendingFlow::answer_timeout).chain(wake).min();
        let due = due.map_or(Time::MAX, |due| self.clock.when(due.nanos(), now));
        flows.iter().map(|flow| flow.change_due).fold(due, Time::min)
    }
}

/// Reports to the monitor the rate that the controller of the flow `id` took from its coupler, if it took one.
fn allocated(
    now: Time,
    flow: usize,
    (id, taken): (FlowId, Option<DataRate>),
    session: &Session,
    world: &mut impl World,
) {
    if let (Some(rate), Some(sender)) = (taken, session.flow(id)) {
        world.monitor().allocated(now, flow, rate, sender.controller());
    }
}

/// A frame as reported to the monitor.
fn seen(frame: &SentFrame) -> FrameMeta {
    let SentFrame { number, packets, size, key } = *frame;
    FrameMeta { number, packets, bytes: size.bytes() as u32, key }
}

fn send(now: Time, flow: &SendingFlow, packet: &MediaPacket, world: &mut impl World) {
    let payload = u32::from(packet.payload);
    let wire_size = payload + packet.header.wire_len() as u32 + UDP_OVERHEAD;
    let meta = match packet.frame {
        Some(frame) => PacketMeta { frame, ..packet_meta(now, wire_size, payload, false) },
        None if packet.audio => packet_meta(now, wire_size, payload, false),
        // Padding counts on the wire, and is no payload.
        None => packet_meta(now, wire_size, 0, false),
    };
    if world.monitor().wants_rtp() {
        world.monitor().rtp_sent(now, flow.life.flow, packet);
    }
    world.send_media(now, flow.life.flow, meta, packet, flow.ecn);
}

/// The receiving host.
#[derive(Debug)]
pub struct MediaSink {
    clock: Clock,
    flows: Vec<ReceivingFlow>,
}

#[derive(Debug)]
struct ReceivingFlow {
    life: Life,
    receiver: MediaReceiver,
    signals: SignalBuffer,
}

impl MediaSink {
    /// A host without flows.
    pub fn new(clock: Clock) -> Self {
        Self { clock, flows: Vec::new() }
    }

    /// Adds the receiving half of a flow; `rtcp_seed` begins the random draws of its RTCP.
    pub fn add(&mut self, life: Life, receiver: Box<dyn Receiver>, config: &MediaConfig, rtcp_seed: u64) {
        let signals = SignalBuffer::new(Side::Receiver, receiver.signals().len());
        let (own, source) = (ssrc(life.flow, Side::Receiver), ssrc(life.flow, Side::Sender));
        let receiver = MediaReceiver::new(receiver, *config, own, source, rtcp_seed);
        if self.flows.is_empty() {
            self.flows.reserve_exact(1); // most have one flow
        }
        self.flows.push(ReceivingFlow { life, receiver, signals });
    }

    /// Takes a media packet of flow `flow`. Then call [`Self::poll`].
    pub fn on_media(
        &mut self,
        now: Time,
        flow: usize,
        (header, payload): (&MediaHeader, u16),
        ecn: Ecn,
        monitor: &mut impl Monitor,
    ) {
        if monitor.wants_rtp() {
            monitor.rtp_arrived(now, flow, header, ecn);
        }
        let local = ArrivalTime::from_nanos(self.clock.read(now));
        if let Some(flow) = self.flow(flow) {
            flow.receiver.on_packet(local, header, payload, ecn);
        }
    }

    /// Takes the RTCP packet `bytes` for flow `flow`. Then call [`Self::poll`].
    pub fn on_rtcp(&mut self, now: Time, flow: usize, bytes: &[u8], monitor: &mut impl Monitor) {
        if monitor.wants_rtp() {
            monitor.rtcp_arrived(now, flow, Side::Receiver, bytes);
        }
        let local = ArrivalTime::from_nanos(self.clock.read(now));
        if let Some(flow) = self.flow(flow) {
            flow.receiver.on_rtcp(local, bytes);
        }
    }

    /// The path to this host has changed, and the host knows it. Call this before the first packet of the new path.
    pub fn on_route_changed(&mut self) {
        self.flows.iter_mut().for_each(|flow| flow.receiver.on_route_changed());
    }

    fn flow(&mut self, index: usize) -> Option<&mut ReceivingFlow> {
        self.flows.iter_mut().find(|flow| flow.life.flow == index)
    }

    /// Shows the signals of flow `flow` and sends what is due, after one of its packets. Returns the time of the next
    /// [`Self::wake`].
    pub fn poll(&mut self, now: Time, flow: usize, world: &mut impl World) -> Time {
        if let Some(ReceivingFlow { receiver, signals, .. }) = self.flow(flow) {
            signals.show(now, flow, world.monitor(), |out| receiver.receiver().read_signals(out));
        }
        self.wake(now, world)
    }

    /// Sends the reports that are due. Returns the time of the next call.
    pub fn wake(&mut self, now: Time, world: &mut impl World) -> Time {
        let local = ArrivalTime::from_nanos(self.clock.read(now));
        let mut next = Time::MAX;
        for flow in self.flows.iter_mut().filter(|flow| now < flow.life.stop) {
            while let Some(length) = flow.receiver.poll_rtcp(local, world.rtcp_buffer()) {
                world.send_rtcp(now, flow.life.flow, Side::Receiver, length);
            }
            let due = flow.receiver.next_timeout();
            next = due.map_or(next, |due| next.min(self.clock.when(due.nanos(), now)));
        }
        next
    }
}
