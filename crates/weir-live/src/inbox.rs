//! Packets and timers of one thread, by the clock of a run.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsFd;
use std::time::Duration;

use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;
use weir_cc::Ecn;
use weir_net::Time;
use weir_units::TimeDelta;

use crate::clock::{Reading, RunClock, StampTranslator, nanos_of};
use crate::face::udp::{self, Datagram};

/// Longest time of a wait.
const LONGEST_SLEEP: TimeDelta = TimeDelta::from_millis(100);
/// Time after which a thread sleeps for a moment, far below [`LONGEST_BURST`](crate::realtime::LONGEST_BURST).
pub(crate) const LONGEST_WORK: TimeDelta = TimeDelta::from_millis(50);
/// Lateness up to which a timer is served at its own time, so that it does not add up in pacers.
pub const FORGIVEN: TimeDelta = TimeDelta::from_millis(2);
/// Largest packet that is read, in bytes.
const LARGEST_PACKET: usize = 2048;

/// Whether the last wait found the descriptor readable.
pub(crate) fn is_readable(descriptor: &PollFd<'_>) -> bool {
    descriptor.any().unwrap_or(false)
}

/// Waits until a descriptor is readable, `limit` is over, or a signal has come.
pub(crate) fn wait_for(polled: &mut [PollFd<'_>], limit: TimeDelta) -> io::Result<()> {
    let limit = TimeSpec::from_duration(Duration::from_nanos(limit.nanos().max(0) as u64));
    match ppoll(polled, Some(limit), None) {
        Ok(_) | Err(nix::Error::EINTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// A packet that arrived at a socket.
#[derive(Clone, Copy, Debug)]
pub struct Arrived<'a> {
    /// The clock of the run when the kernel received it.
    pub at: Time,
    /// The clock of the run when it was read.
    pub read: Time,
    /// Address of its sender.
    pub from: SocketAddr,
    /// ECN field.
    pub ecn: Ecn,
    /// The packet; of a longer one the first 2048 bytes.
    pub bytes: &'a [u8],
}

/// The clock by which the sockets of one thread are read.
#[derive(Debug)]
pub struct Inbox {
    clock: RunClock,
    stamps: StampTranslator,
    /// Latest time that was used; none is earlier.
    latest: Time,
    /// When the thread last slept for certain.
    slept: Time,
    buffer: Box<[u8; LARGEST_PACKET]>,
}

impl Inbox {
    /// An inbox whose packets and timers have the times of `clock`.
    pub fn new(clock: RunClock) -> Self {
        let stamps = StampTranslator::new(Reading::take());
        Self { clock, stamps, latest: Time::ZERO, slept: Time::ZERO, buffer: Box::new([0; LARGEST_PACKET]) }
    }

    /// Waits until a descriptor is readable or `next` has come. The result is whether to go on: the first descriptor is the
    /// flag that stops the thread.
    pub(crate) fn wait(&mut self, next: Time, polled: &mut [PollFd<'_>]) -> io::Result<bool> {
        self.rest()?;
        let sleep = self.clock.until(next).clamp(TimeDelta::ZERO, LONGEST_SLEEP);
        wait_for(polled, sleep)?;
        self.stamps.observe(Reading::take());
        Ok(!is_readable(&polled[0]))
    }

    /// Waits until the socket is readable or `next` has come, at most for 100 ms.
    ///
    /// # Errors
    /// If the socket cannot be polled.
    pub fn wait_on(&mut self, next: Time, socket: &UdpSocket) -> io::Result<()> {
        self.wait(next, &mut [PollFd::new(socket.as_fd(), PollFlags::POLLIN)]).map(drop)
    }

    /// Sleeps for the shortest time there is, if the thread may not have slept for [`LONGEST_WORK`]: a wait for descriptors
    /// returns at once where one is readable. The kernel ends a process whose real-time thread does not sleep.
    pub(crate) fn rest(&mut self) -> io::Result<()> {
        let now = self.clock.now();
        if now - self.slept > LONGEST_WORK {
            self.slept = now;
            wait_for(&mut [], TimeDelta::from_micros(1))?;
        }
        Ok(())
    }

    /// Steps of the wall clock, and receive stamps that were discarded.
    pub fn clock_figures(&self) -> [u64; 2] {
        [self.stamps.steps(), self.stamps.discarded()]
    }

    /// The present time of the run.
    pub fn now(&self) -> Time {
        self.clock.now()
    }

    /// Takes `at` as the latest time that was used.
    pub fn advance(&mut self, at: Time) {
        self.latest = self.latest.max(at);
    }

    /// Reads the next packet of a [prepared](udp::prepare) socket.
    ///
    /// # Errors
    /// An error of the socket.
    pub fn read(&mut self, socket: &UdpSocket) -> io::Result<Option<Arrived<'_>>> {
        let Some(datagram) = udp::receive(socket, self.buffer.as_mut_slice())? else { return Ok(None) };
        let Datagram { length, from, ecn, stamp, .. } = datagram;
        let read = nanos_of(nix::time::ClockId::CLOCK_MONOTONIC);
        let at = stamp.map_or(read, |stamp| self.stamps.translate(stamp, read));
        self.latest = self.clock.time_of(at).max(self.latest);
        let read = self.clock.time_of(read).max(self.latest);
        Ok(Some(Arrived { at: self.latest, read, from, ecn, bytes: &self.buffer[..length] }))
    }

    /// The time at which a timer that is due at `due` is served: its own, if it is hardly late and nothing has arrived
    /// since; else the present. `None` before it is due.
    pub fn serve_at(&mut self, due: Time) -> Option<(Time, TimeDelta)> {
        if self.clock.until(due) > TimeDelta::ZERO {
            return None;
        }
        let now = self.clock.now();
        let late = now - due;
        let at = if late < FORGIVEN { due.max(self.latest) } else { now };
        self.latest = at.max(self.latest);
        Some((at, late))
    }
}
