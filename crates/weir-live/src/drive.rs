//! The emulator's thread: serves an [`Emulator`] at its own times, between the sockets of a face.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use nix::poll::{PollFd, PollFlags};
use nix::sys::eventfd::{EfdFlags, EventFd};
use nix::time::ClockId;
use weir_net::Time;
use weir_units::TimeDelta;

use crate::clock::{Reading, RunClock, StampTranslator, nanos_of};
use crate::emulator::{BufferPool, Emulator, Event, EventKind, Transit};
use crate::face::{Face, FaceArrival, Received};
use crate::inbox::wait_for;
use crate::lateness::Lateness;
use crate::realtime::{be_exact, be_realtime};

/// Longest time without a look at the flag that stops the thread.
const LONGEST_SLEEP: TimeDelta = TimeDelta::from_millis(100);
/// Time after which the thread pauses, so that the kernel does not take it for a fault
/// ([`LONGEST_BURST`](crate::realtime::LONGEST_BURST)).
const LONGEST_WORK: TimeDelta = TimeDelta::from_millis(50);
/// Packets read from one descriptor before others have their turn.
const BATCH: usize = 32;
/// Time within which the thread must be ready.
const START_LIMIT: Duration = Duration::from_secs(10);

/// A record of the events of an emulator's thread, which must not wait for anything.
pub trait EventLog {
    /// An event, with the bytes of its packet.
    fn event(&mut self, event: &Event, bytes: &[u8]);
}

impl EventLog for Vec<Event> {
    fn event(&mut self, event: &Event, _: &[u8]) {
        self.push(*event);
    }
}

/// Options of a driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DriveOptions {
    /// Real-time priority to be tried; `None` keeps the usual one.
    pub priority: Option<u8>,
    /// When the thread ends by itself, at the latest.
    pub end: Time,
    /// Events for which the log has room from the start. Growth beyond may cost time.
    pub log: usize,
    /// Packets for which there are buffers from the start.
    pub buffers: usize,
}

/// The figures of an emulator's thread.
#[derive(Debug)]
pub struct Driven<L = Vec<Event>> {
    /// All events, in order of time, or what another log makes of them.
    pub log: L,
    /// Lateness of the deliveries.
    pub lateness: Lateness,
    /// Packets that entered the emulator.
    pub entered: u64,
    /// Packets that were handed to a host.
    pub delivered: u64,
    /// Packets that links dropped.
    pub dropped: u64,
    /// Packets that were still inside at the end.
    pub inside: u64,
    /// Packets that came to the end of their route, but the system had no room for them.
    pub refused: u64,
    /// Packets between hosts that fit no flow.
    pub unknown: u64,
    /// Packets of other sources, or to other destinations.
    pub foreign: u64,
    /// Packets that were longer than a buffer.
    pub too_long: u64,
    /// Packets that the system dropped before the emulator read them.
    pub socket_drops: u64,
    /// Steps of the wall clock.
    pub clock_steps: u64,
    /// Receive stamps that were discarded.
    pub stamps_discarded: u64,
    /// Processor time of the thread.
    pub cpu: TimeDelta,
    /// Why the thread had no real-time priority, if it asked for one.
    pub not_realtime: Option<String>,
}

impl<L> Driven<L> {
    fn new(log: L) -> Self {
        Self {
            log,
            lateness: Lateness::default(),
            entered: 0,
            delivered: 0,
            dropped: 0,
            inside: 0,
            refused: 0,
            unknown: 0,
            foreign: 0,
            too_long: 0,
            socket_drops: 0,
            clock_steps: 0,
            stamps_discarded: 0,
            cpu: TimeDelta::ZERO,
            not_realtime: None,
        }
    }

    /// Packets lost at the emulator that no link dropped.
    pub fn lost_outside(&self) -> u64 {
        self.refused + self.too_long + self.socket_drops + self.unknown
    }
}

/// A running thread, which stops when this value is dropped.
#[derive(Debug)]
pub struct Driver<L = Vec<Event>> {
    stop: Arc<EventFd>,
    thread: Option<JoinHandle<io::Result<Driven<L>>>>,
}

