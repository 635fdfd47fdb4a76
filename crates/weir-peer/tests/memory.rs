//! Hostile packets cost no memory.
#![expect(unsafe_code, reason = "a global allocator that counts is an unsafe trait")]

#[expect(dead_code, reason = "the rig of the other tests, of which a part is needed")]
#[path = "peer/rig.rs"]
mod rig;

use std::alloc::{GlobalAlloc, Layout, System};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicI64, Ordering};

use rig::{CALLER, Flying, INSIDE, LISTENER, Rig, address, inside, keyed};
use weir_cc::{Ecn, TimeDelta};
use weir_net::Time;
use weir_peer::end::{EndPhase, IncomingDatagram, PeerEnd};
use weir_peer::handshake::{CallerOutcome, HelloCaller};
use weir_peer::keys::KeyRing;
use weir_peer::message::HELLO_LENGTH;
use weir_peer::offer::SessionTerms;
use weir_peer::random::{RandomBytes as _, RepeatableRandom};

struct CountedBytes;

/// Bytes in use that an end has allocated.
static OWN: [AtomicI64; 2] = [AtomicI64::new(0), AtomicI64::new(0)];

fn count(bytes: i64) {
    if let Some(end) = INSIDE.get() {
        OWN[end].fetch_add(bytes, Ordering::Relaxed);
    }
}

// SAFETY: every call is passed to the system's allocator unchanged.
unsafe impl GlobalAlloc for CountedBytes {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as i64);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-(layout.size() as i64));
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: CountedBytes = CountedBytes;

fn own_bytes() -> [i64; 2] {
    [CALLER, LISTENER].map(|end| OWN[end].load(Ordering::Relaxed))
}

/// Hostile packets at each end: a hundredth of the full number unless `WEIR_LONG` is set.
fn packets() -> u64 {
    if std::env::var_os("WEIR_LONG").is_some() { 10_000_000 } else { 100_000 }
}

/// Hostile packets after which the memory is what it stays.
const EARLY: u64 = 10_000;
/// Time over which they come: the key of cookies changes twice.
const SPAN: TimeDelta = TimeDelta::from_secs(150);
/// Time after which an undisturbed session allocates no more.
const SETTLED: Time = Time::from_millis(90_000);
/// Time after which a packet has arrived.
const ARRIVED: TimeDelta = TimeDelta::from_millis(500);

/// Makes hostile packets of real ones.
struct HostilePackets {
    random: RepeatableRandom,
    made: u64,
    bytes: Vec<u8>,
}

impl HostilePackets {
    fn new() -> Self {
        Self { random: RepeatableRandom::new(6), made: 0, bytes: Vec::with_capacity(2048) }
    }

    fn below(&mut self, count: usize) -> usize {
        self.random.next_bits() as usize % count
    }

    /// The number of packets that have come `since` their begin.
    fn due(since: TimeDelta) -> u64 {
        (packets() as f64 * (since.secs_f64() / SPAN.secs_f64()).min(1.0)) as u64
    }

    /// The next packet, made of one of `real`, and the host and port from which it comes.
    fn next(&mut self, real: &[Vec<u8>]) -> SocketAddr {
        let place = self.below(real.len());
        self.bytes.clear();
        self.bytes.extend_from_slice(&real[place]);
        let (number, length) = (self.made, self.bytes.len());
        self.made += 1;
        match number / 2 % 5 {
            // Replayed ones.
            0 => {}
            1 => {
                let place = self.below(length);
                self.bytes[place] ^= 1 << self.below(8);
            }
            2 => {
                let length = self.below(length);
                self.bytes.truncate(length);
            }
            3 => self.random.fill(&mut self.bytes),
            // Of any address.
            _ => return address(self.random.next_bits() as u8, self.random.next_bits() as u16),
        }
        [address(1, 40_000), address(2, 5004)][(number % 2) as usize]
    }
}

/// The first packets of an end, which are those of the handshake, and others of `seen`.
fn real_packets(rig: &Rig, sender: usize, seen: &[Flying]) -> Vec<Vec<u8>> {
    let first = rig.first[sender].iter().take(2);
    first.chain(seen).map(|packet| packet.bytes.clone()).collect()
}

