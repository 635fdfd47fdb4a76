//! Hostile packets cost no memory.
#![expect(unsafe_code, reason = "a global allocator that counts is an unsafe trait")]

#[expect(dead_code, reason = "the rig of the other tests, of which a part is needed")]
#[path = "peer/rig.rs"]
mod rig;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicI64, Ordering};

use rig::{CALLER, LISTENER, Rig, address, keyed};
use weir_cc::Ecn;
use weir_net::Time;
use weir_peer::end::{EndConfig, EndPhase, IncomingDatagram, PeerEnd};
use weir_peer::random::{RandomBytes as _, RepeatableRandom};

struct CountedBytes;

static LIVE: AtomicI64 = AtomicI64::new(0);

// SAFETY: every call is passed to the system's allocator unchanged.
unsafe impl GlobalAlloc for CountedBytes {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LIVE.fetch_add(layout.size() as i64, Ordering::Relaxed);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size() as i64, Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: CountedBytes = CountedBytes;

/// Hostile packets at each end: a hundredth of the full number unless `WEIR_LONG` is set.
fn count() -> u64 {
    if std::env::var_os("WEIR_LONG").is_some() { 10_000_000 } else { 100_000 }
}

const EARLY: u64 = 10_000;

/// Feeds `end` hostile packets made of `real` ones; the memory in use after [`EARLY`] of them, and after all.
fn feed(end: &mut PeerEnd, real: &[Vec<u8>], now: Time) -> [i64; 2] {
    let mut random = RepeatableRandom::new(6);
    let mut bytes = Vec::with_capacity(2048);
    let mut early = 0;
    for number in 0..count() {
        if number == EARLY {
            early = LIVE.load(Ordering::Relaxed);
        }
        bytes.clear();
        bytes.extend_from_slice(&real[random.next_bits() as usize % real.len()]);
        let mut from = address(1 + (number % 2) as u8, [40_000, 5004][(number % 2) as usize]);
        match number % 5 {
            // Replayed ones.
            0 => {}
            1 => {
                let place = random.next_bits() as usize % bytes.len();
                bytes[place] ^= 1 << (random.next_bits() % 8);
            }
            2 => bytes.truncate(random.next_bits() as usize % bytes.len()),
            3 => random.fill(&mut bytes),
            // Of any address.
            _ => from = address(random.next_bits() as u8, random.next_bits() as u16),
        }
        end.on_datagram(now, IncomingDatagram { at: now, from, ecn: Ecn::NotEct, bytes: &bytes });
        while end.poll().is_some() {}
    }
    [early, LIVE.load(Ordering::Relaxed)]
}

// One test: others at the same time would allocate, too.
#[test]
fn hostile_packets_cost_no_memory() {
    let mut rig = Rig::gcc(&keyed(), 2500);
    rig.run_until(Time::from_millis(5000));
    assert!(rig.is_running());
    let now = rig.now;
    for (end, sender) in [(LISTENER, CALLER), (CALLER, LISTENER)] {
        let real: Vec<Vec<u8>> = rig.seen[sender].iter().map(|packet| packet.bytes.clone()).collect();
        let [early, late] = feed(&mut rig.ends[end], &real, now);
        assert_eq!(late - early, 0, "end {end} in a session");
    }
    let hellos: Vec<Vec<u8>> = rig.seen[CALLER][..2].iter().map(|packet| packet.bytes.clone()).collect();
    let config: EndConfig = rig::config(keyed(), None);
    let mut waiting = PeerEnd::listen(now, config, Box::new(RepeatableRandom::new(9)));
    let [early, late] = feed(&mut waiting, &hellos, now);
    assert_eq!((late - early, waiting.phase()), (0, EndPhase::Waiting));
}
