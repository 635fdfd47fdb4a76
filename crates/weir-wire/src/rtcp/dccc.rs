//! DCCC's feedback (D'Aronco et al. 2017, appendix C-A) as an APP packet (RFC 3550 §6.7).
//!
//! The paper names the values and no format. Here they travel in an APP packet of subtype 0 and name "DCCC". As in
//! the other controllers' reports, the number of the newest packet and how long it was held are added:
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |V=2|P|    0    |    PT=204     |          length = 11          |
//! |                     SSRC of packet sender                     |
//! |      'D'      |      'C'      |      'C'      |      'C'      |
//! |                   delay, 64 bits, nanoseconds                 |
//! |                                                               |
//! |                   made at, 64 bits, nanoseconds               |
//! |                                                               |
//! |                 interarrival, 32 bits, nanoseconds            |
//! |                  sending rate, 32 bits, bit/s                 |
//! |      packet size, bytes       |      transport sequence       |
//! |                     held, 32 bits, microseconds               |
//! |                       SSRC reported on                        |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! ```
//!
//! * delay: mean of arrivals by the receiver's clock minus departures by the sender's, in two's complement. The
//!   delay holds the offset between the clocks, which may be hours or years, so it is neither rounded nor cut.
//! * made at: reading of the receiver's clock when the report was made, in two's complement.
//! * interarrival: mean time between arrivals, 0 for unknown; 2³² − 1 (4.29 s) also covers longer times.
//! * sending rate: mean of the rates stamped on the packets, 0 for unknown; 2³² − 1 also covers faster rates.
//! * packet size: mean payload of the packets; 65535 also covers larger ones.
//! * transport sequence: lower 16 bits of the number of the newest packet received.
//! * held: from the arrival of that packet to this report; 2³² − 1 (71.6 min) also covers longer times.

use super::APPLICATION;
use super::compound::{HEADER_LEN, RtcpPacket, SSRC_LEN, read_name, start};
use super::nada::{NadaFeedback, saturate};
use crate::error::{BufferTooSmall, ParseError};

/// Subtype of the APP packet.
const SUBTYPE: u8 = 0;
const NAME: [u8; 4] = *b"DCCC";

/// DCCC's feedback at the resolution of the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct DcccFeedback {
    /// SSRC of the sender of the report.
    pub ssrc: u32,
    /// The source reported on.
    pub source: u32,
    /// Mean one-way delay with the offset between the clocks, in ns.
    pub delay_nanos: i64,
    /// When the report was made, by the receiver's clock, in ns.
    pub made_nanos: i64,
    /// Mean time between arrivals in ns, 0 for unknown.
    pub interarrival: u32,
    /// Mean of the packets' sending rates in bit/s, 0 for unknown.
    pub sending_rate: u32,
    /// Mean payload of the packets in bytes.
    pub packet_size: u16,
    /// Lower 16 bits of the transport-wide number of the newest packet received.
    pub transport_sequence: u16,
    /// Time from the arrival of the newest packet to this report, in µs.
    pub held: u32,
}

impl DcccFeedback {
    /// Length on the wire in bytes.
    pub const WIRE_LEN: usize = HEADER_LEN + SSRC_LEN + NAME.len() + 36;

    /// A mean time between arrivals of `nanos` nanoseconds in units of the wire: 0 if negative, saturating.
    pub const fn interarrival_from_nanos(nanos: i64) -> u32 {
        saturate(nanos, u32::MAX)
    }

    /// A sending rate of `bps` bit/s in units of the wire, saturating.
    pub const fn sending_rate_from_bps(bps: u64) -> u32 {
        NadaFeedback::receive_rate_from_bps(bps)
    }

    /// A packet size of `bytes` in units of the wire, saturating.
    pub const fn packet_size_from_bytes(bytes: u64) -> u16 {
        if bytes > u16::MAX as u64 { u16::MAX } else { bytes as u16 }
    }

    /// A time of `nanos` nanoseconds that a packet was held, in units of the wire: to the nearest, 0 if negative,
    /// saturating.
    pub const fn held_from_nanos(nanos: i64) -> u32 {
        NadaFeedback::held_from_nanos(nanos)
    }

    /// The time that the newest packet was held, in nanoseconds.
    pub const fn held_nanos(&self) -> i64 {
        self.held as i64 * 1000
    }

