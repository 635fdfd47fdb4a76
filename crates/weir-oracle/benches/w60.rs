//! Cost of a controller's sender half per packet with its send history, beside independent implementations, and
//! its memory: the figures of `docs/performance.md`.
//!
//! `weir_study::comparison::cost` defines the minute. Rounds run all in turn. The output has the minimum and the
//! median of 15 in nanoseconds per packet, and the heap allocations per packet of the second half of a round. The
//! limits are for Weir's.
#![expect(unsafe_code, reason = "a global allocator that counts is an unsafe trait")]
#![expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

#[path = "../tests/oracle/goog_cc/oracle.rs"]
#[expect(dead_code, reason = "a part of what the tests need")]
mod oracle;

use std::alloc::{GlobalAlloc, Layout, System};
use std::hint::black_box;
use std::process::ExitCode;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

use oracle::{GoogCc, LossModel, LossReports};
use rtc_interceptor::{Acknowledgement, BandwidthEstimator, Gcc, History};
use rtc_rtcp::transport_feedbacks::cc_feedback_report::Ecn;
use weir_cc::history::SendHistory;
use weir_cc::packet_feedback::PacketFeedback;
use weir_cc::{ArrivalTime, DataRate, DataSize, RateLimits, Report, SendState, SendTime, TimeDelta};
use weir_scenario::registry::Registry;
use weir_study::comparison::cost::{Event, EventSequence, PACKETS, ReplayedCall};

const ROUNDS: usize = 15;
const HALF: u32 = PACKETS / 2;
/// Interval of 1000 bytes at 5 Mbit/s.
const FAST: TimeDelta = TimeDelta::from_micros(1600);
const MOST_HEAP: usize = 64 << 10;

struct Counting;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);
static NOW: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is passed to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Relaxed);
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

/// Runs half a minute, and at the next call the other half.
type Life = Box<dyn FnMut()>;

struct BenchmarkCandidate {
    name: String,
    begin: Box<dyn Fn() -> Life>,
    /// The most nanoseconds per packet, with no allocation, or `None` for other implementations.
    most: Option<f64>,
    nanos: Vec<f64>,
    /// Allocations in the second half of a round.
    allocations: usize,
}

impl BenchmarkCandidate {
    fn new(name: &str, most: Option<f64>, begin: impl Fn() -> Life + 'static) -> Self {
        let nanos = Vec::with_capacity(ROUNDS);
        Self { name: name.to_owned(), begin: Box::new(begin), most, nanos, allocations: 0 }
    }

    /// A benchmark of Weir's controller `name`.
    fn weir(name: &'static str) -> Self {
        let most = if name == "gcc" { 110.0 } else { 150.0 };
        Self::new(name, Some(most), move || {
            let mut minute = ReplayedCall::of(&Registry::standard(), name).expect("it is registered");
            Box::new(move || _ = black_box(minute.advance(HALF)))
        })
    }

    /// Measures time and allocations of one round.
    fn round(&mut self) {
        let mut life = (self.begin)();
        let began = Instant::now();
        life();
        let before = ALLOCATIONS.load(Relaxed);
        life();
        let took = began.elapsed();
        self.allocations = ALLOCATIONS.load(Relaxed) - before;
        self.nanos.push(took.as_nanos() as f64 / f64::from(PACKETS));
    }
}

fn limits() -> RateLimits {
    let kbps = DataRate::from_kbps;
    RateLimits::new(kbps(50), kbps(1000), kbps(8000)).expect("in order")
}

/// Calls to controllers that use the fate of single packets.
fn script() -> EventSequence {
    EventSequence::of(&mut PacketFeedback::new(TimeDelta::from_millis(50)), TimeDelta::from_millis(4))
}

