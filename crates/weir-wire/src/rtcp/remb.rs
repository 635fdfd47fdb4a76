//! REMB, the receiver's estimate of the maximum bitrate (draft-alvestrand-rmcat-remb §2).
//!
//! An upper bound for the total rate of the sources it lists: an 18-bit mantissa times a power of two.

use super::compound::{HEADER_LEN, RtcpPacket, SSRC_LEN, read_name, start};
use super::{APPLICATION_FEEDBACK, PAYLOAD_FEEDBACK};
use crate::error::{ParseError, WriteError, at_most};
use crate::rtp::words;

const NAME: [u8; 4] = *b"REMB";
const MANTISSA_BITS: u32 = 18;
const MANTISSA_MASK: u32 = (1 << MANTISSA_BITS) - 1;

/// The receiver's estimate of the maximum bitrate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Remb<'a> {
    /// SSRC of the sender of the report.
    pub sender_ssrc: u32,
    /// The rate in bit/s. Above 2⁶³ − 1, which the wire can exceed, it saturates.
    pub bitrate: u64,
    ssrcs: &'a [u8],
}

impl<'a> Remb<'a> {
    /// Reads a REMB message. The SSRC of the media source, which should be 0, is skipped.
    ///
    /// # Errors
    /// If the packet is of another type or another application's, or too short for its sources.
    pub fn parse(packet: &RtcpPacket<'a>) -> Result<Self, ParseError> {
        let mut reader = packet.reader_of(PAYLOAD_FEEDBACK)?;
        packet.require_format(APPLICATION_FEEDBACK)?;
        let sender_ssrc = reader.u32()?;
        let _media_ssrc = reader.u32()?;
        read_name(&mut reader, NAME)?;
        let count = reader.u8()?;
        let [high, middle, low] = reader.array()?;
        let bitrate = decode(u32::from_be_bytes([0, high, middle, low]));
        let ssrcs = reader.slice(SSRC_LEN * usize::from(count))?;
        Ok(Self { sender_ssrc, bitrate, ssrcs })
    }

    /// The sources whose total rate is bounded.
    pub fn ssrcs(&self) -> impl ExactSizeIterator<Item = u32> + use<'a> {
        words(self.ssrcs)
    }

    /// Length on the wire in bytes of a message about `ssrcs` sources.
    pub const fn wire_len(ssrcs: usize) -> usize {
        HEADER_LEN + 2 * SSRC_LEN + NAME.len() + 4 + ssrcs * SSRC_LEN
    }

    /// Writes a message to the start of `buffer` and returns its length. The rate is rounded down to 18 significant
    /// bits.
    ///
    /// # Errors
    /// If there are more than 255 sources, or the buffer is too small. The buffer stays unchanged then.
    pub fn write(
        sender_ssrc: u32,
        bitrate: u64,
        ssrcs: &[u32],
        buffer: &mut [u8],
    ) -> Result<usize, WriteError> {
        at_most(255, ssrcs.len(), "sources")?;
        let length = Self::wire_len(ssrcs.len());
        let mut writer = start(buffer, length, APPLICATION_FEEDBACK, PAYLOAD_FEEDBACK)?;
        writer.u32(sender_ssrc);
        writer.u32(0);
        writer.put(&NAME);
        writer.u8(ssrcs.len() as u8);
        writer.u24(encode(bitrate));
        for &ssrc in ssrcs {
            writer.u32(ssrc);
        }
        Ok(length)
    }
}

/// Six bits of exponent, the smallest that fits, and 18 bits of mantissa.
const fn encode(bitrate: u64) -> u32 {
    let exponent = (u64::BITS - bitrate.leading_zeros()).saturating_sub(MANTISSA_BITS);
    exponent << MANTISSA_BITS | (bitrate >> exponent) as u32
}

