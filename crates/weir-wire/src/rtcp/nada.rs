//! NADA's report (RFC 8698 §5.3) as an APP packet (RFC 3550 §6.7).
//!
//! The RFC defines the values (`rmode`, `x_curr`, `r_recv`) and leaves their transport open. Here they travel in
//! an APP packet of subtype 0 and name "NADA", together with an echo by which the sender measures the round-trip
//! time:
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |V=2|P|    0    |    PT=204     |          length = 6           |
//! |                     SSRC of packet sender                     |
//! |      'N'      |      'A'      |      'D'      |      'A'      |
//! |M|     x_curr, 15 bits         |      transport sequence       |
//! |                     r_recv, 32 bits, bit/s                    |
//! |                     held, 32 bits, microseconds               |
//! |                       SSRC reported on                        |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! ```
//!
//! * `M` (`rmode`): 0 accelerated ramp-up, 1 gradual rate update.
//! * `x_curr`: aggregate congestion signal in units of 100 µs; 3.2767 s also covers longer times.
//! * transport sequence: lower 16 bits of the number of the newest packet received.
//! * `r_recv`: receive rate; 2³² − 1 also covers faster rates.
//! * held: from the arrival of that packet to this report; 2³² − 1 (71.6 min) also covers longer times.

use super::APPLICATION;
use super::compound::{HEADER_LEN, RtcpPacket, SSRC_LEN, read_name, start};
use crate::error::{BufferTooSmall, ParseError};

/// Subtype of the APP packet.
const SUBTYPE: u8 = 0;
pub(super) const NAME: [u8; 4] = *b"NADA";
const GRADUAL: u16 = 1 << 15;
/// Nanoseconds in the unit of the congestion signal.
const CONGESTION_UNIT_NANOS: i64 = 100_000;

/// NADA's report at the resolution of the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct NadaFeedback {
    /// SSRC of the sender of the report.
    pub ssrc: u32,
    /// The source reported on.
    pub source: u32,
    /// Whether accelerated ramp-up is allowed (`rmode` 0).
    pub ramp_up: bool,
    /// Aggregate congestion signal `x_curr` in units of 100 µs, 0 to 32767; writing saturates.
    pub congestion: u16,
    /// Lower 16 bits of the transport-wide number of the newest packet received.
    pub transport_sequence: u16,
    /// Receive rate `r_recv` in bit/s.
    pub receive_rate: u32,
    /// Time from the arrival of the newest packet to this report, in µs.
    pub held: u32,
}

impl NadaFeedback {
    /// Length on the wire in bytes.
    pub const WIRE_LEN: usize = HEADER_LEN + SSRC_LEN + NAME.len() + 16;
    /// The largest congestion signal the wire carries: 3.2767 s.
    pub const MAX_CONGESTION: u16 = GRADUAL - 1;

    /// A congestion signal of `nanos` nanoseconds in units of the wire: to the nearest, 0 if negative, saturating.
    pub const fn congestion_from_nanos(nanos: i64) -> u16 {
        let units = nanos.saturating_add(CONGESTION_UNIT_NANOS / 2) / CONGESTION_UNIT_NANOS;
        saturate(units, Self::MAX_CONGESTION as u32) as u16
    }

    /// The congestion signal in nanoseconds.
    pub const fn congestion_nanos(&self) -> i64 {
        self.congestion as i64 * CONGESTION_UNIT_NANOS
    }

    /// A receive rate of `bps` bit/s in units of the wire, saturating.
    pub const fn receive_rate_from_bps(bps: u64) -> u32 {
        if bps > u32::MAX as u64 { u32::MAX } else { bps as u32 }
    }

    /// A time of `nanos` nanoseconds that a packet was held, in units of the wire: to the nearest, 0 if negative,
    /// saturating.
    pub const fn held_from_nanos(nanos: i64) -> u32 {
        saturate(nanos.saturating_add(500) / 1000, u32::MAX)
    }

    /// The time that the newest packet was held, in nanoseconds.
    pub const fn held_nanos(&self) -> i64 {
        self.held as i64 * 1000
    }

