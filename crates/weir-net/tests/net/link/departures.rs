//! Exact departures, worked by hand.

use weir_net::{DropReason, Fate, Link, LinkConfig, Service, Time};
use weir_units::{DataRate, TimeDelta};

use super::{at, bare, constant, exits, exits_and_waits, micros, ms, packet, trace};

const MBPS: fn(u64) -> DataRate = DataRate::from_mbps;

#[test]
fn a_packet_takes_its_serialisation_and_the_way() {
    // 10 000 bits at 1 Mbit/s are 10 ms; the second packet waits for the first from 5 to 10 ms.
    let mut link = Link::new(&LinkConfig::new(constant(MBPS(1)), ms(20)), 1).unwrap();
    assert_eq!(link.propagation(), ms(20));
    assert_eq!(link.next_departure(), None);
    link.enqueue(at(0), packet(0, 1250)).unwrap();
    link.enqueue(at(5), packet(1, 1250)).unwrap();
    link.enqueue(at(100), packet(2, 625)).unwrap();
    assert_eq!(link.len(), 3);
    assert_eq!(exits_and_waits(&mut link), [(at(30), ms(0)), (at(40), ms(5)), (at(125), ms(0))]);
    assert!(link.is_empty());
}

#[test]
fn no_packet_leaves_before_its_time() {
    let mut link = bare(constant(MBPS(1)));
    link.enqueue(at(0), packet(7, 1250)).unwrap();
    assert_eq!(link.pop(Time::from_nanos(9_999_999)), None);
    let exit = link.pop(at(10)).unwrap();
    assert_eq!(exit.packet, packet(7, 1250));
    assert!(exit.fate == Fate::Arrived && !exit.marked);
    assert_eq!(link.pop(Time::MAX), None);
}

#[test]
fn each_packet_is_rounded_up_to_a_nanosecond() {
    // 1000 bytes at 3 Mbit/s: 2 666 666.67 ns.
    let mut link = bare(constant(MBPS(3)));
    for number in 0..3 {
        link.enqueue(at(0), packet(number, 1000)).unwrap();
    }
    assert_eq!(exits(&mut link), [2_666_667, 5_333_334, 8_000_001].map(Time::from_nanos));
}

#[test]
fn a_step_changes_the_rate_of_the_packet_in_service() {
    // 5000 of 10 000 bits in 5 ms at 1 Mbit/s, the others in 2.5 ms at 2 Mbit/s. The queuing delay leaves out the
    // serialisation at the rate of departure: 7.5 - 5 ms. The second packet waits from 6 to 7.5 ms.
    let mut link = bare(Service::Steps(vec![(at(0), MBPS(1)), (at(5), MBPS(2))]));
    link.enqueue(at(0), packet(0, 1250)).unwrap();
    link.enqueue(at(6), packet(1, 1250)).unwrap();
    let wait = TimeDelta::from_micros;
    assert_eq!(exits_and_waits(&mut link), [(micros(7500), wait(2500)), (micros(12_500), wait(1500))]);
}

#[test]
fn a_packet_in_service_that_slows_down_has_not_waited() {
    // 10 000 bits: 5000 in 2.5 ms at 2 Mbit/s, 5000 in 5 ms at 1 Mbit/s; 7.5 ms are less than 10 ms at the end's rate.
    let mut link = bare(Service::Steps(vec![(at(0), MBPS(2)), (micros(2500), MBPS(1))]));
    link.enqueue(at(0), packet(0, 1250)).unwrap();
    assert_eq!(exits_and_waits(&mut link), [(micros(7500), ms(0))]);
}

#[test]
fn one_packet_may_span_many_steps() {
    // 1, 2, 3, 4 Mbit/s for 1 ms each: 1000 + 2000 + 3000 bits, then 4000 of 4 Mbit/s in 1 ms.
    let steps = (0..4).map(|i| (at(i), MBPS(i + 1))).collect();
    let mut link = bare(Service::Steps(steps));
    link.enqueue(at(0), packet(0, 1250)).unwrap();
    assert_eq!(exits_and_waits(&mut link), [(at(4), TimeDelta::from_micros(1500))]);
}

