//! The active link: its queue decides when the server fetches a packet, so that a departure is known only then.
//!
//! It works through what is due in the order of time whenever it is asked, by the time it is given: a service that
//! ends, the next packet that is fetched, a packet that comes out.

use std::collections::VecDeque;

use weir_units::{DataRate, DataSize, TimeDelta};

use crate::config::{InService, Limits, LinkConfig, Order};
use crate::link::{Backlog, latest, size_of, span};
use crate::loss::LossSource;
use crate::packet::{DropReason, Dropped, Exit, Fate, Packet};
use crate::queue::{Overflow, PerFlow, Queue, Queued, Refuse};
use crate::random::{JitterSource, Streams};
use crate::server::{Constant, NEVER, Opening, Server, Slot, work};
use crate::service::NANOBITS_PER_BYTE;
use crate::time::Time;

/// A link with an active queue, or without an order of all its packets. Times in ns.
#[derive(Clone, Debug)]
pub(crate) struct Active<P> {
    server: Server,
    limits: Limits,
    queue: Queue<P>,
    /// Dropped by the queue and not yet handed out.
    dropped: Refuse<P>,
    serving: Option<Serving>,
    /// When and where the server fetches the next packet; `None` while it serves one or nothing waits.
    opening: Option<Opening>,
    way: Way<P>,
    loss: Option<LossSource>,
    /// The latest time given.
    now: u64,
}

/// The packet in service. It is on its way already, as its departure is known.
#[derive(Clone, Copy, Debug)]
struct Serving {
    arrival: u64,
    size: u32,
    slot: Slot,
    /// Since when it is served at the present rate.
    since: u64,
    /// Work left on it then, in nanobits.
    left: u64,
}

/// From the server to the far end.
#[derive(Clone, Debug)]
struct Way<P> {
    delay: u64,
    jitter: Option<JitterSource>,
    order: Order,
    /// Exits of the latest packet, by flow or of all.
    last_of_flow: PerFlow<Last>,
    last: Last,
    /// Packets sent so far.
    sent: u64,
    /// In order of exit.
    flying: VecDeque<Flying<P>>,
}

/// The exit of the latest packet, and of the one before it.
#[derive(Clone, Copy, Debug, Default)]
struct Last {
    exit: u64,
    before: u64,
}

#[derive(Clone, Debug)]
struct Flying<P> {
    exit: u64,
    wait: u64,
    jitter: u64,
    /// How many were sent before it.
    number: u64,
    marked: bool,
    packet: P,
}

impl<P: Packet> Active<P> {
    /// An idle link by a description that is valid.
    pub(crate) fn new(config: &LinkConfig, seed: u64) -> Self {
        let streams = Streams::new(seed);
        let way = Way {
            delay: config.delay.nanos().max(0) as u64,
            jitter: JitterSource::new(config.jitter.clone(), streams.jitter),
            order: config.order,
            last_of_flow: PerFlow::default(),
            last: Last::default(),
            sent: 0,
            flying: VecDeque::new(),
        };
        Self {
            server: Server::new(&config.service),
            limits: config.queue.limits(),
            queue: Queue::new(&config.queue.discipline, config.service.nominal_rate(), streams.queue),
            dropped: Refuse::new(),
            serving: None,
            opening: None,
            way,
            loss: LossSource::new(config.loss, streams.loss),
            now: 0,
        }
    }

    #[inline]
    pub(crate) fn enqueue(&mut self, now: Time, packet: P) -> Result<(), Dropped<P>> {
        self.advance(latest(self.now, now));
        let size = size_of(&packet);
        let idle = self.serving.is_none() && self.queue.packets() == 0;
        let opening = idle.then(|| self.server.opening(self.now));
        if opening == Some(None) {
            return Err(Dropped { packet, reason: DropReason::DeadLink });
        }
        let full = if idle { None } else { self.refusal(size) };
        if let Some(reason) = full {
            match self.queue.overflow() {
                Overflow::Tail => return Err(Dropped { packet, reason }),
                Overflow::Head => self.drop_head(size),
                Overflow::Longest => {}
            }
        }
        let queued = Queued { arrival: self.now, size, marked: false, packet };
        self.queue.enqueue(self.now, queued)?;
        if let (Some(reason), Overflow::Longest) = (full, self.queue.overflow()) {
            self.queue.make_room(reason, &mut self.dropped);
        }
        if let Some(opening) = opening {
            self.opening = opening;
            self.advance(self.now);
        }
        Ok(())
    }