impl Driver {
    /// Starts the thread; it serves packets as soon as this returns, and logs all events.
    ///
    /// # Errors
    /// If the thread or its flag cannot be made.
    pub fn start<F: Face + Send + 'static>(
        emulator: Emulator,
        face: F,
        clock: RunClock,
        options: DriveOptions,
    ) -> io::Result<Self> {
        Self::start_with(emulator, face, clock, options, Vec::with_capacity(options.log))
    }
}

impl<L: EventLog + Send + 'static> Driver<L> {
    /// [`Driver::start`] with a log of the caller's.
    ///
    /// # Errors
    /// If the thread or its flag cannot be made.
    pub fn start_with<F: Face + Send + 'static>(
        emulator: Emulator,
        face: F,
        clock: RunClock,
        options: DriveOptions,
        log: L,
    ) -> io::Result<Self> {
        let stop = Arc::new(EventFd::from_flags(EfdFlags::EFD_NONBLOCK | EfdFlags::EFD_CLOEXEC)?);
        let (ready, is_ready) = sync_channel(1);
        let flag = Arc::clone(&stop);
        let body = move || {
            be_exact()?;
            let refusal = options.priority.and_then(|priority| be_realtime(priority).err());
            let mut work = Work::new(emulator, face, clock, options, log)?;
            work.driven.not_realtime = refusal.map(|error| error.to_string());
            // The one who started the thread may be gone, and then stops it.
            let _gone = ready.send(());
            work.serve(&flag)
        };
        let thread = Some(thread::Builder::new().name("weir-emulator".to_owned()).spawn(body)?);
        let mut driver = Self { stop, thread };
        if is_ready.recv_timeout(START_LIMIT).is_err() {
            driver.finish()?;
            return Err(io::Error::new(io::ErrorKind::TimedOut, "the emulator's thread did not start"));
        }
        Ok(driver)
    }
}

impl<L> Driver<L> {
    /// Whether the thread still serves packets. The end of the run ends it, or an error, which [`Self::stop`] returns.
    pub fn is_running(&self) -> bool {
        self.thread.as_ref().is_some_and(|thread| !thread.is_finished())
    }

    /// Stops the thread at once; packets that are inside stay there.
    ///
    /// # Errors
    /// The error that ended the thread.
    pub fn stop(mut self) -> io::Result<Driven<L>> {
        self.finish()
    }

