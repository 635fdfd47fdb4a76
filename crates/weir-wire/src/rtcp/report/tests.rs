//! Sender and receiver reports (`rtcp::report`, RFC 3550 §6.4), by their bytes.

use super::*;
use crate::error::BufferTooSmall;
use crate::rtcp::compound;
use crate::testing::hex;

fn packet(bytes: &[u8]) -> RtcpPacket<'_> {
    compound(bytes).next().unwrap().unwrap()
}

/// The bytes of a sender report.
fn written_sr(ssrc: u32, info: &SenderInfo, blocks: &[ReportBlock]) -> Vec<u8> {
    let mut buffer = [0xEE; 800];
    let length = SenderReport::write(ssrc, info, blocks, &mut buffer).unwrap();
    buffer[..length].to_vec()
}

/// The bytes of a receiver report.
fn written_rr(ssrc: u32, blocks: &[ReportBlock]) -> Vec<u8> {
    let mut buffer = [0xEE; 800];
    let length = ReceiverReport::write(ssrc, blocks, &mut buffer).unwrap();
    buffer[..length].to_vec()
}

#[test]
fn a_sender_report_with_a_block_is_read_and_written() {
    let bytes = hex(concat!(
        "81 c8 00 0c 6d 24 53 ea de 46 47 5b 15 1a 00 5c 66 a8 dd 3e 00 00 01 0d 00 00 34 f5 ",
        "8e f8 91 ed 00 00 00 00 00 00 00 f6 00 00 00 7f 00 00 00 00 00 00 00 00",
    ));
    let report = SenderReport::parse(&packet(&bytes)).unwrap();
    let info = SenderInfo {
        ntp: NtpTime(0xDE46_475B_151A_005C),
        rtp_timestamp: 1_722_342_718,
        packet_count: 269,
        octet_count: 13557,
    };
    let block =
        ReportBlock { ssrc: 2_398_654_957, highest_sequence: 246, jitter: 127, ..ReportBlock::default() };
    assert_eq!((report.ssrc, report.info), (1_831_097_322, info));
    assert_eq!(report.blocks().collect::<Vec<_>>(), [block]);
    assert!(report.extension.is_empty());
    assert_eq!(written_sr(1_831_097_322, &info, &[block]), bytes);
}

#[test]
fn a_sender_report_without_blocks_is_read_and_written() {
    let bytes = hex("80 c8 00 06 0a 0b 0c 0d b4 4d b7 05 20 00 00 00 00 01 5f 90 00 00 00 64 00 01 d4 c0");
    let report = SenderReport::parse(&packet(&bytes)).unwrap();
    assert_eq!(report.info.ntp, NtpTime(0xB44D_B705_2000_0000));
    assert_eq!(report.info.ntp.middle(), 0xB705_2000);
    assert_eq!((report.info.rtp_timestamp, report.info.packet_count), (90000, 100));
    assert_eq!((report.info.octet_count, report.blocks().len()), (120_000, 0));
    assert_eq!(written_sr(report.ssrc, &report.info, &[]), bytes);
}

#[test]
fn receiver_reports_are_read_and_written() {
    let bytes = hex(concat!(
        "81 c9 00 07 30 b6 84 07 47 94 37 af 00 00 00 00 00 00 02 76 00 00 07 72 ",
        "00 00 00 00 00 00 00 00",
    ));
    let report = ReceiverReport::parse(&packet(&bytes)).unwrap();
    let block =
        ReportBlock { ssrc: 1_200_895_919, highest_sequence: 630, jitter: 1906, ..ReportBlock::default() };
    assert_eq!((report.ssrc, report.blocks().collect::<Vec<_>>()), (817_267_719, vec![block]));
    assert_eq!(written_rr(817_267_719, &[block]), bytes);
}

#[test]
fn the_echo_of_a_sender_report_is_read_and_written() {
    let bytes = hex(concat!(
        "81 c9 00 07 90 2f 9e 2e bc 5e 9a 40 00 00 00 00 00 00 46 e1 00 00 01 11 ",
        "09 f3 64 32 00 02 4a 79",
    ));
    let report = ReceiverReport::parse(&packet(&bytes)).unwrap();
    let block = report.blocks().next().unwrap();
    assert_eq!((block.highest_sequence, block.jitter), (18145, 273));
    assert_eq!((block.last_sender_report, block.delay_since_last_sender_report), (0x09F3_6432, 150_137));
    assert_eq!(written_rr(report.ssrc, &[block]), bytes);
}

