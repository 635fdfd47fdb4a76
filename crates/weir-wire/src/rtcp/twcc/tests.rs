//! Transport-wide feedback (`rtcp::twcc`, draft-holmer-rmcat-transport-wide-cc-extensions-01 §3.1), by its bytes.

use super::*;
use crate::error::BufferTooSmall;
use crate::rtcp::compound;
use crate::testing::hex;

fn parse(bytes: &[u8]) -> Result<Twcc<'_>, ParseError> {
    Twcc::parse(&compound(bytes).next().unwrap()?)
}

/// Numbers with arrival times in quarters of a millisecond, counted from the clock's zero.
fn reported_arrivals(twcc: &Twcc<'_>) -> Vec<(u16, Option<i64>)> {
    let reference = i64::from(twcc.reference_time) * 256;
    let at = |reception| match reception {
        PacketStatus::Missing => None,
        PacketStatus::Untimed => panic!("every message here has times"),
        PacketStatus::At(ticks) => Some(reference + i64::from(ticks)),
    };
    twcc.statuses().map(|(sequence, reception)| (sequence, at(reception))).collect()
}

/// `ms` milliseconds in quarters.
#[expect(clippy::unnecessary_wraps, reason = "as it is told of a packet")]
fn quarters(ms: f64) -> Option<i64> {
    Some((ms * 4.0) as i64)
}

fn header(twcc: &Twcc<'_>) -> (u32, u32, u16, u16, i32, u8) {
    (twcc.ssrc, twcc.source, twcc.base_sequence, twcc.status_count, twcc.reference_time, twcc.number)
}

const HEADER: TwccHeader =
    TwccHeader { ssrc: 0x1111_1111, source: 0x2222_2222, base_sequence: 65_533, number: 7 };

/// The message about packets that arrived at so many quarters of a millisecond.
fn written(header: &TwccHeader, quarters: &[Option<i64>]) -> Vec<u8> {
    let mut buffer = [0xEE; 1500];
    let arrivals = quarters.iter().map(|quarter| quarter.map(|quarter| quarter * 250_000));
    let written = Twcc::write(header, arrivals, &mut buffer).unwrap();
    assert_eq!(written.packets, quarters.len());
    buffer[..written.length].to_vec()
}

/// The chunks of the message about packets of which those in `received` arrived, each 1 ms after the one before.
fn chunks(received: &[i64]) -> Vec<u16> {
    let last = *received.last().unwrap();
    let arrivals: Vec<_> =
        (received[0]..=last).map(|packet| received.contains(&packet).then_some(4 * packet)).collect();
    let bytes = written(&HEADER, &arrivals);
    parse(&bytes).unwrap().chunks.as_chunks().0.iter().copied().map(u16::from_be_bytes).collect()
}

#[test]
fn a_run_of_one_packet() {
    let bytes = hex("af cd 00 05 fa 17 fa 17 43 03 2f a0 00 99 00 01 3d e8 02 17 20 01 94 01");
    let twcc = parse(&bytes).unwrap();
    assert_eq!(header(&twcc), (0xFA17_FA17, 0x4303_2FA0, 153, 1, 4_057_090, 23));
    // 4 057 090 * 64 ms = 259 653 760 ms, and 148 quarters = 37 ms.
    assert_eq!(twcc.reference_nanos(), 259_653_760_000_000);
    assert_eq!(reported_arrivals(&twcc), [(153, quarters(259_653_797.0))]);
    assert_eq!(twcc.statuses().next().unwrap().1.nanos(), Some(37_000_000));
    let header = TwccHeader { ssrc: 0xFA17_FA17, source: 0x4303_2FA0, base_sequence: 153, number: 23 };
    assert_eq!(written(&header, &[quarters(259_653_797.0)]), bytes);
}

#[test]
fn padding_of_no_bytes_is_passed_over() {
    let bytes = hex(concat!(
        "af cd 00 07 fa 17 fa 17 19 3d d8 bb 01 74 00 06 45 b1 5a 40 40 02 20 04 ",
        "1f fe 1f 9a d0 00 d0 00"
    ));
    let twcc = parse(&bytes).unwrap();
    assert_eq!(header(&twcc), (0xFA17_FA17, 0x193D_D8BB, 372, 6, 4_567_386, 64));
    // 2047.5 and 2022.5 ms, then 52, 0, 52, 0, each after the one before; 4 567 386 * 64 ms = 292 312 704 ms.
    let after = [2047.5, 4070.0, 4122.0, 4122.0, 4174.0, 4174.0];
    let expected: Vec<_> = (372..).zip(after.map(|ms| quarters(292_312_704.0 + ms))).collect();
    assert_eq!(reported_arrivals(&twcc), expected);
}

