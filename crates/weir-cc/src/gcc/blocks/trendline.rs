//! The trend of the one-way delay: the slope of a line through the last samples (libwebrtc's `TrendlineEstimator`,
//! since 2016).

use alloc::vec::Vec;

use super::bursts::BurstSample;
use crate::time::ArrivalTime;

/// Constants of the trend.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct TrendlineConfig {
    /// Samples through which the line is drawn, from 2 to 200. libwebrtc.
    pub window: u32,
    /// Weight of the old smoothed delay, in [0, 1). libwebrtc.
    pub smoothing: f64,
    /// Factor on the slope before the comparison with γ. libwebrtc.
    pub gain: f64,
    /// Greatest number of samples by which the slope is multiplied. libwebrtc.
    pub scale_cap: u32,
}

impl Default for TrendlineConfig {
    fn default() -> Self {
        Self { window: 20, smoothing: 0.9, gain: 4.0, scale_cap: 60 }
    }
}

impl TrendlineConfig {
    /// Rules of all constants: the name, whether its value is valid, and the valid range.
    pub fn rules(&self) -> [(&'static str, bool, &'static str); 4] {
        [
            ("window", (2..=200).contains(&self.window), "from 2 to 200"),
            ("smoothing", (0.0..1.0).contains(&self.smoothing), "in [0, 1)"),
            ("gain", self.gain > 0.0 && self.gain.is_finite(), "above 0"),
            ("scale_cap", self.scale_cap >= 1, "at least 1"),
        ]
    }
}

/// Least variance of arrival times, in ms² over the window, that makes a line.
const LEAST_SPREAD: f64 = 1e-6;

/// A point of the line: arrival and smoothed delay in ms.
#[derive(Clone, Copy, Debug, Default)]
struct DelayPoint {
    x: f64,
    y: f64,
}

/// Sums over the window, of points relative to the origin.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    x: f64,
    y: f64,
    xx: f64,
    xy: f64,
}

impl Sums {
    fn add(&mut self, point: DelayPoint, origin: DelayPoint, sign: f64) {
        let (x, y) = (point.x - origin.x, point.y - origin.y);
        self.x += sign * x;
        self.y += sign * y;
        self.xx += sign * x * x;
        self.xy += sign * x * y;
    }
}

/// Trend of the delay after a sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct DelayTrend {
    /// Slope of the delay, without unit: about `(sending rate − capacity) / capacity`.
    pub slope: f64,
    /// The slope as it is compared with γ, in ms.
    pub scaled: f64,
}

/// The slope of the smoothed one-way delay over arrival time.
///
/// The sums of the regression are updated incrementally, and computed anew once per window so that rounding cannot
/// build up. A sample costs the same whatever the window.
#[derive(Clone, Debug)]
pub(crate) struct Trendline {
    config: TrendlineConfig,
    samples: u32,
    first_arrival: Option<ArrivalTime>,
    /// Sum of all gradients: the delay since the first sample, in ms.
    accumulated: f64,
    smoothed: f64,
    /// Ring of the window's points; sums count relative to `origin`.
    points: Vec<DelayPoint>,
    next: usize,
    origin: DelayPoint,
    sums: Sums,
    slope: f64,
}

impl Trendline {
    /// A trend without any sample.
    pub(crate) fn new(config: TrendlineConfig) -> Self {
        Self {
            config,
            samples: 0,
            first_arrival: None,
            accumulated: 0.0,
            smoothed: 0.0,
            points: Vec::with_capacity(config.window as usize),
            next: 0,
            origin: DelayPoint::default(),
            sums: Sums::default(),
            slope: 0.0,
        }
    }

    /// Removes every sample, and keeps the allocated memory.
    pub(crate) fn restart(&mut self) {
        self.points.clear();
        let points = core::mem::take(&mut self.points);
        *self = Self { points, ..Self::new(self.config) };
    }

    /// Samples so far.
    pub(crate) fn samples(&self) -> u32 {
        self.samples
    }

    /// Takes a sample. Until the window is full the slope is zero.
    pub(crate) fn update(&mut self, sample: &BurstSample) -> DelayTrend {
        let first = *self.first_arrival.get_or_insert(sample.arrival);
        self.samples = self.samples.saturating_add(1);
        self.accumulated += sample.gradient().millis_f64();
        let smoothing = self.config.smoothing;
        self.smoothed = smoothing * self.smoothed + (1.0 - smoothing) * self.accumulated;
        self.push(DelayPoint { x: (sample.arrival - first).millis_f64(), y: self.smoothed });
        if self.points.len() == self.config.window as usize {
            self.slope = self.fit().unwrap_or(self.slope);
        }
        let scale = self.config.gain * f64::from(self.samples.min(self.config.scale_cap));
        DelayTrend { slope: self.slope, scaled: scale * self.slope }
    }

    fn push(&mut self, point: DelayPoint) {
        if self.points.len() < self.config.window as usize {
            self.points.push(point);
            self.sums.add(point, self.origin, 1.0);
            return;
        }
        let old = core::mem::replace(&mut self.points[self.next], point);
        self.next += 1;
        if self.next == self.points.len() {
            self.next = 0;
            self.rebase(point);
        } else {
            self.sums.add(old, self.origin, -1.0);
            self.sums.add(point, self.origin, 1.0);
        }
    }

