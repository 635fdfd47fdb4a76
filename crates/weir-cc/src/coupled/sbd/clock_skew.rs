//! Estimate of the skew between two clocks, from a line below all delays. RFC 8382 §5.2 leaves the method open.
//!
//! A queue only adds to the delay, so that the least delays of the last minute consist of base delay and skew. The
//! nearest line below all of them is the edge of their lower convex hull that spans their mean time. Its slope is the
//! skew. The method requires that the queue is empty from time to time. While a flow passes a bottleneck all the
//! time, the estimate does not change.

use alloc::vec::Vec;

use super::config::ClockSkewConfig;
use super::ring::Ring;

/// The least delay of an interval, in seconds, and the sending time of its packet, in seconds of the sender's clock.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct LeastDelay {
    pub(super) time: f64,
    pub(super) delay: f64,
}

/// Number of intervals after which the edge is computed again. In between the estimate moves towards its slope.
const REFRESH_INTERVALS: u32 = 8;

/// Delay added by skew: `before` at the time `since`, and growing by `slope` per second.
#[derive(Clone, Copy, Debug, Default)]
struct Line {
    /// `β`.
    slope: f64,
    since: f64,
    before: f64,
}

/// Estimator of the skew between the clocks of a path, which removes it from delays.
#[derive(Clone, Debug)]
pub(super) struct ClockSkew {
    config: ClockSkewConfig,
    least: Ring<LeastDelay>,
    /// Number of known least delays.
    known: usize,
    /// Sum of their times.
    time_sum: f64,
    /// The edge that spans their mean time.
    edge: Option<(LeastDelay, LeastDelay)>,
    hull: Vec<LeastDelay>,
    /// Number of intervals since there were enough least delays.
    age: u32,
    /// Number of successive intervals on a path with a bottleneck.
    congested: usize,
    line: Line,
}

impl ClockSkew {
    /// An estimate without any history.
    pub(super) fn new(config: ClockSkewConfig) -> Self {
        Self {
            config,
            least: Ring::new(config.window as usize),
            known: 0,
            time_sum: 0.0,
            edge: None,
            hull: Vec::with_capacity(config.window as usize),
            age: 0,
            congested: 0,
            line: Line::default(),
        }
    }

    /// The delay in s that the skew has added to a packet sent at `time`. It has no jumps.
    pub(super) fn offset(&self, time: f64) -> f64 {
        self.line.before + self.line.slope * (time - self.line.since)
    }

    /// Takes the least delay of an interval that has ended, with its skew.
    pub(super) fn on_interval(&mut self, newest: LeastDelay, congested: bool) {
        self.congested = if congested { self.congested + 1 } else { 0 };
        let left = self.least.push(newest);
        self.time_sum += newest.time;
        if self.known == self.least.len() {
            self.time_sum -= left.time;
        } else {
            self.known += 1;
        }
        if !self.config.removed || self.known < self.config.least as usize {
            return;
        }
        if self.age.is_multiple_of(REFRESH_INTERVALS) {
            self.edge = self.edge_over(self.time_sum / self.known as f64);
        }
        self.age = self.age.wrapping_add(1);
        // A queue that never emptied within the window is no base delay.
        if self.congested < self.known
            && let Some(slope) = self.slope()
        {
            let before = self.offset(newest.time);
            let slope = self.line.slope + self.config.newest * (slope - self.line.slope);
            self.line = Line { slope, since: newest.time, before };
        }
    }

    /// The least delay of the window as it would be at `time` without skew.
    pub(super) fn base(&self, time: f64) -> f64 {
        let slope = self.line.slope;
        let [newer, older] = newest(&self.least, self.known);
        let at_zero = least_at_zero(newer, slope).min(least_at_zero(older, slope));
        at_zero + slope * time - self.offset(time)
    }

    pub(super) fn clear(&mut self) {
        self.known = 0;
        self.time_sum = 0.0;
        self.edge = None;
        self.age = 0;
        self.congested = 0;
        self.line = Line::default();
    }

    fn edge_over(&mut self, mean: f64) -> Option<(LeastDelay, LeastDelay)> {
        self.hull.clear();
        let [newer, older] = newest(&self.least, self.known);
        for part in [older, newer] {
            for &point in part.iter().rev() {
                while let [.., before, last] = self.hull[..]
                    && cross(before, last, point) <= 0.0
                {
                    self.hull.pop();
                }
                self.hull.push(point);
            }
        }
        let edge = |pair: &&[LeastDelay]| pair[0].time <= mean && mean <= pair[1].time;
        self.hull.windows(2).find(edge).map(|pair| (pair[0], pair[1]))
    }

    /// The slope of the edge, if it is plausible.
    fn slope(&self) -> Option<f64> {
        let (from, to) = self.edge?;
        let length = to.time - from.time;
        if length < self.config.least_edge.secs_f64() || length <= 0.0 {
            return None;
        }
        let slope = (to.delay - from.delay) / length;
        (slope.abs() <= self.config.most * 1e-6).then_some(slope)
    }
}

