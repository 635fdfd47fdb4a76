//! The RTP header of Weir's endpoints (`media`), by its bytes.

use proptest::prelude::*;

use super::*;
use crate::rtp::{Extension, RtpHeader};
use crate::testing::hex;

const IDS: ExtensionIds =
    ExtensionIds { abs_send_time: 3, transport_sequence: 5, stamp: 7, frame_marking: 9 };

/// A header with all fixed fields set, and `stamp`.
fn example(stamp: Option<StampExtension>) -> MediaHeader {
    MediaHeader {
        payload_type: 96,
        marker: true,
        sequence: 65535,
        timestamp: 305_419_896,
        ssrc: 0xCAFE_BABE,
        abs_send_time: AbsSendTime::from_nanos(12_345_678_000),
        transport_sequence: 500,
        stamp,
        frame_marking: None,
        original: None,
    }
}

fn any_header() -> impl Strategy<Value = MediaHeader> {
    let fixed = (0..=127u8, any::<bool>(), any::<u16>(), any::<u32>(), any::<u32>());
    let rate = prop_oneof![Just(0), any::<u32>()];
    let stamp = prop::option::of((any::<u16>(), rate).prop_map(|(rtt, rate)| StampExtension { rtt, rate }));
    let marking = prop::option::of(any::<u8>().prop_map(FrameMarking::from_byte));
    (fixed, any::<u32>(), any::<u16>(), stamp, marking).prop_map(
        |(
            (payload_type, marker, sequence, timestamp, ssrc),
            ticks,
            transport_sequence,
            stamp,
            frame_marking,
        )| {
            MediaHeader {
                payload_type,
                marker,
                sequence,
                timestamp,
                ssrc,
                abs_send_time: AbsSendTime::from_ticks(ticks),
                transport_sequence,
                stamp,
                frame_marking,
                original: None,
            }
        },
    )
}

fn any_ids() -> impl Strategy<Value = ExtensionIds> {
    [1..=14u8, 1..=14u8, 1..=14u8, 1..=14u8]
        .prop_filter_map("distinct IDs", |[a, b, c, d]| ExtensionIds::new(a, b, c, d).ok())
}

proptest! {
    #[test]
    fn header_and_bytes_are_the_same_thing(header in any_header(), ids in any_ids()) {
        let mut buffer = [0xEE; RATED_LEN];
        let length = header.write(&ids, &mut buffer).unwrap();
        prop_assert_eq!(length, header.wire_len());
        prop_assert!(buffer[length..].iter().all(|&byte| byte == 0xEE));
        prop_assert_eq!(MediaHeader::parse(&buffer[..length], &ids), Ok(header));
        let packet = RtpPacket::parse(&buffer[..length]).unwrap();
        prop_assert_eq!((packet.header_len(), packet.payload.len()), (length, 0));
    }

    #[test]
    fn the_general_writer_writes_the_same_bytes(header in any_header()) {
        let time = header.abs_send_time.ticks().to_be_bytes();
        let sequence = header.transport_sequence.to_be_bytes();
        let stamp = header.stamp.unwrap_or_default();
        let rtt_and_rate = [&stamp.rtt.to_be_bytes()[..], &stamp.rate.to_be_bytes()].concat();
        let marking = [header.frame_marking.unwrap_or_default().byte()];
        let mut extensions = vec![
            Extension { id: 3, data: &time[1..] },
            Extension { id: 5, data: &sequence },
        ];
        if header.stamp.is_some() {
            let data = if stamp.rate == 0 { &rtt_and_rate[..2] } else { &rtt_and_rate };
            extensions.push(Extension { id: 7, data });
        }
        if header.frame_marking.is_some() {
            extensions.push(Extension { id: 9, data: &marking });
        }
        let general = RtpHeader {
            marker: header.marker,
            payload_type: header.payload_type,
            sequence: header.sequence,
            timestamp: header.timestamp,
            ssrc: header.ssrc,
            extensions: &extensions,
            ..RtpHeader::default()
        };
        let (mut ours, mut theirs) = ([0; RATED_LEN], [0; RATED_LEN]);
        let length = header.write(&IDS, &mut ours).unwrap();
        prop_assert_eq!(general.write(&mut theirs), Ok(length));
        prop_assert_eq!(ours, theirs);
    }
}

#[test]
fn a_plain_header_has_24_bytes() {
    let mut buffer = [0xEE; 24];
    assert_eq!(example(None).write(&IDS, &mut buffer), Ok(24));
    let expected = hex("90 e0 ff ff 12 34 56 78 ca fe ba be be de 00 02 32 31 61 f9 51 01 f4 00");
    assert_eq!(buffer[..], expected);
    assert_eq!(MediaHeader::parse(&expected, &IDS), Ok(example(None)));
}

#[test]
fn a_stamped_header_has_28_bytes() {
    let mut buffer = [0xEE; 28];
    // 50 ms are 500 = 0x01f4 units of 100 us.
    let header = example(Some(StampExtension::new(50_000_000, 0)));
    assert_eq!(header.write(&IDS, &mut buffer), Ok(28));
    let expected = hex("90 e0 ff ff 12 34 56 78 ca fe ba be be de 00 03 32 31 61 f9 51 01 f4 71 01 f4 00 00");
    assert_eq!(buffer[..], expected);
    assert_eq!(MediaHeader::parse(&expected, &IDS), Ok(header));
}

