//! Statistics for shared bottleneck detection (RFC 8382 §3.1, scenario 2) as an APP packet (RFC 3550 §6.7).
//!
//! The RFC names the values and no format. Here they travel in an APP packet of subtype 0 and name "SBD1", one each
//! interval:
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |V=2|P|    0    |    PT=204     |          length = 8           |
//! |                     SSRC of packet sender                     |
//! |      'S'      |      'B'      |      'D'      |      '1'      |
//! |  version = 1  |     flags     |        interval number        |
//! |                       SSRC reported on                        |
//! |       skew_est, 1/2^14        |      freq_est, 1/2^15         |
//! |                  var_est, 32 bits, microseconds               |
//! |       pkt_loss, 1/2^15        |            samples            |
//! |               queuing delay, 32 bits, microseconds            |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! ```
//!
//! * flags: bit 0 for statistics that are defined, bit 1 for a receiver that has begun anew since its report
//!   before, bit 2 for a flow that passes a bottleneck. The other bits are 0 and ignored.
//! * interval number: its lower 16 bits.
//! * skew_est: in two's complement, −1 to 1.
//! * freq_est, pkt_loss: 0 to 1.
//! * var_est, queuing delay: 2³² − 1 (71.6 min) also covers longer times. The queuing delay shows whether coupling
//!   does harm.
//! * samples: of the interval; 65535 also covers more.

use super::APPLICATION;
use super::compound::{HEADER_LEN, RtcpPacket, SSRC_LEN, read_name, start};
use super::nada::NadaFeedback;
use crate::error::{BufferTooSmall, ParseError};

/// Subtype of the APP packet.
const SUBTYPE: u8 = 0;
const NAME: [u8; 4] = *b"SBD1";
const VERSION: u8 = 1;
const DEFINED: u8 = 1;
const ANEW: u8 = 2;
const BOTTLENECK: u8 = 4;
/// 1 in the unit of `skew_est`.
const SKEW_ONE: f64 = 16_384.0;
/// 1 in the unit of `freq_est` and `pkt_loss`.
const RATIO_ONE: f64 = 32_768.0;

/// Statistics of a flow at the resolution of the wire. Values from the wire may be out of range:
/// [`Self::skew_ratio`] and the others return them unclipped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Sbd {
    /// SSRC of the sender of the report.
    pub ssrc: u32,
    /// The source reported on.
    pub source: u32,
    /// Lower 16 bits of the interval's number.
    pub interval: u16,
    /// Whether the statistics are defined.
    pub defined: bool,
    /// Whether the receiver has begun anew.
    pub anew: bool,
    /// Whether the flow passes a bottleneck.
    pub bottleneck: bool,
    /// `skew_est` in 1/16384.
    pub skew: i16,
    /// `freq_est` in 1/32768.
    pub frequency: u16,
    /// `var_est` in µs.
    pub variability: u32,
    /// `pkt_loss` in 1/32768.
    pub loss: u16,
    /// Samples in the interval.
    pub samples: u16,
    /// Mean queuing delay of the interval in µs.
    pub queuing: u32,
}

impl Sbd {
    /// Length on the wire in bytes.
    pub const WIRE_LEN: usize = HEADER_LEN + SSRC_LEN + NAME.len() + 24;

    /// A skew in units of the wire: to the nearest, within [-1, 1]; 0 for NaN.
    pub fn skew_from(ratio: f64) -> i16 {
        nearest(ratio.clamp(-1.0, 1.0) * SKEW_ONE) as i16
    }

    /// A ratio in units of the wire: to the nearest, within [0, 1]; 0 for NaN.
    pub fn ratio_from(ratio: f64) -> u16 {
        nearest(ratio.clamp(0.0, 1.0) * RATIO_ONE) as u16
    }

    /// A time of `nanos` nanoseconds in units of the wire: to the nearest, 0 if negative, saturating.
    pub const fn micros_from_nanos(nanos: i64) -> u32 {
        NadaFeedback::held_from_nanos(nanos)
    }

    /// `skew_est`; beyond 1 or -1 where the report is invalid.
    pub fn skew_ratio(&self) -> f64 {
        f64::from(self.skew) / SKEW_ONE
    }

    /// `freq_est`; beyond 1 where the report is invalid.
    pub fn frequency_ratio(&self) -> f64 {
        f64::from(self.frequency) / RATIO_ONE
    }

    /// `pkt_loss`; beyond 1 where the report is invalid.
    pub fn loss_ratio(&self) -> f64 {
        f64::from(self.loss) / RATIO_ONE
    }

