//! Video frame marking (RFC 9626): a header extension that marks where frames begin and end and which of them need
//! no other.
//!
//! ```text
//!  0 1 2 3 4 5 6 7
//! +-+-+-+-+-+-+-+-+
//! |S|E|I|D|   0   |
//! +-+-+-+-+-+-+-+-+
//! ```
//!
//! Bits of the form for streams without layers: S start of a frame, E end of a frame, I independent of other
//! frames, D discardable. The longer form for streams with layers begins with a byte whose upper four bits are the
//! same.

const START: u8 = 0x80;
const END: u8 = 0x40;
const INDEPENDENT: u8 = 0x20;

/// Marking of a packet in its frame (RFC 9626, the form for streams without layers).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct FrameMarking(u8);

impl FrameMarking {
    /// The marking of a frame's packet: whether it is the first one, whether it is the last one, and whether the frame
    /// is independent, a key frame.
    pub const fn new(start: bool, end: bool, independent: bool) -> Self {
        Self((start as u8 * START) | (end as u8 * END) | (independent as u8 * INDEPENDENT))
    }

    /// The marking as on the wire.
    pub const fn from_byte(byte: u8) -> Self {
        Self(byte)
    }

    /// The byte on the wire.
    pub const fn byte(self) -> u8 {
        self.0
    }

    /// Whether the packet is the first of its frame.
    pub const fn is_start(self) -> bool {
        self.0 & START != 0
    }

    /// Whether the packet is the last of its frame.
    pub const fn is_end(self) -> bool {
        self.0 & END != 0
    }

    /// Whether its frame can be decoded without any other.
    pub const fn is_independent(self) -> bool {
        self.0 & INDEPENDENT != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_upper_bits_are_start_end_and_independent() {
        assert_eq!(FrameMarking::new(true, false, true).byte(), 0b1010_0000);
        assert_eq!(FrameMarking::new(false, true, false).byte(), 0b0100_0000);
        let whole = FrameMarking::from_byte(0b1101_1010);
        assert!(whole.is_start() && whole.is_end() && !whole.is_independent());
    }
}
