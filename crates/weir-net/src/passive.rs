//! The passive link: one ring of packets, first those on their way to the far end, then those in the queue. Its queue
//! decides on arrival alone, so that a packet's departure is known when it arrives.

use std::collections::VecDeque;

use weir_units::{DataRate, DataSize, TimeDelta};

use crate::backlog::{Backlog, latest, size_of, span};
use crate::changes::{ExtraDelay, LinkChange, QueueLimits, nanos, schedule};
use crate::config::{InService, Limits, LinkConfig};
use crate::loss::LossSource;
use crate::packet::{DropReason, Dropped, Exit, Fate, Packet};
use crate::random::{JitterSource, RandomStreams};
use crate::schedule::Schedule;
use crate::server::{ConstantServer, NEVER, Server, Slot, work};
use crate::service::NANOBITS_PER_BYTE;
use crate::time::Time;

/// A link whose queue drops at its tail only and keeps the order of all packets.
/// [`Link::as_passive`](crate::Link::as_passive) returns it to callers that avoid the dispatch.
#[derive(Clone, Debug)]
pub struct Passive<P> {
    /// The latest time given, ns.
    now: u64,
    server: Server,
    /// Least propagation delay, ns.
    delay: u64,
    /// Exit of the first packet on the link, ns; [`NEVER`] if it is empty.
    next_exit: u64,
    /// Exit of the packet taken last, ns.
    last_exit: u64,
    /// In order of arrival: `departed` packets that have left the queue, then the queue.
    ring: VecDeque<LinkTransit<P>>,
    /// Whether the account of the queue (`departed`, `next_out` and `queued_bytes`) is kept. A link without limits
    /// of bytes and packets starts it at the first [`Self::backlog`] or [`Self::set_rate`].
    kept: bool,
    departed: usize,
    /// Departure of the first packet in the queue, ns; [`NEVER`] for an empty queue.
    next_out: u64,
    queued_bytes: u64,
    head: Head,
    queue: Limits,
    limits: Option<Box<Schedule<QueueLimits>>>,
    chance: Option<Box<Chance>>,
}

/// Random draws of jitter and loss, and marks by the link's own queue; most links have none.
#[derive(Clone, Debug, Default)]
struct Chance {
    jitter: Option<JitterSource>,
    loss: Option<LossSource>,
    mark_above: Option<TimeDelta>,
}

impl Chance {
    fn of(config: &LinkConfig, seed: u64) -> Option<Box<Self>> {
        let streams = RandomStreams::new(seed);
        let jitter = JitterSource::new(
            config.jitter.clone(),
            ExtraDelay::of(config.least_delay(), config.delay, &config.changes),
            streams.jitter,
        );
        let loss =
            LossSource::new(config.loss, schedule(&config.changes, |change| change.loss), streams.loss);
        let mark_above = config.queue.mark_above;
        let any = jitter.is_some() || loss.is_some() || mark_above.is_some();
        any.then(|| Box::new(Self { jitter, loss, mark_above }))
    }

    /// The jitter of a packet that leaves the queue at `departure` and would come out at `flown`, and when it comes out,
    /// behind the one before it.
    #[inline(never)]
    fn detain(&mut self, before: u64, departure: u64, flown: u64) -> (u64, u64) {
        let jitter = self.jitter.as_mut().map_or(0, JitterSource::draw);
        (jitter, before.max(flown.saturating_add(jitter).saturating_add(self.extra(departure))))
    }

    /// The part of the delay that scheduled changes make, for a packet that leaves the queue at `departure`.
    fn extra(&self, departure: u64) -> u64 {
        self.jitter.as_ref().map_or(0, |source| source.extra(departure))
    }

    /// The fate of a packet that comes out at `exit` ns and has waited so long, and whether it is to be marked if it can be.
    #[inline(never)]
    fn meet(&mut self, exit: u64, wait: TimeDelta) -> (Fate, bool) {
        let lost = self.loss.as_mut().is_some_and(|loss| loss.draw(exit));
        let fate = if lost { Fate::Lost } else { Fate::Arrived };
        (fate, self.mark_above.is_some_and(|above| wait > above))
    }
}

/// A packet on the link; times in ns.
#[derive(Clone, Debug)]
struct LinkTransit<P> {
    arrival: u64,
    slot: Slot,
    jitter: u64,
    exit: u64,
    packet: P,
}

/// How far the service of the first packet in the queue has come.
#[derive(Clone, Copy, Debug)]
struct Head {
    /// Since when the server has been free for it, or changed its rate, ns.
    since: u64,
    /// Work left on it then, in nanobits; [`WHOLE`] for all of it.
    left: u64,
}

/// Marks a packet without any served part; larger than the work on any packet.
const WHOLE: u64 = u64::MAX;

impl<P: Packet> Passive<P> {
    /// An idle link by a description that is valid.
    pub(crate) fn new(config: &LinkConfig, seed: u64) -> Self {
        let queue = config.queue.limits();
        let limits = schedule(&config.changes, |change| change.limits).map(Box::new);
        Self {
            now: 0,
            server: Server::new(&config.service),
            delay: nanos(config.least_delay()),
            next_exit: NEVER,
            last_exit: 0,
            ring: VecDeque::new(),
            kept: queue.counts() || limits.is_some(),
            departed: 0,
            next_out: NEVER,
            queued_bytes: 0,
            head: Head { since: 0, left: WHOLE },
            queue,
            limits,
            chance: Chance::of(config, seed),
        }
    }

