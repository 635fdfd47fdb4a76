//! Packets that a queue takes, drops and marks.

use weir_net::{Backlog, DropReason, InService, Link, LinkConfig, QueueConfig, Service};
use weir_units::{DataRate, DataSize};

use super::{Numbered, at, bare, constant, drain, micros, ms, packet, trace};

const MBPS: fn(u64) -> DataRate = DataRate::from_mbps;

fn link(service: Service, queue: QueueConfig) -> Link<Numbered> {
    Link::new(&LinkConfig { queue, ..LinkConfig::new(service, ms(0)) }, 1).unwrap()
}

/// At 1 Mbit/s 1250 bytes take 10 ms.
fn one_mbps(queue: QueueConfig) -> Link<Numbered> {
    link(constant(MBPS(1)), queue)
}

fn bytes(limit: u64, in_service: InService) -> QueueConfig {
    QueueConfig { limit_bytes: Some(DataSize::from_bytes(limit)), in_service, ..QueueConfig::default() }
}

fn packets(limit: u32, in_service: InService) -> QueueConfig {
    QueueConfig { limit_packets: Some(limit), in_service, ..QueueConfig::default() }
}

fn time(limit: i64) -> QueueConfig {
    QueueConfig { limit_time: Some(ms(limit)), ..QueueConfig::default() }
}

/// The reason for which a packet of `size` bytes is dropped at `when` in µs, if it is.
fn offer(link: &mut Link<Numbered>, when: u64, size: u32) -> Option<DropReason> {
    link.enqueue(micros(when), packet(0, size)).err().map(|dropped| dropped.reason)
}

#[test]
fn at_twice_the_rate_a_queue_of_300_ms_fills_in_300_ms_and_then_loses_every_second_packet() {
    // Packet k arrives at 5·k ms and would leave at 10·(k + 1) ms: after 10 + 5·k ms, which is 300 ms for k = 58.
    // From then on every second packet finds a queue of 300 ms again, and waits 290 ms of it.
    let mut link = one_mbps(time(300));
    let lost: Vec<u64> = (0..200).filter(|&k| link.enqueue(at(5 * k), packet(k, 1250)).is_err()).collect();
    let expected: Vec<u64> = (59..200).step_by(2).collect();
    assert_eq!(lost, expected);
    let exits = drain(&mut link);
    assert!(exits.iter().enumerate().all(|(i, (due, _))| *due == at(10 * (i as u64 + 1))));
    assert!(exits[58..].iter().all(|(_, exit)| exit.wait == ms(290)));
}

#[test]
fn exactly_at_the_limit_of_time_a_packet_is_taken() {
    // 10 ms for the packet in service, 10 ms for itself; one byte more takes 8 µs more.
    let mut link = one_mbps(time(20));
    assert_eq!(offer(&mut link, 0, 1250), None);
    assert_eq!(offer(&mut link, 0, 1251), Some(DropReason::QueueTime));
    assert_eq!(offer(&mut link, 0, 1250), None);
    assert_eq!(offer(&mut link, 9_999, 1250), Some(DropReason::QueueTime));
    assert_eq!(offer(&mut link, 10_000, 1250), None);
}

#[test]
fn the_limit_of_time_foresees_steps_and_opportunities() {
    // The second packet would leave after the outage, at 510 ms. At 205 ms the link is idle and takes one although
    // it leaves 305 ms later; the next would leave at 520 ms, 300 ms after 220 ms.
    let outage = vec![(at(0), MBPS(1)), (at(10), MBPS(0)), (at(500), MBPS(1))];
    let mut stepped = link(Service::Steps(outage), time(300));
    assert_eq!(offer(&mut stepped, 0, 1250), None);
    assert_eq!(offer(&mut stepped, 0, 1250), Some(DropReason::QueueTime));
    assert_eq!(offer(&mut stepped, 205_000, 1250), None);
    assert_eq!(offer(&mut stepped, 219_999, 1250), Some(DropReason::QueueTime));
    assert_eq!(offer(&mut stepped, 220_000, 1250), None);
    // Opportunities at 1, 1, 100, 101, 101 ms.
    let mut traced = link(trace("1\n1\n100\n", ms(0), true), time(100));
    assert_eq!(offer(&mut traced, 0, 3000), None);
    assert_eq!(offer(&mut traced, 0, 1500), None);
    assert_eq!(offer(&mut traced, 0, 1), Some(DropReason::QueueTime));
    assert_eq!(offer(&mut traced, 1_000, 3000), None);
}

