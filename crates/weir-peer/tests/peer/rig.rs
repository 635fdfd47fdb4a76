//! Two ends over simulated links, in simulated time, with an attacker beside.

use std::cell::Cell;
use std::net::SocketAddr;

use weir_cc::{DataRate, DataSize, Ecn, RateLimits, TimeDelta};
use weir_live::clock::{Reading, StampTranslator};
use weir_media::{EncoderConfig, MediaConfig};
use weir_net::{LinkConfig, Path, QueueConfig, Sent, Service, Time};
use weir_peer::end::{EndConfig, EndPhase, IncomingDatagram, PeerEnd};
use weir_peer::hosts::{PlannedFlow, SendPlan};
use weir_peer::keys::{KeyRing, SharedKey};
use weir_peer::offer::{OfferedFlow, OfferedMedia, ReceiveCeilings};
use weir_peer::random::RepeatableRandom;
use weir_registry::Registry;
use weir_world::{FlowSpec, MediaSpec, Traffic};

/// Time between two samples of the target.
pub(crate) const SAMPLE: TimeDelta = TimeDelta::from_millis(50);

thread_local! {
    /// The end whose code runs.
    pub(crate) static INSIDE: Cell<Option<usize>> = const { Cell::new(None) };
}

/// Runs code of an end, whose memory is counted then.
pub(crate) fn inside<T>(end: usize, code: impl FnOnce() -> T) -> T {
    INSIDE.set(Some(end));
    let result = code();
    INSIDE.set(None);
    result
}

/// A datagram on its way, with the address of its sender.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Flying {
    /// Time at which it was sent.
    pub(crate) at: Time,
    pub(crate) from: SocketAddr,
    pub(crate) to: SocketAddr,
    pub(crate) ecn: Ecn,
    pub(crate) bytes: Vec<u8>,
}

/// The ends, as places in the lists of the rig.
pub(crate) const CALLER: usize = 0;
pub(crate) const LISTENER: usize = 1;

/// Two ends and their path.
pub(crate) struct Rig {
    pub(crate) now: Time,
    pub(crate) ends: [PeerEnd; 2],
    /// The addresses at which the ends are seen, which a translator may change.
    pub(crate) addresses: [SocketAddr; 2],
    path: Path<Flying, Flying>,
    /// Time until which an end is suspended; packets wait at its socket.
    pub(crate) asleep: [Time; 2],
    waiting: [Vec<(Time, Flying)>; 2],
    /// Target of the first flow each [`SAMPLE`], by the end that sends it.
    pub(crate) targets: Vec<DataRate>,
    sender: usize,
    /// The last packets of each end.
    pub(crate) seen: [Vec<Flying>; 2],
    /// The first packets of each end.
    pub(crate) first: [Vec<Flying>; 2],
    /// Datagrams that ends have sent.
    pub(crate) sent: [u64; 2],
    /// Wall clocks of the ends, by which the kernel stamps packets; without them a packet is read as it arrives.
    walls: Option<[WallClock; 2]>,
}

/// A wall clock, and the packets that it has stamped.
struct WallClock {
    stamps: StampTranslator,
    /// Time by which it is ahead of 2026 and the monotonic clock, in ns.
    ahead: i64,
    stamped: Vec<(Flying, i64)>,
}

impl WallClock {
    const YEAR_2026: i64 = 1_780_000_000_000_000_000;

    fn new() -> Self {
        let first = Reading { monotonic: 0, wall: Self::YEAR_2026 };
        Self { stamps: StampTranslator::new(first), ahead: 0, stamped: Vec::new() }
    }

    fn read(&self, now: Time) -> i64 {
        Self::YEAR_2026 + now.nanos() as i64 + self.ahead
    }
}

pub(crate) fn address(host: u8, port: u16) -> SocketAddr {
    ([192, 0, 2, host], port).into()
}

pub(crate) fn key(number: u8) -> SharedKey {
    SharedKey::new(&[number; 32]).expect("long enough")
}

pub(crate) fn keyed() -> KeyRing {
    KeyRing::new(key(7), None)
}

/// A flow of `kbps` without congestion control, in packets of 500 bytes.
pub(crate) fn constant_plan(kbps: u64) -> SendPlan {
    let rate = DataRate::from_kbps(kbps);
    let traffic = Traffic::Constant { rate, packet_size: DataSize::from_bytes(500) };
    let flow = PlannedFlow { spec: FlowSpec::new("constant", traffic), offered: OfferedFlow::Constant(rate) };
    SendPlan { flows: vec![flow], couplings: Vec::new(), seed: 1 }
}

