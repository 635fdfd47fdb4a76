//! The header of a segment.

use super::ConnectionId;
use super::option::Setup;
use crate::cursor::{Reader, Writer};
use crate::error::{ParseError, WriteError, at_most};

/// Length without options, in bytes.
const FIXED_LEN: usize = 12;
/// The pair of ports in a SYN, in bytes.
const PORTS_LEN: usize = 4;
/// TCP's header without options, in words: the smallest data offset.
const SMALLEST_DATA_OFFSET: u8 = 5;
/// The most options, in bytes: the largest data offset is 15.
const MAX_OPTIONS_LEN: usize = 40;

/// The position of URG: the lowest bit of the connection's number.
const ID_LOW: u8 = 0x20;
const SYN: u8 = 0x02;

/// The ports of a TCP connection, as its segments' sender sees them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ports {
    /// The sender's port.
    pub source: u16,
    /// The receiver's port.
    pub destination: u16,
}

impl Ports {
    /// The same connection's ports as the other side sees them.
    #[must_use]
    pub const fn reversed(self) -> Self {
        Self { source: self.destination, destination: self.source }
    }
}

/// Identification of a segment's connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectionName {
    /// The real ports: a SYN or SYN/ACK.
    Ports(Ports),
    /// The connection's number: any other segment.
    Id(ConnectionId),
}

/// The control bits of TCP except SYN, which [`ConnectionName`] implies, and URG, which has no bit here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(u8);

impl Flags {
    /// Congestion window reduced.
    pub const CWR: Self = Self(0x80);
    /// Echo of congestion experienced.
    pub const ECE: Self = Self(0x40);
    /// The acknowledgment number is valid.
    pub const ACK: Self = Self(0x10);
    /// Push.
    pub const PSH: Self = Self(0x08);
    /// Reset.
    pub const RST: Self = Self(0x04);
    /// No more data.
    pub const FIN: Self = Self(0x01);

    /// The flags in TCP's octet of flags.
    pub const fn from_bits(bits: u8) -> Self {
        Self(bits & !(ID_LOW | SYN))
    }

    /// The bits in TCP's octet of flags.
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// The union of both sets.
    #[must_use]
    pub const fn and(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }

    /// Whether this set contains all of `others`.
    pub const fn has(self, others: Self) -> bool {
        self.0 & others.0 == others.0
    }
}

/// A segment's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentHeader<'a> {
    /// Identification of the connection.
    pub named: ConnectionName,
    /// Control bits.
    pub flags: Flags,
    /// Window, as TCP has it.
    pub window: u16,
    /// Sequence number.
    pub sequence: u32,
    /// Acknowledgment number; it counts if [`Flags::ACK`] is set.
    pub acknowledgment: u32,
    /// TCP's options in bytes, up to 40; a reader returns their padding too. A SYN's have [`Setup`] among them.
    pub options: &'a [u8],
}

impl<'a> SegmentHeader<'a> {
    /// Reads the segment that fills the payload of a UDP datagram: its header, and the payload that follows.
    ///
    /// # Errors
    /// If the header runs past the end, the data offset is below 5, or a SYN has no [`Setup`] that can be read.
    pub fn parse(bytes: &'a [u8]) -> Result<(Self, &'a [u8]), ParseError> {
        let mut reader = Reader::new(bytes, 0);
        reader.require(FIXED_LEN)?;
        let [first, flags] = reader.array()?;
        let data_offset = first >> 4;
        if data_offset < SMALLEST_DATA_OFFSET {
            return Err(ParseError::DataOffset { offset: 0, found: data_offset });
        }
        let (window, sequence, acknowledgment) = (reader.u16()?, reader.u32()?, reader.u32()?);
        let is_syn = flags & SYN != 0;
        let named = if is_syn {
            ConnectionName::Ports(read_ports(&mut reader)?)
        } else {
            ConnectionName::Id(id_of(first, flags))
        };
        let options_offset = reader.offset();
        let options = reader.slice(4 * usize::from(data_offset - SMALLEST_DATA_OFFSET))?;
        if is_syn {
            Setup::find_at(options, options_offset)?;
        }
        let flags = Flags::from_bits(flags);
        Ok((Self { named, flags, window, sequence, acknowledgment, options }, reader.rest()))
    }