    /// Drops what has waited longest until a packet of `size` bytes finds room, or nothing waits.
    fn drop_head(&mut self, size: u32) {
        while let Some(reason) = self.refusal(size) {
            if !self.queue.make_room(reason, &mut self.dropped) {
                return;
            }
        }
    }

    #[inline]
    pub(crate) fn next_departure(&self) -> u64 {
        if !self.dropped.is_empty() {
            return self.now;
        }
        let exit = self.way.flying.front().map_or(NEVER, |first| first.exit);
        let server = match (&self.serving, self.opening) {
            (Some(serving), _) if self.queue.drops_late() && self.queue.packets() > 0 => {
                serving.slot.departure
            }
            (None, Some(opening)) => opening.start,
            _ => NEVER,
        };
        exit.min(server)
    }

    #[inline]
    pub(crate) fn pop(&mut self, now: Time) -> Option<Exit<P>> {
        self.advance(latest(self.now, now));
        if let Some((queued, reason)) = self.dropped.pop_front() {
            let wait = span(self.now.saturating_sub(queued.arrival));
            return Some(Exit {
                packet: queued.packet,
                wait,
                fate: Fate::Dropped(reason),
                marked: queued.marked,
            });
        }
        if self.way.flying.front()?.exit > self.now {
            return None;
        }
        let mut flying = self.way.flying.pop_front()?;
        let wait = span(flying.wait);
        let stepped = self.limits.mark_above.is_some_and(|above| wait > above) && flying.packet.mark_ce();
        let lost = self.loss.as_mut().is_some_and(LossSource::draw);
        let fate = if lost { Fate::Lost } else { Fate::Arrived };
        Some(Exit { packet: flying.packet, wait, fate, marked: flying.marked || stepped })
    }

    pub(crate) fn set_rate(&mut self, now: Time, rate: DataRate) {
        self.advance(latest(self.now, now));
        let server = Constant::new(rate);
        if let Some(serving) = &mut self.serving {
            serving.left = left_of(&self.server, serving, self.now);
            serving.since = self.now;
            serving.slot = server.finish(serving.arrival, self.now, serving.left, work(serving.size));
            self.way.resend(serving.slot);
        }
        let free_at = self.serving.as_ref().map_or(self.now, |serving| serving.slot.departure);
        self.server = Server::constant(server, free_at);
        if self.serving.is_none() && self.queue.packets() > 0 {
            self.opening = self.server.opening(self.now);
            self.advance(self.now);
        }
    }

