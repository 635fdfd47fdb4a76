//! The report of NADA's first drafts (draft-zhu-rmcat-nada-03) as an APP packet (RFC 3550 §6.7).
//!
//! There the sender computes the rate from a smoothed one-way delay and a reference delay. The draft leaves the
//! transport open. Here both travel in an APP packet of subtype 1 and name "NADA", with the echo of RFC 8698's
//! report (subtype 0):
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |V=2|P|    1    |    PT=204     |          length = 7           |
//! |                     SSRC of packet sender                     |
//! |      'N'      |      'A'      |      'D'      |      'A'      |
//! |                     x_n, 32 bits, microseconds                |
//! |                     x_ref, 32 bits, microseconds              |
//! |          reserved, 0          |      transport sequence       |
//! |                     held, 32 bits, microseconds               |
//! |                       SSRC reported on                        |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! ```
//!
//! Times saturate at 2³² − 1 µs (71.6 min); a negative one is 0.

use super::APPLICATION;
use super::compound::{HEADER_LEN, RtcpPacket, SSRC_LEN, read_name, start};
use super::nada::{NAME, NadaFeedback};
use crate::error::{BufferTooSmall, ParseError};

/// Subtype of the APP packet.
pub(super) const SUBTYPE: u8 = 1;

/// The report at the resolution of the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct NadaDelay {
    /// SSRC of the sender of the report.
    pub ssrc: u32,
    /// The source reported on.
    pub source: u32,
    /// Congestion signal `x_n`, a delay in µs.
    pub congestion: u32,
    /// Reference delay `x_ref` in µs.
    pub reference: u32,
    /// Lower 16 bits of the transport-wide number of the newest packet received.
    pub transport_sequence: u16,
    /// Time from the arrival of the newest packet to this report, in µs.
    pub held: u32,
}

impl NadaDelay {
    /// Length on the wire in bytes.
    pub const WIRE_LEN: usize = HEADER_LEN + SSRC_LEN + NAME.len() + 20;

    /// A time of `nanos` nanoseconds in units of the wire: to the nearest, 0 if negative, saturating.
    pub const fn micros_from_nanos(nanos: i64) -> u32 {
        NadaFeedback::held_from_nanos(nanos)
    }

    /// Reads the report.
    ///
    /// # Errors
    /// If the packet is of another type, subtype or application, or too short.
    pub fn parse(packet: &RtcpPacket<'_>) -> Result<Self, ParseError> {
        let mut reader = packet.reader_of(APPLICATION)?;
        packet.require_format(SUBTYPE)?;
        let ssrc = reader.u32()?;
        read_name(&mut reader, NAME)?;
        let (congestion, reference) = (reader.u32()?, reader.u32()?);
        let _reserved = reader.u16()?;
        Ok(Self {
            ssrc,
            congestion,
            reference,
            transport_sequence: reader.u16()?,
            held: reader.u32()?,
            source: reader.u32()?,
        })
    }

    /// Writes the report to the start of `buffer` and returns its length.
    ///
    /// # Errors
    /// If the buffer is shorter than [`Self::WIRE_LEN`]. The buffer stays unchanged then.
    pub fn write(&self, buffer: &mut [u8]) -> Result<usize, BufferTooSmall> {
        let mut writer = start(buffer, Self::WIRE_LEN, SUBTYPE, APPLICATION)?;
        writer.u32(self.ssrc);
        writer.put(&NAME);
        writer.u32(self.congestion);
        writer.u32(self.reference);
        writer.u16(0);
        writer.u16(self.transport_sequence);
        writer.u32(self.held);
        writer.u32(self.source);
        Ok(Self::WIRE_LEN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rtcp::compound;
    use crate::rtcp::refusals::check_refusals;
    use crate::testing::hex;

    const EXAMPLE: NadaDelay = NadaDelay {
        ssrc: 0x0102_0304,
        source: 0x0A0B_0C0D,
        // 105 ms and 25 ms.
        congestion: 105_000,
        reference: 25_000,
        transport_sequence: 65535,
        held: 2000,
    };

    #[test]
    fn a_report_is_32_bytes() {
        // 105 000 = 0x19a28; 25 000 = 0x61a8; 2000 = 0x7d0.
        let bytes = hex(concat!(
            "81 cc 00 07 01 02 03 04 4e 41 44 41 00 01 9a 28 ",
            "00 00 61 a8 00 00 ff ff 00 00 07 d0 0a 0b 0c 0d",
        ));
        let mut buffer = [0xEE; 33];
        assert_eq!(EXAMPLE.write(&mut buffer), Ok(32));
        assert_eq!((&buffer[..32], buffer[32]), (&bytes[..], 0xEE));
        assert_eq!(NadaDelay::parse(&compound(&bytes).next().unwrap().unwrap()), Ok(EXAMPLE));
    }

    #[test]
    fn a_message_of_another_kind_is_refused() {
        let mut whole = [0; 32];
        EXAMPLE.write(&mut whole).unwrap();
        check_refusals(&whole, NadaDelay::parse, |buffer| EXAMPLE.write(buffer));
    }

    #[test]
    fn times_saturate() {
        assert_eq!(NadaDelay::micros_from_nanos(-1), 0);
        assert_eq!(NadaDelay::micros_from_nanos(1500), 2);
        assert_eq!(NadaDelay::micros_from_nanos(i64::MAX), u32::MAX);
    }
}
