//! Cost of one packet on a link, in nanoseconds: enqueue, next departure and pop of a 64-byte value, and of one of
//! 16 bytes as the simulator's.
//!
//! The minimum over 15 rounds is printed: other processes can only slow a round. An argument selects the links
//! whose name contains it.

use std::hint::black_box;
use std::sync::Arc;

use weir_net::{
    CoDel, Discipline, DualPi2, FqCoDel, InService, Jitter, Link, LinkConfig, LossModel, Order, Packet, Pie,
    QueueConfig, Red, Service, Time, TokenBucket, Trace,
};
use weir_units::{DataRate, DataSize, TimeDelta};

const ROUNDS: u32 = 15;
const PACKETS: u64 = 1_000_000;

#[derive(Clone, Copy)]
struct Value<const WORDS: usize> {
    size: u32,
    _rest: [u32; WORDS],
}

impl<const WORDS: usize> Packet for Value<WORDS> {
    fn wire_size(&self) -> u32 {
        self.size
    }
}

/// Sends packets of 1250 and 250 bytes, one each 80 µs on average in bursts of `burst`, a power of two, and takes
/// out what is due.
fn round<const WORDS: usize>(config: &LinkConfig, burst: u64) -> u64 {
    let mut link = Link::new(config, 1).expect("the benchmark's links are valid");
    let mut wait = 0;
    let mut now = Time::ZERO;
    for number in 0..PACKETS {
        if number & (burst - 1) == 0 {
            now = Time::from_nanos(number * 80_000);
        }
        while link.next_departure().is_some_and(|due| due <= now) {
            wait += link.pop(now).map_or(0, |exit| exit.wait.nanos() as u64);
        }
        let size = if number % 4 == 3 { 250 } else { 1250 };
        let _ = black_box(link.enqueue(now, Value { size, _rest: [0; WORDS] }));
    }
    wait
}

/// Nanoseconds per packet of the fastest round.
#[expect(clippy::disallowed_methods, reason = "a benchmark measures wall-clock time")]
fn nanos_per_packet<const WORDS: usize>(config: &LinkConfig, burst: u64) -> f64 {
    let rounds = (0..ROUNDS).map(|_| {
        let begin = std::time::Instant::now();
        black_box(round::<WORDS>(black_box(config), burst));
        begin.elapsed().as_nanos() as f64 / PACKETS as f64
    });
    rounds.fold(f64::INFINITY, f64::min)
}

fn main() {
    let delay = TimeDelta::from_millis(10);
    let rate = DataRate::from_mbps(110);
    let constant = LinkConfig::new(Service::Constant(rate), delay);
    let limited = |in_service| LinkConfig {
        queue: QueueConfig {
            limit_time: Some(TimeDelta::from_millis(300)),
            limit_bytes: Some(DataSize::from_bytes(1_250_000)),
            in_service,
            ..QueueConfig::default()
        },
        ..constant.clone()
    };
    let jitter = Jitter::HalfNormal { sd: TimeDelta::from_millis(5), max: TimeDelta::from_millis(15) };
    // Each kind of service has a mean of 110 Mbit/s: its cost alone differs.
    let steps = (0..10_000)
        .map(|i| (Time::from_millis(i * 8), DataRate::from_mbps(if i % 2 == 0 { 90 } else { 130 })))
        .collect();
    let trace = Arc::new(Trace::from_rate(TimeDelta::from_secs(10), |_| rate));
    let trace = Service::Trace { trace, offset: TimeDelta::ZERO, repeat: true };
    let under = |discipline| LinkConfig {
        queue: QueueConfig {
            limit_packets: Some(1000),
            in_service: InService::Free,
            discipline,
            ..QueueConfig::default()
        },
        ..constant.clone()
    };
    let rates = vec![(Time::ZERO, rate)];
    let bucket = Service::TokenBucket(TokenBucket { rates, burst: DataSize::from_bytes(20_000), peak: None });
    let cases = [
        ("constant, unlimited", constant.clone(), 1),
        ("constant, unlimited, bursts of 32", constant.clone(), 32),
        ("constant, limits in time and bytes", limited(InService::Free), 1),
        ("constant, limits, part in service counted", limited(InService::Counted), 1),
        ("constant, 1 % loss", LinkConfig { loss: LossModel::Bernoulli(0.01), ..constant.clone() }, 1),
        ("constant, half-normal jitter", LinkConfig { jitter: jitter.clone(), ..constant.clone() }, 1),
        ("steps each 8 ms", LinkConfig::new(Service::Steps(steps), delay), 1),
        ("trace", LinkConfig::new(trace, delay), 1),
        ("constant, without order", LinkConfig { order: Order::None, ..constant.clone() }, 1),
        ("constant, without order, jitter", LinkConfig { order: Order::None, jitter, ..constant.clone() }, 1),
        ("drop-head", under(Discipline::DropHead), 1),
        ("CoDel", under(Discipline::CoDel(CoDel::default())), 1),
        ("FQ-CoDel", under(Discipline::FqCoDel(FqCoDel::default())), 1),
        ("PIE", under(Discipline::Pie(Pie::default())), 1),
        ("RED", under(Discipline::Red(Red::default())), 1),
        ("DualPI2", under(Discipline::DualPi2(DualPi2::default())), 1),
        ("token bucket", LinkConfig::new(bucket, delay), 1),
    ];
    let wanted = std::env::args().skip(1).find(|argument| !argument.starts_with('-')).unwrap_or_default();
    for (name, config, burst) in cases.into_iter().filter(|(name, ..)| name.contains(&wanted)) {
        let (large, small) = (nanos_per_packet::<15>(&config, burst), nanos_per_packet::<3>(&config, burst));
        println!("{name:<45} {large:6.1} ns per packet {small:6.1} ns");
    }
}
