//! RTP packets are read as they were written.

use proptest::collection::vec;
use proptest::prelude::*;
use weir_wire::Extension;
use weir_wire::rtp::{self, RtpHeader, RtpPacket};

proptest! {
    #[test]
    fn rtp_packets_are_read_as_written(
        (padding, marker, payload_type, sequence, timestamp, ssrc) in any::<(bool, bool, u8, u16, u32, u32)>(),
        csrcs in vec(any::<u32>(), 0..=15),
        elements in vec((1..=255u8, vec(any::<u8>(), 0..40)), 0..6),
        payload in vec(any::<u8>(), 0..40),
        padding_len in 1..=255usize,
    ) {
        let payload_type = payload_type & 0x7F;
        let extensions: Vec<_> = elements.iter().map(|(id, data)| Extension { id: *id, data }).collect();
        let header = RtpHeader {
            padding, marker, payload_type, sequence, timestamp, ssrc, csrcs: &csrcs, extensions: &extensions,
        };
        let mut bytes = vec![0; header.wire_len()];
        prop_assert_eq!(header.write(&mut bytes), Ok(header.wire_len()));
        bytes.extend(&payload);
        let padding_len = if padding { padding_len } else { 0 };
        let padding_start = bytes.len();
        bytes.resize(padding_start + padding_len, 0xEE);
        prop_assert!(rtp::write_padding(&mut bytes[padding_start..]).is_ok());

        let packet = RtpPacket::parse(&bytes).unwrap();
        prop_assert_eq!(
            (packet.marker, packet.payload_type, packet.sequence, packet.timestamp, packet.ssrc),
            (marker, payload_type, sequence, timestamp, ssrc)
        );
        prop_assert_eq!(packet.csrcs().collect::<Vec<_>>(), csrcs);
        prop_assert_eq!(packet.extensions().collect::<Vec<_>>(), extensions);
        prop_assert_eq!(packet.extension_block.is_some(), !elements.is_empty());
        prop_assert_eq!((packet.payload, usize::from(packet.padding)), (&payload[..], padding_len));
    }
}
