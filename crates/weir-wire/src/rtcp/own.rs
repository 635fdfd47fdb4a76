//! A report that another controller defines for itself, as an APP packet (RFC 3550 §6.7).
//!
//! The controller defines its content: a name of four letters and up to 64 bytes. They travel in an APP packet of
//! subtype 7, unused by the formats above, together with an echo by which the sender measures the round-trip time:
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |V=2|P|    7    |    PT=204     |    length = 5 + words of data |
//! |                     SSRC of packet sender                     |
//! |                          name (ASCII)                         |
//! |                       SSRC reported on                        |
//! |                     held, 32 bits, microseconds               |
//! |      transport sequence       |  reserved, 0  | bytes of data |
//! |                  data, padded with zeros ...                  |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! ```
//!
//! * held: from the arrival of the newest packet received to this report; 2³² − 1 (71.6 min) also covers longer
//!   times.
//! * transport sequence: lower 16 bits of the number of that packet.
//! * bytes of data: 0 to 64. The packet ends with the word in which the data end.

use super::APPLICATION;
use super::compound::{HEADER_LEN, RtcpPacket, SSRC_LEN, start};
use super::nada::NadaFeedback;
use crate::error::{ParseError, WriteError, at_most};

/// Subtype of the APP packet.
pub(super) const SUBTYPE: u8 = 7;
const NAME_LEN: usize = 4;

/// A controller's own report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ControllerReport<'a> {
    /// SSRC of the sender of the report.
    pub ssrc: u32,
    /// The source reported on.
    pub source: u32,
    /// Name of the controller's report.
    pub name: [u8; NAME_LEN],
    /// Time from the arrival of the newest packet to this report, in µs.
    pub held: u32,
    /// Lower 16 bits of the transport-wide number of the newest packet received.
    pub transport_sequence: u16,
    /// Content, [`Self::MAX_DATA`] bytes at most.
    pub data: &'a [u8],
}

impl<'a> ControllerReport<'a> {
    /// The most bytes of data.
    pub const MAX_DATA: usize = 64;

    /// Length on the wire in bytes of a report with so many bytes of data.
    pub const fn wire_len(data: usize) -> usize {
        HEADER_LEN + SSRC_LEN + NAME_LEN + SSRC_LEN + 8 + data.next_multiple_of(4)
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

    /// Reads a report of any name.
    ///
    /// # Errors
    /// If the packet is of another type or subtype, too short, or not as long as its data.
    pub fn parse(packet: &RtcpPacket<'a>) -> Result<Self, ParseError> {
        let mut reader = packet.reader_of(APPLICATION)?;
        packet.require_format(SUBTYPE)?;
        let (ssrc, name) = (reader.u32()?, reader.array()?);
        let (source, held) = (reader.u32()?, reader.u32()?);
        let (transport_sequence, _reserved) = (reader.u16()?, reader.u8()?);
        let offset = reader.offset();
        let found = reader.u8()?;
        let length = usize::from(found);
        let wrong = |least, most| ParseError::DataLength { offset, found, least, most };
        if length > Self::MAX_DATA {
            return Err(wrong(0, Self::MAX_DATA));
        }
        let data = &reader.slice(length.next_multiple_of(4))?[..length];
        if !reader.rest().is_empty() {
            let room = length.next_multiple_of(4) + reader.rest().len();
            return Err(wrong(room.saturating_sub(3).min(Self::MAX_DATA), room.min(Self::MAX_DATA)));
        }
        Ok(Self { ssrc, source, name, held, transport_sequence, data })
    }

    /// Writes the report to the start of `buffer` and returns its length.
    ///
    /// # Errors
    /// If there are more than [`Self::MAX_DATA`] bytes of data, or the buffer is shorter than [`Self::wire_len`].
    /// The buffer stays unchanged then.
    pub fn write(&self, buffer: &mut [u8]) -> Result<usize, WriteError> {
        at_most(Self::MAX_DATA, self.data.len(), "bytes of data")?;
        let length = Self::wire_len(self.data.len());
        let mut writer = start(buffer, length, SUBTYPE, APPLICATION)?;
        writer.u32(self.ssrc);
        writer.put(&self.name);
        writer.u32(self.source);
        writer.u32(self.held);
        writer.u16(self.transport_sequence);
        writer.u8(0);
        writer.u8(self.data.len() as u8);
        writer.put(self.data);
        writer.zeros();
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rtcp::compound;
    use crate::rtcp::refusals::check_refusals_of_any_name;
    use crate::testing::hex;

    const EXAMPLE: ControllerReport<'_> = ControllerReport {
        ssrc: 0x0102_0304,
        source: 0x0A0B_0C0D,
        name: *b"MINE",
        // 2 ms.
        held: 2000,
        transport_sequence: 65534,
        data: &[0xA1, 0xA2, 0xA3, 0xA4, 0xA5],
    };

    fn parse(bytes: &[u8]) -> Result<ControllerReport<'_>, ParseError> {
        ControllerReport::parse(&compound(bytes).next().unwrap()?)
    }

