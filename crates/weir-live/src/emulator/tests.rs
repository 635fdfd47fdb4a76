//! The emulator without sockets (`emulator`), with times computed by hand.

use std::sync::Arc;

use weir_net::{
    CoDel, Discipline, DualPi2, FqCoDel, Jitter, LinkConfig, LossModel, Order, QueueConfig, Service, Trace,
};
use weir_units::DataRate;

use super::*;

fn constant(mbps: u64, delay_ms: i64) -> LinkConfig {
    LinkConfig::new(Service::Constant(DataRate::from_mbps(mbps)), TimeDelta::from_millis(delay_ms))
}

fn over(configs: Vec<LinkConfig>) -> Emulator {
    let names = ["first", "second", "third"];
    let links: Vec<_> =
        names.iter().zip(configs).map(|(name, config)| LinkSpec::bottleneck(name, config)).collect();
    let route: Vec<usize> = (0..links.len()).collect();
    Emulator::new(7, &links, &[route]).expect("a valid path")
}

fn packet(buffer: u32, wire_size: u32) -> Transit {
    Transit { buffer, wire_size, ..Transit::default() }
}

fn drain(emulator: &mut Emulator, until: Time) -> Vec<Event> {
    std::iter::from_fn(|| emulator.poll(until)).collect()
}

/// Buffer and time of each delivery.
fn deliveries(events: &[Event]) -> Vec<(u32, Time)> {
    let delivered = events.iter().filter(|event| matches!(event.kind, EventKind::Delivered { .. }));
    delivered.map(|event| (event.packet.buffer, event.at)).collect()
}

#[test]
fn a_drop_tail_link_serves_and_drops_at_the_times_worked_by_hand() {
    // 1250 bytes at 1 Mbit/s take 10 ms. The limit is two packets, that in service included.
    let queue = QueueConfig { limit_packets: Some(2), ..QueueConfig::default() };
    let mut emulator = over(vec![LinkConfig { queue, ..constant(1, 20) }]);
    for buffer in 0..3 {
        emulator.enqueue(Time::from_millis(5), packet(buffer, 1250));
    }
    assert_eq!(emulator.inside(), 2);
    let events = drain(&mut emulator, Time::from_millis(1000));
    let at = Time::from_millis;
    let kinds: Vec<_> = events.iter().map(|event| (event.at, event.packet.number, event.kind)).collect();
    let backlog = |packets, bytes| Backlog { packets, bytes: weir_units::DataSize::from_bytes(bytes) };
    let entered = |backlog, taken| EventKind::Entered { link: 0, backlog, taken };
    let wait = TimeDelta::from_millis(10);
    assert_eq!(
        kinds,
        [
            (at(5), 0, entered(backlog(0, 0), true)),
            (at(5), 1, entered(backlog(1, 1250), true)),
            (at(5), 2, entered(backlog(2, 2500), false)),
            (at(5), 2, EventKind::Dropped { link: 0, loss: Loss::Queue(DropReason::QueuePackets) }),
            (at(35), 0, EventKind::Left { link: 0, wait: TimeDelta::ZERO }),
            (at(35), 0, EventKind::Delivered { wait: TimeDelta::ZERO, marked: false }),
            (at(45), 1, EventKind::Left { link: 0, wait }),
            (at(45), 1, EventKind::Delivered { wait, marked: false }),
        ]
    );
    assert_eq!((emulator.inside(), emulator.next_event()), (0, None));
}

#[test]
fn chained_links_accumulate_no_lateness() {
    // 10 ms and 5 ms of service, 20 ms and 1 ms of propagation: 36 ms, and 10 ms more for each packet behind.
    let mut emulator = over(vec![constant(1, 20), constant(2, 1)]);
    emulator.enqueue(Time::ZERO, packet(0, 1250));
    emulator.enqueue(Time::ZERO, packet(1, 1250));
    assert_eq!(drain(&mut emulator, Time::ZERO).len(), 2);
    assert_eq!(emulator.next_event(), Some(Time::from_millis(30)));
    // The caller sleeps over the first departures, and a third packet comes at that late moment.
    emulator.enqueue(Time::from_millis(500), packet(2, 1250));
    let events = drain(&mut emulator, Time::from_millis(1000));
    let at = Time::from_millis;
    assert_eq!(deliveries(&events), [(0, at(36)), (1, at(46)), (2, at(536))]);
    assert!(events.is_sorted_by_key(|event| event.at));
}