    /// Computes the sums again, relative to `origin`.
    fn rebase(&mut self, origin: DelayPoint) {
        self.origin = origin;
        self.sums = Sums::default();
        for &point in &self.points {
            self.sums.add(point, origin, 1.0);
        }
    }

    /// `Σ(x−x̄)(y−ȳ) / Σ(x−x̄)²`, or `None` if all arrivals are at one time.
    fn fit(&self) -> Option<f64> {
        let (sums, n) = (&self.sums, self.points.len() as f64);
        let spread = sums.xx - sums.x * sums.x / n;
        (spread > LEAST_SPREAD).then(|| (sums.xy - sums.x * sums.y / n) / spread)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use weir_units::TimeDelta;

    use super::*;

    /// A sample that left `departed` ms and arrived `arrived` ms after the one before, at `at` ms.
    fn sample(departed: f64, arrived: f64, at: f64) -> BurstSample {
        BurstSample {
            inter_departure: TimeDelta::from_millis_f64(departed),
            inter_arrival: TimeDelta::from_millis_f64(arrived),
            size_delta: 0.0,
            arrival: ArrivalTime::ZERO + TimeDelta::from_secs(9000) + TimeDelta::from_millis_f64(at),
        }
    }

    /// The slope by its definition.
    fn slope_of(points: &[(f64, f64)]) -> Option<f64> {
        let n = points.len() as f64;
        let x_mean = points.iter().map(|p| p.0).sum::<f64>() / n;
        let y_mean = points.iter().map(|p| p.1).sum::<f64>() / n;
        let spread: f64 = points.iter().map(|p| (p.0 - x_mean) * (p.0 - x_mean)).sum();
        let common: f64 = points.iter().map(|p| (p.0 - x_mean) * (p.1 - y_mean)).sum();
        (spread > LEAST_SPREAD).then(|| common / spread)
    }

    #[test]
    fn the_slope_is_that_of_the_smoothed_delay() {
        let mut trend = Trendline::new(TrendlineConfig { window: 2, ..TrendlineConfig::default() });
        // d = 2: accumulated 2, smoothed 0.2; the window is not full.
        assert_eq!(trend.update(&sample(10.0, 12.0, 12.0)).slope, 0.0);
        // d = 2: accumulated 4, smoothed 0.9·0.2 + 0.1·4 = 0.58; (0.58 − 0.2)/12 = 0.031667; ·2·4 = 0.25333.
        let second = trend.update(&sample(10.0, 12.0, 24.0));
        assert!((second.slope - 0.031_666_667).abs() < 1e-9 && (second.scaled - 0.253_333_333).abs() < 1e-9);
        // d = −4: accumulated 0, smoothed 0.522: (0.522 − 0.58)/6 = −0.0096667, ·3·4.
        let third = trend.update(&sample(10.0, 6.0, 30.0));
        assert!((third.scaled + 0.116).abs() < 1e-9);
    }

    #[test]
    fn a_delay_that_grows_steadily_shows_its_growth() {
        let mut trend = Trendline::new(TrendlineConfig::default());
        // Sent 10 ms apart, arriving 11 ms apart: after the filter has settled 1 ms per 11 ms.
        let last = (1..=200).map(|n| trend.update(&sample(10.0, 11.0, 11.0 * f64::from(n)))).last().unwrap();
        assert!((last.slope - 1.0 / 11.0).abs() < 1e-6, "{last:?}");
        // Scaled by 4·60.
        assert!((last.scaled - 240.0 / 11.0).abs() < 1e-3);
    }

    #[test]
    fn arrivals_at_one_time_keep_the_slope_and_a_restart_forgets() {
        let mut trend = Trendline::new(TrendlineConfig { window: 2, ..TrendlineConfig::default() });
        trend.update(&sample(10.0, 12.0, 12.0));
        let before = trend.update(&sample(10.0, 12.0, 24.0)).slope;
        assert_eq!(trend.update(&sample(10.0, 0.0, 24.0)).slope, before);
        trend.restart();
        assert_eq!((trend.update(&sample(10.0, 12.0, 50.0)).slope, trend.samples()), (0.0, 1));
    }

    proptest! {
        #[test]
        fn sums_carried_along_give_the_slope_by_definition(
            deltas in prop::collection::vec((0.0..40.0_f64, 0.0..40.0_f64), 20..300),
        ) {
            let mut trend = Trendline::new(TrendlineConfig::default());
            let (mut at, mut raw, mut smooth, mut points) = (0.0, 0.0, 0.0, Vec::new());
            for (departed, arrived) in deltas {
                let sample = sample(departed, arrived, at);
                at += arrived;
                raw += sample.gradient().millis_f64();
                smooth = 0.9 * smooth + 0.1 * raw;
                let first = trend.first_arrival.unwrap_or(sample.arrival);
                points.push(((sample.arrival - first).millis_f64(), smooth));
                let seen = trend.update(&sample).slope;
                if let Some(expected) = points.len().checked_sub(20).and_then(|old| slope_of(&points[old..])) {
                    prop_assert!((seen - expected).abs() < 1e-6 * expected.abs().max(1.0), "{} {}", seen, expected);
                }
            }
        }
    }
}
