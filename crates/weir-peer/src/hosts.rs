//! The hosts of an end's flows, and their surroundings: outgoing packets, couplers, figures.

use weir_cc::coupled::{CouplerAction, CouplingMessage};
use weir_cc::{Ecn, PathEvent, RateLimits};
use weir_live::report::PACER_LATENESS;
use weir_media::{MediaConfig, MediaPacket, SenderSeeds};
use weir_net::Time;
use weir_units::DataRate;
use weir_wire::AbsSendTime;
use weir_wire::media::{ExtensionIds, MediaHeader};
use weir_world::host::{Clock, ConstantSource, Couplings, Life, MediaSink, MediaSource, World, host_owner};
use weir_world::{ClockSpec, CouplingSpec, FlowSpec, PacketMeta, Side, Traffic, purpose, stream};

use crate::message::{ConstantMessage, LARGEST_DATAGRAM};
use crate::monitor::PeerMonitor;
use crate::offer::{OfferedFlow, ReceivingHalf};
use crate::outbox::PacketOutbox;
use crate::protection::TRAILER_LENGTH;
use crate::wire::RTP_HEADER;

/// Longest packet of an endpoint without its trailer.
const LONGEST_PACKET: usize = LARGEST_DATAGRAM - TRAILER_LENGTH;
/// Most payload bytes of a media packet.
pub const PAYLOAD_LIMIT: u16 = (LONGEST_PACKET - RTP_HEADER) as u16;

/// A flow to send.
#[derive(Debug)]
pub struct PlannedFlow {
    /// The flow, with the sender half of its controller.
    pub spec: FlowSpec,
    /// The flow as the other end needs to know it.
    pub offered: OfferedFlow,
}

/// The flows that an end sends.
#[derive(Debug, Default)]
pub struct SendPlan {
    /// The flows, at most [`MOST_FLOWS`](crate::offer::MOST_FLOWS).
    pub flows: Vec<PlannedFlow>,
    /// Their couplers.
    pub couplings: Vec<CouplingSpec>,
    /// Seed of the randomness of sources and reports.
    pub seed: u64,
}

/// The surroundings of the hosts of an end.
#[derive(Debug)]
pub(crate) struct HostSurroundings {
    pub(crate) outbox: PacketOutbox,
    pub(crate) monitor: PeerMonitor,
    couplings: Couplings,
    /// Index of the first flow that this end sends.
    base: usize,
    /// Halvings of constant flows: of 2ⁿ packets one is sent.
    thinning: u32,
    /// Packets of constant flows so far, and those that left, by flow.
    constant: Vec<[u64; 2]>,
    /// Bytes of IP and UDP headers.
    headers: u64,
    rtcp: Box<[u8; LONGEST_PACKET]>,
    packet: Box<[u8; 2048]>,
    message: Vec<u8>,
}

impl HostSurroundings {
    /// Surroundings without flows.
    pub(crate) fn new() -> Self {
        Self {
            outbox: PacketOutbox::default(),
            monitor: PeerMonitor::default(),
            couplings: Couplings::default(),
            base: 0,
            thinning: 0,
            constant: Vec::new(),
            headers: 0,
            rtcp: Box::new([0; LONGEST_PACKET]),
            packet: Box::new([0; 2048]),
            message: Vec::new(),
        }
    }

    fn count(&mut self, flow: usize, length: usize, payload: u64) {
        let bytes = length as u64 + self.headers + TRAILER_LENGTH as u64;
        if let Some(figures) = self.monitor.flow(flow) {
            figures.packets += 1;
            figures.bytes += bytes;
            figures.payload += payload;
        }
    }
}

impl World for HostSurroundings {
    type Monitor = PeerMonitor;

    fn monitor(&mut self) -> &mut PeerMonitor {
        &mut self.monitor
    }

    fn rtcp_buffer(&mut self) -> &mut [u8] {
        self.rtcp.as_mut_slice()
    }

    fn send_rtcp(&mut self, _: Time, _: usize, _: Side, length: usize) {
        self.outbox.push(&self.rtcp[..length]);
    }