    /// The bytes of `report`.
    fn written(report: &ControllerReport<'_>) -> Vec<u8> {
        let mut buffer = vec![0xEE; ControllerReport::wire_len(report.data.len())];
        assert_eq!(report.write(&mut buffer), Ok(buffer.len()));
        buffer
    }

    #[test]
    fn a_report_of_5_bytes_is_32() {
        // 2000 = 0x7d0; 65534 = 0xfffe.
        let bytes = hex(concat!(
            "87 cc 00 07 01 02 03 04 4d 49 4e 45 0a 0b 0c 0d 00 00 07 d0 ff fe 00 05 ",
            "a1 a2 a3 a4 a5 00 00 00",
        ));
        assert_eq!(written(&EXAMPLE), bytes);
        assert_eq!(parse(&bytes), Ok(EXAMPLE));
        assert_eq!(EXAMPLE.held_nanos(), 2_000_000);
    }

    #[test]
    fn a_report_may_say_nothing_or_64_bytes_and_no_more() {
        let most = [7; 65];
        for length in [0, 1, 4, 63, 64] {
            let report = ControllerReport { data: &most[..length], ..EXAMPLE };
            assert_eq!(parse(&written(&report)), Ok(report));
        }
        let error = WriteError::TooMany { what: "bytes of data", count: 65, limit: 64 };
        let mut buffer = [0xEE; 128];
        assert_eq!(ControllerReport { data: &most, ..EXAMPLE }.write(&mut buffer), Err(error));
        assert!(buffer.iter().all(|&byte| byte == 0xEE));
    }

    #[test]
    fn a_packet_other_than_a_report_is_refused() {
        check_refusals_of_any_name(
            &written(&EXAMPLE),
            |packet| ControllerReport::parse(packet).map(|_| ()),
            |buffer| {
                EXAMPLE.write(buffer).map_err(|error| match error {
                    WriteError::BufferTooSmall(error) => error,
                    other => panic!("{other:?}"),
                })
            },
        );
    }

    #[test]
    fn data_of_another_length_than_the_packet_has_room_for_are_refused() {
        let with_length = |length: u8| {
            let mut bytes = written(&EXAMPLE);
            bytes[23] = length;
            parse(&bytes).map(|report| report.data.len())
        };
        let wrong = |found, least, most| Err(ParseError::DataLength { offset: 23, found, least, most });
        assert_eq!([5, 8].map(with_length), [Ok(5), Ok(8)]);
        assert_eq!([0, 4].map(with_length), [0, 4].map(|found| wrong(found, 5, 8)));
        assert_eq!(with_length(9), Err(ParseError::TooShort { offset: 24, needed: 12, available: 8 }));
        assert_eq!([65, 255].map(with_length), [65, 255].map(|found| wrong(found, 0, 64)));
        // Padding that is not a multiple of four bytes.
        let mut padded =
            hex("a7 cc 00 06 00 00 00 01 4d 49 4e 45 00 00 00 02 00 00 07 d0 00 05 00 00 00 00 00 03");
        assert_eq!(parse(&padded).map(|report| report.data.len()), wrong(0, 0, 1));
        padded[27] = 4;
        assert_eq!(parse(&padded).map(|report| report.data.len()), Ok(0));
    }

    #[test]
    fn times_saturate() {
        assert_eq!([-1, 1499, 1500, i64::MAX].map(ControllerReport::held_from_nanos), [0, 1, 2, u32::MAX]);
    }
}
