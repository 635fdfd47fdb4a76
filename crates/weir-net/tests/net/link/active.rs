//! Links whose queue decides when it is served.

use std::collections::BTreeSet;
use std::sync::Arc;

use proptest::prelude::*;
use weir_net::{
    CoDel, Discipline, DropReason, DualPi2, Fate, FqCoDel, InService, Link, LinkConfig, LossModel, Order,
    Packet, Pie, QueueConfig, Red, Service, Time, Trace,
};
use weir_units::{DataRate, DataSize, TimeDelta};

use super::{Numbered, at, constant, ms, packet, steps_of, trace, trace_of};

/// A packet of a flow, perhaps of L4S.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Flowing {
    number: u64,
    size: u32,
    flow: u32,
    l4s: bool,
}

impl Packet for Flowing {
    fn wire_size(&self) -> u32 {
        self.size
    }
    fn is_ecn_capable(&self) -> bool {
        self.l4s
    }
    fn is_l4s(&self) -> bool {
        self.l4s
    }
    fn flow(&self) -> u32 {
        self.flow
    }
}

fn disciplines() -> impl Strategy<Value = Discipline> {
    prop_oneof![
        Just(Discipline::DropTail),
        Just(Discipline::DropHead),
        Just(Discipline::CoDel(CoDel::default())),
        Just(Discipline::FqCoDel(FqCoDel::default())),
        Just(Discipline::FqCoDel(FqCoDel { queues: Some(4), ..FqCoDel::default() })),
        Just(Discipline::Pie(Pie::default())),
        Just(Discipline::Red(Red { weight: 0.5, ..Red::default() })),
        Just(Discipline::DualPi2(DualPi2::default())),
    ]
}

fn limits() -> impl Strategy<Value = QueueConfig> {
    let bytes = prop::option::of((0..20_000_u64).prop_map(DataSize::from_bytes));
    let in_service = prop_oneof![Just(InService::Counted), Just(InService::Whole), Just(InService::Free)];
    let mark_above = prop::option::of((0..20_i64).prop_map(TimeDelta::from_millis));
    (bytes, prop::option::of(0..20_u32), in_service, mark_above).prop_map(
        |(limit_bytes, limit_packets, in_service, mark_above)| QueueConfig {
            limit_bytes,
            limit_packets,
            in_service,
            mark_above,
            ..QueueConfig::default()
        },
    )
}

fn services() -> impl Strategy<Value = Service> {
    // The last rate serves everything.
    let steps = prop::collection::vec((1..50_000_000_u64, 0..20_000_000_u64), 0..6).prop_map(|mut pieces| {
        pieces.push((1, 2_000_000));
        Service::Steps(steps_of(pieces))
    });
    let traces = (prop::collection::vec(0..30_u32, 1..20), 0..40_i64)
        .prop_map(|(millis, offset)| trace_of(millis, offset, true));
    let constant = (1000..50_000_000_u64).prop_map(|bps| Service::Constant(DataRate::from_bps(bps)));
    prop_oneof![constant, steps, traces]
}

/// Everything that leaves a link, each with its time, while packets of some sizes arrive after some ns.
#[derive(Debug, Default, PartialEq)]
struct Record {
    left: Vec<(Time, u64, TimeDelta, Fate, bool)>,
    refused: Vec<(u64, DropReason)>,
}

/// Records the packets that leave the link by `until`.
fn pop_until(link: &mut Link<Flowing>, until: Time, record: &mut Record) {
    while let Some(due) = link.next_departure().filter(|&due| due <= until) {
        while let Some(exit) = link.pop(due) {
            record.left.push((due, exit.packet.number, exit.wait, exit.fate, exit.marked));
        }
    }
}

/// The record of `link` under `arrivals` of gaps in ns and sizes in bytes. `new_rate` is a packet's index and the
/// rate in bit/s from then on.
fn run(link: &mut Link<Flowing>, arrivals: &[(u64, u32)], new_rate: Option<(usize, u64)>) -> Record {
    let mut record = Record::default();
    let mut now = Time::ZERO;
    for (number, &(gap, size)) in arrivals.iter().enumerate() {
        now += TimeDelta::from_nanos(gap as i64);
        pop_until(link, now, &mut record);
        if let Some((_, bps)) = new_rate.filter(|&(index, _)| index == number) {
            link.set_rate(now, DataRate::from_bps(bps));
        }
        let number = number as u64;
        let packet = Flowing { number, size, flow: (number % 3) as u32, l4s: number % 2 == 1 };
        if let Err(dropped) = link.enqueue(now, packet) {
            record.refused.push((number, dropped.reason));
        }
    }
    pop_until(link, Time::MAX, &mut record);
    record
}

