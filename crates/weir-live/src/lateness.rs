//! How late something was: a histogram of fixed size.

use weir_units::TimeDelta;

/// Buckets per power of two: a percentile is at most 1/32 too high.
const PARTS: u64 = 32;
const PART_BITS: u32 = PARTS.ilog2();
/// Room for every value of 64 bits.
const BUCKETS: usize = (PARTS as usize) * (64 - PART_BITS as usize + 1);

/// A histogram of latenesses, which allocates only at its construction.
#[derive(Clone, Debug)]
pub struct Lateness {
    buckets: Box<[u64]>,
    count: u64,
    max: u64,
}

impl Default for Lateness {
    fn default() -> Self {
        Self { buckets: vec![0; BUCKETS].into(), count: 0, max: 0 }
    }
}

impl Lateness {
    /// Adds a lateness; a negative one counts as zero.
    pub fn record(&mut self, late: TimeDelta) {
        let nanos = late.nanos().max(0) as u64;
        self.buckets[bucket(nanos)] += 1;
        self.count += 1;
        self.max = self.max.max(nanos);
    }

    /// Number of values.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The largest value, exactly; zero if there is no value.
    pub fn max(&self) -> TimeDelta {
        TimeDelta::from_nanos(self.max.min(i64::MAX as u64) as i64)
    }

    /// The value that a `share` of all values does not exceed (0.5: the median), at most 1/32 too high; zero if there
    /// is no value.
    pub fn percentile(&self, share: f64) -> TimeDelta {
        let wanted = ((self.count as f64 * share).ceil() as u64).max(1);
        let mut seen = 0;
        for (index, &count) in self.buckets.iter().enumerate() {
            seen += count;
            if seen >= wanted {
                return TimeDelta::from_nanos(largest(index).min(self.max) as i64);
            }
        }
        TimeDelta::ZERO
    }

    /// The values that occurred, each with its number: one for each bucket, in its middle.
    pub fn buckets(&self) -> impl Iterator<Item = (TimeDelta, u64)> {
        self.buckets.iter().enumerate().filter(|(_, count)| **count > 0).map(|(index, &count)| {
            let first = index.checked_sub(1).map_or(0, |before| largest(before) + 1);
            let last = largest(index).min(self.max);
            (TimeDelta::from_nanos((first + last.saturating_sub(first) / 2) as i64), count)
        })
    }

    /// Median, 99th percentile and maximum, in ms.
    pub fn summary_ms(&self) -> [f64; 3] {
        [self.percentile(0.5), self.percentile(0.99), self.max()].map(TimeDelta::millis_f64)
    }

    /// The values of both.
    pub fn merge(&mut self, other: &Self) {
        for (own, more) in self.buckets.iter_mut().zip(&other.buckets) {
            *own += more;
        }
        self.count += other.count;
        self.max = self.max.max(other.max);
    }
}

/// The bucket of a value: below `PARTS` the value itself, above it the power of two and the next five bits.
fn bucket(nanos: u64) -> usize {
    let Some(shift) = nanos.checked_ilog2().and_then(|log| log.checked_sub(PART_BITS)) else {
        return nanos as usize;
    };
    (PARTS * u64::from(shift) + (nanos >> shift)) as usize
}

/// The largest value of a bucket.
fn largest(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    if bucket < 2 * PARTS {
        return bucket;
    }
    let shift = bucket / PARTS - 1;
    let first = (bucket - PARTS * shift) << shift;
    first + ((1 << shift) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_holds_its_largest_value_and_not_the_next() {
        for index in 0..BUCKETS - 1 {
            let last = largest(index);
            assert_eq!(bucket(last), index);
            assert_eq!(bucket(last + 1), index + 1);
        }
        assert_eq!(bucket(u64::MAX), BUCKETS - 1);
    }

    #[test]
    fn percentiles_are_those_of_the_values_to_one_part_in_32() {
        let mut lateness = Lateness::default();
        assert_eq!(lateness.percentile(0.5), TimeDelta::ZERO);
        for micros in 1..=1000 {
            lateness.record(TimeDelta::from_micros(micros));
        }
        lateness.record(TimeDelta::from_micros(-5));
        for (share, exact) in [(0.5, 500.0), (0.99, 990.0), (1.0, 1000.0)] {
            let found = lateness.percentile(share).nanos() as f64 / 1000.0;
            assert!((exact..=exact * 33.0 / 32.0).contains(&found), "{share}: {found}");
        }
        assert_eq!(lateness.max(), TimeDelta::from_millis(1));
        assert_eq!(lateness.count(), 1001);
    }

    #[test]
    fn buckets_have_the_values_and_how_often_they_occurred() {
        let mut lateness = Lateness::default();
        for nanos in [7, 7, 7, 1_000_000] {
            lateness.record(TimeDelta::from_nanos(nanos));
        }
        let buckets: Vec<_> = lateness.buckets().map(|(late, count)| (late.nanos(), count)).collect();
        let [(7, 3), (rare, 1)] = buckets[..] else { panic!("{buckets:?}") };
        assert!((968_000..=1_000_000).contains(&rare), "{rare}");
    }

    #[test]
    fn merged_histograms_have_the_values_of_both() {
        let [mut low, mut high] = [Lateness::default(), Lateness::default()];
        low.record(TimeDelta::from_nanos(10));
        high.record(TimeDelta::from_millis(3));
        low.merge(&high);
        assert_eq!((low.count(), low.max()), (2, TimeDelta::from_millis(3)));
        assert_eq!(low.percentile(0.5), TimeDelta::from_nanos(10));
    }
}
