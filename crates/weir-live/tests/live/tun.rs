//! The TUN face: namespaces, UDP and the kernel's TCP between them.

use std::ffi::OsString;
use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::Arc;
use std::thread;

use nix::sys::socket::sockopt::{ReceiveTimeout, TcpCongestion};
use nix::sys::socket::{
    AddressFamily, SockFlag, SockType, SockaddrStorage, connect, getsockopt, setsockopt, socket,
};
use nix::sys::time::{TimeVal, TimeValLike};
use weir_cc::Ecn;
use weir_live::clock::RunClock;
use weir_live::drive::Driver;
use weir_live::emulator::{Emulator, EventKind};
use weir_live::face::ip;
use weir_live::face::tun::{TunFace, TunFlow};
use weir_live::face::udp;
use weir_live::namespace::Namespace;
use weir_live::sys::tcp_info;

use weir_units::TimeDelta;
use weir_world::LinkSpec;

use crate::common::{LIMIT, assert_balanced, capabilities, has, link, options};

const PORT: u16 = 5000;

fn hosts() -> Vec<Arc<Namespace>> {
    [1, 2].map(|number| Arc::new(Namespace::new(number).expect("a namespace"))).to_vec()
}

/// A flow between the two hosts with this port at the second one, and any at the first.
fn flow(hosts: &[Arc<Namespace>], protocol: u8, ipv6: bool) -> TunFlow {
    let address = |host: usize| hosts[host].address(ipv6).expect("an address");
    let ends = [SocketAddr::new(address(0), 0), SocketAddr::new(address(1), PORT)];
    TunFlow { hosts: [0, 1], ends, protocol: Some(protocol) }
}

fn start(hosts: &[Arc<Namespace>], flow: TunFlow, there: LinkSpec) -> Driver {
    let links = [there, link("back", 20, 2, None)];
    let emulator = Emulator::new(1, &links, &[[0], [1]]).expect("links");
    let face = TunFace::new(hosts.to_vec(), vec![flow]).expect("devices");
    Driver::start(emulator, face, RunClock::start(), options()).expect("a thread")
}

/// A socket inside of a namespace, with a limit for each read.
fn bind(host: &Namespace, ipv6: bool, port: u16) -> UdpSocket {
    let address: IpAddr = host.address(ipv6).expect("an address");
    let socket = host.enter(|| UdpSocket::bind((address, port))).expect("a port");
    socket.set_read_timeout(Some(LIMIT)).expect("a limit");
    socket
}

fn udp_crosses(ipv6: bool) {
    const PACKETS: usize = 200;
    let hosts = hosts();
    let flow = flow(&hosts, ip::UDP, ipv6);
    let (near, far) = (bind(&hosts[0], ipv6, 0), bind(&hosts[1], ipv6, PORT));
    let driver = start(&hosts, flow, link("there", 20, 2, None));
    // The far host answers each packet with one of the same number.
    let answers = thread::spawn(move || {
        let mut bytes = [0; 2048];
        let mut seen = Vec::new();
        for _ in 0..PACKETS {
            let (length, from) = far.recv_from(&mut bytes).expect("a packet");
            seen.push(bytes[0]);
            far.send_to(&bytes[..length / 2], from).expect("sent");
        }
        seen
    });
    let expected: Vec<u8> = (0..PACKETS as u8).collect();
    for &number in &expected {
        near.send_to(&[number; 1000], flow.ends[1]).expect("sent");
    }
    let mut bytes = [0; 2048];
    let mut back = || (near.recv(&mut bytes).expect("an answer"), bytes[0]);
    let returned: Vec<_> = (0..PACKETS).map(|_| back()).collect();
    assert_eq!(returned, expected.iter().map(|&number| (500, number)).collect::<Vec<_>>());
    assert_eq!(answers.join().expect("the far host"), expected);
    let driven = driver.stop().expect("a quiet end");
    assert_balanced(&driven);
    assert_eq!(driven.delivered, 2 * PACKETS as u64);
    let headers = if ipv6 { 48 } else { 28 };
    let sizes = [1000 + headers, 500 + headers];
    assert!(driven.log.iter().all(|event| event.packet.wire_size == sizes[event.packet.route as usize]));
}

#[test]
fn udp_crosses_both_ways_between_two_namespaces_over_ipv4() {
    if has("tun", &capabilities().tun) {
        udp_crosses(false);
    }
}

#[test]
fn udp_crosses_both_ways_between_two_namespaces_over_ipv6() {
    if has("ipv6", &capabilities().tun_ipv6) {
        udp_crosses(true);
    }
}