fn arrivals() -> impl Strategy<Value = Vec<(u64, u32)>> {
    prop::collection::vec((prop_oneof![Just(0), 0..3_000_000_u64, Just(1_000_000)], 1..3000_u32), 1..150)
}

proptest! {
    #[test]
    fn an_active_link_that_only_queues_does_what_a_passive_one_does(
        service in services(),
        queue in limits(),
        loss in prop_oneof![Just(LossModel::None), Just(LossModel::Bernoulli(0.3))],
        arrivals in arrivals(),
        new_rate in prop::option::of((0..100_usize, 1000..10_000_000_u64)),
        seed: u64,
    ) {
        // A packet that waits for its opportunity is in service for a passive link, and still queued for an active one.
        let in_service =
            if matches!(service, Service::Trace { .. }) { InService::Counted } else { queue.in_service };
        let queue = QueueConfig { in_service, ..queue };
        let passive = LinkConfig { queue, loss, ..LinkConfig::new(service, ms(7)) };
        let active = LinkConfig { order: Order::None, ..passive.clone() };
        let run = |config: &LinkConfig| run(&mut Link::new(config, seed).unwrap(), &arrivals, new_rate);
        prop_assert_eq!(run(&passive), run(&active));
    }

    #[test]
    fn under_every_discipline_each_packet_leaves_once(
        service in services(),
        queue in limits(),
        discipline in disciplines(),
        order in prop_oneof![Just(Order::Link), Just(Order::Flow), Just(Order::None)],
        arrivals in arrivals(),
        seed: u64,
    ) {
        let queue = QueueConfig { discipline, ..queue };
        let config = LinkConfig { queue, order, ..LinkConfig::new(service, ms(7)) };
        let mut link = Link::new(&config, seed).unwrap();
        let record = run(&mut link, &arrivals, None);
        prop_assert!(link.is_empty());
        prop_assert_eq!(link.backlog(Time::MAX).packets, 0);
        let mut numbers: BTreeSet<u64> = record.left.iter().map(|left| left.1).collect();
        numbers.extend(record.refused.iter().map(|refused| refused.0));
        prop_assert_eq!(numbers.len(), arrivals.len());
        prop_assert_eq!(record.left.len() + record.refused.len(), arrivals.len());
        prop_assert!(record.left.is_sorted_by_key(|left| left.0));
        let again = run_again(&config, seed, &arrivals);
        prop_assert_eq!(record, again);
    }
}

fn run_again(config: &LinkConfig, seed: u64, arrivals: &[(u64, u32)]) -> Record {
    run(&mut Link::new(config, seed).unwrap(), arrivals, None)
}

fn link(service: Service, queue: QueueConfig) -> Link<Numbered> {
    Link::new(&LinkConfig { queue, ..LinkConfig::new(service, ms(0)) }, 1).unwrap()
}

/// The packets that leave, in order: time in ms, number, whether it was dropped.
fn leaving(link: &mut Link<Numbered>) -> Vec<(u64, u64, bool)> {
    let mut leaving = Vec::new();
    while let Some(due) = link.next_departure() {
        while let Some(exit) = link.pop(due) {
            let dropped = matches!(exit.fate, Fate::Dropped(_));
            leaving.push((due.nanos() / 1_000_000, exit.packet.number, dropped));
        }
    }
    leaving
}

#[test]
fn at_the_head_the_oldest_packets_make_room() {
    // 1250 bytes take 10 ms; two may wait behind the one in service.
    let queue = QueueConfig {
        limit_packets: Some(2),
        in_service: InService::Free,
        discipline: Discipline::DropHead,
        ..QueueConfig::default()
    };
    let mut link = link(constant(DataRate::from_mbps(1)), queue);
    for number in 0..5 {
        link.enqueue(at(0), packet(number, 1250)).unwrap();
    }
    let expected = [(0, 1, true), (0, 2, true), (10, 0, false), (20, 3, false), (30, 4, false)];
    assert_eq!(leaving(&mut link), expected);
}

