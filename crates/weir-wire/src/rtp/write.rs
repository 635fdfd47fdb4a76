//! Writing an RTP header.

use super::extension::{Extension, ExtensionForm};
use super::{FIXED_HEADER_LEN, VERSION};
use crate::cursor::Writer;
use crate::error::{WriteError, at_most};

/// An RTP header to be written, borrowed from its parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RtpHeader<'a> {
    /// Whether the packet ends in padding, to be written after the payload with [`write_padding`].
    pub padding: bool,
    /// The marker bit.
    pub marker: bool,
    /// Payload type, 0 to 127; the upper bit is not written.
    pub payload_type: u8,
    /// Sequence number.
    pub sequence: u16,
    /// Media time in ticks of the media clock.
    pub timestamp: u32,
    /// Synchronisation source.
    pub ssrc: u32,
    /// Contributing sources, at most 15.
    pub csrcs: &'a [u32],
    /// Header extensions. They are written in the one-byte form if all have an ID below 15 and 1 to 16 bytes of
    /// data, else in the two-byte form.
    pub extensions: &'a [Extension<'a>],
}

impl RtpHeader<'_> {
    /// Length on the wire in bytes.
    pub fn wire_len(&self) -> usize {
        let extension_len = if self.extensions.is_empty() { 0 } else { 4 + 4 * self.extension_words() };
        FIXED_HEADER_LEN + 4 * self.csrcs.len() + extension_len
    }

    /// Writes the header to the start of `buffer` and returns its length.
    ///
    /// # Errors
    /// If the buffer is too small, there are more than 15 sources, an extension has ID 0 or more than 255 bytes,
    /// or the block exceeds 65535 words. The buffer stays unchanged then.
    pub fn write(&self, buffer: &mut [u8]) -> Result<usize, WriteError> {
        at_most(15, self.csrcs.len(), "contributing sources")?;
        for element in self.extensions {
            if element.id == 0 {
                return Err(WriteError::ExtensionIdZero);
            }
            at_most(255, element.data.len(), "bytes in a header extension")?;
        }
        at_most(usize::from(u16::MAX), self.extension_words(), "words of header extensions")?;

        let length = self.wire_len();
        let mut writer = Writer::new(buffer, length)?;
        let flags = u8::from(self.padding) << 5 | u8::from(!self.extensions.is_empty()) << 4;
        writer.u8(VERSION << 6 | flags | self.csrcs.len() as u8);
        writer.u8(u8::from(self.marker) << 7 | self.payload_type & 0x7F);
        writer.u16(self.sequence);
        writer.u32(self.timestamp);
        writer.u32(self.ssrc);
        for &csrc in self.csrcs {
            writer.u32(csrc);
        }
        if !self.extensions.is_empty() {
            self.write_extensions(writer);
        }
        Ok(length)
    }

    fn write_extensions(&self, mut writer: Writer<'_>) {
        let form = ExtensionForm::for_elements(self.extensions);
        writer.u16(form.profile());
        writer.u16(self.extension_words() as u16);
        for &Extension { id, data } in self.extensions {
            match form {
                ExtensionForm::OneByte => writer.u8(id << 4 | (data.len() - 1) as u8),
                ExtensionForm::TwoByte => writer.put(&[id, data.len() as u8]),
            }
            writer.put(data);
        }
        writer.zeros();
    }

    /// Length of the extension block without its own word, in words.
    fn extension_words(&self) -> usize {
        let prefix_len = ExtensionForm::for_elements(self.extensions).prefix_len();
        self.extensions.iter().map(|e| prefix_len + e.data.len()).sum::<usize>().div_ceil(4)
    }
}

