//! The loop between the socket, the page and the clock.

use std::fs::File;
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use weir_call::clips::{ClipError, ClipSet};
use weir_call::controller::ControllerChoice;
use weir_call::path::PathSettings;
use weir_call::session::{CallConfig, CallSession, SessionEvent, SessionOutput};
use weir_cc::RateLimits;
use weir_registry::Registry;
use weir_units::DataRate;

use crate::address::own_address;
use crate::arguments::CallArguments;
use crate::commands::{PageCommand, command};
use crate::messages;
use crate::server::{PageEvent, PageServer};

/// Interval at which the page gets the figures.
const STATUS_INTERVAL: Duration = Duration::from_millis(200);
/// Time for which the end waits for the page.
const LEAVE_LIMIT: Duration = Duration::from_secs(1);
/// Datagrams read before others have their turn.
const BATCH: usize = 64;
/// The first controller, unless some are named.
const USUAL: &str = "gcc";
/// Bytes of a clip at most.
const CLIP_LIMIT: u64 = 256_000_000;
/// Lowest target of a call.
const LOWEST: DataRate = DataRate::from_kbps(100);

#[expect(clippy::disallowed_methods, reason = "this is where the time comes in")]
fn now() -> Instant {
    Instant::now()
}

/// A call with its page and socket.
struct CallRun {
    session: CallSession,
    server: PageServer,
    socket: UdpSocket,
    local: SocketAddr,
    signals: UnixStream,
    choices: Vec<ControllerChoice>,
    status_due: Instant,
    /// When the first signal came.
    leaving: Option<Instant>,
}

/// Runs the call until a signal ends it.
///
/// # Errors
/// A sentence about wrong input, or about a system that lacks something.
pub(crate) fn run(arguments: &CallArguments) -> Result<ExitCode, String> {
    let mut call = CallRun::open(arguments)?;
    let path = call.session.path();
    let name = &call.session.controller().name;
    print_line(&format!(
        "{name}: {} to the browser, {} each way, {} of queue.",
        path.capacity, path.delay, path.queue
    ));
    print_line(&format!("The page: {}", call.server.url()));
    print_line("Open it in a browser on this machine. Ctrl-C ends the call.");
    call.serve()
}

impl CallRun {
    fn open(arguments: &CallArguments) -> Result<Self, String> {
        let now = now();
        let registry = Registry::standard();
        let choices = choices(&registry, &arguments.controller)?;
        let (max, start) = (arguments.max_rate, arguments.start_rate);
        let limits = RateLimits::new(LOWEST, start, max)
            .map_err(|_| format!("rates must satisfy {LOWEST} ≤ --start-rate {start} ≤ --max-rate {max}"))?;
        if max > DataRate::from_mbps(50) {
            return Err(format!("--max-rate {max} must be at most 50Mbps"));
        }
        let path = PathSettings {
            capacity: arguments.capacity,
            delay: arguments.delay,
            queue: arguments.queue,
            loss: arguments.loss,
            cross: arguments.cross,
        };
        let clips = clips(arguments)?;
        let address = arguments.address.unwrap_or_else(own_address);
        let problem = |error| format!("a UDP socket on {address} cannot be opened: {error}");
        let socket = UdpSocket::bind((address, 0)).map_err(problem)?;
        socket.set_nonblocking(true).map_err(problem)?;
        let local = socket.local_addr().map_err(problem)?;
        let config = CallConfig { registry, controller: choices[0].clone(), limits, path };
        let session = CallSession::new(config, clips, local, now).map_err(|error| error.to_string())?;
        let server = PageServer::open(arguments.port, now)?;
        let signals = signals().map_err(|error| format!("signals cannot be read: {error}"))?;
        Ok(Self { session, server, socket, local, signals, choices, status_due: now, leaving: None })
    }

