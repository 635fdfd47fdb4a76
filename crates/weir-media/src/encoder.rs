//! A synthetic video encoder: frames of a size, no pictures.

use rand::Rng;
use rand_distr::{Distribution, StandardNormal};
use rand_pcg::Pcg64Mcg;
use weir_units::{DataRate, DataSize, TimeDelta};

/// How an encoder turns a target rate into frames.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EncoderConfig {
    /// Frames per second, greater than 0.
    pub frame_rate: f64,
    /// The lowest rate it can produce.
    pub min_rate: DataRate,
    /// The highest rate it can produce.
    pub max_rate: DataRate,
    /// Standard deviation of a frame's size as a share of the nominal size, in [0, 1).
    pub size_noise: f64,
    /// A new target is taken over at most once in this time; zero for with each frame.
    pub reaction: TimeDelta,
    /// Key frames; `None` for all frames alike.
    pub key_frames: Option<KeyFrames>,
}

/// Key frames: larger than the others, which pay the excess back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KeyFrames {
    /// A key frame every so many frames, the first one included; at least 1.
    pub every: u32,
    /// Size of a key frame as a multiple of the nominal size, at least 1.
    pub size: f64,
}

/// Frames over which the excess of a key frame is paid back.
const REPAYMENT_FRAMES: f64 = 30.0;
/// Size noise is cut off here, in standard deviations, so that no frame is negative or absurd.
const NOISE_LIMIT: f64 = 3.0;

impl EncoderConfig {
    /// The source of the simulations in nada-vs-gcc-2016: 30 frames/s of equal size, 50 to 2500 kbit/s, immediate.
    pub const fn papers() -> Self {
        Self {
            frame_rate: 30.0,
            min_rate: DataRate::from_kbps(50),
            max_rate: DataRate::from_kbps(2500),
            size_noise: 0.0,
            reaction: TimeDelta::ZERO,
            key_frames: None,
        }
    }

    /// A stand-in for Chromium's VP8 of gcc-2016: at most 2 Mbit/s, sizes that scatter by 10 %, half a second to
    /// follow a target, a key frame at the start and every 3000 frames (libwebrtc's VP8 default) of twice the size.
    /// The paper gives the maximum only; the rest was chosen on its table 1 and figure 9.
    pub const fn gcc_2016() -> Self {
        Self {
            max_rate: DataRate::from_kbps(2000),
            size_noise: 0.1,
            reaction: TimeDelta::from_millis(500),
            key_frames: Some(KeyFrames { every: 3000, size: 2.0 }),
            ..Self::papers()
        }
    }
}

/// A frame to be packetised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Its number, from 0.
    pub number: u32,
    /// Payload bytes, at least 1.
    pub size: DataSize,
    /// Whether it is a key frame.
    pub key: bool,
}

/// The encoder. Time is counted from its own start.
#[derive(Debug)]
pub struct Encoder {
    config: EncoderConfig,
    rng: Pcg64Mcg,
    frames: u32,
    /// When the first frame after the start or the last pause is captured.
    epoch: TimeDelta,
    /// Frames since then.
    since_epoch: u32,
    rate: DataRate,
    rate_since: TimeDelta,
    debt: f64,
}

impl Encoder {
    /// An encoder that begins at `start` bit/s; `rng` is the video's own randomness, independent of the network.
    pub fn new(config: EncoderConfig, start: DataRate, rng: Pcg64Mcg) -> Self {
        Self {
            config,
            rng,
            frames: 0,
            epoch: TimeDelta::ZERO,
            since_epoch: 0,
            rate: start,
            rate_since: TimeDelta::ZERO,
            debt: 0.0,
        }
    }

    /// When the next frame is captured, from the start; the fraction of a nanosecond is not lost over time.
    pub fn next_capture(&self) -> TimeDelta {
        self.epoch + TimeDelta::from_secs_f64(f64::from(self.since_epoch) / self.config.frame_rate)
    }

    /// After a pause frames begin again at `at`, from the start: the first with the target of that moment, and as a key
    /// frame if there are any. What a key frame before the pause still owed is forgiven.
    pub fn resume(&mut self, at: TimeDelta) {
        self.epoch = at;
        self.since_epoch = 0;
        self.debt = 0.0;
    }

    /// The frame captured at [`Self::next_capture`], at the rate the controller wants now.
    pub fn capture(&mut self, target: DataRate) -> Frame {
        let now = self.next_capture();
        if now - self.rate_since >= self.config.reaction || self.since_epoch == 0 {
            self.rate = target;
            self.rate_since = now;
        }
        let rate = self.rate.clamp(self.config.min_rate, self.config.max_rate);
        let nominal = rate.bps_f64() / 8.0 / self.config.frame_rate;
        let key = self.config.key_frames.filter(|k| self.since_epoch.is_multiple_of(k.every.max(1)));
        let planned = match key {
            Some(key) => {
                self.debt += (key.size - 1.0) * nominal;
                key.size * nominal
            }
            None => nominal - self.repay(nominal),
        };
        let size = (planned * (1.0 + self.noise())).round().max(1.0);
        let number = self.frames;
        self.frames = self.frames.wrapping_add(1);
        self.since_epoch = self.since_epoch.saturating_add(1);
        Frame { number, size: DataSize::from_bytes_f64(size), key: key.is_some() }
    }

