//! The encoder's target lowered by its overshoot.

use weir_cc::SendTime;
use weir_units::{DataRate, DataSize};

use super::overshoot::OvershootDetector;

/// Utilisation that is assumed before there are measurements.
const ASSUMED: f64 = 1.2;
/// Frames after a change of resolution or layers before measurements count.
const FRAMES_AFTER_CHANGE: u32 = 30;
/// The target is divided by at most this.
const MOST: f64 = 2.0;

/// libwebrtc's `EncoderBitrateAdjuster` of a stream with one layer: the target divided by the encoder's utilisation of it, so
/// that what comes out can be paced within the target.
#[derive(Clone, Debug, Default)]
pub struct BitrateAdjuster {
    detector: OvershootDetector,
    frames_since_change: u32,
}

impl BitrateAdjuster {
    /// Begins anew, as after a change of resolution or layers.
    pub fn reset(&mut self) {
        *self = Self::default();
    }

    /// Takes an encoded frame.
    pub fn on_frame(&mut self, now: SendTime, size: DataSize) {
        self.frames_since_change = self.frames_since_change.saturating_add(1);
        self.detector.on_frame(now, size);
    }

    /// The encoder's target where the network has room for `target`, at `frame_rate` frames/s. The overshoot is measured
    /// against it from now on.
    pub fn adjust(&mut self, now: SendTime, target: DataRate, frame_rate: f64) -> DataRate {
        let measured =
            self.detector.utilisation(now).filter(|_| self.frames_since_change >= FRAMES_AFTER_CHANGE);
        let utilisation = measured.unwrap_or(ASSUMED).clamp(1.0, MOST);
        let adjusted = target.scale(1.0 / utilisation);
        self.detector.set_target(now, adjusted, frame_rate);
        adjusted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measurements_count_after_thirty_frames_and_within_one_to_two() {
        let target = DataRate::from_kbps(1200);
        let adjusted_after = |frames: u32, bytes: u64| {
            let mut adjuster = BitrateAdjuster::default();
            let mut adjusted = adjuster.adjust(SendTime::ZERO, target, 30.0);
            for n in 0..frames {
                let now = SendTime::from_millis(i64::from(n) * 100 / 3);
                adjuster.on_frame(now, DataSize::from_bytes(bytes));
                adjusted = adjuster.adjust(now, target, 30.0);
            }
            adjusted.bps() / 1000
        };
        assert_eq!(adjusted_after(0, 0), 1000);
        assert_eq!(adjusted_after(29, 100), 1000);
        assert_eq!(adjusted_after(150, 100), 1200, "no more than the target");
        assert_eq!(adjusted_after(150, 50_000), 600, "no less than half");
        // 1.2 Mbit/s, whatever the target: the assumed utilisation is the measured one.
        assert_eq!(adjusted_after(300, 5000), 999);
    }

    #[test]
    fn a_change_of_resolution_begins_anew() {
        let mut adjuster = BitrateAdjuster::default();
        for n in 0..60 {
            adjuster.on_frame(SendTime::from_millis(33 * n), DataSize::from_bytes(100));
            adjuster.adjust(SendTime::from_millis(33 * n), DataRate::from_kbps(600), 30.0);
        }
        adjuster.reset();
        let adjusted = adjuster.adjust(SendTime::from_millis(2000), DataRate::from_kbps(600), 30.0);
        assert_eq!(adjusted, DataRate::from_kbps(500));
    }
}
