//! What a law's sender half costs per packet, with its send history: everything a sender does per packet and per report
//! but parsing and pacing.
//!
//! The workload W60: 15 000 packets of 1000 bytes in 60 s, one each 4 ms. The queue grows to 200 ms within 8 s and drains
//! within 2, again and again; every 500th packet is lost. The receiver half's reports are made beforehand. Rounds go
//! through all laws in turn; printed are the minimum and the median of 15, in nanoseconds per packet, and the heap
//! allocations per packet of the second half of a round.
//!
//! A law joins by a line in [`LAWS`].
#![expect(unsafe_code, reason = "a global allocator that counts is an unsafe trait")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};

use weir_cc::gcc::goog_cc::{self, GoogCc};
use weir_cc::gcc::remb::{self, GccReceiver, GccSender};
use weir_cc::history::SendHistory;
use weir_cc::nada::{self, Nada, NadaObserver};
use weir_cc::packet_feedback::PacketFeedback;
use weir_cc::{
    Arrival, ArrivalTime, AtReceiver, Controller, DataRate, DataSize, Ecn, RateLimits, Receiver, Record,
    Report, SendState, SendTime, Stamp, TimeDelta,
};

type Halves = (Box<dyn Controller>, Box<dyn Receiver>);

type Build = fn(RateLimits) -> Halves;

/// Laws by name, and how to build both halves.
#[rustfmt::skip]
const LAWS: &[(&str, Build)] = &[
    ("gcc", |limits| halves(GoogCc::new(goog_cc::Config::default(), limits), PacketFeedback::new(INTERVAL))),
    ("gcc of 2024-12", |limits| halves(GoogCc::new(goog_cc::Config::libwebrtc_2024_12(), limits), PacketFeedback::new(INTERVAL))),
    ("gcc-2016", |limits| halves(GccSender::new(remb::Config::default(), limits), GccReceiver::new(remb::Config::default(), limits).expect("valid"))),
    ("nada", |limits| halves(Nada::new(nada::Config::default(), limits), AtReceiver::new(NadaObserver::new(nada::Config::default()).expect("valid")))),
];

fn halves<S: Controller + 'static, E: core::fmt::Debug>(
    sender: Result<S, E>,
    receiver: impl Receiver + 'static,
) -> Halves {
    (Box::new(sender.expect("the default is valid")), Box::new(receiver))
}

const ROUNDS: usize = 15;
const PACKETS: i64 = 15_000;
const SIZE: DataSize = DataSize::from_bytes(1000);
const GAP: TimeDelta = TimeDelta::from_millis(4);
const ONE_WAY: TimeDelta = TimeDelta::from_millis(25);
const INTERVAL: TimeDelta = TimeDelta::from_millis(50);
const LOST_EACH: i64 = 500;
/// Of the queue, in packets: it grows, and then it drains.
const PERIOD: i64 = 2500;
const GROWTH: i64 = 2000;
const LONGEST_WAIT: TimeDelta = TimeDelta::from_millis(200);
/// Between the clocks of the hosts.
const OFFSET: TimeDelta = TimeDelta::from_secs(7200);
const HORIZON: TimeDelta = TimeDelta::from_secs(10);

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: every call is handed to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// A report as it comes to the sender.
struct Report60 {
    at: SendTime,
    records: Vec<Record>,
    /// Of per-packet feedback: its number and when it was made.
    packets: Option<(u8, Option<ArrivalTime>)>,
    other: Option<Report<'static>>,
}

impl Report60 {
    fn new(report: &Report<'_>, at: SendTime) -> Self {
        let other = |report| Self { at, records: Vec::new(), packets: None, other: Some(report) };
        match *report {
            Report::Packets { records, number, at: made } => {
                Self { at, records: records.to_vec(), packets: Some((number, made)), other: None }
            }
            Report::Ceiling(rate) => other(Report::Ceiling(rate)),
            Report::Reception(report) => other(Report::Reception(report)),
            Report::Law { report, echo } => other(Report::Law { report, echo }),
        }
    }

    fn report(&self) -> Report<'_> {
        match (self.packets, self.other) {
            (Some((number, at)), _) => Report::Packets { records: &self.records, number, at },
            (None, Some(other)) => other,
            (None, None) => unreachable!("a report is one of both"),
        }
    }
}