    /// As [`Link::enqueue`](crate::Link::enqueue), and returns when the packet comes out if the link was empty.
    /// Otherwise the next departure stays the same, because each new packet is behind all others.
    ///
    /// # Errors
    /// As for [`Link::enqueue`](crate::Link::enqueue).
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "what it returns stays in registers")]
    pub fn enqueue(&mut self, now: Time, packet: P) -> Result<Option<Time>, Dropped<P>> {
        self.now = latest(self.now, now);
        let size = size_of(&packet);
        let Some(slot) = self.server.offer(self.now, size) else {
            return Err(Dropped { packet, reason: DropReason::DeadLink });
        };
        // An idle link takes everything.
        let refused = if self.kept {
            self.refusal(size, slot.departure)
        } else if self.server.is_busy(self.now) {
            self.too_late(slot.departure)
        } else {
            None
        };
        if let Some(reason) = refused {
            return Err(Dropped { packet, reason });
        }
        self.server.take(&slot);
        let flown = slot.departure.saturating_add(self.delay);
        let (jitter, exit) = match &mut self.chance {
            None => (0, flown),
            Some(chance) => chance.detain(self.last_exit, slot.departure, flown),
        };
        self.last_exit = exit;
        let first = self.ring.is_empty();
        if first {
            self.next_exit = exit;
        }
        self.ring.push_back(LinkTransit { arrival: self.now, slot, jitter, exit, packet });
        Ok(first.then_some(Time::from_nanos(exit)))
    }

    /// As [`Link::next_departure`](crate::Link::next_departure), but [`Time::MAX`] for never.
    #[inline]
    pub fn next_departure(&self) -> Time {
        Time::from_nanos(self.next_exit)
    }

    /// As [`Link::pop`](crate::Link::pop).
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "what it returns stays in registers")]
    pub fn pop(&mut self, now: Time) -> Option<Exit<P>> {
        self.now = latest(self.now, now);
        if self.next_exit > self.now {
            return None;
        }
        let LinkTransit { slot, mut packet, exit, .. } = self.ring.pop_front()?;
        self.next_exit = self.ring.front().map_or(NEVER, |first| first.exit);
        if !self.kept {
            self.head.since = slot.departure;
        } else if self.departed > 0 {
            self.departed -= 1;
        } else {
            self.leave_queue(size_of(&packet));
        }
        let wait = span(slot.wait);
        let (mut fate, mut marked) = (Fate::Arrived, false);
        if let Some(chance) = &mut self.chance {
            (fate, marked) = chance.meet(exit, wait);
            marked &= packet.is_ecn_capable();
            if marked {
                packet.mark_ce();
            }
        }
        Some(Exit { packet, wait, fate, marked })
    }

    pub(crate) fn set_rate(&mut self, now: Time, rate: DataRate) {
        self.settle(now);
        let first_left = self.ring.get(self.departed).map_or(WHOLE, |first| self.left_of(first));
        self.head = Head { since: self.now, left: first_left };
        let server = ConstantServer::new(rate);
        let mut free_at = self.now;
        let mut left = first_left;
        for transit in self.ring.range_mut(self.departed..) {
            let own = work(size_of(&transit.packet));
            transit.slot = server.finish(transit.arrival, free_at, own.min(left), own);
            (left, free_at) = (WHOLE, transit.slot.departure);
        }
        self.server = Server::constant(server, free_at);
        self.next_out = self.ring.get(self.departed).map_or(NEVER, |first| first.slot.departure);
        self.fly_again();
    }

    /// Applies a change that is valid. `seed` is the link's.
    pub(crate) fn apply(&mut self, change: &LinkChange, seed: u64) {
        self.settle(change.at);
        if let Some(limits) = &change.limits {
            self.queue.replace(limits);
            self.limits = None;
        }
        if let Some(model) = change.loss {
            let chance = self.chance.get_or_insert_default();
            let source = chance.loss.get_or_insert_with(|| LossSource::none(RandomStreams::new(seed).loss));
            source.replace_from(self.now, model);
        }
        if let Some(delay) = change.delay {
            self.delay = nanos(delay);
            if let Some(source) = self.chance.as_mut().and_then(|chance| chance.jitter.as_mut()) {
                source.end_changes();
            }
            self.fly_again();
        }
    }

    /// Computes the exits of the packets in the queue anew, from their departures.
    fn fly_again(&mut self) {
        // What has come out already did so by now, before anything that still waits.
        self.last_exit = self.departed.checked_sub(1).map_or(self.now, |last| self.ring[last].exit);
        for transit in self.ring.range_mut(self.departed..) {
            let LinkTransit { slot, jitter, .. } = transit;
            let (departure, jitter) = (slot.departure, *jitter);
            let extra = self.chance.as_ref().map_or(0, |chance| chance.extra(departure));
            let flown = departure.saturating_add(self.delay).saturating_add(jitter).saturating_add(extra);
            self.last_exit = self.last_exit.max(flown);
            transit.exit = self.last_exit;
        }
        self.next_exit = self.ring.front().map_or(NEVER, |first| first.exit);
    }

    pub(crate) fn backlog(&mut self, now: Time) -> Backlog {
        self.settle(now);
        let Some(in_service) = self.ring.get(self.departed) else { return Backlog::default() };
        Backlog {
            packets: u32::try_from(self.ring.len() - self.departed).unwrap_or(u32::MAX),
            bytes: DataSize::from_bytes(self.unserved_bytes(in_service)),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.ring.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.ring.is_empty()
    }

    pub(crate) fn propagation(&self) -> TimeDelta {
        span(self.delay)
    }

    /// The account of the queue is up to date, and kept from now on.
    fn settle(&mut self, now: Time) {
        self.now = latest(self.now, now);
        if !self.kept {
            self.kept = true;
            self.departed = self.ring.partition_point(|transit| transit.slot.departure <= self.now);
            let queue = self.ring.range(self.departed..);
            self.queued_bytes = queue.map(|transit| u64::from(size_of(&transit.packet))).sum();
            self.next_out = self.ring.get(self.departed).map_or(NEVER, |first| first.slot.departure);
            if let Some(last) = self.departed.checked_sub(1) {
                self.head.since = self.ring[last].slot.departure;
            }
        }
        self.advance();
    }

    /// Packets whose last bit has left are no longer in the queue.
    #[inline]
    fn advance(&mut self) {
        while self.next_out <= self.now
            && let Some(transit) = self.ring.get(self.departed)
        {
            let size = size_of(&transit.packet);
            self.departed += 1;
            self.leave_queue(size);
        }
    }

    /// The first packet in the queue, of `size` bytes, is no longer in it.
    #[inline]
    fn leave_queue(&mut self, size: u32) {
        self.queued_bytes = self.queued_bytes.saturating_sub(u64::from(size));
        self.head = Head { since: self.next_out, left: WHOLE };
        self.next_out = self.ring.get(self.departed).map_or(NEVER, |first| first.slot.departure);
    }

    /// Why a packet of `size` bytes that would depart at `departure` must not enter the queue; otherwise it has
    /// entered.
    #[inline(never)]
    fn refusal(&mut self, size: u32, departure: u64) -> Option<DropReason> {
        self.advance();
        if let Some(limits) = self.limits.as_mut().and_then(|limits| limits.due(self.now)) {
            self.queue.replace(&limits);
        }
        match self.ring.get(self.departed) {
            // An idle link takes everything.
            None => self.next_out = departure,
            Some(in_service) => {
                if let Some(reason) = self.excess(in_service, size, departure) {
                    return Some(reason);
                }
            }
        }
        self.queued_bytes += u64::from(size);
        None
    }

    /// The limit that a packet of `size` bytes with the departure `departure` would exceed.
    #[inline]
    fn excess(&self, in_service: &LinkTransit<P>, size: u32, departure: u64) -> Option<DropReason> {
        if let Some(limit) = self.queue.packets {
            let free = self.queue.in_service == InService::Free;
            let counted = self.ring.len() - self.departed - usize::from(free);
            if counted >= limit as usize {
                return Some(DropReason::QueuePackets);
            }
        }
        if let Some(limit) = self.queue.bytes(|| self.server.rate_at(self.now)) {
            // Mostly the whole packet in service fits, too, and its unserved part need not be computed.
            let over = |counted: u64| counted + u64::from(size) > limit;
            if over(self.queued_bytes) && over(self.counted_bytes(in_service)) {
                return Some(DropReason::QueueBytes);
            }
        }
        self.too_late(departure)
    }

    /// Whether a packet that departs at `departure` exceeds the limit in time.
    #[inline]
    fn too_late(&self, departure: u64) -> Option<DropReason> {
        let limit = self.queue.time?;
        (span(departure - self.now) > limit).then_some(DropReason::QueueTime)
    }

    /// Bytes that count against the limit.
    fn counted_bytes(&self, in_service: &LinkTransit<P>) -> u64 {
        match self.queue.in_service {
            InService::Free => self.queued_bytes.saturating_sub(u64::from(size_of(&in_service.packet))),
            InService::Whole => self.queued_bytes,
            InService::Counted => self.unserved_bytes(in_service),
        }
    }

    /// Bytes in the queue without the served part of the packet in service.
    fn unserved_bytes(&self, in_service: &LinkTransit<P>) -> u64 {
        let waiting = self.queued_bytes.saturating_sub(u64::from(size_of(&in_service.packet)));
        waiting + self.left_of(in_service) / NANOBITS_PER_BYTE
    }

    /// Work left on the packet in service, in nanobits.
    fn left_of(&self, in_service: &LinkTransit<P>) -> u64 {
        let Head { since, left } = self.head;
        let owed = work(size_of(&in_service.packet)).min(left);
        self.server.left(owed, since.max(in_service.arrival), self.now, in_service.slot.position)
    }
}
