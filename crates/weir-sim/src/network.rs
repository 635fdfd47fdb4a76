//! Links, routes and wake-ups: everything between the hosts.

use weir_cc::Ecn;
use weir_cc::coupled::{CouplerAction, CouplingMessage};
use weir_media::MediaPacket;
use weir_net::{ConfigError, DropReason, Dropped, Exit, Fate, Link, Packet, Time};
use weir_world::host::{Couplings, SentAction, UDP_OVERHEAD, World, host_owner, packet_meta};
use weir_world::{CellSpec, FlowSpec, LinkSpec, Loss, Monitor, PacketMeta, Side, purpose, stream};

use crate::cells::WifiCells;
use crate::packet::{Body, PacketPool, RtcpPool, SimPacket, Ticket};
use crate::schedule::WakeUpSchedule;

/// One step of a packet's route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RouteHop {
    Link(u32),
    /// A link that is in a Wi-Fi cell.
    Port(u32),
    Host(u32),
}

/// The index of an end of a flow, and of the host there if the flow has hosts of its own.
const fn end(flow: usize, side: Side) -> usize {
    2 * flow + side as usize
}

/// A link, and whether waiting there counts as a packet's queuing delay.
#[derive(Debug)]
struct RouteLink {
    link: Link<Ticket>,
    bottleneck: bool,
}

#[derive(Debug)]
pub(crate) struct Network<M> {
    links: Vec<RouteLink>,
    cells: WifiCells,
    hops: Vec<RouteHop>,
    /// First hop of the packets that leave an end of a flow.
    first_hop: Vec<u32>,
    /// Components are the links, then the hosts, then the cells, then the couplers. A link of a cell never wakes.
    schedule: WakeUpSchedule,
    packets: PacketPool,
    pub(crate) rtcp: RtcpPool,
    pub(crate) couplings: Couplings,
    pub(crate) monitor: M,
}

impl<M: Monitor> World for Network<M> {
    type Monitor = M;

    #[inline]
    fn monitor(&mut self) -> &mut M {
        &mut self.monitor
    }

    #[inline]
    fn rtcp_buffer(&mut self) -> &mut [u8] {
        self.rtcp.buffer()
    }

    fn send_rtcp(&mut self, now: Time, flow: usize, from: Side, length: usize) {
        let slot = self.rtcp.store(length);
        let meta = packet_meta(now, length as u32 + UDP_OVERHEAD, 0, true);
        self.send(now, flow, from, meta, Body::Rtcp { slot });
    }

    #[inline]
    fn send_media(&mut self, now: Time, flow: usize, meta: PacketMeta, packet: &MediaPacket, ecn: Ecn) {
        let body = Body::Media { header: packet.header, payload: packet.payload, ecn };
        self.send(now, flow, Side::Sender, meta, body);
    }

    #[inline]
    fn send_constant(&mut self, now: Time, flow: usize, meta: PacketMeta) {
        self.send(now, flow, Side::Sender, meta, Body::Constant);
    }

    fn send_message(&mut self, now: Time, flow: usize, message: &CouplingMessage) {
        if let Some(far) = self.couplings.send(now, flow, message, &mut self.monitor) {
            self.wake_coupler(now, far, self.couplings.next_wake(now, far));
        }
    }

    // Only when there is no action left is a near coupler's wake-up set.
    #[inline]
    fn poll_action(&mut self, now: Time, flow: usize) -> Option<CouplerAction> {
        let near = self.couplings.near(flow)?;
        let Some(sent) = self.couplings.answer(now, near, flow, &self.monitor) else {
            self.wake_coupler(now, near, self.couplings.next_wake(now, near));
            return None;
        };
        self.monitor.coupler_action(now, flow, &sent.action, sent.aggregate);
        Some(sent.action)
    }
}

