//! Packets written by Weir are read the same by another implementation (rtc-rtp, rtc-rtcp), and the reverse.

use proptest::collection::vec;
use proptest::prelude::*;
use rtc_rtcp::payload_feedbacks::receiver_estimated_maximum_bitrate::ReceiverEstimatedMaximumBitrate;
use rtc_rtcp::reception_report::ReceptionReport;
use rtc_rtcp::transport_feedbacks::cc_feedback_report::{
    CcFeedbackMetricBlock, CcFeedbackReport, CcFeedbackReportBlock, Ecn,
};
use rtc_rtcp::transport_feedbacks::transport_layer_cc::{
    PacketStatusChunk, RecvDelta, RunLengthChunk, StatusChunkTypeTcc, StatusVectorChunk, SymbolSizeTypeTcc,
    SymbolTypeTcc, TransportLayerCc,
};
use rtc_rtcp::{receiver_report, sender_report};
use rtc_shared::marshal::{Marshal, Unmarshal};
use weir_wire::rtcp::{
    CcfbWriter, Message, MetricBlock, PacketStatus, ReceiverReport, Remb, ReportBlock, SenderInfo,
    SenderReport, Twcc, TwccHeader, messages,
};
use weir_wire::{Extension, ExtensionIds, MediaHeader, NtpTime, RtpHeader, RtpPacket, StampExtension};

use crate::rtcp::any_block;

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

/// Whether an element has an id or a length that the one-byte form lacks (RFC 8285 §4.2).
fn needs_two_byte_form(elements: &[Element]) -> bool {
    elements.iter().any(|(id, data)| *id > 14 || data.is_empty() || data.len() > 16)
}

/// RTP packets with and without padding and header extensions, in the type of the other implementation.
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

/// The only message in `bytes`.
fn only_message(bytes: &[u8]) -> Message<'_> {
    let mut messages = messages(bytes);
    let message = messages.next().expect("a message").expect("a readable one");
    assert!(messages.next().is_none());
    message
}

/// Packets in a row and when each arrived, in quarters of a millisecond; the last one did.
fn any_quarters() -> impl Strategy<Value = Vec<Option<i64>>> {
    let step = prop_oneof![3 => 0..255i64, 1 => -300..3000i64];
    let packet = prop_oneof![3 => step.prop_map(Some), 1 => Just(None)];
    (1_000_000..1i64 << 31, vec(packet, 0..200)).prop_map(|(begin, packets)| {
        let mut at = begin;
        let times = packets.into_iter().map(|step| {
            at += step.unwrap_or(0);
            step.map(|_| at)
        });
        times.chain([Some(begin)]).collect()
    })
}

/// The symbols of a message of theirs.
fn their_symbols(message: &TransportLayerCc) -> Vec<SymbolTypeTcc> {
    let mut symbols = Vec::new();
    for chunk in &message.packet_chunks {
        match chunk {
            PacketStatusChunk::RunLengthChunk(run) => {
                let length = symbols.len() + usize::from(run.run_length);
                symbols.resize(length, run.packet_status_symbol);
            }
            PacketStatusChunk::StatusVectorChunk(vector) => symbols.extend(&vector.symbol_list),
        }
    }
    symbols.truncate(usize::from(message.packet_status_count));
    symbols
}

/// When the packets of a message of theirs arrived, in quarters of a millisecond.
fn their_quarters(message: &TransportLayerCc) -> Vec<Option<i64>> {
    let mut at = i64::from(message.reference_time) * 256;
    let mut deltas = message.recv_deltas.iter();
    let symbols = their_symbols(message).into_iter();
    symbols
        .map(|symbol| {
            (symbol != SymbolTypeTcc::PacketNotReceived).then(|| {
                at += deltas.next().unwrap().delta / 250;
                at
            })
        })
        .collect()
}

