//! Histogram of delays in bins whose width grows with the delay: percentiles of millions of packets in a few kB.

use weir_units::TimeDelta;

use super::delay_bins::{Bin, DelayBins, SMALLEST};
use crate::results::{DelayStatistics, Value};

/// A log-linear histogram of delays. Bins are at most 0.39 % of their delay wide from 1.024 us to beyond any run;
/// shorter delays share one bin, in which percentiles read zero. Mean, minimum and maximum are exact; a percentile
/// is within one bin of the exact one. Negative delays count as zero.
///
/// Memory is 32 bytes for 32 neighbouring bins with any count, and 128 once one of them has more than 255: 1 kB
/// per doubling at most. Recording allocates only for the first delay in 32 bins, or for the first count beyond 8
/// bits.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Histogram {
    count: u64,
    sum: u64,
    sum_of_squares: f64,
    min: u64,
    max: u64,
    /// Number of delays below [`SMALLEST`].
    below_smallest: u64,
    bins: DelayBins,
}

/// A step of a [`Histogram`]'s cumulative distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CdfPoint {
    /// A delay, in milliseconds.
    pub delay_ms: f64,
    /// The share of recorded delays at or below it, in (0, 1].
    pub share: f64,
}

impl Histogram {
    /// An empty histogram, without allocated memory.
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts one delay.
    #[inline]
    pub fn record(&mut self, delay: TimeDelta) {
        let nanos = delay.nanos().max(0) as u64;
        if nanos == 0 {
            // Most packets of most links do not wait at all.
            self.count += 1;
            self.below_smallest += 1;
            self.min = 0;
            return;
        }
        self.min = if self.count == 0 { nanos } else { self.min.min(nanos) };
        self.max = self.max.max(nanos);
        self.count += 1;
        self.sum = self.sum.saturating_add(nanos);
        self.sum_of_squares += nanos as f64 * nanos as f64;
        self.add_to_bin(nanos, 1);
    }

    /// Adds all delays of `other`.
    pub fn merge(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        self.min = if self.count == 0 { other.min } else { self.min.min(other.min) };
        self.max = self.max.max(other.max);
        self.count += other.count;
        self.sum = self.sum.saturating_add(other.sum);
        self.sum_of_squares += other.sum_of_squares;
        self.below_smallest += other.below_smallest;
        for (bin, count) in other.bins.occupied() {
            self.add_to_bin(bin.low, count);
        }
    }

    /// The same delays, each shorter by `offset` (but not below zero). Each counts at the middle of its bin, so a
    /// percentile is off by one more bin of the longer delay. Mean, minimum and maximum stay exact as long as no
    /// delay is shorter than `offset`.
    pub fn reduced_by(&self, offset: TimeDelta) -> Self {
        let offset = offset.nanos().max(0) as u64;
        let mut reduced = Self::new();
        if self.count == 0 {
            return reduced;
        }
        reduced.count = self.count;
        reduced.min = self.min.saturating_sub(offset);
        reduced.max = self.max.saturating_sub(offset);
        reduced.sum = self.sum.saturating_sub(offset.saturating_mul(self.count));
        // Σ(x − o)² = Σx² − o·(2·Σx − n·o)
        let by = offset as f64;
        let removed = by * (2.0 * self.sum as f64 - self.count as f64 * by);
        reduced.sum_of_squares = (self.sum_of_squares - removed).max(0.0);
        reduced.below_smallest = self.below_smallest;
        for (bin, count) in self.bins.occupied() {
            let middle = (bin.low + bin.width / 2).clamp(self.min, self.max);
            reduced.add_to_bin(middle.saturating_sub(offset), count);
        }
        reduced
    }

