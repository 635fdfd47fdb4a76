//! The program through its interface: a process, its page and its WebSocket. Refusals are counted, and the call goes on
//! meanwhile: an endpoint of `str0m` counts the pictures.

use std::io::{BufRead as _, BufReader, ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle, sleep};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};
use str0m::change::SdpAnswer;
use str0m::media::{Direction, MediaKind};
use str0m::net::{Protocol, Receive};
use str0m::{Candidate, Event, Input, Output, Rtc, RtcConfig};
use tungstenite::client::IntoClientRequest as _;
use tungstenite::{Error, Message, WebSocket};

#[expect(clippy::disallowed_methods, reason = "a test of a real process")]
fn now() -> Instant {
    Instant::now()
}

fn weir_call(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_weir-call"));
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// A running program.
struct RunningCall {
    process: Child,
    output: BufReader<std::process::ChildStdout>,
    port: u16,
    token: String,
}

impl RunningCall {
    fn start() -> Self {
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

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(15))).unwrap();
        stream
    }

    /// The answer to a request.
    fn answer(&self, request: &str) -> String {
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
    fn socket(&self, origin: &str) -> Result<WebSocket<TcpStream>, String> {
        let mut request = format!("ws://127.0.0.1:{}/call", self.port).into_client_request().unwrap();
        request.headers_mut().insert("origin", origin.parse().unwrap());
        tungstenite::client(request, self.connect())
            .map(|(socket, _)| socket)
            .map_err(|error| error.to_string())
    }

    /// A WebSocket whose first message has this token.
    fn page(&self, token: &str) -> PageSocket {
        let mut page = PageSocket(self.socket(&format!("http://127.0.0.1:{}", self.port)).unwrap());
        page.send(&json!({ "token": token }));
        page
    }

    fn end(mut self) -> (Option<i32>, String, String) {
        self.signal();
        self.wait()
    }

    fn signal(&self) {
        kill(Pid::from_raw(self.process.id() as i32), Signal::SIGINT).unwrap();
    }

    /// Exit code, and what was printed.
    fn wait(&mut self) -> (Option<i32>, String, String) {
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

struct PageSocket(WebSocket<TcpStream>);

impl PageSocket {
    fn send(&mut self, message: &Value) {
        self.0.send(Message::text(message.to_string())).unwrap();
    }

    /// The next message of this kind; `None` when the socket is closed.
    fn next(&mut self, kind: &str) -> Option<Value> {
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
                Err(Error::Io(error)) if error.kind() == ErrorKind::ConnectionReset => return None,
                Err(error) => panic!("{error} while waiting for {kind}"),
            }
        }
    }

    /// Requests refused so far.
    fn refused(&mut self) -> u64 {
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

/// An endpoint in a browser's place, in a thread of its own.
struct FarEnd {
    frames: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl FarEnd {
    /// Connects through the page's socket.
    fn connect(page: &mut PageSocket) -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let local = socket.local_addr().unwrap();
        let mut rtc = RtcConfig::new().clear_codecs().enable_vp8(true).build(now());
        rtc.add_local_candidate(Candidate::host(local, "udp").unwrap());
        let mut api = rtc.sdp_api();
        api.add_media(MediaKind::Video, Direction::RecvOnly, None, None, None);
        let (offer, pending) = api.apply().unwrap();
        page.send(&json!({ "offer": offer.to_sdp_string() }));
        let answer = page.next("answer").expect("an answer comes");
        let answer = SdpAnswer::from_sdp_string(answer.as_str().unwrap()).unwrap();
        rtc.sdp_api().accept_answer(pending, answer).unwrap();
        let (frames, stop) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
        let (counted, stopped) = (Arc::clone(&frames), Arc::clone(&stop));
        let thread = thread::spawn(move || Self::serve(rtc, &socket, local, &counted, &stopped));
        let far = Self { frames, stop, thread: Some(thread) };
        let begin = now();
        while far.frames() < 10 {
            assert!(begin.elapsed() < Duration::from_secs(10), "no pictures in 10 s");
            sleep(Duration::from_millis(10));
        }
        far
    }

    fn serve(mut rtc: Rtc, socket: &UdpSocket, local: SocketAddr, frames: &AtomicU64, stop: &AtomicBool) {
        let mut buffer = [0; 2048];
        while !stop.load(Ordering::Relaxed) {
            let due = match rtc.poll_output().unwrap() {
                Output::Timeout(due) => due,
                Output::Transmit(transmit) => {
                    let _lost = socket.send_to(&transmit.contents, transmit.destination);
                    continue;
                }
                Output::Event(event) => {
                    frames.fetch_add(u64::from(matches!(event, Event::MediaData(_))), Ordering::Relaxed);
                    continue;
                }
            };
            let sleep = due
                .saturating_duration_since(now())
                .clamp(Duration::from_millis(1), Duration::from_millis(50));
            socket.set_read_timeout(Some(sleep)).unwrap();
            let input = match socket.recv_from(&mut buffer) {
                Ok((length, from)) => Input::Receive(
                    now(),
                    Receive::new(Protocol::Udp, from, local, &buffer[..length]).unwrap(),
                ),
                Err(_) => Input::Timeout(now()),
            };
            rtc.handle_input(input).unwrap();
        }
    }

    fn frames(&self) -> u64 {
        self.frames.load(Ordering::Relaxed)
    }

    /// Asserts that pictures come.
    fn assert_alive(&self, when: &str) {
        let before = self.frames();
        sleep(Duration::from_millis(700));
        assert!(self.frames() >= before + 8, "{} pictures in 0.7 s after {when}", self.frames() - before);
    }
}

impl Drop for FarEnd {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
            && !thread::panicking()
        {
            panic!("the far end failed");
        }
    }
}

#[test]
fn what_is_refused_is_counted_and_the_call_goes_on() {
    let call = RunningCall::start();
    let mut page = call.page(&call.token);
    let hello = page.next("hello").unwrap();
    assert_eq!((&hello["controller"], &hello["loopback"]), (&json!("gcc"), &json!(true)));
    let far = FarEnd::connect(&mut page);
    assert_eq!(page.refused(), 0);

    let own = format!("Host: 127.0.0.1:{}", call.port);
    let foreign = call.answer("GET / HTTP/1.1\r\nHost: example.org\r\n\r\n");
    assert!(foreign.starts_with("HTTP/1.1 421 "), "{foreign}");
    far.assert_alive("a foreign host");
    assert_eq!(page.refused(), 1);

    for origin in ["http://example.org", "null"] {
        let problem = call.socket(origin).err().unwrap();
        assert!(problem.contains("403"), "{problem}");
    }
    far.assert_alive("foreign origins");
    assert_eq!(page.refused(), 3);

    // No token, an old one, and one that is a part of it.
    let old = "0123456789abcdef0123456789abcdef";
    for token in ["", old, &call.token[..31]] {
        let mut refused = call.page(token);
        let sentence = refused.next("refused").unwrap();
        assert!(sentence.as_str().unwrap().contains("token"), "{sentence}");
        assert_eq!(refused.next("hello"), None);
    }
    let mut without = PageSocket(call.socket(&format!("http://127.0.0.1:{}", call.port)).unwrap());
    without.send(&json!({ "offer": "v=0" }));
    assert!(without.next("refused").is_some() && without.next("answer").is_none());
    far.assert_alive("wrong tokens");
    assert_eq!(page.refused(), 7);

    let mut second = call.page(&call.token);
    let sentence = second.next("refused").unwrap();
    assert_eq!(sentence, json!("Another tab has this call: close it, and load this page again."));
    assert_eq!(second.next("hello"), None);
    far.assert_alive("a second tab");
    assert_eq!(page.refused(), 8);

    let large = call.answer(&format!("GET / HTTP/1.1\r\n{own}\r\nX: {}\r\n\r\n", "x".repeat(1 << 20)));
    assert!(large.starts_with("HTTP/1.1 431 "), "{large}");
    far.assert_alive("a header of 1 MB");
    assert_eq!(page.refused(), 9);

    for request in ["POST / HTTP/1.1", "GET /etc/passwd HTTP/1.1"] {
        let answer = call.answer(&format!("{request}\r\n{own}\r\n\r\n"));
        assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
    }
    assert_eq!(page.refused(), 11);

    // Messages that are no commands are answered, and change nothing.
    for wrong in [
        json!({ "path": { "loss_percent": 80 } }),
        json!({ "controller": "nada" }),
        json!({ "offer": "v=0" }),
        json!([1]),
    ] {
        page.send(&wrong);
        assert!(page.next("error").is_some(), "{wrong}");
    }
    far.assert_alive("wrong commands");

    // The writer may notice the end of the connection before all is written.
    let _closed = page.0.send(Message::text(json!({ "offer": "v".repeat(1 << 20) }).to_string()));
    assert_eq!(page.next("answer"), None);
    far.assert_alive("an offer of 1 MB");
    let mut again = call.page(&call.token);
    assert!(again.next("hello").is_some());
    assert_eq!(again.next("connected"), Some(json!(true)));
    assert_eq!(again.refused(), 12);
    drop(far);

    let (code, printed, problem) = call.end();
    assert_eq!((code, problem.as_str()), (Some(0), ""), "{printed}");
    let expected = "Refused: 1 foreign hosts, 2 foreign pages, 4 wrong tokens, 1 second pages, 1 large headers, 1 wrong messages, 2 other requests.";
    assert!(printed.contains(expected), "{printed}");
}

#[test]
fn the_page_has_its_headers_and_a_nonce_of_its_own() {
    let call = RunningCall::start();
    let get = || call.answer(&format!("GET / HTTP/1.1\r\nHost: localhost:{}\r\n\r\n", call.port));
    let page = get();
    let (header, body) = page.split_once("\r\n\r\n").unwrap();
    let lines: Vec<&str> = header.lines().collect();
    assert_eq!(lines[0], "HTTP/1.1 200 OK");
    for expected in
        ["Referrer-Policy: no-referrer", "X-Content-Type-Options: nosniff", "Cache-Control: no-store"]
    {
        assert!(lines.contains(&expected), "{header}");
    }
    let policy = lines.iter().find_map(|line| line.strip_prefix("Content-Security-Policy: ")).unwrap();
    assert!(policy.starts_with("default-src 'none'; script-src 'nonce-"), "{policy}");
    assert!(policy.contains("connect-src 'self'") && policy.contains("frame-ancestors 'none'"), "{policy}");
    assert!(!body.contains(&call.token), "the token stands in the address alone");
    assert_ne!(page, get(), "a nonce is used once");
    let by_ipv6 = TcpStream::connect(("::1", call.port));
    assert!(by_ipv6.is_ok() || std::net::TcpListener::bind("[::1]:0").is_err());
    assert_eq!(call.end().0, Some(0));
}

#[test]
fn a_page_may_go_and_another_take_over() {
    let call = RunningCall::start();
    let mut page = call.page(&call.token);
    let far = FarEnd::connect(&mut page);
    drop((page, far));
    sleep(Duration::from_millis(300));
    let mut other = call.page(&call.token);
    assert!(other.next("hello").is_some());
    let far = FarEnd::connect(&mut other);
    far.assert_alive("another page");
    other.send(&json!({ "path": { "capacity_kbps": 400 } }));
    let below = |status: Value| status["arrived_kbps"].as_f64().unwrap() < 450.0;
    assert!((0..50).any(|_| below(other.next("status").unwrap())));
    drop(far);
    let (code, printed, _) = call.end();
    assert_eq!(code, Some(0));
    assert!(printed.contains("The page was closed; the call waits at http://127.0.0.1:"), "{printed}");
}

#[test]
fn idle_connections_are_closed_after_ten_seconds() {
    let call = RunningCall::start();
    let (mut silent, mut slow) = (call.connect(), call.connect());
    let mut socket = call.socket(&format!("http://127.0.0.1:{}", call.port)).unwrap();
    let begin = now();
    let writer = thread::spawn(move || {
        // A byte each half second is no request either.
        for _ in 0..40 {
            if slow.write_all(b"x").is_err() {
                break;
            }
            sleep(Duration::from_millis(500));
        }
        begin.elapsed()
    });
    assert_eq!(silent.read(&mut [0; 10]).unwrap(), 0);
    assert!((9.0..12.5).contains(&begin.elapsed().as_secs_f64()), "{:?}", begin.elapsed());
    // The WebSocket reads no ping and so answers none.
    sleep(Duration::from_secs(3));
    assert!((0..20).any(|_| socket.read().is_err()));
    assert!(writer.join().unwrap().as_secs_f64() < 14.0);
    assert_eq!(call.end().0, Some(0));
}

#[test]
fn two_signals_end_it_with_a_sentence() {
    let mut call = RunningCall::start();
    // A page that does not answer: the first signal waits for it.
    let _page = call.page(&call.token);
    sleep(Duration::from_millis(200));
    call.signal();
    sleep(Duration::from_millis(100));
    call.signal();
    let (code, _, problem) = call.wait();
    assert_eq!((code, problem.as_str()), (Some(2), "error: the call was broken off by a second signal\n"));
    assert!(TcpStream::connect(("127.0.0.1", call.port)).is_err());
}

#[test]
fn wrong_input_is_one_sentence() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let folder = std::env::temp_dir().join(format!("weir-call-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let clip = folder.join("clip.ivf");
    std::fs::write(&clip, b"RIFF and so on").unwrap();
    let clip = clip.to_str().unwrap();
    let cases = [
        (vec!["--port", &port], "is in use; name another one, or none for a free one"),
        (vec!["--clip", clip], "clip.ivf: it is no IVF file"),
        (vec!["--clip", "/nowhere.ivf"], "/nowhere.ivf: "),
        (vec!["gccc"], "gcc"),
        (vec!["gcc-2016"], "gcc-2016 measures at the receiver and has no twin at the sender"),
        (vec!["--capacity", "10kbps"], "the capacity must be between 50kbps and 100Mbps"),
        (vec!["--start-rate", "9Mbps"], "rates must satisfy 100kbps ≤ --start-rate 9Mbps ≤ --max-rate 5Mbps"),
        (vec!["--address", "203.0.113.9"], "a UDP socket on 203.0.113.9 cannot be opened"),
    ];
    for (arguments, sentence) in cases {
        let output = weir_call(&arguments).output().unwrap();
        let problem = String::from_utf8(output.stderr).unwrap();
        assert_eq!(
            (output.status.code(), output.stdout.as_slice()),
            (Some(2), &b""[..]),
            "{arguments:?}: {problem}"
        );
        assert!(problem.contains(sentence) && problem.lines().count() == 1, "{arguments:?}: {problem}");
    }
    std::fs::remove_dir_all(folder).unwrap();
}
