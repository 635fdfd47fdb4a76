//! The emulator: links and routes, stepped by time, without sockets and without a clock.
//!
//! Each event happens at its own time: a packet leaves a link at the link's departure time and enters the next link at
//! this time, however late the caller is. Lateness therefore never adds up over links.

mod pool;

use std::collections::VecDeque;

use weir_cc::Ecn;
use weir_net::{Backlog, ConfigError, DropReason, Dropped, Exit, Fate, Link, Packet, Time};
use weir_units::TimeDelta;
use weir_world::{FlowSpec, LinkSpec, Loss, RunSpec, Side, Traffic, purpose, stream};

pub use pool::{BufferPool, SLOT_LEN};

/// A packet on its way through the emulator. Its bytes are in a [`BufferPool`], which the emulator does not touch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Transit {
    /// Index of its route.
    pub route: u32,
    /// Index of its buffer.
    pub buffer: u32,
    /// Bytes in the buffer.
    pub length: u32,
    /// Bytes on the wire, IP headers included.
    pub wire_size: u32,
    /// ECN field, with the marks of the links so far.
    pub ecn: Ecn,
    /// Flow of the packet, for disciplines with a queue per flow. With zero the packets of a route are one flow.
    pub flow: u32,
    /// Number of the packets that entered this route before it; set by [`Emulator::enqueue`].
    pub number: u32,
}

/// An event of the emulator.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Event {
    /// When it happened.
    pub at: Time,
    /// The packet.
    pub packet: Transit,
    /// The event itself.
    pub kind: EventKind,
}

/// The kinds of events.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum EventKind {
    /// The packet arrived at a link. A link that has ended for good reports no arrivals.
    Entered {
        /// The link.
        link: usize,
        /// The backlog that the packet found.
        backlog: Backlog,
        /// Whether the link took it; if not, [`Self::Dropped`] follows.
        taken: bool,
    },
    /// The packet was served by a link and reached its far end, unless random loss hits it: then [`Self::Dropped`]
    /// follows.
    Left {
        /// The link.
        link: usize,
        /// Queuing delay in this link.
        wait: TimeDelta,
    },
    /// The packet is gone.
    Dropped {
        /// The link.
        link: usize,
        /// The cause.
        loss: Loss,
    },
    /// The packet reached the end of its route.
    Delivered {
        /// Queuing delay in all links that are [bottlenecks](LinkSpec::bottleneck).
        wait: TimeDelta,
        /// Whether a link marked it with "congestion experienced".
        marked: bool,
    },
}

/// Why an emulator cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EmulatorError {
    /// A Wi-Fi cell.
    #[error("the Wi-Fi cell {0:?} cannot be emulated: real packets cross plain links only")]
    Cell(String),
    /// A route without links.
    #[error("route {0} has no links")]
    EmptyRoute(usize),
    /// A route over a link that is not there.
    #[error("route {route} goes over link {link}, but there are {links} links")]
    UnknownLink {
        /// Index of the route.
        route: usize,
        /// Index of the link.
        link: usize,
        /// Number of links.
        links: usize,
    },
    /// A description that makes no link.
    #[error("link {name:?}: {error}")]
    Link {
        /// Name of the link.
        name: String,
        /// The error in its description.
        error: ConfigError,
    },
}

/// A step of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hop {
    Link(u32),
    End,
}

/// A packet as links carry it.
#[derive(Clone, Copy, Debug)]
struct Carried {
    transit: Transit,
    /// Index of its next hop in the table of routes.
    hop: u32,
    /// Queuing delay so far, in bottlenecks.
    wait: TimeDelta,
    marked: bool,
}

impl Packet for Carried {
    fn wire_size(&self) -> u32 {
        self.transit.wire_size
    }

    fn is_ecn_capable(&self) -> bool {
        self.transit.ecn != Ecn::NotEct
    }

    fn mark_ce(&mut self) {
        self.transit.ecn = Ecn::Ce;
    }

    fn is_l4s(&self) -> bool {
        matches!(self.transit.ecn, Ecn::Ect1 | Ecn::Ce)
    }

