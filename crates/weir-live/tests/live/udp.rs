//! The UDP face over loopback.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::thread;
use std::time::Duration;

use weir_cc::Ecn;
use weir_live::clock::RunClock;
use weir_live::drive::{DriveOptions, Driver};
use weir_live::emulator::{Emulator, EventKind};
use weir_live::face::udp::{self, UdpFace};
use weir_net::{Time, Trace};

use crate::common::{LIMIT, assert_balanced, capabilities, has, link, options};

const PACKETS: u32 = 300;
const PAYLOAD: usize = 972;

/// Two hosts of one flow, with room for all packets of a test and a limit for each read.
fn ends(loopback: IpAddr) -> [UdpSocket; 2] {
    [(); 2].map(|()| {
        let socket = UdpSocket::bind((loopback, 0)).expect("a port");
        udp::prepare(&socket).expect("options");
        socket.set_nonblocking(false).expect("a blocking socket");
        socket.set_read_timeout(Some(LIMIT)).expect("a limit");
        socket
    })
}

fn addresses(ends: &[UdpSocket; 2]) -> [SocketAddr; 2] {
    ends.each_ref().map(|end| end.local_addr().expect("bound"))
}

fn numbered(number: u32) -> [u8; PAYLOAD] {
    let mut bytes = [0; PAYLOAD];
    bytes[..4].copy_from_slice(&number.to_be_bytes());
    bytes
}

/// The numbers of the next packets.
fn numbers(socket: &UdpSocket, count: u64) -> Vec<u32> {
    let mut bytes = [0; 2048];
    let mut next = || {
        let length = socket.recv(&mut bytes).expect("a packet");
        assert_eq!(length, PAYLOAD);
        u32::from_be_bytes(bytes[..4].try_into().expect("four bytes"))
    };
    (0..count).map(|_| next()).collect()
}

fn crosses_both_ways_in_order(loopback: IpAddr, wire_size: u32) {
    let links = [link("there", 20, 5, None), link("back", 20, 5, None)];
    let emulator = Emulator::new(1, &links, &[[0], [1]]).expect("links");
    let hosts = ends(loopback);
    let face = UdpFace::new(vec![addresses(&hosts)]).expect("a socket");
    let address = face.address(0);
    let driver = Driver::start(emulator, face, RunClock::start(), options()).expect("a thread");
    for number in 0..PACKETS {
        for (host, shift) in hosts.iter().zip([0, 1000]) {
            host.send_to(&numbered(number + shift), address).expect("sent");
        }
        thread::sleep(Duration::from_micros(200));
    }
    assert_eq!(numbers(&hosts[1], PACKETS.into()), (0..PACKETS).collect::<Vec<_>>());
    assert_eq!(numbers(&hosts[0], PACKETS.into()), (1000..1000 + PACKETS).collect::<Vec<_>>());
    let stranger = UdpSocket::bind((loopback, 0)).expect("a port");
    stranger.send_to(&numbered(0), address).expect("sent");
    hosts[0].send_to(&[0; 3000], address).expect("sent");
    hosts[0].send_to(&numbered(7), address).expect("sent");
    assert_eq!(numbers(&hosts[1], 1), [7]);
    let mut driven = driver.stop().expect("a quiet end");
    assert_eq!((driven.foreign, driven.too_long), (1, 1));
    assert_eq!(driven.delivered, u64::from(2 * PACKETS + 1));
    assert!(driven.log.iter().all(|event| event.packet.wire_size == wire_size));
    driven.too_long = 0;
    assert_balanced(&driven);
}

#[test]
fn packets_cross_a_link_in_order_over_ipv4() {
    crosses_both_ways_in_order(Ipv4Addr::LOCALHOST.into(), PAYLOAD as u32 + 28);
}

#[test]
fn packets_cross_a_link_in_order_over_ipv6() {
    if has("ipv6", &capabilities().udp_ipv6) {
        crosses_both_ways_in_order(Ipv6Addr::LOCALHOST.into(), PAYLOAD as u32 + 48);
    }
}

