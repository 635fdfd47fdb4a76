//! The active link: its queue decides when the server fetches a packet, so that a departure is known only then.
//!
//! A call processes all events up to its time in order: a service that ends, the next packet that is fetched, a
//! packet that comes out. The packets themselves stay in one place; small records of them go through queue and
//! server to the far end.

mod apply;

use std::collections::VecDeque;

use rand_pcg::Pcg64;
use weir_units::{DataRate, DataSize, TimeDelta};

use crate::backlog::{Backlog, latest, size_of, span};
use crate::changes::{ExtraDelay, QueueLimits, nanos, schedule};
use crate::config::{InService, Limits, LinkConfig, Order};
use crate::loss::LossSource;
use crate::packet::{DropReason, Dropped, Exit, Fate, Packet};
use crate::queue::{Overflow, PerFlow, WaitingPackets};
use crate::random::{JitterSource, RandomStreams};
use crate::records::{LinkRecord, Records};
use crate::schedule::Schedule;
use crate::server::{ConstantServer, NEVER, Opening, Server, Slot, work};
use crate::service::NANOBITS_PER_BYTE;
use crate::time::Time;

/// A link whose queue is not drop-tail, or whose packets may overtake each other. Times in ns.
#[derive(Clone, Debug)]
pub(crate) struct Active<P, Q> {
    server: Server,
    limits: Limits,
    /// Limits that take effect later.
    coming: Option<Schedule<QueueLimits>>,
    records: Records,
    /// The packets by place.
    packets: Vec<Option<P>>,
    queue: Q,
    state: State,
    /// Time of the next change without a call; [`NEVER`] if there is none.
    due: u64,
    onward: OnwardPath,
    loss: Option<LossSource>,
    /// The latest time given.
    now: u64,
}

/// State of the server.
#[derive(Clone, Copy, Debug)]
enum State {
    /// The server waits for a packet.
    Idle,
    /// The server fetches the next packet, which waits already.
    Opening(Opening),
    /// The server serves a packet.
    Serving(PacketInService),
}

/// The packet in service, which is already among the packets in flight, as its departure is known.
#[derive(Clone, Copy, Debug)]
struct PacketInService {
    place: u32,
    slot: Slot,
    /// Start of its service at the present rate.
    since: u64,
    /// Work left on it then, in nanobits.
    left: u64,
}

/// The path from the server to the far end.
#[derive(Clone, Debug)]
struct OnwardPath {
    delay: u64,
    jitter: Option<JitterSource>,
    order: Order,
    /// Whether a packet may come out before one that was sent earlier.
    overtakes: bool,
    /// Exits of the latest packets of each flow.
    last_of_flow: PerFlow<LatestExits>,
    /// Exits of the latest packets of the link.
    last: LatestExits,
    /// Jitter of the packet sent last.
    last_jitter: u64,
    /// Packets in flight, in order of exit.
    in_flight: VecDeque<PacketInFlight>,
}

/// Exits of the latest packet, and of the one before it.
#[derive(Clone, Copy, Debug, Default)]
struct LatestExits {
    exit: u64,
    before: u64,
}

/// A packet between the server and the far end.
#[derive(Clone, Copy, Debug)]
struct PacketInFlight {
    exit: u64,
    place: u32,
}

impl<P: Packet, Q: WaitingPackets> Active<P, Q> {
    /// Creates an idle link from a valid description. `queue` creates its queue, from the server's nominal rate and a
    /// random generator for the queue alone.
    pub(crate) fn new(config: &LinkConfig, seed: u64, queue: impl FnOnce(DataRate, Pcg64) -> Q) -> Self {
        let streams = RandomStreams::new(seed);
        let jitter = JitterSource::new(
            config.jitter.clone(),
            ExtraDelay::of(config.least_delay(), config.delay, &config.changes),
            streams.jitter,
        );
        let onward = OnwardPath {
            delay: nanos(config.least_delay()),
            order: config.order,
            overtakes: config.order != Order::Link && jitter.is_some(),
            jitter,
            last_of_flow: PerFlow::default(),
            last: LatestExits::default(),
            last_jitter: 0,
            in_flight: VecDeque::new(),
        };
        Self {
            server: Server::new(&config.service),
            limits: config.queue.limits(),
            coming: schedule(&config.changes, |change| change.limits),
            records: Records::default(),
            packets: Vec::new(),
            queue: queue(config.service.nominal_rate(), streams.queue),
            state: State::Idle,
            due: NEVER,
            onward,
            loss: LossSource::new(config.loss, schedule(&config.changes, |change| change.loss), streams.loss),
            now: 0,
        }
    }

