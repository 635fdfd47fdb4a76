//! Metrics in the text format of Prometheus, and a server for them alone.

use std::fmt::Write as _;
use std::io::{self, Read, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::results::{FlowResults, PeerResults};

/// Longest request in bytes.
const LONGEST_REQUEST: usize = 4096;
/// Longest time for a request, or for an answer.
const PATIENCE: Duration = Duration::from_millis(250);
/// Time between two looks for a connection.
const INTERVAL: Duration = Duration::from_millis(50);

/// The results as metrics.
pub fn metrics_text(results: &PeerResults) -> String {
    let mut text = String::new();
    let mut metric = |name: &str, help: &str, value: &dyn Fn(&FlowResults) -> Option<f64>| {
        let values = results.flows.iter().filter_map(|flow| Some((flow, value(flow)?)));
        for (place, (flow, value)) in values.enumerate() {
            if place == 0 {
                let _infallible = write!(text, "# HELP weir_{name} {help}\n# TYPE weir_{name} gauge\n");
            }
            let direction = if flow.sent_here { "sent" } else { "received" };
            let controller: String =
                flow.controller.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
            let _infallible = writeln!(
                text,
                "weir_{name}{{flow=\"{}\",controller=\"{controller}\",direction=\"{direction}\"}} {value}",
                flow.flow
            );
        }
    };
    metric("target_bits_per_second", "Mean target.", &|flow| flow.target_rate_bps.map(|rate| rate as f64));
    metric("sent_bits_per_second", "Mean sent rate.", &|flow| flow.sent_rate_bps.map(|rate| rate as f64));
    metric("received_bits_per_second", "Mean received rate.", &|flow| {
        flow.received_rate_bps.map(|rate| rate as f64)
    });
    metric("lost_ratio", "Share of lost packets.", &|flow| flow.loss_ratio);
    metric("delay_p50_seconds", "Median one-way delay above its least value.", &|flow| {
        Some(flow.delay_ms?[0] / 1e3)
    });
    metric("delay_p95_seconds", "95th percentile of that delay.", &|flow| Some(flow.delay_ms?[1] / 1e3));
    let dropped = &results.dropped;
    let counters = [
        ("forged", dropped.forged),
        ("replayed", dropped.replayed),
        ("foreign", dropped.foreign),
        ("unreadable", dropped.unreadable),
    ];
    let _infallible = write!(
        text,
        "# HELP weir_dropped_total Datagrams that were dropped.\n# TYPE weir_dropped_total counter\n"
    );
    for (reason, count) in counters {
        let _infallible = writeln!(text, "weir_dropped_total{{reason=\"{reason}\"}} {count}");
    }
    if let Some([p50, _]) = results.rtt_ms {
        let _infallible =
            writeln!(text, "# TYPE weir_rtt_p50_seconds gauge\nweir_rtt_p50_seconds {}", p50 / 1e3);
    }
    let _infallible =
        writeln!(text, "# TYPE weir_session_seconds gauge\nweir_session_seconds {}", results.seconds);
    text
}

/// A thread that answers `GET /metrics` with the text that was set last, one connection at a time.
#[derive(Debug)]
pub struct MetricsServer {
    text: Arc<Mutex<String>>,
    ends: Arc<AtomicBool>,
    address: SocketAddr,
    thread: Option<JoinHandle<()>>,
}

impl MetricsServer {
    /// A server at `address`.
    ///
    /// # Errors
    /// The port is in use, or the system refuses.
    pub fn start(address: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let (text, ends) = (Arc::new(Mutex::new(String::new())), Arc::new(AtomicBool::new(false)));
        let (shown, stop) = (Arc::clone(&text), Arc::clone(&ends));
        let serve = move || {
            while !stop.load(Ordering::Relaxed) {
                match listener.accept() {
                    Ok((stream, _)) => {
                        // A client that fails is no matter of the session.
                        let _failed = answer(stream, &shown);
                    }
                    Err(_) => thread::sleep(INTERVAL),
                }
            }
        };
        let thread = thread::Builder::new().name("weir-metrics".to_owned()).spawn(serve)?;
        Ok(Self { text, ends, address, thread: Some(thread) })
    }

    /// Its address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Sets the text of later answers.
    pub fn set(&self, text: String) {
        *self.text.lock().unwrap_or_else(PoisonError::into_inner) = text;
    }
}

impl Drop for MetricsServer {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
        // A thread that panicked has nothing left to end.
        let _panicked = self.thread.take().map(JoinHandle::join);
    }
}

