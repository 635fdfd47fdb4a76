//! Protection of packets: a counter and a tag behind each, and a window against replay.
//!
//! ```text
//! +----------------------------+-------------------+-----------------+
//! | packet (RTP, RTCP, message)| counter (64 bits) | tag (10 bytes)  |
//! +----------------------------+-------------------+-----------------+
//! ```
//!
//! The tag is the first 80 bits of HMAC-SHA-256 (RFC 2104) over packet and counter. A counter is used once under a key of a session. The content is
//! not encrypted: it is synthetic.

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

/// Bytes of a counter.
const COUNTER_LENGTH: usize = 8;
/// Bytes of a tag.
const TAG_LENGTH: usize = 10;
/// Bytes that protection adds to a packet.
pub const TRAILER_LENGTH: usize = COUNTER_LENGTH + TAG_LENGTH;
/// Counters behind the newest one that may still come.
pub const REPLAY_WINDOW: u64 = 1024;

/// The key of one direction of a session.
#[derive(Clone)]
pub struct PacketKey(Hmac<Sha256>);

impl core::fmt::Debug for PacketKey {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("PacketKey(..)")
    }
}

impl PacketKey {
    /// A key of these bytes.
    ///
    /// # Panics
    /// Never: HMAC takes a key of any length.
    pub fn new(bytes: &[u8; 32]) -> Self {
        Self(Hmac::new_from_slice(bytes).expect("HMAC takes a key of any length"))
    }

    /// The HMAC over `parts`, one behind another.
    pub(crate) fn hash(&self, parts: &[&[u8]]) -> [u8; 32] {
        self.over(parts).finalize().into_bytes().into()
    }

    /// Whether `tag` is a beginning of the HMAC over `parts`; compared in constant time.
    pub(crate) fn verifies(&self, parts: &[&[u8]], tag: &[u8]) -> bool {
        self.over(parts).verify_truncated_left(tag).is_ok()
    }

    fn over(&self, parts: &[&[u8]]) -> Hmac<Sha256> {
        let mut mac = self.0.clone();
        for part in parts {
            mac.update(part);
        }
        mac
    }
}

/// Puts the trailer behind the packets of one direction.
#[derive(Debug)]
pub struct PacketSealer {
    key: PacketKey,
    next: u64,
}

impl PacketSealer {
    /// A sealer whose first counter is zero.
    pub fn new(key: PacketKey) -> Self {
        Self { key, next: 0 }
    }

    /// A sealer whose first counter is `next`.
    pub fn starting_at(key: PacketKey, next: u64) -> Self {
        Self { key, next }
    }

    /// Puts counter and tag behind `packet`. The last counter repeats, so that the other end refuses all packets behind it.
    pub fn seal(&mut self, packet: &mut Vec<u8>) {
        let counter = self.next.to_be_bytes();
        self.next = self.next.saturating_add(1);
        let tag = self.key.hash(&[packet, &counter]);
        packet.extend_from_slice(&counter);
        packet.extend_from_slice(&tag[..TAG_LENGTH]);
    }
}

/// A reason to refuse a protected packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SealFault {
    /// The datagram is shorter than its trailer.
    #[error("the packet is too short")]
    TooShort,
    /// The tag is that of another packet or key.
    #[error("the tag is wrong")]
    WrongTag,
    /// The counter came before, or is too old.
    #[error("the packet came before, or is too old")]
    Replayed,
}

/// A packet whose tag and counter are right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenedPacket<'a> {
    /// The packet without its trailer.
    pub bytes: &'a [u8],
    /// Whether its counter is the newest so far.
    pub newest: bool,
}

/// Splits a datagram into packet, counter and tag.
fn split(datagram: &[u8]) -> Option<(&[u8], [u8; COUNTER_LENGTH], &[u8])> {
    let (rest, tag) = datagram.split_at_checked(datagram.len().checked_sub(TAG_LENGTH)?)?;
    let (packet, counter) = rest.split_last_chunk::<COUNTER_LENGTH>()?;
    Some((packet, *counter, tag))
}