impl<M: Monitor> Network<M> {
    pub(crate) fn new(
        seed: u64,
        links: &[LinkSpec],
        cells: &[CellSpec],
        flows: &[FlowSpec],
        couplings: Couplings,
        monitor: M,
    ) -> Result<Self, Faulty> {
        let cells = WifiCells::new(seed, cells).map_err(|(cell, error)| Faulty::Cell(cell, error))?;
        let hop = |&link: &usize| match cells.port_of(link) {
            Some(port) => RouteHop::Port(port as u32),
            None => RouteHop::Link(link as u32),
        };
        let mut hops = Vec::new();
        let mut first_hop = Vec::new();
        for (index, flow) in flows.iter().enumerate() {
            for (route, far) in [(&flow.forward, Side::Receiver), (&flow.reverse, Side::Sender)] {
                first_hop.push(hops.len() as u32);
                hops.extend(route.iter().map(hop));
                hops.push(RouteHop::Host(end(host_owner(flows, index), far) as u32));
            }
        }
        let built = links.iter().enumerate().map(|(index, link)| {
            match Link::new(&link.config, stream(seed, &link.name, purpose::LINK)) {
                Ok(ring) => Ok(RouteLink { link: ring, bottleneck: link.bottleneck }),
                Err(error) => Err(Faulty::Link(index, error)),
            }
        });
        Ok(Self {
            links: built.collect::<Result<_, _>>()?,
            hops,
            first_hop,
            schedule: WakeUpSchedule::new(links.len() + 2 * flows.len() + cells.len() + couplings.len()),
            cells,
            packets: PacketPool::default(),
            rtcp: RtcpPool::default(),
            couplings,
            monitor,
        })
    }

    /// The next component to wake: a link or, beyond the links, a host or, beyond the hosts, a cell or, beyond the cells, a
    /// coupler.
    #[inline]
    pub(crate) fn next(&self) -> (Time, Component) {
        let (at, index) = self.schedule.first();
        let Some(beyond) = index.checked_sub(self.links.len()) else { return (at, Component::Link(index)) };
        let Some(beyond_hosts) = beyond.checked_sub(self.hosts()) else {
            return (at, Component::Host(beyond));
        };
        match beyond_hosts.checked_sub(self.cells.len()) {
            None => (at, Component::Cell(beyond_hosts)),
            Some(coupler) => (at, Component::Coupler(coupler)),
        }
    }

    /// Number of places for hosts: one for each end of each flow.
    fn hosts(&self) -> usize {
        self.first_hop.len()
    }

    /// Sets a host's next wake-up to `at`. The host may still be woken earlier, at its former time; then it does
    /// nothing and sets `at` again.
    #[inline]
    pub(crate) fn wake_host(&mut self, now: Time, host: usize, at: Time) {
        self.schedule.set_by(now, self.links.len() + host, at);
    }

    /// Lets coupler `index` receive the messages that have come by `now`. Returns its next action that has reached a
    /// host, with the flow.
    pub(crate) fn next_action(&mut self, now: Time, index: usize) -> Option<(usize, CouplerAction)> {
        self.couplings.receive(now, index, &mut self.monitor);
        let sent = self.couplings.next_arrived(now, index);
        self.wake_coupler(now, index, self.couplings.next_wake(now, index));
        let SentAction { flow, action, aggregate } = sent?;
        self.monitor.coupler_action(now, flow, &action, aggregate);
        Some((flow, action))
    }

    /// Sets a coupler's next wake-up to `at`; like a host, it may be woken earlier.
    fn wake_coupler(&mut self, now: Time, coupler: usize, at: Time) {
        let component = self.links.len() + self.hosts() + self.cells.len() + coupler;
        self.schedule.set_by(now, component, at);
    }

    /// Sends a packet of a host.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "what is sent goes from registers to the pool")]
    pub(crate) fn send(&mut self, now: Time, flow: usize, from: Side, meta: PacketMeta, body: Body) {
        let (wire_size, ecn) = (meta.wire_size, body.ecn());
        let slot = self.packets.insert(SimPacket { meta, flow: flow as u32, body });
        self.launch(now, end(flow, from), slot, wire_size, ecn);
    }