/// Chunks of any kind with as many deltas as they call for. Their reader counts symbols of a vector beyond the
/// count as packets, so the count is that of all symbols.
fn any_message_of_theirs() -> impl Strategy<Value = TransportLayerCc> {
    let symbol = prop_oneof![
        Just(SymbolTypeTcc::PacketNotReceived),
        Just(SymbolTypeTcc::PacketReceivedSmallDelta),
        Just(SymbolTypeTcc::PacketReceivedLargeDelta)
    ];
    let run = (symbol.clone(), 1..40u16).prop_map(|(packet_status_symbol, run_length)| {
        let type_tcc = StatusChunkTypeTcc::RunLengthChunk;
        PacketStatusChunk::RunLengthChunk(RunLengthChunk { type_tcc, packet_status_symbol, run_length })
    });
    let vector = |symbol_size, symbol_list| {
        let type_tcc = StatusChunkTypeTcc::StatusVectorChunk;
        PacketStatusChunk::StatusVectorChunk(StatusVectorChunk { type_tcc, symbol_size, symbol_list })
    };
    let one_bit = vec(any::<bool>(), 14).prop_map(move |bits| {
        let symbols = bits.iter().map(|&bit| SymbolTypeTcc::from(u16::from(bit)));
        vector(SymbolSizeTypeTcc::OneBit, symbols.collect())
    });
    let two_bits = vec(symbol, 7).prop_map(move |list| vector(SymbolSizeTypeTcc::TwoBit, list));
    let chunks = vec(prop_oneof![run, one_bit, two_bits], 1..10);
    (any::<(u32, u32, u16, u8)>(), 0..1u32 << 23, chunks, vec(any::<(u8, i16)>(), 400)).prop_map(
        |((sender_ssrc, media_ssrc, base_sequence_number, fb_pkt_count), reference_time, chunks, deltas)| {
            let mut message = TransportLayerCc {
                sender_ssrc,
                media_ssrc,
                base_sequence_number,
                packet_status_count: u16::MAX,
                reference_time,
                fb_pkt_count,
                packet_chunks: chunks,
                recv_deltas: Vec::new(),
            };
            // As many deltas as symbols of received packets, or the message is malformed.
            let symbols = their_symbols(&message);
            message.packet_status_count = symbols.len() as u16;
            let received = symbols.into_iter().filter(|symbol| *symbol != SymbolTypeTcc::PacketNotReceived);
            message.recv_deltas = received
                .zip(deltas)
                .map(|(symbol, (small, large))| {
                    let is_small = symbol == SymbolTypeTcc::PacketReceivedSmallDelta;
                    let delta = if is_small { i64::from(small) } else { i64::from(large) };
                    RecvDelta { type_tcc_packet: symbol, delta: 250 * delta }
                })
                .collect();
            message
        },
    )
}

/// When the packets of a message read by Weir arrived, in quarters of a millisecond.
fn our_quarters(message: &Twcc<'_>) -> Vec<Option<i64>> {
    let reference = i64::from(message.reference_time) * 256;
    let quarter = |reception| match reception {
        PacketStatus::Missing => None,
        PacketStatus::At(ticks) => Some(reference + i64::from(ticks)),
        PacketStatus::Untimed => panic!("every message here has times"),
    };
    message.statuses().map(|(_, reception)| quarter(reception)).collect()
}

/// A metric in the type of the other implementation.
fn their_metric(metric: Option<MetricBlock>) -> CcFeedbackMetricBlock {
    let ecn = |ecn| match ecn {
        0 => Ecn::NotEct,
        1 => Ecn::Ect1,
        2 => Ecn::Ect0,
        _ => Ecn::Ce,
    };
    metric.map_or_else(CcFeedbackMetricBlock::default, |metric| CcFeedbackMetricBlock {
        received: true,
        ecn: ecn(metric.ecn),
        arrival_time_offset: metric.offset,
    })
}