/// Fills `room`, the space after the payload, with RTP padding: zeros, and their count in the last byte.
///
/// # Errors
/// If the space exceeds the largest count, 255 bytes. The space stays unchanged then.
pub fn write_padding(room: &mut [u8]) -> Result<(), WriteError> {
    at_most(255, room.len(), "bytes of padding")?;
    let count = room.len() as u8;
    room.fill(0);
    if let Some(last) = room.last_mut() {
        *last = count;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::BufferTooSmall;
    use crate::rtp::RtpPacket;
    use crate::testing::hex;

    /// The bytes of `header`; checks that no byte behind them changes.
    fn written(header: &RtpHeader<'_>) -> Vec<u8> {
        let mut buffer = [0xEE; 600];
        let length = header.write(&mut buffer).unwrap();
        assert_eq!(length, header.wire_len());
        assert!(buffer[length..].iter().all(|&byte| byte == 0xEE), "nothing is written past the header");
        buffer[..length].to_vec()
    }

    #[test]
    fn a_plain_header_is_written() {
        let header = RtpHeader {
            sequence: 15743,
            timestamp: 3_937_035_252,
            ssrc: 0xF01B_40E9,
            ..RtpHeader::default()
        };
        assert_eq!(written(&header), hex("80 00 3d 7f ea aa 63 f4 f0 1b 40 e9"));
    }

    #[test]
    fn contributing_sources_are_written() {
        let header = RtpHeader {
            sequence: 16082,
            timestamp: 144,
            ssrc: 0x5FBD_169E,
            csrcs: &[0xABCD_EF01, 0xDEAD_BEEF],
            ..RtpHeader::default()
        };
        assert_eq!(written(&header), hex("82 00 3e d2 00 00 00 90 5f bd 16 9e ab cd ef 01 de ad be ef"));
    }

    #[test]
    fn short_extensions_are_written_in_the_one_byte_form() {
        let header = RtpHeader {
            marker: true,
            payload_type: 96,
            sequence: 65535,
            timestamp: 305_419_896,
            ssrc: 0xCAFE_BABE,
            extensions: &[
                Extension { id: 3, data: &[0x31, 0x61, 0xf9] },
                Extension { id: 5, data: &[0x01, 0xf4] },
            ],
            ..RtpHeader::default()
        };
        let expected = hex("90 e0 ff ff 12 34 56 78 ca fe ba be be de 00 02 32 31 61 f9 51 01 f4 00");
        assert_eq!(written(&header), expected);
    }

    #[test]
    fn the_two_byte_form_is_for_what_the_one_byte_form_cannot_carry() {
        let form = |id, data: &[u8]| ExtensionForm::for_elements(&[Extension { id, data }]);
        assert_eq!(form(14, &[0; 16]), ExtensionForm::OneByte);
        assert_eq!(form(1, &[0]), ExtensionForm::OneByte);
        assert_eq!(form(15, &[0]), ExtensionForm::TwoByte);
        assert_eq!(form(1, &[0; 17]), ExtensionForm::TwoByte);
        assert_eq!(form(1, &[]), ExtensionForm::TwoByte);
    }

    #[test]
    fn long_extensions_are_written_in_the_two_byte_form() {
        let header = RtpHeader {
            payload_type: 111,
            timestamp: 960,
            ssrc: 0x1122_3344,
            extensions: &[
                Extension { id: 3, data: &[0x31, 0x61, 0xf9] },
                Extension { id: 5, data: &[0x01, 0xf4] },
                Extension { id: 200, data: &[] },
            ],
            ..RtpHeader::default()
        };
        let expected = "90 6f 00 00 00 00 03 c0 11 22 33 44 10 00 00 03 03 03 31 61 f9 05 02 01 f4 c8 00 00";
        assert_eq!(written(&header), hex(expected));
    }

    #[test]
    fn a_padded_packet_is_written_in_two_steps() {
        let header = RtpHeader {
            padding: true,
            payload_type: 97,
            sequence: 1000,
            timestamp: 90000,
            ssrc: 0x0A0B_0C0D,
            extensions: &[Extension { id: 5, data: &[0xff, 0xff] }],
            ..RtpHeader::default()
        };
        let mut bytes = written(&header);
        bytes.extend([0xEE; 4]);
        write_padding(&mut bytes[20..]).unwrap();
        let expected = hex("b0 61 03 e8 00 01 5f 90 0a 0b 0c 0d be de 00 01 51 ff ff 00 00 00 00 04");
        assert_eq!(bytes, expected);
        assert_eq!(RtpPacket::parse(&bytes).unwrap().padding, 4);
    }

    #[test]
    fn a_small_buffer_is_left_as_it_was() {
        let mut buffer = [0xEE; 11];
        let error = RtpHeader::default().write(&mut buffer).unwrap_err();
        assert_eq!(error, WriteError::BufferTooSmall(BufferTooSmall { needed: 12, available: 11 }));
        assert_eq!(buffer, [0xEE; 11]);
    }

    #[test]
    fn counts_beyond_the_format_are_refused() {
        let mut buffer = [0; 600];
        let mut error = |header: RtpHeader<'_>| header.write(&mut buffer).unwrap_err().to_string();
        let csrcs = &[0; 16];
        assert_eq!(
            error(RtpHeader { csrcs, ..RtpHeader::default() }),
            "16 contributing sources, there may be at most 15"
        );
        let extensions = &[Extension { id: 1, data: &[0; 256] }];
        assert_eq!(
            error(RtpHeader { extensions, ..RtpHeader::default() }),
            "256 bytes in a header extension, there may be at most 255"
        );
        let extensions = &[Extension { id: 0, data: &[0] }];
        assert_eq!(
            error(RtpHeader { extensions, ..RtpHeader::default() }),
            "a header extension has ID 0, it must be 1 to 255"
        );
        // 1030 * (2 + 255) bytes = 264 710 bytes = 66 178 words.
        let extensions = &vec![Extension { id: 1, data: &[0; 255] }; 1030];
        assert_eq!(
            error(RtpHeader { extensions, ..RtpHeader::default() }),
            "66178 words of header extensions, there may be at most 65535"
        );
        assert!(write_padding(&mut [0; 256]).is_err());
        assert!(write_padding(&mut []).is_ok());
    }
}