    fn serve(&mut self) -> Result<ExitCode, String> {
        loop {
            let wake = self.deliver();
            self.send_status();
            let end = self.leaving.map(|since| since + LEAVE_LIMIT);
            if end.is_some_and(|end| self.server.is_quiet() || now() >= end) {
                self.print_end();
                return Ok(ExitCode::SUCCESS);
            }
            let status = self.server.has_page().then_some(self.status_due);
            let due = [wake, end, status, Some(self.server.next_timeout())].into_iter().flatten().min();
            self.wait(due)?;
            self.receive();
            for event in self.server.take_events() {
                self.on_page(event);
            }
            match self.signals_read() {
                0 => {}
                1 if self.leaving.is_none() => {
                    self.leaving = Some(now());
                    self.session.close();
                    self.server.leave(now(), "The call has ended.");
                }
                _ => return Err("the call was broken off by a second signal".to_owned()),
            }
        }
    }

    /// Passes the outputs of the session on; returns when it wants to be called again.
    fn deliver(&mut self) -> Option<Instant> {
        loop {
            match self.session.poll(now()) {
                SessionOutput::Datagram(datagram) => {
                    // A full buffer, or a browser that is gone: as if the network had lost it.
                    let _lost = self.socket.send_to(&datagram.bytes, datagram.peer);
                }
                SessionOutput::Event(SessionEvent::Decision(row)) => self.send(&messages::decision(&row)),
                SessionOutput::Event(SessionEvent::Connected) => {
                    print_line("The browser is connected.");
                    self.send(&messages::connection(true));
                }
                SessionOutput::Event(SessionEvent::Waiting) => {
                    self.print_waiting("The browser is gone");
                    self.send(&messages::connection(false));
                }
                SessionOutput::Wake(at) => return at,
            }
        }
    }

    fn send(&mut self, message: &serde_json::Value) {
        self.server.send(&message.to_string());
    }

    fn send_status(&mut self) {
        let now = now();
        if now >= self.status_due && self.server.has_page() {
            self.status_due = now + STATUS_INTERVAL;
            let status = self.session.take_status(now);
            let message = messages::status(&status, self.session.path(), self.server.refusals());
            self.send(&message);
        }
    }

    /// Sleeps until `due`, or until a descriptor is ready, and serves the page's connections.
    fn wait(&mut self, due: Option<Instant>) -> Result<(), String> {
        let ready: Vec<bool> = {
            let own =
                [self.socket.as_fd(), self.signals.as_fd()].map(|fd| PollFd::new(fd, PollFlags::POLLIN));
            let mut polled: Vec<PollFd> = own.into_iter().chain(self.server.descriptors()).collect();
            let sleep = due.map_or(Duration::from_secs(1), |due| due.saturating_duration_since(now()));
            match wait_for(&mut polled, sleep) {
                Ok(_) | Err(nix::Error::EINTR) => {}
                Err(error) => return Err(format!("the sockets cannot be polled: {error}")),
            }
            polled[2..].iter().map(|polled| polled.any().unwrap_or(false)).collect()
        };
        self.server.serve(now(), &ready);
        Ok(())
    }