    /// The option of a SYN that holds the connection's number, or `None` in other segments.
    pub fn setup(&self) -> Option<Setup> {
        match self.named {
            ConnectionName::Ports(_) => Setup::find(self.options).ok(),
            ConnectionName::Id(_) => None,
        }
    }

    /// Length on the wire in bytes.
    pub const fn wire_len(&self) -> usize {
        let ports_len = if let ConnectionName::Ports(_) = self.named { PORTS_LEN } else { 0 };
        FIXED_LEN + ports_len + self.options.len().next_multiple_of(4)
    }

    /// Writes the header to the start of `buffer` and returns its length. Options are filled up to whole words with the
    /// end of the list.
    ///
    /// # Errors
    /// If the buffer is too small, there are more than 40 bytes of options, or a SYN has no [`Setup`]. The buffer
    /// stays unchanged then.
    pub fn write(&self, buffer: &mut [u8]) -> Result<usize, WriteError> {
        at_most(MAX_OPTIONS_LEN, self.options.len(), "bytes of TCP options")?;
        let (id, syn) = match self.named {
            ConnectionName::Id(id) => (id.number(), 0),
            ConnectionName::Ports(_) if self.setup().is_none() => return Err(WriteError::NoSetup),
            ConnectionName::Ports(_) => (0, SYN),
        };
        let length = self.wire_len();
        let mut writer = Writer::new(buffer, length)?;
        let data_offset = SMALLEST_DATA_OFFSET + self.options.len().div_ceil(4) as u8;
        let id_low = if id & 1 == 0 { 0 } else { ID_LOW };
        writer.u8(data_offset << 4 | id >> 1);
        writer.u8(self.flags.bits() | id_low | syn);
        writer.u16(self.window);
        writer.u32(self.sequence);
        writer.u32(self.acknowledgment);
        if let ConnectionName::Ports(Ports { source, destination }) = self.named {
            writer.u16(source);
            writer.u16(destination);
        }
        writer.put(self.options);
        writer.zeros();
        Ok(length)
    }
}

fn read_ports(reader: &mut Reader<'_>) -> Result<Ports, ParseError> {
    Ok(Ports { source: reader.u16()?, destination: reader.u16()? })
}