/// A session of which each end gets hostile packets while time passes: copies only of packets that have arrived, as others
/// would change the session. Then both get copies of all packets at one moment.
fn in_a_session() {
    let mut rig = Rig::gcc(&keyed(), 2500);
    rig.run_until(SETTLED);
    let mut hostile = HostilePackets::new();
    let mut real = [Vec::new(), Vec::new()];
    let mut early = None;
    rig.run(SETTLED + SPAN, |rig| {
        if rig.now.nanos() % 1_000_000_000 == 0 {
            let old = |seen: &[Flying]| seen.partition_point(|packet| packet.at + ARRIVED < rig.now);
            real = [CALLER, LISTENER].map(|sender| {
                let seen = &rig.seen[sender];
                real_packets(rig, sender, &seen[..old(seen)])
            });
        }
        while hostile.made < HostilePackets::due(rig.now - SETTLED) && !real[CALLER].is_empty() {
            let sender = hostile.made as usize / 10 % 2;
            let from = hostile.next(&real[sender]);
            rig.inject(1 - sender, from, &hostile.bytes);
            if hostile.made == EARLY {
                early = Some(own_bytes());
            }
        }
    });
    assert!(rig.is_running());
    assert_eq!((hostile.made, Some(own_bytes())), (packets(), early), "in a session");

    let real = [CALLER, LISTENER].map(|sender| real_packets(&rig, sender, &rig.seen[sender]));
    let mut after = [own_bytes(); 2];
    for bytes in &mut after {
        for number in 0..EARLY as usize {
            let sender = number / 10 % 2;
            let from = hostile.next(&real[sender]);
            rig.inject(1 - sender, from, &hostile.bytes);
        }
        *bytes = own_bytes();
    }
    assert_eq!(after[0], after[1], "at one moment");
}

/// A listener without a session, and callers of any address, who prove that they get its answers and leave.
fn while_listening() {
    let before = own_bytes();
    let config = rig::config(KeyRing::open(), None);
    let mut end =
        inside(LISTENER, || PeerEnd::listen(Time::ZERO, config, Box::new(RepeatableRandom::new(9))));
    let mut hostile = HostilePackets::new();
    let (mut now, mut early, mut proved) = (Time::ZERO, before, 0);
    let mut real = vec![vec![0; HELLO_LENGTH]];
    let flows = rig::plan("gcc", 1, [50, 300, 1000]).flows;
    let flows = flows.into_iter().map(|flow| flow.offered).collect();
    let terms = SessionTerms { flows, ..SessionTerms::default() };
    while hostile.made < packets() {
        now += SPAN / packets() as i64;
        let from = hostile.next(&real);
        exchange(&mut end, now, from, &hostile.bytes, |_| {});
        if hostile.made.is_multiple_of(100) {
            let mut nonce = [0; 16];
            hostile.random.fill(&mut nonce);
            let mut caller = HelloCaller::new(now, &KeyRing::open(), nonce, terms.clone());
            let from = SocketAddr::new(from.ip(), from.port().max(1));
            for _ in 0..2 {
                let mut hello = Vec::new();
                caller.poll(caller.next_wake(), &mut hello);
                exchange(&mut end, now, from, &hello, |answer| {
                    let outcome = caller.on_datagram(now, answer);
                    proved += u64::from(matches!(outcome, CallerOutcome::Accepted(_)));
                });
                real.push(hello);
            }
            real.drain(..real.len().saturating_sub(16));
        }
        if hostile.made == EARLY {
            early = own_bytes();
        }
    }
    assert_eq!((proved, end.phase()), (packets() / 100, EndPhase::Waiting));
    assert_eq!(own_bytes(), early, "while listening");
    inside(LISTENER, || drop(end));
}

/// Puts a datagram into the socket of the listener `end`, and reads its answers.
fn exchange(end: &mut PeerEnd, now: Time, from: SocketAddr, bytes: &[u8], mut on_answer: impl FnMut(&[u8])) {
    let datagram = IncomingDatagram { at: now, from, ecn: Ecn::NotEct, bytes };
    inside(LISTENER, || end.on_datagram(now, datagram));
    while let Some(answer) = inside(LISTENER, || end.poll()) {
        on_answer(answer.bytes);
    }
}

// One test: others at the same time would allocate, too.
#[test]
fn hostile_packets_cost_no_memory() {
    while_listening();
    in_a_session();
}
