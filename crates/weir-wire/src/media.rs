//! The RTP header that Weir's endpoints put before their media, as a plain value at the resolution of the wire.
//!
//! It is an RTP header without contributing sources and with one extension block in the one-byte form:
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |V=2|0|1|   0   |M|     PT      |        sequence number        |
//! |                           timestamp                           |
//! |                             SSRC                              |
//! |            0xBEDE             | length = 2, stamped: 3, or 4  |
//! | ID=3  | len=2 |           abs-send-time (24 bits)             |
//! | ID=5  | len=1 |      transport sequence       | ID=7  | len=1 |   not stamped: zero for the last byte
//! |     RTT in units of 100 us    |               0               |   only if stamped
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! ```
//!
//! A stamp with a rate ends so:
//!
//! ```text
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! | ID=5  | len=1 |      transport sequence       | ID=7  | len=5 |
//! |     RTT in units of 100 us    |     rate in bit/s, upper 16   |
//! |           lower 16            |               0               |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! ```
//!
//! The transport-wide sequence number is that of draft-holmer-rmcat-transport-wide-cc-extensions-01, one counter
//! over all streams of the transport. The [`Stamp`] is Weir's own.

use core::fmt;

use crate::abs_send_time::AbsSendTime;
use crate::cursor::Writer;
use crate::error::{BufferTooSmall, ParseError};
use crate::rtp::{FIXED_HEADER_LEN, ONE_BYTE_PROFILE, RtpPacket, VERSION};

/// Length of an IPv4 header without options, in bytes.
pub const IPV4_HEADER_LEN: usize = 20;
/// Length of a UDP header, in bytes.
pub const UDP_HEADER_LEN: usize = 8;
/// What UDP over IPv4 adds to each packet, in bytes.
pub const UDP_IPV4_OVERHEAD: usize = IPV4_HEADER_LEN + UDP_HEADER_LEN;

/// What a law's sender tells its receiver with each packet: a header extension of two bytes, or of six if it knows the
/// rate it sends at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Stamp {
    /// The sender's round-trip time in units of 100 µs, 0 while unknown; the largest value, 6.5535 s, stands for itself
    /// and anything longer.
    pub rtt: u16,
    /// The rate it sends at in bit/s, 0 while unknown or of no use; 2³² − 1 stands for itself and anything faster.
    pub rate: u32,
}

/// Nanoseconds in the unit of the stamp's round-trip time.
const RTT_UNIT_NANOS: i64 = 100_000;
/// Length of a stamp without its rate, in bytes.
const RTT_LEN: usize = 2;
/// Length of a stamp with its rate, in bytes.
const RTT_AND_RATE_LEN: usize = 6;

impl Stamp {
    /// The stamp for a round-trip time in nanoseconds, to the nearest unit, and a rate in bit/s. A time of zero or less
    /// means unknown; anything longer is at least one unit, so that a short path is not taken for an unknown one. A
    /// rate of zero means unknown.
    pub const fn new(rtt_nanos: i64, rate_bps: u64) -> Self {
        let rate = if rate_bps > u32::MAX as u64 { u32::MAX } else { rate_bps as u32 };
        if rtt_nanos <= 0 {
            return Self { rtt: 0, rate };
        }
        let units = rtt_nanos.saturating_add(RTT_UNIT_NANOS / 2) / RTT_UNIT_NANOS;
        let rtt = if units > u16::MAX as i64 { u16::MAX } else { units as u16 };
        Self { rtt: if rtt == 0 { 1 } else { rtt }, rate }
    }

    /// The round-trip time in nanoseconds, 0 while unknown.
    pub const fn rtt_nanos(self) -> i64 {
        self.rtt as i64 * RTT_UNIT_NANOS
    }

    /// Length of its data on the wire in bytes.
    const fn data_len(self) -> usize {
        if self.rate == 0 { RTT_LEN } else { RTT_AND_RATE_LEN }
    }
}

/// The IDs under which a session carries the header extensions: distinct and within 1 to 14.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExtensionIds {
    abs_send_time: u8,
    transport_sequence: u8,
    stamp: u8,
}

impl Default for ExtensionIds {
    /// abs-send-time 3, transport-wide sequence number 5, stamp 7.
    fn default() -> Self {
        Self { abs_send_time: 3, transport_sequence: 5, stamp: 7 }
    }
}