    /// Puts an arriving packet on the link ([`Link::enqueue`](crate::Link::enqueue)).
    ///
    /// # Errors
    /// [`Dropped`] with the packet and the reason if the link does not take it.
    #[inline]
    pub(crate) fn enqueue(&mut self, now: Time, packet: P) -> Result<(), Dropped<P>> {
        self.advance(latest(self.now, now));
        if let Some(limits) = self.coming.as_mut().and_then(|coming| coming.due(self.now)) {
            self.limits.replace(&limits);
        }
        let size = size_of(&packet);
        let opening = match self.state {
            State::Idle => match self.server.opening(self.now) {
                None => return Err(Dropped { packet, reason: DropReason::DeadLink }),
                opening => opening,
            },
            _ => None,
        };
        // The queue of an idle link is empty: no limit refuses the packet.
        let full = if opening.is_some() { None } else { self.refusal(size) };
        if let Some(reason) = full {
            match self.queue.overflow() {
                Overflow::Tail => return Err(Dropped { packet, reason }),
                Overflow::Head => self.drop_head(size),
                Overflow::Longest => {}
            }
        }
        let place = self.records.insert(LinkRecord {
            arrival: self.now,
            size,
            flow: packet.flow(),
            ecn_capable: packet.is_ecn_capable(),
            l4s: packet.is_l4s(),
            marked: false,
            wait: 0,
        });
        let entered = match opening {
            Some(opening) if opening.start <= self.now => self.pass(place, opening),
            _ => self.queue.enqueue(self.now, place, &mut self.records),
        };
        if let Err(reason) = entered {
            self.records.vacate(place);
            return Err(Dropped { packet, reason });
        }
        match self.packets.get_mut(place as usize) {
            Some(vacant) => *vacant = Some(packet),
            None => self.packets.push(Some(packet)),
        }
        // The longest queue is known only with the new packet in it (RFC 8290 §4.1).
        if let (Some(reason), Overflow::Longest) = (full, self.queue.overflow()) {
            self.queue.make_room(reason, &mut self.records);
        }
        if let (State::Idle, Some(opening), false) = (self.state, opening, self.records.waiting() == 0) {
            self.enter(State::Opening(opening));
        }
        Ok(())
    }

    /// Passes an arriving packet directly to an idle server.
    #[inline]
    fn pass(&mut self, place: u32, opening: Opening) -> Result<(), DropReason> {
        if let Some(place) = self.queue.pass(self.now, place, &mut self.records)? {
            self.serve(place, opening);
        }
        Ok(())
    }

    /// Drops the packets that have waited longest until a packet of `size` bytes fits, or no packet waits.
    fn drop_head(&mut self, size: u32) {
        while let Some(reason) = self.refusal(size) {
            if !self.queue.make_room(reason, &mut self.records) {
                return;
            }
        }
    }

    /// Time in ns at which [`Self::pop`] should next be called; [`NEVER`] if no packet can leave the link.
    #[inline]
    pub(crate) fn next_departure(&self) -> u64 {
        if self.records.has_dropped() {
            return self.now;
        }
        let exit = self.onward.in_flight.front().map_or(NEVER, |first| first.exit);
        exit.min(self.next_decision(exit))
    }

    /// Time at which the server next makes a decision by which a packet could leave the link before `exit`, dropped
    /// or ahead of others; [`NEVER`] if there is none.
    #[inline]
    fn next_decision(&self, exit: u64) -> u64 {
        match self.state {
            State::Idle => NEVER,
            State::Opening(_) => self.due,
            State::Serving(_) => {
                let waits = self.records.waiting() > 0;
                let matters = waits && (self.onward.overtakes || self.queue.may_drop(self.due, exit));
                if matters { self.due } else { NEVER }
            }
        }
    }

    /// The next packet that has left the link by `now`, at the far end or dropped after it was taken.
    #[inline]
    pub(crate) fn pop(&mut self, now: Time) -> Option<Exit<P>> {
        self.advance(latest(self.now, now));
        let (place, fate) = match self.records.next_dropped() {
            Some((place, reason)) => {
                let record = &mut self.records[place];
                record.wait = self.now.saturating_sub(record.arrival);
                (place, Fate::Dropped(reason))
            }
            None => self.arrive()?,
        };
        self.records.vacate(place);
        let LinkRecord { wait, marked, .. } = self.records[place];
        let mut packet = self.packets[place as usize].take()?;
        if marked {
            packet.mark_ce();
        }
        Some(Exit { packet, wait: span(wait), fate, marked })
    }

