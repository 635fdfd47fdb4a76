//! Content sharing: a screen that changes little most of the time, and now and then as a whole (syncodecs).

use rand_pcg::Pcg64Mcg;
use weir_units::{DataRate, DataSize, TimeDelta};

use super::{EncoderConfig, EncoderModel, Picture, Ticks, unit};

/// Model of a shared screen.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct ContentSharing {
    /// Bound of the size of a frame in which little changes; the size is otherwise the target's.
    pub largest_base: DataSize,
    /// Probability that a frame shows another screen; the first one always does.
    pub probability: f64,
    /// Size of the frame of a new screen, as a multiple of the size above: uniform between these.
    pub factor: (f64, f64),
}

impl EncoderConfig {
    /// A shared screen: 5 frames/s of at most 1000 bytes, one in 20 of them 20 to 200 times as large (syncodecs).
    pub const fn content_sharing() -> Self {
        Self {
            frame_rate: 5.0,
            model: EncoderModel::ContentSharing(ContentSharing {
                largest_base: DataSize::from_bytes(1000),
                probability: 0.05,
                factor: (20.0, 200.0),
            }),
            ..Self::papers()
        }
    }
}

#[derive(Debug)]
pub(super) struct SharingState {
    model: ContentSharing,
    ticks: Ticks,
    key_due: bool,
}

impl SharingState {
    pub(super) fn new(model: ContentSharing) -> Self {
        Self { model, ticks: Ticks::default(), key_due: true }
    }

    pub(super) fn next(&self, config: &EncoderConfig) -> TimeDelta {
        self.ticks.next(config.frame_rate)
    }

    pub(super) fn capture(&mut self, config: &EncoderConfig, rate: DataRate, rng: &mut Pcg64Mcg) -> Picture {
        let base = config.nominal(rate).min(self.model.largest_base.bytes_f64());
        let place = self.pass(rng);
        let key = std::mem::take(&mut self.key_due);
        let (least, most) = self.model.factor;
        let factor = if key { least + (most - least) * place } else { 1.0 };
        Picture { bytes: base * factor, key }
    }

    /// Skips a frame; a new screen stays to be shown.
    pub(super) fn skip(&mut self, rng: &mut Pcg64Mcg) {
        self.pass(rng);
    }

    /// Advances by one frame. Returns the place between the factors that its size would have, in [0, 1).
    fn pass(&mut self, rng: &mut Pcg64Mcg) -> f64 {
        self.ticks.advance();
        // Both numbers are drawn for each frame, so that screens change at the same frames for any target rate.
        let (changes, place) = (unit(rng) < self.model.probability, unit(rng));
        self.key_due |= changes;
        place
    }

    pub(super) fn go_on(&mut self, at: TimeDelta) {
        self.ticks.resume(at);
    }

    pub(super) fn resume(&mut self, at: TimeDelta) {
        self.ticks.resume(at);
        self.key_due = true;
    }

    pub(super) fn request_key_frame(&mut self) {
        self.key_due = true;
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Encoder, Frame};
    use super::*;

    #[test]
    fn one_screen_in_twenty_is_new_and_large() {
        let config = EncoderConfig::content_sharing();
        let mut e = Encoder::new(config, DataRate::from_kbps(300), 1);
        // 500 kbit/s at 5 frames/s would be 12 500 bytes: the base is 1000.
        let frames: Vec<Frame> = (0..20_000).map(|_| e.capture(DataRate::from_kbps(500))).collect();
        assert!(frames[0].key);
        let (new, same): (Vec<Frame>, Vec<Frame>) = frames.iter().partition(|frame| frame.key);
        assert!(same.iter().all(|frame| frame.size.bytes() == 1000));
        assert!(new.iter().all(|frame| (20_000..=200_000).contains(&frame.size.bytes())));
        // 1000 ± 31 of 20 000, 110 kB on average ± 1.6 kB.
        assert!((new.len() as f64 - 1000.0).abs() < 95.0, "{}", new.len());
        let mean = new.iter().map(|frame| frame.size.bytes_f64()).sum::<f64>() / new.len() as f64;
        assert!((mean - 110e3).abs() < 5e3, "{mean}");
        assert_eq!(e.next_capture(), TimeDelta::from_secs(4000));
        // 20 kbit/s: 500 bytes.
        let config = EncoderConfig { min_rate: DataRate::from_kbps(20), ..config };
        let mut e = Encoder::new(config, DataRate::from_kbps(300), 1);
        let least = (0..40).map(|_| e.capture(DataRate::from_kbps(1)).size.bytes()).min();
        assert_eq!(least, Some(500));
    }
}