/// The number in the lower half of the first octet, whose lowest bit is among the flags.
const fn id_of(first: u8, flags: u8) -> ConnectionId {
    ConnectionId((first & 0x0F) << 1 | (flags & ID_LOW != 0) as u8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::BufferTooSmall;
    use crate::testing::hex;

    const PORTS: Ports = Ports { source: 0xC001, destination: 443 };

    /// A segment of connection 19 with these TCP options.
    fn segment(options: &[u8]) -> SegmentHeader<'_> {
        let named = ConnectionName::Id(ConnectionId::new(0b1_0011).unwrap());
        let flags = Flags::ACK.and(Flags::PSH);
        SegmentHeader {
            named,
            flags,
            window: 0x0102,
            sequence: 0x0A0B_0C0D,
            acknowledgment: 0x1122_3344,
            options,
        }
    }

    /// The bytes of `header`; checks that no byte behind them changes.
    fn written(header: &SegmentHeader<'_>) -> Vec<u8> {
        let mut buffer = [0xEE; 100];
        let length = header.write(&mut buffer).unwrap();
        assert_eq!(length, header.wire_len());
        assert!(buffer[length..].iter().all(|&byte| byte == 0xEE), "nothing is written past the header");
        buffer[..length].to_vec()
    }

    #[test]
    fn a_segment_has_twelve_bytes_and_its_number_in_two_places() {
        let bytes = written(&segment(&[]));
        assert_eq!(bytes, hex("59 38 01 02 0a 0b 0c 0d 11 22 33 44"));
        assert_eq!(SegmentHeader::parse(&bytes), Ok((segment(&[]), &[][..])));
    }

    #[test]
    fn options_are_filled_up_and_the_payload_follows() {
        let mut bytes = written(&segment(&[8, 4, 1]));
        assert_eq!(bytes, hex("69 38 01 02 0a 0b 0c 0d 11 22 33 44 08 04 01 00"));
        bytes.extend([7, 7]);
        let (header, payload) = SegmentHeader::parse(&bytes).unwrap();
        assert_eq!((header.options, payload), (&[8, 4, 1, 0][..], &[7, 7][..]));
    }

    #[test]
    fn a_syn_carries_the_real_ports_and_its_number_as_an_option() {
        let setup = Setup::Use(ConnectionId::new(19).unwrap());
        let options = setup.option();
        let header =
            SegmentHeader { named: ConnectionName::Ports(PORTS), flags: Flags::ECE, ..segment(&options) };
        let bytes = written(&header);
        let expected = "70 42 01 02 0a 0b 0c 0d 11 22 33 44 c0 01 01 bb fd 05 54 49 13 00 00 00";
        assert_eq!(bytes, hex(expected));
        let (read, payload) = SegmentHeader::parse(&bytes).unwrap();
        assert_eq!((read.named, read.setup(), payload.len()), (header.named, Some(setup), 0));
        assert!(read.flags.has(Flags::ECE) && !read.flags.has(Flags::ACK));
    }

    #[test]
    fn broken_headers_are_refused_at_the_right_place() {
        let error = |text| SegmentHeader::parse(&hex(text)).unwrap_err();
        let short = |offset, needed, available| ParseError::TooShort { offset, needed, available };
        assert_eq!(error(""), short(0, 12, 0));
        assert_eq!(error("59 38 01 02 0a 0b 0c 0d 11 22 33"), short(0, 12, 11));
        assert_eq!(
            error("49 38 01 02 0a 0b 0c 0d 11 22 33 44"),
            ParseError::DataOffset { offset: 0, found: 4 }
        );
        // The data offset promises eight bytes of options.
        assert_eq!(error("79 38 01 02 0a 0b 0c 0d 11 22 33 44 01 01 01 01"), short(12, 8, 4));
        assert_eq!(error("50 02 01 02 0a 0b 0c 0d 11 22 33 44 c0 01"), short(14, 2, 0));
        let without_setup = "50 02 01 02 0a 0b 0c 0d 11 22 33 44 c0 01 01 bb";
        assert_eq!(error(without_setup), ParseError::MissingTcpOption { offset: 16, kind: 253 });
        let with_a_number_too_high =
            "70 02 01 02 0a 0b 0c 0d 11 22 33 44 c0 01 01 bb fd 05 54 49 fe 00 00 00";
        assert_eq!(error(with_a_number_too_high), ParseError::ConnectionId { offset: 16, found: 254 });
    }

    #[test]
    fn segments_that_do_not_fit_are_not_written() {
        let mut buffer = [0xEE; 60];
        let short = WriteError::BufferTooSmall(BufferTooSmall { needed: 12, available: 11 });
        assert_eq!(segment(&[]).write(&mut buffer[..11]), Err(short));
        let error = segment(&[1; 41]).write(&mut buffer).unwrap_err();
        assert_eq!(error.to_string(), "41 bytes of TCP options, there may be at most 40");
        let syn = SegmentHeader { named: ConnectionName::Ports(PORTS), ..segment(&[2, 4, 5, 0xb4]) };
        assert_eq!(syn.write(&mut buffer), Err(WriteError::NoSetup));
        assert_eq!(buffer, [0xEE; 60]);
    }

    #[test]
    fn a_segment_is_as_long_as_plain_tcp() {
        for options_len in (0..=MAX_OPTIONS_LEN).step_by(4) {
            assert_eq!(8 + segment(&[1; MAX_OPTIONS_LEN][..options_len]).wire_len(), 20 + options_len);
        }
    }
}