    /// At one link this hop is next for the packets of one route, and for no others. The simulator has the same numbers.
    fn flow(&self) -> u32 {
        if self.transit.flow == 0 { self.hop } else { self.transit.flow }
    }
}

/// A link, and whether waiting there counts as a packet's queuing delay.
#[derive(Debug)]
struct Node {
    link: Link<Carried>,
    bottleneck: bool,
}

/// Route of the packets that leave this side of a flow, in an emulator [of a run](Emulator::of_run).
pub const fn route_of(flow: usize, from: Side) -> usize {
    2 * flow + from as usize
}

/// Links and routes, stepped by time.
#[derive(Debug)]
pub struct Emulator {
    nodes: Vec<Node>,
    /// The next departure of each link.
    wakes: Vec<Time>,
    hops: Vec<Hop>,
    first_hop: Vec<u32>,
    /// Packets that have entered each route.
    entered: Vec<u32>,
    /// Events that have happened and were not polled.
    events: VecDeque<Event>,
    now: Time,
    inside: usize,
}

impl Emulator {
    /// An emulator of `links`, whose random draws are those of a simulation with the same seed. A route is a list of
    /// indices of links.
    ///
    /// # Errors
    /// A description that makes no link, a route without links or over an unknown one.
    pub fn new<R: AsRef<[usize]>>(
        seed: u64,
        links: &[LinkSpec],
        routes: &[R],
    ) -> Result<Self, EmulatorError> {
        if let Some(empty) = routes.iter().position(|route| route.as_ref().is_empty()) {
            return Err(EmulatorError::EmptyRoute(empty));
        }
        Self::build(seed, links, routes)
    }

    /// The emulator of a run. Each flow has two routes, those of [`route_of`].
    ///
    /// # Errors
    /// As for [`Self::new`]; also a Wi-Fi cell. A flow whose sender needs no answers may lack the way back.
    pub fn of_run(spec: &RunSpec) -> Result<Self, EmulatorError> {
        if let Some(cell) = spec.cells.first() {
            return Err(EmulatorError::Cell(cell.name.clone()));
        }
        for (index, FlowSpec { forward, reverse, traffic, .. }) in spec.flows.iter().enumerate() {
            let needs_reverse = !matches!(traffic, Traffic::Constant { .. } | Traffic::Unresponsive(_));
            if forward.is_empty() {
                return Err(EmulatorError::EmptyRoute(route_of(index, Side::Sender)));
            }
            if reverse.is_empty() && needs_reverse {
                return Err(EmulatorError::EmptyRoute(route_of(index, Side::Receiver)));
            }
        }
        let routes: Vec<_> = spec.flows.iter().flat_map(|flow| [&flow.forward, &flow.reverse]).collect();
        Self::build(spec.seed, &spec.links, &routes)
    }

    fn build<R: AsRef<[usize]>>(seed: u64, links: &[LinkSpec], routes: &[R]) -> Result<Self, EmulatorError> {
        let mut hops = Vec::new();
        let mut first_hop = Vec::new();
        for (index, route) in routes.iter().map(AsRef::as_ref).enumerate() {
            if let Some(&link) = route.iter().find(|&&link| link >= links.len()) {
                return Err(EmulatorError::UnknownLink { route: index, link, links: links.len() });
            }
            first_hop.push(hops.len() as u32);
            hops.extend(route.iter().map(|&link| Hop::Link(link as u32)));
            hops.push(Hop::End);
        }
        let node = |spec: &LinkSpec| match Link::new(&spec.config, stream(seed, &spec.name, purpose::LINK)) {
            Ok(link) => Ok(Node { link, bottleneck: spec.bottleneck }),
            Err(error) => Err(EmulatorError::Link { name: spec.name.clone(), error }),
        };
        Ok(Self {
            nodes: links.iter().map(node).collect::<Result<_, _>>()?,
            wakes: vec![Time::MAX; links.len()],
            entered: vec![0; first_hop.len()],
            hops,
            first_hop,
            events: VecDeque::with_capacity(1024),
            now: Time::ZERO,
            inside: 0,
        })
    }

    /// Number of routes.
    pub fn routes(&self) -> usize {
        self.first_hop.len()
    }