impl ExtensionIds {
    /// These IDs.
    ///
    /// # Errors
    /// If two are the same, or one is not within 1 to 14: the one-byte form has no others.
    pub const fn new(
        abs_send_time: u8,
        transport_sequence: u8,
        stamp: u8,
    ) -> Result<Self, InvalidExtensionIds> {
        let ids = Self { abs_send_time, transport_sequence, stamp };
        let usable = usable_id(abs_send_time) && usable_id(transport_sequence) && usable_id(stamp);
        let distinct =
            abs_send_time != transport_sequence && abs_send_time != stamp && transport_sequence != stamp;
        if usable && distinct { Ok(ids) } else { Err(InvalidExtensionIds(ids)) }
    }

    /// ID of abs-send-time.
    pub const fn abs_send_time(&self) -> u8 {
        self.abs_send_time
    }

    /// ID of the transport-wide sequence number.
    pub const fn transport_sequence(&self) -> u8 {
        self.transport_sequence
    }

    /// ID of the [`Stamp`].
    pub const fn stamp(&self) -> u8 {
        self.stamp
    }
}

const fn usable_id(id: u8) -> bool {
    1 <= id && id <= 14
}

/// Extension IDs that a session cannot use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidExtensionIds(ExtensionIds);

impl fmt::Display for InvalidExtensionIds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ExtensionIds { abs_send_time, transport_sequence, stamp } = self.0;
        write!(
            f,
            "extension IDs {abs_send_time} (abs-send-time), {transport_sequence} (transport sequence) and \
             {stamp} (stamp) must be distinct and within 1 to 14"
        )
    }
}

impl core::error::Error for InvalidExtensionIds {}

/// The header of a media packet. As a value and as bytes it says the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct MediaHeader {
    /// Payload type, 0 to 127; the upper bit is not written. With the marker set, 64 to 95 would be taken for RTCP
    /// (RFC 5761 §4).
    pub payload_type: u8,
    /// Marker: the last packet of a frame.
    pub marker: bool,
    /// Sequence number of the stream.
    pub sequence: u16,
    /// Media time in ticks of the media clock.
    pub timestamp: u32,
    /// Synchronisation source: the stream.
    pub ssrc: u32,
    /// When the packet left.
    pub abs_send_time: AbsSendTime,
    /// Lower 16 bits of the packet's number on the transport.
    pub transport_sequence: u16,
    /// What the law's sender has to tell, if anything.
    pub stamp: Option<Stamp>,
}

/// Length of a media header without a stamp, in bytes.
pub const PLAIN_LEN: usize = FIXED_HEADER_LEN + 12;
/// Length of a media header with a stamp without its rate, in bytes.
pub const STAMPED_LEN: usize = PLAIN_LEN + 4;
/// Length of a media header with a stamp and its rate, in bytes: no media header is longer.
pub const RATED_LEN: usize = PLAIN_LEN + 8;

/// Length on the wire in bytes of a media header with this stamp: [`PLAIN_LEN`], [`STAMPED_LEN`] or [`RATED_LEN`].
pub const fn header_len(stamp: Option<Stamp>) -> usize {
    match stamp {
        None => PLAIN_LEN,
        Some(Stamp { rate: 0, .. }) => STAMPED_LEN,
        Some(_) => RATED_LEN,
    }
}

impl MediaHeader {
    /// Length on the wire in bytes; see [`header_len`].
    pub const fn wire_len(&self) -> usize {
        header_len(self.stamp)
    }

    /// Writes the header to the start of `buffer` and returns its length.
    ///
    /// # Errors
    /// If the buffer is shorter than [`Self::wire_len`]. Nothing is written then.
    pub fn write(&self, ids: &ExtensionIds, buffer: &mut [u8]) -> Result<usize, BufferTooSmall> {
        let length = self.wire_len();
        let mut writer = Writer::new(buffer, length)?;
        writer.u8(VERSION << 6 | EXTENSION_FLAG);
        writer.u8(u8::from(self.marker) << 7 | self.payload_type & 0x7F);
        writer.u16(self.sequence);
        writer.u32(self.timestamp);
        writer.u32(self.ssrc);
        writer.u16(ONE_BYTE_PROFILE);
        writer.u16(((length - FIXED_HEADER_LEN) / 4 - 1) as u16);
        writer.u8(element_prefix(ids.abs_send_time, 3));
        writer.u24(self.abs_send_time.ticks());
        writer.u8(element_prefix(ids.transport_sequence, 2));
        writer.u16(self.transport_sequence);
        if let Some(stamp) = self.stamp {
            writer.u8(element_prefix(ids.stamp, stamp.data_len() as u8));
            writer.u16(stamp.rtt);
            if stamp.rate > 0 {
                writer.u32(stamp.rate);
            }
        }
        writer.zeros();
        Ok(length)
    }

