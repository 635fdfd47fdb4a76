//! No parser panics or loops, whatever the bytes.

use proptest::collection::vec;
use proptest::prelude::*;
use weir_wire::rtcp::{
    self, Ccfb, ControllerReport, DcccFeedback, Message, NadaDelay, NadaFeedback, ReceiverReport, Remb, Sbd,
    SenderReport, TfrcFeedback, Twcc,
};
use weir_wire::rtp::{self, RtpPacket};
use weir_wire::tcp_in_udp::{self, ConnectionName, SegmentHeader};
use weir_wire::{ExtensionIds, MediaHeader};

/// Reads every part of `bytes`, and checks that the readers stay within them.
fn read_everything(bytes: &[u8]) -> Result<(), TestCaseError> {
    let _ = rtp::demux(bytes);
    let _ = MediaHeader::parse(bytes, &ExtensionIds::default());
    match RtpPacket::parse(bytes) {
        Ok(packet) => {
            let length = packet.header_len() + packet.payload.len() + usize::from(packet.padding);
            prop_assert_eq!(length, bytes.len());
            prop_assert!(packet.csrcs().count() <= 15);
            prop_assert!(packet.extensions().all(|e| e.id > 0));
        }
        Err(error) => prop_assert!(error.offset() <= bytes.len() && !error.to_string().is_empty()),
    }
    let mut walked = 0;
    for packet in rtcp::compound(bytes) {
        match packet {
            Ok(packet) => {
                prop_assert_eq!(packet.offset, walked);
                walked += 4 + packet.padded_body.len();
                read_packet(&packet, bytes.len())?;
            }
            Err(error) => prop_assert!(error.offset() >= walked && error.offset() <= bytes.len()),
        }
    }
    prop_assert!(rtcp::messages(bytes).count() <= bytes.len() / 4 + 1);
    read_segment(bytes)
}

/// Reads TCP in UDP; segments that can be read are written as they were but for bits without meaning.
fn read_segment(bytes: &[u8]) -> Result<(), TestCaseError> {
    match SegmentHeader::parse(bytes) {
        Ok((header, payload)) => {
            let kind = tcp_in_udp::demux(bytes);
            prop_assert!(matches!(kind, Some(tcp_in_udp::Kind::Segment | tcp_in_udp::Kind::SegmentOrRtp)));
            prop_assert_eq!(header.wire_len() + payload.len(), bytes.len());
            prop_assert_eq!(header.setup().is_some(), matches!(header.named, ConnectionName::Ports(_)));
            prop_assert!(tcp_in_udp::options(header.options).count() <= header.options.len() / 2 + 1);
            let mut written = vec![0xEE; header.wire_len()];
            prop_assert_eq!(header.write(&mut written), Ok(written.len()));
            prop_assert_eq!(SegmentHeader::parse(&written), Ok((header, &[][..])));
            let meaningless = if header.setup().is_some() { (0x0F, 0x20) } else { (0, 0) };
            prop_assert_eq!((written[0], written[1]), (bytes[0] & !meaningless.0, bytes[1] & !meaningless.1));
            prop_assert_eq!(&written[2..], &bytes[2..written.len()]);
        }
        Err(error) => prop_assert!(error.offset() <= bytes.len() && !error.to_string().is_empty()),
    }
    Ok(())
}

/// Parses `packet` as each kind of RTCP message: an error is fine, a panic is not.
fn read_packet(packet: &rtcp::RtcpPacket<'_>, datagram_len: usize) -> Result<(), TestCaseError> {
    let _ = packet.body();
    let _ = (SenderReport::parse(packet), ReceiverReport::parse(packet));
    let _ = (
        Remb::parse(packet),
        NadaFeedback::parse(packet),
        NadaDelay::parse(packet),
        DcccFeedback::parse(packet),
        TfrcFeedback::parse(packet),
        Sbd::parse(packet),
    );
    let _ = (Twcc::parse(packet), Ccfb::parse(packet));
    match Message::parse(packet) {
        Ok(Message::SenderReport(report)) => {
            prop_assert_eq!(report.blocks().count(), usize::from(packet.count));
        }
        Ok(Message::ReceiverReport(report)) => {
            prop_assert_eq!(report.blocks().count(), usize::from(packet.count));
        }
        Ok(Message::Remb(remb)) => prop_assert!(i64::try_from(remb.bitrate).is_ok()),
        Ok(Message::Nada(report)) => prop_assert!(report.congestion <= NadaFeedback::MAX_CONGESTION),
        Ok(Message::Tfrc(report)) => prop_assert!((0.0..=1.0).contains(&report.loss_event_rate())),
        Ok(Message::Twcc(feedback)) => {
            let statuses: Vec<_> = feedback.statuses().collect();
            prop_assert_eq!(statuses.len(), usize::from(feedback.status_count));
            let next = feedback.base_sequence.wrapping_add(feedback.status_count).wrapping_sub(1);
            prop_assert!(statuses.last().is_none_or(|(sequence, _)| *sequence == next));
        }
        Ok(Message::Ccfb(feedback)) => {
            let metrics: usize = feedback.blocks().map(|block| block.metrics().count()).sum();
            prop_assert!(12 + 8 * feedback.blocks().count() + 2 * metrics <= 4 + packet.padded_body.len());
        }
        Ok(Message::Own(report)) => {
            prop_assert_eq!(ControllerReport::wire_len(report.data.len()), 4 + packet.body().unwrap().len());
        }
        Ok(_) => {}
        Err(error) => prop_assert!(error.offset() <= datagram_len),
    }
    Ok(())
}