#[test]
fn exactly_at_the_limit_of_bytes_a_packet_is_taken() {
    let mut counted = one_mbps(bytes(2500, InService::Counted));
    assert_eq!(offer(&mut counted, 0, 1250), None);
    assert_eq!(offer(&mut counted, 0, 1251), Some(DropReason::QueueBytes));
    assert_eq!(offer(&mut counted, 0, 1250), None);
    // At 5 ms 625 bytes of the first are left: 625 + 1250 + 625 = 2500.
    assert_eq!(offer(&mut counted, 5_000, 626), Some(DropReason::QueueBytes));
    assert_eq!(offer(&mut counted, 5_000, 625), None);
}

#[test]
fn a_packet_in_service_counts_whole_until_its_last_bit_has_left() {
    let mut whole = one_mbps(bytes(2500, InService::Whole));
    assert_eq!([offer(&mut whole, 0, 1250), offer(&mut whole, 0, 1250)], [None, None]);
    assert_eq!(offer(&mut whole, 9_999, 1), Some(DropReason::QueueBytes));
    assert_eq!(offer(&mut whole, 10_000, 1250), None);
    // As many full packets as fit, also where others of that size come while one is in service.
    let mut full = one_mbps(bytes(25_000, InService::Whole));
    let taken = (0..30).filter(|&k| offer(&mut full, 100 * k, 1500).is_none()).count();
    assert_eq!(taken, 16);
}

#[test]
fn a_packet_in_service_that_is_free_takes_no_bytes() {
    let mut free = one_mbps(bytes(2500, InService::Free));
    assert_eq!([offer(&mut free, 0, 1250), offer(&mut free, 0, 1250), offer(&mut free, 0, 1250)], [None; 3]);
    assert_eq!(offer(&mut free, 9_999, 1), Some(DropReason::QueueBytes));
    // At 10 ms the second packet enters service and leaves its space in the queue.
    assert_eq!(offer(&mut free, 10_000, 1251), Some(DropReason::QueueBytes));
    assert_eq!(offer(&mut free, 10_000, 1250), None);
}

#[test]
fn the_limit_of_packets_counts_the_one_in_service_or_not() {
    for (in_service, room) in [(InService::Counted, 2), (InService::Free, 3)] {
        let mut link = one_mbps(packets(2, in_service));
        for _ in 0..room {
            assert_eq!(offer(&mut link, 0, 1250), None);
        }
        assert_eq!(offer(&mut link, 9_999, 1), Some(DropReason::QueuePackets));
        assert_eq!(offer(&mut link, 10_000, 1), None);
        assert_eq!(offer(&mut link, 10_000, 1), Some(DropReason::QueuePackets));
    }
}

#[test]
fn an_idle_link_takes_a_packet_larger_than_any_limit() {
    for in_service in [InService::Counted, InService::Free] {
        let small = QueueConfig { limit_time: Some(ms(1)), ..bytes(100, in_service) };
        for queue in [time(1), bytes(100, in_service), packets(0, in_service), small] {
            let mut link = one_mbps(queue);
            assert_eq!(offer(&mut link, 0, 1250), None, "{queue:?}");
            assert!(offer(&mut link, 9_999, 1250).is_some(), "{queue:?}");
            assert_eq!(offer(&mut link, 10_000, 1250), None, "{queue:?}");
        }
    }
}

#[test]
fn a_dropped_packet_leaves_no_trace() {
    let mut link = one_mbps(packets(2, InService::Counted));
    for number in 0..10 {
        let _ = link.enqueue(at(0), packet(number, 1250));
    }
    assert_eq!(link.backlog(at(0)), Backlog { packets: 2, bytes: DataSize::from_bytes(2500) });
    let numbers: Vec<u64> = drain(&mut link).iter().map(|(_, exit)| exit.packet.number).collect();
    assert_eq!(numbers, [0, 1]);
}

#[test]
fn a_lower_rate_drops_nothing_that_waits() {
    let mut link = one_mbps(time(100));
    for number in 0..10 {
        link.enqueue(at(0), packet(number, 1250)).unwrap();
    }
    link.set_rate(at(0), DataRate::from_kbps(100));
    assert_eq!(offer(&mut link, 0, 1250), Some(DropReason::QueueTime));
    assert_eq!(drain(&mut link).len(), 10);
}

