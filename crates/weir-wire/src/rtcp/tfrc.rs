//! TFRC's feedback (RFC 5348 §3.2.2) as an APP packet (RFC 3550 §6.7).
//!
//! The RFC defines the values (`X_recv`, `p`, `t_recvdata`, `t_delay`) and leaves their transport open. Here they
//! travel in an APP packet of subtype 0 and name "TFRC"; a packet's number stands for `t_recvdata`, as the sender
//! knows its departure time:
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |V=2|P|    0    |    PT=204     |          length = 7           |
//! |                     SSRC of packet sender                     |
//! |      'T'      |      'F'      |      'R'      |      'C'      |
//! |                         p, 32 bits                            |
//! |                    X_recv, 32 bits, bit/s                     |
//! |                     held, 32 bits, microseconds               |
//! |      transport sequence       |               0               |
//! |                       SSRC reported on                        |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! ```
//!
//! * `p`: loss event rate in units of 2⁻³²; 0 before the first loss event, 2³² − 1 stands for 1.
//! * `X_recv`: receive rate; 2³² − 1 also covers faster rates.
//! * held (`t_delay`): from the arrival of the newest packet to this report; 2³² − 1 (71.6 min) also covers longer
//!   times.
//! * transport sequence: lower 16 bits of the number of the newest packet received. The 16 bits after it are 0 and
//!   ignored.

use super::APPLICATION;
use super::compound::{HEADER_LEN, RtcpPacket, SSRC_LEN, read_name, start};
use crate::error::{BufferTooSmall, ParseError};

/// Subtype of the APP packet.
const SUBTYPE: u8 = 0;
const NAME: [u8; 4] = *b"TFRC";
/// 1 in the unit of the loss event rate.
const ONE: f64 = 4_294_967_296.0;

/// TFRC's feedback at the resolution of the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct TfrcFeedback {
    /// SSRC of the sender of the report.
    pub ssrc: u32,
    /// The source reported on.
    pub source: u32,
    /// Loss event rate `p` in units of 2⁻³².
    pub loss_event_rate: u32,
    /// Receive rate `X_recv` in bit/s.
    pub receive_rate: u32,
    /// Time from the arrival of the newest packet to this report, in µs.
    pub held: u32,
    /// Lower 16 bits of the transport-wide number of the newest packet received.
    pub transport_sequence: u16,
}

impl TfrcFeedback {
    /// Length on the wire in bytes.
    pub const WIRE_LEN: usize = HEADER_LEN + SSRC_LEN + NAME.len() + 20;

    /// A loss event rate in units of the wire: to the nearest, but at least one unit if above 0, saturating. NaN is 0.
    pub fn loss_event_rate_from(p: f64) -> u32 {
        if p > 0.0 { ((p * ONE + 0.5) as u32).max(1) } else { 0 }
    }

    /// The loss event rate, in [0, 1].
    pub fn loss_event_rate(&self) -> f64 {
        match self.loss_event_rate {
            u32::MAX => 1.0,
            p => f64::from(p) / ONE,
        }
    }

    /// Reads TFRC's feedback.
    ///
    /// # Errors
    /// If the packet is of another type, subtype or application, or too short.
    pub fn parse(packet: &RtcpPacket<'_>) -> Result<Self, ParseError> {
        let mut reader = packet.reader_of(APPLICATION)?;
        packet.require_format(SUBTYPE)?;
        let ssrc = reader.u32()?;
        read_name(&mut reader, NAME)?;
        let (loss_event_rate, receive_rate, held) = (reader.u32()?, reader.u32()?, reader.u32()?);
        let (transport_sequence, _) = (reader.u16()?, reader.u16()?);
        let source = reader.u32()?;
        Ok(Self { ssrc, source, loss_event_rate, receive_rate, held, transport_sequence })
    }

    /// Writes the feedback to the start of `buffer` and returns its length.
    ///
    /// # Errors
    /// If the buffer is shorter than [`Self::WIRE_LEN`]. The buffer stays unchanged then.
    pub fn write(&self, buffer: &mut [u8]) -> Result<usize, BufferTooSmall> {
        let mut writer = start(buffer, Self::WIRE_LEN, SUBTYPE, APPLICATION)?;
        writer.u32(self.ssrc);
        writer.put(&NAME);
        writer.u32(self.loss_event_rate);
        writer.u32(self.receive_rate);
        writer.u32(self.held);
        writer.u16(self.transport_sequence);
        writer.u16(0);
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

    fn parse(bytes: &[u8]) -> Result<TfrcFeedback, ParseError> {
        TfrcFeedback::parse(&compound(bytes).next().unwrap()?)
    }

    const EXAMPLE: TfrcFeedback = TfrcFeedback {
        ssrc: 0x0102_0304,
        source: 0x0A0B_0C0D,
        // 1/64.
        loss_event_rate: 1 << 26,
        receive_rate: 1_000_000,
        // 2 ms.
        held: 2000,
        transport_sequence: 65535,
    };

    const BYTES: &str = concat!(
        "80 cc 00 07 01 02 03 04 54 46 52 43 04 00 00 00 ",
        "00 0f 42 40 00 00 07 d0 ff ff 00 00 0a 0b 0c 0d"
    );

    #[test]
    fn a_report_is_32_bytes() {
        let mut buffer = [0xEE; 32];
        assert_eq!(EXAMPLE.write(&mut buffer), Ok(32));
        assert_eq!(buffer.to_vec(), hex(BYTES));
        assert_eq!(parse(&buffer), Ok(EXAMPLE));
        assert_eq!(EXAMPLE.loss_event_rate(), 1.0 / 64.0);
    }

    #[test]
    fn the_bits_that_mean_nothing_are_ignored() {
        let mut bytes = hex(BYTES);
        bytes[26..28].copy_from_slice(&[0xAB, 0xCD]);
        assert_eq!(parse(&bytes), Ok(EXAMPLE));
    }

    #[test]
    fn the_loss_event_rate_rounds_and_saturates() {
        let through = |p| {
            TfrcFeedback { loss_event_rate: TfrcFeedback::loss_event_rate_from(p), ..EXAMPLE }
                .loss_event_rate()
        };
        assert_eq!(through(0.0), 0.0);
        assert_eq!(through(f64::NAN), 0.0);
        assert_eq!(through(-0.1), 0.0);
        assert_eq!(through(0.5), 0.5);
        assert_eq!(through(1.0), 1.0);
        assert_eq!(through(7.0), 1.0);
        // A loss event is never rounded away: 2⁻³².
        assert_eq!(TfrcFeedback::loss_event_rate_from(1e-12), 1);
        // 0.01 · 2³² = 42 949 672.96.
        assert_eq!(TfrcFeedback::loss_event_rate_from(0.01), 42_949_673);
    }

    #[test]
    fn a_message_other_than_tfrc_feedback_is_refused() {
        let mut whole = [0; 32];
        EXAMPLE.write(&mut whole).unwrap();
        check_refusals(&whole, TfrcFeedback::parse, |buffer| EXAMPLE.write(buffer));
    }
}
