//! TCP flows over one link, as behind an emulator that removes a packet from the queue when it has served it.

use std::collections::VecDeque;

use weir_cc::window::{Window, WindowAlgorithm};
use weir_cc::{ArrivalTime, SendTime};
use weir_net::{InService, Jitter, Link, LinkConfig, LossModel, Packet, QueueConfig, Service, Time};
use weir_sim::tcp::{TcpReceiver, TcpSender};
use weir_units::{DataRate, DataSize, TimeDelta};
use weir_world::tcp::{Acknowledgement, Segment, TcpConfig};

/// Start of measurements, except for goodput.
const SETTLED: Time = Time::from_millis(5_000);

/// Time from which on two flows share the link.
const SHARED: Time = Time::from_millis(20_000);

/// A link and its queue.
#[derive(Clone)]
pub(crate) struct Path {
    pub(crate) rate: DataRate,
    pub(crate) round_trip: TimeDelta,
    /// Capacity in bytes, in which the packet in service counts as a whole.
    pub(crate) queue: u64,
    /// Percentage of packets that are lost behind the queue.
    pub(crate) loss_percent: f64,
    /// Whether the link serves no packet for 1.5 s at 15, 30 and 45 s.
    pub(crate) stalls: bool,
}

impl Path {
    /// The link of this path; with `stalls` its rate is 0 for 1.5 s each 15 s.
    fn link(&self, seed: u64) -> Link<Carried> {
        let at = Time::from_millis;
        let mut steps = vec![(at(0), self.rate)];
        for second in [15_000, 30_000, 45_000].into_iter().filter(|_| self.stalls) {
            steps.extend([(at(second), DataRate::ZERO), (at(second + 1_500), self.rate)]);
        }
        let mut config = LinkConfig::new(Service::Steps(steps), self.round_trip / 2);
        // As late as in the emulator: 0.11 ms on average.
        let sd = TimeDelta::from_micros(140);
        config.jitter = Jitter::HalfNormal { sd, max: sd * 15 };
        config.loss = LossModel::Bernoulli(self.loss_percent / 100.0);
        config.queue = QueueConfig {
            limit_bytes: Some(DataSize::from_bytes(self.queue)),
            in_service: InService::Whole,
            ..QueueConfig::default()
        };
        Link::new(&config, seed).expect("it is sound")
    }
}

/// A segment on the link.
struct Carried {
    flow: usize,
    segment: Segment,
    size: u32,
    entered: Time,
}

impl Packet for Carried {
    fn wire_size(&self) -> u32 {
        self.size
    }
}

struct Flow {
    sender: TcpSender,
    receiver: TcpReceiver,
    config: TcpConfig,
    start: Option<Time>,
    drops: u64,
    /// Payload that had arrived by [`SHARED`], in bytes.
    before_shared: f64,
    /// The window at the end of the first slow start.
    left_slow_start: Option<Window>,
}

/// Results of a flow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Course {
    /// Payload that has arrived, in Mbit/s.
    pub(crate) goodput: f64,
    /// Payload that has arrived from 20 s on, in bytes.
    pub(crate) shared: f64,
    /// The window, in segments, at the end of the first slow start.
    pub(crate) slow_start_end: f64,
    pub(crate) timeouts: u64,
    pub(crate) undone: u64,
    /// Spurious retransmissions.
    pub(crate) needless: i64,
}

/// Results of the run.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    pub(crate) flows: Vec<Course>,
    /// Mean queuing delay of a byte, as the time to serve the whole queue, in ms.
    pub(crate) queue_ms: f64,
    pub(crate) episodes_per_minute: f64,
}

/// A run.
pub(crate) struct Bench {
    path: Path,
    link: Link<Carried>,
    flows: Vec<Flow>,
    back: VecDeque<(Time, usize, Acknowledgement)>,
    now: Time,
    /// Integral of the queue over time, in bytes · s.
    waited: f64,
    episodes: u32,
    last_drop: Option<Time>,
}

impl Bench {
    pub(crate) fn new(path: &Path, seed: u64) -> Self {
        Self {
            link: path.link(seed),
            path: path.clone(),
            flows: Vec::new(),
            back: VecDeque::new(),
            now: Time::ZERO,
            waited: 0.0,
            episodes: 0,
            last_drop: None,
        }
    }

    /// Adds a flow without end that begins at `start_ms`.
    pub(crate) fn with(
        mut self,
        config: TcpConfig,
        algorithm: Box<dyn WindowAlgorithm>,
        start_ms: u64,
    ) -> Self {
        self.flows.push(Flow {
            sender: TcpSender::new(config, algorithm, None),
            receiver: TcpReceiver::new(config),
            config,
            start: Some(Time::from_millis(start_ms)),
            drops: 0,
            before_shared: 0.0,
            left_slow_start: None,
        });
        self
    }

