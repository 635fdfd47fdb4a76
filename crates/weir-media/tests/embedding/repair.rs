//! Retransmissions on request, padding that repeats recent packets, and padding alone.

use weir_media::{
    Endpoint, EndpointConfig, EndpointEvent, PacketKind, PacketMeta, StreamConfig, StreamId, VIDEO_CLOCK_HZ,
};
use weir_wire::RtpPacket;
use weir_wire::rtcp::{Nack, Pli};

use super::rig::{VIDEO, at, gcc, limits};

const AGAIN: u32 = 77;

/// An endpoint that has sent five packets of a video with retransmissions.
fn having_sent() -> (Endpoint<Vec<u8>>, StreamId) {
    let mut endpoint =
        Endpoint::new(gcc(), EndpointConfig { leave_out: None, ..EndpointConfig::new(limits()) }, 7);
    let stream = StreamConfig::video(VIDEO, 100).with_retransmissions(AGAIN, 101);
    let stream = endpoint.add_stream(stream).unwrap();
    for n in 0..5 {
        endpoint.queue(at(0), stream, vec![n; 500], PacketMeta::new(900 + u32::from(n), n == 4)).unwrap();
    }
    let mut out = [0; 1500];
    for ms in 0..100 {
        while endpoint.poll_packet(at(ms), &mut out).unwrap().is_some() {}
    }
    (endpoint, stream)
}

fn request(endpoint: &mut Endpoint<Vec<u8>>, ms: i64, source: u32, sequences: &[u16]) {
    let mut out = [0; 200];
    let (length, written) = Nack::write(5, source, sequences.iter().copied(), &mut out).unwrap();
    assert_eq!(written, sequences.len());
    endpoint.on_rtcp(at(ms), &out[..length]).unwrap();
}

#[test]
fn a_requested_packet_leaves_again_with_its_first_number() {
    let (mut endpoint, stream) = having_sent();
    request(&mut endpoint, 100, VIDEO, &[1, 4]);
    // A stream of retransmissions is not requested again, nor a packet that was never sent.
    request(&mut endpoint, 100, AGAIN, &[0]);
    request(&mut endpoint, 100, VIDEO, &[9]);
    let mut out = [0; 1500];
    let mut again = Vec::new();
    for ms in 100..160 {
        while let Some(departure) = endpoint.poll_packet(at(ms), &mut out).unwrap() {
            if departure.kind != (PacketKind::Retransmission { padding: false }) {
                continue;
            }
            let packet = RtpPacket::parse(&out[..departure.length]).unwrap();
            assert_eq!((packet.ssrc, packet.payload_type, departure.stream), (AGAIN, 101, stream));
            let original = u16::from_be_bytes([packet.payload[0], packet.payload[1]]);
            assert_eq!(packet.payload[2..], vec![original as u8; 500]);
            again.push((packet.sequence, original, packet.timestamp, packet.marker));
        }
    }
    let again: Vec<_> =
        again.iter().map(|&(_, original, timestamp, marker)| (original, timestamp, marker)).collect();
    assert_eq!(again, [(1, 901, false), (4, 904, true)]);
    let stats = endpoint.stats().streams[0];
    assert_eq!((stats.retransmitted_packets_sent, stats.retransmitted_bytes_sent), (2, 1000));
    assert_eq!(stats.nack_count, 2);
    // Once in a round trip, and not after a second.
    request(&mut endpoint, 161, VIDEO, &[1]);
    request(&mut endpoint, 2000, VIDEO, &[0]);
    assert!((161..2100).all(|ms| {
        endpoint
            .poll_packet(at(ms), &mut out)
            .ok()
            .flatten()
            .is_none_or(|departure| departure.kind != (PacketKind::Retransmission { padding: false }))
    }));
}

