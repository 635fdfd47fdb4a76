//! The UDP face: one socket per flow, without privileges.

use std::io::{self, IoSlice, IoSliceMut};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6, UdpSocket};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use nix::sys::socket::sockopt::{IpRecvTos, Ipv6RecvTClass, RcvBuf, RcvBufForce, ReceiveTimestampns};
use nix::sys::socket::{
    ControlMessage, ControlMessageOwned, MsgFlags, SockaddrIn, SockaddrIn6, SockaddrStorage, recvmsg,
    sendmsg, setsockopt,
};
use nix::sys::time::TimeSpec;
use weir_cc::Ecn;
use weir_wire::media::{IPV4_HEADER_LEN, UDP_HEADER_LEN};

use super::ip::{self, IPV6_HEADER_LEN};
use super::{Face, FaceArrival, Received, is_of_one_packet};
use crate::sys;

/// Receive buffer of a measuring socket, in bytes.
pub const RECEIVE_BUFFER: usize = 4 << 20;

/// Prepares a measuring socket: it never blocks, has a large buffer, and shows the receive stamp and the ECN field of
/// each packet.
///
/// # Errors
/// If the kernel refuses an option.
pub fn prepare(socket: &UdpSocket) -> io::Result<()> {
    socket.set_nonblocking(true)?;
    // The forced size needs CAP_NET_ADMIN; the other is cut to the limit of the system.
    if setsockopt(socket, RcvBufForce, &RECEIVE_BUFFER).is_err() {
        setsockopt(socket, RcvBuf, &RECEIVE_BUFFER)?;
    }
    setsockopt(socket, ReceiveTimestampns, &true)?;
    match socket.local_addr()? {
        SocketAddr::V4(_) => setsockopt(socket, IpRecvTos, &true)?,
        SocketAddr::V6(_) => setsockopt(socket, Ipv6RecvTClass, &true)?,
    }
    Ok(())
}

/// Bytes of the IP and UDP headers.
pub const fn overhead(ipv6: bool) -> usize {
    UDP_HEADER_LEN + if ipv6 { IPV6_HEADER_LEN } else { IPV4_HEADER_LEN }
}

/// Room for control messages, aligned as their headers are: a receive stamp and a traffic class need 56 bytes.
#[repr(align(8))]
struct ControlSpace([u8; 128]);

/// A datagram that [`receive`] read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datagram {
    /// Bytes in the buffer.
    pub length: usize,
    /// Whether the buffer was too short for it.
    pub truncated: bool,
    /// Address of its sender.
    pub from: SocketAddr,
    /// ECN field.
    pub ecn: Ecn,
    /// When the kernel received it, in ns of CLOCK_REALTIME.
    pub stamp: Option<i64>,
}

/// Reads a datagram from a [prepared](prepare) socket; `None` if there is none.
///
/// # Errors
/// An error of the socket.
pub fn receive(socket: impl AsFd, buffer: &mut [u8]) -> io::Result<Option<Datagram>> {
    let mut space = ControlSpace([0; 128]);
    let mut slices = [IoSliceMut::new(buffer)];
    let descriptor = socket.as_fd().as_raw_fd();
    let message =
        match recvmsg::<SockaddrStorage>(descriptor, &mut slices, Some(&mut space.0), MsgFlags::MSG_DONTWAIT)
        {
            Ok(message) => message,
            Err(error) if is_of_one_packet(error) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
    let Some(from) = message.address.as_ref().and_then(plain) else { return Ok(None) };
    let (mut ecn, mut stamp) = (Ecn::NotEct, None);
    for control in message.cmsgs()? {
        match control {
            ControlMessageOwned::ScmTimestampns(time) => stamp = Some(nanos(time)),
            ControlMessageOwned::Ipv4Tos(tos) => ecn = ip::ecn(tos),
            ControlMessageOwned::Ipv6TClass(class) => ecn = ip::ecn(class as u8),
            _ => {}
        }
    }
    let truncated = message.flags.contains(MsgFlags::MSG_TRUNC);
    Ok(Some(Datagram { length: message.bytes, truncated, from, ecn, stamp }))
}

/// Lets a socket send no datagram in fragments, nor let routers fragment it. One that is longer than the interface allows is
/// [too long](SendOutcome::TooLong).
///
/// # Errors
/// If the kernel refuses.
pub fn never_fragment(socket: &UdpSocket) -> io::Result<()> {
    sys::set_df(socket, socket.local_addr()?.is_ipv6())
}

/// The result of sending a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendOutcome {
    /// The system took it.
    Taken,
    /// There was no room, no receiver, or no way to this address.
    Refused,
    /// The interface carries only smaller packets.
    TooLong,
}

/// Sends a datagram. The result is whether the system took it.
///
/// # Errors
/// An error of the socket.
pub fn send(socket: impl AsFd, to: SocketAddr, ecn: Ecn, bytes: &[u8]) -> io::Result<bool> {
    send_once(socket, to, ecn, bytes).map(|outcome| outcome == SendOutcome::Taken)
}

