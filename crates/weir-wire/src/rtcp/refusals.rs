//! Errors that every APP message must return (RFC 3550 §6.7).

use core::fmt::Debug;

use super::{RtcpPacket, compound};
use crate::error::{BufferTooSmall, ParseError};

/// `whole` is a message as `write` makes it and `parse` reads it. A different subtype, name or type, or missing
/// words at the end give an error. A buffer that lacks a byte stays unchanged.
pub(super) fn check_refusals<T: Debug>(
    whole: &[u8],
    parse: impl Fn(&RtcpPacket<'_>) -> Result<T, ParseError>,
    write: impl Fn(&mut [u8]) -> Result<usize, BufferTooSmall>,
) {
    let mut renamed = whole.to_vec();
    renamed[11] = b'?';
    let expected: [u8; 4] = whole[8..12].try_into().unwrap();
    let found = [expected[0], expected[1], expected[2], b'?'];
    let error = parse(&compound(&renamed).next().unwrap().unwrap()).unwrap_err();
    assert_eq!(error, ParseError::Name { offset: 8, found, expected });
    check_refusals_of_any_name(whole, |packet| parse(packet).map(|_| ()), write);
}

/// The same for a message with a name that its sender chooses.
pub(super) fn check_refusals_of_any_name<T: Debug>(
    whole: &[u8],
    parse: impl Fn(&RtcpPacket<'_>) -> Result<T, ParseError>,
    write: impl Fn(&mut [u8]) -> Result<usize, BufferTooSmall>,
) {
    let error = |bytes: &[u8]| parse(&compound(bytes).next().unwrap().unwrap()).unwrap_err();
    let with_byte = |at: usize, byte: u8| {
        let mut changed = whole.to_vec();
        changed[at] = byte;
        error(&changed)
    };
    let subtype = whole[0] & 0x1F;
    let format = ParseError::Format { offset: 0, found: subtype + 2, expected: subtype };
    assert_eq!(with_byte(0, whole[0] + 2), format);
    assert_eq!(with_byte(1, 203), ParseError::PacketType { offset: 1, found: 203, expected: 204 });

    for words in 3..whole.len() / 4 {
        let mut cut = whole[..4 * words].to_vec();
        cut[2..4].copy_from_slice(&(words as u16 - 1).to_be_bytes());
        let error = error(&cut);
        let ParseError::TooShort { offset, needed, available } = error else { panic!("{error:?}") };
        assert!(offset + available == cut.len() && needed > available, "{error:?}");
    }

    let mut buffer = vec![0xEE; whole.len() - 1];
    let error = BufferTooSmall { needed: whole.len(), available: whole.len() - 1 };
    assert_eq!(write(&mut buffer), Err(error));
    assert!(buffer.iter().all(|&byte| byte == 0xEE));
}
