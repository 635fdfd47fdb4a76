//! Congestion control feedback (`rtcp::ccfb`, RFC 8888), by its bytes.

use super::*;
use crate::error::{BufferTooSmall, WriteError};
use crate::rtcp::compound;
use crate::testing::hex;

fn parse(bytes: &[u8]) -> Result<Ccfb<'_>, ParseError> {
    Ccfb::parse(&compound(bytes).next().unwrap()?)
}

type StreamMetrics = Vec<(u16, Option<MetricBlock>)>;

fn metrics_by_stream(ccfb: &Ccfb<'_>) -> Vec<(u32, StreamMetrics)> {
    ccfb.blocks().map(|block| (block.source, block.metrics().collect())).collect()
}

#[expect(clippy::unnecessary_wraps, reason = "the type of a metric in a message")]
const fn received(ecn: u8, offset: u16) -> Option<MetricBlock> {
    Some(MetricBlock { ecn, offset })
}

/// A message about streams with the number of their first packet.
fn written(ssrc: u32, timestamp: u32, streams: &[(u32, u16, &[Option<MetricBlock>])]) -> Vec<u8> {
    let mut buffer = [0xEE; 100];
    let mut writer = CcfbWriter::new(&mut buffer);
    for &(source, begin_sequence, metrics) in streams {
        writer.stream(source, begin_sequence, metrics.iter().copied()).unwrap();
    }
    let length = writer.finish(ssrc, timestamp).unwrap();
    buffer[..length].to_vec()
}

#[test]
fn a_report_may_be_about_nothing() {
    let bytes = hex("8b cd 00 02 00 00 00 01 00 00 00 01");
    let ccfb = parse(&bytes).unwrap();
    assert_eq!((ccfb.ssrc, ccfb.timestamp, ccfb.blocks().count()), (1, 1, 0));
    // 1/65536 s = 15 258.8 ns.
    assert_eq!(ccfb.timestamp_nanos(), 15_259);
    assert_eq!(written(1, 1, &[]), bytes);
}

#[test]
fn two_streams_of_which_one_is_filled_up() {
    let bytes = hex(concat!(
        "8b cd 00 0a 00 00 00 01 00 00 00 01 00 02 00 04 9f fd 9f fc 00 00 00 00 ",
        "00 00 00 02 00 02 00 03 9f fd 9f fc 00 00 00 00 00 00 00 01"
    ));
    let ccfb = parse(&bytes).unwrap();
    let (a, b) = (received(0, 8189), received(0, 8188));
    let first = vec![(2, a), (3, b), (4, None), (5, None)];
    let second = vec![(2, a), (3, b), (4, None)];
    assert_eq!((ccfb.ssrc, ccfb.timestamp), (1, 1));
    assert_eq!(metrics_by_stream(&ccfb), [(1, first), (2, second)]);
    assert_eq!(written(1, 1, &[(1, 2, &[a, b, None, None]), (2, 2, &[a, b, None])]), bytes);
}

#[test]
fn numbers_wrap_and_marks_are_reported() {
    let bytes = hex(concat!(
        "8b cd 00 07 12 34 56 78 ca fe ba be ff fe 00 05 a2 00 a0 0a 00 00 e0 01 ",
        "df fe 00 00 b7 10 80 00"
    ));
    let ccfb = parse(&bytes).unwrap();
    // 0xb7108000 / 65536 = 46 864.5 s.
    assert_eq!((ccfb.ssrc, ccfb.timestamp_nanos()), (0x1234_5678, 46_864_500_000_000));
    let metrics = [received(1, 512), received(1, 10), None, received(3, 1), received(2, 0x1FFE)];
    let expected: StreamMetrics = [65_534, 65_535, 0, 1, 2].into_iter().zip(metrics).collect();
    assert_eq!(metrics_by_stream(&ccfb), [(0xCAFE_BABE, expected)]);
    let offsets = metrics.map(|metric| metric.and_then(MetricBlock::offset_nanos));
    // 512, 10 and 1 of 1024 s.
    assert_eq!(offsets, [Some(500_000_000), Some(9_765_625), None, Some(976_562), None]);
    assert_eq!(written(0x1234_5678, 0xB710_8000, &[(0xCAFE_BABE, 65_534, &metrics)]), bytes);
}

