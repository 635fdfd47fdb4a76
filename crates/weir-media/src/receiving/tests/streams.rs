//! Streams: retransmissions, requests, learned streams, statistics.

use weir_cc::Ecn;
use weir_units::TimeDelta;
use weir_wire::ParseError;
use weir_wire::rtcp::{self, Message};

use super::super::{
    InboundStreamStats, IncomingStream, PacketContent, ReceivingConfig, ReceivingEndpoint, ReceivingError,
    UnknownStreams,
};
use super::far_end::{AUDIO, MadePacket, RTX_TYPE, VIDEO, VIDEO_RTX, at, config, endpoint, rtcp_at, video};

/// Lost packets and key frames requested in `rtcp`, by stream; a key frame is -1.
fn requests(rtcp: &[Vec<u8>]) -> Vec<(u32, i32)> {
    let mut requests = Vec::new();
    for message in rtcp.iter().flat_map(|bytes| rtcp::messages(bytes)) {
        match message.unwrap() {
            Message::Nack(nack) => requests.extend(nack.sequences().map(|n| (nack.source, i32::from(n)))),
            Message::Pli(request) => requests.push((request.source, -1)),
            _ => {}
        }
    }
    requests
}

/// A retransmission of the packet 65 535 of the video.
const REPEATED: MadePacket<'static> = MadePacket {
    ssrc: VIDEO_RTX,
    sequence: 500,
    timestamp: 3000,
    payload_type: RTX_TYPE,
    number: Some(3),
    sent: None,
    payload: &[0xFF, 0xFF, 1, 2, 3],
    padding: 4,
};

#[test]
fn a_retransmission_is_given_as_the_packet_that_it_repeats() {
    let mut endpoint = endpoint(config());
    let first = MadePacket { number: Some(0), ..MadePacket::new(VIDEO, 65_534) }.comes(&mut endpoint, 0);
    let second = MadePacket { number: Some(2), ..MadePacket::new(VIDEO, 0) }.comes(&mut endpoint, 1);
    assert_eq!((second.number - first.number, second.content), (2, PacketContent::Payload));
    assert_eq!(requests(&rtcp_at(&mut endpoint, 1)), [(VIDEO, 65_535)]);
    let repeated = REPEATED.comes(&mut endpoint, 30);
    assert_eq!(
        (repeated.ssrc, repeated.sequence, repeated.content),
        (VIDEO, 65_535, PacketContent::Retransmission)
    );
    assert_eq!(
        (repeated.number, repeated.timestamp, repeated.payload_type),
        (first.number + 1, 3000, RTX_TYPE)
    );
    assert_eq!(REPEATED.bytes()[repeated.payload], [1, 2, 3]);
    // It is requested no more.
    assert!(requests(&rtcp_at(&mut endpoint, 200)).is_empty());
    let stats = endpoint.stream(VIDEO).unwrap();
    assert_eq!((stats.packets_received, stats.retransmitted_packets_received, stats.nack_count), (3, 1, 1));
    assert_eq!((stats.bytes_received, stats.retransmitted_bytes_received), (203, 3));
    // 12 + 8 bytes of header each; the retransmission has two more, and four of padding.
    assert_eq!((stats.header_bytes_received, stats.packets_lost), (66, 1));
}

#[test]
fn padding_in_a_stream_of_retransmissions_restores_no_packet() {
    let mut endpoint = endpoint(config());
    let padding = MadePacket { payload: &[], padding: 255, ..REPEATED }.comes(&mut endpoint, 0);
    assert_eq!(
        (padding.ssrc, padding.sequence, padding.content),
        (VIDEO_RTX, 500, PacketContent::PaddingOnly)
    );
    assert!(padding.payload.is_empty() && padding.reported);
    let other_type = MadePacket { payload_type: 100, ..REPEATED }.comes(&mut endpoint, 0);
    assert_eq!((other_type.ssrc, other_type.content), (VIDEO_RTX, PacketContent::Payload));
    let too_short = MadePacket { payload: &[1], padding: 0, ..REPEATED }.bytes();
    let error = ParseError::TooShort { offset: 20, needed: 2, available: 1 };
    let result = endpoint.on_packet(at(0), &too_short, Ecn::NotEct);
    assert_eq!(result, Err(ReceivingError::Malformed(error)));
    assert_eq!(endpoint.stats().malformed_packets, 1);
    assert_eq!(endpoint.stream(VIDEO).map(|stats| stats.retransmitted_packets_received), Some(0));
}

#[test]
fn each_stream_requests_its_own_lost_packets() {
    let mut endpoint = endpoint(config());
    endpoint.add_stream(IncomingStream { ssrc: 5, retransmission: None, ..video() }).unwrap();
    for ssrc in [VIDEO, AUDIO, 5] {
        MadePacket::new(ssrc, 10).comes(&mut endpoint, 0);
        MadePacket::new(ssrc, 12).comes(&mut endpoint, 0);
    }
    MadePacket::new(5, 11).comes(&mut endpoint, 50);
    assert_eq!(requests(&rtcp_at(&mut endpoint, 50)), [(VIDEO, 11)]);
    assert_eq!(endpoint.next_timeout(), Some(at(150)));
    assert_eq!(requests(&rtcp_at(&mut endpoint, 150)), [(VIDEO, 11)]);
    let counts: Vec<(u32, u64)> = endpoint.streams().map(|stats| (stats.ssrc, stats.nack_count)).collect();
    assert_eq!(counts, [(VIDEO, 2), (AUDIO, 0), (5, 0)]);
}