/// Bytes that begin like RTP or RTCP, so that the parsers get past their first checks.
fn plausible_bytes() -> impl Strategy<Value = Vec<u8>> {
    let rtp = (0x80..=0xBFu8, any::<u8>(), vec(any::<u8>(), 10), 0..8u8, vec(any::<u8>(), 0..64)).prop_map(
        |(first, second, fixed, words, tail)| {
            let header = [vec![first & 0xF0, second], fixed, vec![0xBE, 0xDE, 0, words]];
            [header.concat(), tail].concat()
        },
    );
    let packet_type = prop_oneof![Just(200), Just(201), Just(204), Just(205), Just(206), any::<u8>()];
    let name = prop_oneof![Just(*b"REMB"), Just(*b"NADA"), Just(*b"DCCC"), any::<[u8; 4]>()];
    let rtcp = (0x80..=0xBFu8, packet_type, 0..12u8, name, vec(any::<u8>(), 0..48)).prop_map(
        |(first, packet_type, length, name, tail)| {
            let ssrcs = vec![0; if packet_type == 206 { 8 } else { 4 }];
            [vec![first, packet_type, 0, length], ssrcs, name.to_vec(), tail].concat()
        },
    );
    let feedback = per_packet_feedback();
    prop_oneof![
        rtp,
        rtcp.clone(),
        own_reports(),
        feedback,
        segments(),
        vec(rtcp, 1..4).prop_map(|packets| packets.concat())
    ]
}

/// Reports of other controllers, about as long as their length fields.
fn own_reports() -> impl Strategy<Value = Vec<u8>> {
    let first = prop_oneof![4 => Just(0x87), 1 => Just(0xA7)];
    let data = vec(any::<u8>(), 0..72);
    (first, any::<[u8; 19]>(), data, -5..=5i8, -1..=1i16).prop_map(|(first, fixed, mut data, more, words)| {
        let length_field = (data.len() as u8).saturating_add_signed(more);
        data.resize(data.len().next_multiple_of(4), 0);
        let length = (5 + data.len() as u16 / 4).wrapping_add_signed(words);
        [vec![first, 204], length.to_be_bytes().to_vec(), fixed.to_vec(), vec![length_field], data].concat()
    })
}

/// Bytes that begin like transport-wide feedback or that of RFC 8888, and are about as long as their length
/// fields.
fn per_packet_feedback() -> impl Strategy<Value = Vec<u8>> {
    let first = prop_oneof![Just(0x8F), Just(0xAF), Just(0x8B), Just(0xAB)];
    let counts = (any::<u16>(), 0..40u16, any::<u32>());
    let words = vec(prop_oneof![any::<u32>(), Just(0), 0x2000_2000..0x2008_2008u32], 0..12);
    (first, counts, words, -1..=1i16).prop_map(|(first, (sequence, count, time), words, more)| {
        let length = (4 + words.len() as u16).wrapping_add_signed(more);
        let fixed = [vec![first, 205], length.to_be_bytes().to_vec(), vec![7; 8]].concat();
        let counts = [sequence.to_be_bytes(), count.to_be_bytes()].concat();
        let rest: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
        [fixed, counts, time.to_be_bytes().to_vec(), rest].concat()
    })
}

/// Bytes that begin like TCP in UDP, about as long as their data offset implies.
fn segments() -> impl Strategy<Value = Vec<u8>> {
    let option = prop_oneof![
        4 => prop_oneof![0..32u8, Just(255), any::<u8>()].prop_map(|id| vec![253, 5, 0x54, 0x49, id]),
        2 => Just(vec![2, 4, 5, 0xB4]),
        2 => Just(vec![1]),
        1 => vec(any::<u8>(), 0..6),
    ];
    let options = vec(option, 0..5).prop_map(|options| options.concat());
    ((any::<[u8; 12]>(), any::<bool>(), any::<[u8; 4]>()), options, -1..=1i8, vec(any::<u8>(), 0..20))
        .prop_map(|((mut fixed, is_syn, ports), mut options, more, payload)| {
            options.resize(options.len().next_multiple_of(4), 0);
            let data_offset = (5 + options.len() as u8 / 4).saturating_add_signed(more).min(15);
            fixed[0] = data_offset << 4 | fixed[0] & 0x0F;
            fixed[1] = if is_syn { fixed[1] | 0x02 } else { fixed[1] & !0x02 };
            let ports = if is_syn { ports.to_vec() } else { vec![] };
            [fixed.to_vec(), ports, options, payload].concat()
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn random_bytes_are_read_or_refused(bytes in vec(any::<u8>(), 0..200)) {
        read_everything(&bytes)?;
    }

    #[test]
    fn plausible_bytes_are_read_or_refused(bytes in plausible_bytes()) {
        read_everything(&bytes)?;
    }
}
