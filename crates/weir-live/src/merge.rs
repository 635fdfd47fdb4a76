//! The logs of the emulator and of the hosts as one run, in order of time.

use weir_net::Time;
use weir_units::TimeDelta;
use weir_world::host::packet_meta;
use weir_world::{Monitor, PacketMeta, Side};

use crate::emulator::{Event, EventKind};
use crate::log::HostLog;

/// Packets between which the packet of an event is looked for, where the system has lost some.
const LOOK_AHEAD: usize = 64;
/// Bytes of IPv4 and TCP headers with timestamps.
const TCP_HEADERS: u32 = 52;

/// A route as the merge knows it.
#[derive(Debug)]
pub(crate) struct Route {
    /// Index of the flow.
    pub(crate) flow: usize,
    /// The end that sends on it.
    pub(crate) from: Side,
    /// Whether the kernel's TCP sends on it: hosts report none of its packets.
    pub(crate) by_kernel: bool,
    /// Packets that the host sent, in order.
    pub(crate) sent: Vec<PacketMeta>,
    /// When packets arrived at the host at its end, in order.
    pub(crate) arrived: Vec<Time>,
    /// Place in `sent` after the last packet that entered.
    next: usize,
    /// Packets that entered, by their number.
    entered: Vec<PacketMeta>,
    /// Packets delivered so far.
    delivered: usize,
}

impl Route {
    pub(crate) fn new(flow: usize, from: Side, by_kernel: bool) -> Self {
        let (sent, arrived, entered) = (Vec::new(), Vec::new(), Vec::new());
        Self { flow, from, by_kernel, sent, arrived, next: 0, entered, delivered: 0 }
    }

    /// The packet of this size that enters at `now`.
    fn enter(&mut self, now: Time, wire_size: u32) -> PacketMeta {
        let meta = if self.by_kernel {
            let payload = if self.from == Side::Sender { wire_size.saturating_sub(TCP_HEADERS) } else { 0 };
            packet_meta(now, wire_size, payload, self.from == Side::Receiver)
        } else {
            let ahead = self.sent[self.next.min(self.sent.len())..].iter().take(LOOK_AHEAD);
            let skipped = ahead.clone().position(|packet| same_size(packet.wire_size, wire_size));
            let found = skipped.and_then(|skipped| self.sent.get(self.next + skipped)).copied();
            self.next += skipped.map_or(0, |skipped| skipped + 1);
            found.unwrap_or_else(|| packet_meta(now, wire_size, 0, false))
        };
        self.entered.push(meta);
        meta
    }

    /// When the next packet, which left the links at `at`, was at its host.
    fn deliver(&mut self, at: Time, reliable: bool) -> Time {
        let arrived = self.arrived.get(self.delivered).copied();
        self.delivered += 1;
        arrived.filter(|_| reliable).map_or(at, |arrived| arrived.max(at))
    }
}

/// Hosts count the headers of IPv4; those of IPv6 are 20 bytes longer.
const fn same_size(counted: u32, real: u32) -> bool {
    counted == real || counted + 20 == real
}

/// An entry of one of the logs.
#[derive(Clone, Copy)]
enum Entry {
    Sent { route: usize, packet: usize },
    Emulator(usize),
    Delivered { event: usize },
    Host { log: usize, event: usize },
}

/// Shows a run to `monitor` until `end`.
pub(crate) fn show(
    end: Time,
    bottlenecks: &[bool],
    emulator: &[Event],
    routes: &mut [Route],
    hosts: &[HostLog],
    monitor: &mut impl Monitor,
) {
    // Where the system lost a packet on its way to a host, the places of packets and arrivals differ.
    let mut delivered = vec![0_usize; routes.len()];
    for event in emulator {
        if matches!(event.kind, EventKind::Delivered { .. }) {
            delivered[event.packet.route as usize] += 1;
        }
    }
    let reliable: Vec<bool> =
        routes.iter().zip(&delivered).map(|(route, &count)| route.arrived.len() == count).collect();

    let mut entries: Vec<(Time, Entry)> = Vec::with_capacity(emulator.len() * 2);
    for (index, route) in routes.iter().enumerate() {
        let sent = route.sent.iter().enumerate();
        entries.extend(sent.map(|(packet, meta)| (meta.sent_at, Entry::Sent { route: index, packet })));
    }
    for (index, event) in emulator.iter().enumerate() {
        let route = event.packet.route as usize;
        let entry = match event.kind {
            EventKind::Delivered { .. } => {
                (routes[route].deliver(event.at, reliable[route]), Entry::Delivered { event: index })
            }
            _ => (event.at, Entry::Emulator(index)),
        };
        entries.push(entry);
    }
    for (log, host) in hosts.iter().enumerate() {
        entries.extend(host.times().enumerate().map(|(event, at)| (at, Entry::Host { log, event })));
    }
    entries.sort_by_key(|&(at, _)| at);

    for (at, entry) in entries.into_iter().take_while(|&(at, _)| at <= end) {
        match entry {
            Entry::Sent { route, packet } => {
                let Route { flow, sent, .. } = &routes[route];
                monitor.sent(at, *flow, &sent[packet]);
            }
            Entry::Emulator(index) => show_event(&emulator[index], bottlenecks, routes, monitor),
            Entry::Delivered { event } => {
                let Event { packet, kind, .. } = &emulator[event];
                let route = &routes[packet.route as usize];
                let wait = if let EventKind::Delivered { wait, .. } = kind { *wait } else { TimeDelta::ZERO };
                if let Some(&meta) = route.entered.get(packet.number as usize) {
                    monitor.delivered(at, route.flow, &PacketMeta { wait, ..meta });
                }
            }
            Entry::Host { log, event } => hosts[log].show(event, monitor),
        }
    }
}

fn show_event(event: &Event, bottlenecks: &[bool], routes: &mut [Route], monitor: &mut impl Monitor) {
    let Event { at, packet, kind } = *event;
    let route = &mut routes[packet.route as usize];
    // The first event of a packet is at the first link of its route.
    if packet.number as usize >= route.entered.len() {
        let meta = route.enter(at, packet.wire_size);
        if route.by_kernel {
            monitor.sent(at, route.flow, &meta);
        }
    }
    match kind {
        EventKind::Entered { link, backlog, taken } => {
            if monitor.wants_queues() && bottlenecks[link] {
                monitor.link_enter(at, link, backlog.packets, taken);
            }
        }
        EventKind::Left { link, wait } => {
            if let Some(meta) = route.entered.get_mut(packet.number as usize)
                && bottlenecks[link]
            {
                meta.wait += wait;
            }
            monitor.link_exit(at, link, packet.wire_size, wait);
        }
        EventKind::Dropped { link, loss } => {
            if let Some(meta) = route.entered.get(packet.number as usize) {
                monitor.dropped(at, route.flow, link, meta, loss);
            }
        }
        EventKind::Delivered { .. } => {}
    }
}
