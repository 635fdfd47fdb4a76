//! The receiving end of the kernel's transfers.

use std::io::{self, Read};
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};

use nix::poll::{PollFd, PollFlags};
use weir_net::Time;
use weir_units::TimeDelta;

use super::BATCH;
use crate::clock::RunClock;
use crate::inbox::{is_readable, wait_for};

/// Longest time without a look at the flag that stops the thread.
const PATIENCE: TimeDelta = TimeDelta::from_millis(100);
/// Bytes that are read at once.
const CHUNK: usize = 64 << 10;

/// The receiving end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReceivedTransfer {
    /// Port of the sending end.
    pub(crate) port: u16,
    /// Bytes that were read.
    pub(crate) bytes: u64,
    /// When the last of them were read.
    pub(crate) last: Time,
}

/// Reads all that comes to `listener`, which does not block, until `stop` is set. The connections are in the order of their
/// beginnings.
pub(crate) fn receive(
    listener: &TcpListener,
    clock: RunClock,
    stop: &AtomicBool,
) -> io::Result<Vec<ReceivedTransfer>> {
    let mut all: Vec<ReceivedTransfer> = Vec::new();
    let mut open: Vec<(TcpStream, usize)> = Vec::new();
    let mut buffer = vec![0; CHUNK];
    while !stop.load(Ordering::Relaxed) {
        let descriptors =
            std::iter::once(listener.as_fd()).chain(open.iter().map(|(stream, _)| stream.as_fd()));
        let mut polled: Vec<PollFd> = descriptors.map(|fd| PollFd::new(fd, PollFlags::POLLIN)).collect();
        wait_for(&mut polled, PATIENCE)?;
        let ready: Vec<bool> = polled.iter().map(is_readable).collect();
        let mut of_stream = ready[1..].iter();
        let mut error = None;
        open.retain_mut(|(stream, place)| {
            if !of_stream.next().is_some_and(|&ready| ready) {
                return true;
            }
            read(stream, &mut buffer, &mut all[*place], clock).unwrap_or_else(|failed| {
                error.get_or_insert(failed);
                false
            })
        });
        if let Some(error) = error {
            return Err(error);
        }
        if ready[0] {
            accept(listener, clock, &mut open, &mut all)?;
        }
    }
    Ok(all)
}

/// Accepts the connections that have come.
fn accept(
    listener: &TcpListener,
    clock: RunClock,
    open: &mut Vec<(TcpStream, usize)>,
    all: &mut Vec<ReceivedTransfer>,
) -> io::Result<()> {
    loop {
        match listener.accept() {
            Ok((stream, from)) => {
                stream.set_nonblocking(true)?;
                open.push((stream, all.len()));
                all.push(ReceivedTransfer { port: from.port(), bytes: 0, last: clock.now() });
            }
            Err(error) if is_none(&error) => return Ok(()),
            Err(error) => return Err(error),
        }
    }
}

/// Whether a call found no bytes and no connection. A connection that ended before it was accepted is none, either.
fn is_none(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, Interrupted, WouldBlock};
    matches!(error.kind(), WouldBlock | Interrupted | ConnectionAborted)
}

/// Reads what has come. The result is whether the connection goes on.
fn read(
    stream: &mut TcpStream,
    buffer: &mut [u8],
    received: &mut ReceivedTransfer,
    clock: RunClock,
) -> io::Result<bool> {
    for _ in 0..BATCH {
        match stream.read(buffer) {
            Ok(0) => return Ok(false),
            Ok(read) => {
                received.bytes += read as u64;
                received.last = clock.now();
            }
            Err(error) if is_none(&error) => break,
            // The sender ends by a reset.
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return Ok(false),
            Err(error) => return Err(error),
        }
    }
    Ok(true)
}