    /// Puts a packet of the pool on the first hop of its route.
    #[inline(never)]
    fn launch(&mut self, now: Time, from: usize, slot: u32, wire_size: u32, ecn: Ecn) {
        let packet = self.packets.get(slot);
        self.monitor.sent(now, packet.flow as usize, &packet.meta);
        let hop = self.first_hop[from];
        let ticket = Ticket::new(slot, hop, wire_size, ecn);
        match self.hops[hop as usize] {
            RouteHop::Link(link) => self.enter(now, link as usize, ticket),
            RouteHop::Port(port) => self.enter_cell(now, port as usize, ticket),
            // Every flow has a forward route, and one with answers has a reverse route: `Simulation::new` checks this.
            RouteHop::Host(_) => debug_assert!(false, "flow end {from} sends on a way without links"),
        }
    }

    /// Takes the packet that leaves `link` at `now`, which goes to the next hop or is lost. A packet that has reached
    /// its host is returned, to be [taken](Self::take).
    #[inline]
    pub(crate) fn pop(&mut self, now: Time, link: usize) -> Option<(usize, Ticket)> {
        let RouteLink { link: carrier, bottleneck } = &mut self.links[link];
        let bottleneck = *bottleneck;
        let Some(passive) = carrier.as_passive() else { return self.pop_active(now, link) };
        let exit = passive.pop(now);
        let departure = passive.next_departure();
        // Each field stays in its register over the call.
        let Some(Exit { packet, wait, fate, marked }) = exit else {
            self.schedule.set(link, departure);
            return None;
        };
        self.schedule.set(link, departure);
        self.leave(now, link, bottleneck, Exit { packet, wait, fate, marked })
    }

    /// As [`Self::pop`], for a link that decides about a packet only when it leaves.
    #[inline(never)]
    fn pop_active(&mut self, now: Time, link: usize) -> Option<(usize, Ticket)> {
        let RouteLink { link: carrier, bottleneck } = &mut self.links[link];
        let (exit, bottleneck) = (carrier.pop(now), *bottleneck);
        self.schedule.set(link, carrier.next_departure().unwrap_or(Time::MAX));
        self.leave(now, link, bottleneck, exit?)
    }

    /// As [`Self::pop`], for the link of a cell that delivers a packet now.
    #[inline(never)]
    pub(crate) fn pop_cell(&mut self, now: Time, cell: usize) -> Option<(usize, Ticket)> {
        let left = self.cells.pop(now, cell);
        self.wake_cell(cell);
        let (link, exit) = left?;
        self.leave(now, link, self.links[link].bottleneck, exit)
    }

    #[inline]
    fn leave(
        &mut self,
        now: Time,
        link: usize,
        bottleneck: bool,
        exit: Exit<Ticket>,
    ) -> Option<(usize, Ticket)> {
        let Exit { packet: ticket, wait, fate, .. } = exit;
        if let Fate::Dropped(reason) = fate {
            self.lose(now, link, ticket, Loss::Queue(reason));
            return None;
        }
        if bottleneck {
            self.packets.get_mut(ticket.slot()).meta.wait += wait;
        }
        self.monitor.link_exit(now, link, ticket.wire_size(), wait);
        if fate == Fate::Lost {
            self.lose(now, link, ticket, Loss::Random);
            return None;
        }
        if self.monitor.wants_packets() {
            self.report_exit(now, link, ticket);
        }
        let ticket = ticket.onwards();
        match self.hops[ticket.hop() as usize] {
            RouteHop::Host(host) => Some((host as usize, ticket)),
            RouteHop::Link(next) => {
                self.enter(now, next as usize, ticket);
                None
            }
            RouteHop::Port(port) => {
                self.enter_cell(now, port as usize, ticket);
                None
            }
        }
    }

    /// Reports to the monitor a packet that has left `link`.
    fn report_exit(&mut self, now: Time, link: usize, ticket: Ticket) {
        let packet = self.packets.get(ticket.slot());
        let flow = packet.flow as usize;
        let back = ticket.hop() >= self.first_hop[end(flow, Side::Receiver)];
        let from = if back { Side::Receiver } else { Side::Sender };
        self.monitor.packet(now, link, &packet.on_wire(from, ticket.ecn(), &self.rtcp));
    }