    /// The highest rate of the encoder.
    pub fn max_rate(&self) -> DataRate {
        self.config.max_rate
    }

    /// What this frame gives back of the last key frame's excess.
    fn repay(&mut self, nominal: f64) -> f64 {
        let excess = self.config.key_frames.map_or(0.0, |k| (k.size - 1.0) * nominal);
        let part = (excess / REPAYMENT_FRAMES).min(self.debt).min(nominal);
        self.debt -= part;
        part
    }

    fn noise(&mut self) -> f64 {
        if self.config.size_noise == 0.0 {
            return 0.0;
        }
        let z: f64 = StandardNormal.sample(&mut self.rng);
        z.clamp(-NOISE_LIMIT, NOISE_LIMIT) * self.config.size_noise
    }
}

/// Draws uniformly from `[1 - spread, 1 + spread]`.
pub(crate) fn spread_factor(rng: &mut Pcg64Mcg, spread: f64) -> f64 {
    // 53 random bits make a float in [0, 1).
    let unit = (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
    1.0 + spread * (2.0 * unit - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    fn encoder(config: EncoderConfig) -> Encoder {
        Encoder::new(config, DataRate::from_kbps(300), Pcg64Mcg::seed_from_u64(1))
    }

    #[test]
    fn clean_frames_have_the_size_of_the_target_and_do_not_drift() {
        let mut e = encoder(EncoderConfig::papers());
        // 1.2 Mbit/s at 30 frames/s: 1.2e6 / 8 / 30 = 5000 bytes.
        for _ in 0..3000 {
            assert_eq!(e.capture(DataRate::from_kbps(1200)).size.bytes(), 5000);
        }
        assert_eq!(e.next_capture(), TimeDelta::from_secs(100));
    }

    #[test]
    fn the_rate_stays_within_what_the_encoder_can_do() {
        let mut e = encoder(EncoderConfig::papers());
        // 50 kbit/s: 208.3 bytes; 2.5 Mbit/s: 10416.7 bytes.
        assert_eq!(e.capture(DataRate::from_kbps(1)).size.bytes(), 208);
        assert_eq!(e.capture(DataRate::from_kbps(9000)).size.bytes(), 10_417);
    }

    #[test]
    fn a_slow_encoder_takes_over_a_target_every_half_second() {
        let config = EncoderConfig { reaction: TimeDelta::from_millis(500), ..EncoderConfig::papers() };
        let mut e = encoder(config);
        e.capture(DataRate::from_kbps(1200));
        let sizes: Vec<u64> = (1..=15).map(|_| e.capture(DataRate::from_kbps(600)).size.bytes()).collect();
        assert_eq!(&sizes[..14], [5000; 14]);
        assert_eq!(sizes[14], 2500, "frame 15 is captured at 0.5 s");
    }

    #[test]
    fn key_frames_are_paid_back_within_a_second() {
        let config = EncoderConfig {
            key_frames: Some(KeyFrames { every: 300, size: 4.0 }),
            ..EncoderConfig::papers()
        };
        let mut e = encoder(config);
        let sizes: Vec<u64> = (0..31).map(|_| e.capture(DataRate::from_kbps(1200)).size.bytes()).collect();
        // Key frame 4 · 5000; the excess of 15 000 bytes is repaid as 500 bytes by each of the next 30.
        assert_eq!(sizes[0], 20_000);
        assert!(sizes[1..].iter().all(|&s| s == 4500));
        assert_eq!(e.capture(DataRate::from_kbps(1200)).size.bytes(), 5000);
    }

    #[test]
    fn after_a_pause_the_clock_goes_on_and_the_first_frame_is_a_key_frame_at_the_new_target() {
        let config = EncoderConfig {
            reaction: TimeDelta::from_millis(500),
            key_frames: Some(KeyFrames { every: 300, size: 4.0 }),
            ..EncoderConfig::papers()
        };
        let mut e = encoder(config);
        for _ in 0..10 {
            e.capture(DataRate::from_kbps(1200));
        }
        e.resume(TimeDelta::from_millis(20_000));
        assert_eq!(e.next_capture(), TimeDelta::from_secs(20));
        let first = e.capture(DataRate::from_kbps(600));
        // 600 kbit/s: 2500 bytes, as a key frame four times that; the debt of the first one is gone.
        assert_eq!((first.number, first.key, first.size.bytes()), (10, true, 10_000));
        assert_eq!(e.next_capture(), TimeDelta::from_secs_f64(20.0 + 1.0 / 30.0));
        assert_eq!(e.capture(DataRate::from_kbps(600)).size.bytes(), 2250);
    }

    #[test]
    fn noise_keeps_the_mean_and_has_the_configured_size() {
        let mut e = encoder(EncoderConfig { size_noise: 0.1, ..EncoderConfig::papers() });
        let n = 20_000;
        let sizes: Vec<f64> = (0..n).map(|_| e.capture(DataRate::from_kbps(1200)).size.bytes_f64()).collect();
        let mean = sizes.iter().sum::<f64>() / f64::from(n);
        let sd = (sizes.iter().map(|s| (s - mean) * (s - mean)).sum::<f64>() / f64::from(n)).sqrt();
        assert!((mean - 5000.0).abs() < 15.0, "mean {mean}");
        assert!((sd - 493.0).abs() < 15.0, "standard deviation {sd}; 500 before the cut at 3 sigma");
    }
}