fn departure(packet: i64) -> SendTime {
    SendTime::ZERO + GAP * packet
}

fn wait(packet: i64) -> TimeDelta {
    let phase = packet % PERIOD;
    if phase < GROWTH {
        LONGEST_WAIT * phase / GROWTH
    } else {
        LONGEST_WAIT * (PERIOD - phase) / (PERIOD - GROWTH)
    }
}

/// What the receiver half reports on the workload's packets.
fn reports(receiver: &mut dyn Receiver) -> Vec<Report60> {
    let mut made = Vec::new();
    let clock = |at: SendTime| ArrivalTime::ZERO + OFFSET + (at - SendTime::ZERO);
    let mut poll = |receiver: &mut dyn Receiver, until: ArrivalTime| {
        while let Some(due) = receiver.next_timeout().filter(|&due| due <= until) {
            let at = SendTime::ZERO + (due - ArrivalTime::ZERO) - OFFSET + ONE_WAY;
            while let Some(report) = receiver.poll_report(due) {
                made.push(Report60::new(&report, at));
            }
        }
    };
    for packet in (0..PACKETS).filter(|packet| packet % LOST_EACH != LOST_EACH - 1) {
        let at = clock(departure(packet) + ONE_WAY + wait(packet));
        poll(receiver, at);
        receiver.on_arrival(&Arrival {
            id: packet as u64,
            departure: departure(packet),
            at,
            size: SIZE,
            ecn: Ecn::NotEct,
            media_time: packet as u64 / 8 * 3000,
            marker: packet % 8 == 7,
            stamp: Stamp::default(),
        });
    }
    made
}

/// The sender's part of the workload; returns the allocations of its second half.
fn send(sender: &mut dyn Controller, history: &mut SendHistory, reports: &[Report60]) -> u64 {
    let mut reports = reports.iter().peekable();
    let mut before = 0;
    for packet in 0..PACKETS {
        if packet == PACKETS / 2 {
            before = ALLOCATIONS.load(Ordering::Relaxed);
        }
        let now = departure(packet);
        while let Some(report) = reports.next_if(|report| report.at <= now) {
            let state = SendState { in_flight: history.in_flight(), ..SendState::default() };
            let feedback = history.join(report.at, &report.report());
            black_box(sender.on_feedback(report.at, &feedback, &state));
            while sender.poll_probe().is_some() {}
        }
        let sent = history.on_sent(now, DataSize::ZERO, SIZE, false, None);
        let state = SendState { in_flight: history.in_flight(), ..SendState::default() };
        sender.on_sent(&sent, &state);
        if sender.next_timeout().is_some_and(|due| due <= now) {
            black_box(sender.on_timeout(now, &state));
            while sender.poll_probe().is_some() {}
        }
        black_box(sender.target());
    }
    ALLOCATIONS.load(Ordering::Relaxed) - before
}

#[expect(clippy::disallowed_methods, reason = "a benchmark measures wall-clock time")]
fn main() {
    let kbps = DataRate::from_kbps;
    let limits = RateLimits::new(kbps(50), kbps(1000), kbps(8000)).expect("in order");
    let workloads: Vec<_> = LAWS.iter().map(|(_, build)| reports(&mut *build(limits).1)).collect();
    let mut nanos = vec![Vec::with_capacity(ROUNDS); LAWS.len()];
    let mut allocations = vec![0; LAWS.len()];
    for _ in 0..ROUNDS {
        for (law, (_, build)) in LAWS.iter().enumerate() {
            let mut sender = build(limits).0;
            let mut history = SendHistory::new(HORIZON);
            let begin = std::time::Instant::now();
            let allocated = send(&mut *sender, &mut history, black_box(&workloads[law]));
            nanos[law].push(begin.elapsed().as_nanos() as f64 / PACKETS as f64);
            allocations[law] = allocated;
            black_box(sender.target());
        }
    }
    println!("{:<24} {:>10} {:>10} {:>24}", "law", "minimum ns", "median ns", "allocations per packet");
    for (law, (name, _)) in LAWS.iter().enumerate() {
        nanos[law].sort_by(f64::total_cmp);
        let per_packet = allocations[law] as f64 / (PACKETS / 2) as f64;
        println!("{name:<24} {:10.1} {:10.1} {per_packet:24.4}", nanos[law][0], nanos[law][ROUNDS / 2]);
    }
}
