//! The encoders of the papers: frames of the target's size, with noise and key frames if configured.

use rand_pcg::Pcg64Mcg;
use weir_units::{DataRate, TimeDelta};

use super::noise::clipped_normal;
use super::{EncoderConfig, Picture, Ticks};

/// Number of frames over which the excess of a key frame is repaid.
const REPAYMENT_FRAMES: f64 = 30.0;

#[derive(Debug)]
pub(super) struct Nominal {
    ticks: Ticks,
    /// Frames since the start, the last pause or the last request for a key frame.
    since_key: u32,
    /// Target that the encoder follows, and since when.
    rate: DataRate,
    rate_since: TimeDelta,
    /// Bytes of key frames that later frames have to save.
    debt: f64,
}

impl Nominal {
    pub(super) fn new(start: DataRate) -> Self {
        Self { ticks: Ticks::default(), since_key: 0, rate: start, rate_since: TimeDelta::ZERO, debt: 0.0 }
    }

    pub(super) fn next(&self, config: &EncoderConfig) -> TimeDelta {
        self.ticks.next(config.frame_rate)
    }

    pub(super) fn capture(
        &mut self,
        config: &EncoderConfig,
        target: DataRate,
        rng: &mut Pcg64Mcg,
    ) -> Picture {
        let now = self.next(config);
        if now - self.rate_since >= config.reaction || self.ticks.count == 0 {
            self.rate = target;
            self.rate_since = now;
        }
        let nominal = config.nominal(config.clamp(self.rate));
        let key = config.key_frames.filter(|k| self.since_key.is_multiple_of(k.every.max(1)));
        let planned = match key {
            Some(key) => {
                self.debt += (key.size - 1.0) * nominal;
                key.size * nominal
            }
            None => nominal - self.repay(config, nominal),
        };
        self.ticks.advance();
        self.since_key = self.since_key.saturating_add(1);
        Picture { bytes: planned * (1.0 + clipped_normal(rng, config.size_noise)), key: key.is_some() }
    }

    pub(super) fn skip(&mut self) {
        self.ticks.advance();
    }

    pub(super) fn go_on(&mut self, at: TimeDelta) {
        self.ticks.resume(at);
    }

    pub(super) fn resume(&mut self, at: TimeDelta) {
        self.ticks.resume(at);
        self.since_key = 0;
        self.debt = 0.0;
    }

    pub(super) fn request_key_frame(&mut self) {
        self.since_key = 0;
    }

    /// Bytes by which this frame repays the last key frame's excess.
    fn repay(&mut self, config: &EncoderConfig, nominal: f64) -> f64 {
        let excess = config.key_frames.map_or(0.0, |k| (k.size - 1.0) * nominal);
        let part = (excess / REPAYMENT_FRAMES).min(self.debt).min(nominal);
        self.debt -= part;
        part
    }
}

#[cfg(test)]
mod tests;
