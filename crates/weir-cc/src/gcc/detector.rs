//! The over-use detector (gcc-2016 §3.3 and fig. 3).

use weir_units::TimeDelta;

/// What the gradient says about the bottleneck.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Usage {
    /// The queue drains.
    Under,
    /// Neither.
    #[default]
    Normal,
    /// The queue has been growing for long enough.
    Over,
}

/// Compares the gradient with the threshold; over-use only after the gradient was above it for a while.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Detector {
    overuse_time: TimeDelta,
    above: TimeDelta,
    usage: Usage,
}

impl Detector {
    /// A detector that signals over-use after the gradient was above the threshold for more than `overuse_time`.
    pub fn new(overuse_time: TimeDelta) -> Self {
        Self { overuse_time, above: TimeDelta::ZERO, usage: Usage::Normal }
    }

    /// Takes gradient `x` and threshold `gamma` (both in ms) of a sample that came `elapsed` after the one before.
    pub fn update(&mut self, x: f64, gamma: f64, elapsed: TimeDelta) -> Usage {
        if x > gamma {
            self.above += elapsed;
            if self.above > self.overuse_time {
                self.usage = Usage::Over;
            }
        } else {
            self.above = TimeDelta::ZERO;
            self.usage = if x < -gamma { Usage::Under } else { Usage::Normal };
        }
        self.usage
    }

    /// The present state.
    pub fn usage(&self) -> Usage {
        self.usage
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overuse_takes_more_than_100_ms_above_the_threshold() {
        let mut detector = Detector::new(TimeDelta::from_millis(100));
        let frame = TimeDelta::from_millis(33);
        // 33, 66, 99 ms above: not yet; 132 ms: over.
        for _ in 0..3 {
            assert_eq!(detector.update(13.0, 12.5, frame), Usage::Normal);
        }
        assert_eq!(detector.update(13.0, 12.5, frame), Usage::Over);
        assert_eq!(detector.update(13.0, 12.5, frame), Usage::Over, "it stays while above");
        assert_eq!(detector.update(12.5, 12.5, frame), Usage::Normal, "equality is not above");
        assert_eq!(detector.update(13.0, 12.5, frame), Usage::Normal, "and the time counts anew");
    }

    #[test]
    fn underuse_is_signalled_at_once() {
        let mut detector = Detector::new(TimeDelta::from_millis(100));
        assert_eq!(detector.update(-12.6, 12.5, TimeDelta::ZERO), Usage::Under);
        assert_eq!(detector.update(-12.5, 12.5, TimeDelta::ZERO), Usage::Normal);
    }
}