const fn decode(field: u32) -> u64 {
    let (exponent, mantissa) = (field >> MANTISSA_BITS, field & MANTISSA_MASK);
    // At most 18 + 63 bits.
    let bitrate = (mantissa as u128) << exponent;
    if bitrate > i64::MAX as u128 { i64::MAX as u64 } else { bitrate as u64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::BufferTooSmall;
    use crate::rtcp::compound;
    use crate::testing::hex;

    fn parse(bytes: &[u8]) -> Result<Remb<'_>, ParseError> {
        Remb::parse(&compound(bytes).next().unwrap()?)
    }

    /// The bytes of a REMB.
    fn written(sender_ssrc: u32, bitrate: u64, ssrcs: &[u32]) -> Vec<u8> {
        let mut buffer = [0xEE; 64];
        let length = Remb::write(sender_ssrc, bitrate, ssrcs, &mut buffer).unwrap();
        buffer[..length].to_vec()
    }

    #[test]
    fn a_rate_is_mantissa_times_a_power_of_two() {
        let bytes = hex("8f ce 00 05 00 00 00 01 00 00 00 00 52 45 4d 42 01 1a 20 df 48 74 ed 16");
        let remb = parse(&bytes).unwrap();
        // 139 487 * 2^6 = 8 927 168.
        assert_eq!((remb.sender_ssrc, remb.bitrate), (1, 8_927_168));
        assert_eq!(remb.ssrcs().collect::<Vec<_>>(), [1_215_622_422]);
        assert_eq!(written(1, 8_927_168, &[1_215_622_422]), bytes);
    }

    #[test]
    fn a_rate_is_rounded_down() {
        let bytes = hex("8f ce 00 05 00 00 00 01 00 00 00 00 52 45 4d 42 01 1a 20 de 48 74 ed 16");
        assert_eq!(written(1, 8_927_167, &[1_215_622_422]), bytes);
        // 139 486 * 2^6.
        assert_eq!(parse(&bytes).unwrap().bitrate, 8_927_104);
    }

    #[test]
    fn known_messages_are_read_and_written() {
        let bytes = hex("8f ce 00 05 00 00 00 01 00 00 00 00 52 45 4d 42 01 13 f7 a0 96 be 96 cf");
        let remb = parse(&bytes).unwrap();
        // 260 000 * 2^4.
        assert_eq!(remb.bitrate, 4_160_000);
        assert_eq!(remb.ssrcs().collect::<Vec<_>>(), [2_529_072_847]);
        assert_eq!(written(1, 4_160_000, &[2_529_072_847]), bytes);

        let bytes =
            hex("8f ce 00 06 aa bb cc dd 00 00 00 00 52 45 4d 42 02 07 d0 90 11 11 11 11 22 22 22 22");
        let remb = parse(&bytes).unwrap();
        // 250 000 * 2^1.
        assert_eq!((remb.sender_ssrc, remb.bitrate), (0xAABB_CCDD, 500_000));
        assert_eq!(remb.ssrcs().collect::<Vec<_>>(), [0x1111_1111, 0x2222_2222]);
        assert_eq!(written(0xAABB_CCDD, 500_000, &[0x1111_1111, 0x2222_2222]), bytes);
    }

    #[test]
    fn a_rate_beyond_63_bits_saturates() {
        let bytes = hex("8f ce 00 04 00 00 00 00 00 00 00 00 52 45 4d 42 00 ff ff ff");
        let remb = parse(&bytes).unwrap();
        assert_eq!((remb.bitrate, remb.ssrcs().len()), (0x7FFF_FFFF_FFFF_FFFF, 0));
        // 2^18 - 1 times 2^46 ends below 2^64 but above 2^63.
        assert_eq!(decode(46 << 18 | 0x3_FFFF), 0x7FFF_FFFF_FFFF_FFFF);
        assert_eq!(decode(45 << 18 | 0x3_FFFF), 0x3_FFFF << 45);
        assert_eq!(encode(u64::MAX), 46 << 18 | 0x3_FFFF);
    }

    #[test]
    fn the_exponent_is_the_smallest_that_fits() {
        assert_eq!(encode(0), 0);
        assert_eq!(encode(262_143), 0x03_FFFF);
        // 131 072 * 2.
        assert_eq!(encode(262_144), 0x06_0000);
        // 2 500 001 / 16 = 156 250.06.
        assert_eq!(encode(2_500_001), 0x12_625A);
        assert_eq!(decode(0x12_625A), 2_500_000);
    }

    #[test]
    fn the_media_source_is_passed_over() {
        let bytes = hex("8f ce 00 04 00 00 00 01 00 00 00 09 52 45 4d 42 00 00 00 64");
        assert_eq!(parse(&bytes).unwrap().bitrate, 100);
    }

    #[test]
    fn a_message_other_than_a_remb_is_refused() {
        let error = |text| parse(&hex(text)).unwrap_err();
        assert_eq!(
            error("8f ce 00 04 00 00 00 01 00 00 00 00 52 45 4d 41 00 00 00 64"),
            ParseError::Name { offset: 12, found: *b"REMA", expected: *b"REMB" }
        );
        assert_eq!(
            error("8f ce 00 04 00 00 00 01 00 00 00 00 52 45 4d 42 01 00 00 64"),
            ParseError::TooShort { offset: 20, needed: 4, available: 0 }
        );
        assert_eq!(
            error("8f ce 00 03 00 00 00 01 00 00 00 00 52 45 4d 42"),
            ParseError::TooShort { offset: 16, needed: 1, available: 0 }
        );
        assert_eq!(
            error("81 ce 00 02 00 00 00 01 00 00 00 00"),
            ParseError::Format { offset: 0, found: 1, expected: 15 }
        );
        assert_eq!(
            error("8f cd 00 02 00 00 00 01 00 00 00 00"),
            ParseError::PacketType { offset: 1, found: 205, expected: 206 }
        );
    }

    #[test]
    fn too_many_sources_or_too_little_room_are_refused() {
        let mut buffer = [0xEE; 2000];
        let too_many = WriteError::TooMany { what: "sources", count: 256, limit: 255 };
        assert_eq!(Remb::write(1, 1, &[0; 256], &mut buffer), Err(too_many));
        let too_small = WriteError::BufferTooSmall(BufferTooSmall { needed: 24, available: 23 });
        assert_eq!(Remb::write(1, 1, &[0], &mut buffer[..23]), Err(too_small));
        assert_eq!(buffer, [0xEE; 2000]);
        assert_eq!(Remb::write(1, 1, &[0; 255], &mut buffer), Ok(20 + 255 * 4));
    }
}
