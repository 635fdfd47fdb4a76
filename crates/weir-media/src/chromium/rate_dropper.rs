//! Frames left out while the encoder is above its rate.

use weir_units::{DataRate, DataSize};

/// The bucket is full with this time of the rate. libwebrtc.
const FULL: f64 = 0.5;
/// The bucket holds at most this time of the rate. libwebrtc.
const MOST: f64 = 3.0;
/// Longest time without a frame. libwebrtc.
const LONGEST_DROP: f64 = 4.0;
/// Fill above which the ratio follows faster. libwebrtc.
const OVERFULL: f64 = 1.3;
/// Weight of the old ratio, as usual and with an overfull bucket. libwebrtc.
const WEIGHTS: (f64, f64) = (0.9, 0.8);
/// A frame of this many times the mean is spread over half a second. libwebrtc.
const LARGE: f64 = 3.0;
/// Weight of the old mean size. libwebrtc.
const SIZE_WEIGHT: f64 = 0.9;

/// libwebrtc's `FrameDropper`: a leaky bucket of encoded bits. While it is full, the share of dropped frames rises. Key frames
/// and unusually large ones are spread over the frames after them.
#[derive(Clone, Copy, Debug, Default)]
pub struct RateDropper {
    /// Bits in the bucket.
    level: f64,
    /// In bit/s.
    rate: f64,
    /// Mean size of usual frames in bits.
    mean: Option<f64>,
    /// Frames over which a large one is still spread, and its bits in each.
    spread: (u32, f64),
    /// Share of dropped frames.
    ratio: f64,
    /// Frames dropped in succession, or kept if negative.
    run: i64,
    was_full: bool,
    drops_next: bool,
}

impl RateDropper {
    /// Sets the rate that the encoder should have.
    pub fn set_rate(&mut self, rate: DataRate) {
        let rate = rate.bps_f64();
        if self.rate > 0.0 && rate < self.rate && self.level > rate * FULL {
            self.level *= rate / self.rate;
        }
        self.rate = rate;
        self.level = self.level.min(rate * MOST);
    }

    /// Takes an encoded frame.
    pub fn on_frame(&mut self, size: DataSize, key: bool, frame_rate: f64) {
        let bits = size.bits_f64();
        let large = key || self.mean.is_some_and(|mean| bits > LARGE * mean);
        if large && self.spread.0 == 0 {
            let frames = (0.5 * frame_rate).max(5.0).round();
            self.spread = (frames as u32, bits / frames);
            return;
        }
        if !key {
            self.mean = Some(self.mean.map_or(bits, |mean| SIZE_WEIGHT * mean + (1.0 - SIZE_WEIGHT) * bits));
        }
        self.level = (self.level + bits).min(self.rate * MOST);
    }

    /// Whether the frame that is due is left out; to be called once for each.
    pub fn drops(&mut self, frame_rate: f64) -> bool {
        self.leak(frame_rate);
        if std::mem::take(&mut self.drops_next) {
            self.run = 0;
        }
        let ratio = self.ratio;
        if ratio >= 0.5 {
            let most = (frame_rate * LONGEST_DROP) as i64;
            let limit = ((1.0 / (1.0 - ratio).max(1e-5) - 1.0).round() as i64).min(most);
            self.run = self.run.abs();
            let drops = self.run < limit;
            self.run = if drops { self.run + 1 } else { 0 };
            return drops;
        }
        if ratio > 0.0 {
            let limit = -((1.0 / ratio.max(1e-5) - 1.0).round() as i64);
            self.run = -self.run.abs();
            let drops = self.run == 0 && limit < 0;
            self.run = if self.run > limit { self.run - 1 } else { 0 };
            return drops;
        }
        self.run = 0;
        false
    }

    fn leak(&mut self, frame_rate: f64) {
        let mut leaked = self.rate / frame_rate;
        if self.spread.0 > 0 {
            self.spread.0 -= 1;
            leaked -= self.spread.1;
        }
        self.level = (self.level - leaked).max(0.0);
        let (full, fast) = (self.level > self.rate * FULL, self.level > OVERFULL * self.rate * FULL);
        self.drops_next |= full && !self.was_full;
        let weight = if fast { WEIGHTS.1 } else { WEIGHTS.0 };
        self.ratio = weight * self.ratio + (1.0 - weight) * f64::from(full);
        // A share that rounds to nothing ends the drops.
        if self.ratio < 1e-3 {
            self.ratio = 0.0;
        }
        self.was_full = full;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Frames that are kept out of 300 of `share` of the ideal size, after a second of ideal ones.
    fn kept(share: f64) -> usize {
        let mut dropper = RateDropper::default();
        dropper.set_rate(DataRate::from_kbps(240));
        let mut take = |share: f64| {
            let drops = dropper.drops(30.0);
            if !drops {
                dropper.on_frame(DataSize::from_bytes_f64(1000.0 * share), false, 30.0);
            }
            !drops
        };
        (0..30).for_each(|_| _ = take(1.0));
        (0..300).filter(|_| take(share)).count()
    }

    #[test]
    fn frames_are_left_out_until_the_rate_is_kept() {
        assert_eq!(kept(1.0), 300);
        assert_eq!(kept(0.5), 300);
        // Twice the rate: half of the frames, and the bucket of half a second besides.
        let kept = kept(2.0);
        assert!((150..=175).contains(&kept), "{kept}");
    }

    #[test]
    fn one_key_frame_drops_nothing() {
        let mut dropper = RateDropper::default();
        dropper.set_rate(DataRate::from_kbps(240));
        for frame in 0..60 {
            assert!(!dropper.drops(30.0), "{frame}");
            let size = DataSize::from_bytes(if frame == 10 { 10_000 } else { 900 });
            dropper.on_frame(size, frame == 10, 30.0);
        }
    }
}
