//! Several flows of DCCC and a constant one over one bottleneck: the paper's topology 1, fig. 4. Clocks are
//! synchronised, packets have 1094 bytes, and rates count all of them.

use alloc::collections::{BinaryHeap, VecDeque};
use core::cmp::Reverse;

use weir_units::{DataRate, DataSize, TimeDelta};

use super::{Config, Dccc, DcccObserver};
use crate::controller::{Controller, Observer, RateLimits};
use crate::packet::{Arrival, Ecn, SendState, SentPacket, Stamp};
use crate::report::{Feedback, NativeReport};
use crate::time::{ArrivalTime, SendTime};

const PACKET: DataSize = DataSize::from_bytes(1094);
const CONSTANT_PACKET: DataSize = DataSize::from_bytes(1054);

/// Next event; the number is a flow's.
#[derive(Clone, Copy, Debug)]
enum Event {
    Start(usize),
    Stop(usize),
    Send(usize),
    SendConstant,
    Arrive(usize, Arrival),
    Report(usize),
    Feedback(usize, NativeReport),
}

/// The path: capacity, propagation there and back, and the packets that its buffer holds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Path {
    pub(super) capacity: DataRate,
    pub(super) there: TimeDelta,
    pub(super) back: TimeDelta,
    pub(super) buffer: usize,
    pub(super) constant: DataRate,
}

#[derive(Debug)]
struct Flow {
    sender: Dccc,
    observer: DcccObserver,
    active: bool,
    sent: u64,
}

#[derive(Debug)]
pub(super) struct Bottleneck {
    path: Path,
    now: SendTime,
    flows: Vec<Flow>,
    /// Events by time, then by number.
    due: BinaryHeap<Reverse<(SendTime, u64)>>,
    events: alloc::collections::BTreeMap<u64, Event>,
    numbered: u64,
    /// When each packet in the buffer leaves it.
    buffer: VecDeque<SendTime>,
    pub(super) lost: u64,
}

impl Bottleneck {
    /// Flows with `(start, stop)` in seconds, which take `configs` in turn.
    pub(super) fn new(configs: &[Config], path: Path, flows: &[(f64, f64)]) -> Self {
        let kbps = DataRate::from_kbps;
        let limits = RateLimits::new(kbps(10), kbps(200), kbps(20_000)).unwrap();
        let flow = |config: &Config| Flow {
            sender: Dccc::new(*config, limits).unwrap(),
            observer: DcccObserver::new(*config).unwrap(),
            active: false,
            sent: 0,
        };
        let mut bottleneck = Self {
            path,
            now: SendTime::ZERO,
            flows: configs.iter().cycle().take(flows.len()).map(flow).collect(),
            due: BinaryHeap::new(),
            events: alloc::collections::BTreeMap::new(),
            numbered: 0,
            buffer: VecDeque::new(),
            lost: 0,
        };
        for (i, &(start, stop)) in flows.iter().enumerate() {
            bottleneck.plan(seconds(start), Event::Start(i));
            bottleneck.plan(seconds(stop), Event::Stop(i));
        }
        if !path.constant.is_zero() {
            bottleneck.plan(SendTime::ZERO, Event::SendConstant);
        }
        bottleneck
    }

    /// Runs until `end` seconds; returns the values of `watch` each 10 ms.
    pub(super) fn run<T>(&mut self, end: f64, watch: impl Fn(&Self) -> T) -> Vec<T> {
        let mut seen = Vec::new();
        let mut look = self.now;
        while let Some(&Reverse((at, number))) = self.due.peek()
            && at <= seconds(end)
        {
            while look <= at {
                seen.push(watch(self));
                look += TimeDelta::from_millis(10);
            }
            self.due.pop();
            self.now = at;
            if let Some(event) = self.events.remove(&number) {
                self.happen(event);
            }
        }
        self.now = seconds(end);
        seen
    }

    /// The sending rate of a flow in kbit/s.
    pub(super) fn rate(&self, flow: usize) -> f64 {
        self.flows[flow].sender.target().sending_rate.bps_f64() / 1e3
    }

    /// `e` of the last report in ms: `e − T` and the threshold of 100 ms.
    pub(super) fn delay(&self, flow: usize) -> f64 {
        let mut out = [0.0; 6];
        self.flows[flow].sender.read_signals(&mut out);
        out[0] + 100.0
    }

    fn plan(&mut self, at: SendTime, event: Event) {
        self.numbered += 1;
        self.events.insert(self.numbered, event);
        self.due.push(Reverse((at, self.numbered)));
    }

    fn happen(&mut self, event: Event) {
        let now = self.now;
        match event {
            Event::Start(i) => {
                self.flows[i].active = true;
                self.send(i);
            }
            Event::Stop(i) => self.flows[i].active = false,
            Event::Send(i) => self.send(i),
            Event::SendConstant => {
                self.transmit(CONSTANT_PACKET);
                self.plan(now + CONSTANT_PACKET / self.path.constant, Event::SendConstant);
            }
            Event::Arrive(i, arrival) => {
                self.flows[i].observer.on_arrival(&arrival);
                self.plan_report(i);
            }
            Event::Report(i) => {
                if let Some(report) = self.flows[i].observer.report(clock(now)) {
                    self.plan(now + self.path.back, Event::Feedback(i, report));
                    self.plan_report(i);
                }
            }
            Event::Feedback(i, report) => {
                let feedback = Feedback::Native { report, rtt: None };
                self.flows[i].sender.on_feedback(now, &feedback, &SendState::default());
            }
        }
    }

    fn plan_report(&mut self, i: usize) {
        if let Some(due) = self.flows[i].observer.next_report() {
            let due = SendTime::ZERO + (due - ArrivalTime::ZERO);
            self.plan(due.max(self.now), Event::Report(i));
        }
    }

    fn send(&mut self, i: usize) {
        let now = self.now;
        let flow = &mut self.flows[i];
        if !flow.active {
            return;
        }
        let stamp = flow.sender.stamp().unwrap_or_default();
        let id = flow.sent;
        flow.sent += 1;
        let packet = SentPacket::new(id, now, PACKET);
        flow.sender.on_sent(&packet, &SendState::default());
        self.plan(now + PACKET / stamp.rate, Event::Send(i));
        if let Some(leaves) = self.transmit(PACKET) {
            let arrival = arrival(id, now, leaves + self.path.there, stamp);
            self.plan(leaves + self.path.there, Event::Arrive(i, arrival));
        }
    }

    /// Time when a packet leaves the buffer, or `None` if it is lost.
    fn transmit(&mut self, size: DataSize) -> Option<SendTime> {
        while self.buffer.front().is_some_and(|&leaves| leaves <= self.now) {
            self.buffer.pop_front();
        }
        // The packet in service does not count.
        if self.buffer.len() > self.path.buffer {
            self.lost += 1;
            return None;
        }
        let begin = self.buffer.back().map_or(self.now, |&last| last.max(self.now));
        self.buffer.push_back(begin + size / self.path.capacity);
        self.buffer.back().copied()
    }
}

fn seconds(s: f64) -> SendTime {
    SendTime::ZERO + TimeDelta::from_secs_f64(s)
}

fn clock(now: SendTime) -> ArrivalTime {
    ArrivalTime::ZERO + (now - SendTime::ZERO)
}

fn arrival(id: u64, departure: SendTime, at: SendTime, stamp: Stamp) -> Arrival {
    let (at, ecn) = (clock(at), Ecn::NotEct);
    Arrival { id, departure, at, size: PACKET, ecn, media_time: id, marker: true, stamp }
}
