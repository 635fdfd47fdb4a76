//! Ratio by which an encoder exceeds its target over the last seconds.

use weir_cc::SendTime;
use weir_units::{DataRate, DataSize, TimeDelta};

use super::window::MeanWindow;

/// Span of the mean.
const WINDOW: TimeDelta = TimeDelta::from_secs(3);

/// Leaky bucket that drains at the encoder's target. A frame that does not find it empty, and makes it exceed a frame's ideal
/// size, counts by how much; the mean of the last 3 s is the utilisation of the target. The excess of one large frame is
/// forgiven if the next ones are dropped or smaller.
#[derive(Clone, Debug)]
pub struct OvershootDetector {
    target: DataRate,
    frame_rate: f64,
    /// Bits in the bucket.
    level: f64,
    leaked: Option<SendTime>,
    utilisations: MeanWindow,
}

impl Default for OvershootDetector {
    fn default() -> Self {
        Self {
            target: DataRate::ZERO,
            frame_rate: 0.0,
            level: 0.0,
            leaked: None,
            utilisations: MeanWindow::new(WINDOW),
        }
    }
}

impl OvershootDetector {
    /// Sets the encoder's target and frames per second. A target after none begins anew.
    pub fn set_target(&mut self, now: SendTime, target: DataRate, frame_rate: f64) {
        if !self.target.is_zero() {
            self.leak(now);
        } else if !target.is_zero() {
            *self = Self { leaked: Some(now), ..Self::default() };
        }
        (self.target, self.frame_rate) = (target, frame_rate);
    }

    /// Takes an encoded frame.
    pub fn on_frame(&mut self, now: SendTime, size: DataSize) {
        self.leak(now);
        if self.frame_rate <= 0.0 || self.target.is_zero() {
            return;
        }
        let ideal = self.target.bps_f64() / self.frame_rate;
        let bits = size.bits_f64();
        let excess = (bits + self.level - ideal).min(self.level).max(0.0);
        let utilisation =
            if self.utilisations.is_empty() { (bits / ideal).max(1.0) } else { 1.0 + excess / ideal };
        // The excess is taken out, so that it counts once.
        self.level += bits - excess;
        self.utilisations.add(now, utilisation);
    }

    /// Mean utilisation of the target over the last 3 s, at least 1; `None` without frames.
    pub fn utilisation(&mut self, now: SendTime) -> Option<f64> {
        self.utilisations.mean(now)
    }

    fn leak(&mut self, now: SendTime) {
        if let Some(before) = self.leaked.replace(now) {
            let leaked = self.target.bps_f64() * (now - before).secs_f64();
            self.level = (self.level - leaked).max(0.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Utilisation after frames of `share` of the ideal size, at 30 frames/s and 240 kbit/s: 1000 bytes.
    fn after(shares: impl IntoIterator<Item = f64>) -> f64 {
        let mut detector = OvershootDetector::default();
        let at = |n: u32| SendTime::from_millis((f64::from(n) * 1000.0 / 30.0) as i64);
        detector.set_target(at(0), DataRate::from_kbps(240), 30.0);
        let mut last = at(0);
        for (n, share) in (0..).zip(shares) {
            last = at(n);
            if share > 0.0 {
                detector.on_frame(last, DataSize::from_bytes_f64(1000.0 * share));
            }
        }
        detector.utilisation(last).unwrap()
    }

    #[test]
    fn a_steady_excess_is_its_own_utilisation() {
        assert!((after([1.0; 90]) - 1.0).abs() < 0.01);
        assert!((after([1.25; 90]) - 1.25).abs() < 0.01);
        assert_eq!(after([0.5; 90]), 1.0, "never below 1");
    }

    #[test]
    fn one_large_frame_is_forgiven_if_frames_are_dropped_after_it() {
        let large_then = |rest: f64| after([1.0; 30].into_iter().chain([3.0]).chain([rest; 4]));
        assert!(large_then(0.0) < 1.01);
        // The frame after it finds two frames in the bucket, and counts with one of them and more.
        assert!(large_then(1.0) > 1.04);
    }

    #[test]
    fn frames_without_a_target_do_not_count() {
        let mut detector = OvershootDetector::default();
        detector.on_frame(SendTime::ZERO, DataSize::from_bytes(1000));
        assert_eq!(detector.utilisation(SendTime::ZERO), None);
    }
}
