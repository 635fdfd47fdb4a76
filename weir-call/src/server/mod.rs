//! The server of the page: loopback alone, one page, one WebSocket.

mod connection;
mod page;
mod request;
mod stream;
mod token;

use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::os::fd::AsFd as _;
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags};
use tungstenite::protocol::frame::coding::CloseCode;

use crate::refusals::{RefusalCounts, RequestRefusal};
pub(crate) use connection::PageEvent;
use connection::{PageConnection, ServerState};

/// Connections at the same time at most.
const MOST_CONNECTIONS: usize = 16;
/// Interval at which idle connections are looked for.
const TICK: Duration = Duration::from_secs(1);
/// Free ports that are tried until one is free on both loopback addresses.
const TRIES: usize = 20;

/// The server.
#[derive(Debug)]
pub(crate) struct PageServer {
    listeners: Vec<TcpListener>,
    connections: Vec<PageConnection>,
    state: ServerState,
    tick: Instant,
}

impl PageServer {
    /// A server on 127.0.0.1 and ::1, at this port or at a free one for 0.
    ///
    /// # Errors
    /// A sentence, such as about a port that is in use.
    pub(crate) fn open(port: u16, now: Instant) -> Result<Self, String> {
        let (listeners, port) = listen(port)?;
        let state = ServerState {
            port,
            token: token::random()?,
            counts: RefusalCounts::default(),
            has_page: false,
            events: Vec::new(),
        };
        Ok(Self { listeners, connections: Vec::new(), state, tick: now })
    }

    /// The address of the page, with its token.
    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/#{}", self.state.port, self.state.token)
    }

    /// The descriptors to poll.
    pub(crate) fn descriptors(&self) -> Vec<PollFd<'_>> {
        let listeners =
            self.listeners.iter().map(|listener| PollFd::new(listener.as_fd(), PollFlags::POLLIN));
        let connections = self.connections.iter().filter_map(|connection| {
            let writes = if connection.waits_to_write() { PollFlags::POLLOUT } else { PollFlags::empty() };
            Some(PollFd::new(connection.descriptor()?, PollFlags::POLLIN | writes))
        });
        listeners.chain(connections).collect()
    }

    /// Serves all that is ready; `ready` has an entry for each of [`Self::descriptors`].
    pub(crate) fn serve(&mut self, now: Instant, ready: &[bool]) {
        let (listeners, connections) = ready.split_at(self.listeners.len().min(ready.len()));
        for index in (0..self.connections.len().min(connections.len())).filter(|&index| connections[index]) {
            self.connections[index].serve(now, &mut self.state);
            self.note_page();
        }
        for (listener, _) in self.listeners.iter().zip(listeners).filter(|(_, ready)| **ready) {
            // Those beyond have their turn after all others.
            for stream in std::iter::from_fn(|| accepted(listener)).take(MOST_CONNECTIONS) {
                let Ok(mut connection) = PageConnection::new(stream, now) else { continue };
                connection.serve(now, &mut self.state);
                self.connections.push(connection);
                if self.connections.len() > MOST_CONNECTIONS {
                    self.state.counts.count(RequestRefusal::Connections);
                    let oldest = self.connections.iter().position(|connection| !connection.is_admitted());
                    self.connections.remove(oldest.unwrap_or(MOST_CONNECTIONS));
                }
            }
        }
        if now >= self.tick {
            self.tick = now + TICK;
            self.connections.iter_mut().for_each(|connection| connection.on_time(now));
        }
        self.connections.retain(|connection| !connection.is_closed());
        self.note_page();
    }

    /// Notes whether the page is gone, by whatever way.
    fn note_page(&mut self) {
        if self.state.has_page && !self.connections.iter().any(PageConnection::is_admitted) {
            self.state.has_page = false;
            self.state.events.push(PageEvent::Closed);
        }
    }

    /// When [`Self::serve`] should next be called at the latest.
    pub(crate) fn next_timeout(&self) -> Instant {
        self.tick
    }

    /// The events since the last call.
    pub(crate) fn take_events(&mut self) -> Vec<PageEvent> {
        std::mem::take(&mut self.state.events)
    }

    /// Whether a page is there.
    pub(crate) fn has_page(&self) -> bool {
        self.state.has_page
    }

    /// Counts of refusals.
    pub(crate) fn refusals(&self) -> &RefusalCounts {
        &self.state.counts
    }

    /// Sends a text to the page, if there is one.
    pub(crate) fn send(&mut self, text: &str) {
        if let Some(page) = self.connections.iter_mut().find(|connection| connection.is_admitted()) {
            page.send_text(text);
            self.note_page();
        }
    }

    /// Takes leave of the page with a sentence. No other connection comes from now on.
    pub(crate) fn leave(&mut self, now: Instant, sentence: &str) {
        self.listeners.clear();
        self.connections.iter_mut().for_each(|connection| connection.leave(now, CloseCode::Away, sentence));
        self.connections.retain(|connection| !connection.is_closed());
        // Who takes leave knows that the page is gone.
        self.state.has_page = false;
    }

    /// Whether no connection is open.
    pub(crate) fn is_quiet(&self) -> bool {
        self.connections.is_empty()
    }
}

/// The next connection of a listener.
fn accepted(listener: &TcpListener) -> Option<std::net::TcpStream> {
    loop {
        match listener.accept() {
            Ok((stream, _)) => return Some(stream),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
    }
}

fn listen(port: u16) -> Result<(Vec<TcpListener>, u16), String> {
    let in_use = |error: io::Error| match error.kind() {
        ErrorKind::AddrInUse => format!("port {port} is in use; name another one, or none for a free one"),
        _ => format!("port {port} on 127.0.0.1 cannot be opened: {error}"),
    };
    let open = |address: SocketAddr| {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        Ok::<_, io::Error>(listener)
    };
    for _ in 0..TRIES {
        let first = open((Ipv4Addr::LOCALHOST, port).into()).map_err(in_use)?;
        let chosen = first.local_addr().map_err(in_use)?.port();
        match open((Ipv6Addr::LOCALHOST, chosen).into()) {
            Ok(second) => return Ok((vec![first, second], chosen)),
            Err(error) if error.kind() == ErrorKind::AddrInUse && port != 0 => return Err(in_use(error)),
            Err(error) if error.kind() == ErrorKind::AddrInUse => {}
            // Without IPv6 the one address is enough.
            Err(_) => return Ok((vec![first], chosen)),
        }
    }
    Err("no port is free on both 127.0.0.1 and ::1".to_owned())
}
