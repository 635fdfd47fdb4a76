//! The program as a process, and its page's WebSocket.

use std::io::{BufRead as _, BufReader, ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};
use tungstenite::client::IntoClientRequest as _;
use tungstenite::{Error, Message, WebSocket};

#[expect(clippy::disallowed_methods, reason = "a test of a real process")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

pub(crate) fn weir_call(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_weir-call"));
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// A running program.
pub(crate) struct RunningCall {
    process: Child,
    output: BufReader<std::process::ChildStdout>,
    pub(crate) port: u16,
    pub(crate) token: String,
}

impl RunningCall {
    pub(crate) fn start() -> Self {
        let mut process =
            weir_call(&["gcc", "--address", "127.0.0.1", "--capacity", "1Mbps"]).spawn().unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        // From here on it is ended with this value.
        let mut call = Self { process, output, port: 0, token: String::new() };
        while call.port == 0 {
            let mut line = String::new();
            assert!(call.output.read_line(&mut line).unwrap() > 0, "it ended early");
            if let Some((_, rest)) = line.trim().split_once("http://127.0.0.1:") {
                let (port, token) = rest.split_once("/#").unwrap();
                (call.port, call.token) = (port.parse().unwrap(), token.to_owned());
                assert_eq!(token.len(), 32);
            }
        }
        call
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(15))).unwrap();
        stream
    }

    /// The answer to a request.
    pub(crate) fn answer(&self, request: &str) -> String {
        let mut stream = self.connect();
        // It may be refused before all is written.
        let _refused = stream.write_all(request.as_bytes());
        let mut answer = String::new();
        match stream.read_to_string(&mut answer) {
            Ok(_) => answer,
            Err(error) => panic!("{error} after {answer}"),
        }
    }

    /// A WebSocket of a page with this origin.
    pub(crate) fn socket(&self, origin: &str) -> Result<WebSocket<TcpStream>, String> {
        let mut request = format!("ws://127.0.0.1:{}/call", self.port).into_client_request().unwrap();
        request.headers_mut().insert("origin", origin.parse().unwrap());
        tungstenite::client(request, self.connect())
            .map(|(socket, _)| socket)
            .map_err(|error| error.to_string())
    }

    /// A WebSocket whose first message has this token.
    pub(crate) fn page(&self, token: &str) -> PageSocket {
        let mut page = PageSocket(self.socket(&format!("http://127.0.0.1:{}", self.port)).unwrap());
        page.send(&json!({ "token": token }));
        page
    }

    pub(crate) fn end(mut self) -> (Option<i32>, String, String) {
        self.signal();
        self.wait()
    }

    pub(crate) fn signal(&self) {
        kill(Pid::from_raw(self.process.id() as i32), Signal::SIGINT).unwrap();
    }

    /// Exit code, and what was printed.
    pub(crate) fn wait(&mut self) -> (Option<i32>, String, String) {
        let (mut printed, mut problem) = (String::new(), String::new());
        self.output.read_to_string(&mut printed).unwrap();
        self.process.stderr.take().unwrap().read_to_string(&mut problem).unwrap();
        (self.process.wait().unwrap().code(), printed, problem)
    }
}

impl Drop for RunningCall {
    fn drop(&mut self) {
        // After a failed test it still runs.
        let _ended = self.process.kill();
        let _ended = self.process.wait();
    }
}

pub(crate) struct PageSocket(pub(crate) WebSocket<TcpStream>);

impl PageSocket {
    pub(crate) fn send(&mut self, message: &Value) {
        self.0.send(Message::text(message.to_string())).unwrap();
    }

    /// The next message of this kind; `None` when the socket is closed.
    pub(crate) fn next(&mut self, kind: &str) -> Option<Value> {
        loop {
            match self.0.read() {
                Ok(Message::Text(text)) => {
                    let mut value: Value = serde_json::from_str(&text).unwrap();
                    if let Some(found) = value.get_mut(kind) {
                        return Some(found.take());
                    }
                }
                Ok(_) => {}
                Err(Error::ConnectionClosed | Error::AlreadyClosed | Error::Protocol(_)) => return None,
                Err(Error::Io(error))
                    if matches!(error.kind(), ErrorKind::ConnectionReset | ErrorKind::BrokenPipe) =>
                {
                    return None;
                }
                Err(error) => panic!("{error} while waiting for {kind}"),
            }
        }
    }

    /// Requests refused so far.
    pub(crate) fn refused(&mut self) -> u64 {
        // Figures that have waited are older than the request: only those that are waited for come now.
        loop {
            let begin = now();
            self.next("status").unwrap();
            if begin.elapsed() > Duration::from_millis(50) {
                return self.next("status").unwrap()["refused"].as_u64().unwrap();
            }
        }
    }
}
