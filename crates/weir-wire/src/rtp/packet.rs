//! Reading an RTP packet in place.

use super::extension::{Extension, ExtensionBlock, Extensions};
use super::{FIXED_HEADER_LEN, VERSION};
use crate::cursor::Reader;
use crate::error::ParseError;

/// An RTP packet, borrowed from the bytes it came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RtpPacket<'a> {
    /// Marker: its meaning depends on the payload; with video, the last packet of a frame.
    pub marker: bool,
    /// Payload type, 0 to 127.
    pub payload_type: u8,
    /// Sequence number, growing by one per packet of the source.
    pub sequence: u16,
    /// Media time in ticks of the media clock.
    pub timestamp: u32,
    /// Synchronisation source.
    pub ssrc: u32,
    /// The extension block, if there is one.
    pub extension_block: Option<ExtensionBlock<'a>>,
    /// The payload without padding.
    pub payload: &'a [u8],
    /// Bytes of padding after the payload.
    pub padding: u8,
    csrcs: &'a [u8],
    header_len: usize,
}

impl<'a> RtpPacket<'a> {
    /// Reads the packet that fills `bytes`.
    ///
    /// # Errors
    /// If the header runs past the end, the version is not 2, or the padding does not fit.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, ParseError> {
        let mut reader = Reader::new(bytes, 0);
        reader.require(FIXED_HEADER_LEN)?;
        let [first, second] = reader.array()?;
        if first >> 6 != VERSION {
            return Err(ParseError::Version { offset: 0, found: first >> 6 });
        }
        let (has_padding, has_extension, csrc_count) = (first & 0x20 != 0, first & 0x10 != 0, first & 0xF);
        let sequence = reader.u16()?;
        let timestamp = reader.u32()?;
        let ssrc = reader.u32()?;
        let csrcs = reader.slice(4 * usize::from(csrc_count))?;
        let extension_block = if has_extension { Some(read_extension_block(&mut reader)?) } else { None };
        let header_len = reader.offset();
        let (payload, padding) = if has_padding { split_padding(reader)? } else { (reader.rest(), 0) };
        Ok(Self {
            marker: second & 0x80 != 0,
            payload_type: second & 0x7F,
            sequence,
            timestamp,
            ssrc,
            extension_block,
            payload,
            padding,
            csrcs,
            header_len,
        })
    }

    /// The contributing sources, up to 15.
    pub fn csrcs(&self) -> impl ExactSizeIterator<Item = u32> + use<'a> {
        words(self.csrcs)
    }

    /// The elements of the extension block.
    pub fn extensions(&self) -> Extensions<'a> {
        self.extension_block.map_or(Extensions::NONE, |block| block.elements())
    }

    /// The data of the first extension with this ID.
    pub fn extension(&self, id: u8) -> Option<&'a [u8]> {
        self.extensions().find(|element| element.id == id).map(|Extension { data, .. }| data)
    }

    /// The data of the first extension with this ID, of a kind whose data has `N` bytes, if there is one.
    ///
    /// # Errors
    /// If its data has another length.
    pub fn extension_of<const N: usize>(&self, id: u8) -> Result<Option<[u8; N]>, ParseError> {
        let Some(data) = self.extension(id) else { return Ok(None) };
        data.try_into().map(Some).map_err(|_| ParseError::ExtensionLength {
            offset: self.extension_offset(),
            id,
            found: data.len(),
            expected: N,
        })
    }

    /// Where the extension block begins or would begin.
    pub fn extension_offset(&self) -> usize {
        FIXED_HEADER_LEN + self.csrcs.len()
    }

    /// Length of the header with sources and extensions, in bytes.
    pub const fn header_len(&self) -> usize {
        self.header_len
    }
}

/// The whole 32-bit words of `bytes`.
pub(crate) fn words(bytes: &[u8]) -> impl ExactSizeIterator<Item = u32> {
    bytes.as_chunks().0.iter().map(|word| u32::from_be_bytes(*word))
}

fn read_extension_block<'a>(reader: &mut Reader<'a>) -> Result<ExtensionBlock<'a>, ParseError> {
    let profile = reader.u16()?;
    let length = reader.u16()?;
    Ok(ExtensionBlock { profile, data: reader.slice(4 * usize::from(length))? })
}

