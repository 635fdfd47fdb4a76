//! The passive link: one ring of packets, first those on their way to the far end, then those in the queue. Its queue
//! decides on arrival alone, so that a packet's departure is known when it arrives.

use std::collections::VecDeque;

use weir_units::{DataRate, DataSize, TimeDelta};

use crate::backlog::{Backlog, latest, size_of, span};
use crate::config::{InService, Limits, LinkConfig};
use crate::loss::LossSource;
use crate::packet::{DropReason, Dropped, Exit, Fate, Packet};
use crate::random::{JitterSource, Streams};
use crate::server::{Constant, NEVER, Server, Slot, work};
use crate::service::NANOBITS_PER_BYTE;
use crate::time::Time;

/// A first-in first-out link whose queue drops at its tail only.
#[derive(Clone, Debug)]
pub(crate) struct Passive<P> {
    server: Server,
    queue: Limits,
    /// Propagation delay, ns.
    delay: u64,
    jitter: Option<JitterSource>,
    loss: Option<LossSource>,
    /// In order of arrival: `departed` packets that have left the queue, then the queue.
    ring: VecDeque<Transit<P>>,
    departed: usize,
    /// Departure of the first packet in the queue, ns; [`NEVER`] for an empty queue.
    next_out: u64,
    queued_bytes: u64,
    head: Head,
    /// Exit of the packet taken last, ns.
    last_exit: u64,
    /// The latest time given, ns.
    now: u64,
}

/// A packet on the link; times in ns.
#[derive(Clone, Debug)]
struct Transit<P> {
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

/// More work than any packet is.
const WHOLE: u64 = u64::MAX;

impl<P: Packet> Passive<P> {
    /// An idle link by a description that is valid.
    pub(crate) fn new(config: &LinkConfig, seed: u64) -> Self {
        let streams = Streams::new(seed);
        Self {
            server: Server::new(&config.service),
            queue: config.queue.limits(),
            delay: config.delay.nanos().max(0) as u64,
            jitter: JitterSource::new(config.jitter.clone(), streams.jitter),
            loss: LossSource::new(config.loss, streams.loss),
            ring: VecDeque::new(),
            departed: 0,
            next_out: NEVER,
            queued_bytes: 0,
            head: Head { since: 0, left: WHOLE },
            last_exit: 0,
            now: 0,
        }
    }

    #[inline]
    pub(crate) fn enqueue(&mut self, now: Time, packet: P) -> Result<(), Dropped<P>> {
        self.advance(now);
        let size = size_of(&packet);
        let Some(slot) = self.server.offer(self.now, size) else {
            return Err(Dropped { packet, reason: DropReason::DeadLink });
        };
        if self.departed == self.ring.len() {
            // An idle link takes everything.
            self.next_out = slot.departure;
        } else if let Some(reason) = self.refusal(size, &slot) {
            return Err(Dropped { packet, reason });
        }
        self.server.take(&slot);
        let jitter = self.jitter.as_mut().map_or(0, JitterSource::draw);
        self.last_exit = self.exit_after(self.last_exit, slot.departure, jitter);
        self.queued_bytes += u64::from(size);
        self.ring.push_back(Transit { arrival: self.now, slot, jitter, exit: self.last_exit, packet });
        Ok(())
    }

    #[inline]
    pub(crate) fn next_departure(&self) -> u64 {
        self.ring.front().map_or(NEVER, |first| first.exit)
    }

    #[inline]
    pub(crate) fn pop(&mut self, now: Time) -> Option<Exit<P>> {
        self.now = latest(self.now, now);
        if self.ring.front()?.exit > self.now {
            return None;
        }
        let mut transit = self.ring.pop_front()?;
        if self.departed > 0 {
            self.departed -= 1;
        } else {
            self.leave_queue(size_of(&transit.packet));
        }
        let wait = span(transit.slot.wait);
        let above = self.queue.mark_above.is_some_and(|above| wait > above);
        let marked = above && transit.packet.is_ecn_capable();
        if marked {
            transit.packet.mark_ce();
        }
        let lost = self.loss.as_mut().is_some_and(LossSource::draw);
        let fate = if lost { Fate::Lost } else { Fate::Arrived };
        Some(Exit { packet: transit.packet, wait, fate, marked })
    }