/// `count` flows under `controller` with these bounds in kbit/s.
pub(crate) fn plan(controller: &str, count: usize, [min, start, max]: [u64; 3]) -> SendPlan {
    let kbps = DataRate::from_kbps;
    let limits = RateLimits::new(kbps(min), kbps(start), kbps(max)).expect("in order");
    let registry = Registry::standard();
    let flow = |number: usize| {
        let packet_format = registry.packet_format(controller).unwrap_or_default();
        let encoder = EncoderConfig { max_rate: kbps(max), ..EncoderConfig::papers() };
        let config = MediaConfig { packet_format, leave_out: None, ..MediaConfig::new(limits, encoder) };
        let sender = registry.build_sender(controller, None, limits, 1.0).expect("a controller");
        let media = MediaSpec { sender: Some(sender), receiver: None, config };
        let spec = FlowSpec::new(&format!("flow-{number}"), Traffic::Media(media)).in_call(0);
        let controller = controller.to_owned();
        let offered = OfferedMedia { controller, options: String::new(), limits, config };
        PlannedFlow { spec, offered: OfferedFlow::Media(Box::new(offered)) }
    };
    SendPlan { flows: (0..count).map(flow).collect(), couplings: Vec::new(), seed: 1 }
}

/// The configuration of an end that sends `plan`, or receives without one.
pub(crate) fn config(keys: KeyRing, plan: Option<SendPlan>) -> EndConfig {
    let receives = plan.is_none();
    EndConfig {
        keys,
        registry: Registry::standard(),
        plan,
        receives,
        ceilings: ReceiveCeilings::default(),
        duration: None,
        bytes: None,
        record: false,
    }
}

impl Rig {
    /// A caller and a listener over a link of `kbps` with 25 ms of delay each way and 200 ms of queue.
    pub(crate) fn new(kbps: u64, caller: EndConfig, listener: EndConfig) -> Self {
        let queue = QueueConfig { limit_time: Some(TimeDelta::from_millis(200)), ..QueueConfig::default() };
        let delay = TimeDelta::from_millis(25);
        let service = Service::Constant(DataRate::from_kbps(kbps));
        let link = LinkConfig { queue, ..LinkConfig::new(service, delay) };
        let addresses = [address(1, 40_000), address(2, 5004)];
        let sender = if caller.plan.is_some() { CALLER } else { LISTENER };
        let ends = [
            PeerEnd::call(Time::ZERO, addresses[LISTENER], caller, Box::new(RepeatableRandom::new(1))),
            PeerEnd::listen(Time::ZERO, listener, Box::new(RepeatableRandom::new(2))),
        ];
        let mut rig = Self {
            now: Time::ZERO,
            ends,
            addresses,
            path: Path::new(&link, 1, delay).expect("a link"),
            asleep: [Time::ZERO; 2],
            waiting: [Vec::new(), Vec::new()],
            targets: Vec::new(),
            sender,
            seen: [Vec::new(), Vec::new()],
            first: [Vec::new(), Vec::new()],
            sent: [0; 2],
            walls: None,
        };
        rig.flush();
        rig
    }

    /// A call of one `gcc` flow up to `max` kbit/s over 1 Mbit/s.
    pub(crate) fn gcc(keys: &KeyRing, max: u64) -> Self {
        let caller = config(keys.clone(), Some(plan("gcc", 1, [50, 300, max])));
        Self::new(1000, caller, config(keys.clone(), None))
    }

    /// Lets the listener begin anew, as a process that was started again.
    pub(crate) fn restart_listener(&mut self, listener: EndConfig, seed: u64) {
        let random = Box::new(RepeatableRandom::new(seed));
        self.waiting[LISTENER].clear();
        self.asleep[LISTENER] = self.now;
        self.ends[LISTENER] = PeerEnd::listen(self.now, listener, random);
    }

    /// Lets the kernels of both ends stamp packets by wall clocks, which are read up to a millisecond later.
    pub(crate) fn stamp_packets(&mut self) {
        self.walls = Some([WallClock::new(), WallClock::new()]);
    }

    /// Sets both wall clocks forward, or back.
    pub(crate) fn step_walls(&mut self, by: TimeDelta) {
        self.walls.iter_mut().flatten().for_each(|wall| wall.ahead += by.nanos());
    }

    /// Reads the packets that have been stamped.
    fn read_stamped(&mut self) {
        for end in [CALLER, LISTENER] {
            let now = self.now.nanos() as i64;
            let Some(wall) = self.walls.as_mut().map(|walls| &mut walls[end]) else { return };
            wall.stamps.observe(Reading { monotonic: now, wall: wall.read(self.now) });
            for (datagram, stamp) in core::mem::take(&mut wall.stamped) {
                let at = Time::from_nanos(wall.stamps.translate(stamp, now) as u64);
                let Flying { from, ecn, bytes, .. } = &datagram;
                let incoming = IncomingDatagram { at, from: *from, ecn: *ecn, bytes };
                inside(end, || self.ends[end].on_datagram(self.now, incoming));
            }
        }
        self.flush();
    }

    /// Puts a datagram into an end's socket, past the path.
    pub(crate) fn inject(&mut self, end: usize, from: SocketAddr, bytes: &[u8]) {
        let datagram =
            Flying { at: self.now, from, to: self.addresses[end], ecn: Ecn::NotEct, bytes: bytes.to_vec() };
        self.deliver(end, self.now, datagram);
        self.flush();
    }

