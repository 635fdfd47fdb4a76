//! An encoder that changes its resolution by the quality it reaches, as browsers do with a camera.

use std::collections::VecDeque;

use rand::RngExt as _;
use rand_pcg::Pcg64Mcg;
use weir_units::{DataRate, TimeDelta};

use super::noise::clipped_normal;
use super::{EncoderConfig, EncoderModel, Picture, Ticks};

/// Share of the camera's pixels in each step: sides by 1, 3/4, 1/2, 3/8, 1/4. libwebrtc.
const STEPS: [f64; 5] = [1.0, 9.0 / 16.0, 1.0 / 4.0, 9.0 / 64.0, 1.0 / 16.0];
/// Start rate in bit/s and pixels that a call may begin with up to it. libwebrtc.
const FIRST_PIXELS: [(f64, f64); 2] = [(300e3, 320.0 * 240.0), (500e3, 640.0 * 480.0)];
/// Quantiser of VP8 above which the resolution is lowered. libwebrtc.
const HIGH: f64 = 95.0;
/// Quantiser of VP8 up to which the resolution is raised. libwebrtc.
const LOW: f64 = 29.0;
/// Frames of the mean quantiser. libwebrtc.
const MEAN_FRAMES: usize = 150;
/// Frames before the mean counts. libwebrtc.
const LEAST_FRAMES: usize = 60;
/// Share of dropped frames from which the resolution is lowered. libwebrtc.
const MOST_DROPPED: f64 = 0.6;
/// Time between two checks before the resolution was lowered once, and afterwards. libwebrtc.
const CHECKS: (TimeDelta, TimeDelta) = (TimeDelta::from_secs(2), TimeDelta::from_secs(5));
/// Quantiser at no bits, and its fall with bits per pixel at the camera's resolution: fitted to twelve calls of Chromium with a
/// noisy picture, four of which are in `data/calls`.
const QUANTISER: (f64, f64) = (145.0, 11.0);
/// A scaled picture has more detail in a pixel: its bits per pixel count times its share of the pixels to this power. The same
/// calls.
const DETAIL: f64 = 0.25;
/// The coarsest quantiser, and the least bits per pixel at the camera's resolution, which it gives. The same calls.
const COARSEST: (f64, f64) = (106.0, 0.038);
/// After frames were left out, the smallest frame is larger by the frames from one to the next, to this power. The same calls.
const CHANGE: f64 = 0.25;
/// Unused bits at the begin and after a change of the resolution, and the most, in seconds of the rate. libwebrtc's buffer of VP8.
const UNUSED: (f64, f64) = (0.5, 1.0);
/// Most frames from one to the next where frames are too large for the rate. The same calls.
const LONGEST_DISTANCE: u32 = 8;
/// Size of a key frame at a change, as a multiple of the usual size. The same calls.
const KEY_SIZE: f64 = 1.5;
/// The frames after it begin at this share of the usual size, and grow to all of it over so many frames. The same calls.
const AFTER_KEY: (f64, u32) = (0.3, 12);

/// A camera's video whose resolution follows the quality.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct ScaledVideo {
    /// Pixels of the camera's picture.
    pub pixels: f64,
    /// Whether the resolution changes; if not, it is that of the camera.
    pub adapts: bool,
    /// Greatest lateness of a frame behind its instant, drawn uniformly.
    pub lateness: TimeDelta,
}

impl EncoderConfig {
    /// A stand-in for Chromium's VP8 of a camera of 1280x720 with a noisy picture: up to 2.5 Mbit/s, libwebrtc's highest for it,
    /// sizes that scatter by 10 %, frames up to 15 ms late, the resolution by the quality.
    pub const fn chromium() -> Self {
        let lateness = TimeDelta::from_millis(15);
        Self {
            min_rate: DataRate::from_kbps(30),
            size_noise: 0.1,
            model: EncoderModel::Scaled(ScaledVideo { pixels: 1280.0 * 720.0, adapts: true, lateness }),
            ..Self::papers()
        }
    }
}

#[derive(Debug)]
pub(super) struct ScaledState {
    model: ScaledVideo,
    ticks: Ticks,
    late: TimeDelta,
    /// Index of the resolution.
    step: usize,
    /// Frames since the last key frame.
    since_key: u32,
    /// Quantisers of the last frames; `None` for a dropped one.
    quantisers: VecDeque<Option<f64>>,
    /// Bits that the rate allowed and the frames did not use.
    unused: f64,
    /// Frames from the last one to the one that is due.
    distance: u32,
    checked: TimeDelta,
    was_lowered: bool,
}