#[test]
fn service_freezes_in_an_outage() {
    // 5 ms of service, 100 ms of outage, 5 ms of service.
    let outage = Service::Steps(vec![(at(0), MBPS(1)), (at(5), MBPS(0)), (at(105), MBPS(1))]);
    let mut link = bare(outage);
    link.enqueue(at(0), packet(0, 1250)).unwrap();
    link.enqueue(at(50), packet(1, 1250)).unwrap();
    assert_eq!(exits_and_waits(&mut link), [(at(110), ms(100)), (at(120), ms(60))]);
}

#[test]
fn a_link_that_will_never_serve_a_packet_drops_it() {
    // Within 5 ms 500 and 125 bytes can be sent, exactly; not one byte more.
    let mut link = bare(Service::Steps(vec![(at(0), MBPS(1)), (at(5), MBPS(0))]));
    let dropped = link.enqueue(at(0), packet(0, 1250)).unwrap_err();
    assert_eq!((dropped.packet, dropped.reason), (packet(0, 1250), DropReason::DeadLink));
    link.enqueue(at(0), packet(1, 500)).unwrap();
    link.enqueue(at(0), packet(2, 125)).unwrap();
    assert_eq!(link.enqueue(at(0), packet(3, 1)).unwrap_err().reason, DropReason::DeadLink);
    assert_eq!(exits(&mut link), [at(4), at(5)]);
    assert_eq!(link.enqueue(at(9), packet(4, 1)).unwrap_err().reason, DropReason::DeadLink);
}

#[test]
fn a_burst_leaves_at_the_opportunities_of_one_millisecond() {
    // 1, 1, 3: two packets of 1500 bytes leave together at 1 ms, the third at 3 ms, two more a cycle later at 4 ms.
    let mut link = bare(trace("1\n1\n3\n", ms(0), true));
    for number in 0..5 {
        link.enqueue(at(0), packet(number, 1500)).unwrap();
    }
    let expected = [(1, 1), (1, 1), (3, 3), (4, 4), (4, 4)].map(|(exit, wait)| (at(exit), ms(wait)));
    assert_eq!(exits_and_waits(&mut link), expected);
}

#[test]
fn a_packet_larger_than_what_is_left_is_served_in_parts() {
    // 1600 bytes take both opportunities at 1 ms and leave 1400 bytes of the second; of 1500 bytes the last 100 wait
    // for 3 ms, where exactly 1400 bytes are left; the next opportunities are those of 4 ms.
    let mut link = bare(trace("1\n1\n3\n", ms(0), true));
    for (number, size) in [1600, 1500, 1400, 1].into_iter().enumerate() {
        link.enqueue(at(0), packet(number as u64, size)).unwrap();
    }
    let expected = [(1, 1), (3, 1), (3, 3), (4, 4)].map(|(exit, wait)| (at(exit), ms(wait)));
    assert_eq!(exits_and_waits(&mut link), expected);
}

#[test]
fn a_packet_cannot_use_an_opportunity_at_its_own_arrival() {
    let mut link = bare(trace("1\n1\n3\n", ms(0), true));
    link.enqueue(at(1), packet(0, 100)).unwrap();
    assert_eq!(exits_and_waits(&mut link), [(at(3), ms(2))]);
}

#[test]
fn unused_bytes_of_an_opportunity_are_lost() {
    // The opportunity at 3 ms carries 100 bytes and could carry 1400 more, but the second packet comes only with
    // it. The third was there before 4 ms and shares the first opportunity of 4 ms.
    let mut link = bare(trace("1\n1\n3\n", ms(0), true));
    link.enqueue(micros(2500), packet(0, 100)).unwrap();
    link.enqueue(at(3), packet(1, 100)).unwrap();
    link.enqueue(micros(3500), packet(2, 1400)).unwrap();
    link.enqueue(micros(3500), packet(3, 1500)).unwrap();
    assert_eq!(exits(&mut link), [at(3), at(4), at(4), at(4)]);
}