    /// The next packet at the far end and its fate.
    #[inline]
    fn arrive(&mut self) -> Option<(u32, Fate)> {
        let &PacketInFlight { exit, place } = self.onward.in_flight.front()?;
        if exit > self.now {
            return None;
        }
        self.onward.in_flight.pop_front();
        let record = &mut self.records[place];
        if self.limits.mark_above.is_some_and(|above| span(record.wait) > above) {
            record.mark();
        }
        let lost = self.loss.as_mut().is_some_and(|loss| loss.draw(exit));
        Some((place, if lost { Fate::Lost } else { Fate::Arrived }))
    }

    /// Replaces the service by a constant rate from `now` on. The packet in service continues at the new rate.
    pub(crate) fn set_rate(&mut self, now: Time, rate: DataRate) {
        self.advance(latest(self.now, now));
        let server = ConstantServer::new(rate);
        let mut free_at = self.now;
        if let State::Serving(serving) = &mut self.state {
            let record = &mut self.records[serving.place];
            serving.left = left_of(&self.server, serving, self.now);
            serving.since = self.now;
            serving.slot = server.finish(record.arrival, self.now, serving.left, work(record.size));
            record.wait = serving.slot.wait;
            free_at = serving.slot.departure;
            self.onward.resend(serving.place, free_at, &self.records);
            self.due = free_at;
        }
        self.server = Server::constant(server, free_at);
        if let (State::Opening(_), Some(opening)) = (self.state, self.server.opening(self.now)) {
            self.enter(State::Opening(opening));
            self.advance(self.now);
        }
    }