impl ScaledState {
    pub(super) fn new(model: ScaledVideo, start: DataRate) -> Self {
        let most = FIRST_PIXELS
            .iter()
            .find(|(rate, _)| start.bps_f64() <= *rate)
            .map_or(f64::INFINITY, |first| first.1);
        let fits = STEPS.iter().position(|share| share * model.pixels <= most).unwrap_or(STEPS.len() - 1);
        Self {
            model,
            ticks: Ticks::default(),
            late: TimeDelta::ZERO,
            step: if model.adapts { fits } else { 0 },
            since_key: 0,
            quantisers: VecDeque::with_capacity(MEAN_FRAMES),
            unused: UNUSED.0 * start.bps_f64(),
            distance: 1,
            checked: TimeDelta::ZERO,
            was_lowered: false,
        }
    }

    pub(super) fn next(&self, config: &EncoderConfig) -> TimeDelta {
        self.ticks.next(config.frame_rate) + self.late
    }

    pub(super) fn step(&self) -> u8 {
        self.step as u8
    }

    /// Whether the encoder leaves out the frame that is due because frames exceed `rate`, as they may at the coarsest quantiser:
    /// it then keeps each second, fourth or eighth one. To be called once for each.
    pub(super) fn drops(&mut self, config: &EncoderConfig, rate: DataRate) -> bool {
        let rate = rate.bps_f64();
        self.unused = (self.unused + rate / config.frame_rate).min(UNUSED.1 * rate);
        let kept = self.unused >= 0.0 && self.distance.is_power_of_two() || self.distance >= LONGEST_DISTANCE;
        self.since_key > 0 && !kept
    }

    pub(super) fn capture(&mut self, config: &EncoderConfig, rate: DataRate, rng: &mut Pcg64Mcg) -> Picture {
        self.adapt(self.next(config), rate);
        let scaled = STEPS[self.step];
        let (usual, weighted) =
            (config.nominal(rate), self.model.pixels * scaled / libm::pow(scaled, DETAIL));
        let detail = usual * 8.0 / weighted;
        let quantiser = QUANTISER.0 * libm::exp(-QUANTISER.1 * detail);
        self.note(Some(if detail > COARSEST.1 { quantiser.min(COARSEST.0) } else { COARSEST.0 }));
        let (from, frames) = AFTER_KEY;
        let share = match self.since_key {
            0 => KEY_SIZE,
            n => (from + (1.0 - from) * f64::from(n - 1) / f64::from(frames)).min(1.0),
        };
        let key = self.since_key == 0;
        self.since_key = self.since_key.saturating_add(1);
        self.advance(rng);
        let changed = libm::pow(f64::from(std::mem::replace(&mut self.distance, 1)), CHANGE);
        let smallest = weighted * COARSEST.1 / 8.0 * changed;
        let bytes = (usual * share).max(smallest) * (1.0 + clipped_normal(rng, config.size_noise));
        self.unused = (self.unused - bytes * 8.0).max(-UNUSED.1 * rate.bps_f64());
        Picture { bytes, key }
    }

    pub(super) fn skip(&mut self, rng: &mut Pcg64Mcg) {
        self.note(None);
        self.distance = self.distance.saturating_add(1);
        self.advance(rng);
    }

    pub(super) fn go_on(&mut self, at: TimeDelta) {
        self.ticks.resume(at);
        self.late = TimeDelta::ZERO;
    }

    pub(super) fn resume(&mut self, at: TimeDelta) {
        self.go_on(at);
        self.since_key = 0;
    }

    pub(super) fn request_key_frame(&mut self) {
        self.since_key = 0;
    }

    fn advance(&mut self, rng: &mut Pcg64Mcg) {
        self.ticks.advance();
        self.late = self.model.lateness.scale(rng.random::<f64>());
    }

    fn note(&mut self, quantiser: Option<f64>) {
        if self.quantisers.len() == MEAN_FRAMES {
            self.quantisers.pop_front();
        }
        self.quantisers.push_back(quantiser);
    }

