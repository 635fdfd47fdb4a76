//! An end of a session on a socket, driven by the clock (Linux).

use std::io;
use std::net::{SocketAddr, UdpSocket};

use weir_live::clock::RunClock;
use weir_live::face::udp::{SendOutcome, never_fragment, prepare, send_once};
use weir_live::inbox::{FORGIVEN, Inbox};
use weir_live::lateness::Lateness;
use weir_live::realtime::{be_exact, be_realtime};
use weir_live::sys::socket_drops;
use weir_net::Time;
use weir_units::TimeDelta;

use crate::end::{EndPhase, IncomingDatagram, PeerEnd};
use crate::message::PEER_MTU;

/// Priority by SCHED_FIFO of the thread.
const PRIORITY: u8 = 40;
/// Packets that are read before timers have their turn.
const BATCH: usize = 32;
/// Time between two calls of the observer.
const PROGRESS_INTERVAL: TimeDelta = TimeDelta::from_millis(50);

/// The socket of an end: it sets DF, and its packets have a receive stamp and their ECN field.
#[derive(Debug)]
pub struct PeerSocket(UdpSocket);

impl PeerSocket {
    /// A socket at this address.
    ///
    /// # Errors
    /// The port is in use, or the system refuses.
    pub fn bind(address: SocketAddr) -> io::Result<Self> {
        let socket = UdpSocket::bind(address)?;
        prepare(&socket)?;
        never_fragment(&socket)?;
        Ok(Self(socket))
    }

    /// Its address.
    ///
    /// # Errors
    /// If the system does not know it.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }
}

/// A wish of the observer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DriveWish {
    /// The session goes on.
    Continue,
    /// The session ends in order.
    Interrupt,
    /// The session ends at once.
    Abandon,
}

/// A packet that was sent or received, without its trailer.
#[derive(Clone, Copy, Debug)]
pub struct SeenPacket<'a> {
    /// Time by the clock of the drive.
    pub at: Time,
    /// Address of its sender.
    pub from: SocketAddr,
    /// Address of its receiver.
    pub to: SocketAddr,
    /// ECN field, as in an IP header.
    pub ecn: weir_cc::Ecn,
    /// Its content.
    pub bytes: &'a [u8],
}

/// The observer of a drive.
pub trait DriveObserver {
    /// The present state, some twenty times a second.
    fn progress(&mut self, now: Time, end: &mut PeerEnd) -> DriveWish;

    /// A packet of the session.
    fn packet(&mut self, _packet: &SeenPacket<'_>) {}
}

/// Figures of a drive.
#[derive(Clone, Debug, Default)]
pub struct DriveFigures {
    /// Lateness of timers during the session.
    pub timers: Lateness,
    /// Packets that the system did not take.
    pub refused: u64,
    /// Packets that the system dropped at the socket.
    pub drops: u64,
    /// Whether the observer abandoned the session.
    pub abandoned: bool,
    /// Steps of the wall clock.
    pub clock_steps: u64,
    /// Time at which the drive stopped.
    pub stopped: Time,
    /// Reason why the thread has no real-time priority, if it was to have one.
    pub not_realtime: Option<String>,
}

/// An error of a drive.
#[derive(Debug, thiserror::Error)]
pub enum DriveError {
    /// The interface carries only shorter packets.
    #[error(
        "the interface to {to} does not carry a packet of {bytes} bytes without fragments (EMSGSIZE); it needs an MTU of {PEER_MTU} bytes"
    )]
    TooLong {
        /// The destination.
        to: SocketAddr,
        /// Bytes of the datagram.
        bytes: usize,
    },
    /// An error of the system.
    #[error("the socket failed: {0}")]
    System(#[from] io::Error),
}

/// Drives the end that `make` makes for a time of `clock`, until it has ended or the observer abandons it.
///
/// # Errors
/// An interface with a smaller MTU, or an error of the socket.
pub fn drive(
    socket: &PeerSocket,
    clock: RunClock,
    realtime: bool,
    make: impl FnOnce(Time) -> PeerEnd,
    observer: &mut dyn DriveObserver,
) -> Result<(PeerEnd, DriveFigures), DriveError> {
    be_exact()?;
    let refusal = realtime.then(|| be_realtime(PRIORITY).err()).flatten();
    let PeerSocket(socket) = socket;
    let own = socket.local_addr()?;
    let drops_before = socket_drops(socket)?;
    let mut inbox = Inbox::new(clock);
    let mut end = make(inbox.now());
    let not_realtime = refusal.map(|error| error.to_string());
    let mut figures = DriveFigures { not_realtime, ..DriveFigures::default() };
    let mut observed = Time::ZERO;
    flush(socket, own, inbox.now(), &mut end, &mut figures, observer)?;
    while end.phase() != EndPhase::Ended {
        inbox.wait_on(end.next_wake().min(observed + PROGRESS_INTERVAL), socket)?;
        for _ in 0..BATCH {
            let Some(arrived) = inbox.read(socket)? else { break };
            // A reaction cannot leave earlier than the packet was read.
            let now = if arrived.read - arrived.at < FORGIVEN { arrived.at } else { arrived.read };
            let datagram = IncomingDatagram {
                at: arrived.at,
                from: arrived.from,
                ecn: arrived.ecn,
                bytes: arrived.bytes,
            };
            if let Some(plain) = end.on_datagram(now, datagram) {
                let bytes = &arrived.bytes[..plain.min(arrived.bytes.len())];
                observer.packet(&SeenPacket {
                    at: now,
                    from: arrived.from,
                    to: own,
                    ecn: arrived.ecn,
                    bytes,
                });
            }
            inbox.advance(now);
            flush(socket, own, now, &mut end, &mut figures, observer)?;
        }
        for _ in 0..BATCH {
            let Some((at, late)) = inbox.serve_at(end.next_wake()) else { break };
            if end.phase() == EndPhase::Running {
                figures.timers.record(late);
            }
            end.on_timeout(at);
            flush(socket, own, at, &mut end, &mut figures, observer)?;
        }
        let now = inbox.now();
        if now >= observed + PROGRESS_INTERVAL {
            observed = now;
            match observer.progress(now, &mut end) {
                DriveWish::Continue => {}
                DriveWish::Interrupt => {
                    end.interrupt(now);
                    flush(socket, own, now, &mut end, &mut figures, observer)?;
                }
                DriveWish::Abandon => {
                    figures.abandoned = true;
                    break;
                }
            }
        }
    }
    figures.stopped = inbox.now();
    figures.clock_steps = inbox.clock_figures()[0];
    figures.drops = socket_drops(socket)?.saturating_sub(drops_before);
    Ok((end, figures))
}

/// Sends what the end has to send.
fn flush(
    socket: &UdpSocket,
    own: SocketAddr,
    at: Time,
    end: &mut PeerEnd,
    figures: &mut DriveFigures,
    observer: &mut dyn DriveObserver,
) -> Result<(), DriveError> {
    while let Some(datagram) = end.poll() {
        match send_once(socket, datagram.to, datagram.ecn, datagram.bytes)? {
            SendOutcome::Taken => {}
            SendOutcome::Refused => figures.refused += 1,
            SendOutcome::TooLong => {
                return Err(DriveError::TooLong { to: datagram.to, bytes: datagram.bytes.len() });
            }
        }
        let bytes = &datagram.bytes[..datagram.plain];
        observer.packet(&SeenPacket { at, from: own, to: datagram.to, ecn: datagram.ecn, bytes });
    }
    Ok(())
}