proptest! {
    #[test]
    fn transport_wide_feedback_of_ours_is_read_by_others(
        (ssrc, source, base_sequence, number) in any::<(u32, u32, u16, u8)>(),
        quarters in any_quarters(),
    ) {
        let header = TwccHeader { ssrc, source, base_sequence, number };
        let mut bytes = [0; 1200];
        let times = quarters.iter().map(|quarter| quarter.map(|quarter| quarter * 250_000));
        let written = Twcc::write(&header, times, &mut bytes).unwrap();
        let bytes = &bytes[..written.length];
        let theirs = TransportLayerCc::unmarshal(&mut &bytes[..]).unwrap();
        prop_assert_eq!(
            (theirs.sender_ssrc, theirs.media_ssrc, theirs.base_sequence_number, theirs.fb_pkt_count),
            (ssrc, source, base_sequence, number)
        );
        prop_assert_eq!(usize::from(theirs.packet_status_count), written.packets);
        prop_assert_eq!(&their_quarters(&theirs)[..], &quarters[..written.packets]);
        // What they read they write in the same bytes.
        let again = theirs.marshal().unwrap();
        prop_assert_eq!(&again[..], bytes);
    }

    #[test]
    fn transport_wide_feedback_of_others_is_read_by_us(theirs in any_message_of_theirs()) {
        let bytes = theirs.marshal().unwrap();
        let Message::Twcc(ours) = only_message(&bytes) else { panic!("transport-wide feedback") };
        prop_assert_eq!(
            (ours.ssrc, ours.source, ours.base_sequence, ours.number),
            (theirs.sender_ssrc, theirs.media_ssrc, theirs.base_sequence_number, theirs.fb_pkt_count)
        );
        prop_assert_eq!(ours.reference_time as u32, theirs.reference_time);
        prop_assert_eq!(our_quarters(&ours), their_quarters(&theirs));
    }

    #[test]
    fn feedback_of_rfc_8888_is_the_same_in_both(
        (ssrc, timestamp) in any::<(u32, u32)>(),
        streams in vec((any::<(u32, u16)>(), vec(prop::option::of((0..4u8, 0..0x2000u16)), 0..60)), 0..5),
    ) {
        let metric = |(ecn, offset)| MetricBlock { ecn, offset };
        let mut our_bytes = [0; 1000];
        let mut writer = CcfbWriter::new(&mut our_bytes);
        let mut theirs =
            CcFeedbackReport { sender_ssrc: ssrc, report_blocks: Vec::new(), report_timestamp: timestamp };
        for ((source, begin), metrics) in &streams {
            let metrics: Vec<_> = metrics.iter().map(|arrival| arrival.map(metric)).collect();
            writer.stream(*source, *begin, metrics.iter().copied()).unwrap();
            theirs.report_blocks.push(CcFeedbackReportBlock {
                media_ssrc: *source,
                begin_sequence: *begin,
                metric_blocks: metrics.into_iter().map(their_metric).collect(),
            });
        }
        let length = writer.finish(ssrc, timestamp).unwrap();
        let their_bytes = theirs.marshal().unwrap();
        prop_assert_eq!(&their_bytes[..], &our_bytes[..length]);
        let read_by_them = CcFeedbackReport::unmarshal(&mut &our_bytes[..length]).unwrap();
        prop_assert_eq!(&read_by_them, &theirs);

        let Message::Ccfb(ours) = only_message(&their_bytes) else { panic!("congestion control feedback") };
        let blocks = ours.blocks().map(|block| CcFeedbackReportBlock {
            media_ssrc: block.source,
            begin_sequence: block.begin_sequence,
            metric_blocks: block.metrics().map(|(_, metric)| their_metric(metric)).collect(),
        });
        prop_assert_eq!(blocks.collect::<Vec<_>>(), theirs.report_blocks);
    }

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
            stamp: rtt.map(|rtt| StampExtension { rtt, rate: 0 }),
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