    fn send_media(&mut self, _: Time, flow: usize, _: PacketMeta, packet: &MediaPacket, ecn: Ecn) {
        let Ok(length) = packet.write(&ExtensionIds::default(), &[], self.packet.as_mut_slice()) else {
            return;
        };
        let payload = if packet.is_padding() { 0 } else { u64::from(packet.payload) };
        self.count(flow, length, payload);
        self.outbox.push_media(&self.packet[..length], ecn);
    }

    fn send_constant(&mut self, now: Time, flow: usize, meta: PacketMeta) {
        let Some(counts) = self.constant.get_mut(flow - self.base) else { return };
        counts[0] += 1;
        if counts[0] % (1 << self.thinning.min(32)) != 0 {
            return;
        }
        let number = counts[1] as u16;
        counts[1] += 1;
        let overhead = self.headers as usize + TRAILER_LENGTH;
        let length =
            (meta.wire_size as usize).saturating_sub(overhead).clamp(ConstantMessage::LENGTH, LONGEST_PACKET);
        let departure = AbsSendTime::from_nanos(now.nanos() as i64).ticks();
        let mut message = core::mem::take(&mut self.message);
        ConstantMessage { flow: flow as u8, number, departure }.write(length, &mut message);
        self.count(flow, length, length as u64);
        self.outbox.push(&message);
        self.message = message;
    }

    fn send_message(&mut self, now: Time, flow: usize, message: &CouplingMessage) {
        // A far coupler's wake-up is one of `SendingHosts::next_wake`.
        let _far = self.couplings.send(now, flow - self.base, message, &mut self.monitor);
    }

    fn poll_action(&mut self, now: Time, flow: usize) -> Option<CouplerAction> {
        let own = flow - self.base;
        let near = self.couplings.near(own)?;
        self.couplings.answer(now, near, own, &self.monitor).map(|sent| sent.action)
    }
}

/// A sending host.
#[derive(Debug)]
enum SendingHost {
    Media(Box<MediaSource>),
    Constant(ConstantSource),
}

/// Bounds of a media flow, and its target when reports began to miss.
#[derive(Clone, Copy, Debug)]
struct FlowBounds {
    limits: RateLimits,
    target: DataRate,
}

impl FlowBounds {
    /// The bounds after so many halvings of the target.
    fn halved(&self, times: u32) -> RateLimits {
        let Self { limits, target } = *self;
        if times == 0 {
            return limits;
        }
        let cap = DataRate::from_bps((target.bps() >> times.min(63)).max(1)).min(limits.max());
        RateLimits::new(limits.min().min(cap), limits.start().min(cap), cap).unwrap_or(limits)
    }
}

/// The sending hosts of an end.
#[derive(Debug)]
pub(crate) struct SendingHosts {
    hosts: Vec<SendingHost>,
    wakes: Vec<Time>,
    /// Host of each flow.
    of_flow: Vec<usize>,
    /// Bounds of each media flow.
    bounds: Vec<Option<FlowBounds>>,
    base: usize,
    served: Time,
}

