//! Tests from queues to groups: packets of flows through drop-tail queues with bursts of background traffic.

use super::{Config, Detector, FlowStatistics};
use crate::coupled::message::{FlowId, Statistics};
use crate::time::{ArrivalTime, SendTime};

/// Queuing time of a flow's packet, in a step of 1 ms.
const PACKET_MS: f64 = 0.8;
const CROSS_PACKET_MS: f64 = 1.2;
const LIMIT_MS: f64 = 150.0;

/// 10 Mbit/s with a drop-tail queue of 150 ms, and background traffic in bursts.
struct Link {
    random: u64,
    backlog_ms: f64,
    credit_ms: f64,
    on: bool,
    turns_at: u64,
    /// Rate during a burst, as a part of the capacity; bursts take half of the time.
    peak: f64,
}

impl Link {
    fn new(seed: u64, peak: f64) -> Self {
        Self { random: seed, backlog_ms: 0.0, credit_ms: 0.0, on: false, turns_at: 0, peak }
    }

    /// A random number in (0, 1].
    fn uniform(&mut self) -> f64 {
        self.random =
            self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.random >> 40) + 1) as f64 / (1_u64 << 24) as f64
    }

    fn step(&mut self, ms: u64) {
        self.backlog_ms = (self.backlog_ms - 1.0).max(0.0);
        if ms >= self.turns_at {
            self.on = !self.on;
            self.turns_at = ms + 1 + (-1000.0 * libm::log(self.uniform())) as u64;
        }
        // Between bursts background traffic still takes a tenth of the link.
        self.credit_ms += 2.0 * self.uniform() * if self.on { self.peak } else { 0.1 };
        while self.credit_ms >= CROSS_PACKET_MS {
            self.credit_ms -= CROSS_PACKET_MS;
            self.pass(CROSS_PACKET_MS);
        }
    }

    /// Delay of a packet in ms, or `None` if the queue is full.
    fn pass(&mut self, packet_ms: f64) -> Option<f64> {
        let room = self.backlog_ms + packet_ms <= LIMIT_MS;
        room.then(|| {
            self.backlog_ms += packet_ms;
            self.backlog_ms
        })
    }
}

#[derive(Clone, Copy)]
struct Flow {
    base_ms: u64,
    offset_s: i64,
    skew_ppm: i64,
    /// Time in s from which it passes the second link.
    second_from: u64,
}

const PLAIN: Flow = Flow { base_ms: 20, offset_s: 0, skew_ppm: 0, second_from: u64::MAX };

/// Seconds at which two flows were coupled (`true`) and parted.
fn changes(seed: u64, seconds: u64, flows: [Flow; 2]) -> Vec<(u64, bool)> {
    let mut links = [Link::new(seed, 1.7), Link::new(seed + 1000, 1.6)];
    let mut statistics = [(); 2].map(|()| FlowStatistics::new(Config::default()).unwrap());
    let mut detector = Detector::new(Config::default()).unwrap();
    let flow_id = |flow: usize| FlowId(flow as u32);
    (0..2).for_each(|flow| {
        detector.join(flow_id(flow), None);
    });
    let (mut coupled, mut changes) = (false, Vec::new());
    for ms in 0..seconds * 1000 {
        for link in &mut links {
            link.step(ms);
        }
        for (place, flow) in flows.iter().enumerate() {
            let Some(sent) =
                ms.checked_sub(flow.base_ms / 2).filter(|sent| (sent + 3 * place as u64).is_multiple_of(10))
            else {
                continue;
            };
            let link = &mut links[usize::from(ms / 1000 >= flow.second_from)];
            let waited = link.pass(PACKET_MS);
            if let Some(of_interval) = take_statistics(&mut statistics[place], flow, sent, waited) {
                detector.on_statistics(flow_id(place), &of_interval);
            }
        }
        while detector.poll().is_some() {}
        let now = detector.group(flow_id(0)) == detector.group(flow_id(1));
        if now != coupled {
            coupled = now;
            changes.push((ms / 1000, now));
        }
    }
    changes
}

/// Arrivals come in order, at once; no reverse path is needed here.
fn take_statistics(
    statistics: &mut FlowStatistics,
    flow: &Flow,
    sent_ms: u64,
    waited: Option<f64>,
) -> Option<Statistics> {
    let sent_ns = sent_ms as i64 * 1_000_000;
    let sent = SendTime::from_nanos(sent_ns);
    match waited {
        Some(waited) => {
            let arrived = sent_ns + flow.base_ms as i64 * 1_000_000 + (waited * 1e6) as i64;
            let skewed = arrived + arrived / 1_000_000 * flow.skew_ppm;
            statistics.on_arrival(sent, ArrivalTime::from_nanos(skewed + flow.offset_s * 1_000_000_000));
        }
        None => statistics.on_loss(sent),
    }
    statistics.poll()
}

const SEEDS: core::ops::Range<u64> = 1..11;

/// Whether the flows are coupled at that second.
fn coupled(changes: &[(u64, bool)], at: u64) -> bool {
    changes.iter().take_while(|&&(changed, _)| changed <= at).last().is_some_and(|&(_, coupled)| coupled)
}

#[test]
fn flows_of_one_bottleneck_are_coupled_soon_and_stay_so_while_it_is_one() {
    for seed in SEEDS {
        let changes = changes(seed, 200, [PLAIN, Flow { base_ms: 90, ..PLAIN }]);
        assert!(matches!(changes[..], [(21..=35, true)]), "seed {seed}: {changes:?}");
    }
}

#[test]
fn flows_of_two_bottlenecks_are_never_coupled() {
    for seed in SEEDS {
        let changes = changes(seed, 300, [PLAIN, Flow { second_from: 0, base_ms: 90, ..PLAIN }]);
        assert_eq!(changes, [], "seed {seed}");
    }
}

#[test]
fn a_bottleneck_that_moves_away_parts_them() {
    for seed in SEEDS {
        let changes = changes(seed, 200, [PLAIN, Flow { second_from: 120, base_ms: 90, ..PLAIN }]);
        assert!((21..120).any(|at| coupled(&changes, at)), "seed {seed}: {changes:?}");
        assert!((160..200).all(|at| !coupled(&changes, at)), "seed {seed}: {changes:?}");
    }
}

#[test]
fn clocks_that_are_off_or_drift_change_nothing() {
    for seed in SEEDS {
        let other = Flow { base_ms: 90, second_from: 120, ..PLAIN };
        let plain = changes(seed, 200, [PLAIN, other]);
        for (offset_s, skew_ppm) in [(1_000_000, 0), (0, 100), (0, -100), (-1_000_000, 50)] {
            let found = changes(seed, 200, [PLAIN, Flow { offset_s, skew_ppm, ..other }]);
            let same = found.iter().zip(&plain).all(|(a, b)| a.1 == b.1 && a.0.abs_diff(b.0) <= 3);
            assert!(
                found.len() == plain.len() && same,
                "seed {seed}, {offset_s} s, {skew_ppm} ppm: {found:?} {plain:?}"
            );
        }
    }
}
