//! The machine's own address.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};

use nix::ifaddrs::getifaddrs;
use nix::net::if_::InterfaceFlags;

/// An address of documentation (RFC 5737): to choose a route to it sends nothing.
const ELSEWHERE: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(203, 0, 113, 1)), 9);

/// The address from which the machine reaches others; else any of its IPv4 addresses beyond loopback; else loopback.
pub(crate) fn own_address() -> IpAddr {
    routed().or_else(of_interface).unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST))
}

fn routed() -> Option<IpAddr> {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).ok()?;
    socket.connect(ELSEWHERE).ok()?;
    usable(socket.local_addr().ok()?.ip())
}

fn of_interface() -> Option<IpAddr> {
    let up = |flags: InterfaceFlags| {
        flags.contains(InterfaceFlags::IFF_UP) && !flags.contains(InterfaceFlags::IFF_LOOPBACK)
    };
    let addresses = getifaddrs().ok()?.filter(|interface| up(interface.flags));
    addresses
        .filter_map(|interface| Some(IpAddr::V4(interface.address?.as_sockaddr_in()?.ip())))
        .find_map(usable)
}

fn usable(address: IpAddr) -> Option<IpAddr> {
    (!address.is_loopback() && !address.is_unspecified()).then_some(address)
}
