//! RTP packets (RFC 3550 §5.1) and their header extensions (RFC 8285).

mod extension;
mod packet;
mod write;

pub(crate) use extension::ONE_BYTE_PROFILE;
pub use extension::{Extension, ExtensionBlock, Extensions};
pub use packet::RtpPacket;
pub(crate) use packet::{split_padding, words};
pub use write::{RtpHeader, write_padding};

/// Length of the fixed part of the header in bytes.
pub const FIXED_HEADER_LEN: usize = 12;

/// The version of RTP and RTCP.
pub(crate) const VERSION: u8 = 2;

/// Protocols that share a port with RTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An RTP packet.
    Rtp,
    /// RTCP packets, at least one.
    Rtcp,
}

/// Distinguishes RTP from RTCP on a shared port: a second byte of 192 to 223 means RTCP (RFC 5761 §4). Returns
/// `None` if the bytes are neither, because there are fewer than two or the version is not 2.
pub fn demux(bytes: &[u8]) -> Option<Kind> {
    match *bytes {
        [first, 192..=223, ..] if first >> 6 == VERSION => Some(Kind::Rtcp),
        [first, _, ..] if first >> 6 == VERSION => Some(Kind::Rtp),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_byte_distinguishes_rtcp_from_rtp() {
        assert_eq!(demux(&[0x80, 200]), Some(Kind::Rtcp));
        assert_eq!(demux(&[0x8f, 206, 0]), Some(Kind::Rtcp));
        assert_eq!(demux(&[0x80, 192]), Some(Kind::Rtcp));
        assert_eq!(demux(&[0x80, 223]), Some(Kind::Rtcp));
        assert_eq!(demux(&[0x80, 191]), Some(Kind::Rtp));
        assert_eq!(demux(&[0x80, 224]), Some(Kind::Rtp));
        assert_eq!(demux(&[0x90, 96]), Some(Kind::Rtp));
    }

    #[test]
    fn other_protocols_are_neither() {
        // STUN begins with 0 or 1, DTLS with 20 to 63 (RFC 7983 §7).
        assert_eq!(demux(&[0, 1]), None);
        assert_eq!(demux(&[22, 200]), None);
        assert_eq!(demux(&[0xc0, 200]), None);
        assert_eq!(demux(&[0x80]), None);
        assert_eq!(demux(&[]), None);
    }
}