#[test]
fn key_frames_are_requested_by_the_application_and_where_too_much_is_lost() {
    let mut endpoint = endpoint(config());
    assert_eq!(endpoint.request_key_frame(at(5), VIDEO), Ok(true));
    assert_eq!(endpoint.request_key_frame(at(5), VIDEO_RTX), Ok(false));
    assert_eq!(endpoint.next_timeout(), Some(at(5)));
    assert_eq!(requests(&rtcp_at(&mut endpoint, 5)), [(VIDEO, -1)]);
    assert_eq!(endpoint.next_timeout(), None);
    MadePacket::new(VIDEO, 0).comes(&mut endpoint, 10);
    MadePacket::new(VIDEO, 1500).comes(&mut endpoint, 10);
    assert_eq!(requests(&rtcp_at(&mut endpoint, 10)), [(VIDEO, -1)]);
    assert_eq!(endpoint.stream(VIDEO).map(|stats| stats.pli_count), Some(2));
}

#[test]
fn a_stream_is_learned_if_that_is_wanted_and_there_is_space() {
    let learned = UnknownStreams::Learned { clock_hz: 90_000, nack: true, most: 2 };
    let mut endpoint = ReceivingEndpoint::new(ReceivingConfig { unknown: learned, ..config() }).unwrap();
    let mut comes = |ssrc| {
        let packet = MadePacket { number: Some(1), ..MadePacket::new(ssrc, 1) };
        endpoint.on_packet(at(0), &packet.bytes(), Ecn::NotEct).unwrap().is_some()
    };
    assert_eq!([7, 8, 9, 7].map(&mut comes), [true, true, false, true]);
    // RTCP in the place of RTP is no stream.
    let rtcp = [0x80, 201, 0, 1, 0, 0, 0, 9, 0, 0, 0, 0];
    assert_eq!(endpoint.on_packet(at(0), &rtcp, Ecn::NotEct), Err(ReceivingError::RtcpPacket));
    assert!(endpoint.streams().map(|stats| stats.ssrc).eq([7, 8]));
    assert_eq!(endpoint.stats().unknown_packets, 3);
}

#[test]
fn packets_of_unknown_streams_are_counted_and_ignored() {
    let mut endpoint = endpoint(config());
    let packet = MadePacket { number: Some(1), ..MadePacket::new(77, 1) };
    assert_eq!(endpoint.on_packet(at(0), &packet.bytes(), Ecn::NotEct), Ok(None));
    assert_eq!((endpoint.stats().unknown_packets, endpoint.next_timeout()), (1, None));
}

#[test]
fn a_removed_stream_is_unknown_and_the_others_stay() {
    let mut endpoint = endpoint(ReceivingConfig { rtcp_spread: 0.0, ..config() });
    MadePacket::new(VIDEO, 1).comes(&mut endpoint, 0);
    MadePacket::new(AUDIO, 1).comes(&mut endpoint, 0);
    assert!(endpoint.remove_stream(VIDEO) && !endpoint.remove_stream(VIDEO));
    for ssrc in [VIDEO, VIDEO_RTX] {
        let packet = MadePacket::new(ssrc, 2).bytes();
        assert_eq!(endpoint.on_packet(at(1), &packet, Ecn::NotEct), Ok(None));
    }
    MadePacket::new(AUDIO, 2).comes(&mut endpoint, 1);
    let rtcp = rtcp_at(&mut endpoint, 1000);
    let Ok(Message::ReceiverReport(report)) = rtcp::messages(&rtcp[0]).next().unwrap() else {
        panic!("{rtcp:?}")
    };
    assert!(report.blocks().map(|block| block.ssrc).eq([AUDIO]));
    endpoint.add_stream(video()).unwrap();
    assert_eq!(MadePacket::new(VIDEO, 9).comes(&mut endpoint, 1001).number, (1 << 32) + 9);
}

#[test]
fn statistics_are_those_of_the_packets() {
    let mut endpoint = endpoint(config());
    for (sequence, ms, ecn) in
        [(10, 0, Ecn::NotEct), (11, 35, Ecn::Ect1), (13, 100, Ecn::Ce), (13, 101, Ecn::Ce)]
    {
        let bytes = MadePacket::new(VIDEO, sequence).bytes();
        endpoint.on_packet(at(ms), &bytes, ecn).unwrap();
    }
    // 3000 ticks apart, so due at 0, 33.3 and 100 ms. In ticks of 1/90000 s the differences of transit times are 150,
    // 150 and 90: J = 150/16, then 9.375 + (150 − 9.375)/16 = 18.2, then 18.2 + (90 − 18.2)/16 = 22.7.
    let jitter = TimeDelta::from_nanos(22 * 1_000_000_000 / 90_000);
    let expected = InboundStreamStats {
        ssrc: VIDEO,
        rtx_ssrc: Some(VIDEO_RTX),
        packets_received: 4,
        packets_received_with_ect1: 1,
        packets_received_with_ce: 2,
        // 12 is lost, and 13 came twice.
        packets_lost: 0,
        jitter,
        bytes_received: 400,
        header_bytes_received: 48,
        last_packet_received_timestamp: Some(at(101)),
        ..InboundStreamStats::default()
    };
    assert_eq!(endpoint.stream(VIDEO), Some(expected));
    let value = |name| expected.fields().into_iter().find(|field| field.0 == name).map(|field| field.1);
    assert_eq!(value("jitter"), Some(jitter.secs_f64()));
    assert_eq!(value("lastPacketReceivedTimestamp"), Some(101.0));
    assert_eq!((value("headerBytesReceived"), value("packetsLost")), (Some(48.0), Some(0.0)));
    assert_eq!(endpoint.stream(VIDEO_RTX), None);
}