/// Kinds of the padding that a probe takes when no media waits.
fn padding(again: bool) -> Vec<PacketKind> {
    let mut endpoint = Endpoint::new(gcc(), EndpointConfig::new(limits()), 7);
    let video = StreamConfig::video(VIDEO, 100);
    let config = if again { video.with_retransmissions(AGAIN, 101) } else { video };
    let stream = endpoint.add_stream(config).unwrap();
    let mut out = [0; 1500];
    let mut kinds = Vec::new();
    // A first packet begins the probe of the start.
    endpoint.queue(at(0), stream, vec![7; 1000], PacketMeta::new(0, true)).unwrap();
    for ms in 0..100 {
        endpoint.on_timeout(at(ms)).unwrap();
        while let Some(departure) = endpoint.poll_packet(at(ms), &mut out).unwrap() {
            let packet = RtpPacket::parse(&out[..departure.length]).unwrap();
            assert_eq!(packet.padding > 0, departure.kind == PacketKind::Padding);
            kinds.push(departure.kind);
        }
    }
    assert_eq!(kinds.remove(0), PacketKind::Media);
    let stats = endpoint.stats().streams[0];
    assert_eq!(stats.padding_packets_sent as usize, kinds.len());
    kinds
}

#[test]
fn padding_repeats_recent_packets_where_that_was_negotiated() {
    let repeated = padding(true);
    assert!(!repeated.is_empty());
    assert!(
        repeated.iter().all(|kind| *kind == PacketKind::Retransmission { padding: true }),
        "{repeated:?}"
    );
    let alone = padding(false);
    // Packets of 255 bytes are more than packets of 1000.
    assert!(alone.len() > repeated.len());
    assert!(alone.iter().all(|kind| *kind == PacketKind::Padding), "{alone:?}");
}

#[test]
fn padding_never_repeats_an_empty_packet() {
    let mut endpoint = Endpoint::new(gcc(), EndpointConfig::new(limits()), 7);
    let config = StreamConfig::video(VIDEO, 100).with_retransmissions(AGAIN, 101);
    let stream = endpoint.add_stream(config).unwrap();
    // A first packet begins the probe of the start. Padding repeats one of the last eight packets.
    for size in [1000, 0, 0, 0, 0, 0, 0, 0, 0] {
        endpoint.queue(at(0), stream, vec![7; size], PacketMeta::new(0, true)).unwrap();
    }
    let (mut out, mut kinds) = ([0; 1500], Vec::new());
    for ms in 0..100 {
        endpoint.on_timeout(at(ms)).unwrap();
        while let Some(departure) = endpoint.poll_packet(at(ms), &mut out).unwrap() {
            kinds.push(departure.kind);
            assert!(kinds.len() < 1000, "packets leave without end");
        }
    }
    let padding = kinds.split_off(9);
    assert!(kinds.iter().all(|kind| *kind == PacketKind::Media), "{kinds:?}");
    assert!(!padding.is_empty() && padding.iter().all(|kind| *kind == PacketKind::Padding), "{padding:?}");
}

#[test]
fn a_request_for_a_key_frame_is_an_event() {
    let (mut endpoint, stream) = having_sent();
    while endpoint.poll_event().is_some() {}
    let mut out = [0; 100];
    let length = Pli { ssrc: 5, source: VIDEO }.write(&mut out).unwrap();
    endpoint.on_rtcp(at(100), &out[..length]).unwrap();
    let events: Vec<_> = std::iter::from_fn(|| endpoint.poll_event()).collect();
    assert!(events.contains(&EndpointEvent::KeyFrameRequest(stream)), "{events:?}");
    assert_eq!(endpoint.stats().streams[0].pli_count, 1);
}

#[test]
fn a_long_queue_asks_the_encoder_to_leave_out_a_frame() {
    let mut endpoint = Endpoint::new(gcc(), EndpointConfig::new(limits()), 7);
    let stream = endpoint.add_stream(StreamConfig::video(VIDEO, 100)).unwrap();
    let ticks = (VIDEO_CLOCK_HZ / 30) as u32;
    // At 1 Mbit/s 250 ms are 31 250 bytes.
    for frame in 0..4 {
        for packet in 0..10 {
            let meta = PacketMeta::new(ticks * frame, packet == 9);
            endpoint.queue(at(0), stream, vec![0; 1000], meta).unwrap();
        }
        let asked = std::iter::from_fn(|| endpoint.poll_event())
            .any(|event| event == EndpointEvent::LeaveOutFrame(stream));
        assert_eq!(asked, frame == 3, "{frame}");
    }
}
