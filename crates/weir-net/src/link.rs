//! The link: one ring of packets, first those on their way to the far end, then those in the queue.

use std::collections::VecDeque;

use weir_units::{DataRate, DataSize, TimeDelta};

use crate::config::{ConfigError, InService, LinkConfig, QueueConfig};
use crate::packet::{DropReason, Dropped, Exit, Packet};
use crate::random::{JitterSource, LossSource, streams};
use crate::server::{Constant, NEVER, Server, Slot, work};
use crate::service::NANOBITS_PER_BYTE;
use crate::time::Time;

/// A directed link that carries packets of type `P`.
///
/// The time given to its methods should never decrease; an earlier time counts as the latest one given.
#[derive(Clone, Debug)]
pub struct Link<P> {
    server: Server,
    queue: QueueConfig,
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

/// What is in a link's queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Packets whose last bit has not left, the one in service included.
    pub packets: u32,
    /// Bytes not yet served, rounded down.
    pub bytes: DataSize,
}

impl<P: Packet> Link<P> {
    /// An idle link. `seed` begins its random draws: the same seed, the same draws.
    ///
    /// # Errors
    /// [`ConfigError`] if the description makes no link.
    pub fn new(config: &LinkConfig, seed: u64) -> Result<Self, ConfigError> {
        config.validate()?;
        let (jitter, loss) = streams(seed);
        Ok(Self {
            server: Server::new(&config.service),
            queue: config.queue,
            delay: config.delay.nanos().max(0) as u64,
            jitter: JitterSource::new(config.jitter, jitter),
            loss: LossSource::new(config.loss, loss),
            ring: VecDeque::new(),
            departed: 0,
            next_out: NEVER,
            queued_bytes: 0,
            head: Head { since: 0, left: WHOLE },
            last_exit: 0,
            now: 0,
        })
    }

    /// A packet arrives at the link.
    ///
    /// # Errors
    /// [`Dropped`] with the packet and the reason if the link does not take it.
    #[inline]
    pub fn enqueue(&mut self, now: Time, packet: P) -> Result<(), Dropped<P>> {
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

    /// When [`Self::pop`] will next yield a packet; `None` if the link is empty or stands still.
    #[inline]
    pub fn next_departure(&self) -> Option<Time> {
        self.ring.front().map(|first| first.exit).filter(|&exit| exit != NEVER).map(Time::from_nanos)
    }

    /// The next packet that has come out at the far end by `now`. Call until `None`.
    #[inline]
    pub fn pop(&mut self, now: Time) -> Option<Exit<P>> {
        self.now = self.latest(now);
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
        let marked = self.queue.mark_above.is_some_and(|above| wait > above) && transit.packet.mark_ce();
        let lost = self.loss.as_mut().is_some_and(LossSource::draw);
        Some(Exit { packet: transit.packet, wait, lost, marked })
    }

    /// Replaces the service by a constant rate from `now` on. Packets in the queue keep their order, the bits left of
    /// the packet in service continue at the new rate, and nothing queued is dropped. Rate zero holds the queue until
    /// the next call.
    pub fn set_rate(&mut self, now: Time, rate: DataRate) {
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

    /// What waits at `now`. The packet in service counts as a packet, and its unserved part as bytes.
    pub fn backlog(&self, now: Time) -> Backlog {
        let now = self.latest(now);
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

    /// Packets on the link: in the queue, in service, and on their way to the far end.
    pub fn len(&self) -> usize {
        self.ring.len()
    }

    /// Whether no packet is on the link.
    pub fn is_empty(&self) -> bool {
        self.ring.is_empty()
    }

    /// The propagation delay, without serialisation, queue and jitter.
    pub fn propagation(&self) -> TimeDelta {
        span(self.delay)
    }

    /// Time passes: packets whose last bit has left are no longer in the queue.
    #[inline]
    fn advance(&mut self, now: Time) {
        self.now = self.latest(now);
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

    /// The later of `now` and the latest time given before; always earlier than [`NEVER`].
    #[inline]
    fn latest(&self, now: Time) -> u64 {
        self.now.max(now.nanos().min(NEVER - 1))
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
        if let Some(limit) = self.queue.limit_packets {
            let counted = self.ring.len() - self.departed - usize::from(free);
            if counted >= limit as usize {
                return Some(DropReason::QueuePackets);
            }
        }
        if let Some(limit) = self.queue.limit_bytes {
            let counted = if free {
                self.queued_bytes.saturating_sub(u64::from(size_of(&in_service.packet)))
            } else {
                self.unserved_bytes(self.queued_bytes, in_service, self.head, self.now)
            };
            if counted + u64::from(size) > limit.bytes() {
                return Some(DropReason::QueueBytes);
            }
        }
        let too_late = self.queue.limit_time.is_some_and(|limit| span(slot.departure - self.now) > limit);
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

/// Bytes a packet counts with.
#[inline]
fn size_of(packet: &impl Packet) -> u32 {
    packet.wire_size().max(1)
}

/// Nanoseconds as a span; what is too long saturates.
#[inline]
fn span(nanos: u64) -> TimeDelta {
    TimeDelta::from_nanos(i64::try_from(nanos).unwrap_or(i64::MAX))
}