#[test]
fn a_limit_of_bytes_may_follow_the_rate() {
    // 100 ms at 1 Mbit/s are 12 500 bytes, at 2 Mbit/s 25 000; the packet in service counts.
    let queue = QueueConfig { limit_at_rate: Some(ms(100)), ..QueueConfig::default() };
    let steps = vec![(at(0), DataRate::from_mbps(1)), (at(1000), DataRate::from_mbps(2))];
    let passive = LinkConfig { queue, ..LinkConfig::new(Service::Steps(steps), ms(0)) };
    for config in [passive.clone(), LinkConfig { order: Order::None, ..passive }] {
        let mut link = Link::new(&config, 1).unwrap();
        let taken = |link: &mut Link<Numbered>, now| {
            (0..100).filter(|&number| link.enqueue(now, packet(number, 1250)).is_ok()).count()
        };
        assert_eq!(taken(&mut link, at(0)), 10);
        assert_eq!(taken(&mut link, at(1000)), 20);
    }
}

#[test]
fn a_dropped_packet_leaves_the_link_at_once_whatever_the_delay() {
    // 10 ms of service each and 300 ms of propagation. Packet k is fetched at 10·k ms: the first above 5 ms of
    // wait at 10 ms, so that an interval later, at 110 ms, one is dropped in its place.
    let codel = CoDel { ecn: false, ..CoDel::default() };
    let fq = FqCoDel { codel, ..FqCoDel::default() };
    for discipline in [Discipline::CoDel(codel), Discipline::FqCoDel(fq)] {
        let queue = QueueConfig { discipline, ..QueueConfig::default() };
        let config = LinkConfig { queue, ..LinkConfig::new(constant(DataRate::from_mbps(1)), ms(300)) };
        let mut link = Link::new(&config, 1).unwrap();
        for number in 0..200 {
            link.enqueue(at(0), packet(number, 1250)).unwrap();
        }
        let first = std::iter::from_fn(|| {
            let due = link.next_departure()?;
            Some((due, link.pop(due)))
        });
        let dropped = first.filter_map(|(due, exit)| {
            exit.filter(|exit| exit.fate != Fate::Arrived).map(|exit| (due, exit.wait))
        });
        let dropped: Vec<_> = dropped.take(2).collect();
        assert_eq!(dropped[0], (at(110), ms(110)), "{discipline:?}");
        assert_eq!(dropped[1], (at(210), ms(210)), "{discipline:?}");
    }
}

#[test]
fn on_a_trace_the_rate_of_the_moment_is_that_of_the_last_100_ms() {
    // An opportunity each 10 ms for a second (1.2 Mbit/s), each millisecond for the next (12 Mbit/s).
    let slow = (1..=100).map(|n| 10 * n).chain(1001..=2000);
    let trace = Arc::new(Trace::from_millis(slow).unwrap());
    assert_eq!(trace.peak_rate(), DataRate::from_mbps(12));
    let service = Service::Trace { trace, offset: ms(0), repeat: true };
    let queue = QueueConfig { limit_at_rate: Some(ms(100)), ..QueueConfig::default() };
    let config = LinkConfig { queue, ..LinkConfig::new(service, ms(0)) };
    for (now, expected) in [(0, 10), (500, 10), (1050, 55), (1500, 100), (2050, 55)] {
        let mut link = Link::new(&config, 1).unwrap();
        let taken = (0..200).filter(|&number| link.enqueue(at(now), packet(number, 1500)).is_ok()).count();
        assert_eq!(taken, expected, "at {now} ms");
    }
}

#[test]
fn a_limit_of_time_is_foreseen_over_the_whole_backlog() {
    let queue = QueueConfig {
        limit_time: Some(ms(100)),
        discipline: Discipline::CoDel(CoDel::default()),
        ..QueueConfig::default()
    };
    let mut constant = link(constant(DataRate::from_mbps(1)), queue);
    let taken = (0..20).filter(|&number| constant.enqueue(at(0), packet(number, 1250)).is_ok()).count();
    assert_eq!(taken, 10);
    // Opportunities at 10, 20, ... 100 ms.
    let mut traced = link(trace("10\n", ms(0), true), queue);
    let taken = (0..20).filter(|&number| traced.enqueue(at(0), packet(number, 1500)).is_ok()).count();
    assert_eq!(taken, 10);
}