#[test]
fn cumulative_loss_is_signed() {
    let bytes = hex(concat!(
        "82 c9 00 0d 01 02 03 04 ",
        "0a 0b 0c 0d 40 00 04 d2 00 02 00 10 00 00 03 84 b7 05 20 00 00 05 40 00 ",
        "0e 0f 10 11 00 ff ff fb 00 00 ff ff 00 00 00 00 00 00 00 00 00 00 00 00",
    ));
    let report = ReceiverReport::parse(&packet(&bytes)).unwrap();
    let blocks = [
        ReportBlock {
            ssrc: 0x0A0B_0C0D,
            fraction_lost: 64,
            cumulative_lost: 1234,
            // Two wraps, then number 16.
            highest_sequence: 2 << 16 | 16,
            jitter: 900,
            last_sender_report: 0xB705_2000,
            // 5.25 s.
            delay_since_last_sender_report: 5 << 16 | 1 << 14,
        },
        ReportBlock {
            ssrc: 0x0E0F_1011,
            cumulative_lost: -5,
            highest_sequence: 65535,
            ..ReportBlock::default()
        },
    ];
    assert_eq!(report.blocks().collect::<Vec<_>>(), blocks);
    assert_eq!(written_rr(0x0102_0304, &blocks), bytes);
}

#[test]
fn cumulative_loss_saturates_at_24_bits() {
    let through_the_wire = |cumulative_lost| {
        let bytes = written_rr(1, &[ReportBlock { cumulative_lost, ..ReportBlock::default() }]);
        ReceiverReport::parse(&packet(&bytes)).unwrap().blocks().next().unwrap().cumulative_lost
    };
    assert_eq!(through_the_wire(0x7F_FFFF), 0x7F_FFFF);
    assert_eq!(through_the_wire(0x80_0000), 0x7F_FFFF);
    assert_eq!(through_the_wire(-0x80_0000), -0x80_0000);
    assert_eq!(through_the_wire(i32::MIN), -0x80_0000);
}

#[test]
fn fraction_lost_is_floored_and_capped() {
    // 256 * 25 / 100 = 64; 256 * 1 / 100 = 2.56; 256 * 256 / 256 = 256; 256 * 997 / 1000 = 255.2.
    assert_eq!(fraction_lost(100, 75), 64);
    assert_eq!(fraction_lost(100, 99), 2);
    assert_eq!(fraction_lost(100, 100), 0);
    assert_eq!(fraction_lost(100, 101), 0);
    assert_eq!(fraction_lost(256, 0), 255);
    assert_eq!(fraction_lost(1000, 3), 255);
    assert_eq!(fraction_lost(0, 0), 0);
    assert_eq!(fraction_lost(u32::MAX, 0), 255);
}

#[test]
fn bytes_after_the_blocks_are_the_profile_specific_extension() {
    let bytes = hex("80 c9 00 02 00 00 00 07 aa bb cc dd");
    assert_eq!(ReceiverReport::parse(&packet(&bytes)).unwrap().extension, [0xaa, 0xbb, 0xcc, 0xdd]);
}

#[test]
fn padding_does_not_count_as_blocks() {
    let mut bytes = written_rr(7, &[ReportBlock::default()]);
    bytes[0] |= 0x20;
    bytes[31] = 4;
    let error = ReceiverReport::parse(&packet(&bytes)).unwrap_err();
    assert_eq!(error, ParseError::TooShort { offset: 8, needed: 24, available: 20 });
}

#[test]
fn another_packet_type_is_refused() {
    let bytes = hex("80 c9 00 01 00 00 00 07");
    let error = SenderReport::parse(&packet(&bytes)).unwrap_err();
    assert_eq!(error, ParseError::PacketType { offset: 1, found: 201, expected: 200 });
    let bytes = hex("80 c8 00 01 00 00 00 07");
    let error = SenderReport::parse(&packet(&bytes)).unwrap_err();
    assert_eq!(error, ParseError::TooShort { offset: 8, needed: 8, available: 0 });
}

#[test]
fn more_than_31_blocks_or_too_little_room_are_refused() {
    let mut buffer = [0xEE; 800];
    let many = [ReportBlock::default(); 32];
    let too_many = WriteError::TooMany { what: "report blocks", count: 32, limit: 31 };
    assert_eq!(ReceiverReport::write(1, &many, &mut buffer), Err(too_many));
    assert_eq!(SenderReport::write(1, &SenderInfo::default(), &many, &mut buffer), Err(too_many));
    let too_small = |needed, available| Err(WriteError::BufferTooSmall(BufferTooSmall { needed, available }));
    assert_eq!(ReceiverReport::write(1, &many[..1], &mut buffer[..31]), too_small(32, 31));
    assert_eq!(SenderReport::write(1, &SenderInfo::default(), &[], &mut buffer[..27]), too_small(28, 27));
    assert_eq!(buffer, [0xEE; 800]);
    assert_eq!(ReceiverReport::write(1, &many[..31], &mut buffer), Ok(8 + 31 * 24));
}
