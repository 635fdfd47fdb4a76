//! Datagrams of RTCP packets.

use weir_wire::rtcp::{
    Ccfb, CcfbWriter, Message, Nack, ReceiverReport, Remb, ReportBlock, SenderReport, Twcc, TwccHeader,
    compound, messages,
};
use weir_wire::{ParseError, WriteError};

use super::answered;

/// Longer than any written message: 65 536 metrics of 16 bits and more.
const ROOM: usize = 300_000;

pub(crate) fn run(data: &[u8]) {
    let mut end = 0;
    for packet in compound(data) {
        let Some(packet) = answered(data, packet) else { break };
        assert_eq!(packet.offset, end, "packets follow each other");
        end += 4 + packet.padded_body.len();
        assert!(end <= data.len() && packet.padded_body.len().is_multiple_of(4));
        answered(data, packet.body());
    }
    for message in messages(data) {
        if let Some(message) = answered(data, message) {
            let _ssrc = message.ssrc();
            write_again(&message);
        }
    }
}

/// A message that was read is written and read again.
fn write_again(message: &Message<'_>) {
    let mut room = vec![0xEE; ROOM];
    let room = room.as_mut_slice();
    match message {
        Message::SenderReport(report) => {
            let blocks: Vec<ReportBlock> = report.blocks().collect();
            let length = SenderReport::write(report.ssrc, &report.info, &blocks, room);
            let Message::SenderReport(again) = read(room, length) else { panic!("{message:?}") };
            assert!(again.blocks().eq(blocks) && (again.ssrc, again.info) == (report.ssrc, report.info));
        }
        Message::ReceiverReport(report) => {
            let blocks: Vec<ReportBlock> = report.blocks().collect();
            let length = ReceiverReport::write(report.ssrc, &blocks, room);
            let Message::ReceiverReport(again) = read(room, length) else { panic!("{message:?}") };
            assert!(again.blocks().eq(blocks) && again.ssrc == report.ssrc);
        }
        Message::Remb(remb) => {
            let sources: Vec<u32> = remb.ssrcs().collect();
            let length = Remb::write(remb.sender_ssrc, remb.bitrate, &sources, room);
            let Message::Remb(again) = read(room, length) else { panic!("{message:?}") };
            assert!(again.ssrcs().eq(sources) && again.sender_ssrc == remb.sender_ssrc);
            // Rates of 2^63 bit/s and above are read as the highest `i64`, of which 18 bits are written.
            let saturated = remb.bitrate == i64::MAX as u64;
            assert!(again.bitrate == remb.bitrate || saturated && again.bitrate >= remb.bitrate - (1 << 45));
        }
        Message::Twcc(feedback) => write_transport_wide(feedback, room),
        Message::Ccfb(feedback) => write_rfc_8888(feedback, room),
        Message::Own(report) => {
            same(message, report.write(room), room);
        }
        Message::Pli(request) => same(message, request.write(room), room),
        Message::Nack(request) => {
            let mut sequences: Vec<u16> = request.sequences().collect();
            sequences.sort_unstable();
            sequences.dedup();
            if !sequences.is_empty() {
                let written = Nack::write(request.ssrc, request.source, sequences.iter().copied(), room);
                let Message::Nack(again) = read(room, written.map(|(length, _)| length)) else {
                    panic!("{message:?}")
                };
                assert!(again.sequences().eq(sequences) && again.source == request.source);
            }
        }
        Message::Nada(report) => same(message, report.write(room), room),
        Message::Tfrc(report) => same(message, report.write(room), room),
        Message::Dccc(report) => same(message, report.write(room), room),
        Message::NadaDelay(report) => same(message, report.write(room), room),
        Message::Sbd(report) => same(message, report.write(room), room),
        _ => {}
    }
}