    fn finish(&mut self) -> io::Result<Driven<L>> {
        let thread = self.thread.take().ok_or_else(|| io::Error::other("the emulator was stopped twice"))?;
        self.stop.write(1)?;
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

impl<L> Drop for Driver<L> {
    fn drop(&mut self) {
        if let Some(thread) = self.thread.take() {
            // Neither can be reported here: the flag is written, or the thread ends by itself.
            let _flag = self.stop.write(1);
            let _result = thread.join();
        }
    }
}

/// The state of the thread.
struct Work<F, L> {
    emulator: Emulator,
    face: F,
    clock: RunClock,
    end: Time,
    pool: BufferPool,
    stamps: StampTranslator,
    paused: Time,
    /// Packets that the system had dropped before the start.
    drops_before: u64,
    driven: Driven<L>,
}

impl<F: Face, L: EventLog> Work<F, L> {
    fn new(emulator: Emulator, face: F, clock: RunClock, options: DriveOptions, log: L) -> io::Result<Self> {
        let DriveOptions { end, buffers, .. } = options;
        Ok(Self {
            emulator,
            drops_before: face.drops()?,
            face,
            clock,
            end,
            pool: BufferPool::with_slots(buffers),
            stamps: StampTranslator::new(Reading::take()),
            paused: clock.now(),
            driven: Driven::new(log),
        })
    }

    fn serve(mut self, stop: &EventFd) -> io::Result<Driven<L>> {
        // Duplicates, so that they can be polled while the face is at work.
        let watched: Vec<OwnedFd> =
            self.face.descriptors().iter().map(OwnedFd::try_clone).collect::<io::Result<_>>()?;
        let descriptors = std::iter::once(stop.as_fd()).chain(watched.iter().map(AsFd::as_fd));
        let mut polled: Vec<PollFd> = descriptors.map(|fd| PollFd::new(fd, PollFlags::POLLIN)).collect();
        loop {
            let now = self.clock.now();
            let next = self.emulator.next_event().unwrap_or(Time::MAX).min(self.end);
            let sleep = (next - now).max(TimeDelta::ZERO).min(LONGEST_SLEEP);
            wait_for(&mut polled, sleep)?;
            if ready(&polled[0]) {
                break;
            }
            self.stamps.observe(Reading::take());
            for (index, descriptor) in polled[1..].iter().enumerate() {
                if ready(descriptor) {
                    self.read(index)?;
                    self.deliver()?;
                    self.pause_in_time()?;
                }
            }
            self.deliver()?;
            self.pause_in_time()?;
            if self.clock.now() >= self.end {
                break;
            }
        }
        self.driven.socket_drops = self.face.drops()?.saturating_sub(self.drops_before);
        self.driven.inside = self.emulator.inside() as u64;
        self.driven.clock_steps = self.stamps.steps();
        self.driven.stamps_discarded = self.stamps.discarded();
        self.driven.cpu = TimeDelta::from_nanos(nanos_of(ClockId::CLOCK_THREAD_CPUTIME_ID));
        Ok(self.driven)
    }

    /// Pauses for the shortest time there is, if the thread may not have slept for [`LONGEST_WORK`].
    fn pause_in_time(&mut self) -> io::Result<()> {
        let now = self.clock.now();
        if now - self.paused > LONGEST_WORK {
            self.paused = now;
            wait_for(&mut [], TimeDelta::from_micros(1))?;
        }
        Ok(())
    }

    /// Takes packets from a descriptor into the emulator, at the times at which the kernel received them.
    fn read(&mut self, descriptor: usize) -> io::Result<()> {
        for _ in 0..BATCH {
            let buffer = self.pool.take();
            let received = self.face.receive(descriptor, self.pool.bytes(buffer).as_mut_slice())?;
            if let Received::Packet(FaceArrival { route, length, wire_size, flow, ecn, stamp }) = received {
                let read = nanos_of(ClockId::CLOCK_MONOTONIC);
                let at = stamp.map_or(read, |stamp| self.stamps.translate(stamp, read));
                let packet = Transit { route, buffer, length, wire_size, ecn, flow, number: 0 };
                self.emulator.enqueue(self.clock.time_of(at), packet);
                self.driven.entered += 1;
                continue;
            }
            self.pool.release(buffer);
            match received {
                Received::Unknown => self.driven.unknown += 1,
                Received::Foreign => self.driven.foreign += 1,
                Received::TooLong => self.driven.too_long += 1,
                Received::Packet(_) | Received::Empty => break,
            }
        }
        Ok(())
    }

    /// Serves everything that is due.
    fn deliver(&mut self) -> io::Result<()> {
        let now = self.clock.now();
        while let Some(event) = self.emulator.poll(now) {
            let Event { at, packet: Transit { route, buffer, length, ecn, .. }, kind } = event;
            let bytes = &mut self.pool.bytes(buffer)[..length as usize];
            self.driven.log.event(&event, bytes);
            match kind {
                EventKind::Delivered { .. } => {
                    self.driven.lateness.record(self.clock.now() - at);
                    if self.face.send(route, ecn, bytes)? {
                        self.driven.delivered += 1;
                    } else {
                        self.driven.refused += 1;
                    }
                    self.pool.release(buffer);
                }
                EventKind::Dropped { .. } => {
                    self.driven.dropped += 1;
                    self.pool.release(buffer);
                }
                EventKind::Entered { .. } | EventKind::Left { .. } => {}
            }
        }
        Ok(())
    }
}

fn ready(descriptor: &PollFd) -> bool {
    descriptor.any().unwrap_or(false)
}
