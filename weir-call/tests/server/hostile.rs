//! Programs of this machine that lack the token, and a page that does not read.

use std::io::{ErrorKind, Write as _};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{scope, sleep};
use std::time::Duration;

use serde_json::json;
use tungstenite::{Error, Message, WebSocket};

use crate::far_end::FarEnd;
use crate::running::{RunningCall, now};

/// A WebSocket of this page without the token.
fn without_token(call: &RunningCall) -> WebSocket<TcpStream> {
    call.socket(&format!("http://127.0.0.1:{}", call.port)).unwrap()
}

#[test]
fn floods_without_the_token_do_not_stop_the_call() {
    let call = RunningCall::start();
    let mut page = call.page(&call.token);
    let far = FarEnd::connect(&mut page);
    // Pongs, empty parts of a message, and parts with content; each with a mask of zeros.
    let pong: &[u8] = &[0x8a, 0x80, 0, 0, 0, 0];
    let part: &[u8] = &[0x00, 0x80, 0, 0, 0, 0];
    let floods = [(&[][..], pong), (&[0x01, 0x80, 0, 0, 0, 0][..], part)];
    for (first, flood) in floods {
        let stop = AtomicBool::new(false);
        scope(|scope| {
            for _ in 0..3 {
                let socket = without_token(&call);
                let (stop, bytes) = (&stop, flood.repeat(40_000));
                scope.spawn(move || {
                    let mut stream = socket.get_ref();
                    stream.write_all(first).unwrap();
                    stream.set_write_timeout(Some(Duration::from_millis(100))).unwrap();
                    let mut rest = bytes.as_slice();
                    while !stop.load(Ordering::Relaxed) {
                        match stream.write(rest) {
                            Ok(length) if length < rest.len() => rest = &rest[length..],
                            Ok(_) => rest = &bytes,
                            Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock, "it is closed"),
                        }
                    }
                });
            }
            sleep(Duration::from_millis(300));
            let before = far.frames();
            sleep(Duration::from_secs(2));
            stop.store(true, Ordering::Relaxed);
            assert!(far.frames() >= before + 30, "{} pictures in 2 s", far.frames() - before);
        });
    }
    assert_eq!(page.refused(), 0);
    drop(far);
    assert_eq!(call.end().0, Some(0));
}

#[test]
fn connections_without_the_token_do_not_lock_the_page_out() {
    let call = RunningCall::start();
    let mut sockets: Vec<_> = (0..16).map(|_| without_token(&call)).collect();
    let begin = now();
    // They answer each ping.
    for socket in &mut sockets {
        socket.get_ref().set_read_timeout(Some(Duration::from_millis(10))).unwrap();
    }
    let mut page = call.page(&call.token);
    assert!(page.next("hello").is_some(), "the oldest of them is dropped");
    while !sockets.is_empty() {
        assert!(begin.elapsed() < Duration::from_secs(13), "{} are left", sockets.len());
        sockets.retain_mut(|socket| match socket.read() {
            Ok(_) => true,
            Err(Error::Io(error)) => error.kind() == ErrorKind::WouldBlock,
            Err(_) => false,
        });
        // The page answers pings, too.
        page.next("status").unwrap();
    }
    assert_eq!(page.refused(), 1);
    let (code, printed, _) = call.end();
    assert_eq!(code, Some(0));
    assert!(printed.contains("Refused: 1 connections beyond the most."), "{printed}");
}

#[test]
fn a_page_that_does_not_read_makes_room_for_another() {
    let call = RunningCall::start();
    let mut deaf = call.page(&call.token);
    assert!(deaf.next("hello").is_some());
    // Each wrong command has an answer, for which there is no room at some time.
    deaf.0.get_ref().set_write_timeout(Some(Duration::from_secs(1))).unwrap();
    let wrong = Message::text(json!({ "controller": "none" }).to_string());
    let begin = now();
    while deaf.0.send(wrong.clone()).is_ok() {
        assert!(begin.elapsed() < Duration::from_secs(30), "it is never closed");
    }
    let mut other = call.page(&call.token);
    assert!(other.next("hello").is_some(), "another page has the call");
    let (code, printed, _) = call.end();
    assert_eq!(code, Some(0));
    assert!(printed.contains("The page was closed"), "{printed}");
}

#[test]
fn a_violation_of_the_protocol_is_counted_and_a_connection_that_ends_is_not() {
    let call = RunningCall::start();
    let mut page = call.page(&call.token);
    assert!(page.next("hello").is_some());
    drop(without_token(&call));
    // A frame without a mask.
    let socket = without_token(&call);
    socket.get_ref().write_all(&[0x81, 1, b'x']).unwrap();
    assert_eq!(page.refused(), 1);
    let (_, printed, _) = call.end();
    assert!(printed.contains("Refused: 1 wrong messages."), "{printed}");
}
