//! No parser panics or loops, whatever the bytes; and what was written is read back.

use proptest::collection::vec;
use proptest::prelude::*;
use weir_wire::rtcp::{
    self, Ccfb, Dccc, Message, Metric, Nada, NadaDelay, ReceiverReport, Reception, Remb, ReportBlock, Sbd,
    SenderInfo, SenderReport, Tfrc, Twcc, TwccHeader,
};
use weir_wire::rtp::{self, RtpHeader, RtpPacket};
use weir_wire::seq::{self, TimestampUnwrapper, Unwrapper};
use weir_wire::tcp_in_udp::{self, ConnectionId, Connections, Flags, Header, Named, Ports, Setup};
use weir_wire::{AbsSendTime, AbsSendTimeUnwrapper, Extension, ExtensionIds, MediaHeader, NtpTime, ntp};

/// Reads everything that can be read from `bytes`, and checks that nothing reaches outside of them.
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

/// Reads TCP in UDP; what could be read is written as it was but for bits that mean nothing.
fn read_segment(bytes: &[u8]) -> Result<(), TestCaseError> {
    match Header::parse(bytes) {
        Ok((header, payload)) => {
            let kind = tcp_in_udp::demux(bytes);
            prop_assert!(matches!(kind, Some(tcp_in_udp::Kind::Segment | tcp_in_udp::Kind::SegmentOrRtp)));
            prop_assert_eq!(header.wire_len() + payload.len(), bytes.len());
            prop_assert_eq!(header.setup().is_some(), matches!(header.named, Named::Ports(_)));
            prop_assert!(tcp_in_udp::options(header.options).count() <= header.options.len() / 2 + 1);
            let mut written = vec![0xEE; header.wire_len()];
            prop_assert_eq!(header.write(&mut written), Ok(written.len()));
            prop_assert_eq!(Header::parse(&written), Ok((header, &[][..])));
            let meaningless = if header.setup().is_some() { (0x0F, 0x20) } else { (0, 0) };
            prop_assert_eq!((written[0], written[1]), (bytes[0] & !meaningless.0, bytes[1] & !meaningless.1));
            prop_assert_eq!(&written[2..], &bytes[2..written.len()]);
        }
        Err(error) => prop_assert!(error.offset() <= bytes.len() && !error.to_string().is_empty()),
    }
    Ok(())
}

