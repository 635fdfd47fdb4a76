//! Drops whole frames where a controller asks for it (libwebrtc's `VideoStreamEncoder`, for its congestion window).

use weir_cc::Target;
use weir_units::DataRate;

/// Share of the rate up to which no frame is dropped. libwebrtc.
const LEAST_SHARE: f64 = 0.01;
/// Minimum distance of dropped frames. libwebrtc.
const LEAST_INTERVAL: u32 = 2;

/// Drops one frame of several.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FrameDropper {
    /// Frames that were due while the target asked for drops.
    due: u32,
}

impl FrameDropper {
    /// Whether the frame that is due now is dropped. `least` is the encoder's lowest rate.
    pub(crate) fn drops(&mut self, target: &Target, least: DataRate) -> bool {
        let Some(interval) = interval(target, least) else { return false };
        let drops = self.due.is_multiple_of(interval);
        self.due = self.due.wrapping_add(1);
        drops
    }
}

/// Distance of dropped frames, if any are dropped.
fn interval(target: &Target, least: DataRate) -> Option<u32> {
    if target.frame_drop <= LEAST_SHARE {
        return None;
    }
    let rate = target.media_rate.bps_f64();
    let saved = (rate * target.frame_drop).min(rate - least.bps_f64());
    (saved > 0.0).then(|| ((rate / saved) as u32).max(LEAST_INTERVAL))
}

#[cfg(test)]
mod tests {
    use weir_cc::{LimitingFactor, Pacing};

    use super::*;

    fn kbps(rate: u64) -> DataRate {
        DataRate::from_kbps(rate)
    }

    /// Indices of the dropped frames among twelve.
    fn dropped(rate: u64, share: f64) -> Vec<usize> {
        let target =
            Target { frame_drop: share, ..Target::at(kbps(rate), Pacing::Unpaced, LimitingFactor::Delay) };
        let mut dropper = FrameDropper::default();
        (0..12).filter(|_| dropper.drops(&target, kbps(50))).collect()
    }

    #[test]
    fn one_frame_of_several_is_left_out_and_at_most_every_second() {
        assert_eq!(dropped(1000, 0.0), [0; 0]);
        assert_eq!(dropped(1000, 0.01), [0; 0]);
        // 1000 / 250 = 4; 1000 / 300 = 3.3.
        assert_eq!(dropped(1000, 0.25), [0, 4, 8]);
        assert_eq!(dropped(1000, 0.3), [0, 3, 6, 9]);
        assert_eq!(dropped(1000, 0.97), [0, 2, 4, 6, 8, 10]);
    }

    #[test]
    fn no_bits_are_saved_below_the_lowest_rate() {
        assert_eq!(dropped(50, 0.5), [0; 0]);
        // 60 - 50 = 10 kbit/s at most: one of six.
        assert_eq!(dropped(60, 0.9), [0, 6]);
    }
}