/// Whether the tag of `datagram` is right, for a packet whose counter has no meaning.
pub(crate) fn unsealed<'a>(key: &PacketKey, datagram: &'a [u8]) -> Option<&'a [u8]> {
    let (packet, counter, tag) = split(datagram)?;
    key.verifies(&[packet, &counter], tag).then_some(packet)
}

/// Checks and removes the trailers of one direction.
#[derive(Debug)]
pub struct PacketOpener {
    key: PacketKey,
    window: ReplayWindow,
}

impl PacketOpener {
    /// An opener that has seen no packet.
    pub fn new(key: PacketKey) -> Self {
        Self { key, window: ReplayWindow::default() }
    }

    /// The packet in `datagram`. Only a packet whose tag is right changes the window.
    ///
    /// # Errors
    /// A wrong tag, or a counter that came before.
    pub fn open<'a>(&mut self, datagram: &'a [u8]) -> Result<OpenedPacket<'a>, SealFault> {
        let (bytes, counter, tag) = split(datagram).ok_or(SealFault::TooShort)?;
        let number = u64::from_be_bytes(counter);
        if !self.window.admits(number) {
            return Err(SealFault::Replayed);
        }
        if !self.key.verifies(&[bytes, &counter], tag) {
            return Err(SealFault::WrongTag);
        }
        let newest = self.window.newest.is_none_or(|newest| number > newest);
        self.window.take(number);
        Ok(OpenedPacket { bytes, newest })
    }
}

const WORDS: usize = (REPLAY_WINDOW / 64) as usize;

/// The counters that have come, of the newest [`REPLAY_WINDOW`] (RFC 4303 §3.4.3).
#[derive(Clone, Debug, Default)]
struct ReplayWindow {
    newest: Option<u64>,
    /// Bit `n % 1024` is set if counter `n` came.
    bits: [u64; WORDS],
}

impl ReplayWindow {
    /// Whether the counter is new, and not too old to be known.
    fn admits(&self, number: u64) -> bool {
        match self.newest {
            Some(newest) if number <= newest => newest - number < REPLAY_WINDOW && !self.has(number),
            _ => true,
        }
    }

    fn has(&self, number: u64) -> bool {
        let (word, bit) = Self::place(number);
        self.bits[word] & bit != 0
    }

    fn place(number: u64) -> (usize, u64) {
        ((number % REPLAY_WINDOW / 64) as usize, 1 << (number % 64))
    }