    /// Runs until `end`.
    pub(crate) fn run(mut self, end: Time) -> Outcome {
        while let Some(next) = self.next_event().filter(|&next| next <= end) {
            self.now = self.now.max(next);
            self.step();
        }
        let seconds = TimeDelta::from_nanos(end.nanos() as i64).secs_f64();
        let settled = seconds - TimeDelta::from_nanos(SETTLED.nanos() as i64).secs_f64();
        let course = |flow: &Flow| {
            let stats = flow.sender.stats();
            Course {
                shared: flow.receiver.delivered().bytes_f64() - flow.before_shared,
                goodput: flow.receiver.delivered().bytes_f64() * 8e-6 / seconds,
                slow_start_end: flow.left_slow_start.map_or(f64::NAN, |window| window.ssthresh),
                timeouts: stats.timeouts,
                undone: stats.undone,
                needless: stats.retransmissions as i64 - flow.drops as i64,
            }
        };
        Outcome {
            flows: self.flows.iter().map(course).collect(),
            queue_ms: self.waited / settled * 8e3 / self.path.rate.bps() as f64,
            episodes_per_minute: f64::from(self.episodes) * 60.0 / settled,
        }
    }

    fn next_event(&self) -> Option<Time> {
        let of_flow = |flow: &Flow| {
            let timers = [
                flow.sender.next_timeout().map(SendTime::nanos),
                flow.receiver.next_timeout().map(ArrivalTime::nanos),
            ];
            let timers = timers.into_iter().flatten().map(|ns| Time::from_nanos(ns as u64));
            timers.chain(flow.start).min()
        };
        let timers = self.flows.iter().filter_map(of_flow);
        let ways = [self.link.next_departure(), self.back.front().map(|&(at, ..)| at)];
        timers.chain(ways.into_iter().flatten()).min()
    }

    /// Delivers a segment or serves the flows, at the present time.
    fn step(&mut self) {
        if let Some(exit) = self.link.pop(self.now) {
            let Carried { flow, segment, size, entered } = exit.packet;
            let departed = self.now - self.path.round_trip / 2;
            let counted = departed - entered.max(SETTLED);
            self.waited += f64::from(size) * counted.secs_f64().max(0.0);
            if exit.fate == weir_net::Fate::Arrived {
                let local = ArrivalTime::from_nanos(self.now.nanos() as i64);
                self.flows[flow].receiver.on_segment(local, &segment);
            } else {
                self.note_drop(flow);
            }
        } else if self.back.front().is_some_and(|&(at, ..)| at <= self.now)
            && let Some((_, flow, ack)) = self.back.pop_front()
        {
            let local = self.local();
            self.flows[flow].sender.on_ack(local, &ack);
        }
        for flow in 0..self.flows.len() {
            self.attend(flow);
        }
    }

    fn local(&self) -> SendTime {
        SendTime::from_nanos(self.now.nanos() as i64)
    }

    /// Serves the flow `index`: its start, its timer and its segments.
    fn attend(&mut self, index: usize) {
        let (now, local) = (self.now, self.local());
        let flow = &mut self.flows[index];
        if now < SHARED {
            flow.before_shared = flow.receiver.delivered().bytes_f64();
        }
        if flow.start.take_if(|start| *start <= now).is_some() {
            flow.sender.start(local);
        }
        if flow.sender.next_timeout().is_some_and(|at| at <= local) {
            flow.sender.on_timeout(local);
        }
        while let Some(ack) = flow.receiver.poll_ack(ArrivalTime::from_nanos(local.nanos())) {
            self.back.push_back((now + self.path.round_trip / 2, index, ack));
        }
        let window = flow.sender.window();
        if flow.left_slow_start.is_none() && window.ssthresh.is_finite() {
            flow.left_slow_start = Some(window);
        }
        while let Some(segment) = self.flows[index].sender.poll_segment(local) {
            let size = self.flows[index].config.segment_size(&segment).bytes() as u32;
            let carried = Carried { flow: index, segment, size, entered: now };
            if self.link.enqueue(now, carried).is_err() {
                self.note_drop(index);
            }
        }
    }

    /// Counts a drop, and a loss episode if it begins one.
    fn note_drop(&mut self, flow: usize) {
        self.flows[flow].drops += 1;
        // Drops within two round trips through a full queue belong to one loss episode.
        let full = TimeDelta::from_secs_f64(self.path.queue as f64 * 8.0 / self.path.rate.bps() as f64);
        let episode = (self.path.round_trip + full) * 2;
        let again = self.last_drop.replace(self.now).is_none_or(|before| self.now - before > episode);
        self.episodes += u32::from(again && self.now >= SETTLED);
    }
}