#[test]
fn numbers_wrap_in_a_vector_of_one_bit() {
    let bytes = hex("af cd 00 06 11 11 11 11 22 22 22 22 ff fd 00 06 00 00 64 07 b5 00 0a 04 08 ff 00 02");
    let twcc = parse(&bytes).unwrap();
    assert_eq!(header(&twcc), (0x1111_1111, 0x2222_2222, 65_533, 6, 100, 7));
    let times = [quarters(6402.5), quarters(6403.5), None, quarters(6405.5), None, quarters(6469.25)];
    let expected: Vec<_> = [65_533, 65_534, 65_535, 0, 1, 2].into_iter().zip(times).collect();
    assert_eq!(reported_arrivals(&twcc), expected);
    // Six symbols end in a vector of two bits: 01 01 00 01 00 01 00, 0xd444.
    let ours = written(&HEADER, &times);
    assert_eq!(ours[..20], bytes[..20]);
    assert_eq!(ours[20..], hex("d4 44 0a 04 08 ff 00 02"));
}

#[test]
fn deltas_may_be_negative_in_a_vector_of_two_bits() {
    let bytes = hex(concat!(
        "af cd 00 07 11 11 11 11 22 22 22 22 00 0a 00 07 00 00 64 08 d8 91 00 ff d8 01 90 01 ",
        "02 00 00 03"
    ));
    let twcc = parse(&bytes).unwrap();
    let times = [
        quarters(6400.0),
        quarters(6390.0),
        None,
        quarters(6490.0),
        quarters(6490.25),
        None,
        quarters(6490.75),
    ];
    assert_eq!(reported_arrivals(&twcc), (10..).zip(times).collect::<Vec<_>>());
    let header = TwccHeader { base_sequence: 10, number: 8, ..HEADER };
    assert_eq!(written(&header, &times), bytes);
}

#[test]
fn runs_and_times_before_the_clocks_zero() {
    let bytes = hex(concat!(
        "af cd 00 09 11 11 11 11 22 22 22 22 03 e8 04 06 ff ff ff ff 20 05 03 fe 40 03 ",
        "01 01 01 01 01 7f ff 80 00 01 00 00 00 03"
    ));
    let twcc = parse(&bytes).unwrap();
    assert_eq!(header(&twcc), (0x1111_1111, 0x2222_2222, 1000, 1030, -1, 255));
    assert_eq!(twcc.reference_nanos(), -64_000_000);
    let mut times = vec![None; 1030];
    for (n, time) in times[..5].iter_mut().enumerate() {
        // -64 ms and a quarter more each.
        *time = Some(-255 + n as i64);
    }
    times[1027..].copy_from_slice(&[quarters(8129.0), quarters(-63.0), quarters(1.0)]);
    assert_eq!(reported_arrivals(&twcc), (1000..).zip(times.iter().copied()).collect::<Vec<_>>());
    // Two of the missing ones fill the first chunk of seven: five received and two missing, then 1020 missing.
    let header = TwccHeader { base_sequence: 1000, number: 255, ..HEADER };
    let ours = written(&header, &times);
    assert_eq!(reported_arrivals(&parse(&ours).unwrap()), reported_arrivals(&twcc));
    assert_eq!(parse(&ours).unwrap().reference_time, -1);
}

#[test]
fn deltas_reach_into_overstated_padding() {
    let bytes = hex("af cd 00 06 fa 17 fa 17 19 3d d8 bb 00 01 00 0e 10 63 6d 00 ba 00 10 0c 0c 10 00 03");
    let twcc = parse(&bytes).unwrap();
    let received: Vec<_> = reported_arrivals(&twcc).into_iter().filter(|(_, at)| at.is_some()).collect();
    let at = |ticks| Some(1_074_029 * 256 + i64::from(ticks));
    assert_eq!(received, [(1, at(16)), (2, at(28)), (3, at(40)), (5, at(56))]);
    assert_eq!(twcc.statuses().count(), 14);
}

#[test]
fn a_message_about_nothing_is_read_and_written() {
    let bytes = hex("8f cd 00 04 9a cb 04 42 00 00 00 00 00 00 00 00 00 00 00 00");
    let twcc = parse(&bytes).unwrap();
    assert_eq!((twcc.status_count, twcc.statuses().count()), (0, 0));
    let header = TwccHeader { ssrc: 0x9ACB_0442, ..TwccHeader::default() };
    assert_eq!(written(&header, &[]), bytes);
}

