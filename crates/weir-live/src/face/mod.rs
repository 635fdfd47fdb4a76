//! Faces: the sockets or devices between the emulator and the hosts.

pub mod ip;
pub mod tun;
pub mod udp;

use std::io;
use std::os::fd::OwnedFd;

use weir_cc::Ecn;

/// Largest packet that a face carries in bytes, IP header included.
pub const MTU: usize = 1500;

/// A packet as a face received it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FaceArrival {
    /// Index of its route.
    pub route: u32,
    /// Bytes in the buffer.
    pub length: u32,
    /// Bytes on the wire, IP headers included.
    pub wire_size: u32,
    /// Flow of the packet on its route; zero where all packets of the route are one flow.
    pub flow: u32,
    /// ECN field.
    pub ecn: Ecn,
    /// When the kernel received it, in ns of CLOCK_REALTIME.
    pub stamp: Option<i64>,
}

/// The result of reading a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received {
    /// A packet.
    Packet(FaceArrival),
    /// A packet between hosts that fits no flow; it is lost.
    Unknown,
    /// A packet of another source or to another destination, which is ignored.
    Foreign,
    /// A packet that is longer than the buffer; it is lost.
    TooLong,
    /// No packet to read.
    Empty,
}

/// The sockets or devices between the emulator and the hosts.
pub trait Face {
    /// The descriptors to be polled for packets.
    fn descriptors(&self) -> &[OwnedFd];

    /// Reads a packet from the descriptor of this index. The call never blocks.
    ///
    /// # Errors
    /// An error of the system that is no matter of one packet.
    fn receive(&mut self, descriptor: usize, buffer: &mut [u8]) -> io::Result<Received>;

    /// Sends the bytes of a packet that has come to the end of its route. The call never blocks. The result is whether the
    /// system took it.
    ///
    /// # Errors
    /// An error of the system that is no matter of one packet.
    fn send(&mut self, route: u32, ecn: Ecn, bytes: &mut [u8]) -> io::Result<bool>;

    /// Packets that the system has dropped so far on their way into the emulator.
    ///
    /// # Errors
    /// If the counters cannot be read.
    fn drops(&self) -> io::Result<u64>;
}

/// Whether the error concerns one packet alone: no room, no receiver, or no way to it at present. An error of the socket
/// itself is none.
pub(crate) fn is_of_one_packet(error: nix::Error) -> bool {
    use nix::errno::Errno::{
        EAGAIN, ECONNREFUSED, EHOSTUNREACH, EINTR, EMSGSIZE, ENETDOWN, ENETUNREACH, ENOBUFS, EPERM,
    };
    let no_room = matches!(error, EAGAIN | ENOBUFS | EMSGSIZE | EINTR);
    no_room || matches!(error, ECONNREFUSED | EHOSTUNREACH | ENETUNREACH | ENETDOWN | EPERM)
}

#[cfg(test)]
mod tests {
    use nix::Error;

    use super::*;

    #[test]
    fn a_peer_out_of_reach_is_no_error_of_the_socket() {
        for error in [Error::EHOSTUNREACH, Error::ENETUNREACH, Error::ENETDOWN, Error::EPERM] {
            assert!(is_of_one_packet(error), "{error}");
        }
        assert!(!is_of_one_packet(Error::EBADF) && !is_of_one_packet(Error::EACCES));
    }
}
