//! The packets that jitter may reorder.

use weir_net::{CoDel, Discipline, Jitter, Link, LinkConfig, Order, Packet, Pie, QueueConfig, Red, Time};
use weir_units::DataRate;

use super::{at, constant, ms};

#[derive(Clone, Copy, Debug)]
struct OfFlow {
    number: u64,
    flow: u32,
}

impl Packet for OfFlow {
    fn wire_size(&self) -> u32 {
        125
    }
    fn flow(&self) -> u32 {
        self.flow
    }
}

/// Exits of 20 000 packets of two flows by turns, 2 ms apart, with uniform jitter up to 20 ms: time, number and flow.
fn exits(order: Order) -> Vec<(Time, u64, u32)> {
    let jitter = Jitter::Uniform { max: ms(20) };
    let config = LinkConfig { jitter, order, ..LinkConfig::new(constant(DataRate::from_mbps(10)), ms(30)) };
    let mut link = Link::new(&config, 5).unwrap();
    let mut exits = Vec::new();
    let mut pop = |link: &mut Link<OfFlow>, until: Time| {
        while let Some(due) = link.next_departure().filter(|&due| due <= until) {
            while let Some(exit) = link.pop(due) {
                exits.push((due, exit.packet.number, exit.packet.flow));
            }
        }
    };
    for number in 0..20_000 {
        pop(&mut link, at(2 * number));
        link.enqueue(at(2 * number), OfFlow { number, flow: (number % 2) as u32 }).unwrap();
    }
    pop(&mut link, Time::MAX);
    exits
}

/// Share of packets that come out after a later one, of all and within flows.
fn overtaken(exits: &[(Time, u64, u32)]) -> (f64, f64) {
    let late = |exits: &[(Time, u64, u32)]| {
        let mut highest = 0;
        let late = exits.iter().filter(|exit| {
            highest = highest.max(exit.1);
            exit.1 < highest
        });
        late.count() as f64 / exits.len() as f64
    };
    let flow: Vec<_> = exits.iter().copied().filter(|exit| exit.2 == 0).collect();
    (late(exits), late(&flow))
}

#[test]
fn order_is_kept_on_the_link_or_within_a_flow_or_not_at_all() {
    let [link, flow, none] = [Order::Link, Order::Flow, Order::None].map(|order| overtaken(&exits(order)));
    assert_eq!(link, (0.0, 0.0));
    assert!(flow.0 > 0.1 && flow.1 == 0.0, "{flow:?}");
    assert!(none.0 > 0.5 && none.1 > 0.3, "{none:?}");
}

#[test]
fn without_order_every_packet_gets_its_own_delay() {
    // Uniform on [0, 20] ms: mean 10 ms, standard error 0.04 ms; 0.1 ms of serialisation and 30 ms of propagation.
    let exits = exits(Order::None);
    let extra = |&(due, number, _): &(Time, u64, u32)| (due - at(2 * number)).millis_f64() - 30.1;
    let mean = exits.iter().map(extra).sum::<f64>() / exits.len() as f64;
    assert!((mean - 10.0).abs() < 0.15, "{mean}");
    assert!(exits.iter().map(extra).all(|extra| (-1e-9..=20.0 + 1e-9).contains(&extra)));
    assert!(exits.is_sorted_by_key(|&(due, ..)| due));
}

#[test]
fn a_packet_of_a_burst_overtakes_one_that_was_served_before_it() {
    // 10 ms each, back to back; the first is then held for 100 ms, the second not at all.
    let disciplines = [
        Discipline::DropTail,
        Discipline::DropHead,
        Discipline::CoDel(CoDel::default()),
        Discipline::Pie(Pie::default()),
        Discipline::Red(Red::default()),
    ];
    for discipline in disciplines {
        for order in [Order::None, Order::Flow] {
            let config = LinkConfig {
                jitter: Jitter::Trace(vec![ms(100), ms(0)].into()),
                order,
                queue: QueueConfig { discipline, ..QueueConfig::default() },
                ..LinkConfig::new(constant(DataRate::from_kbps(100)), ms(0))
            };
            let mut link = Link::new(&config, 1).unwrap();
            for number in 0..2 {
                link.enqueue(at(0), OfFlow { number, flow: number as u32 }).unwrap();
            }
            let mut exits = Vec::new();
            while let Some(due) = link.next_departure() {
                exits.extend(link.pop(due).map(|exit| (due, exit.packet.number)));
            }
            assert_eq!(exits, [(at(20), 1), (at(110), 0)], "{discipline:?} {order:?}");
        }
    }
}