#[test]
fn codel_on_a_trace_is_asked_at_the_opportunities() {
    // One opportunity each 10 ms, one packet each 5 ms: packet k is served at 10·(k + 1) ms after 5·k + 10 ms, over
    // the target from the first on; an interval after the second dequeue that leaves two packets behind, one goes.
    let queue = QueueConfig { discipline: Discipline::CoDel(CoDel::default()), ..QueueConfig::default() };
    let mut link = link(trace("10\n", ms(0), true), queue);
    let mut dropped = Vec::new();
    for number in 0..100 {
        let capable = Numbered { ecn_capable: false, ..packet(number, 1500) };
        while let Some(due) = link.next_departure().filter(|&due| due <= at(5 * number)) {
            while let Some(exit) = link.pop(due) {
                if exit.fate == Fate::Dropped(DropReason::Aqm) {
                    dropped.push(due);
                }
            }
        }
        link.enqueue(at(5 * number), capable).unwrap();
    }
    // At 10 ms one packet is left behind (1500 bytes, never enough), at 20 ms two: 20 + 100, then + 100, + 70.71 ms.
    assert_eq!(dropped[..3], [at(120), at(220), at(300)]);
}

#[test]
fn a_service_that_ends_gives_up_what_waits() {
    let queue = QueueConfig { discipline: Discipline::DropHead, ..QueueConfig::default() };
    let mut traced = link(trace("1\n1\n3\n", ms(0), false), queue);
    for number in 0..5 {
        traced.enqueue(at(0), packet(number, 1500)).unwrap();
    }
    let expected = [(1, 0, false), (1, 1, false), (3, 3, true), (3, 4, true), (3, 2, false)];
    assert_eq!(leaving(&mut traced), expected);
    assert_eq!(traced.enqueue(at(9), packet(5, 1)).unwrap_err().reason, DropReason::DeadLink);
}

/// A link of 1 Mbit/s and 25 ms with this queue and two packets of 10 ms that arrive at the beginning.
fn with_two(discipline: Discipline) -> Link<Numbered> {
    let queue = QueueConfig { discipline, ..QueueConfig::default() };
    let config = LinkConfig { queue, ..LinkConfig::new(constant(DataRate::from_mbps(1)), ms(25)) };
    let mut link = Link::new(&config, 1).unwrap();
    (0..2).for_each(|number| link.enqueue(at(0), packet(number, 1250)).unwrap());
    link
}

#[test]
fn a_queue_that_drops_what_arrives_alone_wakes_only_where_a_packet_comes_out() {
    for discipline in [Discipline::Pie(Pie::default()), Discipline::Red(Red::default())] {
        let mut link = with_two(discipline);
        let mut left = Vec::new();
        while let Some(due) = link.next_departure() {
            left.push((due, link.pop(due).map(|exit| exit.packet.number)));
        }
        assert_eq!(left, [(at(35), Some(0)), (at(45), Some(1))]);
    }
}

#[test]
fn the_backlog_of_an_active_queue_counts_what_is_left_of_the_packet_in_service() {
    for discipline in [Discipline::CoDel(CoDel::default()), Discipline::DualPi2(DualPi2::default())] {
        let mut link = with_two(discipline);
        let backlog = |link: &mut Link<Numbered>, now| {
            let backlog = link.backlog(at(now));
            (backlog.packets, backlog.bytes.bytes())
        };
        // 1 ms is 125 bytes.
        assert_eq!((backlog(&mut link, 0), backlog(&mut link, 4)), ((2, 2500), (2, 2000)));
        assert!(link.pop(at(10)).is_none());
        assert_eq!((backlog(&mut link, 10), backlog(&mut link, 15)), ((1, 1250), (1, 625)));
        assert!(link.pop(at(20)).is_none());
        assert_eq!(backlog(&mut link, 20), (0, 0));
    }
}

#[test]
fn a_passive_link_keeps_its_wake_up_whatever_comes_behind_and_an_active_one_is_none() {
    let mut passive = with_two(Discipline::DropTail);
    let due = passive.next_departure();
    passive.enqueue(at(1), packet(2, 1250)).unwrap();
    assert_eq!(passive.next_departure(), due);
    assert!(passive.as_passive().is_some());
    assert!(with_two(Discipline::CoDel(CoDel::default())).as_passive().is_none());
}