impl SendingHosts {
    /// The hosts of `plan`, whose first flow has the index `base`, within these bounds of each media flow.
    pub(crate) fn start(
        plan: SendPlan,
        base: usize,
        within: &[Option<RateLimits>],
        (headers, record): (u64, bool),
        world: &mut HostSurroundings,
    ) -> Self {
        let SendPlan { flows, couplings, seed } = plan;
        let specs: Vec<FlowSpec> = flows.into_iter().map(|flow| flow.spec).collect();
        let is_media: Vec<bool> =
            specs.iter().map(|spec| matches!(spec.traffic, Traffic::Media(_))).collect();
        world.monitor = PeerMonitor::new(base, &is_media, record);
        world.couplings = Couplings::new(couplings, &specs);
        (world.base, world.headers, world.constant) = (base, headers, vec![[0; 2]; specs.len()]);
        let owners: Vec<usize> = (0..specs.len()).map(|flow| host_owner(&specs, flow)).collect();
        let mut own = Self {
            hosts: Vec::new(),
            wakes: Vec::new(),
            of_flow: Vec::new(),
            bounds: Vec::new(),
            base,
            served: Time::ZERO,
        };
        for (flow, spec) in specs.into_iter().enumerate() {
            let life = Life { flow: base + flow, ..Life::of(flow, &spec) };
            let random = |purpose| stream(seed, &spec.name, purpose);
            let (host, bounds) = match spec.traffic {
                Traffic::Media(media) => {
                    let Some(controller) = media.sender else { continue };
                    let config = MediaConfig {
                        pacer_lateness: PACER_LATENESS,
                        payload_limit: media.config.payload_limit.min(PAYLOAD_LIMIT),
                        ..media.config
                    };
                    let seeds =
                        SenderSeeds { encoder: random(purpose::ENCODER), rtcp: random(purpose::SENDER_RTCP) };
                    let host = own.of_flow.get(owners[flow]).copied().unwrap_or_else(|| {
                        let source = Box::new(MediaSource::new(Clock::new(ClockSpec::default())));
                        own.hosts.push(SendingHost::Media(source));
                        own.hosts.len() - 1
                    });
                    let limits = within.get(flow).copied().flatten().unwrap_or(config.limits);
                    if let SendingHost::Media(source) = &mut own.hosts[host] {
                        source.add(life, controller, &config, seeds, spec.pauses, spec.coupled);
                        if limits != config.limits {
                            source.on_event(Time::ZERO, life.flow, PathEvent::Limits(limits));
                        }
                    }
                    (host, Some(FlowBounds { limits, target: limits.max() }))
                }
                Traffic::Constant { rate, packet_size } => {
                    own.hosts.push(SendingHost::Constant(ConstantSource::steady(
                        life,
                        rate,
                        packet_size,
                        spec.pauses,
                    )));
                    (own.hosts.len() - 1, None)
                }
                Traffic::Unresponsive(traffic) => {
                    own.hosts.push(SendingHost::Constant(ConstantSource::new(life, &traffic, spec.pauses)));
                    (own.hosts.len() - 1, None)
                }
                // Refused by `SendPlan::check`.
                _ => continue,
            };
            own.of_flow.push(host);
            own.bounds.push(bounds);
        }
        own.wakes = own.hosts.iter().map(SendingHost::first_wake).collect();
        own
    }

    /// Time of the next call of [`Self::wake`].
    pub(crate) fn next_wake(&self, world: &HostSurroundings) -> Time {
        let hosts = self.wakes.iter().copied().min().unwrap_or(Time::MAX);
        hosts.min(world.couplings.next_event(self.served))
    }

    /// Serves what is due.
    pub(crate) fn wake(&mut self, now: Time, world: &mut HostSurroundings) {
        self.served = now;
        for (host, wake) in self.hosts.iter_mut().zip(&mut self.wakes) {
            if *wake <= now {
                *wake = host.wake(now, world);
            }
        }
        self.serve_couplers(now, world);
    }

    /// Takes RTCP about the flow of this index.
    pub(crate) fn on_rtcp(&mut self, now: Time, flow: usize, bytes: &[u8], world: &mut HostSurroundings) {
        let Some(&host) = flow.checked_sub(self.base).and_then(|own| self.of_flow.get(own)) else { return };
        let SendingHost::Media(source) = &mut self.hosts[host] else { return };
        self.served = now;
        source.on_rtcp(now, flow, bytes, &mut world.monitor);
        self.wakes[host] = source.poll(now, world);
        self.serve_couplers(now, world);
    }

    /// The path to the receiver is another one.
    pub(crate) fn on_route_changed(&mut self, now: Time, world: &mut HostSurroundings) {
        self.on_events(now, world, |_, _| Some(PathEvent::RouteChanged));
    }

    /// Halves the rates so many times, from those at the first halving; zero restores the bounds.
    pub(crate) fn halve(&mut self, now: Time, times: u32, world: &mut HostSurroundings) {
        let before = core::mem::replace(&mut world.thinning, times);
        if before == times {
            return;
        }
        self.on_events(now, world, |bounds, target| {
            if before == 0 {
                bounds.target = target;
            }
            Some(PathEvent::Limits(bounds.halved(times)))
        });
    }

