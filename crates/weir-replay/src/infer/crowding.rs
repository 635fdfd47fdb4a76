//! Other traffic at the bottleneck, by delay that the call's own bytes do not explain.
//!
//! While the call's packets queue, the gap between two arrivals is the service of the second packet and of what
//! others sent between the two: `gap = bytes / capacity + share of others * time between the departures`. Alone, gaps
//! do not depend on the time between departures. A packet that meets none of the call's packets waits for others
//! alone.

use super::line::{PacketLine, second_of};
use super::path::CapacitySecond;

/// Seconds on each side that are taken together.
const AROUND: usize = 2;
/// Share of others below which a call counts as alone.
const LEAST_SHARE: f64 = 0.25;
/// Standard errors by which the share has to be above zero.
const STANDARD_ERRORS: f64 = 5.0;
/// Fewer pairs of a kind are no evidence.
const LEAST_PAIRS: f64 = 10.0;
/// Spread of the gaps from which they are irregular, as a share of their mean.
const IRREGULAR: f64 = 0.3;
/// Share of the largest capacity below which irregular gaps count.
const LOW: f64 = 0.92;
/// A pair sent within this time is close, in microseconds; one sent after twice of it is apart.
const CLOSE_US: f64 = 8_000.0;

/// Sums of a second over its pairs.
#[derive(Clone, Copy, Debug, Default)]
struct PairSums {
    pairs: f64,
    bytes_bytes: f64,
    bytes_between: f64,
    between_between: f64,
    bytes_gap: f64,
    between_gap: f64,
    gap_gap: f64,
    gap: f64,
    close: f64,
    apart: f64,
    /// Packets that met no packet of the call, and those among them that waited.
    fresh: f64,
    fresh_waited: f64,
}

impl PairSums {
    /// Adds what is left of `second` once its gaps, and its times between departures, are freed from what goes with
    /// bytes.
    fn add_within(&mut self, second: &Self) {
        self.pairs += second.pairs;
        self.gap += second.gap;
        self.close += second.close;
        self.apart += second.apart;
        self.fresh += second.fresh;
        self.fresh_waited += second.fresh_waited;
        if second.bytes_bytes > 0.0 {
            let left = |square: f64, one: f64, other: f64| square - one * other / second.bytes_bytes;
            let (between, gap) = (second.bytes_between, second.bytes_gap);
            self.between_between += left(second.between_between, between, between);
            self.between_gap += left(second.between_gap, between, gap);
            self.gap_gap += left(second.gap_gap, gap, gap);
        }
    }

    /// Share of the capacity that others took, where it is clear.
    fn share_of_others(&self) -> Option<f64> {
        if !self.has_both() || self.between_between <= 0.0 {
            return None;
        }
        let share = self.between_gap / self.between_between;
        let residual = (self.gap_gap - share * self.between_gap).max(0.0);
        let error = (residual / (self.pairs - 2.0).max(1.0) / self.between_between).sqrt();
        (share > STANDARD_ERRORS * error).then_some(share)
    }

    /// Whether others took a part; `None` where too few packets queued, or met none, to know.
    fn is_shared(&self) -> Option<bool> {
        let waits = self.fresh >= 8.0 && self.fresh_waited >= 0.7 * self.fresh;
        let takes = self.share_of_others().is_some_and(|share| share > LEAST_SHARE);
        let is_known = waits || self.fresh >= 8.0 || self.has_both();
        is_known.then_some(waits || takes)
    }

    /// Whether gaps differ by more than sizes of packets and `noise_us` explain: single packets of others are between
    /// some of them.
    fn is_irregular(&self, noise_us: f64) -> bool {
        let spread = (self.gap_gap / self.pairs.max(1.0)).sqrt();
        self.pairs >= 2.0 * LEAST_PAIRS
            && spread > IRREGULAR * self.gap / self.pairs
            && spread > 2.0 * noise_us
    }

    /// Whether there are enough pairs sent close to each other, and enough sent apart.
    fn has_both(&self) -> bool {
        self.close >= LEAST_PAIRS && self.apart >= LEAST_PAIRS
    }
}

/// Marks the seconds in which other traffic took part of the capacity.
pub(super) fn mark(line: &PacketLine, margin_us: i64, seconds: &mut [CapacitySecond]) {
    let fastest = seconds.iter().filter_map(|second| second.bps).fold(0.0, f64::max);
    if fastest <= 0.0 {
        return;
    }
    let mut sums = vec![PairSums::default(); seconds.len()];
    for (first, second) in line.neighbours() {
        let Some(own) = second_of(second.served_us).and_then(|index| sums.get_mut(index)) else { continue };
        let bytes = f64::from(second.bytes);
        let between = (second.sent_us - first.sent_us) as f64;
        if first.served_us - margin_us > second.sent_us {
            let gap = (second.served_us - first.served_us) as f64;
            own.pairs += 1.0;
            own.bytes_bytes += bytes * bytes;
            own.bytes_between += bytes * between;
            own.between_between += between * between;
            own.bytes_gap += bytes * gap;
            own.between_gap += between * gap;
            own.gap_gap += gap * gap;
            own.gap += gap;
            own.close += f64::from(u8::from(between <= CLOSE_US));
            own.apart += f64::from(u8::from(between >= 2.0 * CLOSE_US));
        } else if second.sent_us > first.served_us {
            // Two full packets of another may be in service and behind it without a queue.
            let longest = margin_us as f64 + 10_000.0 + 2.0 * 1500.0 * 8e6 / fastest;
            own.fresh += 1.0;
            own.fresh_waited += f64::from(u8::from(second.wait_us() as f64 > longest));
        }
    }
    let mut before: Option<f64> = None;
    for (index, second) in seconds.iter_mut().enumerate() {
        let around = &sums[index.saturating_sub(AROUND)..(index + AROUND + 1).min(sums.len())];
        let mut all = PairSums::default();
        for sums in around {
            all.add_within(sums);
        }
        let below = |of: f64| second.bps.is_some_and(|bps| bps < of);
        second.is_shared = match all.is_shared() {
            Some(true) => true,
            // Where the distances of departures are alike, irregular gaps below the capacity of other seconds show
            // others, too.
            _ if below(LOW * fastest) && all.is_irregular(margin_us as f64) => true,
            Some(false) => false,
            // Where too little is known, a share that stays low stays a share.
            None => before.is_some_and(|before| below(1.25 * before)),
        };
        before = second.bps.filter(|_| second.is_shared);
    }
}