fn read_packet(packet: &rtcp::RtcpPacket<'_>, datagram_len: usize) -> Result<(), TestCaseError> {
    let _ = packet.body();
    let _ = (SenderReport::parse(packet), ReceiverReport::parse(packet));
    let _ = (
        Remb::parse(packet),
        Nada::parse(packet),
        NadaDelay::parse(packet),
        Dccc::parse(packet),
        Tfrc::parse(packet),
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
        Ok(Message::Nada(report)) => prop_assert!(report.congestion <= Nada::MAX_CONGESTION),
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
    prop_oneof![rtp, rtcp.clone(), feedback, segments(), vec(rtcp, 1..4).prop_map(|packets| packets.concat())]
}

/// Bytes that begin like transport-wide feedback or that of RFC 8888, and are about as long as they say.
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

/// Bytes that begin like TCP in UDP, about as long as their data offset says.
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

/// Packets in a row: how many were lost before each that arrived, and by how many ns it came after the one before.
fn arrivals() -> impl Strategy<Value = Vec<Option<i64>>> {
    let lost = prop_oneof![8 => Just(0), 2 => 0..4usize, 1 => 0..40usize, 1 => 0..9000usize];
    let after = prop_oneof![
        8 => 0..60_000_000i64,
        2 => -30_000_000..300_000_000i64,
        1 => -9_000_000_000..9_000_000_000i64,
    ];
    // Within 24 bits of 64 ms.
    (-500_000_000..500_000_000i64, vec((lost, after), 0..300)).prop_map(|(begin, steps)| {
        let mut at = begin * 1_000_000;
        let mut arrivals = Vec::new();
        for (lost, after) in steps {
            arrivals.resize(arrivals.len() + lost, None);
            at += after;
            arrivals.push(Some(at));
        }
        arrivals
    })
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

fn named_by(number: u8) -> Named {
    Named::Id(ConnectionId::new(number).unwrap())
}

fn only_message(bytes: &[u8]) -> Message<'_> {
    let mut messages = rtcp::messages(bytes);
    let message = messages.next().expect("a message").expect("a readable one");
    assert!(messages.next().is_none());
    message
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

proptest! {
    #[test]
    fn rtp_packets_are_read_as_written(
        (padding, marker, payload_type, sequence, timestamp, ssrc) in any::<(bool, bool, u8, u16, u32, u32)>(),
        csrcs in vec(any::<u32>(), 0..=15),
        elements in vec((1..=255u8, vec(any::<u8>(), 0..40)), 0..6),
        payload in vec(any::<u8>(), 0..40),
        padding_len in 1..=255usize,
    ) {
        let payload_type = payload_type & 0x7F;
        let extensions: Vec<_> = elements.iter().map(|(id, data)| Extension { id: *id, data }).collect();
        let header = RtpHeader {
            padding, marker, payload_type, sequence, timestamp, ssrc, csrcs: &csrcs, extensions: &extensions,
        };
        let mut bytes = vec![0; header.wire_len()];
        prop_assert_eq!(header.write(&mut bytes), Ok(header.wire_len()));
        bytes.extend(&payload);
        let padding_len = if padding { padding_len } else { 0 };
        let padding_start = bytes.len();
        bytes.resize(padding_start + padding_len, 0xEE);
        prop_assert!(rtp::write_padding(&mut bytes[padding_start..]).is_ok());

        let packet = RtpPacket::parse(&bytes).unwrap();
        prop_assert_eq!(
            (packet.marker, packet.payload_type, packet.sequence, packet.timestamp, packet.ssrc),
            (marker, payload_type, sequence, timestamp, ssrc)
        );
        prop_assert_eq!(packet.csrcs().collect::<Vec<_>>(), csrcs);
        prop_assert_eq!(packet.extensions().collect::<Vec<_>>(), extensions);
        prop_assert_eq!(packet.extension_block.is_some(), !elements.is_empty());
        prop_assert_eq!((packet.payload, usize::from(packet.padding)), (&payload[..], padding_len));
    }

    #[test]
    fn sender_reports_are_read_as_written(
        (ssrc, ntp, rtp_timestamp, packet_count, octet_count) in any::<(u32, u64, u32, u32, u32)>(),
        blocks in vec(any_block(), 0..=31),
    ) {
        let info = SenderInfo { ntp: NtpTime(ntp), rtp_timestamp, packet_count, octet_count };
        let mut bytes = vec![0; SenderReport::wire_len(blocks.len())];
        prop_assert_eq!(SenderReport::write(ssrc, &info, &blocks, &mut bytes), Ok(bytes.len()));
        let Message::SenderReport(report) = only_message(&bytes) else { panic!("a sender report") };
        prop_assert_eq!((report.ssrc, report.info), (ssrc, info));
        prop_assert_eq!(report.blocks().collect::<Vec<_>>(), blocks);
    }

    #[test]
    fn receiver_reports_are_read_as_written(ssrc: u32, blocks in vec(any_block(), 0..=31)) {
        let mut bytes = vec![0; ReceiverReport::wire_len(blocks.len())];
        prop_assert_eq!(ReceiverReport::write(ssrc, &blocks, &mut bytes), Ok(bytes.len()));
        let Message::ReceiverReport(report) = only_message(&bytes) else { panic!("a receiver report") };
        prop_assert_eq!(report.ssrc, ssrc);
        prop_assert_eq!(report.blocks().collect::<Vec<_>>(), blocks);
    }

    #[test]
    fn remb_keeps_18_bits_of_the_rate(ssrc: u32, rate: u64, shift in 1..64u32, ssrcs in vec(any::<u32>(), 0..20)) {
        let rate = rate >> shift;
        let mut bytes = vec![0; Remb::wire_len(ssrcs.len())];
        prop_assert_eq!(Remb::write(ssrc, rate, &ssrcs, &mut bytes), Ok(bytes.len()));
        let Message::Remb(remb) = only_message(&bytes) else { panic!("a REMB") };
        prop_assert_eq!(remb.sender_ssrc, ssrc);
        prop_assert_eq!(remb.ssrcs().collect::<Vec<_>>(), ssrcs);
        prop_assert!(remb.bitrate <= rate && rate - remb.bitrate <= rate >> 17);
    }

    #[test]
    fn nada_reports_are_read_as_written(
        (ssrc, source, ramp_up, transport_sequence) in any::<(u32, u32, bool, u16)>(),
        (receive_rate, held) in any::<(u32, u32)>(),
        congestion in 0..=Nada::MAX_CONGESTION,
    ) {
        let report = Nada { ssrc, source, ramp_up, congestion, transport_sequence, receive_rate, held };
        let mut bytes = [0; Nada::WIRE_LEN];
        prop_assert_eq!(report.write(&mut bytes), Ok(bytes.len()));
        prop_assert_eq!(only_message(&bytes), Message::Nada(report));
        prop_assert_eq!(Nada::congestion_from_nanos(report.congestion_nanos()), congestion);
        prop_assert_eq!(Nada::held_from_nanos(report.held_nanos()), held);
    }

    #[test]
    fn tfrc_reports_are_read_as_written(
        (ssrc, source, loss_event_rate, transport_sequence) in any::<(u32, u32, u32, u16)>(),
        (receive_rate, held) in any::<(u32, u32)>(),
    ) {
        let report = Tfrc { ssrc, source, loss_event_rate, receive_rate, held, transport_sequence };
        let mut bytes = [0; Tfrc::WIRE_LEN];
        prop_assert_eq!(report.write(&mut bytes), Ok(bytes.len()));
        prop_assert_eq!(only_message(&bytes), Message::Tfrc(report));
        prop_assert_eq!(Tfrc::loss_event_rate_from(report.loss_event_rate()), loss_event_rate);
    }

    #[test]
    fn transport_wide_feedback_is_read_as_written(
        (ssrc, source, mut base_sequence, mut number) in any::<(u32, u32, u16, u8)>(),
        arrivals in arrivals(),
        room in 24..1500usize,
    ) {
        let mut rest = &arrivals[..];
        let mut bytes = vec![0xEE; room];
        while !rest.is_empty() {
            let header = TwccHeader { ssrc, source, base_sequence, number };
            let written = Twcc::write(&header, rest.iter().copied(), &mut bytes).unwrap();
            prop_assert!(written.packets > 0 && written.length <= room.min(Twcc::MAX_LEN));
            let Message::Twcc(read) = only_message(&bytes[..written.length]) else { panic!("feedback") };
            prop_assert_eq!((read.ssrc, read.source, read.number), (ssrc, source, number));
            prop_assert_eq!((read.base_sequence, read.statuses().len()), (base_sequence, written.packets));
            let (told, after) = rest.split_at(written.packets);
            for ((sequence, reception), arrival) in read.statuses().zip(told) {
                prop_assert_eq!(sequence, base_sequence);
                match (reception, *arrival) {
                    (Reception::Missing, None) => {}
                    (Reception::At(_), Some(at)) => {
                        let seen = read.reference_nanos() + reception.nanos().unwrap();
                        prop_assert!((seen - at).abs() <= 125_000, "{} ns off", seen - at);
                    }
                    other => panic!("{other:?}"),
                }
                base_sequence = base_sequence.wrapping_add(1);
            }
            number = number.wrapping_add(1);
            rest = after;
        }
    }

    #[test]
    fn feedback_of_rfc_8888_is_read_as_written(
        (ssrc, timestamp) in any::<(u32, u32)>(),
        streams in vec((any::<(u32, u16)>(), vec(prop::option::of((0..4u8, 0..0x2000u16)), 0..60)), 0..5),
    ) {
        let streams: Vec<(u32, u16, Vec<Option<Metric>>)> = streams
            .into_iter()
            .map(|((source, begin), metrics)| {
                let metric = |(ecn, offset)| Metric { ecn, offset };
                (source, begin, metrics.into_iter().map(|told| told.map(metric)).collect())
            })
            .collect();
        let mut bytes = [0xEE; 1000];
        let mut writer = rtcp::CcfbWriter::new(&mut bytes);
        for (source, begin, metrics) in &streams {
            prop_assert_eq!(writer.stream(*source, *begin, metrics.iter().copied()), Ok(()));
        }
        let length = writer.finish(ssrc, timestamp).unwrap();
        let Message::Ccfb(read) = only_message(&bytes[..length]) else { panic!("feedback") };
        prop_assert_eq!((read.ssrc, read.timestamp), (ssrc, timestamp));
        let mut blocks = read.blocks();
        for (source, begin, metrics) in streams {
            let block = blocks.next().unwrap();
            prop_assert_eq!((block.source, block.begin_sequence), (source, begin));
            let expected: Vec<_> =
                metrics.into_iter().enumerate().map(|(n, told)| (begin.wrapping_add(n as u16), told)).collect();
            prop_assert_eq!(block.metrics().collect::<Vec<_>>(), expected);
        }
        prop_assert!(blocks.next().is_none());
    }

    #[test]
    fn segments_are_read_as_written(
        (syn, source, destination, flags, window) in any::<(bool, u16, u16, u8, u16)>(),
        (sequence, acknowledgment) in any::<(u32, u32)>(),
        id in 0..32u8,
        options in vec(Just(1u8), 0..=35),
        payload in vec(any::<u8>(), 0..40),
    ) {
        let setup = Setup::Use(ConnectionId::new(id).unwrap());
        let named = if syn { Named::Ports(Ports { source, destination }) } else { named_by(id) };
        let options = if syn { [options, setup.option().to_vec()].concat() } else { options };
        let flags = Flags::from_bits(flags);
        let header = Header { named, flags, window, sequence, acknowledgment, options: &options };
        let mut bytes = vec![0xEE; header.wire_len()];
        prop_assert_eq!(header.write(&mut bytes), Ok(header.wire_len()));
        bytes.extend(&payload);
        let (read, after) = Header::parse(&bytes).unwrap();
        prop_assert_eq!(after, &payload[..]);
        let (told, filled) = read.options.split_at(options.len());
        prop_assert!(told == options && filled.len() < 4 && filled.iter().all(|byte| *byte == 0));
        prop_assert_eq!(read.setup(), syn.then_some(setup));
        prop_assert_eq!(Header { options: &options, ..read }, header);
    }

    #[test]
    fn no_two_connections_have_one_number(
        steps in vec((0..5u8, 0..40u16, 0..32u8, 0..50i64), 0..300),
    ) {
        let mut table = Connections::new(100);
        let mut now = 0;
        for (step, port, number, later) in steps {
            now += later;
            let (ports, id) = (Ports { source: port, destination: 443 }, ConnectionId::new(number).unwrap());
            match step {
                0 => prop_assert_eq!(table.open(now, ports), table.id(now, ports)),
                1 => {
                    let taken = table.accept(now, id, ports);
                    prop_assert_eq!(taken == Setup::Use(id), table.id(now, ports) == Some(id));
                }
                2 => table.on_refused(ports),
                3 => table.close(now, id),
                _ => {
                    let unknown = table.unknown();
                    let found = table.on_segment(now, id);
                    prop_assert_eq!(found.and_then(|ports| table.id(now, ports)), found.map(|_| id));
                    prop_assert_eq!(table.unknown() - unknown, u64::from(found.is_none()));
                }
            }
        }
    }

    #[test]
    fn dccc_reports_are_read_as_written(
        (ssrc, source, packet_size, transport_sequence) in any::<(u32, u32, u16, u16)>(),
        (delay_nanos, made_nanos, interarrival, sending_rate, held) in any::<(i64, i64, u32, u32, u32)>(),
    ) {
        let report = Dccc {
            ssrc,
            source,
            delay_nanos,
            made_nanos,
            interarrival,
            sending_rate,
            packet_size,
            transport_sequence,
            held,
        };
        let mut bytes = [0; Dccc::WIRE_LEN];
        prop_assert_eq!(report.write(&mut bytes), Ok(bytes.len()));
        prop_assert_eq!(only_message(&bytes), Message::Dccc(report));
        prop_assert_eq!(Dccc::held_from_nanos(report.held_nanos()), held);
    }

    #[test]
    fn statistics_of_a_bottleneck_are_read_as_written(
        (ssrc, source, interval, samples) in any::<(u32, u32, u16, u16)>(),
        (defined, anew, bottleneck) in any::<(bool, bool, bool)>(),
        (skew, frequency, loss, variability, queuing) in any::<(i16, u16, u16, u32, u32)>(),
    ) {
        let report = Sbd {
            ssrc, source, interval, defined, anew, bottleneck, skew, frequency, variability, loss, samples, queuing,
        };
        let mut bytes = [0; Sbd::WIRE_LEN];
        prop_assert_eq!(report.write(&mut bytes), Ok(bytes.len()));
        prop_assert_eq!(only_message(&bytes), Message::Sbd(report));
        prop_assert_eq!(Sbd::skew_from(report.skew_ratio()), skew.clamp(-16_384, 16_384));
        prop_assert_eq!(Sbd::ratio_from(report.loss_ratio()), loss.min(32_768));
        prop_assert_eq!(Sbd::ratio_from(report.frequency_ratio()), frequency.min(32_768));
    }

    #[test]
    fn of_two_different_numbers_exactly_one_is_newer(a: u16, b: u16) {
        prop_assert_eq!(seq::newer(a, b) != seq::newer(b, a), a != b);
    }

    #[test]
    fn unwrapping_finds_any_number_within_half_a_circle_of_the_newest(
        steps in vec(-32768..32768i64, 0..200), first: u16,
    ) {
        let mut unwrapper = Unwrapper::new();
        prop_assert_eq!(unwrapper.unwrap(first), u64::from(first));
        let mut newest = i64::from(first);
        for step in steps {
            // Numbers before zero do not exist.
            let number = (newest + step).max(0);
            newest = newest.max(number);
            prop_assert_eq!(unwrapper.unwrap(number as u16), number as u64);
            prop_assert_eq!(unwrapper.newest(), Some(newest as u64));
        }
    }

    #[test]
    fn timestamps_are_never_lost(values in vec(any::<u32>(), 1..100)) {
        let mut unwrapper = TimestampUnwrapper::new();
        for value in values {
            prop_assert_eq!(unwrapper.unwrap(value) as u32, value);
        }
    }

    #[test]
    fn a_departure_is_known_to_half_a_tick(nanos: i64) {
        let time = AbsSendTime::from_nanos(nanos);
        let error = time.nanos() - nanos.rem_euclid(64_000_000_000);
        // 64 s and 0 are the same tick.
        prop_assert!(error.abs() <= 1908 || error.abs() >= 64_000_000_000 - 1908);
        prop_assert_eq!(AbsSendTime::from_nanos(time.nanos()), time);
    }

    #[test]
    fn departures_unwrap_to_their_distance_from_the_first(
        first in 0..1_000_000_000_000i64, steps in vec(-31_000_000_000..31_000_000_000i64, 1..100),
    ) {
        let mut unwrapper = AbsSendTimeUnwrapper::new();
        unwrapper.unwrap(AbsSendTime::from_nanos(first));
        let mut newest = first;
        for step in steps {
            let sent = newest + step;
            newest = newest.max(sent);
            let seen = unwrapper.unwrap(AbsSendTime::from_nanos(sent));
            prop_assert!((seen - (sent - first)).abs() <= 3816);
        }
    }

    #[test]
    fn any_moment_and_any_span_convert(nanos: i64, units: u32, (a, b, c) in any::<(u32, u32, u32)>()) {
        prop_assert!(NtpTime::from_unix_nanos(nanos).subsec_nanos() <= 1_000_000_000);
        prop_assert_eq!(ntp::units_from_nanos(ntp::nanos_from_units(units)), units);
        prop_assert_eq!(ntp::round_trip(a, b, c).is_none(), b == 0);
    }
}