#[test]
fn a_stopped_link_holds_what_its_limits_allow() {
    let mut link = one_mbps(bytes(2500, InService::Counted));
    link.set_rate(at(0), DataRate::ZERO);
    assert_eq!([offer(&mut link, 0, 1250), offer(&mut link, 0, 1250)], [None; 2]);
    assert_eq!(offer(&mut link, 0, 1250), Some(DropReason::QueueBytes));
    let mut link = one_mbps(time(60_000));
    link.set_rate(at(0), DataRate::ZERO);
    assert_eq!([offer(&mut link, 0, 1), offer(&mut link, 0, 1)], [None, Some(DropReason::QueueTime)]);
}

#[test]
fn backlog_counts_the_unserved_part_of_the_packet_in_service() {
    let backlog = |packets, size| Backlog { packets, bytes: DataSize::from_bytes(size) };
    let mut link = bare(constant(MBPS(1)));
    link.enqueue(at(0), packet(0, 1250)).unwrap();
    link.enqueue(at(0), packet(1, 1000)).unwrap();
    assert_eq!(link.backlog(at(0)), backlog(2, 2250));
    // 1 ms is 125 bytes; 4 µs half a byte, of which nothing is shown.
    assert_eq!(link.backlog(at(1)), backlog(2, 2125));
    assert_eq!(link.backlog(micros(1004)), backlog(2, 2124));
    assert_eq!(link.backlog(at(10)), backlog(1, 1000));
    assert_eq!(link.backlog(at(14)), backlog(1, 500));
    assert_eq!(link.backlog(at(18)), backlog(0, 0));
    // On a trace the service of a packet comes in lumps.
    let mut link = bare(trace("1\n1\n3\n", ms(0), true));
    link.enqueue(at(0), packet(0, 4000)).unwrap();
    link.enqueue(at(0), packet(1, 1000)).unwrap();
    assert_eq!(link.backlog(micros(999)), backlog(2, 5000));
    assert_eq!(link.backlog(at(1)), backlog(2, 2000));
    assert_eq!(link.backlog(at(3)), backlog(1, 500));
    assert_eq!(link.backlog(at(4)), backlog(0, 0));
}

#[test]
fn a_packet_that_has_come_out_leaves_its_room_and_the_server_to_the_next() {
    let mut link = one_mbps(bytes(2500, InService::Counted));
    assert_eq!([offer(&mut link, 0, 1250), offer(&mut link, 0, 1250)], [None; 2]);
    link.pop(at(10)).unwrap();
    // Half of the second is left 5 ms later: 625 + 1875 = 2500.
    assert_eq!(link.backlog(at(15)), Backlog { packets: 1, bytes: DataSize::from_bytes(625) });
    assert_eq!(offer(&mut link, 15_000, 1876), Some(DropReason::QueueBytes));
    assert_eq!(offer(&mut link, 15_000, 1875), None);
    assert_eq!(link.backlog(at(15)), Backlog { packets: 2, bytes: DataSize::from_bytes(2500) });
}

#[test]
fn packets_on_their_way_take_no_room() {
    let config =
        LinkConfig { queue: packets(1, InService::Counted), ..LinkConfig::new(constant(MBPS(1)), ms(500)) };
    let mut link = Link::new(&config, 1).unwrap();
    for number in 0..20 {
        link.enqueue(at(10 * number), packet(number, 1250)).unwrap();
        assert_eq!(link.backlog(at(10 * number)).packets, 1);
    }
    assert_eq!(link.len(), 20);
}

#[test]
fn packets_that_wait_longer_than_the_threshold_are_marked_if_they_can_be() {
    // Waits 0, 10, 20, 30 ms; exactly at the threshold there is no mark; the last is not ECN-capable.
    let mut link = one_mbps(QueueConfig { mark_above: Some(ms(10)), ..QueueConfig::default() });
    for number in 0..4 {
        let ecn_capable = number < 3;
        link.enqueue(at(0), Numbered { ecn_capable, ..packet(number, 1250) }).unwrap();
    }
    let marks: Vec<bool> = drain(&mut link).iter().map(|(_, exit)| exit.marked).collect();
    assert_eq!(marks, [false, false, true, false]);
}

#[test]
fn without_a_threshold_nothing_is_marked() {
    let mut link = one_mbps(QueueConfig::default());
    for number in 0..4 {
        link.enqueue(at(0), packet(number, 1250)).unwrap();
    }
    assert!(drain(&mut link).iter().all(|(_, exit)| !exit.marked));
}

#[test]
fn reasons_have_names_of_their_own() {
    let names: Vec<&str> = DropReason::ALL.into_iter().map(DropReason::name).collect();
    assert_eq!(names, ["queue-time", "queue-bytes", "queue-packets", "dead-link", "aqm"]);
    assert_eq!(DropReason::Aqm.to_string(), "aqm");
}