#[test]
fn a_message_may_name_a_stream_without_packets() {
    let bytes = hex(concat!(
        "8b cd 00 07 12 34 56 78 ca fe ba be 00 03 00 00 0b ad f0 0d 00 64 00 01 ",
        "80 00 00 00 b7 10 80 00"
    ));
    let ccfb = parse(&bytes).unwrap();
    let expected = [(0xCAFE_BABE, vec![]), (0x0BAD_F00D, vec![(100, received(0, 0))])];
    assert_eq!(metrics_by_stream(&ccfb), expected);
    let streams: [(u32, u16, &[_]); 2] = [(0xCAFE_BABE, 3, &[]), (0x0BAD_F00D, 100, &[received(0, 0)])];
    assert_eq!(written(0x1234_5678, 0xB710_8000, &streams), bytes);
}

#[test]
fn metrics_are_16_bits() {
    let cases = [
        (0x0000, None),
        (0x8000, received(0, 0)),
        (0x9FFD, received(0, 8189)),
        (0x9FFE, received(0, MetricBlock::OVER_RANGE)),
        (0x9FFF, received(0, MetricBlock::UNAVAILABLE)),
        (0xFFF8, received(3, 8184)),
    ];
    for (word, metric) in cases {
        assert_eq!(MetricBlock::from_word(word), metric);
        assert_eq!(metric.map_or(0, MetricBlock::word), word);
    }
    // Not received: the other bits have no meaning.
    assert_eq!((MetricBlock::from_word(0x6200), MetricBlock::from_word(0x2200)), (None, None));
    // Values out of range do not spill over.
    assert_eq!(MetricBlock { ecn: 0xFF, offset: 0xFFFF }.word(), 0xFFFF);
    assert_eq!(MetricBlock { ecn: 0, offset: 0xFFFF }.word(), 0x9FFF);
}

#[test]
fn an_offset_is_rounded_down_and_known_up_to_8_seconds() {
    let offset = MetricBlock::offset_from_nanos;
    assert_eq!((offset(0), offset(-1), offset(i64::MIN)), (0, 0x1FFF, 0x1FFF));
    // 1/1024 s = 976 562.5 ns.
    assert_eq!((offset(976_562), offset(976_563), offset(1_953_124)), (0, 1, 1));
    // 8189/1024 s = 7 997 070 312.5 ns, 8190/1024 s = 7 998 046 875 ns.
    assert_eq!((offset(7_997_070_313), offset(7_998_046_874)), (8189, 8189));
    assert_eq!((offset(7_998_046_875), offset(i64::MAX)), (0x1FFE, 0x1FFE));
}

#[test]
fn a_number_of_reports_less_one_is_understood() {
    // Three packets, counted as two, and one, counted as none: only that reading fits.
    let odd = hex(concat!(
        "8b cd 00 09 00 00 00 01 00 00 00 07 00 02 00 02 80 01 80 02 80 03 00 00 ",
        "00 00 00 08 00 05 00 00 80 04 00 00 00 00 00 09"
    ));
    let three = vec![(2, received(0, 1)), (3, received(0, 2)), (4, received(0, 3))];
    let ccfb = parse(&odd).unwrap();
    assert_eq!(metrics_by_stream(&ccfb), [(7, three), (8, vec![(5, received(0, 4))])]);
    assert_eq!(ccfb.timestamp, 9);
    // Four packets, counted as three: both readings fit, and the supposed padding has the bit of a packet
    // received.
    let even = hex("8b cd 00 06 00 00 00 01 00 00 00 02 00 0a 00 03 80 01 80 02 80 03 80 04 00 00 00 00");
    let four = (10..14).map(|sequence| (sequence, received(0, sequence - 9))).collect();
    assert_eq!(metrics_by_stream(&parse(&even).unwrap()), [(2, four)]);
}

#[test]
fn one_block_with_a_packet_in_its_padding_decides_for_all() {
    // Of the other stream the last packet has not been received, as its word of zeros shows.
    let both = hex(concat!(
        "8b cd 00 08 00 00 00 01 00 00 00 07 00 02 00 01 80 01 00 00 ",
        "00 00 00 08 00 05 00 01 80 01 80 02 00 00 00 09"
    ));
    let first = vec![(2, received(0, 1)), (3, None)];
    let second = vec![(5, received(0, 1)), (6, received(0, 2))];
    assert_eq!(metrics_by_stream(&parse(&both).unwrap()), [(7, first), (8, second)]);
}