/// The newest `many` values in two parts, each with the newest value first.
fn newest(least: &Ring<LeastDelay>, many: usize) -> [&[LeastDelay]; 2] {
    let (newer, older) = least.halves();
    let older = older.get(..many.saturating_sub(newer.len())).unwrap_or(older);
    [newer.get(..many).unwrap_or(newer), older]
}

/// The least delay as it would be at time 0. Four values at a time, because each interval needs it.
fn least_at_zero(points: &[LeastDelay], slope: f64) -> f64 {
    let mut least = [f64::INFINITY; 4];
    let chunks = points.chunks_exact(4);
    let rest = chunks.remainder();
    for chunk in chunks {
        for (least, point) in least.iter_mut().zip(chunk) {
            let delay = point.delay - slope * point.time;
            *least = if delay < *least { delay } else { *least };
        }
    }
    let rest = rest.iter().map(|point| point.delay - slope * point.time);
    rest.chain(least).fold(f64::INFINITY, f64::min)
}

/// A value above 0 if `point` is above the line from `from` to `to`.
fn cross(from: LeastDelay, to: LeastDelay, point: LeastDelay) -> f64 {
    (to.time - from.time) * (point.delay - from.delay) - (to.delay - from.delay) * (point.time - from.time)
}

#[cfg(test)]
mod tests {
    use super::*;

    const T: f64 = 0.35;

    /// Delays of 20 ms with `skew`, with a queue on top in 9 of 10 intervals.
    fn after(intervals: u32, skew: f64, congested: impl Fn(u32) -> bool) -> ClockSkew {
        let mut found = ClockSkew::new(ClockSkewConfig::default());
        for k in 0..intervals {
            let time = T * f64::from(k);
            let queue = f64::from(k * 7 % 10) * 0.005;
            found.on_interval(LeastDelay { time, delay: 0.02 + skew * time + queue }, congested(k));
        }
        found
    }

    #[test]
    fn the_skew_is_the_slope_below_the_delays() {
        for skew in [-100e-6, 0.0, 37e-6, 400e-6] {
            let found = after(400, skew, |k| k % 2 == 0);
            assert!((found.line.slope - skew).abs() < 0.2e-6, "{skew}: {}", found.line.slope);
        }
    }

    #[test]
    fn the_newest_are_those_that_came_last_in_two_parts() {
        for length in 1..7 {
            let mut ring = Ring::new(length);
            for pushed in 0..20 {
                for many in 0..=pushed.min(length) {
                    let [newer, older] = newest(&ring, many);
                    let times: Vec<f64> =
                        newer.iter().chain(older).map(|least: &LeastDelay| least.time).collect();
                    let last = (1..=many).map(|before| (pushed - before) as f64);
                    assert!(times.iter().copied().eq(last), "{many} of {pushed} in {length}: {times:?}");
                }
                ring.push(LeastDelay { time: pushed as f64, delay: 0.0 });
            }
        }
    }

    #[test]
    fn clearing_removes_all_earlier_values() {
        let feed = |skew: &mut ClockSkew, slope: f64| {
            for k in 0..200 {
                let time = T * f64::from(k);
                skew.on_interval(LeastDelay { time, delay: 0.02 + slope * time }, false);
            }
        };
        let mut used = ClockSkew::new(ClockSkewConfig::default());
        feed(&mut used, 100e-6);
        used.clear();
        feed(&mut used, -100e-6);
        let mut new = ClockSkew::new(ClockSkewConfig::default());
        feed(&mut new, -100e-6);
        assert!(new.line.slope < -99e-6, "{}", new.line.slope);
        assert_eq!((used.line.slope, used.base(70.0)), (new.line.slope, new.base(70.0)));
    }

    #[test]
    fn delays_without_their_skew_stay_where_they_are() {
        let found = after(400, 100e-6, |_| false);
        let without = |time: f64| 100e-6 * time - found.offset(time);
        assert!((without(200.0) - without(140.0)).abs() < 20e-6);
        // The base is that of the same delays: 20 ms, and the delay added before skew was known.
        assert!((found.base(140.0) - (0.02 + without(140.0))).abs() < 20e-6);
    }

    #[test]
    fn skew_is_not_learnt_too_early_nor_from_a_standing_queue_nor_beyond_belief() {
        assert_eq!(after(29, 100e-6, |_| false).line.slope, 0.0);
        assert_eq!(after(400, 100e-6, |_| true).line.slope, 0.0);
        assert_eq!(after(400, 600e-6, |_| false).line.slope, 0.0);
    }

    #[test]
    fn delays_are_taken_back_to_time_0_by_their_slope() {
        for points in 1..10 {
            // All of them are 20 ms at time 0, but for the last, which is 1 ms less.
            let point = |k: u32| {
                let time = 100.0 + f64::from(k);
                let delay = 0.02 + 100e-6 * time - if k + 1 == points { 0.001 } else { 0.0 };
                LeastDelay { time, delay }
            };
            let points: Vec<LeastDelay> = (0..points).map(point).collect();
            let least = least_at_zero(&points, 100e-6);
            assert!((least - 0.019).abs() < 1e-12, "{} points: {least}", points.len());
        }
    }
}
