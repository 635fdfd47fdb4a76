//! Cost of many endpoints that carry an application's packets: memory and processor time of each, the figures of
//! `docs/performance.md`.
//!
//! A thousand endpoints under `gcc` send three streams with retransmissions at 2 Mbit/s for ten seconds, to receivers
//! with transport-wide feedback each 50 ms. Processor time is that of the sending ends alone, after the first five
//! seconds; memory is what they hold then, with the payloads of a second.
#![expect(unsafe_code, reason = "a global allocator that counts is an unsafe trait")]
#![expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

use weir_cc::{ArrivalTime, DataRate, Ecn, RateLimits, SendTime};
use weir_media::receiving::{IncomingStream, ReceivingConfig, ReceivingEndpoint};
use weir_media::{Endpoint, EndpointConfig, PacketMeta, PayloadHandle, StreamConfig, StreamId};
use weir_scenario::registry::Registry;

const ENDPOINTS: usize = 1000;
const STREAMS: u32 = 3;
const SECONDS: i64 = 10;
/// Second from which on time is measured.
const MEASURED_FROM: i64 = 5;
/// Packets of each endpoint in a frame of 33 ms, and their payload: 2 Mbit/s.
const PACKETS: u32 = 7;
const PAYLOAD: u16 = 1178;

struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is passed to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        NOW.fetch_add(layout.size(), Relaxed);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// A sending end with the receiver at its far end.
struct Pair {
    sender: Endpoint<PayloadHandle>,
    streams: Vec<StreamId>,
    receiver: ReceivingEndpoint,
}

impl Pair {
    fn new(number: u64) -> Self {
        let kbps = DataRate::from_kbps;
        let limits = RateLimits::new(kbps(50), kbps(2000), kbps(2500)).expect("in order");
        let controller =
            Registry::standard().build_by_packets("gcc", None, limits, 1.0).expect("a controller");
        let mut sender = Endpoint::new(controller, EndpointConfig::new(limits), number);
        let mut receiver = ReceivingEndpoint::new(ReceivingConfig::new(9)).expect("valid");
        let streams = (1..=STREAMS).map(|ssrc| {
            receiver.add_stream(IncomingStream::new(ssrc, 90_000)).expect("another source");
            sender.add_stream(StreamConfig::video(ssrc, 96).with_retransmissions(ssrc + 10, 97))
        });
        let streams = streams.map(|stream| stream.expect("another source")).collect();
        Self { sender, streams, receiver }
    }

    /// One step; the time that the sending end took, and its packets.
    fn step(&mut self, now: SendTime, frame: bool, out: &mut [u8], wire: &mut Vec<u8>) -> (Duration, u64) {
        let arrival = ArrivalTime::from_nanos(now.nanos());
        let mut taken = Duration::ZERO;
        while let Some(length) = self.receiver.poll_report(arrival, out) {
            let begin = Instant::now();
            self.sender.on_rtcp(now, &out[..length]).expect("time goes on");
            taken += begin.elapsed();
        }
        let begin = Instant::now();
        if frame {
            for packet in 0..PACKETS {
                let stream = self.streams[(packet % STREAMS) as usize];
                let payload = PayloadHandle { place: 0, size: PAYLOAD };
                self.sender
                    .queue(now, stream, payload, PacketMeta::new(0, packet + 1 == PACKETS))
                    .expect("room");
            }
        }
        self.sender.on_timeout(now).expect("time goes on");
        wire.clear();
        let mut packets = 0;
        while let Some(departure) = self.sender.poll_packet(now, out).expect("room") {
            wire.extend_from_slice(&(departure.length as u16).to_le_bytes());
            wire.extend_from_slice(&out[..departure.length]);
            packets += 1;
        }
        while self.sender.poll_rtcp(now, out).expect("time goes on").is_some() {}
        while self.sender.poll_event().is_some() {}
        taken += begin.elapsed();
        let mut rest = &wire[..];
        while let Some((length, behind)) = rest.split_first_chunk::<2>() {
            let (packet, behind) = behind.split_at(usize::from(u16::from_le_bytes(*length)));
            _ = self.receiver.on_packet(arrival, packet, Ecn::NotEct);
            rest = behind;
        }
        (taken, packets)
    }
}

fn main() {
    let (mut out, mut wire) = (vec![0; 1500], Vec::with_capacity(1 << 16));
    let mut pairs: Vec<Pair> = (0..ENDPOINTS as u64).map(Pair::new).collect();
    let (mut taken, mut packets) = (Duration::ZERO, 0);
    for ms in 0..SECONDS * 1000 {
        let now = SendTime::from_millis(ms);
        for pair in &mut pairs {
            let (time, left) = pair.step(now, ms % 33 == 0, &mut out, &mut wire);
            if ms >= MEASURED_FROM * 1000 {
                (taken, packets) = (taken + time, packets + left);
            }
        }
    }
    let with_senders = NOW.load(Relaxed);
    let receivers: Vec<ReceivingEndpoint> = pairs.into_iter().map(|pair| pair.receiver).collect();
    let bytes = (with_senders - NOW.load(Relaxed)) / ENDPOINTS;
    let seconds = (SECONDS - MEASURED_FROM) as f64;
    println!(
        "{} endpoints, {STREAMS} streams each, 2 Mbit/s, a call of {} receivers",
        ENDPOINTS,
        receivers.len()
    );
    println!("memory of an endpoint: {} kB", bytes / 1000);
    println!(
        "processor time of an endpoint: {:.3} % of a core",
        taken.as_secs_f64() / seconds / ENDPOINTS as f64 * 100.0
    );
    println!("processor time of a packet: {:.0} ns", taken.as_nanos() as f64 / packets as f64);
}