    /// Sets the bounds of each media flow.
    pub(crate) fn set_bounds(
        &mut self,
        now: Time,
        within: &[Option<RateLimits>],
        world: &mut HostSurroundings,
    ) {
        for (bounds, within) in self.bounds.iter_mut().zip(within) {
            if let (Some(bounds), Some(limits)) = (bounds, within) {
                bounds.limits = *limits;
            }
        }
        let times = world.thinning;
        self.on_events(now, world, |bounds, _| Some(PathEvent::Limits(bounds.halved(times))));
    }

    /// Passes each media flow an event of its bounds and its present target.
    fn on_events(
        &mut self,
        now: Time,
        world: &mut HostSurroundings,
        event: impl Fn(&mut FlowBounds, DataRate) -> Option<PathEvent>,
    ) {
        for (own, bounds) in self.bounds.iter_mut().enumerate() {
            let (flow, host) = (self.base + own, self.of_flow[own]);
            let (Some(bounds), SendingHost::Media(source)) = (bounds, &mut self.hosts[host]) else {
                continue;
            };
            let target = source.sender(flow).map_or(DataRate::ZERO, |sender| sender.target().media_rate);
            if let Some(event) = event(bounds, target) {
                source.on_event(now, flow, event);
                self.wakes[host] = source.poll(now, world);
            }
        }
    }

    fn serve_couplers(&mut self, now: Time, world: &mut HostSurroundings) {
        while let Some(sent) = world.couplings.next_due(now, &mut world.monitor) {
            let Some(&host) = self.of_flow.get(sent.flow) else { continue };
            if let SendingHost::Media(source) = &mut self.hosts[host] {
                source.apply(now, self.base + sent.flow, &sent.action, world);
                self.wakes[host] = source.wake(now, world);
            }
        }
    }
}

impl SendingHost {
    fn first_wake(&self) -> Time {
        match self {
            Self::Media(source) => source.first_wake(),
            Self::Constant(source) => source.first_wake(),
        }
    }

    fn wake(&mut self, now: Time, world: &mut HostSurroundings) -> Time {
        match self {
            Self::Media(source) => source.wake(now, world),
            Self::Constant(source) => {
                // A source may be behind by several packets.
                let mut next = source.wake(now, world);
                while next <= now {
                    next = source.wake(now, world);
                }
                next
            }
        }
    }
}

/// The receiving hosts of an end.
#[derive(Debug)]
pub(crate) struct ReceivingHosts {
    sink: MediaSink,
    wake: Time,
}

impl ReceivingHosts {
    /// Hosts of these receiver halves, by the index of their flow.
    pub(crate) fn start(halves: Vec<(usize, ReceivingHalf)>, seed: u64) -> Self {
        let mut sink = MediaSink::new(Clock::new(ClockSpec::default()));
        for (flow, (receiver, config)) in halves {
            let life = Life { flow, start: Time::ZERO, stop: Time::MAX };
            let rtcp = stream(seed, &format!("received-{flow}"), purpose::RECEIVER_RTCP);
            sink.add(life, receiver, &config, rtcp);
        }
        Self { sink, wake: Time::MAX }
    }

    pub(crate) fn next_wake(&self) -> Time {
        self.wake
    }

    pub(crate) fn wake(&mut self, now: Time, world: &mut HostSurroundings) {
        if self.wake <= now {
            self.wake = self.sink.wake(now, world);
        }
    }

    pub(crate) fn on_media(
        &mut self,
        now: Time,
        flow: usize,
        media: (&MediaHeader, u16),
        ecn: Ecn,
        world: &mut HostSurroundings,
    ) {
        self.sink.on_media(now, flow, media, ecn, &mut world.monitor);
        self.wake = self.sink.poll(now, flow, world);
    }

    pub(crate) fn on_rtcp(&mut self, now: Time, flow: usize, bytes: &[u8], world: &mut HostSurroundings) {
        self.sink.on_rtcp(now, flow, bytes, &mut world.monitor);
        self.wake = self.sink.poll(now, flow, world);
    }

    pub(crate) fn on_route_changed(&mut self) {
        self.sink.on_route_changed();
    }
}
