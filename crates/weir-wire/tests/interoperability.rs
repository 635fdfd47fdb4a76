//! What Weir writes, another implementation (rtc-rtp, rtc-rtcp) reads the same, and the other way round.

use proptest::collection::vec;
use proptest::prelude::*;
use rtc_rtcp::payload_feedbacks::receiver_estimated_maximum_bitrate::ReceiverEstimatedMaximumBitrate;
use rtc_rtcp::reception_report::ReceptionReport;
use rtc_rtcp::{receiver_report, sender_report};
use rtc_shared::marshal::{Marshal, Unmarshal};
use weir_wire::rtcp::{Message, ReceiverReport, Remb, ReportBlock, SenderInfo, SenderReport, messages};
use weir_wire::{Extension, ExtensionIds, MediaHeader, NtpTime, RtpHeader, RtpPacket, Stamp};

type Element = (u8, Vec<u8>);

/// Elements that all fit the one-byte form, or of which at least the first does not.
fn any_elements() -> impl Strategy<Value = Vec<Element>> {
    let short = vec((1..=14u8, vec(any::<u8>(), 1..=16)), 0..5);
    let long =
        (vec((1..=255u8, vec(any::<u8>(), 0..60)), 0..5), 15..=255u8).prop_map(|(mut elements, id)| {
            elements.insert(0, (id, vec![1, 2, 3]));
            elements
        });
    prop_oneof![short, long]
}

fn needs_two_byte_form(elements: &[Element]) -> bool {
    elements.iter().any(|(id, data)| *id > 14 || data.is_empty() || data.len() > 16)
}

fn any_rtp() -> impl Strategy<Value = rtc_rtp::Packet> {
    let fixed = any::<(bool, bool, u8, u16, u32, u32)>();
    (fixed, vec(any::<u32>(), 0..=15), any_elements(), vec(any::<u8>(), 0..50)).prop_map(
        |((padding, marker, payload_type, sequence_number, timestamp, ssrc), csrc, elements, payload)| {
            let two_byte = needs_two_byte_form(&elements);
            let profile = if two_byte { 0x1000 } else { 0xBEDE };
            rtc_rtp::Packet {
                header: rtc_rtp::Header {
                    version: 2,
                    padding,
                    extension: !elements.is_empty(),
                    marker,
                    payload_type: payload_type & 0x7F,
                    sequence_number,
                    timestamp,
                    ssrc,
                    csrc,
                    extension_profile: if elements.is_empty() { 0 } else { profile },
                    extensions: elements
                        .into_iter()
                        .map(|(id, data)| rtc_rtp::header::Extension { id, payload: data.into() })
                        .collect(),
                    extensions_padding: 0,
                },
                payload: payload.into(),
            }
        },
    )
}

/// The same packet, written by Weir with as much padding as the other implementation would add.
fn written_by_weir(packet: &rtc_rtp::Packet) -> Vec<u8> {
    let theirs = &packet.header;
    let extensions: Vec<_> =
        theirs.extensions.iter().map(|e| Extension { id: e.id, data: &e.payload }).collect();
    let header = RtpHeader {
        padding: theirs.padding,
        marker: theirs.marker,
        payload_type: theirs.payload_type,
        sequence: theirs.sequence_number,
        timestamp: theirs.timestamp,
        ssrc: theirs.ssrc,
        csrcs: &theirs.csrc,
        extensions: &extensions,
    };
    let mut bytes = vec![0; header.wire_len()];
    header.write(&mut bytes).unwrap();
    bytes.extend_from_slice(&packet.payload);
    if theirs.padding {
        let start = bytes.len();
        bytes.resize(start + 4 - packet.payload.len() % 4, 0);
        weir_wire::rtp::write_padding(&mut bytes[start..]).unwrap();
    }
    bytes
}

fn any_block() -> impl Strategy<Value = ReportBlock> {
    (any::<(u32, u8, u32, u32, u32, u32)>(), -0x80_0000..=0x7F_FFFF).prop_map(
        |((ssrc, fraction_lost, highest_sequence, jitter, lsr, dlsr), cumulative_lost)| ReportBlock {
            ssrc,
            fraction_lost,
            cumulative_lost,
            highest_sequence,
            jitter,
            last_sender_report: lsr,
            delay_since_last_sender_report: dlsr,
        },
    )
}

