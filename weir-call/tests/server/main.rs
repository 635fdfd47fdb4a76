//! The program through its interface: a process, its page and its WebSocket. Refusals are counted, and the call goes on
//! meanwhile: an endpoint of `str0m` counts the pictures.

mod far_end;
mod hostile;
mod running;

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::thread::{self, sleep};
use std::time::Duration;

use serde_json::{Value, json};
use tungstenite::Message;

use far_end::FarEnd;
use running::{PageSocket, RunningCall, now, weir_call};

#[test]
fn refused_input_is_counted_and_the_call_goes_on() {
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
    other.send(&json!({ "path": { "capacity_kbps": 7 } }));
    assert!(other.next("error").is_some());
    let path = other.next("status").unwrap()["path"].take();
    assert_eq!((&path["capacity_kbps"], &path["delay_ms"]), (&json!(400.0), &json!(25.0)));
    let (code, printed, _) = call.end();
    drop(far);
    assert_eq!(code, Some(0));
    assert!(printed.ends_with("The browser is connected.\nThe call has ended.\n"), "{printed}");
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
        (vec!["--clip", "/dev/zero"], "/dev/zero: a clip must have at most 256 MB"),
        (vec!["gccc"], "gcc"),
        (vec!["gcc-2016"], "gcc-2016 measures at the receiver and has no twin at the sender"),
        (vec!["--capacity", "10kbps"], "the capacity must be between 50kbps and 100Mbps"),
        (vec!["--start-rate", "9Mbps"], "rates must satisfy 100kbps ≤ --start-rate 9Mbps ≤ --max-rate 5Mbps"),
        (vec!["--address", "203.0.113.9"], "a UDP socket on 203.0.113.9 cannot be opened"),
        (vec!["--address", "0.0.0.0"], "0.0.0.0 cannot be the address of a call"),
        (vec!["--address", "::"], ":: cannot be the address of a call"),
        (vec!["--address", "224.0.0.1"], "224.0.0.1 "),
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