#[test]
fn a_header_with_a_rate_has_32_bytes() {
    let mut buffer = [0xEE; 32];
    // 1 500 000 = 0x16e360 bit/s; length 4 words.
    let header = example(Some(StampExtension::new(50_000_000, 1_500_000)));
    assert_eq!(header.write(&IDS, &mut buffer), Ok(32));
    let expected = hex(concat!(
        "90 e0 ff ff 12 34 56 78 ca fe ba be be de 00 04 32 31 61 f9 51 01 f4 75 01 f4 00 16 ",
        "e3 60 00 00"
    ));
    assert_eq!(buffer[..], expected);
    assert_eq!(MediaHeader::parse(&expected, &IDS), Ok(header));
}

#[test]
fn a_marked_header_has_28_bytes_and_with_a_rate_none_more() {
    let mut buffer = [0xEE; 28];
    // The first packet, and not the last, of a key frame.
    let marking = FrameMarking::new(true, false, true);
    let header = MediaHeader { frame_marking: Some(marking), ..example(None) };
    assert_eq!(header.write(&IDS, &mut buffer), Ok(28));
    let expected = hex("90 e0 ff ff 12 34 56 78 ca fe ba be be de 00 03 32 31 61 f9 51 01 f4 90 a0 00 00 00");
    assert_eq!(buffer[..], expected);
    assert_eq!(MediaHeader::parse(&expected, &IDS), Ok(header));
    let rated = MediaHeader { stamp: Some(StampExtension::new(50_000_000, 1_500_000)), ..header };
    assert_eq!(
        (rated.wire_len(), MediaHeader { stamp: Some(StampExtension::new(1, 0)), ..header }.wire_len()),
        (32, 28)
    );
}

#[test]
fn either_form_of_extensions_and_any_neighbours_are_read() {
    let bytes = hex("90 6f 00 00 00 00 03 c0 11 22 33 44 10 00 00 03 03 03 31 61 f9 05 02 01 f4 00 00 00 aa");
    let header = MediaHeader::parse(&bytes, &IDS).unwrap();
    assert_eq!((header.abs_send_time.ticks(), header.transport_sequence), (0x31_61F9, 500));
    assert_eq!((header.payload_type, header.timestamp, header.stamp), (111, 960, None));
}

#[test]
fn missing_and_misshapen_extensions_are_named() {
    let plain = hex("80 60 00 01 00 00 00 02 00 00 00 03");
    let missing = |id| Err(ParseError::MissingExtension { offset: 12, id });
    assert_eq!(MediaHeader::parse(&plain, &IDS), missing(3));
    let only_time = hex("90 60 00 01 00 00 00 02 00 00 00 03 be de 00 01 32 31 61 f9");
    assert_eq!(MediaHeader::parse(&only_time, &IDS), missing(5));
    let short_time = hex("90 60 00 01 00 00 00 02 00 00 00 03 be de 00 01 31 31 61 00");
    let misshapen = ParseError::ExtensionLength { offset: 12, id: 3, found: 2, expected: 3 };
    assert_eq!(MediaHeader::parse(&short_time, &IDS), Err(misshapen));
    let long_stamp = "90 60 00 01 00 00 00 02 00 00 00 03 be de 00 03 32 31 61 f9 51 01 f4 72 01 f4 00 00";
    let misshapen = ParseError::ExtensionLength { offset: 12, id: 7, found: 3, expected: 2 };
    assert_eq!(MediaHeader::parse(&hex(long_stamp), &IDS), Err(misshapen));
}

#[test]
fn a_small_buffer_is_left_as_it_was() {
    let mut buffer = [0xEE; 27];
    let error = example(Some(StampExtension::default())).write(&IDS, &mut buffer).unwrap_err();
    assert_eq!(error, BufferTooSmall { needed: 28, available: 27 });
    assert_eq!(buffer, [0xEE; 27]);
}

#[test]
fn the_stamp_rounds_saturates_and_keeps_a_short_path_known() {
    assert_eq!(StampExtension::new(0, 0).rtt, 0);
    assert_eq!(StampExtension::new(-5, 0).rtt, 0);
    assert_eq!(StampExtension::new(1, 0).rtt, 1);
    assert_eq!(StampExtension::new(149_999, 0).rtt, 1);
    assert_eq!(StampExtension::new(150_000, 0).rtt, 2);
    // 6.5535 s is the longest.
    assert_eq!(StampExtension::new(6_553_500_000, 0).rtt, 65535);
    assert_eq!(StampExtension::new(i64::MAX, 0).rtt, 65535);
    assert_eq!(StampExtension { rtt: 65535, rate: 0 }.rtt_nanos(), 6_553_500_000);
    assert_eq!(StampExtension::new(0, 4_294_967_295).rate, u32::MAX);
    assert_eq!(StampExtension::new(0, 4_294_967_296).rate, u32::MAX);
}

#[test]
fn ids_must_be_distinct_and_within_1_to_14() {
    assert_eq!(ExtensionIds::new(3, 5, 7, 9), Ok(ExtensionIds::default()));
    let wrong = [
        [0, 5, 7, 9],
        [3, 15, 7, 9],
        [3, 5, 16, 9],
        [3, 5, 7, 255],
        [3, 3, 7, 9],
        [3, 5, 7, 5],
        [9, 5, 7, 9],
    ];
    for [a, b, c, d] in wrong {
        assert!(ExtensionIds::new(a, b, c, d).is_err(), "{a} {b} {c} {d}");
    }
    assert_eq!(
        ExtensionIds::new(3, 3, 7, 9).unwrap_err().to_string(),
        "extension IDs 3 (abs-send-time), 3 (transport sequence), 7 (stamp) and 9 (frame marking) must be distinct and within \
         1 to 14"
    );
}

#[test]
fn udp_over_ipv4_adds_28_bytes() {
    assert_eq!(UDP_IPV4_OVERHEAD, 28);
}