#[test]
fn waiting_counts_only_in_bottlenecks() {
    let links = [LinkSpec::new("near", constant(1, 0)), LinkSpec::bottleneck("far", constant(1, 0))];
    let waits = |link: usize| {
        let mut emulator = Emulator::new(1, &links, &[[link]]).expect("a valid path");
        (0..2).for_each(|buffer| emulator.enqueue(Time::ZERO, packet(buffer, 1250)));
        let events = drain(&mut emulator, Time::MAX);
        let wait = |event: &Event| match event.kind {
            EventKind::Delivered { wait, .. } => Some(wait.millis_f64()),
            _ => None,
        };
        events.iter().filter_map(wait).collect::<Vec<_>>()
    };
    assert_eq!(waits(0), [0.0, 0.0]);
    assert_eq!(waits(1), [0.0, 10.0]);
}

/// The link alone, served at its departure times: buffer and time of each packet that arrives.
fn alone(config: &LinkConfig, arrivals: &[(Time, Transit)]) -> Vec<(u32, Time)> {
    let mut link = Link::new(config, stream(7, "first", "link")).expect("a valid link");
    let mut arrived = Vec::new();
    let mut serve = |link: &mut Link<Carried>, until: Time| {
        while let Some(at) = link.next_departure().filter(|&at| at <= until) {
            if let Some(exit) = link.pop(at)
                && exit.fate == Fate::Arrived
            {
                arrived.push((exit.packet.transit.buffer, at));
            }
        }
    };
    for &(at, transit) in arrivals {
        serve(&mut link, at);
        link.backlog(at);
        let carried = Carried { transit, hop: 0, wait: TimeDelta::ZERO, marked: false };
        let _full = link.enqueue(at, carried);
    }
    serve(&mut link, Time::from_millis(1_000_000));
    arrived
}

/// Packets of 1250 bytes, one per `gap` µs.
fn regular(count: u32, gap: u64) -> Vec<(Time, Transit)> {
    (0..count)
        .map(|number| (Time::from_nanos(u64::from(number) * gap * 1000), packet(number, 1250)))
        .collect()
}

#[test]
fn jitter_loss_and_traces_are_those_of_the_link_alone() {
    let gaussian = Jitter::HalfNormal { sd: TimeDelta::from_millis(5), max: TimeDelta::from_millis(15) };
    let trace = Trace::from_millis([0, 3, 3, 4, 9, 20, 21, 21, 30]).expect("a trace");
    let service = Service::Trace { trace: Arc::new(trace), offset: TimeDelta::ZERO, repeat: true };
    let cases = [
        LinkConfig { jitter: gaussian.clone(), ..constant(2, 20) },
        LinkConfig { jitter: gaussian, order: Order::None, ..constant(2, 20) },
        LinkConfig { loss: LossModel::Bernoulli(0.2), ..constant(2, 20) },
        LinkConfig { service, ..constant(1, 20) },
    ];
    let arrivals = regular(400, 6000);
    for config in cases {
        let expected = alone(&config, &arrivals);
        let mut emulator = over(vec![config]);
        // The caller wakes seldom, and late.
        let mut events = Vec::new();
        for chunk in arrivals.chunks(37) {
            for &(at, transit) in chunk {
                emulator.enqueue(at, transit);
            }
            events.extend(drain(&mut emulator, chunk[0].0));
        }
        events.extend(drain(&mut emulator, Time::from_millis(1_000_000)));
        assert!(expected.len() > 300);
        assert_eq!(deliveries(&events), expected);
        let dropped = events.iter().filter(|event| matches!(event.kind, EventKind::Dropped { .. })).count();
        assert_eq!((dropped, emulator.inside()), (400 - expected.len(), 0));
    }
}

