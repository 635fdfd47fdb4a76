//! Generic negative acknowledgement (RFC 4585 §6.2.1): the receiver lacks packets of a stream and requests them again.
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |V=2|P|  FMT=1  |    PT=205     |             length            |
//! |                     SSRC of packet sender                     |
//! |                      SSRC of the stream                       |
//! |        sequence number        | mask of the 16 numbers after  |   repeated
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! ```

use super::TRANSPORT_FEEDBACK;
use super::compound::{HEADER_LEN, RtcpPacket, SSRC_LEN, start};
use crate::error::{BufferTooSmall, ParseError};
use crate::rtp::words;

/// Feedback message type of generic negative acknowledgements.
pub(super) const FORMAT: u8 = 1;
/// Length of an entry in bytes.
const ENTRY_LEN: usize = 4;
/// Most entries of a message, by its length in words.
const MOST_ENTRIES: usize = u16::MAX as usize - 2;

/// A request for packets of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nack<'a> {
    /// SSRC of the receiver that requests them.
    pub ssrc: u32,
    /// The stream.
    pub source: u32,
    entries: &'a [u8],
}

impl<'a> Nack<'a> {
    /// Reads a request.
    ///
    /// # Errors
    /// If the packet is of another type or format, or too short.
    pub fn parse(packet: &RtcpPacket<'a>) -> Result<Self, ParseError> {
        let mut reader = packet.reader_of(TRANSPORT_FEEDBACK)?;
        packet.require_format(FORMAT)?;
        Ok(Self { ssrc: reader.u32()?, source: reader.u32()?, entries: reader.rest() })
    }

    /// Sequence numbers of the packets, in order of the entries.
    pub fn sequences(&self) -> impl Iterator<Item = u16> + use<'a> {
        words(self.entries).flat_map(|entry| {
            let (first, mask) = ((entry >> 16) as u16, entry as u16);
            let further = (0..16).filter(move |bit| mask >> bit & 1 == 1);
            core::iter::once(first).chain(further.map(move |bit| first.wrapping_add(1 + bit)))
        })
    }

    /// Writes a request for `sequences`, which rise, to the start of `buffer`. Numbers that have no room are left out. Returns
    /// the length, and how many numbers were written.
    ///
    /// # Errors
    /// If the buffer has no room for one entry. It stays unchanged then.
    pub fn write(
        ssrc: u32,
        source: u32,
        sequences: impl Iterator<Item = u16> + Clone,
        buffer: &mut [u8],
    ) -> Result<(usize, usize), BufferTooSmall> {
        let fixed = HEADER_LEN + 2 * SSRC_LEN;
        let most = (buffer.len().saturating_sub(fixed) / ENTRY_LEN).clamp(1, MOST_ENTRIES);
        let count = Entries(sequences.clone().peekable()).take(most).count();
        let length = fixed + count.max(1) * ENTRY_LEN;
        let mut writer = start(buffer, length, FORMAT, TRANSPORT_FEEDBACK)?;
        writer.u32(ssrc);
        writer.u32(source);
        let mut numbers = 0;
        for (first, mask) in Entries(sequences.peekable()).take(most) {
            writer.u16(first);
            writer.u16(mask);
            numbers += 1 + mask.count_ones() as usize;
        }
        writer.zeros();
        Ok((length, numbers))
    }
}

/// Entries of rising numbers: a number, and a mask of those after it.
struct Entries<I: Iterator<Item = u16>>(core::iter::Peekable<I>);

impl<I: Iterator<Item = u16>> Iterator for Entries<I> {
    type Item = (u16, u16);

    fn next(&mut self) -> Option<(u16, u16)> {
        let first = self.0.next()?;
        let mut mask = 0;
        while let Some(behind) = self.0.next_if(|next| (1..=16).contains(&next.wrapping_sub(first))) {
            mask |= 1 << (behind.wrapping_sub(first) - 1);
        }
        Some((first, mask))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rtcp::compound;
    use crate::testing::hex;

    fn parse(bytes: &[u8]) -> Result<Nack<'_>, ParseError> {
        Nack::parse(&compound(bytes).next().unwrap()?)
    }

    #[test]
    fn an_entry_has_a_number_and_a_mask_of_those_after_it() {
        // 65 535 with 0 and 15, then 16 alone.
        let bytes = hex("81 cd 00 04 00 00 00 02 ca fe ba be ff ff 80 01 00 10 00 00");
        let sequences = [65_535, 0, 15, 16];
        let nack = parse(&bytes).unwrap();
        assert_eq!((nack.ssrc, nack.source), (2, 0xCAFE_BABE));
        assert!(nack.sequences().eq(sequences));
        let mut buffer = [0xEE; 21];
        assert_eq!(Nack::write(2, 0xCAFE_BABE, sequences.into_iter(), &mut buffer), Ok((20, 4)));
        assert_eq!((&buffer[..20], buffer[20]), (&bytes[..], 0xEE));
    }

    #[test]
    fn numbers_without_room_are_left_out() {
        let mut buffer = [0; 19];
        let (length, numbers) = Nack::write(2, 1, [0, 1, 100].into_iter(), &mut buffer).unwrap();
        assert_eq!((length, numbers), (16, 2));
        assert!(parse(&buffer[..length]).unwrap().sequences().eq([0, 1]));
        let too_small = BufferTooSmall { needed: 16, available: 15 };
        assert_eq!(Nack::write(2, 1, [0].into_iter(), &mut buffer[..15]), Err(too_small));
    }

    #[test]
    fn other_messages_are_refused() {
        let error = |text| parse(&hex(text)).unwrap_err();
        assert_eq!(
            error("81 ce 00 02 00 00 00 02 00 00 00 01"),
            ParseError::PacketType { offset: 1, found: 206, expected: 205 }
        );
        assert_eq!(
            error("8f cd 00 02 00 00 00 02 00 00 00 01"),
            ParseError::Format { offset: 0, found: 15, expected: 1 }
        );
    }
}