    /// Reads datagrams.
    fn receive(&mut self) {
        let mut buffer = [0; 2048];
        for _ in 0..BATCH {
            match self.socket.recv_from(&mut buffer) {
                Ok((length, from)) => self.session.on_datagram(now(), from, &buffer[..length]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                // An ICMP error of an earlier datagram: the browser is gone, or not yet there.
                Err(_) => {}
            }
        }
    }

    fn on_page(&mut self, event: PageEvent) {
        match event {
            PageEvent::Opened => {
                let (controller, path) = (self.session.controller(), self.session.path());
                let hello = messages::hello(&self.choices, controller, path, self.local.ip().is_loopback());
                self.send(&hello);
                let connected = messages::connection(self.session.is_connected());
                self.send(&connected);
                self.session.take_status(now());
            }
            PageEvent::Closed => {
                self.print_waiting("The page was closed");
            }
            PageEvent::Text(text) => {
                if let Err(sentence) = self.obey(&text) {
                    self.send(&messages::error(&sentence));
                }
            }
        }
    }

    /// Does what the page asks for.
    fn obey(&mut self, text: &str) -> Result<(), String> {
        let now = now();
        let result = match command(text, self.session.path())? {
            PageCommand::Offer(sdp) => {
                let answer = self.session.on_offer(now, &sdp).map_err(|error| error.to_string())?;
                self.send(&messages::answer(&answer));
                Ok(())
            }
            PageCommand::Controller(name) => {
                let choice = self.choices.iter().find(|choice| choice.name == name).cloned();
                let choice = choice.ok_or("this controller is not among those of the call")?;
                self.session.set_controller(now, choice)
            }
            PageCommand::Path(settings) => self.session.set_path(now, settings),
        };
        result.map_err(|error| error.to_string())
    }

    /// The signals since the last call.
    fn signals_read(&mut self) -> usize {
        let mut buffer = [0; 16];
        self.signals.read(&mut buffer).unwrap_or(0)
    }

    /// Prints why the call waits, unless it ends.
    fn print_waiting(&self, reason: &str) {
        if self.leaving.is_none() {
            print_line(&format!("{reason}; the call waits at {}", self.server.url()));
        }
    }

    fn print_end(&self) {
        print_line("The call has ended.");
        if let Some(refused) = self.server.refusals().listed() {
            print_line(&format!("Refused: {refused}."));
        }
    }
}

/// Prints a line. A closed output is no error.
fn print_line(line: &str) {
    let _closed = writeln!(std::io::stdout(), "{line}");
}

/// Waits until a descriptor is ready, or for `sleep`.
#[cfg(target_os = "linux")]
fn wait_for(polled: &mut [PollFd], sleep: Duration) -> nix::Result<i32> {
    nix::poll::ppoll(polled, Some(nix::sys::time::TimeSpec::from_duration(sleep)), None)
}

/// Waits until a descriptor is ready, or for `sleep`.
#[cfg(not(target_os = "linux"))]
fn wait_for(polled: &mut [PollFd], sleep: Duration) -> nix::Result<i32> {
    // Whole milliseconds: rounded up, the loop does not spin.
    let milliseconds = sleep.as_micros().div_ceil(1000);
    nix::poll::poll(
        polled,
        nix::poll::PollTimeout::try_from(milliseconds).unwrap_or(nix::poll::PollTimeout::MAX),
    )
}

/// A stream with a byte for each signal that asks the process to end.
fn signals() -> std::io::Result<UnixStream> {
    let (read, write) = UnixStream::pair()?;
    read.set_nonblocking(true)?;
    write.set_nonblocking(true)?;
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::low_level::pipe::register(signal, write.try_clone()?)?;
    }
    Ok(read)
}

/// The controllers of the call, the first of which begins.
fn choices(registry: &Registry, names: &[String]) -> Result<Vec<ControllerChoice>, String> {
    if names.is_empty() {
        let mut all = ControllerChoice::all(registry);
        all.sort_by_key(|choice| choice.name != USUAL);
        return Ok(all);
    }
    let names = names.iter().flat_map(|names| names.split(','));
    names.map(|name| ControllerChoice::of(registry, name).map_err(|error| error.to_string())).collect()
}

fn clips(arguments: &CallArguments) -> Result<ClipSet, String> {
    if arguments.clip.is_empty() {
        return Ok(ClipSet::built_in());
    }
    let files = arguments.clip.iter().map(|file| clip(file)).collect::<Result<Vec<_>, _>>()?;
    ClipSet::read(files.iter().map(Vec::as_slice)).map_err(|error| match error {
        ClipError::File { file, .. } | ClipError::Different { file } => {
            format!("{}: {error}", arguments.clip[file].display())
        }
        ClipError::None => error.to_string(),
    })
}

/// The content of a file that is not endless.
fn clip(file: &Path) -> Result<Vec<u8>, String> {
    let problem = |error| format!("{}: {error}", file.display());
    let mut bytes = Vec::new();
    File::open(file).map_err(problem)?.take(CLIP_LIMIT + 1).read_to_end(&mut bytes).map_err(problem)?;
    if bytes.len() as u64 > CLIP_LIMIT {
        return Err(format!("{}: a clip must have at most {} MB", file.display(), CLIP_LIMIT / 1_000_000));
    }
    Ok(bytes)
}