/// The other implementation holds the 24 bits of cumulative loss without their sign.
fn theirs(block: &ReportBlock) -> ReceptionReport {
    ReceptionReport {
        ssrc: block.ssrc,
        fraction_lost: block.fraction_lost,
        total_lost: block.cumulative_lost as u32 & 0xFF_FFFF,
        last_sequence_number: block.highest_sequence,
        jitter: block.jitter,
        last_sender_report: block.last_sender_report,
        delay: block.delay_since_last_sender_report,
    }
}

fn only_message(bytes: &[u8]) -> Message<'_> {
    let mut messages = messages(bytes);
    let message = messages.next().expect("a message").expect("a readable one");
    assert!(messages.next().is_none());
    message
}

proptest! {
    #[test]
    fn rtp_is_the_same_in_both(packet in any_rtp()) {
        let their_bytes = packet.marshal().unwrap();
        let our_bytes = written_by_weir(&packet);
        prop_assert_eq!(&their_bytes[..], &our_bytes[..]);

        let mut read_by_them = rtc_rtp::Packet::unmarshal(&mut &our_bytes[..]).unwrap();
        // How many bytes of padding the block had, which is derived from the elements.
        read_by_them.header.extensions_padding = 0;
        prop_assert_eq!(&read_by_them, &packet);

        let read_by_us = RtpPacket::parse(&their_bytes).unwrap();
        let header = &packet.header;
        prop_assert_eq!(
            (read_by_us.marker, read_by_us.payload_type, read_by_us.sequence),
            (header.marker, header.payload_type, header.sequence_number)
        );
        prop_assert_eq!((read_by_us.timestamp, read_by_us.ssrc), (header.timestamp, header.ssrc));
        prop_assert_eq!(&read_by_us.csrcs().collect::<Vec<_>>(), &header.csrc);
        let expected: Vec<_> =
            header.extensions.iter().map(|e| Extension { id: e.id, data: &e.payload }).collect();
        prop_assert_eq!(read_by_us.extensions().collect::<Vec<_>>(), expected);
        prop_assert_eq!(read_by_us.payload, &packet.payload[..]);
        prop_assert_eq!(read_by_us.padding > 0, header.padding);
    }

    #[test]
    fn the_media_header_is_read_by_others(sequence: u16, ticks in 0..1u32 << 24, number: u16, rtt: Option<u16>) {
        let ours = MediaHeader {
            payload_type: 96,
            sequence,
            abs_send_time: weir_wire::AbsSendTime::from_ticks(ticks),
            transport_sequence: number,
            stamp: rtt.map(|rtt| Stamp { rtt }),
            ..MediaHeader::default()
        };
        let mut bytes = vec![0; ours.wire_len()];
        ours.write(&ExtensionIds::default(), &mut bytes).unwrap();
        let theirs = rtc_rtp::Header::unmarshal(&mut &bytes[..]).unwrap();
        prop_assert_eq!((theirs.payload_type, theirs.sequence_number), (96, sequence));
        let data = |id| theirs.get_extension(id).map(|data| data.to_vec());
        prop_assert_eq!(data(3), Some(ticks.to_be_bytes()[1..].to_vec()));
        prop_assert_eq!(data(5), Some(number.to_be_bytes().to_vec()));
        prop_assert_eq!(data(7), rtt.map(|rtt| rtt.to_be_bytes().to_vec()));
    }

    #[test]
    fn sender_reports_are_the_same_in_both(
        (ssrc, ntp, rtp_timestamp, packet_count, octet_count) in any::<(u32, u64, u32, u32, u32)>(),
        blocks in vec(any_block(), 0..=31),
    ) {
        let info = SenderInfo { ntp: NtpTime(ntp), rtp_timestamp, packet_count, octet_count };
        let their_report = sender_report::SenderReport {
            ssrc,
            ntp_time: ntp,
            rtp_time: rtp_timestamp,
            packet_count,
            octet_count,
            reports: blocks.iter().map(theirs).collect(),
            ..Default::default()
        };
        let mut our_bytes = vec![0; SenderReport::wire_len(blocks.len())];
        SenderReport::write(ssrc, &info, &blocks, &mut our_bytes).unwrap();
        let read_by_them = sender_report::SenderReport::unmarshal(&mut &our_bytes[..]).unwrap();
        prop_assert_eq!(&read_by_them, &their_report);

        let their_bytes = their_report.marshal().unwrap();
        let Message::SenderReport(read_by_us) = only_message(&their_bytes) else { panic!("a sender report") };
        prop_assert_eq!((read_by_us.ssrc, read_by_us.info), (ssrc, info));
        prop_assert_eq!(read_by_us.blocks().collect::<Vec<_>>(), blocks);
    }

    #[test]
    fn receiver_reports_are_the_same_in_both(ssrc: u32, blocks in vec(any_block(), 0..=31)) {
        let their_report = receiver_report::ReceiverReport {
            ssrc,
            reports: blocks.iter().map(theirs).collect(),
            ..Default::default()
        };
        let mut our_bytes = vec![0; ReceiverReport::wire_len(blocks.len())];
        ReceiverReport::write(ssrc, &blocks, &mut our_bytes).unwrap();
        let read_by_them = receiver_report::ReceiverReport::unmarshal(&mut &our_bytes[..]).unwrap();
        prop_assert_eq!(&read_by_them, &their_report);

        let their_bytes = their_report.marshal().unwrap();
        let Message::ReceiverReport(read_by_us) = only_message(&their_bytes) else { panic!("a receiver report") };
        prop_assert_eq!(read_by_us.ssrc, ssrc);
        prop_assert_eq!(read_by_us.blocks().collect::<Vec<_>>(), blocks);
    }

    // The other implementation reads a rate of 0 as 2^23 and holds 24 bits of a rate.
    #[test]
    fn remb_is_the_same_in_both(
        sender_ssrc: u32, mantissa in 1..1u64 << 24, exponent in 0..39u32, ssrcs in vec(any::<u32>(), 0..20),
    ) {
        let rate = mantissa << exponent;
        let their_message = ReceiverEstimatedMaximumBitrate { sender_ssrc, bitrate: rate as f32, ssrcs };
        let their_bytes = their_message.marshal().unwrap();
        let mut our_bytes = vec![0; Remb::wire_len(their_message.ssrcs.len())];
        Remb::write(sender_ssrc, rate, &their_message.ssrcs, &mut our_bytes).unwrap();
        prop_assert_eq!(&their_bytes[..], &our_bytes[..]);

        let read_by_them = ReceiverEstimatedMaximumBitrate::unmarshal(&mut &our_bytes[..]).unwrap();
        let Message::Remb(read_by_us) = only_message(&their_bytes) else { panic!("a REMB") };
        prop_assert_eq!(read_by_them.bitrate, read_by_us.bitrate as f32);
        prop_assert_eq!((read_by_them.sender_ssrc, read_by_us.sender_ssrc), (sender_ssrc, sender_ssrc));
        prop_assert_eq!(&read_by_us.ssrcs().collect::<Vec<_>>(), &their_message.ssrcs);
        prop_assert_eq!(&read_by_them.ssrcs, &their_message.ssrcs);
    }
}

#[test]
fn a_compound_of_ours_is_walked_by_others() {
    let mut bytes = vec![0; 200];
    let mut length = SenderReport::write(1, &SenderInfo::default(), &[], &mut bytes).unwrap();
    length += ReceiverReport::write(2, &[ReportBlock::default()], &mut bytes[length..]).unwrap();
    length += Remb::write(3, 500_000, &[4], &mut bytes[length..]).unwrap();
    let packets = rtc_rtcp::packet::unmarshal(&mut &bytes[..length]).unwrap();
    let ours: Vec<_> = messages(&bytes[..length]).map(Result::unwrap).collect();
    assert_eq!((packets.len(), ours.len()), (3, 3));
    let remb = packets[2].as_any().downcast_ref::<ReceiverEstimatedMaximumBitrate>().unwrap();
    assert_eq!((remb.bitrate, &remb.ssrcs[..]), (500_000.0, &[4][..]));
}