#[test]
fn the_number_of_reports_is_that_of_the_packets_where_padding_holds_none() {
    let number_of_packets =
        |text| parse(&hex(text)).unwrap().blocks().map(|b| b.metrics().len()).sum::<usize>();
    // Padding of zeros, and one without the bit of a packet received.
    assert_eq!(
        number_of_packets("8b cd 00 05 00 00 00 01 00 00 00 07 00 02 00 01 80 01 00 00 00 00 00 09"),
        1
    );
    assert_eq!(
        number_of_packets("8b cd 00 05 00 00 00 01 00 00 00 07 00 02 00 01 80 01 7f ff 00 00 00 09"),
        1
    );
    // A packet received in the padding of one block, but only this reading fits the other block.
    let only_as_written = concat!(
        "8b cd 00 08 00 00 00 01 00 00 00 07 00 02 00 01 80 01 80 02 ",
        "00 00 00 08 00 05 00 02 80 01 80 02 00 00 00 09"
    );
    assert_eq!(number_of_packets(only_as_written), 3);
}

#[test]
fn blocks_that_do_not_fit_are_refused() {
    let error = |text| parse(&hex(text)).unwrap_err();
    assert_eq!(
        error("8b cd 00 05 00 00 00 01 00 00 00 07 00 02 00 04 80 01 80 02 00 00 00 09"),
        ParseError::TooShort { offset: 16, needed: 8, available: 4 }
    );
    assert_eq!(
        error("8b cd 00 03 00 00 00 01 00 00 00 07 00 02 00 00"),
        ParseError::TooShort { offset: 12, needed: 2, available: 0 }
    );
    assert_eq!(error("8b cd 00 01 00 00 00 01"), ParseError::TooShort { offset: 8, needed: 4, available: 0 });
    assert_eq!(
        error("8f cd 00 02 00 00 00 01 00 00 00 01"),
        ParseError::Format { offset: 0, found: 15, expected: 11 }
    );
    assert_eq!(
        error("8b ce 00 02 00 00 00 01 00 00 00 01"),
        ParseError::PacketType { offset: 1, found: 206, expected: 205 }
    );
}

#[test]
fn as_many_packets_fit_as_are_promised() {
    let mut buffer = [0xEE; 1200];
    for room in 20..=200 {
        let most = Ccfb::most_packets(room);
        let write = |packets: usize, buffer: &mut [u8]| {
            Ccfb::write(1, 2, 3, 4, vec![None; packets].into_iter(), &mut buffer[..room])
        };
        assert_eq!(write(most, &mut buffer), Ok(Ccfb::wire_len(most)));
        assert!(write(most + 1, &mut buffer).is_err(), "{} in {room} bytes", most + 1);
    }
    assert_eq!((Ccfb::most_packets(0), Ccfb::most_packets(19)), (0, 0));
    assert_eq!(Ccfb::most_packets(usize::MAX), 16_384);
}

#[test]
fn a_further_stream_has_as_many_packets_as_are_promised() {
    for room in 20..=200 {
        let (mut buffer, mut promised) = ([0xEE; 200], Vec::new());
        let mut writer = CcfbWriter::new(&mut buffer[..room]);
        for packets in [3, 5, usize::MAX] {
            let most = writer.most_packets();
            assert!(writer.stream(1, 2, vec![None; most + 1].into_iter()).is_err(), "in {room} bytes");
            if most > 0 {
                promised.push(most.min(packets));
                writer.stream(1, 2, vec![None; most.min(packets)].into_iter()).unwrap();
            }
        }
        let length = writer.finish(9, 8).unwrap();
        let written = metrics_by_stream(&parse(&buffer[..length]).unwrap());
        assert!(written.iter().map(|(_, metrics)| metrics.len()).eq(promised), "in {room} bytes");
    }
}

#[test]
fn streams_that_do_not_fit_are_left_out() {
    let mut buffer = [0xEE; 30];
    let mut writer = CcfbWriter::new(&mut buffer);
    writer.stream(1, 2, [received(0, 1)].into_iter()).unwrap();
    let too_small = WriteError::BufferTooSmall(BufferTooSmall { needed: 32, available: 30 });
    assert_eq!(writer.stream(2, 2, [].into_iter()), Err(too_small));
    assert_eq!(writer.finish(9, 8), Ok(24));
    assert_eq!(metrics_by_stream(&parse(&buffer[..24]).unwrap()), [(1, vec![(2, received(0, 1))])]);

    let too_many = WriteError::TooMany { what: "packets of a stream", count: 16_385, limit: 16_384 };
    let metrics = vec![None; 16_385];
    assert_eq!(Ccfb::write(1, 2, 3, 4, metrics.into_iter(), &mut buffer), Err(too_many));
    let too_small = BufferTooSmall { needed: 12, available: 11 };
    assert_eq!(CcfbWriter::new(&mut buffer[..11]).finish(1, 2), Err(too_small));
}