#[test]
fn deltas_that_are_not_there_are_refused() {
    let bytes = hex("af cd 00 05 fa 17 fa 17 43 03 2f a0 00 99 00 03 3d e8 02 17 20 03 94 01");
    assert_eq!(parse(&bytes), Err(ParseError::TooShort { offset: 22, needed: 3, available: 2 }));
    // Eight packets, a vector of seven.
    let bytes = hex("8f cd 00 05 11 11 11 11 22 22 22 22 00 00 00 08 00 00 00 00 c0 00");
    assert!(matches!(parse(&bytes), Err(ParseError::TooShort { offset: 0, needed: 24, .. })));
    let bytes = hex("8f cd 00 05 11 11 11 11 22 22 22 22 00 00 00 0f 00 00 00 00 c0 00 c0 00");
    assert_eq!(parse(&bytes), Err(ParseError::TooShort { offset: 24, needed: 2, available: 0 }));
    // Runs of no packets end as well.
    let bytes = hex("8f cd 00 05 11 11 11 11 22 22 22 22 00 00 00 01 00 00 00 00 00 00 00 00");
    assert_eq!(parse(&bytes), Err(ParseError::TooShort { offset: 24, needed: 2, available: 0 }));
}

#[test]
fn a_message_without_deltas_reports_arrivals_without_times() {
    use PacketStatus::{Missing, Untimed};
    let receptions = |text| {
        let bytes = hex(text);
        parse(&bytes).unwrap().statuses().map(|(_, reception)| reception).collect::<Vec<_>>()
    };
    // Vectors of two bits: small, missing, large, reserved, and three missing; twice.
    let chunk = "8f cd 00 05 11 11 11 11 22 22 22 22 00 00 00 0e 00 00 00 00 d2 c0 d2 c0";
    let seven = [Untimed, Missing, Untimed, Untimed, Missing, Missing, Missing];
    assert_eq!(receptions(chunk), [seven, seven].concat());
    let unmarked = "8f cd 00 05 11 11 11 11 22 22 22 22 00 00 00 07 00 00 00 00 d2 c0 00 00";
    assert_eq!(receptions(unmarked), seven);
    let marked = "af cd 00 05 11 11 11 11 22 22 22 22 00 00 00 07 00 00 00 00 d2 c0 00 02";
    assert_eq!(receptions(marked), seven);
}

#[test]
fn the_drafts_chunks_are_understood() {
    let symbols = |chunk| {
        let mut symbols = Symbols::of(chunk);
        core::iter::from_fn(|| (symbols.left > 0).then(|| symbols.next())).collect::<Vec<_>>()
    };
    assert_eq!(symbols(0x00DD), [0; 221]);
    assert_eq!(symbols(0x6018), [3; 24]);
    assert_eq!(symbols(0x9F1C), [0, 1, 1, 1, 1, 1, 0, 0, 0, 1, 1, 1, 0, 0]);
    assert_eq!(symbols(0xCD50), [0, 3, 1, 1, 1, 0, 0]);
}

#[test]
fn chunks_are_chosen_as_libwebrtc_does() {
    // One and 13 missing in a vector of one bit, a run of 15 missing, a run of one.
    assert_eq!(chunks(&[0, 29]), [0xA000, 15, 0x2001]);
    // Received, received, four missing, three received, missing, missing, received: 13 symbols of one bit.
    assert_eq!(chunks(&[1, 2, 7, 8, 9, 10, 13]), [0x8000 | 0b11_0000_1111_0010]);
    // All the same: a run, however long it is.
    assert_eq!(chunks(&(0..14).collect::<Vec<_>>()), [0x200E]);
    assert_eq!(chunks(&(0..15).collect::<Vec<_>>()), [0x200F]);
    // 12 received, one missing, one received: 14 symbols of one bit.
    let mut received: Vec<_> = (0..12).collect();
    received.push(13);
    assert_eq!(chunks(&received), [0x8000 | 0b11_1111_1111_1101]);
}