#[test]
fn missing_packets_were_dropped_by_a_link() {
    // A burst of 300 packets meets a queue of 20 that serves one per 0.8 ms.
    let emulator = Emulator::new(1, &[link("narrow", 10, 1, Some(20))], &[[0], [0]]).expect("links");
    let hosts = ends(Ipv4Addr::LOCALHOST.into());
    let face = UdpFace::new(vec![addresses(&hosts)]).expect("a socket");
    let address = face.address(0);
    let end = Time::from_millis(1500);
    let driver = Driver::start(emulator, face, RunClock::start(), DriveOptions { end, ..options() })
        .expect("a thread");
    for number in 0..PACKETS {
        hosts[0].send_to(&numbered(number), address).expect("sent");
    }
    // The thread ends by itself.
    while driver.is_running() {
        thread::sleep(Duration::from_millis(50));
    }
    let driven = driver.stop().expect("a quiet end");
    assert_balanced(&driven);
    assert_eq!((driven.entered, driven.inside), (PACKETS.into(), 0));
    assert!(driven.dropped > 0);
    let arrived = numbers(&hosts[1], driven.delivered);
    let delivered = driven.log.iter().filter(|event| matches!(event.kind, EventKind::Delivered { .. }));
    assert_eq!(arrived, delivered.map(|event| event.packet.number).collect::<Vec<_>>());
}

#[test]
fn marks_reach_the_receiver_over_both_families() {
    let mut families: Vec<IpAddr> = vec![Ipv4Addr::LOCALHOST.into()];
    if has("ipv6", &capabilities().udp_ipv6) {
        families.push(Ipv6Addr::LOCALHOST.into());
    }
    for loopback in families {
        let mut marking = link("marking", 10, 1, None);
        marking.config.queue.mark_above = Some(weir_units::TimeDelta::from_millis(2));
        let emulator = Emulator::new(1, &[marking], &[[0], [0]]).expect("links");
        let hosts = ends(loopback);
        let face = UdpFace::new(vec![addresses(&hosts)]).expect("a socket");
        let address = face.address(0);
        let driver = Driver::start(emulator, face, RunClock::start(), options()).expect("a thread");
        for number in 0..40 {
            let ecn = if number % 2 == 0 { Ecn::Ect1 } else { Ecn::NotEct };
            assert!(udp::send(&hosts[0], address, ecn, &numbered(number)).expect("sent"));
        }
        let mut bytes = [0; 2048];
        let mut received = Vec::new();
        for _ in 0..1000 {
            while let Some(datagram) = udp::receive(&hosts[1], &mut bytes).expect("a socket") {
                assert!(datagram.stamp.is_some() && !datagram.truncated && datagram.from == address);
                received.push(datagram.ecn);
            }
            if received.len() == 40 {
                break;
            }
            thread::sleep(Duration::from_millis(10));
        }
        let driven = driver.stop().expect("a quiet end");
        assert_balanced(&driven);
        let delivered = driven.log.iter().filter(|event| matches!(event.kind, EventKind::Delivered { .. }));
        assert_eq!(received, delivered.map(|event| event.packet.ecn).collect::<Vec<_>>());
        assert!(received.contains(&Ecn::Ce) && received.iter().skip(1).step_by(2).all(|&e| e == Ecn::NotEct));
    }
}

#[test]
fn a_trace_holds_packets_until_its_opportunity() {
    let mut held = link("held", 10, 0, None);
    let trace = Trace::from_millis([400]).expect("a trace").lasting_millis(10_000);
    held.config.service = weir_net::Service::Trace {
        trace: std::sync::Arc::new(trace),
        offset: weir_units::TimeDelta::ZERO,
        repeat: false,
    };
    let emulator = Emulator::new(1, &[held], &[[0], [0]]).expect("links");
    let hosts = ends(Ipv4Addr::LOCALHOST.into());
    let face = UdpFace::new(vec![addresses(&hosts)]).expect("a socket");
    let address = face.address(0);
    let clock = RunClock::start();
    let driver = Driver::start(emulator, face, clock, options()).expect("a thread");
    hosts[0].send_to(&numbered(3), address).expect("sent");
    assert_eq!(numbers(&hosts[1], 1), [3]);
    assert!(clock.now() >= Time::from_millis(400));
    let driven = driver.stop().expect("a quiet end");
    let last = driven.log.last().expect("events");
    assert_eq!(last.at, Time::from_millis(400), "the event has its own time, however late it was served");
}
