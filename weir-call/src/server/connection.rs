//! A connection of the server: a request, then the page or the WebSocket.

use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::time::{Duration, Instant};

use tungstenite::error::ProtocolError;
use tungstenite::protocol::frame::coding::CloseCode;
use tungstenite::protocol::{CloseFrame, Role, WebSocketConfig};
use tungstenite::{Error, Message, WebSocket};

use super::page;
use super::request::{HEADER_LIMIT, RequestVerdict, judge};
use super::stream::TurnStream;
use super::token;
use crate::commands;
use crate::messages;
use crate::refusals::{RefusalCounts, RequestRefusal};

/// Bytes of a message at most.
const MESSAGE_LIMIT: usize = 64 * 1024;
/// Bytes that wait for a page that does not read, at most.
const WAITING_LIMIT: usize = 512 * 1024;
/// Time after which the page is closed without a sign of life, and any other connection in all.
const IDLE_LIMIT: Duration = Duration::from_secs(10);
/// Interval at which a WebSocket is asked for a sign of life.
const PING_INTERVAL: Duration = Duration::from_secs(3);
/// Bytes that are read and dropped after an answer, so that the other end can read it.
const LINGER_LIMIT: usize = 4 * 1024 * 1024;
/// The code by which a refused page is closed.
const REFUSED: CloseCode = CloseCode::Policy;

/// An event of the page that is admitted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PageEvent {
    /// The page has the token.
    Opened,
    /// A message.
    Text(String),
    /// The page is gone.
    Closed,
}

/// State that all connections share.
#[derive(Debug)]
pub(crate) struct ServerState {
    pub(crate) port: u16,
    pub(crate) token: String,
    pub(crate) counts: RefusalCounts,
    /// Whether a page is admitted.
    pub(crate) has_page: bool,
    pub(crate) events: Vec<PageEvent>,
}

/// A connection.
#[derive(Debug)]
pub(crate) struct PageConnection {
    stage: ConnectionStage,
    since: Instant,
    last_sign: Instant,
    pinged: Instant,
    /// Whether bytes wait for the other end.
    waits: bool,
}

#[derive(Debug)]
enum ConnectionStage {
    Request { stream: TcpStream, read: Vec<u8> },
    Reply { stream: TcpStream, bytes: Vec<u8>, written: usize },
    Linger { stream: TcpStream, left: usize },
    Socket { socket: Box<WebSocket<TurnStream>>, standing: PageStanding },
    Closed,
}

/// The standing of a WebSocket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PageStanding {
    New,
    Admitted,
    Leaving,
}

