//! Maps a stream's sequence numbers to the history's numbers.

/// Period of the 16-bit numbers of records.
const SPAN: usize = 1 << 16;
/// Numbers at most this far behind the newest count as sent, all others as unsent.
const MOST_LEFT: u16 = 1 << 15;

/// Number of each RTP packet in the history. Reports of RFC 8888 name packets by source identifier and RTP sequence
/// number, the [`SendHistory`](weir_cc::history::SendHistory) numbers all packets of a path.
///
/// Each stream takes 256 KiB with its first packet; nothing is allocated after that.
#[derive(Clone, Debug, Default)]
pub struct StreamNumbers {
    streams: Vec<Stream>,
    /// The newest packet's number.
    newest: u32,
}

#[derive(Clone, Debug)]
struct Stream {
    source: u32,
    /// The newest sequence number, and the number of those up to it, at most half of all, that are known to have left.
    /// The latter is zero before the first packet.
    newest: u16,
    left: u16,
    /// By sequence number, one more than the lower 32 bits of the number in the history; zero where there is none.
    /// Empty where both numberings are the same.
    ids: Vec<u32>,
}

impl StreamNumbers {
    /// No stream yet: each is added with its first packet.
    pub const fn new() -> Self {
        Self { streams: Vec::new(), newest: 0 }
    }

    /// A single stream, whose sequence numbers are the lower 16 bits of the history's. Sent packets need not be
    /// recorded, but unsent ones ([`Self::is_unsent`]) are not detected then.
    pub fn same_as_history(source: u32) -> Self {
        Self { streams: vec![Stream::new(source, Vec::new())], newest: 0 }
    }

    /// A packet of the stream `source` leaves as `sequence`, with the number `id` in the history
    /// ([`SentPacket::id`](weir_cc::SentPacket::id)).
    pub fn on_sent(&mut self, source: u32, sequence: u16, id: u64) {
        let known = self.streams.iter().position(|stream| stream.source == source);
        let place = known.unwrap_or_else(|| {
            self.streams.push(Stream::new(source, vec![0; SPAN]));
            self.streams.len() - 1
        });
        self.streams[place].on_sent(sequence);
        let id = id as u32;
        if let Some(noted) = self.streams[place].ids.get_mut(usize::from(sequence)) {
            *noted = id.wrapping_add(1);
            self.newest = id;
        }
    }

    /// The stream `source` has ended: no report covers it any more.
    pub fn remove(&mut self, source: u32) {
        self.streams.retain(|stream| stream.source != source);
    }

    /// Whether `source` is one of the streams.
    pub fn contains(&self, source: u32) -> bool {
        self.stream(source).is_some()
    }

    /// The lower 16 bits of the history's number of the packet `sequence` of the stream `source`. Returns `None` for a
    /// packet that has not left, and for one before the last 65 536, which 16 bits cannot name any more.
    pub fn number(&self, source: u32, sequence: u16) -> Option<u16> {
        let ids = &self.stream(source)?.ids;
        if ids.is_empty() {
            return Some(sequence);
        }
        let id = ids[usize::from(sequence)].checked_sub(1)?;
        let age = self.newest.wrapping_sub(id) as usize;
        (age < SPAN).then_some(id as u16)
    }

    /// Whether the packet `sequence` of the stream `source` has not left: its number is in the half of all that
    /// comes after the newest.
    pub fn is_unsent(&self, source: u32, sequence: u16) -> bool {
        self.stream(source).is_some_and(|stream| stream.left > 0 && !stream.has_left(sequence))
    }

    fn stream(&self, source: u32) -> Option<&Stream> {
        self.streams.iter().find(|stream| stream.source == source)
    }
}

impl Stream {
    const fn new(source: u32, ids: Vec<u32>) -> Self {
        Self { source, newest: 0, left: 0, ids }
    }

    fn on_sent(&mut self, sequence: u16) {
        let ahead = if self.left == 0 { 1 } else { sequence.wrapping_sub(self.newest) };
        if ahead <= MOST_LEFT {
            self.newest = sequence;
            self.left = self.left.saturating_add(ahead).min(MOST_LEFT);
        }
    }

    fn has_left(&self, sequence: u16) -> bool {
        self.newest.wrapping_sub(sequence) < self.left
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_has_the_number_that_it_left_with() {
        let mut numbers = StreamNumbers::new();
        // 70 000 less 65 536 is 4464.
        numbers.on_sent(1, 65_535, 70_000);
        numbers.on_sent(9, 0, 70_001);
        numbers.on_sent(1, 0, 70_002);
        assert_eq!(
            [(1, 65_535), (9, 0), (1, 0)].map(|(of, n)| numbers.number(of, n)),
            [4464, 4465, 4466].map(Some)
        );
        numbers.remove(9);
        assert_eq!([numbers.contains(1), numbers.contains(9)], [true, false]);
        assert_eq!(numbers.number(9, 0), None);
    }

    #[test]
    fn unsent_and_expired_packets_have_no_number() {
        let mut numbers = StreamNumbers::new();
        numbers.on_sent(1, 5, 10);
        assert_eq!([4, 5, 6].map(|n| numbers.number(1, n)), [None, Some(10), None]);
        numbers.on_sent(2, 0, 10 + 65_535);
        assert_eq!(numbers.number(1, 5), Some(10));
        numbers.on_sent(2, 1, 10 + 65_536);
        assert_eq!(numbers.number(1, 5), None, "the number 10 means another packet now");
        // Around the end of 32 bits, where the entry of one packet in 2³² equals the empty one.
        numbers.on_sent(2, 2, (1 << 32) - 2);
        numbers.on_sent(2, 3, 1 << 32);
        assert_eq!([2, 3].map(|n| numbers.number(2, n)), [Some(65_534), Some(0)]);
    }

    #[test]
    fn numbers_ahead_of_the_newest_or_before_the_first_are_unsent() {
        let mut numbers = StreamNumbers::new();
        let unsent = |numbers: &StreamNumbers, of: [u16; 4]| of.map(|n| numbers.is_unsent(1, n));
        assert_eq!(unsent(&numbers, [0, 1, 2, 3]), [false; 4], "no such stream");
        numbers.on_sent(1, 65_534, 0);
        numbers.on_sent(1, 1, 1);
        // Numbers in between count as sent, even if no packet was recorded for them.
        assert_eq!(unsent(&numbers, [65_533, 65_534, 0, 1]), [true, false, false, false]);
        assert_eq!(unsent(&numbers, [2, 300, 32_768, 40_000]), [true; 4]);
        for id in 2..=70_000_u64 {
            numbers.on_sent(1, id as u16, id);
        }
        // 70 000 is 4464: half of all numbers up to it have left, also those of a round before.
        assert_eq!(unsent(&numbers, [4464, 4463, 65_535, 37_233]), [false; 4]);
        assert_eq!(unsent(&numbers, [4465, 30_000, 37_231, 37_232]), [true; 4]);
        // A packet that leaves again is not the newest.
        numbers.on_sent(1, 4000, 70_001);
        assert_eq!(unsent(&numbers, [4464, 4000, 4465, 4466]), [false, false, true, true]);
    }

    #[test]
    fn one_numbering_for_both_needs_no_notes() {
        let mut numbers = StreamNumbers::same_as_history(7);
        numbers.on_sent(7, 3, 3);
        assert_eq!([numbers.number(7, 54_321), numbers.number(8, 0)], [Some(54_321), None]);
    }
}
