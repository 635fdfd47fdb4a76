//! A stream that takes turns with others.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd};

/// Bytes read in a turn at most.
const TURN: usize = 64 * 1024;

/// A stream that reads at most 64 kB in a turn. Beyond them it is as if nothing more had come: the poll after it tells
/// that more is there.
#[derive(Debug)]
pub(super) struct TurnStream {
    stream: TcpStream,
    /// Bytes that may still be read in this turn.
    left: usize,
}

impl TurnStream {
    /// The stream at the begin of a turn.
    pub(super) fn new(stream: TcpStream) -> Self {
        Self { stream, left: TURN }
    }

    /// Begins a turn.
    pub(super) fn begin_turn(&mut self) {
        self.left = TURN;
    }
}

impl Read for TurnStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 {
            return Err(ErrorKind::WouldBlock.into());
        }
        let most = buffer.len().min(self.left);
        let length = self.stream.read(&mut buffer[..most])?;
        self.left -= length;
        Ok(length)
    }
}

impl Write for TurnStream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

impl AsFd for TurnStream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}