    /// Reads the header at the start of an RTP packet.
    ///
    /// # Errors
    /// If `bytes` are no RTP packet, or as [`Self::from_packet`].
    pub fn parse(bytes: &[u8], ids: &ExtensionIds) -> Result<Self, ParseError> {
        Self::from_packet(&RtpPacket::parse(bytes)?, ids)
    }

    /// What an RTP packet's header says. Contributing sources and other extensions are passed over.
    ///
    /// # Errors
    /// If abs-send-time or the transport-wide sequence number is missing, or an extension has the wrong length.
    pub fn from_packet(packet: &RtpPacket<'_>, ids: &ExtensionIds) -> Result<Self, ParseError> {
        let [high, middle, low] = required(packet, ids.abs_send_time)?;
        Ok(Self {
            payload_type: packet.payload_type,
            marker: packet.marker,
            sequence: packet.sequence,
            timestamp: packet.timestamp,
            ssrc: packet.ssrc,
            abs_send_time: AbsSendTime::from_ticks(u32::from_be_bytes([0, high, middle, low])),
            transport_sequence: required(packet, ids.transport_sequence).map(u16::from_be_bytes)?,
            stamp: stamp(packet, ids.stamp)?,
        })
    }
}

/// The bit of the first byte that says that an extension block follows.
const EXTENSION_FLAG: u8 = 0x10;

/// The byte before the data of a one-byte-form element.
const fn element_prefix(id: u8, data_len: u8) -> u8 {
    id << 4 | (data_len - 1)
}

fn required<const N: usize>(packet: &RtpPacket<'_>, id: u8) -> Result<[u8; N], ParseError> {
    optional(packet, id)?
        .ok_or_else(|| ParseError::MissingExtension { offset: packet.extension_offset(), id })
}

fn stamp(packet: &RtpPacket<'_>, id: u8) -> Result<Option<Stamp>, ParseError> {
    if let Some(&[high, low, ref rate @ ..]) = packet.extension(id)
        && let Ok(rate) = rate.try_into()
    {
        let stamp = Stamp { rtt: u16::from_be_bytes([high, low]), rate: u32::from_be_bytes(rate) };
        return Ok(Some(stamp));
    }
    Ok(optional(packet, id)?.map(|rtt| Stamp { rtt: u16::from_be_bytes(rtt), rate: 0 }))
}