/// Sends a datagram.
///
/// # Errors
/// An error of the socket.
pub fn send_once(socket: impl AsFd, to: SocketAddr, ecn: Ecn, bytes: &[u8]) -> io::Result<SendOutcome> {
    let (tos, class) = (ip::bits(ecn), i32::from(ip::bits(ecn)));
    let control = match to {
        SocketAddr::V4(_) => ControlMessage::Ipv4Tos(&tos),
        SocketAddr::V6(_) => ControlMessage::Ipv6TClass(&class),
    };
    // A packet without ECN needs no control message, for which the library allocates.
    let controls = if ecn == Ecn::NotEct { &[][..] } else { std::slice::from_ref(&control) };
    let address = SockaddrStorage::from(to);
    let slices = [IoSlice::new(bytes)];
    let descriptor = socket.as_fd().as_raw_fd();
    match sendmsg(descriptor, &slices, controls, MsgFlags::MSG_DONTWAIT, Some(&address)) {
        Ok(_) => Ok(SendOutcome::Taken),
        Err(nix::Error::EMSGSIZE) => Ok(SendOutcome::TooLong),
        // An address that a forged packet named, among others.
        Err(error) if !is_of_the_socket(error) => Ok(SendOutcome::Refused),
        Err(error) => Err(error.into()),
    }
}

/// Whether the descriptor itself cannot send. Each other error of `sendmsg` concerns one packet and its address.
fn is_of_the_socket(error: nix::Error) -> bool {
    matches!(error, nix::Error::EBADF | nix::Error::ENOTSOCK)
}

fn nanos(time: TimeSpec) -> i64 {
    time.tv_sec().saturating_mul(1_000_000_000).saturating_add(time.tv_nsec())
}

fn plain(address: &SockaddrStorage) -> Option<SocketAddr> {
    let v4 = |address: &SockaddrIn| SocketAddr::from((address.ip(), address.port()));
    // A link-local address holds on one interface only, which the scope names.
    let v6 = |address: &SockaddrIn6| {
        SocketAddr::V6(SocketAddrV6::new(address.ip(), address.port(), 0, address.scope_id()))
    };
    address.as_sockaddr_in().map(v4).or_else(|| address.as_sockaddr_in6().map(v6))
}

/// The UDP face on the loopback interface. Both ends of a flow send to the same address, that of the flow; the sender
/// of a packet gives its direction. Routes 2f and 2f + 1 are those of flow f from the first end and from the second.
#[derive(Debug)]
pub struct UdpFace {
    sockets: Vec<OwnedFd>,
    /// Both ends of each flow.
    ends: Vec<[SocketAddr; 2]>,
    addresses: Vec<SocketAddr>,
}

impl UdpFace {
    /// A face for flows between these ends, each a bound socket of the loopback interface.
    ///
    /// # Errors
    /// If a socket cannot be made, or the ends of a flow are not of one family.
    pub fn new(ends: Vec<[SocketAddr; 2]>) -> io::Result<Self> {
        let (mut sockets, mut addresses) = (Vec::new(), Vec::new());
        for [first, second] in &ends {
            let loopback: IpAddr = match (first, second) {
                (SocketAddr::V4(_), SocketAddr::V4(_)) => Ipv4Addr::LOCALHOST.into(),
                (SocketAddr::V6(_), SocketAddr::V6(_)) => Ipv6Addr::LOCALHOST.into(),
                _ => {
                    let text = format!("{first} and {second} are not of one family, IPv4 or IPv6");
                    return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
                }
            };
            let socket = UdpSocket::bind((loopback, 0))?;
            prepare(&socket)?;
            addresses.push(socket.local_addr()?);
            sockets.push(socket.into());
        }
        Ok(Self { sockets, ends, addresses })
    }

    /// Source and destination of each route, as if the ends sent to each other.
    pub fn ends_of_routes(&self) -> Vec<[SocketAddr; 2]> {
        self.ends.iter().flat_map(|&[first, second]| [[first, second], [second, first]]).collect()
    }

    /// The address to which both ends of a flow send.
    pub fn address(&self, flow: usize) -> SocketAddr {
        self.addresses[flow]
    }
}

impl Face for UdpFace {
    fn descriptors(&self) -> &[OwnedFd] {
        &self.sockets
    }

    fn receive(&mut self, descriptor: usize, buffer: &mut [u8]) -> io::Result<Received> {
        let Some(datagram) = receive(&self.sockets[descriptor], buffer)? else { return Ok(Received::Empty) };
        let Datagram { length, truncated, from, ecn, stamp } = datagram;
        let Some(side) = self.ends[descriptor].iter().position(|&end| end == from) else {
            return Ok(Received::Foreign);
        };
        if truncated {
            return Ok(Received::TooLong);
        }
        let wire_size = (length + overhead(from.is_ipv6())) as u32;
        let route = (2 * descriptor + side) as u32;
        Ok(Received::Packet(FaceArrival { route, length: length as u32, wire_size, flow: 0, ecn, stamp }))
    }

    fn send(&mut self, route: u32, ecn: Ecn, bytes: &mut [u8]) -> io::Result<bool> {
        let (flow, side) = (route as usize / 2, route as usize % 2);
        send(&self.sockets[flow], self.ends[flow][1 - side], ecn, bytes)
    }

    fn drops(&self) -> io::Result<u64> {
        self.sockets.iter().map(sys::socket_drops).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_keeps_its_scope() {
        let address: SocketAddr = "[fe80::1%7]:5000".parse().unwrap();
        assert_eq!(plain(&SockaddrStorage::from(address)), Some(address));
    }

    #[test]
    fn an_address_without_a_way_to_it_is_no_error_of_the_socket() {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        for to in ["127.0.0.1:0", "255.255.255.255:9", "192.0.2.1:9", "[2001:db8::1]:9"] {
            let sent = send_once(&socket, to.parse().unwrap(), Ecn::NotEct, b"x");
            assert_eq!(sent.unwrap(), SendOutcome::Refused, "{to}");
        }
        let file = std::fs::File::open("/dev/null").unwrap();
        assert!(send_once(&file, "127.0.0.1:9".parse().unwrap(), Ecn::NotEct, b"x").is_err());
    }
}
