//! Packets that expire while they wait, without a poll of packets.

use weir_cc::{DataSize, SendTime, TimeDelta};
use weir_media::{Endpoint, EndpointConfig, EndpointEvent, PacketMeta, StreamConfig, StreamId};

use super::rig::{at, gcc, limits};

/// An endpoint with a stream of video and one of audio.
fn endpoint() -> (Endpoint<Vec<u8>>, StreamId, StreamId) {
    let mut endpoint = Endpoint::new(gcc(), EndpointConfig::new(limits()), 7);
    let video = endpoint.add_stream(StreamConfig::video(1, 96)).unwrap();
    let audio = endpoint.add_stream(StreamConfig::audio(2, 111)).unwrap();
    (endpoint, video, audio)
}

fn queue(endpoint: &mut Endpoint<Vec<u8>>, stream: StreamId, content: u8, expires: SendTime) {
    let meta = PacketMeta { expires, ..PacketMeta::new(0, true) };
    endpoint.queue(at(0), stream, vec![content; 1000], meta).unwrap();
}

/// Content and stream of the packets that have expired.
fn expired(endpoint: &mut Endpoint<Vec<u8>>) -> Vec<(StreamId, u8)> {
    let events = std::iter::from_fn(|| endpoint.poll_event());
    let expired = events.filter_map(|event| match event {
        EndpointEvent::Expired { stream, payload } => Some((stream, payload[0])),
        _ => None,
    });
    expired.collect()
}

#[test]
fn a_payload_comes_back_when_its_time_has_passed_behind_others_too() {
    let (mut endpoint, video, audio) = endpoint();
    for (content, expires) in [(1, SendTime::MAX), (2, at(700)), (3, at(300)), (4, at(700))] {
        queue(&mut endpoint, video, content, expires);
    }
    queue(&mut endpoint, audio, 5, SendTime::MAX);
    queue(&mut endpoint, audio, 6, at(200));
    let mut dropped = Vec::new();
    for ms in 1..1000 {
        endpoint.on_timeout(at(ms)).unwrap();
        dropped.extend(expired(&mut endpoint).into_iter().map(|(stream, content)| (ms, stream, content)));
    }
    // A packet may leave at the time itself.
    assert_eq!(dropped, [(201, audio, 6), (301, video, 3), (701, video, 2), (701, video, 4)]);
    assert_eq!(endpoint.queued(), DataSize::from_bytes(1000));
    let stats = endpoint.stats();
    assert_eq!((stats.streams[0].packets_expired, stats.streams[1].packets_expired), (3, 1));
    let mut out = [0; 1500];
    let mut left = Vec::new();
    while let Some(departure) = endpoint.poll_packet(at(1000), &mut out).unwrap() {
        left.extend(departure.payload.map(|payload| payload[0]));
    }
    assert_eq!(left, [5, 1], "the others leave");
}

#[test]
fn the_timer_of_a_waiting_packet_is_that_of_its_expiry() {
    let (mut endpoint, video, _) = endpoint();
    let mut out = [0; 1500];
    // The pacer owes for the packets sent, so that the next departure is later than the expiry.
    for content in 0..40 {
        queue(&mut endpoint, video, content, SendTime::MAX);
    }
    endpoint.on_timeout(at(0)).unwrap();
    while endpoint.poll_packet(at(0), &mut out).unwrap().is_some() {}
    while endpoint.poll_event().is_some() {}
    let expires = SendTime::ZERO + TimeDelta::from_micros(10);
    queue(&mut endpoint, video, 99, expires);
    let next = endpoint.next_timeout().unwrap();
    assert_eq!(next, expires + TimeDelta::from_nanos(1));
    endpoint.on_timeout(expires).unwrap();
    assert_eq!(expired(&mut endpoint), []);
    endpoint.on_timeout(next).unwrap();
    assert_eq!(expired(&mut endpoint), [(video, 99)]);
    assert!(endpoint.next_timeout().is_some_and(|later| later > next), "the timer is served");
}

#[test]
fn a_packet_that_has_left_does_not_expire() {
    let (mut endpoint, _, audio) = endpoint();
    queue(&mut endpoint, audio, 1, at(50));
    assert!(endpoint.poll_packet(at(50), &mut [0; 1500]).unwrap().is_some());
    for ms in 50..200 {
        endpoint.on_timeout(at(ms)).unwrap();
    }
    assert_eq!(expired(&mut endpoint), []);
    assert_eq!(endpoint.stats().streams[1].packets_expired, 0);
}