    fn take(&mut self, number: u64) {
        let passed = self.newest.map_or(REPLAY_WINDOW, |newest| number.saturating_sub(newest));
        if passed >= REPLAY_WINDOW {
            self.bits = [0; WORDS];
        } else {
            for skipped in (number - passed + 1)..=number {
                let (word, bit) = Self::place(skipped);
                self.bits[word] &= !bit;
            }
        }
        let (word, bit) = Self::place(number);
        self.bits[word] |= bit;
        self.newest = self.newest.max(Some(number));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends() -> (PacketSealer, PacketOpener) {
        let key = PacketKey::new(&[7; 32]);
        (PacketSealer::new(key.clone()), PacketOpener::new(key))
    }

    fn sealed(sealer: &mut PacketSealer, bytes: &[u8]) -> Vec<u8> {
        let mut packet = bytes.to_vec();
        sealer.seal(&mut packet);
        packet
    }

    #[test]
    fn the_tag_is_the_first_ten_bytes_of_the_hmac() {
        // RFC 4231 test case 1 is the HMAC of "Hi There" under 20 bytes of 0x0b; HMAC fills shorter keys with zeros.
        let mut key = [0; 32];
        key[..20].fill(0x0b);
        let hash = PacketKey::new(&key).hash(&[b"Hi ", b"There"]);
        assert_eq!(hash[..10], [0xb0, 0x34, 0x4c, 0x61, 0xd8, 0xdb, 0x38, 0x53, 0x5c, 0xa8]);
    }

    #[test]
    fn a_packet_is_opened_once() {
        let (mut sealer, mut opener) = ends();
        let packet = sealed(&mut sealer, b"media");
        assert_eq!(packet.len(), 5 + TRAILER_LENGTH);
        assert_eq!(opener.open(&packet), Ok(OpenedPacket { bytes: b"media", newest: true }));
        assert_eq!(opener.open(&packet), Err(SealFault::Replayed));
    }

    #[test]
    fn the_last_counter_opens_one_packet() {
        let (_, mut opener) = ends();
        let mut sealer = PacketSealer::starting_at(PacketKey::new(&[7; 32]), u64::MAX);
        let [first, second] = [b"first", b"other"].map(|bytes| sealed(&mut sealer, bytes));
        assert_eq!(opener.open(&first), Ok(OpenedPacket { bytes: b"first", newest: true }));
        assert_eq!(opener.open(&second), Err(SealFault::Replayed));
    }

    #[test]
    fn every_flipped_bit_and_every_cut_is_refused_and_changes_nothing() {
        let (mut sealer, mut opener) = ends();
        let packet = sealed(&mut sealer, &[0x80, 96, 1, 2, 3, 4]);
        for bit in 0..8 * packet.len() {
            let mut other = packet.clone();
            other[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(opener.open(&other), Err(SealFault::WrongTag), "bit {bit}");
        }
        for length in 0..packet.len() {
            assert!(opener.open(&packet[..length]).is_err(), "{length} bytes");
        }
        assert!(opener.open(&packet).is_ok());
    }

    #[test]
    fn packets_may_come_in_another_order_within_the_window() {
        let (mut sealer, mut opener) = ends();
        let packets: Vec<_> = (0..3000_u32).map(|n| sealed(&mut sealer, &n.to_be_bytes())).collect();
        assert_eq!(opener.open(&packets[2000]).map(|opened| opened.newest), Ok(true));
        // 2000 - 1023 is the oldest that is admitted.
        assert_eq!(opener.open(&packets[977]).map(|opened| opened.newest), Ok(false));
        assert_eq!(opener.open(&packets[976]), Err(SealFault::Replayed));
        assert!(opener.open(&packets[1999]).is_ok());
        assert!(opener.open(&packets[2001]).is_ok());
        for came in [977, 1999, 2000, 2001] {
            assert_eq!(opener.open(&packets[came]), Err(SealFault::Replayed), "{came}");
        }
        // A jump beyond the window forgets all before.
        assert!(opener.open(&packets[2999]).is_ok());
        assert!(opener.open(&packets[2998]).is_ok());
        assert_eq!(opener.open(&packets[1975]), Err(SealFault::Replayed));
        assert!(opener.open(&packets[1976]).is_ok(), "it did not come before");
        assert_eq!(opener.open(&packets[2001]), Err(SealFault::Replayed), "it came before the jump");
    }

    #[test]
    fn the_window_agrees_with_a_set_of_all_counters() {
        let (mut window, mut came) = (ReplayWindow::default(), std::collections::BTreeSet::new());
        let (mut state, mut newest) = (1_u64, 0_u64);
        for _ in 0..50_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let ahead = state >> 33;
            let number = if ahead % 64 == 0 {
                newest + ahead % 5000
            } else {
                (newest + 40).saturating_sub(ahead % 1400)
            };
            let old = newest >= REPLAY_WINDOW && number <= newest - REPLAY_WINDOW;
            let expected = !old && !came.contains(&number);
            assert_eq!(window.admits(number), expected, "{number} after {newest}");
            if expected {
                window.take(number);
                came.insert(number);
                newest = newest.max(number);
            }
        }
    }
}