#[test]
fn active_queues_mark_packets_that_are_ecn_capable() {
    let disciplines = [
        (Discipline::CoDel(CoDel::default()), Ecn::Ect0),
        (Discipline::DualPi2(DualPi2::default()), Ecn::Ect1),
    ];
    for (discipline, ecn) in disciplines {
        let queue = QueueConfig { discipline, ..QueueConfig::default() };
        // 1.25 times the capacity for 4 s.
        let mut emulator = over(vec![LinkConfig { queue, ..constant(1, 20) }]);
        for (at, transit) in regular(500, 8000) {
            emulator.enqueue(at, Transit { ecn, ..transit });
        }
        let events = drain(&mut emulator, Time::from_millis(60_000));
        let delivered: Vec<_> = events
            .iter()
            .filter_map(|event| match event.kind {
                EventKind::Delivered { marked, .. } => Some((marked, event.packet.ecn)),
                _ => None,
            })
            .collect();
        assert!(delivered.iter().all(|&(marked, after)| marked == (after == Ecn::Ce)));
        let marked = delivered.iter().filter(|&&(marked, _)| marked).count();
        assert!((10..delivered.len()).contains(&marked), "{ecn:?}: {marked} of {}", delivered.len());
    }
}

#[test]
fn an_emulator_is_refused_with_the_place_of_the_error() {
    let links = [LinkSpec::new("only", constant(1, 0))];
    let refusal =
        |routes: &[Vec<usize>]| Emulator::new(1, &links, routes).expect_err("a bad route").to_string();
    assert_eq!(refusal(&[vec![0], vec![]]), "route 1 has no links");
    assert_eq!(refusal(&[vec![0, 1]]), "route 0 goes over link 1, but there are 1 links");
    let faulty = LinkConfig { loss: LossModel::Bernoulli(2.0), ..constant(1, 0) };
    let error = Emulator::new(1, &[LinkSpec::new("lossy", faulty)], &[[0]]).expect_err("a bad link");
    assert!(error.to_string().starts_with("link \"lossy\": "), "{error}");
}

#[test]
fn a_run_gives_each_flow_two_routes_and_must_not_have_cells() {
    let rate = DataRate::from_kbps(100);
    let packet_size = weir_units::DataSize::from_bytes(1000);
    let links = || vec![LinkSpec::new("there", constant(1, 1)), LinkSpec::new("back", constant(1, 3))];
    let flow = |name| FlowSpec::new(name, Traffic::Constant { rate, packet_size });
    let one_way = FlowSpec { reverse: Vec::new(), ..flow("one-way") };
    let mut spec = RunSpec::over(links(), Time::MAX).with(one_way).with(flow("both"));
    let mut emulator = Emulator::of_run(&spec).expect("plain links");
    assert_eq!(emulator.routes(), 4);
    // 125 bytes take 1 ms; the way back takes 3 ms more.
    let route = route_of(1, Side::Receiver) as u32;
    emulator.enqueue(Time::ZERO, Transit { route, ..packet(0, 125) });
    assert_eq!(deliveries(&drain(&mut emulator, Time::MAX)), [(0, Time::from_millis(4))]);

    let config = weir_net::WifiConfig::default();
    spec.cells.push(weir_world::CellSpec { name: "air".to_owned(), config, links: Vec::new() });
    let error = Emulator::of_run(&spec).expect_err("a cell").to_string();
    assert_eq!(error, "the Wi-Fi cell \"air\" cannot be emulated: real packets cross plain links only");
    spec.cells.clear();
    spec.flows[1].forward.clear();
    assert_eq!(Emulator::of_run(&spec).expect_err("no route").to_string(), "route 2 has no links");
}

#[test]
fn flows_of_one_route_have_queues_of_their_own_where_they_are_distinguished() {
    let place_of_the_short_flow = |flows: [u32; 2]| {
        let queue = QueueConfig {
            discipline: Discipline::FqCoDel(FqCoDel::default()),
            limit_packets: Some(100),
            ..QueueConfig::default()
        };
        let mut emulator = over(vec![LinkConfig { queue, ..constant(1, 20) }]);
        for buffer in 0..20 {
            let flow = flows[usize::from(buffer == 19)];
            emulator.enqueue(Time::ZERO, Transit { flow, ..packet(buffer, 1250) });
        }
        let order = deliveries(&drain(&mut emulator, Time::from_millis(1000)));
        order.iter().position(|&(buffer, _)| buffer == 19)
    };
    // As one flow it waits for all others; as a new flow it waits for the quantum of the other.
    assert!(place_of_the_short_flow([0, 0]).is_some_and(|place| place >= 17));
    assert!(place_of_the_short_flow([7, 9]).is_some_and(|place| place <= 3));
}
