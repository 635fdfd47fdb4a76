//! Transfers of the kernel's TCP, between two network namespaces: sockets and sending ends.

use std::io::{self, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use nix::sys::socket::{
    AddressFamily, SockFlag, SockType, SockaddrStorage, bind, connect, listen, socket, sockopt,
};
use nix::sys::socket::{Backlog, setsockopt, sockopt::TcpCongestion};
use nix::sys::time::{TimeVal, TimeValLike};
use std::ffi::OsString;
use std::os::fd::{AsRawFd, OwnedFd};
use weir_net::Time;
use weir_units::{DataSize, TimeDelta};
use weir_world::host::Life;
use weir_world::random::DownloadDraws;

use crate::clock::RunClock;
use crate::report::TcpInfo;
use crate::sys::tcp_info;

/// Longest time in a call of the system.
const PATIENCE: Duration = Duration::from_millis(100);
/// Interval of the records of a connection's state.
const RECORD_INTERVAL: TimeDelta = TimeDelta::from_millis(100);
/// Interval at which the end of a transfer is looked for.
const ACKNOWLEDGEMENT_INTERVAL: Duration = Duration::from_millis(1);
/// Bytes that are written at once.
const CHUNK: usize = 64 << 10;

/// Data of a flow of the kernel's TCP.
#[derive(Clone, Debug)]
pub(crate) enum KernelTraffic {
    /// One transfer of so many bytes; without end for `None`.
    Transfer(Option<DataSize>),
    /// Downloads, each over a connection of its own, with idle times between them.
    Downloads(DownloadDraws),
}

/// A flow of the kernel's TCP.
#[derive(Clone, Debug)]
pub(crate) struct KernelFlow {
    pub(crate) life: Life,
    /// Name of the kernel's algorithm.
    pub(crate) algorithm: &'static str,
    pub(crate) traffic: KernelTraffic,
}

/// The kernel's name of an algorithm of Weir; `None` for one that kernels do not have.
pub(crate) fn kernel_name(algorithm: &str) -> Option<&'static str> {
    Some(match algorithm {
        "newreno" | "reno" => "reno",
        // The kernel's CUBIC has HyStart on.
        "cubic" | "cubic-hystart" => "cubic",
        "bbr" => "bbr",
        "highspeed" => "highspeed",
        "westwood-plus" => "westwood",
        "dctcp" => "dctcp",
        _ => return None,
    })
}

