//! Offset and skew between the clocks of two captures, by the packets that waited least.

use weir_world::recorded::skew;

/// Shortest call for a skew.
const SHORTEST_US: i64 = 15_000_000;

/// The difference between two clocks: the receiver's minus the sender's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ClockDifference {
    /// Difference at the sender's time 0, in µs, with the least delay of the path.
    pub(super) offset_us: f64,
    /// Growth of the difference per time of the sender; `None` where the call is too short for it.
    pub(super) skew: Option<f64>,
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
        let skew = (end - begin >= SHORTEST_US).then(|| skew(points.clone()));
        let slope = skew.unwrap_or(0.0);
        let least = points.map(|(sent, difference)| difference as f64 - slope * sent as f64);
        let offset = least.fold(f64::INFINITY, f64::min);
        Some(Self { offset_us: offset + reference as f64, skew })
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
        let offset = format!(
            "The receiver's clock minus the sender's is {offset:.1} ms, with the least delay of the path; arrivals \
             count from the packet that waited least."
        );
        let skew = match self.skew {
            Some(skew) => format!(
                "The receiver's clock gains {:.1} ppm on the sender's by the line below all delays; arrivals are \
                 corrected by it.",
                skew * 1e6
            ),
            None => "The call is too short to compare the speeds of the two clocks; they are taken as equal."
                .to_owned(),
        };
        [offset, skew]
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
        assert_eq!(found, ClockDifference { offset_us: 5000.0, skew: None });
        assert_eq!(ClockDifference::of(std::iter::empty()), None);
    }
}
