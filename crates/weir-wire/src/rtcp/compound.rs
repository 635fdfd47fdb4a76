//! Iteration over a compound of RTCP packets by their length fields (RFC 3550 §6.1, RFC 5506).

use core::iter::FusedIterator;

use crate::cursor::{Reader, Writer};
use crate::error::{BufferTooSmall, ParseError};
use crate::rtp::{VERSION, split_padding};

/// Length of the header that every RTCP packet begins with, in bytes.
pub(super) const HEADER_LEN: usize = 4;
/// Length of an SSRC in bytes.
pub(super) const SSRC_LEN: usize = 4;

/// An RTCP packet of a datagram, not yet parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RtcpPacket<'a> {
    /// Where the packet begins in the datagram.
    pub offset: usize,
    /// The five bits that count report blocks (SR, RR), or name a feedback message or a subtype.
    pub count: u8,
    /// Packet type.
    pub packet_type: u8,
    /// Whether the padding bit of the packet is set.
    pub has_padding: bool,
    /// Everything after the first four bytes, padding included.
    pub padded_body: &'a [u8],
}

impl<'a> RtcpPacket<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Self, ParseError> {
        let offset = reader.offset();
        let mut header = *reader;
        let [first, packet_type] = header.array()?;
        if first >> 6 != VERSION {
            return Err(ParseError::Version { offset, found: first >> 6 });
        }
        let length = HEADER_LEN + 4 * usize::from(header.u16()?);
        let packet = reader.slice(length)?;
        Ok(Self {
            offset,
            count: first & 0x1F,
            packet_type,
            has_padding: first & 0x20 != 0,
            padded_body: &packet[HEADER_LEN..],
        })
    }

    /// The bytes between the first four and the padding.
    ///
    /// # Errors
    /// If the padding count is zero or larger than the body.
    pub fn body(&self) -> Result<&'a [u8], ParseError> {
        if !self.has_padding {
            return Ok(self.padded_body);
        }
        let reader = Reader::new(self.padded_body, self.offset + HEADER_LEN);
        split_padding(reader).map(|(body, _)| body)
    }

    /// A reader of the body, if the packet is of type `expected`.
    pub(super) fn reader_of(&self, expected: u8) -> Result<Reader<'a>, ParseError> {
        self.require_type(expected)?;
        Ok(Reader::new(self.body()?, self.offset + HEADER_LEN))
    }

    /// An error unless the packet is of type `expected`.
    pub(super) fn require_type(&self, expected: u8) -> Result<(), ParseError> {
        if self.packet_type == expected {
            return Ok(());
        }
        let offset = self.offset + 1;
        Err(ParseError::PacketType { offset, found: self.packet_type, expected })
    }

    /// An error unless the five bits are `expected`.
    pub(super) fn require_format(&self, expected: u8) -> Result<(), ParseError> {
        if self.count == expected {
            return Ok(());
        }
        Err(ParseError::Format { offset: self.offset, found: self.count, expected })
    }
}

/// Reads four bytes that must be `expected`.
pub(super) fn read_name(reader: &mut Reader<'_>, expected: [u8; 4]) -> Result<(), ParseError> {
    let offset = reader.offset();
    let found = reader.array()?;
    if found == expected { Ok(()) } else { Err(ParseError::Name { offset, found, expected }) }
}

/// A writer of a packet of `length` bytes, a multiple of four, with its header written.
pub(super) fn start(
    buffer: &mut [u8],
    length: usize,
    count: u8,
    packet_type: u8,
) -> Result<Writer<'_>, BufferTooSmall> {
    let mut writer = Writer::new(buffer, length)?;
    writer.u8(VERSION << 6 | count);
    writer.u8(packet_type);
    writer.u16((length / 4 - 1) as u16);
    Ok(writer)
}

/// The packets of `datagram`, one after the other by their length fields.
///
/// A packet whose header cannot be right (version, length) is reported as an error and ends the iteration: where
/// the next one begins is unknown. The rule that a compound starts with SR or RR is not enforced (RFC 5506 lifts
/// it), nor is padding refused before the last packet.
pub const fn compound(datagram: &[u8]) -> Compound<'_> {
    Compound { reader: Reader::new(datagram, 0), ended: false }
}

/// The packets of a datagram; see [`compound`].
#[derive(Clone, Debug)]
pub struct Compound<'a> {
    reader: Reader<'a>,
    ended: bool,
}

impl<'a> Iterator for Compound<'a> {
    type Item = Result<RtcpPacket<'a>, ParseError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended || self.reader.rest().is_empty() {
            return None;
        }
        let packet = RtcpPacket::read(&mut self.reader);
        self.ended = packet.is_err();
        Some(packet)
    }
}

impl FusedIterator for Compound<'_> {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::hex;

    #[test]
    fn a_compound_is_walked_by_length() {
        let bytes = hex("80 c9 00 01 00 00 00 07 8f ce 00 00 a1 cc 00 02 aa bb cc dd 00 00 00 03");
        let packets: Vec<_> = compound(&bytes).map(Result::unwrap).collect();
        let seen: Vec<_> = packets.iter().map(|p| (p.offset, p.packet_type, p.count)).collect();
        assert_eq!(seen, [(0, 201, 0), (8, 206, 15), (12, 204, 1)]);
        assert_eq!(packets[0].body(), Ok(&[0, 0, 0, 7][..]));
        assert_eq!(packets[1].body(), Ok(&[][..]));
        assert_eq!(packets[2].body(), Ok(&bytes[16..21]));
        assert_eq!(packets[2].padded_body, &bytes[16..]);
    }

    #[test]
    fn an_empty_buffer_has_no_packets() {
        assert_eq!(compound(&[]).count(), 0);
    }

    #[test]
    fn a_broken_header_ends_the_walk() {
        let walk = |text| {
            let bytes = hex(text);
            compound(&bytes).map(|packet| packet.map(|p| p.offset)).collect::<Vec<_>>()
        };
        let short = |offset, needed, available| Err(ParseError::TooShort { offset, needed, available });
        assert_eq!(walk("80 c9 00 00 80 c9 00"), [Ok(0), short(6, 2, 1)]);
        assert_eq!(walk("80 c9 00 00 80 c9 00 01 00 00 00"), [Ok(0), short(4, 8, 7)]);
        assert_eq!(walk("80 c9 ff ff"), [short(0, 262_144, 4)]);
        let version = Err(ParseError::Version { offset: 4, found: 0 });
        assert_eq!(walk("80 c9 00 00 00 c9 00 00 80 c9 00 00"), [Ok(0), version]);
    }

    #[test]
    fn padding_that_does_not_fit_is_an_error_of_the_body_alone() {
        let body = |text| {
            let bytes = hex(text);
            let packet = compound(&bytes).next().unwrap().unwrap();
            packet.body().map(<[u8]>::to_vec)
        };
        assert_eq!(body("a0 cc 00 01 00 00 00 04"), Ok(vec![]));
        assert_eq!(
            body("a0 cc 00 01 00 00 00 05"),
            Err(ParseError::Padding { offset: 7, count: 5, limit: 4 })
        );
        assert_eq!(
            body("a0 cc 00 01 00 00 00 00"),
            Err(ParseError::Padding { offset: 7, count: 0, limit: 4 })
        );
        assert_eq!(body("a0 cc 00 00"), Err(ParseError::TooShort { offset: 4, needed: 1, available: 0 }));
    }
}
