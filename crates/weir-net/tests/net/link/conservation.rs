//! Invariants of every link under any sequence of calls.

use std::collections::VecDeque;

use proptest::option;
use proptest::prelude::*;
use weir_net::{
    DropReason, InService, Jitter, Link, LinkChange, LinkConfig, LossModel, Order, QueueConfig, QueueLimits,
    Service, Time,
};
use weir_units::{DataRate, DataSize, TimeDelta};

use super::{Numbered, packet, steps_of, trace_of};

#[derive(Clone, Copy, Debug)]
enum Operation {
    Wait { ns: u64 },
    Enqueue { size: u32 },
    Pop,
    PopAtNext,
    SetRate { bps: u64 },
}

fn operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        3 => (0..20_000_000_u64).prop_map(|ns| Operation::Wait { ns }),
        8 => prop_oneof![Just(0), 1..3000_u32, Just(1500), Just(u32::MAX)]
            .prop_map(|size| Operation::Enqueue { size }),
        3 => Just(Operation::Pop),
        3 => Just(Operation::PopAtNext),
        1 => prop_oneof![Just(0), 1..100_000_000_u64, Just(u64::MAX)]
            .prop_map(|bps| Operation::SetRate { bps }),
    ]
}

fn service() -> impl Strategy<Value = Service> {
    let steps = prop::collection::vec((1..50_000_000_u64, 0..20_000_000_u64), 0..6)
        .prop_map(|pieces| Service::Steps(steps_of(pieces)));
    let trace = (prop::collection::vec(0..30_u32, 1..20), 0..40_i64, any::<bool>())
        .prop_map(|(millis, offset, repeat)| trace_of(millis, offset, repeat));
    let constant = (1..50_000_000_u64).prop_map(|bps| Service::Constant(DataRate::from_bps(bps)));
    prop_oneof![constant, steps, trace]
}

fn config() -> impl Strategy<Value = LinkConfig> {
    let queue = (
        prop::option::of((0..200_i64).prop_map(TimeDelta::from_millis)),
        prop::option::of((0..20_000_u64).prop_map(DataSize::from_bytes)),
        prop::option::of(0..20_u32),
        prop_oneof![Just(InService::Counted), Just(InService::Whole), Just(InService::Free)],
        prop::option::of((0..20_i64).prop_map(TimeDelta::from_millis)),
    )
        .prop_map(|(limit_time, limit_bytes, limit_packets, in_service, mark_above)| QueueConfig {
            limit_time,
            limit_bytes,
            limit_packets,
            in_service,
            mark_above,
            ..QueueConfig::default()
        });
    let (sd, max) = (TimeDelta::from_millis(5), TimeDelta::from_millis(15));
    let jitter = prop_oneof![
        Just(Jitter::None),
        Just(Jitter::HalfNormal { sd, max }),
        Just(Jitter::Uniform { max }),
        Just(Jitter::ClippedNormal { mean: sd, sd, max }),
    ];
    let loss = prop_oneof![Just(0.0), Just(1.0), 0.0..1.0].prop_map(LossModel::Bernoulli);
    let changes = prop::collection::vec((0..1000_u64, option::of(0..50_i64), option::of(0..20_u32)), 0..4);
    (service(), queue, 0..50_i64, jitter, loss, changes).prop_map(
        |(service, queue, delay, jitter, loss, changes)| LinkConfig {
            service,
            queue,
            delay: TimeDelta::from_millis(delay),
            jitter,
            order: Order::Link,
            loss,
            changes: in_order(changes),
        },
    )
}

/// Changes at these milliseconds, to these delays in milliseconds and limits in packets.
fn in_order(mut changes: Vec<(u64, Option<i64>, Option<u32>)>) -> Vec<LinkChange> {
    changes.sort_unstable();
    changes.dedup_by_key(|change| change.0);
    let change_of = |(at, delay, packets): (u64, Option<i64>, Option<u32>)| LinkChange {
        at: Time::from_millis(at),
        delay: delay.map(TimeDelta::from_millis),
        limits: Some(QueueLimits { packets, ..QueueLimits::default() }),
        loss: None,
    };
    changes.into_iter().map(change_of).collect()
}

/// A link with a record of everything that went in and came out.
struct Audited {
    link: Link<Numbered>,
    delay: TimeDelta,
    now: Time,
    arrivals: Vec<Time>,
    sizes: Vec<u64>,
    inside: VecDeque<u64>,
    dropped: usize,
    popped: usize,
    last_exit: Time,
}