    pub(crate) fn backlog(&self, now: Time) -> Backlog {
        let now = latest(self.now, now);
        let in_service = self.serving().filter(|serving| serving.slot.departure > now);
        let left = in_service.map_or(0, |serving| left_of(&self.server, serving, now) / NANOBITS_PER_BYTE);
        let packets = self.records.waiting() + usize::from(in_service.is_some());
        Backlog {
            packets: u32::try_from(packets).unwrap_or(u32::MAX),
            bytes: DataSize::from_bytes(self.records.waiting_bytes() + left),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.records.len()
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.records.len() == 0
    }

    pub(crate) fn propagation(&self) -> TimeDelta {
        span(self.onward.delay)
    }

    /// Advances the time: services end, and each time the server fetches the next packet.
    #[inline]
    fn advance(&mut self, now: u64) {
        self.now = now;
        while self.due <= self.now {
            match self.state {
                State::Idle => return,
                State::Opening(opening) => self.fetch(opening),
                State::Serving(_) => self.open(),
            }
        }
    }

    #[inline]
    fn enter(&mut self, state: State) {
        self.due = match &state {
            State::Idle => NEVER,
            State::Opening(opening) => opening.start,
            State::Serving(serving) => serving.slot.departure,
        };
        self.state = state;
    }

    fn serving(&self) -> Option<&PacketInService> {
        match &self.state {
            State::Serving(serving) => Some(serving),
            _ => None,
        }
    }

    /// Computes when the free server can begin with the waiting packets.
    #[inline]
    fn open(&mut self) {
        if self.records.waiting() == 0 {
            return self.enter(State::Idle);
        }
        // From the last departure on: the server has been free and a packet has been waiting since then.
        match self.server.opening(0) {
            Some(opening) => self.enter(State::Opening(opening)),
            None => self.give_up(),
        }
    }

    #[inline]
    fn fetch(&mut self, opening: Opening) {
        while let Some(place) = self.queue.dequeue(opening.start, &mut self.records) {
            if self.serve(place, opening) {
                return;
            }
        }
        self.enter(State::Idle);
    }

    /// Begins the service of a packet; returns `false` if that never ends.
    #[inline]
    fn serve(&mut self, place: u32, opening: Opening) -> bool {
        let record = &mut self.records[place];
        let LinkRecord { arrival, size, .. } = *record;
        let Some(slot) = self.server.serve(arrival, opening, size) else {
            self.records.drop(place, DropReason::DeadLink);
            return false;
        };
        self.server.take(&slot);
        record.wait = slot.wait;
        self.enter(State::Serving(PacketInService { place, slot, since: opening.start, left: work(size) }));
        self.onward.send(place, slot.departure, &self.records);
        true
    }

    /// Drops all waiting packets, because the service has ended for good.
    fn give_up(&mut self) {
        while let Some(place) = self.queue.dequeue(self.now, &mut self.records) {
            self.records.drop(place, DropReason::DeadLink);
        }
        self.enter(State::Idle);
    }

    /// The bytes that the packet in service counts with.
    fn bytes_in_service(&self, serving: &PacketInService) -> u64 {
        if self.limits.in_service == InService::Whole {
            return u64::from(self.records[serving.place].size);
        }
        left_of(&self.server, serving, self.now) / NANOBITS_PER_BYTE
    }

    /// Reason for which a packet of `size` bytes must not enter the queue, or `None`.
    #[inline]
    fn refusal(&mut self, size: u32) -> Option<DropReason> {
        let free = self.limits.in_service == InService::Free;
        let serving = self.serving().filter(|_| !free);
        if let Some(limit) = self.limits.packets {
            let counted = self.records.waiting() + usize::from(serving.is_some());
            if counted >= limit as usize {
                return Some(DropReason::QueuePackets);
            }
        }
        if let Some(limit) = self.limits.bytes(|| self.server.rate_at(self.now)) {
            let left = serving.map_or(0, |s| self.bytes_in_service(s));
            if self.records.waiting_bytes() + left + u64::from(size) > limit {
                return Some(DropReason::QueueBytes);
            }
        }
        let limit = self.limits.time?;
        let bytes = u32::try_from(self.records.waiting_bytes() + u64::from(size)).unwrap_or(u32::MAX);
        let end = self.server.forecast(self.now, bytes);
        let late = end.is_none_or(|end| span(end.saturating_sub(self.now)) > limit);
        late.then_some(DropReason::QueueTime)
    }
}

/// Work left at `now` on the packet in service, in nanobits.
fn left_of(server: &Server, serving: &PacketInService, now: u64) -> u64 {
    server.left(serving.left, serving.since, now, serving.slot.position)
}

impl OnwardPath {
    /// Takes in a packet that is served, with its last bit at `departure`.
    #[inline]
    fn send(&mut self, place: u32, departure: u64, records: &Records) {
        self.last_jitter = self.jitter.as_mut().map_or(0, JitterSource::draw);
        let mut exit = self.undisturbed(departure);
        if let Some(last) = self.last(place, records) {
            last.before = last.exit;
            exit = exit.max(last.before);
            last.exit = exit;
        }
        self.insert_in_flight(exit, place);
    }

    /// Changes the departure of the packet in service, which was sent last.
    fn resend(&mut self, place: u32, departure: u64, records: &Records) {
        if let Some(index) = self.in_flight.iter().rposition(|packet| packet.place == place) {
            self.in_flight.remove(index);
            let mut exit = self.undisturbed(departure);
            if let Some(last) = self.last(place, records) {
                exit = exit.max(last.before);
                last.exit = exit;
            }
            self.insert_in_flight(exit, place);
        }
    }

    /// Time at which the packet sent last would come out if it need not stay behind others.
    #[inline]
    fn undisturbed(&self, departure: u64) -> u64 {
        let extra = self.jitter.as_ref().map_or(0, |source| source.extra(departure));
        departure.saturating_add(self.delay).saturating_add(self.last_jitter).saturating_add(extra)
    }

    /// The exits that packets after the one at `place` must not precede.
    #[inline]
    fn last(&mut self, place: u32, records: &Records) -> Option<&mut LatestExits> {
        match self.order {
            Order::None => None,
            Order::Link => Some(&mut self.last),
            Order::Flow => Some(self.last_of_flow.entry(records[place].flow, LatestExits::default)),
        }
    }

    #[inline]
    fn insert_in_flight(&mut self, exit: u64, place: u32) {
        if self.in_flight.back().is_none_or(|latest| latest.exit <= exit) {
            self.in_flight.push_back(PacketInFlight { exit, place });
        } else {
            // Jitter lets a packet overtake few others.
            let behind = self.in_flight.iter().rev().take_while(|other| other.exit > exit).count();
            self.in_flight.insert(self.in_flight.len() - behind, PacketInFlight { exit, place });
        }
    }
}