    /// Number of recorded delays.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// The mean in milliseconds, or `None` if nothing was recorded.
    pub fn mean_ms(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64 / 1e6)
    }

    /// The standard deviation (of all recorded delays, divisor n) in milliseconds, or `None` if nothing was
    /// recorded.
    pub fn sd_ms(&self) -> Option<f64> {
        let mean = self.sum as f64 / self.count as f64;
        (self.count > 0).then(|| {
            let variance = self.sum_of_squares / self.count as f64 - mean * mean;
            variance.max(0.0).sqrt() / 1e6
        })
    }

    /// The shortest delay, or `None` if nothing was recorded.
    pub fn min(&self) -> Option<TimeDelta> {
        (self.count > 0).then(|| TimeDelta::from_nanos(self.min as i64))
    }

    /// The longest delay, or `None` if nothing was recorded.
    pub fn max(&self) -> Option<TimeDelta> {
        (self.count > 0).then(|| TimeDelta::from_nanos(self.max as i64))
    }

    /// The delay in milliseconds below which the share `q` of all delays lies, `q` in [0, 1] (clamped). Between
    /// order statistics it is interpolated linearly at rank `(n − 1)·q` (Hyndman and Fan 1996, type 7). `None` if
    /// nothing was recorded or `q` is NaN.
    pub fn quantile_ms(&self, q: f64) -> Option<f64> {
        if self.count == 0 || q.is_nan() {
            return None;
        }
        let rank = (self.count - 1) as f64 * q.clamp(0.0, 1.0);
        let below = rank.floor();
        let low = self.order_statistic(below as u64);
        let high = self.order_statistic(rank.ceil() as u64);
        Some((low + (rank - below) * (high - low)) / 1e6)
    }

    /// The cumulative distribution: one step per occupied bin, thinned evenly to at most `max_points` (at least 2)
    /// with the first and the last kept.
    pub fn cdf(&self, max_points: usize) -> Vec<CdfPoint> {
        let mut points = Vec::new();
        let mut counted = 0;
        let bins = self.shared_bin().into_iter().chain(self.bins.occupied());
        for (bin, count) in bins {
            counted += u64::from(count);
            let delay = (bin.low + bin.width).min(self.max);
            points.push(CdfPoint { delay_ms: delay as f64 / 1e6, share: counted as f64 / self.count as f64 });
        }
        thin(points, max_points.max(2))
    }

    /// The delay of the given rank (0 for the shortest) in nanoseconds, interpolated within its bin.
    fn order_statistic(&self, rank: u64) -> f64 {
        if rank == 0 {
            return self.min as f64;
        }
        if rank + 1 >= self.count {
            return self.max as f64;
        }
        let (bin, count, before) = self.bin_of(rank);
        let place = ((rank - before) as f64 + 0.5) / count as f64;
        let value = bin.low as f64 + place * bin.width as f64;
        value.clamp(self.min as f64, self.max as f64)
    }

    /// The bin of the delay of the given rank, the number of delays in it, and the number of shorter ones.
    fn bin_of(&self, rank: u64) -> (Bin, u64, u64) {
        let Some(rank_in_bins) = rank.checked_sub(self.below_smallest) else {
            return (Bin::SHARED, self.below_smallest, 0);
        };
        let found = self.bins.bin_of_rank(rank_in_bins);
        found.map_or((Bin { low: self.max, width: 0 }, 1, rank), |(bin, count, before)| {
            (bin, count, before + self.below_smallest)
        })
    }

    /// The bin of the delays below [`SMALLEST`], if there are any.
    fn shared_bin(&self) -> Option<(Bin, u32)> {
        let count = u32::try_from(self.below_smallest).unwrap_or(u32::MAX);
        (count > 0).then_some((Bin::SHARED, count))
    }

    #[inline]
    fn add_to_bin(&mut self, nanos: u64, count: u32) {
        if nanos < SMALLEST {
            self.below_smallest += u64::from(count);
        } else {
            self.bins.add(nanos, count);
        }
    }
}

impl From<&Histogram> for DelayStatistics<Value> {
    fn from(delays: &Histogram) -> Self {
        Self {
            mean: delays.mean_ms(),
            sd: delays.sd_ms(),
            p5: delays.quantile_ms(0.05),
            p50: delays.quantile_ms(0.5),
            p95: delays.quantile_ms(0.95),
            p99: delays.quantile_ms(0.99),
            max: delays.max().map(TimeDelta::millis_f64),
        }
    }
}

fn thin(points: Vec<CdfPoint>, max_points: usize) -> Vec<CdfPoint> {
    if points.len() <= max_points {
        return points;
    }
    let last = points.len() - 1;
    (0..max_points).map(|i| points[i * last / (max_points - 1)]).collect()
}