fn marks_cross(ipv6: bool) {
    const PACKETS: usize = 40;
    let hosts = hosts();
    let flow = flow(&hosts, ip::UDP, ipv6);
    let (near, far) = (bind(&hosts[0], ipv6, 0), bind(&hosts[1], ipv6, PORT));
    udp::prepare(&far).expect("options");
    let mut marking = link("there", 10, 2, None);
    marking.config.queue.mark_above = Some(TimeDelta::from_millis(2));
    let driver = start(&hosts, flow, marking);
    for _ in 0..PACKETS {
        assert!(udp::send(&near, flow.ends[1], Ecn::Ect0, &[7; 1000]).expect("sent"));
    }
    let (mut received, mut bytes) = (Vec::new(), [0; 2048]);
    for _ in 0..1000 {
        while let Some(datagram) = udp::receive(&far, &mut bytes).expect("a socket") {
            received.push(datagram.ecn);
        }
        if received.len() == PACKETS {
            break;
        }
        thread::sleep(LIMIT / 1000);
    }
    let driven = driver.stop().expect("a quiet end");
    assert_balanced(&driven);
    // The kernel would drop a packet with a wrong checksum.
    let delivered = driven.log.iter().filter(|event| matches!(event.kind, EventKind::Delivered { .. }));
    assert_eq!(received, delivered.map(|event| event.packet.ecn).collect::<Vec<_>>());
    assert!(received.contains(&Ecn::Ce) && received.contains(&Ecn::Ect0), "{received:?}");
}

#[test]
fn marks_reach_the_receiver_with_a_valid_checksum() {
    let capabilities = capabilities();
    if has("tun", &capabilities.tun) {
        marks_cross(false);
    }
    if has("ipv6", &capabilities.tun_ipv6) {
        marks_cross(true);
    }
}

/// A connection inside of the calling thread's namespace, by the algorithm of this name.
fn connection(to: SocketAddr, algorithm: &str) -> std::io::Result<TcpStream> {
    let socket = socket(AddressFamily::Inet, SockType::Stream, SockFlag::SOCK_CLOEXEC, None)?;
    setsockopt(&socket, TcpCongestion, &OsString::from(algorithm))?;
    let stream = TcpStream::from(socket);
    stream.set_write_timeout(Some(LIMIT))?;
    connect(std::os::fd::AsRawFd::as_raw_fd(&stream), &SockaddrStorage::from(to))?;
    Ok(stream)
}

#[test]
fn the_kernels_cubic_transfers_a_megabyte_through_a_lossy_queue() {
    const BYTES: usize = 1_000_000;
    let capabilities = capabilities();
    if !(has("tun", &capabilities.tun) && has("tcp", &capabilities.tcp[0].1)) {
        return;
    }
    let hosts = hosts();
    let flow = flow(&hosts, ip::TCP, false);
    let driver = start(&hosts, flow, link("there", 20, 2, Some(20)));
    let listener = hosts[1].enter(|| TcpListener::bind(flow.ends[1])).expect("a port");
    setsockopt(&listener, ReceiveTimeout, &TimeVal::seconds(LIMIT.as_secs() as i64)).expect("a limit");
    let sink = thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a connection");
        stream.set_read_timeout(Some(LIMIT)).expect("a limit");
        let mut all = Vec::new();
        stream.read_to_end(&mut all).expect("all bytes");
        all
    });
    let mut stream = hosts[0].enter(|| connection(flow.ends[1], "cubic")).expect("a connection");
    assert_eq!(getsockopt(&stream, TcpCongestion).expect("an algorithm"), "cubic");
    let sent: Vec<u8> = (0..BYTES).map(|byte| (byte % 251) as u8).collect();
    stream.write_all(&sent).expect("sent");
    stream.shutdown(std::net::Shutdown::Write).expect("an end");
    assert!(sink.join().expect("the sink") == sent, "the bytes are others");
    // The last acknowledgements are still on their way.
    let all_acknowledged = || tcp_info(&stream).expect("its state").acked >= BYTES as u64;
    let polls = (0..1000).take_while(|_| !all_acknowledged());
    polls.for_each(|_| thread::sleep(LIMIT / 1000));
    let info = tcp_info(&stream).expect("its state");
    let driven = driver.stop().expect("a quiet end");
    assert_balanced(&driven);
    assert!(info.acked >= BYTES as u64, "{info:?}");
    assert!(info.segment <= 1460 && info.rtt >= TimeDelta::from_millis(4), "{info:?}");
    assert!(driven.dropped > 0, "a queue of 20 packets is shorter than what slow start sends");
    assert!(u64::from(info.retransmitted) >= driven.dropped, "{info:?}, {} dropped", driven.dropped);
    assert!(driven.log.iter().all(|event| event.packet.wire_size <= 1500));
}

#[test]
fn an_algorithm_that_the_kernel_lacks_is_a_sentence() {
    let capabilities = capabilities();
    if has("tun", &capabilities.tun) {
        let (name, found) = &capabilities.tcp[1];
        assert_eq!(name, "no-such-algorithm");
        assert_eq!(found, &Err("this kernel does not have it".to_owned()));
    }
}

#[test]
fn the_caller_stays_in_its_own_namespace_and_twins_share_their_addresses() {
    if !has("tun", &capabilities().tun) {
        return;
    }
    let own = || std::fs::read_link("/proc/thread-self/ns/net").expect("a namespace");
    let before = own();
    let host = Namespace::new(9).expect("a namespace");
    let inside = host.enter(|| Ok(own())).expect("entered");
    assert_ne!(inside, before);
    assert_eq!(own(), before);
    assert_eq!(host.drops().expect("counters"), 0);
    // Testbeds side by side have the same addresses.
    let twin = Namespace::new(9).expect("a namespace");
    let address = SocketAddr::new(host.ipv4().into(), PORT);
    let sockets = [&host, &twin].map(|host| host.enter(|| UdpSocket::bind(address)).expect("a port"));
    drop(sockets);
}