    /// Reads NADA's report.
    ///
    /// # Errors
    /// If the packet is of another type, subtype or application, or too short.
    pub fn parse(packet: &RtcpPacket<'_>) -> Result<Self, ParseError> {
        let mut reader = packet.reader_of(APPLICATION)?;
        packet.require_format(SUBTYPE)?;
        let ssrc = reader.u32()?;
        read_name(&mut reader, NAME)?;
        let mode_and_congestion = reader.u16()?;
        Ok(Self {
            ssrc,
            ramp_up: mode_and_congestion & GRADUAL == 0,
            congestion: mode_and_congestion & Self::MAX_CONGESTION,
            transport_sequence: reader.u16()?,
            receive_rate: reader.u32()?,
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
        let mode = if self.ramp_up { 0 } else { GRADUAL };
        writer.u32(self.ssrc);
        writer.put(&NAME);
        writer.u16(mode | self.congestion.min(Self::MAX_CONGESTION));
        writer.u16(self.transport_sequence);
        writer.u32(self.receive_rate);
        writer.u32(self.held);
        writer.u32(self.source);
        Ok(Self::WIRE_LEN)
    }
}

/// `value` within 0 and `limit`.
pub(super) const fn saturate(value: i64, limit: u32) -> u32 {
    if value <= 0 {
        0
    } else if value > limit as i64 {
        limit
    } else {
        value as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rtcp::compound;
    use crate::rtcp::refusals::check_refusals;
    use crate::testing::hex;

    fn parse(bytes: &[u8]) -> Result<NadaFeedback, ParseError> {
        NadaFeedback::parse(&compound(bytes).next().unwrap()?)
    }

    /// The bytes of `report`.
    fn written(report: &NadaFeedback) -> Vec<u8> {
        let mut buffer = [0xEE; 28];
        assert_eq!(report.write(&mut buffer), Ok(28));
        buffer.to_vec()
    }

    const EXAMPLE: NadaFeedback = NadaFeedback {
        ssrc: 0x0102_0304,
        source: 0x0A0B_0C0D,
        ramp_up: false,
        // 10 ms.
        congestion: 100,
        transport_sequence: 65535,
        receive_rate: 1_000_000,
        // 2 ms.
        held: 2000,
    };

    #[test]
    fn a_report_is_28_bytes() {
        // 100 = 0x64 with the upper bit for gradual mode; 1 000 000 = 0xf4240; 2000 = 0x7d0.
        let bytes =
            hex("80 cc 00 06 01 02 03 04 4e 41 44 41 80 64 ff ff 00 0f 42 40 00 00 07 d0 0a 0b 0c 0d");
        assert_eq!(written(&EXAMPLE), bytes);
        assert_eq!(parse(&bytes), Ok(EXAMPLE));
        assert_eq!((EXAMPLE.congestion_nanos(), EXAMPLE.held_nanos()), (10_000_000, 2_000_000));
    }

    #[test]
    fn accelerated_ramp_up_is_mode_0() {
        let report = NadaFeedback { ramp_up: true, ..EXAMPLE };
        let bytes = written(&report);
        assert_eq!(bytes[12..14], [0x00, 0x64]);
        assert_eq!(parse(&bytes), Ok(report));
    }

    #[test]
    fn values_round_and_saturate() {
        assert_eq!(NadaFeedback::congestion_from_nanos(149_999), 1);
        assert_eq!(NadaFeedback::congestion_from_nanos(150_000), 2);
        assert_eq!(NadaFeedback::congestion_from_nanos(-1_000_000), 0);
        assert_eq!(NadaFeedback::congestion_from_nanos(3_276_700_000), 32767);
        assert_eq!(NadaFeedback::congestion_from_nanos(i64::MAX), 32767);
        assert_eq!(NadaFeedback::congestion_from_nanos(i64::MIN), 0);
        assert_eq!(NadaFeedback::receive_rate_from_bps(4_294_967_295), u32::MAX);
        assert_eq!(NadaFeedback::receive_rate_from_bps(4_294_967_296), u32::MAX);
        assert_eq!(NadaFeedback::held_from_nanos(1499), 1);
        assert_eq!(NadaFeedback::held_from_nanos(1500), 2);
        assert_eq!(NadaFeedback::held_from_nanos(-1), 0);
        assert_eq!(NadaFeedback::held_from_nanos(i64::MAX), u32::MAX);
    }

    #[test]
    fn a_congestion_signal_of_16_bits_does_not_become_the_mode() {
        let bytes = written(&NadaFeedback { ramp_up: true, congestion: 0xFFFF, ..EXAMPLE });
        let report = parse(&bytes).unwrap();
        assert_eq!((report.ramp_up, report.congestion), (true, 32767));
    }

    #[test]
    fn a_message_other_than_a_nada_report_is_refused() {
        let mut whole = [0; 28];
        EXAMPLE.write(&mut whole).unwrap();
        check_refusals(&whole, NadaFeedback::parse, |buffer| EXAMPLE.write(buffer));
    }
}