/// Splits the remaining bytes into payload and the count of padding bytes, which the last byte holds.
pub(crate) fn split_padding(reader: Reader<'_>) -> Result<(&[u8], u8), ParseError> {
    reader.require(1)?;
    let rest = reader.rest();
    let count = rest.last().copied().unwrap_or_default();
    match rest.len().checked_sub(usize::from(count)) {
        Some(length) if count > 0 => Ok((&rest[..length], count)),
        _ => Err(ParseError::Padding { offset: reader.offset() + rest.len() - 1, count, limit: rest.len() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abs_send_time::AbsSendTime;
    use crate::testing::hex;

    type Elements = Vec<(u8, Vec<u8>)>;

    fn elements(packet: &RtpPacket<'_>) -> Elements {
        packet.extensions().map(|e| (e.id, e.data.to_vec())).collect()
    }

    #[test]
    fn a_plain_header_is_read() {
        let bytes = hex("80 00 3d 7f ea aa 63 f4 f0 1b 40 e9");
        let packet = RtpPacket::parse(&bytes).unwrap();
        assert!(!packet.marker);
        assert_eq!((packet.payload_type, packet.sequence), (0, 15743));
        assert_eq!((packet.timestamp, packet.ssrc), (3_937_035_252, 0xF01B_40E9));
        assert_eq!((packet.csrcs().len(), packet.extension_block), (0, None));
        assert_eq!((packet.header_len(), packet.payload.len(), packet.padding), (12, 0, 0));
    }

    #[test]
    fn contributing_sources_are_read() {
        let bytes = hex("82 00 3e d2 00 00 00 90 5f bd 16 9e ab cd ef 01 de ad be ef");
        let packet = RtpPacket::parse(&bytes).unwrap();
        assert_eq!((packet.sequence, packet.timestamp, packet.ssrc), (16082, 144, 0x5FBD_169E));
        assert_eq!(packet.csrcs().collect::<Vec<_>>(), [0xABCD_EF01, 0xDEAD_BEEF]);
        assert_eq!(packet.header_len(), 20);
    }

    #[test]
    fn padding_is_kept_out_of_the_payload() {
        let bytes =
            hex("b0 62 56 7a bd 02 9f 83 59 7e af 6d be de 00 01 22 f1 cc 8c 11 22 33 44 55 00 00 03");
        let packet = RtpPacket::parse(&bytes).unwrap();
        assert_eq!((packet.payload_type, packet.sequence), (98, 22138));
        assert_eq!((packet.timestamp, packet.ssrc), (3_171_065_731, 0x597E_AF6D));
        assert_eq!((packet.payload, packet.padding), (&bytes[20..25], 3));
        assert_eq!(elements(&packet), [(2, vec![0xf1, 0xcc, 0x8c])]);
        assert_eq!(AbsSendTime::from_ticks(0xF1_CC8C).nanos() / 1000, 60_449_752);
    }

    #[test]
    fn one_byte_extensions_are_read() {
        let bytes = hex("90 e0 ff ff 12 34 56 78 ca fe ba be be de 00 02 32 31 61 f9 51 01 f4 00");
        let packet = RtpPacket::parse(&bytes).unwrap();
        assert!(packet.marker);
        assert_eq!((packet.payload_type, packet.sequence), (96, 65535));
        assert_eq!((packet.timestamp, packet.ssrc), (305_419_896, 0xCAFE_BABE));
        assert_eq!(packet.extension(3), Some(&[0x31, 0x61, 0xf9][..]));
        assert_eq!(packet.extension(5), Some(&500u16.to_be_bytes()[..]));
        assert_eq!(packet.extension(4), None);
        assert_eq!((packet.extension_of(5), packet.extension_of::<2>(4)), (Ok(Some([1, 0xF4])), Ok(None)));
        let too_long = ParseError::ExtensionLength { offset: 12, id: 3, found: 3, expected: 2 };
        assert_eq!(packet.extension_of::<2>(3), Err(too_long));
        assert_eq!((packet.header_len(), packet.extension_offset()), (24, 12));
    }

    #[test]
    fn two_byte_extensions_are_read() {
        let bytes =
            hex("90 6f 00 00 00 00 03 c0 11 22 33 44 10 00 00 03 03 03 31 61 f9 05 02 01 f4 00 00 00");
        let packet = RtpPacket::parse(&bytes).unwrap();
        assert_eq!((packet.payload_type, packet.sequence, packet.timestamp), (111, 0, 960));
        assert_eq!(elements(&packet), [(3, vec![0x31, 0x61, 0xf9]), (5, vec![0x01, 0xf4])]);
        assert_eq!(packet.header_len(), 28);
    }

    #[test]
    fn a_packet_may_be_all_padding() {
        let bytes = hex("b0 61 03 e8 00 01 5f 90 0a 0b 0c 0d be de 00 01 51 ff ff 00 00 00 00 04");
        let packet = RtpPacket::parse(&bytes).unwrap();
        assert_eq!((packet.payload_type, packet.sequence, packet.timestamp), (97, 1000, 90000));
        assert_eq!(elements(&packet), [(5, vec![0xff, 0xff])]);
        assert_eq!((packet.payload, packet.padding), (&[][..], 4));
    }

    #[test]
    fn an_empty_extension_block_is_legal() {
        let bytes = hex("90 00 00 01 00 00 00 02 00 00 00 03 be de 00 00 aa");
        let packet = RtpPacket::parse(&bytes).unwrap();
        assert_eq!((elements(&packet), packet.payload), (vec![], &[0xaa][..]));
        assert_eq!(packet.extension_block, Some(ExtensionBlock { profile: 0xBEDE, data: &[] }));
    }

    #[test]
    fn broken_headers_are_refused_at_the_right_place() {
        let error = |text| RtpPacket::parse(&hex(text)).unwrap_err();
        let short = |offset, needed, available| ParseError::TooShort { offset, needed, available };
        assert_eq!(error("80 00 3d 7f ea aa 63 f4 f0 1b 40"), short(0, 12, 11));
        assert_eq!(error(""), short(0, 12, 0));
        let version_one = "40 00 00 01 00 00 00 02 00 00 00 03";
        assert_eq!(error(version_one), ParseError::Version { offset: 0, found: 1 });
        assert_eq!(error("81 00 00 01 00 00 00 02 00 00 00 03 aa bb cc"), short(12, 4, 3));
        assert_eq!(error("90 00 00 01 00 00 00 02 00 00 00 03 be de 00"), short(14, 2, 1));
        assert_eq!(error("90 00 00 01 00 00 00 02 00 00 00 03 be de 00 01 aa bb cc"), short(16, 4, 3));
    }

    #[test]
    fn padding_that_does_not_fit_is_refused() {
        let error = |tail: &str| {
            RtpPacket::parse(&hex(&format!("a0 00 00 01 00 00 00 02 00 00 00 03 {tail}"))).unwrap_err()
        };
        assert_eq!(error("aa bb 00"), ParseError::Padding { offset: 14, count: 0, limit: 3 });
        assert_eq!(error("aa bb 04"), ParseError::Padding { offset: 14, count: 4, limit: 3 });
        assert_eq!(error(""), ParseError::TooShort { offset: 12, needed: 1, available: 0 });
    }
}