#[test]
fn a_first_entry_of_zero_coincides_with_the_end_of_the_cycle_before() {
    // 0..=1000 gives 1001 opportunities per second, 12.012 Mbit/s; 1..=1000 gives 1000, 12 Mbit/s. The one at time
    // zero itself comes before any packet.
    let delivered = |first: u32| {
        let lines: Vec<String> = (first..=1000).map(|n| n.to_string()).collect();
        let mut link = bare(trace(&lines.join("\n"), ms(0), true));
        for number in 0..11_000 {
            link.enqueue(at(0), packet(number, 1500)).unwrap();
        }
        exits(&mut link).iter().filter(|&&exit| exit <= at(10_000)).count()
    };
    assert_eq!(delivered(0), 10_010);
    assert_eq!(delivered(1), 10_000);
}

#[test]
fn a_trace_wraps_for_late_packets_too() {
    // Cycle 1000 of 1, 1, 3 begins at 3000 ms: opportunities at 3001, 3001, 3003.
    let mut link = bare(trace("1\n1\n3\n", ms(0), true));
    link.enqueue(micros(3_000_500), packet(0, 3000)).unwrap();
    link.enqueue(at(3001), packet(1, 1)).unwrap();
    assert_eq!(exits(&mut link), [at(3001), at(3003)]);
}

#[test]
fn a_run_may_begin_inside_the_trace() {
    // 2 ms into 1, 1, 3 the opportunities are at 1, 2, 2, 4 ms.
    let mut link = bare(trace("1\n1\n3\n", ms(2), true));
    for number in 0..4 {
        link.enqueue(at(0), packet(number, 1500)).unwrap();
    }
    assert_eq!(exits(&mut link), [at(1), at(2), at(2), at(4)]);
}

#[test]
fn a_trace_that_does_not_repeat_ends() {
    let mut link = bare(trace("1\n1\n3\n", ms(0), false));
    for number in 0..3 {
        link.enqueue(at(0), packet(number, 1500)).unwrap();
    }
    assert_eq!(link.enqueue(at(0), packet(3, 1)).unwrap_err().reason, DropReason::DeadLink);
    assert_eq!(exits(&mut link), [at(1), at(1), at(3)]);
    assert_eq!(link.enqueue(at(3), packet(4, 1)).unwrap_err().reason, DropReason::DeadLink);
}

#[test]
fn time_that_runs_backwards_counts_as_the_latest_time() {
    let mut link = bare(constant(MBPS(1)));
    link.enqueue(at(50), packet(0, 1250)).unwrap();
    link.enqueue(at(10), packet(1, 1250)).unwrap();
    assert_eq!(exits_and_waits(&mut link), [(at(60), ms(0)), (at(70), ms(10))]);
}

#[test]
fn absurd_sizes_and_times_neither_panic_nor_come_out() {
    let mut link = bare(constant(DataRate::from_bps(1)));
    link.enqueue(Time::MAX, packet(0, u32::MAX)).unwrap();
    link.enqueue(Time::MAX, packet(1, 0)).unwrap();
    assert_eq!((link.next_departure(), link.pop(Time::MAX)), (None, None));
    let mut link = bare(Service::Steps(vec![(at(0), MBPS(1)), (Time::MAX, MBPS(2))]));
    assert_eq!(link.enqueue(Time::MAX, packet(0, u32::MAX)).unwrap_err().reason, DropReason::DeadLink);
    let mut link = bare(trace("1\n", TimeDelta::MAX, true));
    assert_eq!(link.enqueue(Time::MAX, packet(0, u32::MAX)).unwrap_err().reason, DropReason::DeadLink);
}
