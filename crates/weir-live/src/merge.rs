//! The logs of the emulator and of the hosts as one run, in order of time.

use weir_net::Time;
use weir_units::TimeDelta;
use weir_world::host::packet_meta;
use weir_world::{Monitor, PacketMeta, Side};

use crate::emulator::{Event, EventKind};
use crate::log::HostLog;

/// Packets between which the packet of an event is looked for, where the system has lost some.
const LOOK_AHEAD: usize = 64;
/// Bytes of IPv4 and TCP headers with timestamps, and of those of IPv6.
const TCP_HEADERS: [u32; 2] = [52, 72];

/// A route as the merge knows it.
#[derive(Debug)]
pub(crate) struct Route {
    /// Index of the flow.
    pub(crate) flow: usize,
    /// The end that sends on it.
    pub(crate) from: Side,
    /// Whether the kernel's TCP sends on it: hosts report none of its packets.
    pub(crate) by_kernel: bool,
    /// Whether its packets are of IPv6.
    ipv6: bool,
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
    /// Packets that entered, and those that the host at the end must have read before it stopped.
    expected: [usize; 2],
    /// Packets that were delivered up to the end of the emulator.
    all_delivered: usize,
}

impl Route {
    pub(crate) fn new(flow: usize, from: Side, by_kernel: bool, ipv6: bool) -> Self {
        let (sent, arrived, entered) = (Vec::new(), Vec::new(), Vec::new());
        Self {
            flow,
            from,
            by_kernel,
            ipv6,
            sent,
            arrived,
            next: 0,
            entered,
            delivered: 0,
            expected: [0; 2],
            all_delivered: 0,
        }
    }

    /// Counts an event of a packet of the route; the host at its end read every packet delivered until `stopped`.
    fn count(&mut self, event: &Event, stopped: Time) {
        let [entered, read] = &mut self.expected;
        *entered = (*entered).max(event.packet.number as usize + 1);
        if matches!(event.kind, EventKind::Delivered { .. }) {
            self.all_delivered += 1;
            *read += usize::from(event.at <= stopped);
        }
    }

    /// Packets that were lost between a host and the emulator, where hosts report theirs.
    fn lost_outside(&self) -> u64 {
        if self.by_kernel {
            return 0;
        }
        let [entered, read] = self.expected;
        (self.sent.len().saturating_sub(entered) + read.saturating_sub(self.arrived.len())) as u64
    }

    /// Whether places of deliveries and arrivals are the same: no packet was lost on its way to the host.
    fn is_reliable(&self) -> bool {
        (self.expected[1]..=self.all_delivered).contains(&self.arrived.len())
    }

    /// The packet of this size that enters at `now`.
    fn enter(&mut self, now: Time, wire_size: u32) -> PacketMeta {
        let meta = if self.by_kernel {
            let headers = TCP_HEADERS[usize::from(self.ipv6)];
            let payload = if self.from == Side::Sender { wire_size.saturating_sub(headers) } else { 0 };
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

/// Packets that were lost between hosts and emulator. Hosts at the ends of routes from senders and from receivers have
/// read what was delivered until the times `stopped`.
pub(crate) fn lost_outside(emulator: &[Event], routes: &mut [Route], stopped: [Time; 2]) -> u64 {
    for event in emulator {
        let route = &mut routes[event.packet.route as usize];
        route.count(event, stopped[route.from as usize]);
    }
    routes.iter().map(Route::lost_outside).sum()
}

/// Shows a run to `monitor` until `end`, after its packets were counted by [`lost_outside`].
pub(crate) fn show(
    end: Time,
    bottlenecks: &[bool],
    emulator: &[Event],
    routes: &mut [Route],
    hosts: &[HostLog],
    monitor: &mut impl Monitor,
) {
    // Where the system lost a packet on its way to a host, the places of packets and arrivals differ.
    let reliable: Vec<bool> = routes.iter().map(Route::is_reliable).collect();
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

#[cfg(test)]
mod tests {
    use weir_world::Unwatched;

    use super::*;
    use crate::emulator::Transit;

    fn event(at: u64, number: u32, kind: EventKind) -> Event {
        let packet = Transit { number, wire_size: 1000, ..Transit::default() };
        Event { at: Time::from_millis(at), packet, kind }
    }

    /// A route of `sent` packets, of which `delivered` left the links, one each 10 ms, and `arrived` arrived.
    fn route(sent: u32, delivered: u32, arrived: usize) -> (Vec<Event>, Route) {
        let mut route = Route::new(0, Side::Sender, false, false);
        let at = |number: u32| Time::from_millis(10 * u64::from(number));
        route.sent = (0..sent).map(|number| packet_meta(at(number), 1000, 900, false)).collect();
        route.arrived = (0..arrived as u32).map(at).collect();
        let kind = EventKind::Delivered { wait: TimeDelta::ZERO, marked: false };
        ((0..delivered).map(|number| event(10 * u64::from(number), number, kind)).collect(), route)
    }

    #[test]
    fn a_packet_between_a_host_and_the_emulator_is_lost_outside() {
        let lost = |sent, delivered, arrived, stopped| {
            let (events, route) = route(sent, delivered, arrived);
            let stopped = [Time::from_millis(stopped); 2];
            lost_outside(&events, &mut [route], stopped)
        };
        assert_eq!(lost(5, 5, 5, 1000), 0);
        // One never entered; one never arrived.
        assert_eq!(lost(6, 5, 5, 1000), 1);
        assert_eq!(lost(5, 5, 4, 1000), 1);
        // The last two are delivered after the host has stopped, which may still read them.
        assert_eq!([3, 4, 5].map(|arrived| lost(5, 5, arrived, 25)), [0; 3]);
        assert_eq!(lost(5, 5, 2, 25), 1);
    }

    #[test]
    fn arrivals_count_until_the_stop_of_the_host() {
        let reliable = |arrived, stopped| {
            let (events, route) = route(5, 5, arrived);
            let mut routes = [route];
            lost_outside(&events, &mut routes, [Time::from_millis(stopped); 2]);
            show(Time::from_millis(1000), &[], &events, &mut routes, &[], &mut Unwatched);
            routes[0].is_reliable()
        };
        assert!(reliable(5, 1000) && reliable(3, 25) && reliable(4, 25));
        assert!(!reliable(4, 1000) && !reliable(2, 25) && !reliable(6, 1000));
    }
}