fn optional<const N: usize>(packet: &RtpPacket<'_>, id: u8) -> Result<Option<[u8; N]>, ParseError> {
    let Some(data) = packet.extension(id) else { return Ok(None) };
    data.try_into().map(Some).map_err(|_| ParseError::ExtensionLength {
        offset: packet.extension_offset(),
        id,
        found: data.len(),
        expected: N,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::rtp::{Extension, RtpHeader};
    use crate::testing::hex;

    const IDS: ExtensionIds = ExtensionIds { abs_send_time: 3, transport_sequence: 5, stamp: 7 };

    fn example(stamp: Option<Stamp>) -> MediaHeader {
        MediaHeader {
            payload_type: 96,
            marker: true,
            sequence: 65535,
            timestamp: 305_419_896,
            ssrc: 0xCAFE_BABE,
            abs_send_time: AbsSendTime::from_nanos(12_345_678_000),
            transport_sequence: 500,
            stamp,
        }
    }

    fn any_header() -> impl Strategy<Value = MediaHeader> {
        let fixed = (0..=127u8, any::<bool>(), any::<u16>(), any::<u32>(), any::<u32>());
        let rate = prop_oneof![Just(0), any::<u32>()];
        let stamp = prop::option::of((any::<u16>(), rate).prop_map(|(rtt, rate)| Stamp { rtt, rate }));
        (fixed, any::<u32>(), any::<u16>(), stamp).prop_map(
            |((payload_type, marker, sequence, timestamp, ssrc), ticks, transport_sequence, stamp)| {
                MediaHeader {
                    payload_type,
                    marker,
                    sequence,
                    timestamp,
                    ssrc,
                    abs_send_time: AbsSendTime::from_ticks(ticks),
                    transport_sequence,
                    stamp,
                }
            },
        )
    }

    fn any_ids() -> impl Strategy<Value = ExtensionIds> {
        (1..=14u8, 1..=14u8, 1..=14u8)
            .prop_filter_map("distinct IDs", |(a, b, c)| ExtensionIds::new(a, b, c).ok())
    }

    proptest! {
        #[test]
        fn header_and_bytes_are_the_same_thing(header in any_header(), ids in any_ids()) {
            let mut buffer = [0xEE; RATED_LEN];
            let length = header.write(&ids, &mut buffer).unwrap();
            prop_assert_eq!(length, header.wire_len());
            prop_assert!(buffer[length..].iter().all(|&byte| byte == 0xEE));
            prop_assert_eq!(MediaHeader::parse(&buffer[..length], &ids), Ok(header));
            let packet = RtpPacket::parse(&buffer[..length]).unwrap();
            prop_assert_eq!((packet.header_len(), packet.payload.len()), (length, 0));
        }

        #[test]
        fn the_general_writer_writes_the_same_bytes(header in any_header()) {
            let time = header.abs_send_time.ticks().to_be_bytes();
            let sequence = header.transport_sequence.to_be_bytes();
            let stamp = header.stamp.unwrap_or_default();
            let rtt_and_rate = [&stamp.rtt.to_be_bytes()[..], &stamp.rate.to_be_bytes()].concat();
            let extensions = [
                Extension { id: 3, data: &time[1..] },
                Extension { id: 5, data: &sequence },
                Extension { id: 7, data: if stamp.rate == 0 { &rtt_and_rate[..2] } else { &rtt_and_rate } },
            ];
            let general = RtpHeader {
                marker: header.marker,
                payload_type: header.payload_type,
                sequence: header.sequence,
                timestamp: header.timestamp,
                ssrc: header.ssrc,
                extensions: &extensions[..if header.stamp.is_some() { 3 } else { 2 }],
                ..RtpHeader::default()
            };
            let (mut ours, mut theirs) = ([0; RATED_LEN], [0; RATED_LEN]);
            let length = header.write(&IDS, &mut ours).unwrap();
            prop_assert_eq!(general.write(&mut theirs), Ok(length));
            prop_assert_eq!(ours, theirs);
        }
    }

    #[test]
    fn a_plain_header_has_24_bytes() {
        let mut buffer = [0xEE; 24];
        assert_eq!(example(None).write(&IDS, &mut buffer), Ok(24));
        let expected = hex("90 e0 ff ff 12 34 56 78 ca fe ba be be de 00 02 32 31 61 f9 51 01 f4 00");
        assert_eq!(buffer[..], expected);
        assert_eq!(MediaHeader::parse(&expected, &IDS), Ok(example(None)));
    }

    #[test]
    fn a_stamped_header_has_28_bytes() {
        let mut buffer = [0xEE; 28];
        // 50 ms are 500 = 0x01f4 units of 100 us.
        let header = example(Some(Stamp::new(50_000_000, 0)));
        assert_eq!(header.write(&IDS, &mut buffer), Ok(28));
        let expected =
            hex("90 e0 ff ff 12 34 56 78 ca fe ba be be de 00 03 32 31 61 f9 51 01 f4 71 01 f4 00 00");
        assert_eq!(buffer[..], expected);
        assert_eq!(MediaHeader::parse(&expected, &IDS), Ok(header));
    }

    #[test]
    fn a_header_with_a_rate_has_32_bytes() {
        let mut buffer = [0xEE; 32];
        // 1 500 000 = 0x16e360 bit/s; length 4 words.
        let header = example(Some(Stamp::new(50_000_000, 1_500_000)));
        assert_eq!(header.write(&IDS, &mut buffer), Ok(32));
        let expected = hex(concat!(
            "90 e0 ff ff 12 34 56 78 ca fe ba be be de 00 04 32 31 61 f9 51 01 f4 75 01 f4 00 16 ",
            "e3 60 00 00"
        ));
        assert_eq!(buffer[..], expected);
        assert_eq!(MediaHeader::parse(&expected, &IDS), Ok(header));
    }

    #[test]
    fn either_form_of_extensions_and_any_neighbours_are_read() {
        let bytes =
            hex("90 6f 00 00 00 00 03 c0 11 22 33 44 10 00 00 03 03 03 31 61 f9 05 02 01 f4 00 00 00 aa");
        let header = MediaHeader::parse(&bytes, &IDS).unwrap();
        assert_eq!((header.abs_send_time.ticks(), header.transport_sequence), (0x31_61F9, 500));
        assert_eq!((header.payload_type, header.timestamp, header.stamp), (111, 960, None));
    }

    #[test]
    fn missing_and_misshapen_extensions_are_named() {
        let plain = hex("80 60 00 01 00 00 00 02 00 00 00 03");
        let missing = |id| Err(ParseError::MissingExtension { offset: 12, id });
        assert_eq!(MediaHeader::parse(&plain, &IDS), missing(3));
        let only_time = hex("90 60 00 01 00 00 00 02 00 00 00 03 be de 00 01 32 31 61 f9");
        assert_eq!(MediaHeader::parse(&only_time, &IDS), missing(5));
        let short_time = hex("90 60 00 01 00 00 00 02 00 00 00 03 be de 00 01 31 31 61 00");
        let misshapen = ParseError::ExtensionLength { offset: 12, id: 3, found: 2, expected: 3 };
        assert_eq!(MediaHeader::parse(&short_time, &IDS), Err(misshapen));
        let long_stamp =
            "90 60 00 01 00 00 00 02 00 00 00 03 be de 00 03 32 31 61 f9 51 01 f4 72 01 f4 00 00";
        let misshapen = ParseError::ExtensionLength { offset: 12, id: 7, found: 3, expected: 2 };
        assert_eq!(MediaHeader::parse(&hex(long_stamp), &IDS), Err(misshapen));
    }

    #[test]
    fn a_small_buffer_is_left_as_it_was() {
        let mut buffer = [0xEE; 27];
        let error = example(Some(Stamp::default())).write(&IDS, &mut buffer).unwrap_err();
        assert_eq!(error, BufferTooSmall { needed: 28, available: 27 });
        assert_eq!(buffer, [0xEE; 27]);
    }

    #[test]
    fn the_stamp_rounds_saturates_and_keeps_a_short_path_known() {
        assert_eq!(Stamp::new(0, 0).rtt, 0);
        assert_eq!(Stamp::new(-5, 0).rtt, 0);
        assert_eq!(Stamp::new(1, 0).rtt, 1);
        assert_eq!(Stamp::new(149_999, 0).rtt, 1);
        assert_eq!(Stamp::new(150_000, 0).rtt, 2);
        // 6.5535 s is the longest.
        assert_eq!(Stamp::new(6_553_500_000, 0).rtt, 65535);
        assert_eq!(Stamp::new(i64::MAX, 0).rtt, 65535);
        assert_eq!(Stamp { rtt: 65535, rate: 0 }.rtt_nanos(), 6_553_500_000);
        assert_eq!(Stamp::new(0, 4_294_967_295).rate, u32::MAX);
        assert_eq!(Stamp::new(0, 4_294_967_296).rate, u32::MAX);
    }

    #[test]
    fn ids_must_be_distinct_and_within_1_to_14() {
        assert_eq!(ExtensionIds::new(3, 5, 7), Ok(ExtensionIds::default()));
        for (a, b, c) in [(0, 5, 7), (3, 15, 7), (3, 5, 15), (3, 3, 7), (3, 5, 5), (7, 5, 7)] {
            assert!(ExtensionIds::new(a, b, c).is_err(), "{a} {b} {c}");
        }
        assert_eq!(
            ExtensionIds::new(3, 3, 7).unwrap_err().to_string(),
            "extension IDs 3 (abs-send-time), 3 (transport sequence) and 7 (stamp) must be distinct and within 1 to 14"
        );
    }

    #[test]
    fn udp_over_ipv4_adds_28_bytes() {
        assert_eq!(UDP_IPV4_OVERHEAD, 28);
    }
}