    /// Changes the resolution if a check is due and the quality is too bad, or good.
    fn adapt(&mut self, now: TimeDelta, rate: DataRate) {
        let interval = if self.was_lowered { CHECKS.1 } else { CHECKS.0 };
        if !self.model.adapts || now - self.checked < interval {
            return;
        }
        self.checked = now;
        let frames = self.quantisers.len();
        if frames < LEAST_FRAMES {
            return;
        }
        let encoded = self.quantisers.iter().flatten().count();
        let mean = self.quantisers.iter().flatten().sum::<f64>() / encoded.max(1) as f64;
        let dropped = 1.0 - encoded as f64 / frames as f64;
        let step = if dropped >= MOST_DROPPED || mean > HIGH {
            self.was_lowered = true;
            (self.step + 1).min(STEPS.len() - 1)
        } else if mean <= LOW {
            self.step.saturating_sub(1)
        } else {
            return;
        };
        self.quantisers.clear();
        if step != self.step {
            (self.step, self.since_key) = (step, 0);
            self.unused = UNUSED.0 * rate.bps_f64();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Encoder, EncoderConfig};
    use super::*;

    /// An encoder without noise.
    fn encoder(start: u64) -> Encoder {
        let config = EncoderConfig { size_noise: 0.0, ..EncoderConfig::chromium() };
        Encoder::new(config, DataRate::from_kbps(start), 1)
    }

    /// Resolutions after each of so many seconds at a rate.
    fn resolutions(encoder: &mut Encoder, kbps: u64, seconds: usize) -> Vec<u8> {
        let second = |_| {
            (0..30).for_each(|_| _ = encoder.capture(DataRate::from_kbps(kbps)));
            encoder.resolution()
        };
        (0..seconds).map(second).collect()
    }

    #[test]
    fn the_resolution_follows_the_quality() {
        let mut e = encoder(300);
        assert_eq!(e.resolution(), 4, "320x180");
        // 1 Mbit/s at 480x270 has a quantiser of 26, at 640x360 of 47: there it stays.
        let rising = resolutions(&mut e, 1000, 20);
        assert!(rising.is_sorted_by(|a, b| a >= b) && rising.last() == Some(&2), "{rising:?}");
        // 400 kbit/s there: 92, so it stays; 220 kbit/s: the coarsest, also at 480x270.
        assert_eq!(resolutions(&mut e, 400, 10), [2; 10]);
        assert_eq!(resolutions(&mut e, 220, 20).last(), Some(&4));
    }

    #[test]
    fn a_change_begins_with_a_key_frame_and_small_frames_follow() {
        let mut e = encoder(300);
        let frames: Vec<_> = (0..300).map(|_| e.capture(DataRate::from_kbps(1200))).collect();
        let change = frames.iter().skip(1).position(|frame| frame.key).unwrap() + 1;
        // 5000 bytes as usual.
        let sizes: Vec<u64> = frames[change - 1..change + 3].iter().map(|frame| frame.size.bytes()).collect();
        assert_eq!(sizes, [5000, 7500, 1500, 1792]);
        assert_eq!(frames[change + 14].size.bytes(), 5000);
    }

    #[test]
    fn a_frame_has_a_least_size_by_its_pixels() {
        let mut e = encoder(2000);
        assert_eq!(e.resolution(), 0, "1280x720");
        (0..30).for_each(|_| _ = e.capture(DataRate::from_kbps(100)));
        // 921 600 pixels · 0.038 / 8.
        assert_eq!(e.capture(DataRate::from_kbps(100)).size.bytes(), 4378);
        // 640x360: a quarter of the pixels, which have 1.41 times the detail.
        let mut e = encoder(400);
        (0..30).for_each(|_| _ = e.capture(DataRate::from_kbps(100)));
        assert_eq!((e.resolution(), e.capture(DataRate::from_kbps(100)).size.bytes()), (2, 1548));
    }

    #[test]
    fn frames_are_left_out_while_they_are_too_large_for_the_rate() {
        // A camera of 1280x720 that keeps its resolution: what a rate gives in ten seconds, and the distances of its frames.
        let kept = |kbps: u64| {
            let mut config = EncoderConfig { size_noise: 0.0, ..EncoderConfig::chromium() };
            let EncoderModel::Scaled(model) = &mut config.model else { unreachable!("the preset's model") };
            model.adapts = false;
            let rate = DataRate::from_kbps(kbps);
            let mut e = Encoder::new(config, rate, 1);
            let (mut bits, mut distances, mut distance) = (0.0, Vec::new(), 1);
            for frame in 0..600 {
                if e.drops(rate) && e.skip() {
                    distance += 1;
                    continue;
                }
                let size = e.capture(rate).size;
                if frame >= 300 {
                    bits += size.bits_f64();
                    distances.push(distance);
                }
                distance = 1;
            }
            (bits / 10e3, distances)
        };
        let (rate, distances) = kept(1200);
        assert!((rate - 1200.0).abs() < 1.0 && distances == [1; 300], "{rate} {distances:?}");
        let (rate, distances) = kept(500);
        assert!(
            (rate / 500.0 - 1.0).abs() < 0.05 && distances.iter().all(|d| [1, 2, 4].contains(d)),
            "{rate} {distances:?}"
        );
        // Not less than each eighth frame, of 1.68 times the least size.
        let (rate, distances) = kept(100);
        assert!(
            (rate / 220.8 - 1.0).abs() < 0.05 && distances.iter().all(|d| *d == 8),
            "{rate} {distances:?}"
        );
    }
}