    /// Removes a packet that has arrived at a host that discards packets.
    #[inline]
    pub(crate) fn discard(&mut self, now: Time, ticket: Ticket) {
        let packet = self.packets.release(ticket.slot());
        self.monitor.delivered(now, packet.flow as usize, &packet.meta);
    }

    /// Removes a packet that has arrived from the pool.
    #[inline]
    pub(crate) fn take(&mut self, ticket: Ticket) -> SimPacket {
        self.packets.take(ticket.slot(), ticket.ecn())
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a packet's way, which is short, has it twice")]
    fn enter(&mut self, now: Time, link: usize, ticket: Ticket) {
        if self.monitor.wants_queues() && self.links[link].bottleneck {
            return self.enter_watched(now, link, ticket);
        }
        if let Err(dropped) = self.hand_over(now, link, ticket) {
            self.refuse(now, link, dropped);
        }
    }

    /// As [`Self::enter`], with a report of the queue's length to the monitor.
    #[inline(never)]
    fn enter_watched(&mut self, now: Time, link: usize, ticket: Ticket) {
        let found = self.links[link].link.backlog(now).packets;
        match self.hand_over(now, link, ticket) {
            Ok(()) => self.monitor.link_enter(now, link, found, true),
            Err(dropped) => {
                if dropped.reason != DropReason::DeadLink {
                    self.monitor.link_enter(now, link, found, false);
                }
                self.refuse(now, link, dropped);
            }
        }
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a packet's way, which is short, has it twice")]
    fn hand_over(&mut self, now: Time, link: usize, ticket: Ticket) -> Result<(), Dropped<Ticket>> {
        let Some(passive) = self.links[link].link.as_passive() else {
            return self.hand_over_to_active(now, link, ticket);
        };
        // A link that has a wake-up keeps it: the packet is behind the others.
        if let Some(departure) = passive.enqueue(now, ticket)? {
            self.schedule.set(link, departure);
        }
        Ok(())
    }

    /// As [`Self::hand_over`], for a link that decides later. Its time advances to `now` even if it refuses the
    /// packet.
    #[inline(never)]
    fn hand_over_to_active(&mut self, now: Time, link: usize, ticket: Ticket) -> Result<(), Dropped<Ticket>> {
        let active = &mut self.links[link].link;
        let taken = active.enqueue(now, ticket);
        self.schedule.set(link, active.next_departure().unwrap_or(Time::MAX));
        taken
    }

    #[inline(never)]
    fn refuse(&mut self, now: Time, link: usize, Dropped { packet, reason }: Dropped<Ticket>) {
        self.lose(now, link, packet, Loss::Queue(reason));
    }

    #[inline(never)]
    fn enter_cell(&mut self, now: Time, port: usize, ticket: Ticket) {
        let port = self.cells.port(port);
        let taken = self.cells.enqueue(now, port, ticket);
        self.wake_cell(port.cell);
        if let Err(dropped) = taken {
            self.refuse(now, port.link, dropped);
        }
    }

    fn wake_cell(&mut self, cell: usize) {
        let component = self.links.len() + self.hosts() + cell;
        self.schedule.set(component, self.cells.next_wake(cell));
    }

    fn lose(&mut self, now: Time, link: usize, ticket: Ticket, loss: Loss) {
        let packet = self.take(ticket);
        if let Body::Rtcp { slot } = packet.body {
            self.rtcp.release(slot);
        }
        self.monitor.dropped(now, packet.flow as usize, link, &packet.meta, loss);
    }
}

/// A component of the simulation that is woken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Component {
    Link(usize),
    Host(usize),
    Cell(usize),
    Coupler(usize),
}

/// The component whose configuration is invalid.
#[derive(Debug)]
pub(crate) enum Faulty {
    Link(usize, ConfigError),
    Cell(usize, ConfigError),
}
