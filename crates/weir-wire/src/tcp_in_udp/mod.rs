//! TCP in UDP (draft-welzl-irtf-iccrg-tcp-in-udp-00, draft-welzl-tcp-ccc-00 §3): TCP connections of one pair of
//! hosts on one pair of UDP ports, so that routers which hash the five-tuple send them all on the same path.
//!
//! This module reads and writes the payload of a UDP datagram. Its header is that of TCP in another order, without
//! ports, checksum and urgent pointer. With the 8 bytes of UDP's header a segment is no longer than plain TCP's:
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! | offset|id high|C|E|i|A|P|R|S|F|            window             |
//! |                        sequence number                        |
//! |                     acknowledgment number                     |
//! |             source port, destination port: only in a SYN      |
//! |                           options …                           |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! ```
//!
//! * offset: TCP's data offset, the length of the original header of TCP in words: 5 to 15.
//! * id high, i: the connection's number. The draft does not define which part is the upper one. Here the four
//!   bits are, and the bit in the place of URG is the lowest. Both are 0 in a SYN, and are not read there.
//! * options: a SYN has at least the one with the connection's number ([`Setup`]).
//!
//! UDP's checksum is TCP's here: it must be computed, and a datagram without one (0) be dropped before it is read.

mod connections;
mod header;
mod option;

pub use connections::{Connections, HALF_OPEN_NANOS, MSL_NANOS};
pub use header::{ConnectionName, Flags, Ports, SegmentHeader};
pub use option::{Setup, TcpOption, options};

/// Protocols that share a port with TCP in UDP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A segment.
    Segment,
    /// A segment, or a packet of RTP or RTCP: their first bytes, 128 to 191, are data offsets of 8 to 11. Only a
    /// caller that receives no RTP on this port may treat it as a segment.
    SegmentOrRtp,
    /// A packet whose two upper bits are clear, such as STUN.
    Stun,
}

/// Distinguishes segments from STUN on a shared port by the upper half of the first byte. Returns `None` if the
/// bytes are neither, because there are none or the half is 4.
pub const fn demux(bytes: &[u8]) -> Option<Kind> {
    match bytes {
        [0x80..=0xBF, ..] => Some(Kind::SegmentOrRtp),
        [0x50..=0xFF, ..] => Some(Kind::Segment),
        [0x00..=0x3F, ..] => Some(Kind::Stun),
        _ => None,
    }
}

/// The number of a connection on a pair of UDP ports, 0 to 31.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnectionId(u8);

impl ConnectionId {
    /// The number of connections.
    pub const COUNT: u8 = 32;

    /// The connection of this number, or `None` above 31.
    pub const fn new(number: u8) -> Option<Self> {
        if number < Self::COUNT { Some(Self(number)) } else { None }
    }

    /// The number.
    pub const fn number(self) -> u8 {
        self.0
    }

    /// All of them, the lowest first.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..Self::COUNT).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_half_byte_distinguishes_segments_from_stun() {
        let kind = |first| demux(&[first, 0, 0]);
        assert_eq!(
            (kind(0x00), kind(0x01), kind(0x3F)),
            (Some(Kind::Stun), Some(Kind::Stun), Some(Kind::Stun))
        );
        assert_eq!((kind(0x40), kind(0x4F), demux(&[])), (None, None, None));
        assert_eq!(
            (kind(0x50), kind(0x7F), kind(0xC0)),
            (Some(Kind::Segment), Some(Kind::Segment), Some(Kind::Segment))
        );
        assert_eq!(kind(0xFF), Some(Kind::Segment));
    }

    #[test]
    fn segments_whose_header_has_8_to_11_words_look_like_rtp() {
        for first in 0..=255 {
            let looks_like_rtp = crate::rtp::demux(&[first, 0]).is_some();
            assert_eq!(demux(&[first]) == Some(Kind::SegmentOrRtp), looks_like_rtp, "{first}");
        }
    }

    #[test]
    fn a_number_has_five_bits() {
        assert_eq!(ConnectionId::new(31).map(ConnectionId::number), Some(31));
        assert_eq!((ConnectionId::new(32), ConnectionId::new(255)), (None, None));
        assert_eq!(ConnectionId::all().count(), 32);
    }
}