/// The one message in the first `length` bytes of `room`.
fn read<E: core::fmt::Debug>(room: &[u8], length: Result<usize, E>) -> Message<'_> {
    let bytes = &room[..length.expect("what was read has room")];
    let mut all = messages(bytes);
    let first = all.next().map(|message| message.expect("what was written can be read"));
    assert!(all.next().is_none(), "one message was written");
    first.expect("one message was written")
}

fn same<E: core::fmt::Debug>(message: &Message<'_>, length: Result<usize, E>, room: &[u8]) {
    assert_eq!(read(room, length), *message);
}

/// The statuses of transport-wide feedback. A rewritten message may take several messages: times are rounded to
/// the nearest step, which they already are.
fn write_transport_wide(feedback: &Twcc<'_>, room: &mut [u8]) {
    let statuses: Vec<_> = feedback.statuses().collect();
    assert_eq!(statuses.len(), usize::from(feedback.status_count));
    let reference = feedback.reference_nanos();
    let arrival = |reception: weir_wire::rtcp::PacketStatus| reception.nanos().map(|nanos| reference + nanos);
    let arrivals: Vec<Option<i64>> = statuses.iter().map(|&(_, reception)| arrival(reception)).collect();
    let (mut begin, mut messages) = (0, 0);
    while begin < arrivals.len() {
        let header = TwccHeader {
            ssrc: feedback.ssrc,
            source: feedback.source,
            base_sequence: statuses[begin].0,
            number: feedback.number,
        };
        let rest = arrivals[begin..].iter().copied();
        let written = Twcc::write(&header, rest, room).expect("there is room");
        assert!(written.packets > 0 && written.length <= Twcc::MAX_LEN);
        let Message::Twcc(again) = read(room, Ok::<_, WriteError>(written.length)) else {
            panic!("{feedback:?}")
        };
        assert_eq!(
            (again.ssrc, again.source, again.number),
            (feedback.ssrc, feedback.source, feedback.number)
        );
        let reference = again.reference_nanos();
        for ((sequence, reception), index) in again.statuses().zip(begin..) {
            assert_eq!(sequence, statuses[index].0);
            // Reference times repeat.
            let read = reception.nanos().map(|nanos| (reference + nanos).rem_euclid(Twcc::PERIOD_NANOS));
            assert_eq!(read, arrivals[index].map(|nanos| nanos.rem_euclid(Twcc::PERIOD_NANOS)), "{index}");
        }
        assert_eq!(usize::from(again.status_count), written.packets);
        begin += written.packets;
        messages += 1;
        // Messages of gaps of 8 s are short: a few of them suffice as a check of the writer.
        if messages == 64 {
            break;
        }
    }
}

fn write_rfc_8888(feedback: &Ccfb<'_>, room: &mut [u8]) {
    let mut writer = CcfbWriter::new(room);
    for block in feedback.blocks() {
        let metrics: Vec<_> = block.metrics().map(|(_, metric)| metric).collect();
        if let Err(error) = writer.stream(block.source, block.begin_sequence, metrics.into_iter()) {
            // RFC 8888 allows 16 384 packets of a stream; more are read.
            assert!(block.metrics().len() > 16_384, "{error:?}");
            return;
        }
    }
    let length = writer.finish(feedback.ssrc, feedback.timestamp);
    // Blocks without a packet may be read as blocks of one.
    let again = messages(&room[..length.expect("there is room")]).next();
    let again: Result<Message<'_>, ParseError> = again.expect("a message was written");
    let Ok(Message::Ccfb(again)) = again else { panic!("{feedback:?}") };
    assert_eq!((again.ssrc, again.timestamp), (feedback.ssrc, feedback.timestamp));
    assert_eq!(again.blocks().count(), feedback.blocks().count());
    for (again, block) in again.blocks().zip(feedback.blocks()) {
        assert_eq!((again.source, again.begin_sequence), (block.source, block.begin_sequence));
        assert!(again.metrics().eq(block.metrics()));
    }
}
