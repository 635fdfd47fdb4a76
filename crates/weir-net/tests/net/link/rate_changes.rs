//! Rates that change while packets wait.

use weir_net::{Jitter, Link, LinkConfig, Service};
use weir_units::{DataRate, DataSize, TimeDelta};

use super::{Numbered, at, bare, constant, exits, exits_and_waits, micros, ms, packet, trace};

const MBPS: fn(u64) -> DataRate = DataRate::from_mbps;

/// A link with `count` packets of `size` bytes, all of time 0.
fn filled(service: Service, count: u64, size: u32) -> Link<Numbered> {
    let mut link = bare(service);
    for number in 0..count {
        link.enqueue(at(0), packet(number, size)).unwrap();
    }
    link
}

#[test]
fn half_the_rate_drains_the_same_backlog_in_twice_the_time() {
    // 25 000 bytes: 100 ms at 2 Mbit/s, 200 ms at 1 Mbit/s.
    let mut link = filled(constant(MBPS(2)), 20, 1250);
    assert_eq!(exits(&mut link.clone()).last(), Some(&at(100)));
    link.set_rate(at(0), MBPS(1));
    let exits = exits(&mut link);
    assert_eq!((exits.len(), exits.last()), (20, Some(&at(200))));
}

#[test]
fn the_bits_left_continue_at_the_new_rate() {
    // At 2.5 ms half of 10 000 bits are served at 2 Mbit/s; the others take 5 ms at 1 Mbit/s, the next packet 10 ms.
    // Its queuing delay: 17.5 - 0 - 10 ms.
    let mut link = filled(constant(MBPS(2)), 2, 1250);
    link.set_rate(micros(2500), MBPS(1));
    let wait = TimeDelta::from_micros;
    assert_eq!(exits_and_waits(&mut link), [(micros(7500), wait(0)), (micros(17_500), wait(7500))]);
}

#[test]
fn a_packet_may_see_many_rates() {
    // 10 000 bits: 1 ms at 1 Mbit/s, 1 ms at 2, 1 ms at 3, nothing for 7 ms, the last 4000 bits at 4 Mbit/s.
    let mut link = filled(constant(MBPS(1)), 1, 1250);
    for (when, rate) in [(1, 2), (2, 3), (3, 0)] {
        link.set_rate(at(when), MBPS(rate));
    }
    assert_eq!(link.next_departure(), None);
    link.enqueue(at(4), packet(1, 500)).unwrap();
    assert_eq!(link.backlog(at(5)).bytes, DataSize::from_bytes(500 + 500));
    link.set_rate(at(10), MBPS(4));
    assert_eq!(exits(&mut link), [at(11), at(12)]);
}

#[test]
fn packets_that_have_departed_are_not_called_back() {
    let config = LinkConfig::new(constant(MBPS(1)), ms(100));
    let mut link = Link::new(&config, 1).unwrap();
    link.enqueue(at(0), packet(0, 1250)).unwrap();
    link.enqueue(at(0), packet(1, 1250)).unwrap();
    // At 10 ms the first is on its way, the second about to begin: 100 ms at 100 kbit/s.
    link.set_rate(at(10), DataRate::from_kbps(100));
    assert_eq!(exits(&mut link), [at(110), at(210)]);
}

#[test]
fn a_faster_link_does_not_reorder_what_comes_out() {
    // At 5 ms 5 of 10 ms are served; the rest is nearly nothing at 1 Gbit/s: 5000 + 10 000 bits in 5 + 10 µs.
    let mut link = filled(constant(MBPS(1)), 2, 1250);
    link.set_rate(at(5), MBPS(1000));
    assert_eq!(exits(&mut link), [micros(5005), micros(5015)]);
}

#[test]
fn a_rate_may_follow_steps_and_traces() {
    // 3 ms at 1 Mbit/s are 3000 of 10 000 bits, 1 ms at 2 Mbit/s another 2000; the rest at 5 Mbit/s takes 1 ms.
    let mut link = filled(Service::Steps(vec![(at(0), MBPS(1)), (at(3), MBPS(2))]), 1, 1250);
    link.set_rate(at(4), MBPS(5));
    assert_eq!(exits(&mut link), [at(5)]);
    // Of 1500 + 4000 bytes 3000 are served at 1 ms; the other 2500 take 20 ms at 1 Mbit/s.
    let mut link = filled(trace("1\n1\n3\n", ms(0), true), 1, 1500);
    link.enqueue(at(0), packet(1, 4000)).unwrap();
    link.set_rate(at(2), MBPS(1));
    assert_eq!(exits(&mut link), [at(1), at(22)]);
}

#[test]
fn an_idle_link_takes_a_new_rate_too() {
    let mut link = filled(constant(MBPS(1)), 1, 1250);
    link.pop(at(10)).unwrap();
    link.set_rate(at(20), MBPS(2));
    link.enqueue(at(30), packet(1, 1250)).unwrap();
    assert_eq!(exits_and_waits(&mut link), [(at(35), ms(0))]);
}

#[test]
fn a_packet_on_its_way_holds_back_those_behind_it() {
    // Jitter keeps the first packet until its exit; the second may then be served faster but not come out earlier.
    let jitter = Jitter::Uniform { max: ms(1000) };
    let config = LinkConfig { jitter, ..LinkConfig::new(constant(MBPS(1)), ms(0)) };
    for seed in 0..50 {
        let mut link = Link::new(&config, seed).unwrap();
        for number in 0..4 {
            link.enqueue(at(0), packet(number, 1250)).unwrap();
        }
        let first = link.next_departure().unwrap();
        link.set_rate(at(10), MBPS(1000));
        let exits = exits(&mut link);
        assert_eq!(exits[0], first);
        assert!(exits.is_sorted(), "{exits:?}");
    }
}

#[test]
fn services_have_their_steps_and_rates() {
    let steps = vec![(at(0), MBPS(1)), (at(10), MBPS(3)), (at(20), MBPS(2))];
    let stepped = Service::Steps(steps.clone());
    assert_eq!(
        (stepped.steps(), stepped.nominal_rate(), stepped.peak_rate()),
        (&steps[..], MBPS(3), MBPS(3))
    );
    let steady = constant(MBPS(5));
    assert_eq!((steady.steps(), steady.nominal_rate(), steady.peak_rate()), (&[][..], MBPS(5), MBPS(5)));
    // Three opportunities of 1500 bytes in 3 ms, which all lie within 100 ms.
    let traced = trace("1\n2\n3\n", ms(0), true);
    assert_eq!((traced.steps(), traced.nominal_rate()), (&[][..], MBPS(12)));
    assert_eq!(traced.peak_rate(), DataRate::from_kbps(360));
}
