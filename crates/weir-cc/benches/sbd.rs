//! Cost of shared bottleneck detection: of a packet, and of an interval of ten flows with their grouping. Printed
//! are the minimum and the median of 15 rounds, and the heap allocations of all of them; the limits are those of
//! `docs/performance.md`.
#![expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

mod counting;

use std::hint::black_box;
use std::process::ExitCode;
use std::time::Instant;

use weir_cc::coupled::FlowId;
use weir_cc::coupled::sbd::{Config, Detector, FlowStatistics};
use weir_cc::{ArrivalTime, SendTime};

const ROUNDS: usize = 15;
const FLOWS: usize = 10;
/// Of each flow in a round, 1 ms apart.
const PACKETS: i64 = 350 * 200;
const INTERVALS: f64 = 200.0;

/// A delay of 20 to 84 ms that swings in some seconds, with noise.
fn delay_nanos(n: i64) -> i64 {
    let swing = (n / 50 % 1280 - 640).abs();
    20_000_000 + swing * 100_000 + n.wrapping_mul(7_919).rem_euclid(977) * 2_000
}

fn flow() -> FlowStatistics {
    FlowStatistics::new(Config::default()).expect("the defaults are valid")
}

/// Nanoseconds a packet.
fn packets(flow: &mut FlowStatistics, at_ms: i64) -> f64 {
    let begun = Instant::now();
    for n in at_ms..at_ms + PACKETS {
        let sent = n * 1_000_000;
        flow.on_arrival(SendTime::from_nanos(sent), ArrivalTime::from_nanos(sent + delay_nanos(n)));
        black_box(flow.poll());
    }
    begun.elapsed().as_nanos() as f64 / PACKETS as f64
}

/// Nanoseconds an interval of ten flows. Each flow has one packet, so that mainly its statistics, the grouping and
/// the groups are measured.
fn intervals(flows: &mut [FlowStatistics], detector: &mut Detector, at: i64) -> f64 {
    let begun = Instant::now();
    for interval in at..at + INTERVALS as i64 {
        for (place, flow) in flows.iter_mut().enumerate() {
            let sent = interval * 350_000_000 + place as i64;
            let delay = delay_nanos(interval * 350 + 40 * place as i64);
            flow.on_arrival(SendTime::from_nanos(sent), ArrivalTime::from_nanos(sent + delay));
            if let Some(statistics) = flow.poll() {
                detector.on_statistics(FlowId(place as u32), &statistics);
            }
        }
        while let Some(change) = detector.poll() {
            black_box(change);
        }
    }
    begun.elapsed().as_nanos() as f64 / INTERVALS
}

/// Prints the figures of `what`, and whether they are within the limits.
fn say(what: &str, bar: f64, mut round: impl FnMut(i64) -> f64) -> bool {
    round(0);
    round(1);
    let before = counting::allocations();
    let mut nanos: [f64; ROUNDS] = [0.0; ROUNDS];
    for (n, nanos) in nanos.iter_mut().enumerate() {
        *nanos = round(n as i64 + 2);
    }
    let allocations = counting::allocations() - before;
    nanos.sort_unstable_by(f64::total_cmp);
    println!(
        "{what:45} {:8.1} {:8.1} ns  {allocations} allocations (bar {bar} ns)",
        nanos[0],
        nanos[ROUNDS / 2]
    );
    nanos[0] <= bar && allocations == 0
}

fn main() -> ExitCode {
    let mut one = flow();
    let packet = say("a packet", 20.0, |round| packets(&mut one, round * PACKETS));
    let mut flows: Vec<FlowStatistics> = (0..FLOWS).map(|_| flow()).collect();
    let mut detector = Detector::new(Config::default()).expect("the defaults are valid");
    (0..FLOWS as u32).for_each(|flow| {
        detector.join(FlowId(flow), None);
    });
    let interval = say("an interval of ten flows", 5000.0, |round| {
        intervals(&mut flows, &mut detector, round * INTERVALS as i64)
    });
    if packet && interval { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