    pub(crate) fn backlog(&self, now: Time) -> Backlog {
        let now = latest(self.now, now);
        let in_service = self.serving.as_ref().filter(|serving| serving.slot.departure > now);
        let left = in_service.map_or(0, |serving| left_of(&self.server, serving, now) / NANOBITS_PER_BYTE);
        let packets = self.queue.packets() + usize::from(in_service.is_some());
        Backlog {
            packets: u32::try_from(packets).unwrap_or(u32::MAX),
            bytes: DataSize::from_bytes(self.queue.bytes() + left),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.queue.packets() + self.way.flying.len() + self.dropped.len()
    }

    pub(crate) fn propagation(&self) -> TimeDelta {
        span(self.way.delay)
    }

    /// Time passes: services end, and each time the server fetches the next packet.
    #[inline]
    fn advance(&mut self, now: u64) {
        self.now = now;
        loop {
            if self.serving.is_some_and(|serving| serving.slot.departure <= now) {
                self.serving = None;
                self.open();
            }
            match self.opening {
                Some(opening) if opening.start <= now => self.fetch(opening),
                _ => return,
            }
        }
    }

    /// The server is free: when can it begin with what waits?
    #[inline]
    fn open(&mut self) {
        self.opening = None;
        if self.queue.packets() == 0 {
            return;
        }
        // It was free from its last departure on, and something has been waiting since then.
        self.opening = self.server.opening(0);
        if self.opening.is_none() {
            self.give_up();
        }
    }

    #[inline]
    fn fetch(&mut self, opening: Opening) {
        self.opening = None;
        while let Some(packet) = self.queue.dequeue(opening.start, &mut self.dropped) {
            if let Some(slot) = self.server.serve(packet.arrival, opening, packet.size) {
                self.server.take(&slot);
                let Queued { arrival, size, .. } = packet;
                self.serving = Some(Serving { arrival, size, slot, since: opening.start, left: work(size) });
                self.way.send(packet, slot);
                return;
            }
            self.dropped.push_back((packet, DropReason::DeadLink));
        }
    }

    /// The server will never serve anything again.
    fn give_up(&mut self) {
        while let Some(packet) = self.queue.dequeue(self.now, &mut self.dropped) {
            self.dropped.push_back((packet, DropReason::DeadLink));
        }
    }

    /// Why a packet of `size` bytes must not enter the queue.
    #[inline]
    fn refusal(&mut self, size: u32) -> Option<DropReason> {
        let free = self.limits.in_service == InService::Free;
        let serving = self.serving.as_ref().filter(|_| !free);
        if let Some(limit) = self.limits.packets {
            let counted = self.queue.packets() + usize::from(serving.is_some());
            if counted >= limit as usize {
                return Some(DropReason::QueuePackets);
            }
        }
        if let Some(limit) = self.limits.bytes(|| self.server.rate_at(self.now)) {
            let left = serving.map_or(0, |s| left_of(&self.server, s, self.now) / NANOBITS_PER_BYTE);
            if self.queue.bytes() + left + u64::from(size) > limit {
                return Some(DropReason::QueueBytes);
            }
        }
        let limit = self.limits.time?;
        let bytes = u32::try_from(self.queue.bytes() + u64::from(size)).unwrap_or(u32::MAX);
        let end = self.server.forecast(self.now, bytes);
        let late = end.is_none_or(|end| span(end.saturating_sub(self.now)) > limit);
        late.then_some(DropReason::QueueTime)
    }
}

/// Work left at `now` on the packet in service, in nanobits.
fn left_of(server: &Server, serving: &Serving, now: u64) -> u64 {
    server.left(serving.left, serving.since, now, serving.slot.position)
}

impl<P: Packet> Way<P> {
    /// A packet is served, its last bit at the end of `slot`.
    #[inline]
    fn send(&mut self, served: Queued<P>, slot: Slot) {
        let jitter = self.jitter.as_mut().map_or(0, JitterSource::draw);
        let flow = served.packet.flow();
        if let Some(last) = self.last(flow) {
            last.before = last.exit;
        }
        let exit = self.exit(flow, slot.departure, jitter);
        let number = self.sent;
        self.sent += 1;
        let Queued { packet, marked, .. } = served;
        self.place(Flying { exit, wait: slot.wait, jitter, number, marked, packet });
    }

    /// The packet that was sent last is served otherwise.
    fn resend(&mut self, slot: Slot) {
        let sent = self.sent;
        let place = self.flying.iter().position(|flying| flying.number + 1 == sent);
        if let Some(mut flying) = place.and_then(|place| self.flying.remove(place)) {
            flying.exit = self.exit(flying.packet.flow(), slot.departure, flying.jitter);
            flying.wait = slot.wait;
            self.place(flying);
        }
    }

    /// The exits that later packets must not precede.
    #[inline]
    fn last(&mut self, flow: u32) -> Option<&mut Last> {
        match self.order {
            Order::None => None,
            Order::Link => Some(&mut self.last),
            Order::Flow => Some(self.last_of_flow.entry(flow, Last::default)),
        }
    }

    /// When the packet comes out that leaves the server at `departure`.
    #[inline]
    fn exit(&mut self, flow: u32, departure: u64, jitter: u64) -> u64 {
        let mut exit = departure.saturating_add(self.delay).saturating_add(jitter);
        if let Some(last) = self.last(flow) {
            exit = exit.max(last.before);
            last.exit = exit;
        }
        exit
    }

    #[inline]
    fn place(&mut self, flying: Flying<P>) {
        let exit = flying.exit;
        if self.flying.back().is_none_or(|latest| latest.exit <= exit) {
            self.flying.push_back(flying);
        } else {
            // Jitter lets a packet overtake few others.
            let behind = self.flying.iter().rev().take_while(|other| other.exit > exit).count();
            self.flying.insert(self.flying.len() - behind, flying);
        }
    }
}
