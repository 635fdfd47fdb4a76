//! Rates over a sliding window.

use std::collections::VecDeque;

use weir_cc::SendTime;
use weir_units::TimeDelta;

/// The window: libwebrtc's for rates of packets.
const WINDOW_MS: i64 = 1000;

/// Rate of amounts over the last second, as libwebrtc's `RateStatistics` computes it: amounts of a millisecond are one sample,
/// and after an empty window the rate is that since the first sample.
#[derive(Clone, Debug, Default)]
pub struct RateWindow {
    /// Milliseconds, amount.
    samples: VecDeque<(i64, u64)>,
    sum: u64,
    /// Number of amounts in the window.
    count: u64,
    /// Millisecond of the first sample since the window was empty.
    first: i64,
}

impl RateWindow {
    /// Adds an amount.
    pub fn add(&mut self, now: SendTime, amount: u64) {
        let now = now.nanos().div_euclid(1_000_000);
        self.expire(now);
        if self.samples.is_empty() {
            (self.first, self.count) = (now, 0);
        }
        match self.samples.back_mut() {
            Some((at, sum)) if *at >= now => *sum += amount,
            _ => self.samples.push_back((now, amount)),
        }
        self.sum += amount;
        self.count += 1;
    }

    /// Amount per second, or `None` before there are two milliseconds and two amounts.
    pub fn per_second(&mut self, now: SendTime) -> Option<f64> {
        let now = now.nanos().div_euclid(1_000_000);
        self.expire(now);
        if self.samples.is_empty() {
            return None;
        }
        let active = (now - self.first + 1).min(WINDOW_MS);
        let enough = active > 1 && (self.count > 1 || active == WINDOW_MS);
        enough.then(|| self.sum as f64 * 1000.0 / active as f64)
    }

    fn expire(&mut self, now: i64) {
        while let Some(&(at, amount)) = self.samples.front()
            && at <= now - WINDOW_MS
        {
            self.samples.pop_front();
            self.sum -= amount;
        }
    }
}

/// Mean of values over a sliding window.
#[derive(Clone, Debug)]
pub(super) struct MeanWindow {
    span: TimeDelta,
    values: VecDeque<(SendTime, f64)>,
    sum: f64,
}

impl MeanWindow {
    pub(super) fn new(span: TimeDelta) -> Self {
        Self { span, values: VecDeque::new(), sum: 0.0 }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    pub(super) fn add(&mut self, now: SendTime, value: f64) {
        self.values.push_back((now, value));
        self.sum += value;
    }

    /// The mean of the values that are not older than the window.
    pub(super) fn mean(&mut self, now: SendTime) -> Option<f64> {
        while let Some(&(at, value)) = self.values.front()
            && now - at > self.span
        {
            self.values.pop_front();
            self.sum = (self.sum - value).max(0.0);
        }
        if self.values.is_empty() {
            self.sum = 0.0;
            return None;
        }
        Some(self.sum / self.values.len() as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sender time of `ms` milliseconds.
    fn at(ms: i64) -> SendTime {
        SendTime::from_millis(ms)
    }

    #[test]
    fn a_rate_is_that_of_the_last_second_or_since_the_first_amount() {
        let mut window = RateWindow::default();
        assert_eq!(window.per_second(at(0)), None);
        window.add(at(0), 100);
        assert_eq!(window.per_second(at(99)), None, "one amount");
        window.add(at(99), 100);
        assert_eq!(window.per_second(at(99)), Some(2000.0), "200 in 100 ms");
        assert_eq!(window.per_second(at(999)), Some(200.0));
        assert_eq!(window.per_second(at(1000)), Some(100.0), "the first is a second old");
        assert_eq!(window.per_second(at(1099)), None);
        window.add(at(5000), 7);
        window.add(at(5009), 8);
        assert_eq!(window.per_second(at(5009)), Some(1500.0), "anew after an empty window");
    }

    #[test]
    fn a_mean_forgets_old_values() {
        let mut window = MeanWindow::new(TimeDelta::from_secs(3));
        window.add(at(0), 1.0);
        window.add(at(1000), 2.0);
        assert_eq!(window.mean(at(3000)), Some(1.5));
        assert_eq!(window.mean(at(3001)), Some(2.0));
        assert_eq!(window.mean(at(4001)), None);
        assert!(window.is_empty());
    }
}