impl Audited {
    fn new(config: &LinkConfig, seed: u64) -> Self {
        let link = Link::new(config, seed).unwrap();
        Self {
            delay: link.propagation(),
            link,
            now: Time::ZERO,
            arrivals: Vec::new(),
            sizes: Vec::new(),
            inside: VecDeque::new(),
            dropped: 0,
            popped: 0,
            last_exit: Time::ZERO,
        }
    }

    /// Applies an operation and checks the invariants.
    fn apply(&mut self, operation: Operation) {
        match operation {
            Operation::Wait { ns } => self.now += TimeDelta::from_nanos(ns as i64),
            Operation::Enqueue { size } => self.enqueue(size),
            Operation::Pop => self.pop(),
            Operation::PopAtNext => {
                self.now = self.link.next_departure().map_or(self.now, |due| due.max(self.now));
                self.pop();
            }
            Operation::SetRate { bps } => self.link.set_rate(self.now, DataRate::from_bps(bps)),
        }
        self.check();
    }

    /// Puts a packet of `size` bytes on the link. An idle link may not refuse it.
    fn enqueue(&mut self, size: u32) {
        let number = self.arrivals.len() as u64;
        let idle = self.link.backlog(self.now).packets == 0;
        self.arrivals.push(self.now);
        self.sizes.push(u64::from(size.max(1)));
        match self.link.enqueue(self.now, packet(number, size)) {
            Ok(()) => self.inside.push_back(number),
            Err(drop) => {
                assert_eq!(drop.packet.number, number);
                assert!(!idle || drop.reason == DropReason::DeadLink);
                self.dropped += 1;
            }
        }
    }

    /// Takes a packet off the link, and checks order and times.
    fn pop(&mut self) {
        let due = self.link.next_departure();
        let exit = self.link.pop(self.now);
        assert_eq!(exit.is_some(), due.is_some_and(|due| due <= self.now));
        let (Some(due), Some(exit)) = (due, exit) else { return };
        assert_eq!(Some(exit.packet.number), self.inside.pop_front(), "packets keep their order");
        assert!(due >= self.last_exit, "exits are in order of time");
        let arrival = self.arrivals[exit.packet.number as usize];
        assert!(exit.wait >= TimeDelta::ZERO && exit.wait + self.delay <= due - arrival);
        (self.last_exit, self.popped) = (due, self.popped + 1);
    }

    fn check(&mut self) {
        assert_eq!(self.arrivals.len(), self.dropped + self.popped + self.link.len());
        assert_eq!(self.inside.len(), self.link.len());
        let backlog = self.link.backlog(self.now);
        assert!(backlog.packets as usize <= self.link.len());
        // The last packets that went in are those that wait; only the first of them may be served in part.
        let waiting = self.inside.iter().rev().take(backlog.packets as usize);
        let sizes: Vec<u64> = waiting.map(|&number| self.sizes[number as usize]).collect();
        let (all, in_service) = (sizes.iter().sum::<u64>(), sizes.last().copied().unwrap_or(0));
        assert!((all - in_service..=all).contains(&backlog.bytes.bytes()), "{backlog:?}, sizes {sizes:?}");
    }
}

proptest! {
    #[test]
    fn every_packet_is_dropped_or_comes_out_once_and_in_order(
        config in config(),
        seed: u64,
        operations in prop::collection::vec(operation(), 0..200),
    ) {
        let mut audited = Audited::new(&config, seed);
        for operation in operations {
            audited.apply(operation);
        }
        audited.apply(Operation::SetRate { bps: 1_000_000_000 });
        while audited.link.next_departure().is_some() {
            audited.apply(Operation::PopAtNext);
        }
        prop_assert!(audited.link.is_empty());
        prop_assert_eq!(audited.dropped + audited.popped, audited.arrivals.len());
    }

    #[test]
    fn a_link_serves_no_more_than_its_capacity(
        service in service(),
        sizes in prop::collection::vec(1..3000_u32, 1..100),
    ) {
        let mut link = Link::new(&LinkConfig::new(service.clone(), TimeDelta::ZERO), 1).unwrap();
        let mut taken = Vec::new();
        for (number, &size) in sizes.iter().enumerate() {
            if link.enqueue(Time::ZERO, packet(number as u64, size)).is_ok() {
                taken.push(size);
            }
        }
        let mut served = DataSize::ZERO;
        while let Some(due) = link.next_departure() {
            served += DataSize::from_bytes(u64::from(link.pop(due).unwrap().packet.size));
            prop_assert!(served <= service.capacity(Time::ZERO, due + TimeDelta::from_nanos(1)));
        }
        prop_assert_eq!(served.bytes(), taken.iter().map(|&size| u64::from(size)).sum::<u64>());
    }
}