/// Reads a request and answers it, each within [`PATIENCE`].
fn answer(mut stream: TcpStream, text: &Mutex<String>) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let request = read_request(&mut stream)?;
    let (status, body) = match request_line(&request) {
        Some(("GET", "/metrics")) => ("200 OK", text.lock().unwrap_or_else(PoisonError::into_inner).clone()),
        Some(("GET", _)) => ("404 Not Found", String::new()),
        Some(_) => ("405 Method Not Allowed", String::new()),
        None => ("400 Bad Request", String::new()),
    };
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\nContent-Length: {}\r\n\
         X-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )?;
    stream.flush()
}

/// The bytes up to the empty line, or the first of a request that is too long.
#[expect(clippy::disallowed_methods, reason = "the deadline of a client, which no session sees")]
fn read_request(stream: &mut TcpStream) -> io::Result<Vec<u8>> {
    let (mut request, mut part) = (Vec::new(), [0; 512]);
    let until = Instant::now() + PATIENCE;
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.set_read_timeout(Some(left))?;
        let length = stream.read(&mut part)?;
        request.extend_from_slice(&part[..length]);
        if length == 0 || request.len() > LONGEST_REQUEST || request.windows(4).any(|end| end == b"\r\n\r\n")
        {
            break;
        }
    }
    Ok(request)
}

/// Method and path of a complete request.
pub fn request_line(request: &[u8]) -> Option<(&str, &str)> {
    let end = request.windows(4).position(|end| end == b"\r\n\r\n")?;
    let head = core::str::from_utf8(&request[..end]).ok()?;
    let mut words = head.lines().next()?.split(' ');
    let (method, path, version) = (words.next()?, words.next()?, words.next()?);
    (version.starts_with("HTTP/1.") && words.next().is_none()).then_some((method, path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn get(address: SocketAddr, request: &[u8]) -> String {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(request).unwrap();
        let mut answer = String::new();
        // A server that closes early resets the connection.
        let _reset = stream.read_to_string(&mut answer);
        answer
    }

    #[test]
    fn metrics_have_a_line_for_each_flow_that_has_the_value() {
        let flow = FlowResults {
            controller: "gcc\"}\n".to_owned(),
            received_rate_bps: Some(5),
            ..FlowResults::default()
        };
        let sent = FlowResults {
            flow: 1,
            sent_here: true,
            received_rate_bps: Some(7),
            loss_ratio: Some(0.5),
            ..flow.clone()
        };
        let text =
            metrics_text(&PeerResults { flows: vec![flow, sent], seconds: 2.5, ..PeerResults::default() });
        for line in [
            "weir_received_bits_per_second{flow=\"0\",controller=\"gcc\",direction=\"received\"} 5",
            "weir_received_bits_per_second{flow=\"1\",controller=\"gcc\",direction=\"sent\"} 7",
            "weir_lost_ratio{flow=\"1\",controller=\"gcc\",direction=\"sent\"} 0.5",
            "weir_dropped_total{reason=\"forged\"} 0",
            "weir_session_seconds 2.5",
        ] {
            assert!(text.lines().any(|own| own == line), "{line}: {text}");
        }
        assert!(!text.contains("weir_target"), "{text}");
    }

    #[test]
    fn the_server_answers_get_metrics_alone() {
        let server = MetricsServer::start(([127, 0, 0, 1], 0).into()).unwrap();
        server.set("weir_session_seconds 1\n".to_owned());
        let answer = get(server.address(), b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
        assert!(answer.ends_with("\r\n\r\nweir_session_seconds 1\n"), "{answer}");
        for (request, status) in [
            (&b"GET / HTTP/1.1\r\n\r\n"[..], "404"),
            (b"POST /metrics HTTP/1.1\r\n\r\n", "405"),
            (b"\xff\r\n\r\n", "400"),
            (b"GET /metrics\r\n\r\n", "400"),
        ] {
            let answer = get(server.address(), request);
            assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{answer}");
        }
        // Neither a long request nor a silent client stops it.
        let _silent = TcpStream::connect(server.address()).unwrap();
        let long = get(server.address(), &[b'x'; 8000]);
        assert!(long.is_empty() || long.starts_with("HTTP/1.1 400 "), "{long}");
        assert!(get(server.address(), b"GET /metrics HTTP/1.0\r\n\r\n").starts_with("HTTP/1.1 200"));
    }

    #[test]
    fn a_slow_client_holds_the_server_for_a_moment() {
        let server = MetricsServer::start(([127, 0, 0, 1], 0).into()).unwrap();
        let mut slow = TcpStream::connect(server.address()).unwrap();
        let sends = thread::spawn(move || {
            // A byte each 100 ms, until the server has closed.
            (0..100)
                .take_while(|_| {
                    thread::sleep(Duration::from_millis(100));
                    slow.write_all(b"x").is_ok()
                })
                .count()
        });
        let parts = sends.join().unwrap();
        assert!(parts < 10, "{parts} parts");
    }
}