    /// Reads a report.
    ///
    /// # Errors
    /// If the packet is of another type, subtype, application or version, or too short.
    pub fn parse(packet: &RtcpPacket<'_>) -> Result<Self, ParseError> {
        let mut reader = packet.reader_of(APPLICATION)?;
        packet.require_format(SUBTYPE)?;
        let ssrc = reader.u32()?;
        read_name(&mut reader, NAME)?;
        let offset = reader.offset();
        let [version, flags] = reader.array()?;
        if version != VERSION {
            return Err(ParseError::Format { offset, found: version, expected: VERSION });
        }
        Ok(Self {
            ssrc,
            defined: flags & DEFINED != 0,
            anew: flags & ANEW != 0,
            bottleneck: flags & BOTTLENECK != 0,
            interval: reader.u16()?,
            source: reader.u32()?,
            skew: reader.u16()? as i16,
            frequency: reader.u16()?,
            variability: reader.u32()?,
            loss: reader.u16()?,
            samples: reader.u16()?,
            queuing: reader.u32()?,
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
        writer.u8(VERSION);
        let flag = |set: bool, bit: u8| if set { bit } else { 0 };
        writer.u8(flag(self.defined, DEFINED) | flag(self.anew, ANEW) | flag(self.bottleneck, BOTTLENECK));
        writer.u16(self.interval);
        writer.u32(self.source);
        writer.u16(self.skew as u16);
        writer.u16(self.frequency);
        writer.u32(self.variability);
        writer.u16(self.loss);
        writer.u16(self.samples);
        writer.u32(self.queuing);
        Ok(Self::WIRE_LEN)
    }
}

/// A value that `as` truncates to the nearest whole number, halves away from zero, as the `round` of std, which
/// core lacks.
fn nearest(value: f64) -> f64 {
    // Less than a half by the last bit: so what is below a half stays there when the sum is rounded.
    value + (0.5 - f64::EPSILON / 4.0).copysign(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rtcp::compound;
    use crate::rtcp::refusals::check_refusals;
    use crate::testing::hex;

    fn parse(bytes: &[u8]) -> Result<Sbd, ParseError> {
        Sbd::parse(&compound(bytes).next().unwrap()?)
    }

    const EXAMPLE: Sbd = Sbd {
        ssrc: 0x0102_0304,
        source: 0x0A0B_0C0D,
        interval: 0xFFFE,
        defined: true,
        anew: false,
        bottleneck: true,
        // -0.25, 0.2, 8.5 ms, 0.01, 35 of them, 40 ms.
        skew: -4096,
        frequency: 6554,
        variability: 8500,
        loss: 328,
        samples: 35,
        queuing: 40_000,
    };

    #[test]
    fn a_report_is_36_bytes() {
        // 6554 = 0x199a; 8500 = 0x2134; 328 = 0x148; 35 = 0x23; 40 000 = 0x9c40.
        let bytes = hex(concat!(
            "80 cc 00 08 01 02 03 04 53 42 44 31 01 05 ff fe 0a 0b 0c 0d f0 00 19 9a 00 00 21 34 ",
            "01 48 00 23 00 00 9c 40",
        ));
        let mut buffer = [0xEE; 36];
        assert_eq!(EXAMPLE.write(&mut buffer), Ok(36));
        assert_eq!(buffer.to_vec(), bytes);
        assert_eq!(parse(&bytes), Ok(EXAMPLE));
    }

    #[test]
    fn values_are_rounded_and_saturate() {
        assert_eq!(
            [-2.0, -1.0, -0.25, 1.0, f64::NAN].map(Sbd::skew_from),
            [-16_384, -16_384, -4096, 16_384, 0]
        );
        let of_one = [-1.5, -0.5, 0.5_f64.next_down(), 0.5, 2.5];
        assert_eq!(of_one.map(|units| Sbd::skew_from(units / SKEW_ONE)), [-2, -1, 0, 1, 3]);
        assert_eq!([-1.0, 0.2, 1.0, 7.0, f64::NAN].map(Sbd::ratio_from), [0, 6554, 32_768, 32_768, 0]);
        assert_eq!([-1, 1499, 1500, i64::MAX].map(Sbd::micros_from_nanos), [0, 1, 2, u32::MAX]);
        let impossible = Sbd { skew: i16::MIN, frequency: u16::MAX, loss: 32_769, ..EXAMPLE };
        assert_eq!(impossible.skew_ratio(), -2.0);
        assert!(impossible.frequency_ratio() > 1.0 && impossible.loss_ratio() > 1.0);
    }

    #[test]
    fn a_packet_other_than_a_report_is_refused() {
        let mut whole = [0; 36];
        EXAMPLE.write(&mut whole).unwrap();
        check_refusals(&whole, Sbd::parse, |buffer| EXAMPLE.write(buffer));
        whole[12] = 2;
        assert_eq!(parse(&whole), Err(ParseError::Format { offset: 12, found: 2, expected: 1 }));
    }
}