#[test]
fn a_large_delta_sends_the_first_seven_ahead() {
    // Received, missing, and eight more received: ten symbols; then one 100 ms later, a large delta.
    let mut times: Vec<_> = (0..10).map(|n| (n != 1).then_some(4 * n)).collect();
    times.push(Some(436));
    let bytes = written(&HEADER, &times);
    // 01 00 01 01 01 01 01, then 01 01 01 10 and zeros.
    assert_eq!(bytes[20..24], [0xD1, 0x55, 0xD5, 0x80]);
    assert_eq!(parse(&bytes).unwrap().deltas.len(), 9 + 2);
    // Received eight times, then large: a run of eight, then a run of one.
    let mut times: Vec<_> = (0..8).map(|n| Some(4 * n)).collect();
    times.push(Some(428));
    assert_eq!(written(&HEADER, &times)[20..24], [0x20, 0x08, 0x40, 0x01]);
}

#[test]
fn the_longest_run_is_8191_packets() {
    let mut times = vec![None; 10_000];
    times[0] = Some(0);
    times[9_999] = Some(4);
    let bytes = written(&HEADER, &times);
    // 14 symbols, 8191 missing, 9998 - 13 - 8191 = 1794 = 0x702 missing, one received.
    assert_eq!(bytes[20..28], [0xA0, 0x00, 0x1F, 0xFF, 0x07, 0x02, 0x20, 0x01]);
}

#[test]
fn rounding_does_not_add_up() {
    // Each 0.3 ms: 0, 0.3, 0.6, 0.9 … are 0, 1, 2, 4, 5, 6, 7, 8, 10 quarters.
    let mut buffer = [0; 100];
    let arrivals = (0..100).map(|n| Some(n * 300_000));
    let written = Twcc::write(&HEADER, arrivals.take(40), &mut buffer).unwrap();
    let bytes = &buffer[..written.length];
    let seen: Vec<_> =
        reported_arrivals(&parse(bytes).unwrap()).into_iter().map(|(_, at)| at.unwrap()).collect();
    assert_eq!(seen[..9], [0, 1, 2, 4, 5, 6, 7, 8, 10]);
    assert!(seen.iter().zip(0..).all(|(&at, n)| (at * 250_000 - n * 300_000_i64).abs() <= 125_000));
}

#[test]
fn a_message_ends_before_what_does_not_fit() {
    let write = |arrivals: &[Option<i64>], room: usize| {
        let mut buffer = vec![0xEE; room];
        let written = Twcc::write(&HEADER, arrivals.iter().copied(), &mut buffer).unwrap();
        assert_eq!(parse(&buffer[..written.length]).unwrap().statuses().len(), written.packets);
        (written.length, written.packets)
    };
    let each_ms: Vec<_> = (0..3000).map(|ms| Some(ms * 1_000_000)).collect();
    // 20 bytes of header, a run, deltas: 1178 of them in 1200 bytes, two in 24.
    assert_eq!(write(&each_ms, 1500), (1200, 1178));
    assert_eq!(write(&each_ms, 24), (24, 2));
    assert_eq!(write(&each_ms, 27), (24, 2));
    // 32 767 quarters are 8.19175 s; with another 0.125 ms it rounds to one more.
    let after = |nanos| [Some(0), Some(nanos)];
    assert_eq!(write(&after(8_191_874_999), 100).1, 2);
    assert_eq!(write(&after(8_191_875_000), 100).1, 1);
    assert_eq!(write(&after(-8_192_000_000), 100).1, 2);
    assert_eq!(write(&after(-8_192_125_001), 100).1, 1);
    assert_eq!(write(&[Some(i64::MIN), Some(i64::MAX), Some(0)], 100).1, 1);
    assert_eq!(write(&vec![None; 70_000], 1200).1, 65_535);
}

#[test]
fn a_small_buffer_is_left_as_it_was() {
    let mut buffer = [0xEE; 23];
    let error = Twcc::write(&HEADER, [Some(0)], &mut buffer).unwrap_err();
    assert_eq!(error, BufferTooSmall { needed: 24, available: 23 });
    assert_eq!(buffer, [0xEE; 23]);
}

#[test]
fn other_packets_are_refused() {
    let bytes = hex("8f ce 00 02 00 00 00 01 00 00 00 00");
    assert_eq!(parse(&bytes), Err(ParseError::PacketType { offset: 1, found: 206, expected: 205 }));
    let bytes = hex("8b cd 00 02 00 00 00 01 00 00 00 00");
    assert_eq!(parse(&bytes), Err(ParseError::Format { offset: 0, found: 11, expected: 15 }));
    let bytes = hex("8f cd 00 02 00 00 00 01 00 00 00 00");
    assert_eq!(parse(&bytes), Err(ParseError::TooShort { offset: 12, needed: 2, available: 0 }));
}
