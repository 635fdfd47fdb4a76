//! Key frames on request: losses, requests and the key frames that follow.

use weir_media::{EncoderConfig, KeyFrames, MediaConfig};
use weir_units::{DataRate, TimeDelta};
use weir_wire::rtcp::{self, Message};

use crate::rig::{Call, Event, PROPAGATION, config, nada};

/// Key frames of four times the usual size, none of which comes by itself after the first.
fn encoder() -> EncoderConfig {
    EncoderConfig { key_frames: Some(KeyFrames { every: u32::MAX, size: 4.0 }), ..EncoderConfig::papers() }
}

/// The times at which key frames began to arrive and those of requests, in ms since the first packet arrived.
fn key_frames_and_requests(call: &Call) -> (Vec<f64>, Vec<f64>) {
    let first = call.events[0].0;
    let (mut began, mut asked) = (Vec::new(), Vec::new());
    for (at, event) in &call.events {
        let at = (*at - first).secs_f64() * 1e3;
        match event {
            Event::Media(packet)
                if packet.header.frame_marking.is_some_and(|m| m.is_start() && m.is_independent()) =>
            {
                began.push(at);
            }
            Event::ReceiverRtcp(bytes, _) => {
                let is_request =
                    |message: &Message<'_>| matches!(message, Message::Pli(pli) if pli.source == 1);
                asked.extend(rtcp::messages(bytes).map(Result::unwrap).filter(is_request).map(|_| at));
            }
            _ => {}
        }
    }
    (began, asked)
}

#[test]
fn a_loss_brings_a_key_frame_within_a_round_trip_and_a_frame() {
    let requests = Some(TimeDelta::from_millis(300));
    let config = MediaConfig { encoder: encoder(), key_frame_requests: requests, ..config() };
    let mut call = Call::new(nada(), &config, DataRate::from_mbps(100));
    call.media_loss = 499;
    call.run(TimeDelta::from_secs(30));
    let (began, asked) = key_frames_and_requests(&call);
    let lost = call.packets / 499;
    assert!(lost >= 8 && asked.len() as u64 == lost, "{lost} packets lost, {} requests", asked.len());
    assert_eq!(began.len(), asked.len() + 1, "the first frame, and one for each request");
    for (asked, began) in asked.iter().zip(&began[1..]) {
        // Twice the one-way delay of 25 ms, up to a frame interval of 33.3 ms, and a little for the packets before it
        // in the pacer.
        let waited = began - asked;
        let round_trip = (PROPAGATION * 2).secs_f64() * 1e3;
        assert!((round_trip..round_trip + 45.0).contains(&waited), "{waited} ms");
    }
}

#[test]
fn while_losses_go_on_requests_are_an_interval_apart() {
    let requests = Some(TimeDelta::from_millis(300));
    let config = MediaConfig { encoder: encoder(), key_frame_requests: requests, ..config() };
    let mut call = Call::new(nada(), &config, DataRate::from_mbps(100));
    call.media_loss = 3;
    call.run(TimeDelta::from_secs(20));
    let (_, asked) = key_frames_and_requests(&call);
    assert!(asked.windows(2).all(|pair| pair[1] - pair[0] >= 300.0), "{asked:?}");
    // Each third packet is lost, of some 30 a second at least: at most a few packets pass beyond the interval.
    assert!(asked.len() >= 40, "{}", asked.len());
}

#[test]
fn without_requests_nothing_is_marked_and_nothing_repaired() {
    let mut call =
        Call::new(nada(), &MediaConfig { encoder: encoder(), ..config() }, DataRate::from_mbps(100));
    call.media_loss = 499;
    call.run(TimeDelta::from_secs(30));
    assert_eq!(key_frames_and_requests(&call), (vec![], vec![]));
    let marked =
        |event: &Event| matches!(event, Event::Media(packet) if packet.header.frame_marking.is_some());
    assert!(!call.events.iter().any(|(_, event)| marked(event)));
}