    /// Packets that have entered and were neither delivered nor dropped.
    pub fn inside(&self) -> usize {
        self.inside
    }

    /// Puts a packet on its route at `now`, after everything that happens until then. An earlier time counts as the
    /// latest one served. Its events are those that [`Self::poll`] returns.
    ///
    /// # Panics
    /// If the route does not exist.
    pub fn enqueue(&mut self, now: Time, mut packet: Transit) {
        self.advance(now);
        let route = packet.route as usize;
        packet.number = self.entered[route];
        self.entered[route] = packet.number.wrapping_add(1);
        self.inside += 1;
        let carried =
            Carried { transit: packet, hop: self.first_hop[route], wait: TimeDelta::ZERO, marked: false };
        self.forward(carried);
    }

    /// When [`Self::poll`] has something to do next; a time that has passed if there are events.
    pub fn next_event(&self) -> Option<Time> {
        if let Some(event) = self.events.front() {
            return Some(event.at);
        }
        self.first().map(|(at, _)| at)
    }

    /// The next event until `until`, in order of time; those that [`Self::enqueue`] caused come in any case. Call until
    /// `None`.
    pub fn poll(&mut self, until: Time) -> Option<Event> {
        while self.events.is_empty() {
            let (at, link) = self.first().filter(|&(at, _)| at <= until)?;
            self.step(at, link);
        }
        self.events.pop_front()
    }

    /// The first link that wakes; among equal times the one with the lowest index, as in the simulator.
    fn first(&self) -> Option<(Time, usize)> {
        let (link, &at) = self.wakes.iter().enumerate().min_by_key(|&(_, &at)| at)?;
        (at != Time::MAX).then_some((at, link))
    }

    /// Lets everything happen until `now`.
    fn advance(&mut self, now: Time) {
        while let Some((at, link)) = self.first().filter(|&(at, _)| at <= now) {
            self.step(at, link);
        }
        self.now = self.now.max(now);
    }

    /// Takes the packet that leaves a link at `at`.
    fn step(&mut self, at: Time, link: usize) {
        self.now = self.now.max(at);
        let Node { link: carrier, bottleneck } = &mut self.nodes[link];
        let exit = carrier.pop(self.now);
        self.wakes[link] = carrier.next_departure().unwrap_or(Time::MAX);
        let Some(Exit { mut packet, wait, fate, marked }) = exit else { return };
        packet.marked |= marked;
        if let Fate::Dropped(reason) = fate {
            return self.lose(link, packet, Loss::Queue(reason));
        }
        if *bottleneck {
            packet.wait += wait;
        }
        self.report(packet, EventKind::Left { link, wait });
        if fate == Fate::Lost {
            return self.lose(link, packet, Loss::Random);
        }
        packet.hop += 1;
        self.forward(packet);
    }

    /// Hands a packet to its next hop.
    fn forward(&mut self, packet: Carried) {
        let Hop::Link(link) = self.hops[packet.hop as usize] else {
            self.inside -= 1;
            return self.report(packet, EventKind::Delivered { wait: packet.wait, marked: packet.marked });
        };
        let link = link as usize;
        let carrier = &mut self.nodes[link].link;
        let backlog = carrier.backlog(self.now);
        let taken = carrier.enqueue(self.now, packet);
        self.wakes[link] = carrier.next_departure().unwrap_or(Time::MAX);
        let entered = |taken| EventKind::Entered { link, backlog, taken };
        match taken {
            Ok(()) => self.report(packet, entered(true)),
            Err(Dropped { packet, reason }) => {
                if reason != DropReason::DeadLink {
                    self.report(packet, entered(false));
                }
                self.lose(link, packet, Loss::Queue(reason));
            }
        }
    }

    fn lose(&mut self, link: usize, packet: Carried, loss: Loss) {
        self.inside -= 1;
        self.report(packet, EventKind::Dropped { link, loss });
    }

    fn report(&mut self, packet: Carried, kind: EventKind) {
        self.events.push_back(Event { at: self.now, packet: packet.transit, kind });
    }
}

#[cfg(test)]
mod tests;