    /// Runs until `until`, and calls `attack` each millisecond.
    pub(crate) fn run(&mut self, until: Time, mut attack: impl FnMut(&mut Self)) {
        while self.now < until {
            let tick = self.now + TimeDelta::from_millis(1);
            self.pass(tick.min(until));
            attack(self);
            self.read_stamped();
        }
    }

    /// Runs undisturbed until `until`.
    pub(crate) fn run_until(&mut self, until: Time) {
        self.run(until, |_| {});
    }

    fn pass(&mut self, until: Time) {
        loop {
            let wakes =
                [CALLER, LISTENER].map(|end| self.ends[end].next_wake().max(self.asleep[end]).max(self.now));
            let path = self.path.next_event().unwrap_or(Time::MAX).max(self.now);
            let next = wakes[0].min(wakes[1]).min(path);
            if next > until {
                break;
            }
            self.advance(next);
            while let Some(arrived) = self.path.arrival(next) {
                self.arrive(arrived.packet);
            }
            while let Some(answer) = self.path.answered(next) {
                self.arrive(answer);
            }
            for end in [CALLER, LISTENER] {
                self.wake_up(end);
                if self.now >= self.asleep[end] && self.ends[end].next_wake() <= next {
                    inside(end, || self.ends[end].on_timeout(next));
                }
            }
            self.flush();
        }
        self.advance(until);
        for end in [CALLER, LISTENER] {
            self.wake_up(end);
        }
        self.flush();
    }

    fn advance(&mut self, to: Time) {
        self.now = self.now.max(to);
        while Time::ZERO + SAMPLE * (self.targets.len() as i64) <= self.now {
            let sent = self.ends[self.sender].sent();
            self.targets.push(sent.first().map_or(DataRate::ZERO, |flow| flow.target));
        }
    }

    /// An end that was suspended reads its socket first.
    fn wake_up(&mut self, end: usize) {
        if self.now >= self.asleep[end] {
            for (at, datagram) in core::mem::take(&mut self.waiting[end]) {
                self.deliver(end, at, datagram);
            }
        }
    }

    /// A datagram reaches the end that has its address now.
    fn arrive(&mut self, datagram: Flying) {
        let Some(end) = self.addresses.iter().position(|&address| address == datagram.to) else { return };
        self.deliver(end, self.now, datagram);
    }

    /// A datagram that arrived at `at` is read, unless the end is suspended.
    fn deliver(&mut self, end: usize, at: Time, datagram: Flying) {
        if self.now < self.asleep[end] {
            self.waiting[end].push((at, datagram));
            return;
        }
        if let Some(wall) = self.walls.as_mut().map(|walls| &mut walls[end]) {
            let stamp = wall.read(self.now);
            wall.stamped.push((datagram, stamp));
            return;
        }
        let Flying { from, ecn, bytes, .. } = &datagram;
        let incoming = IncomingDatagram { at, from: *from, ecn: *ecn, bytes };
        inside(end, || self.ends[end].on_datagram(self.now, incoming));
    }

    fn flush(&mut self) {
        for end in [CALLER, LISTENER] {
            while let Some(datagram) = inside(end, || self.ends[end].poll()) {
                let flying = Flying {
                    at: self.now,
                    from: self.addresses[end],
                    to: datagram.to,
                    ecn: datagram.ecn,
                    bytes: datagram.bytes.to_vec(),
                };
                self.sent[end] += 1;
                if self.first[end].len() < 8 {
                    self.first[end].push(flying.clone());
                }
                let seen = &mut self.seen[end];
                if seen.len() == 2000 {
                    seen.remove(0);
                }
                seen.push(flying.clone());
                if end == self.sender {
                    let size = DataSize::from_bytes(flying.bytes.len() as u64 + 28);
                    // A full queue drops it.
                    let _dropped = self.path.send(self.now, Sent::new(flying, size));
                } else {
                    self.path.answer(self.now, flying);
                }
            }
        }
    }

    /// A packet of `sender` that has arrived long ago, another one for each `turn`.
    pub(crate) fn old_packet(&self, sender: usize, turn: usize) -> Option<Flying> {
        let seen = &self.seen[sender];
        let old = seen.partition_point(|packet| packet.at + TimeDelta::from_millis(500) < self.now);
        seen.get(turn.checked_rem(old)?).cloned()
    }

    /// Both ends are in the session.
    pub(crate) fn is_running(&self) -> bool {
        self.ends.iter().all(|end| end.phase() == EndPhase::Running)
    }

    /// Bytes that the receiving end has received of the first flow.
    pub(crate) fn received(&mut self) -> u64 {
        let receiver = 1 - self.sender;
        self.ends[receiver].received().first().map_or(0, |(_, figures)| figures.bytes)
    }
}

/// The largest ratio of the targets of `other` to those of `undisturbed` at the same moments.
pub(crate) fn worst_ratio(undisturbed: &[DataRate], other: &[DataRate]) -> f64 {
    let pairs = undisturbed.iter().zip(other).filter(|(own, _)| !own.is_zero());
    pairs.map(|(own, other)| other.bps_f64() / own.bps_f64()).fold(0.0, f64::max)
}