impl PageConnection {
    /// A connection that has just been accepted.
    ///
    /// # Errors
    /// If the stream cannot be made non-blocking.
    pub(crate) fn new(stream: TcpStream, now: Instant) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        stream.set_nodelay(true)?;
        let stage = ConnectionStage::Request { stream, read: Vec::new() };
        Ok(Self { stage, since: now, last_sign: now, pinged: now, waits: false })
    }

    /// Its descriptor; `None` once it is closed.
    pub(crate) fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        match &self.stage {
            ConnectionStage::Request { stream, .. }
            | ConnectionStage::Reply { stream, .. }
            | ConnectionStage::Linger { stream, .. } => Some(stream.as_fd()),
            ConnectionStage::Socket { socket, .. } => Some(socket.get_ref().as_fd()),
            ConnectionStage::Closed => None,
        }
    }

    /// Whether it waits until it can write.
    pub(crate) fn waits_to_write(&self) -> bool {
        self.waits
    }

    /// Whether it is the page's.
    pub(crate) fn is_admitted(&self) -> bool {
        matches!(self.stage, ConnectionStage::Socket { standing: PageStanding::Admitted, .. })
    }

    /// Whether it is over.
    pub(crate) fn is_closed(&self) -> bool {
        matches!(self.stage, ConnectionStage::Closed)
    }

    /// Reads and writes what is ready.
    pub(crate) fn serve(&mut self, now: Instant, state: &mut ServerState) {
        self.stage = match std::mem::replace(&mut self.stage, ConnectionStage::Closed) {
            ConnectionStage::Request { stream, read } => self.read_request(now, stream, read, state),
            ConnectionStage::Socket { socket, standing } => self.read_socket(now, socket, standing, state),
            other => other,
        };
        self.write();
    }

    /// Closes it if it is idle or has waited too long for the token, and asks for a sign of life.
    pub(crate) fn on_time(&mut self, now: Instant) {
        // Signs of life without the token would hold a place for good.
        let idle_since = if self.is_admitted() { self.last_sign } else { self.since };
        if now - idle_since > IDLE_LIMIT {
            self.stage = ConnectionStage::Closed;
        } else if matches!(self.stage, ConnectionStage::Socket { .. }) && now - self.pinged > PING_INTERVAL {
            self.pinged = now;
            self.send(Message::Ping(Vec::new().into()));
        }
    }

    /// Sends a text to the page.
    pub(crate) fn send_text(&mut self, text: &str) {
        self.send(Message::text(text));
    }

    /// Begins to close the WebSocket, with a sentence. Another stage is closed at once.
    pub(crate) fn leave(&mut self, now: Instant, code: CloseCode, sentence: &str) {
        if let ConnectionStage::Socket { socket, standing } = &mut self.stage {
            *standing = PageStanding::Leaving;
            self.since = now;
            let frame = CloseFrame { code, reason: sentence.into() };
            self.waits |= socket.close(Some(frame)).is_err();
        } else {
            self.stage = ConnectionStage::Closed;
        }
    }

    fn send(&mut self, message: Message) {
        if let ConnectionStage::Socket { socket, .. } = &mut self.stage {
            let result = socket.send(message);
            self.after_write(result);
        }
    }

    fn after_write(&mut self, result: Result<(), Error>) {
        match result {
            Ok(()) => self.waits = false,
            Err(Error::Io(error)) if error.kind() == ErrorKind::WouldBlock => self.waits = true,
            Err(_) => self.stage = ConnectionStage::Closed,
        }
    }

    fn read_request(
        &mut self,
        now: Instant,
        mut stream: TcpStream,
        mut read: Vec<u8>,
        state: &mut ServerState,
    ) -> ConnectionStage {
        let mut buffer = [0; 2048];
        let ended = loop {
            if read.len() > HEADER_LIMIT {
                break false;
            }
            match stream.read(&mut buffer) {
                Ok(0) => break true,
                Ok(length) => read.extend_from_slice(&buffer[..length]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break false,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return ConnectionStage::Closed,
            }
        };
        let bytes = match judge(&read, state.port) {
            RequestVerdict::Incomplete if ended => return ConnectionStage::Closed,
            RequestVerdict::Incomplete => return ConnectionStage::Request { stream, read },
            RequestVerdict::Page => match token::random() {
                Ok(nonce) => page::page(&nonce),
                Err(problem) => page::sentence("500 Internal Server Error", &problem),
            },
            RequestVerdict::Missing => page::sentence("404 Not Found", ""),
            RequestVerdict::Refused(refusal) => {
                state.counts.count(refusal);
                page::sentence(refusal.status(), refusal.sentence())
            }
            RequestVerdict::Socket { accept, end } => {
                let handshake = format!(
                    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
                     Sec-WebSocket-Accept: {accept}\r\n\r\n"
                );
                // The send buffer of a fresh connection has room for this.
                if stream.write_all(handshake.as_bytes()).is_err() {
                    return ConnectionStage::Closed;
                }
                let config = WebSocketConfig::default()
                    .max_message_size(Some(MESSAGE_LIMIT))
                    .max_frame_size(Some(MESSAGE_LIMIT))
                    .write_buffer_size(0)
                    .max_write_buffer_size(WAITING_LIMIT);
                let rest = read.split_off(end);
                let stream = TurnStream::new(stream);
                let socket = WebSocket::from_partially_read(stream, rest, Role::Server, Some(config));
                self.last_sign = now;
                return self.read_socket(now, Box::new(socket), PageStanding::New, state);
            }
        };
        ConnectionStage::Reply { stream, bytes, written: 0 }
    }

    fn read_socket(
        &mut self,
        now: Instant,
        mut socket: Box<WebSocket<TurnStream>>,
        mut standing: PageStanding,
        state: &mut ServerState,
    ) -> ConnectionStage {
        socket.get_mut().begin_turn();
        loop {
            let message = match socket.read() {
                Ok(message) => message,
                Err(Error::Io(error)) if error.kind() == ErrorKind::WouldBlock => break,
                Err(Error::Protocol(ProtocolError::ResetWithoutClosingHandshake)) => {
                    return ConnectionStage::Closed;
                }
                Err(Error::Capacity(_) | Error::Utf8(_) | Error::Protocol(_)) => {
                    state.counts.count(RequestRefusal::Message);
                    let reason = RequestRefusal::Message.sentence().into();
                    // It is closed in any case.
                    let _sent = socket.close(Some(CloseFrame { code: REFUSED, reason }));
                    return ConnectionStage::Closed;
                }
                Err(_) => return ConnectionStage::Closed,
            };
            self.last_sign = now;
            let refusal = match (message, standing) {
                (Message::Text(text), PageStanding::New) => match commands::token(&text) {
                    Some(given) if token::is_same(&given, &state.token) && !state.has_page => {
                        standing = PageStanding::Admitted;
                        state.has_page = true;
                        state.events.push(PageEvent::Opened);
                        continue;
                    }
                    Some(given) if token::is_same(&given, &state.token) => RequestRefusal::SecondPage,
                    _ => RequestRefusal::Token,
                },
                (Message::Text(text), PageStanding::Admitted) => {
                    state.events.push(PageEvent::Text(text.to_string()));
                    continue;
                }
                (Message::Binary(_), PageStanding::New | PageStanding::Admitted) => RequestRefusal::Message,
                _ => continue,
            };
            state.counts.count(refusal);
            standing = PageStanding::Leaving;
            let sentence = messages::refused(refusal.sentence()).to_string();
            let frame = CloseFrame { code: REFUSED, reason: refusal.sentence().into() };
            let sent = socket.send(Message::text(sentence)).and_then(|()| socket.close(Some(frame)));
            self.waits |= sent.is_err();
        }
        ConnectionStage::Socket { socket, standing }
    }

    /// Writes what waits.
    fn write(&mut self) {
        if let ConnectionStage::Socket { socket, .. } = &mut self.stage {
            if self.waits {
                let result = socket.flush();
                self.after_write(result);
            }
            return;
        }
        self.waits = false;
        loop {
            self.stage = match std::mem::replace(&mut self.stage, ConnectionStage::Closed) {
                ConnectionStage::Reply { stream, bytes, written } if written == bytes.len() => {
                    // The other end may be gone.
                    let _gone = stream.shutdown(Shutdown::Write);
                    ConnectionStage::Linger { stream, left: LINGER_LIMIT }
                }
                ConnectionStage::Reply { mut stream, bytes, written } => {
                    match stream.write(&bytes[written..]) {
                        Ok(length) => ConnectionStage::Reply { stream, bytes, written: written + length },
                        Err(error) if error.kind() == ErrorKind::WouldBlock => {
                            self.waits = true;
                            self.stage = ConnectionStage::Reply { stream, bytes, written };
                            return;
                        }
                        Err(error) if error.kind() == ErrorKind::Interrupted => {
                            ConnectionStage::Reply { stream, bytes, written }
                        }
                        Err(_) => return,
                    }
                }
                ConnectionStage::Linger { mut stream, left } => match stream.read(&mut [0; 4096]) {
                    Ok(0) => return,
                    Ok(length) if length < left => ConnectionStage::Linger { stream, left: left - length },
                    Err(error) if error.kind() == ErrorKind::WouldBlock => {
                        self.stage = ConnectionStage::Linger { stream, left };
                        return;
                    }
                    Ok(_) | Err(_) => return,
                },
                other => {
                    self.stage = other;
                    return;
                }
            };
        }
    }
}