    pub(crate) fn set_rate(&mut self, now: Time, rate: DataRate) {
        self.advance(now);
        let first_left =
            self.ring.get(self.departed).map_or(WHOLE, |first| self.left_of(first, self.head, self.now));
        self.head = Head { since: self.now, left: first_left };
        // What has come out already did so by now, before anything that still waits.
        self.last_exit = self.departed.checked_sub(1).map_or(self.now, |last| self.ring[last].exit);
        let server = Constant::new(rate);
        let mut free_at = self.now;
        let mut left = first_left;
        for index in self.departed..self.ring.len() {
            let transit = &self.ring[index];
            let own = work(size_of(&transit.packet));
            let slot = server.finish(transit.arrival, free_at, own.min(left), own);
            left = WHOLE;
            let exit = self.exit_after(self.last_exit, slot.departure, transit.jitter);
            (free_at, self.last_exit) = (slot.departure, exit);
            (self.ring[index].slot, self.ring[index].exit) = (slot, exit);
        }
        self.server = Server::constant(server, free_at);
        self.next_out = self.ring.get(self.departed).map_or(NEVER, |first| first.slot.departure);
    }

    pub(crate) fn backlog(&self, now: Time) -> Backlog {
        let now = latest(self.now, now);
        let (mut first, mut bytes, mut head) = (self.departed, self.queued_bytes, self.head);
        while let Some(transit) = self.ring.get(first).filter(|transit| transit.slot.departure <= now) {
            bytes = bytes.saturating_sub(u64::from(size_of(&transit.packet)));
            head = Head { since: transit.slot.departure, left: WHOLE };
            first += 1;
        }
        let Some(in_service) = self.ring.get(first) else { return Backlog::default() };
        Backlog {
            packets: u32::try_from(self.ring.len() - first).unwrap_or(u32::MAX),
            bytes: DataSize::from_bytes(self.unserved_bytes(bytes, in_service, head, now)),
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

    /// Time passes: packets whose last bit has left are no longer in the queue.
    #[inline]
    fn advance(&mut self, now: Time) {
        self.now = latest(self.now, now);
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

    #[inline]
    fn exit_after(&self, previous: u64, departure: u64, jitter: u64) -> u64 {
        previous.max(departure.saturating_add(self.delay).saturating_add(jitter))
    }

    /// Why a packet of `size` bytes must not enter the queue, which is up to date.
    #[inline]
    fn refusal(&self, size: u32, slot: &Slot) -> Option<DropReason> {
        let in_service = self.ring.get(self.departed)?;
        let free = self.queue.in_service == InService::Free;
        let whole = self.queue.in_service == InService::Whole;
        if let Some(limit) = self.queue.packets {
            let counted = self.ring.len() - self.departed - usize::from(free);
            if counted >= limit as usize {
                return Some(DropReason::QueuePackets);
            }
        }
        if let Some(limit) = self.queue.bytes(|| self.server.rate_at(self.now)) {
            let counted = if free {
                self.queued_bytes.saturating_sub(u64::from(size_of(&in_service.packet)))
            } else if whole {
                self.queued_bytes
            } else {
                self.unserved_bytes(self.queued_bytes, in_service, self.head, self.now)
            };
            if counted + u64::from(size) > limit {
                return Some(DropReason::QueueBytes);
            }
        }
        let too_late = self.queue.time.is_some_and(|limit| span(slot.departure - self.now) > limit);
        too_late.then_some(DropReason::QueueTime)
    }

    /// What is left of `bytes` in the queue without the served part of the packet in service.
    fn unserved_bytes(&self, bytes: u64, in_service: &Transit<P>, head: Head, now: u64) -> u64 {
        let waiting = bytes.saturating_sub(u64::from(size_of(&in_service.packet)));
        waiting + self.left_of(in_service, head, now) / NANOBITS_PER_BYTE
    }

    /// Work left on the packet in service, in nanobits.
    fn left_of(&self, in_service: &Transit<P>, head: Head, now: u64) -> u64 {
        let owed = work(size_of(&in_service.packet)).min(head.left);
        self.server.left(owed, head.since.max(in_service.arrival), now, in_service.slot.position)
    }
}
