//! Picture loss indication (RFC 4585 §6.3.1): the receiver cannot decode the stream and requests a key frame.
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |V=2|P|  FMT=1  |    PT=206     |          length = 2           |
//! |                     SSRC of packet sender                     |
//! |                      SSRC of the stream                       |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! ```

use super::PAYLOAD_FEEDBACK;
use super::compound::{HEADER_LEN, RtcpPacket, SSRC_LEN, start};
use crate::error::{BufferTooSmall, ParseError};

/// Feedback message type of picture loss indications.
pub(super) const FORMAT: u8 = 1;

/// A picture loss indication.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Pli {
    /// SSRC of the receiver that requests it.
    pub ssrc: u32,
    /// The stream that is to send a key frame.
    pub source: u32,
}

impl Pli {
    /// Length on the wire in bytes.
    pub const WIRE_LEN: usize = HEADER_LEN + 2 * SSRC_LEN;

    /// Reads a picture loss indication. Further bytes of the packet are skipped.
    ///
    /// # Errors
    /// If the packet is of another type or format, or too short.
    pub fn parse(packet: &RtcpPacket<'_>) -> Result<Self, ParseError> {
        let mut reader = packet.reader_of(PAYLOAD_FEEDBACK)?;
        packet.require_format(FORMAT)?;
        Ok(Self { ssrc: reader.u32()?, source: reader.u32()? })
    }

    /// Writes the message to the start of `buffer` and returns its length.
    ///
    /// # Errors
    /// If the buffer is too small. The buffer stays unchanged then.
    pub fn write(&self, buffer: &mut [u8]) -> Result<usize, BufferTooSmall> {
        let mut writer = start(buffer, Self::WIRE_LEN, FORMAT, PAYLOAD_FEEDBACK)?;
        writer.u32(self.ssrc);
        writer.u32(self.source);
        Ok(Self::WIRE_LEN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rtcp::compound;
    use crate::testing::hex;

    fn parse(bytes: &[u8]) -> Result<Pli, ParseError> {
        Pli::parse(&compound(bytes).next().unwrap()?)
    }

    #[test]
    fn a_picture_loss_indication_names_its_sender_and_its_source() {
        let bytes = hex("81 ce 00 02 00 00 00 02 ca fe ba be");
        let pli = Pli { ssrc: 2, source: 0xCAFE_BABE };
        assert_eq!(parse(&bytes), Ok(pli));
        let mut buffer = [0xEE; 13];
        assert_eq!(pli.write(&mut buffer), Ok(12));
        assert_eq!((&buffer[..12], buffer[12]), (&bytes[..], 0xEE));
    }

    #[test]
    fn a_message_other_than_a_picture_loss_indication_is_refused() {
        let error = |text| parse(&hex(text)).unwrap_err();
        assert_eq!(
            error("81 cd 00 02 00 00 00 02 00 00 00 01"),
            ParseError::PacketType { offset: 1, found: 205, expected: 206 }
        );
        assert_eq!(
            error("84 ce 00 02 00 00 00 02 00 00 00 01"),
            ParseError::Format { offset: 0, found: 4, expected: 1 }
        );
        assert_eq!(
            error("81 ce 00 01 00 00 00 02"),
            ParseError::TooShort { offset: 8, needed: 4, available: 0 }
        );
        let mut buffer = [0xEE; 11];
        let too_small = BufferTooSmall { needed: 12, available: 11 };
        assert_eq!(Pli::default().write(&mut buffer), Err(too_small));
        assert_eq!(buffer, [0xEE; 11]);
    }
}