/// A listening socket at `address`. Call it inside of the receiving namespace.
pub(crate) fn listen_at(address: SocketAddr) -> io::Result<TcpListener> {
    let listener = stream_socket(address)?;
    setsockopt(&listener, sockopt::ReuseAddr, &true)?;
    bind(listener.as_raw_fd(), &SockaddrStorage::from(address))?;
    listen(&listener, Backlog::new(4).map_err(io::Error::from)?)?;
    let listener = TcpListener::from(listener);
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// A socket with the kernel's algorithm `name`. Call it inside of the sending namespace.
pub(crate) fn sending_socket(name: &str, to: SocketAddr) -> io::Result<OwnedFd> {
    let socket = stream_socket(to)?;
    setsockopt(&socket, TcpCongestion, &OsString::from(name)).map_err(|error| {
        let text = format!("the kernel has no congestion control `{name}` for this process ({error})");
        io::Error::new(io::ErrorKind::Unsupported, text)
    })?;
    Ok(socket)
}

fn stream_socket(address: SocketAddr) -> io::Result<OwnedFd> {
    let family = if address.is_ipv4() { AddressFamily::Inet } else { AddressFamily::Inet6 };
    Ok(socket(family, SockType::Stream, SockFlag::SOCK_CLOEXEC, None)?)
}

/// Waits for `at`; `false` if `stop` is set before.
fn wait_until(at: Time, clock: RunClock, stop: &AtomicBool) -> bool {
    loop {
        let left = clock.until(at);
        if stop.load(Ordering::Relaxed) {
            return false;
        }
        if left <= TimeDelta::ZERO {
            return true;
        }
        let left = Duration::from_nanos(left.nanos() as u64);
        thread::sleep(left.min(PATIENCE));
    }
}

/// Whether the call should be tried again.
fn is_again(error: &io::Error) -> bool {
    use io::ErrorKind;
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}

/// The sending end of a transfer.
#[derive(Debug)]
pub(crate) struct SentTransfer {
    /// When the connection was opened.
    pub(crate) started: Time,
    /// Bytes of the transfer, if it has an end.
    pub(crate) size: Option<DataSize>,
    /// Port of the sending end; `None` without a connection.
    pub(crate) port: Option<u16>,
    /// States of the connection.
    pub(crate) states: Vec<(Time, TcpInfo)>,
    /// When all bytes were acknowledged, if the transfer has an end.
    pub(crate) completed: Option<Time>,
}

/// Connects within the time that `life` and `stop` leave. The result is whether there is a connection.
fn connect_within(
    socket: &OwnedFd,
    to: SocketAddr,
    clock: RunClock,
    (life, stop): (Life, &AtomicBool),
) -> io::Result<bool> {
    use nix::errno::Errno::{
        EAGAIN, EALREADY, ECONNREFUSED, EHOSTUNREACH, EINPROGRESS, EINTR, EISCONN, ETIMEDOUT,
    };
    let address = SockaddrStorage::from(to);
    while clock.now() < life.stop && !stop.load(Ordering::Relaxed) {
        setsockopt(
            socket,
            sockopt::SendTimeout,
            &TimeVal::microseconds(patience(life, clock).as_micros() as i64),
        )?;
        match connect(socket.as_raw_fd(), &address) {
            Ok(()) | Err(EISCONN) => return Ok(true),
            Err(EINPROGRESS | EALREADY | EAGAIN | EINTR) => {}
            // The path may lose every packet: this is a result of the run, and no error.
            Err(ETIMEDOUT | EHOSTUNREACH | ECONNREFUSED) => return Ok(false),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(false)
}

/// Longest time in the next call of the system, so that it ends by the stop of `life`.
fn patience(life: Life, clock: RunClock) -> Duration {
    let left = clock.until(life.stop).nanos().max(1_000) as u64;
    PATIENCE.min(Duration::from_nanos(left))
}

/// Sends the data of `flow` to `to`, over `socket` first, until its stop, or until `stop` is set. Call it inside of the sending
/// namespace.
pub(crate) fn send(
    flow: &mut KernelFlow,
    to: SocketAddr,
    socket: OwnedFd,
    clock: RunClock,
    stop: &AtomicBool,
) -> io::Result<Vec<SentTransfer>> {
    let (life, algorithm) = (flow.life, flow.algorithm);
    let mut closing = Vec::new();
    let transfers = match &mut flow.traffic {
        KernelTraffic::Transfer(size) => {
            let mut sent = SentTransfer::new(life.start, *size);
            if wait_until(life.start, clock, stop) {
                closing.extend(sent.make(socket, to, clock, (life, stop))?);
            }
            // A reset before that could overtake the last acknowledgements.
            wait_until(life.stop, clock, stop);
            vec![sent]
        }
        KernelTraffic::Downloads(draws) => {
            let (mut all, mut socket) = (Vec::new(), Some(socket));
            let mut next = life.start + draws.first_idle();
            while next < life.stop && wait_until(next, clock, stop) {
                closing.retain(is_open);
                let socket = socket.take().map_or_else(|| sending_socket(algorithm, to), Ok)?;
                let mut sent = SentTransfer::new(clock.now(), Some(draws.size()));
                closing.extend(sent.make(socket, to, clock, (life, stop))?);
                let completed = sent.completed;
                all.push(sent);
                // Without an end there is no next one: the path has lost everything for long, or the flow stops.
                let Some(completed) = completed else { break };
                next = completed + draws.idle();
            }
            all
        }
    };
    // What is left in the kernel's buffers is not sent after the end: the reset discards it.
    for stream in &closing {
        setsockopt(stream, sockopt::Linger, &nix::libc::linger { l_onoff: 1, l_linger: 0 })?;
    }
    Ok(transfers)
}

/// Whether the other end has not closed the connection yet. The kernel does the rest of one that is closed.
fn is_open(stream: &TcpStream) -> bool {
    let peeked = stream.set_nonblocking(true).and_then(|()| stream.peek(&mut [0]));
    peeked.is_err_and(|error| is_again(&error))
}

impl SentTransfer {
    const fn new(started: Time, size: Option<DataSize>) -> Self {
        Self { started, size, port: None, states: Vec::new(), completed: None }
    }

    /// Sends the bytes over `socket` until they are acknowledged, until the stop of `life`, or until `stop` is set. The result
    /// is the connection, if there is one; a complete transfer has closed this end.
    fn make(
        &mut self,
        socket: OwnedFd,
        to: SocketAddr,
        clock: RunClock,
        (life, stop): (Life, &AtomicBool),
    ) -> io::Result<Option<TcpStream>> {
        if !connect_within(&socket, to, clock, (life, stop))? {
            return Ok(None);
        }
        let mut stream = TcpStream::from(socket);
        self.port = Some(stream.local_addr()?.port());
        let chunk = vec![0; CHUNK];
        let mut left = self.size.map_or(u64::MAX, DataSize::bytes);
        let mut recorded = Time::ZERO;
        while !stop.load(Ordering::Relaxed) && clock.now() < life.stop {
            let now = clock.now();
            if self.states.is_empty() || now - recorded >= RECORD_INTERVAL {
                self.states.push((now, tcp_info(&stream)?));
                recorded = now;
            }
            if left == 0 {
                // The last bytes may be under way. One more is acknowledged: that of the handshake.
                let info = tcp_info(&stream)?;
                if info.acked > self.size.map_or(0, DataSize::bytes) {
                    let now = clock.now();
                    self.completed = Some(now);
                    self.states.push((now, info));
                    let _closed = stream.shutdown(Shutdown::Write);
                    break;
                }
                thread::sleep(ACKNOWLEDGEMENT_INTERVAL.min(patience(life, clock)));
                continue;
            }
            stream.set_write_timeout(Some(patience(life, clock)))?;
            match stream.write(&chunk[..left.min(CHUNK as u64) as usize]) {
                Ok(written) => left -= written as u64,
                Err(error) if is_again(&error) => {}
                // The kernel gives up a path that has lost everything for long.
                Err(error) if error.kind() == io::ErrorKind::TimedOut => break,
                Err(error) => return Err(error),
            }
        }
        Ok(Some(stream))
    }
}