/// The crate `goog_cc`, with Weir's send history.
fn goog_cc() -> Life {
    let mut sender = GoogCc::halves(limits(), LossReports::PacketsOnly, LossModel::June2025).0;
    let (script, mut history, mut sent) = (script(), SendHistory::new(TimeDelta::from_secs(2)), 0);
    Box::new(move || {
        for event in script.events(sent..sent + HALF) {
            let state = SendState { in_flight: history.in_flight(), ..SendState::default() };
            match event {
                Event::Report(at, report) => {
                    if let Some(feedback) = history.join(at, &report) {
                        sender.on_feedback(at, &feedback, &state);
                    }
                }
                Event::Packet(now) => {
                    let size = DataSize::from_bytes(976);
                    let packet = history.on_media_sent(now, DataSize::from_bytes(24), size);
                    sender.on_sent(&packet, &state);
                    if sender.next_timeout().is_some_and(|due| due <= now) {
                        sender.on_timeout(now, &state);
                    }
                    // Read without a copy, as for Weir's controllers.
                    black_box(&sender.target());
                }
            }
            while sender.poll_probe().is_some() {}
        }
        sent += HALF;
    })
}

/// webrtc-rs's GCC with its history, pruned each 100 ms as its interceptor does on a timer.
fn webrtc_rs() -> Life {
    let (mut gcc, mut history) = (Gcc::new(1e6, 50e3, 8e6), History::new());
    let (script, mut sent, epoch) = (script(), 0_u32, Instant::now());
    let instant = move |at: SendTime| epoch + duration((at - SendTime::ZERO).nanos());
    Box::new(move || {
        for event in script.events(sent..sent + HALF) {
            match event {
                Event::Report(at, Report::Packets { records, .. }) => {
                    for record in records {
                        let arrival =
                            record.reception.time().map(|at| duration((at - ArrivalTime::ZERO).nanos()));
                        let acknowledgement = match arrival {
                            Some(_) => Acknowledgement::received(record.sequence, arrival, Ecn::NotEct),
                            None => Acknowledgement::lost(record.sequence),
                        };
                        history.on_twcc_feedback(instant(at), acknowledgement);
                    }
                    gcc.on_reports(instant(at), &history.take_reports());
                }
                Event::Report(..) => {}
                Event::Packet(now) => {
                    let number = sent as u16;
                    history.add_outgoing(1, number, true, number, 1000, instant(now));
                    sent += 1;
                    if sent.is_multiple_of(25) {
                        let horizon = Duration::from_secs(2);
                        history.prune_before(instant(now).checked_sub(horizon).unwrap_or(epoch));
                    }
                    black_box(gcc.target_bitrate());
                }
            }
        }
    })
}

fn duration(nanos: i64) -> Duration {
    Duration::from_nanos(nanos.try_into().unwrap_or(0))
}

/// Bytes of heap that a controller and its history hold at 5 Mbit/s.
fn heap(name: &str) -> usize {
    let mut minute =
        ReplayedCall::with_interval(&Registry::standard(), name, FAST).expect("it is registered");
    minute.advance(PACKETS);
    let sender = minute.into_sender();
    let with = NOW.load(Relaxed);
    drop(sender);
    with - NOW.load(Relaxed)
}

fn main() -> ExitCode {
    static REGISTRY: LazyLock<Registry> = LazyLock::new(Registry::standard);
    let mut candidates: Vec<_> = REGISTRY.controller_names().map(BenchmarkCandidate::weir).collect();
    candidates.push(BenchmarkCandidate::new("goog_cc 0.1.4", None, goog_cc));
    candidates.push(BenchmarkCandidate::new("rtc-interceptor 0.21.1", None, webrtc_rs));
    for _ in 0..ROUNDS {
        candidates.iter_mut().for_each(BenchmarkCandidate::round);
    }
    let mut exit = ExitCode::SUCCESS;
    println!("{:<24}{:>12}{:>12}{:>16}{:>12}", "", "minimum ns", "median ns", "allocations", "heap KiB");
    for BenchmarkCandidate { name, most, nanos, allocations, .. } in &mut candidates {
        nanos.sort_by(f64::total_cmp);
        let heap = most.map(|_| heap(name));
        let held = most.is_none_or(|most| nanos[0] <= most && *allocations == 0)
            && (name != "gcc" || heap.is_some_and(|heap| heap <= MOST_HEAP));
        if !held {
            exit = ExitCode::FAILURE;
        }
        let over = if held { "" } else { "  over its bar" };
        let heap = heap.map_or(String::new(), |heap| format!("{:.1}", heap as f64 / 1024.0));
        let per_packet = *allocations as f64 / f64::from(HALF);
        println!("{name:<24}{:>12.1}{:>12.1}{per_packet:>16.4}{heap:>12}{over}", nanos[0], nanos[ROUNDS / 2]);
    }
    exit
}
