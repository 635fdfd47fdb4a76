//! An endpoint of `str0m` in a browser's place.

use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle, sleep};
use std::time::Duration;

use serde_json::json;
use str0m::change::SdpAnswer;
use str0m::media::{Direction, MediaKind};
use str0m::net::{Protocol, Receive};
use str0m::{Candidate, Event, Input, Output, Rtc, RtcConfig};

use crate::running::{PageSocket, now};

/// An endpoint in a browser's place, in a thread of its own.
pub(crate) struct FarEnd {
    frames: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl FarEnd {
    /// Connects through the page's socket.
    pub(crate) fn connect(page: &mut PageSocket) -> Self {
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

    pub(crate) fn frames(&self) -> u64 {
        self.frames.load(Ordering::Relaxed)
    }

    /// Asserts that pictures come.
    pub(crate) fn assert_alive(&self, when: &str) {
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
