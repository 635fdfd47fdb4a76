//! Cost of a packet in per-packet feedback, in nanoseconds: written and read, as transport-wide feedback and as
//! that of RFC 8888.
//!
//! The minimum over 15 rounds is printed: other processes can only slow a round.

use std::hint::black_box;

use weir_wire::rtcp::{Ccfb, Message, MetricBlock, Twcc, TwccHeader, messages};

const ROUNDS: u32 = 15;
/// Messages in each round: few enough that a round lasts less than a time slice.
const MESSAGES: u32 = 1000;
/// Packets in a message: 10 Mbit/s in packets of 1200 bytes, reported each 100 ms.
const PACKETS: usize = 104;

/// Arrival times of packets in ns: each 960 µs on average, with up to 2 ms of jitter that reorders them only if
/// `reordered`. A packet in `one_lost_of` is lost.
fn arrivals(one_lost_of: u64, reordered: bool) -> Vec<Option<i64>> {
    let mut state = 1_u64;
    let mut random = |below| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let mut newest = 0;
    (0..PACKETS as i64)
        .map(|n| {
            let own = n * 960_000 + random(2_000_000) as i64;
            newest = own.max(newest);
            let at = if reordered { own } else { newest };
            (random(one_lost_of) > 0).then_some(at)
        })
        .collect()
}

fn write_transport_wide(arrivals: &[Option<i64>], number: u8, bytes: &mut [u8]) -> usize {
    let header = TwccHeader { ssrc: 2, source: 1, base_sequence: 65_500, number };
    Twcc::write(&header, arrivals.iter().copied(), bytes).map_or(0, |written| written.length)
}

/// Writes a message of RFC 8888 with these arrivals in ns. Returns its length.
fn write_rfc_8888(arrivals: &[Option<i64>], number: u8, bytes: &mut [u8]) -> usize {
    let metric = |arrival: &Option<i64>| {
        arrival.map(|at| MetricBlock { ecn: 0, offset: MetricBlock::offset_from_nanos(105_000_000 - at) })
    };
    Ccfb::write(2, u32::from(number), 1, 65_500, arrivals.iter().map(metric), bytes).unwrap_or(0)
}

/// The sum of the arrival times in a message.
fn read(bytes: &[u8]) -> i64 {
    let mut sum = 0;
    for message in messages(bytes) {
        match message {
            Ok(Message::Twcc(feedback)) => {
                sum += feedback.statuses().filter_map(|(_, reception)| reception.nanos()).sum::<i64>();
            }
            Ok(Message::Ccfb(feedback)) => {
                let metrics = feedback.blocks().flat_map(|block| block.metrics());
                let offsets = metrics.filter_map(|(_, metric)| metric.and_then(MetricBlock::offset_nanos));
                sum += offsets.sum::<i64>();
            }
            _ => {}
        }
    }
    sum
}

/// Nanoseconds per reported packet of the fastest round.
#[expect(clippy::disallowed_methods, reason = "a benchmark measures wall-clock time")]
fn nanos_per_packet(mut message: impl FnMut(u8)) -> f64 {
    let rounds = (0..ROUNDS).map(|_| {
        let begin = std::time::Instant::now();
        (0..MESSAGES).for_each(|number| message(number as u8));
        begin.elapsed().as_nanos() as f64 / (f64::from(MESSAGES) * PACKETS as f64)
    });
    rounds.fold(f64::INFINITY, f64::min)
}

fn main() {
    type Write = fn(&[Option<i64>], u8, &mut [u8]) -> usize;
    let formats: [(&str, Write); 2] =
        [("transport-wide", write_transport_wide), ("RFC 8888", write_rfc_8888)];
    for (case, one_lost_of, reordered) in
        [("in order", u64::MAX, false), ("10 % lost", 10, false), ("out of order", u64::MAX, true)]
    {
        let arrivals = arrivals(one_lost_of, reordered);
        for (name, write) in formats {
            let mut bytes = [0; 1200];
            let length = write(&arrivals, 0, &mut bytes);
            let written = nanos_per_packet(|number| {
                black_box(write(black_box(&arrivals), number, &mut bytes));
            });
            let read = nanos_per_packet(|_| {
                black_box(read(black_box(&bytes[..length])));
            });
            println!(
                "{name:<15} {case:<13} {length:4} bytes, written {written:4.1}, read {read:4.1} ns per packet"
            );
        }
    }
}