    /// Reads DCCC's feedback.
    ///
    /// # Errors
    /// If the packet is of another type, subtype or application, or too short.
    pub fn parse(packet: &RtcpPacket<'_>) -> Result<Self, ParseError> {
        let mut reader = packet.reader_of(APPLICATION)?;
        packet.require_format(SUBTYPE)?;
        let ssrc = reader.u32()?;
        read_name(&mut reader, NAME)?;
        Ok(Self {
            ssrc,
            delay_nanos: reader.u64()? as i64,
            made_nanos: reader.u64()? as i64,
            interarrival: reader.u32()?,
            sending_rate: reader.u32()?,
            packet_size: reader.u16()?,
            transport_sequence: reader.u16()?,
            held: reader.u32()?,
            source: reader.u32()?,
        })
    }

    /// Writes the feedback to the start of `buffer` and returns its length.
    ///
    /// # Errors
    /// If the buffer is shorter than [`Self::WIRE_LEN`]. The buffer stays unchanged then.
    pub fn write(&self, buffer: &mut [u8]) -> Result<usize, BufferTooSmall> {
        let mut writer = start(buffer, Self::WIRE_LEN, SUBTYPE, APPLICATION)?;
        writer.u32(self.ssrc);
        writer.put(&NAME);
        writer.u64(self.delay_nanos as u64);
        writer.u64(self.made_nanos as u64);
        writer.u32(self.interarrival);
        writer.u32(self.sending_rate);
        writer.u16(self.packet_size);
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

    fn parse(bytes: &[u8]) -> Result<DcccFeedback, ParseError> {
        DcccFeedback::parse(&compound(bytes).next().unwrap()?)
    }

    const EXAMPLE: DcccFeedback = DcccFeedback {
        ssrc: 0x0102_0304,
        source: 0x0A0B_0C0D,
        // 119.23 ms.
        delay_nanos: 119_230_000,
        // One second before the clock's zero.
        made_nanos: -1_000_000_000,
        // 6 ms.
        interarrival: 6_000_000,
        sending_rate: 1_500_000,
        packet_size: 1024,
        transport_sequence: 65535,
        // 2 ms.
        held: 2000,
    };

    #[test]
    fn feedback_is_48_bytes() {
        // 119 230 000 = 0x71b4e30; −10⁹ = 0xffffffff_c4653600; 6 000 000 = 0x5b8d80; 1 500 000 = 0x16e360;
        // 1024 = 0x400; 2000 = 0x7d0.
        let bytes = hex(concat!(
            "80 cc 00 0b 01 02 03 04 44 43 43 43 00 00 00 00 07 1b 4e 30 ff ff ff ff c4 65 36 00 ",
            "00 5b 8d 80 00 16 e3 60 04 00 ff ff 00 00 07 d0 0a 0b 0c 0d",
        ));
        let mut buffer = [0xEE; 48];
        assert_eq!(EXAMPLE.write(&mut buffer), Ok(48));
        assert_eq!(buffer.to_vec(), bytes);
        assert_eq!(parse(&bytes), Ok(EXAMPLE));
        assert_eq!(EXAMPLE.held_nanos(), 2_000_000);
    }

    #[test]
    fn values_saturate() {
        assert_eq!(DcccFeedback::interarrival_from_nanos(-1), 0);
        assert_eq!(DcccFeedback::interarrival_from_nanos(4_294_967_294), u32::MAX - 1);
        assert_eq!(DcccFeedback::interarrival_from_nanos(i64::MAX), u32::MAX);
        assert_eq!(DcccFeedback::sending_rate_from_bps(4_294_967_296), u32::MAX);
        assert_eq!(DcccFeedback::packet_size_from_bytes(65_534), 65_534);
        assert_eq!(DcccFeedback::packet_size_from_bytes(65_536), u16::MAX);
        assert_eq!(DcccFeedback::held_from_nanos(1500), 2);
    }

    #[test]
    fn a_message_other_than_dccc_feedback_is_refused() {
        let mut whole = [0; 48];
        EXAMPLE.write(&mut whole).unwrap();
        check_refusals(&whole, DcccFeedback::parse, |buffer| EXAMPLE.write(buffer));
    }
}
