//! Hosts on sockets: the media and constant flows of a run, driven by the clock.

mod network;
pub(crate) mod receivers;
pub(crate) mod senders;
pub(crate) mod tcp;
pub(crate) mod tcp_sink;

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::{AsFd, OwnedFd};

use nix::poll::{PollFd, PollFlags};
use nix::sys::eventfd::EventFd;
use weir_wire::media::ExtensionIds;

pub(crate) use network::LiveNetwork;

/// Priority by SCHED_FIFO of the threads of hosts, below that of the emulator.
pub(crate) const HOST_PRIORITY: u8 = 40;
/// Timers of a host, or packets of a socket, that are served before others have their turn.
pub(crate) const BATCH: usize = 32;

/// Identifiers of the header extensions of media packets.
pub(crate) fn extensions() -> ExtensionIds {
    ExtensionIds::default()
}

/// The socket of one end of a flow.
#[derive(Debug)]
pub(crate) struct HostSocket {
    pub(crate) socket: UdpSocket,
    /// Where it sends: the emulator, or the other end.
    pub(crate) peer: Option<SocketAddr>,
}

/// Duplicates of the sockets' descriptors, so that they can be polled while the sockets are at work.
pub(crate) fn watched(sockets: &[HostSocket]) -> io::Result<Vec<OwnedFd>> {
    sockets.iter().map(|own| own.socket.as_fd().try_clone_to_owned()).collect()
}

/// The descriptors to wait for: the flag that stops the thread, and the sockets.
pub(crate) fn polled<'a>(stop: &'a EventFd, watched: &'a [OwnedFd]) -> Vec<PollFd<'a>> {
    let all = std::iter::once(stop.as_fd()).chain(watched.iter().map(AsFd::as_fd));
    all.map(|fd| PollFd::new(fd, PollFlags::POLLIN)).collect()
}
