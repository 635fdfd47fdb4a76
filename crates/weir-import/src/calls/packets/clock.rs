//! Offset and skew between the clocks of two captures, by the packets that waited least.

use weir_world::recorded::{RemarkSentence, skew};

/// Shortest call for a skew.
const SHORTEST_US: i64 = 15_000_000;

/// The difference between two clocks: the receiver's minus the sender's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ClockDifference {
    /// Difference at the sender's time 0, in µs, with the least delay of the path.
    pub(super) offset_us: f64,
    /// Growth of the difference per time of the sender; `None` where it is not known.
    pub(super) skew: Option<f64>,
    /// Whether the call is too short for a skew.
    is_short: bool,
}

impl ClockDifference {
    /// The difference by departures and arrivals, a pair for each packet in order of departure; `None` without any.
    ///
    /// The least delays lie on a line where the queue was empty: that below all delays and nearest to them.
    pub(super) fn of(packets: impl Iterator<Item = (i64, i64)> + Clone) -> Option<Self> {
        let (begin, first) = packets.clone().next()?;
        let reference = first - begin;
        let end = packets.clone().map(|(sent, _)| sent).max()?;
        let points = packets.map(|(sent, arrived)| (sent, arrived - sent - reference));
        let is_short = end - begin < SHORTEST_US;
        let skew = if is_short { None } else { skew(points.clone()) };
        let slope = skew.unwrap_or(0.0);
        let least = points.map(|(sent, difference)| difference as f64 - slope * sent as f64);
        let offset = least.fold(f64::INFINITY, f64::min);
        Some(Self { offset_us: offset + reference as f64, skew, is_short })
    }

    /// An arrival in the sender's clock, less the least delay of the path.
    pub(super) fn correct(&self, sent_us: i64, arrived_us: i64) -> i64 {
        let drift = self.skew.unwrap_or(0.0) * sent_us as f64;
        // The first difference is of large integers, which a float does not hold.
        let whole = self.offset_us as i64;
        arrived_us - whole - (self.offset_us - whole as f64 + drift).floor() as i64
    }

    /// Sentences about the difference; the sender's clock was at `first_us` at its time 0.
    pub(super) fn sentences(&self, first_us: i64) -> [String; 2] {
        let offset = (self.offset_us - first_us as f64) / 1e3;
        let skew = match self.skew {
            Some(skew) => RemarkSentence::CLOCK_SKEW.with(&[&format!("{:.1}", skew * 1e6)]),
            None if self.is_short => RemarkSentence::SHORT_FOR_SKEW.with(&[]),
            None => RemarkSentence::IMPLAUSIBLE_SKEW.with(&[]),
        };
        [RemarkSentence::CLOCK_OFFSET.with(&[&format!("{offset:.1}")]), skew]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A packet each 10 ms for 100 s, with a standing queue for a third of it.
    fn packets(offset: i64, skew: f64) -> Vec<(i64, i64)> {
        let packet = |number: i64| {
            let sent = 10_000 * number;
            let queue = if (3000..6500).contains(&number) { 200_000 } else { 0 };
            let jitter = number * 7919 % 5000;
            (sent, sent + offset + queue + jitter + (skew * sent as f64) as i64)
        };
        (0..10_000).map(packet).collect()
    }

    #[test]
    fn offset_and_skew_are_found_beside_a_queue() {
        for (offset, skew) in [(-3_600_000_000, 40e-6), (1_700_000_000_000_000, -25e-6), (0, 0.0)] {
            let packets = packets(offset, skew);
            let found = ClockDifference::of(packets.iter().copied()).unwrap();
            assert!((found.skew.unwrap() - skew).abs() < 1e-6, "{found:?}");
            assert!((found.offset_us - offset as f64).abs() < 100.0, "{found:?}");
            let waits: Vec<i64> =
                packets.iter().map(|&(sent, arrived)| found.correct(sent, arrived) - sent).collect();
            assert_eq!(waits.iter().filter(|wait| **wait < 0).count(), 0);
            assert!(waits[5000] > 195_000 && waits[100] < 6000, "{} {}", waits[5000], waits[100]);
        }
    }

    #[test]
    fn a_short_call_has_no_skew() {
        let packets = packets(5000, 0.0);
        let found = ClockDifference::of(packets[..500].iter().copied()).unwrap();
        assert_eq!(found, ClockDifference { offset_us: 5000.0, skew: None, is_short: true });
        assert_eq!(ClockDifference::of(std::iter::empty()), None);
    }

    #[test]
    fn clocks_that_part_too_fast_are_not_corrected_and_a_sentence_says_so() {
        let found = ClockDifference::of(packets(5000, 430e-6).into_iter()).unwrap();
        assert_eq!((found.skew, found.correct(1000, 6000)), (None, 1000));
        assert!(found.sentences(0)[1].ends_with("arrivals are not corrected by it."), "{found:?}");
    }
}
