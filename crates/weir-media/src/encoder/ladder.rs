//! Encoder of several streams in one flow (simulcast): a ladder of fixed rates, switched on from the lowest.

use rand_pcg::Pcg64Mcg;
use weir_units::{DataRate, TimeDelta};

use super::noise::clipped_normal;
use super::{EncoderConfig, EncoderModel, KeyFrames, Picture, Ticks};
use crate::climb::NextLayer;

/// Largest number of streams in a ladder.
pub const LADDER_RUNGS: usize = 4;

/// Streams at fixed rates. The lowest is always on, at the target if that is lower. Each further one is on while the
/// target covers it and those below.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Ladder {
    /// The rates, rising; zero for no stream.
    pub rates: [DataRate; LADDER_RUNGS],
    /// Margin for switching a stream on, as a share of the rate of it and those below. Below that rate the stream is
    /// switched off.
    pub hysteresis: f64,
}

impl Ladder {
    /// Number of streams, at least one.
    fn rungs(&self) -> usize {
        self.rates.iter().take_while(|rate| !rate.is_zero()).count().max(1)
    }

    /// Rate of the lowest `rungs` streams together, in bit/s.
    fn needs(&self, rungs: usize) -> f64 {
        self.rates.iter().take(rungs).map(|rate| rate.bps_f64()).sum()
    }

    /// Target that switches on the highest of the lowest `rungs` streams, in bit/s.
    fn switches_on(&self, rungs: usize) -> f64 {
        self.needs(rungs) * (1.0 + self.hysteresis)
    }

    /// Number of streams that are on at `target`, of which `on` were before.
    fn on(&self, target: f64, on: usize) -> usize {
        let carried =
            |&rungs: &usize| target >= if rungs > on { self.switches_on(rungs) } else { self.needs(rungs) };
        (2..=self.rungs()).take_while(carried).last().unwrap_or(1)
    }
}

impl EncoderConfig {
    /// Three streams of 150, 500 and 1500 kbit/s, switched on from the lowest at 10 % more than is needed, each with a key
    /// frame.
    pub const fn simulcast() -> Self {
        let kbps = DataRate::from_kbps;
        let rates = [kbps(150), kbps(500), kbps(1500), DataRate::ZERO];
        Self {
            max_rate: kbps(2365),
            key_frames: Some(KeyFrames { every: 3000, size: 4.0 }),
            model: EncoderModel::Ladder(Ladder { rates, hysteresis: 0.1 }),
            ..Self::papers()
        }
    }
}

#[derive(Debug)]
pub(super) struct LadderState {
    model: Ladder,
    ticks: Ticks,
    /// Streams that are on.
    on: usize,
    /// The stream whose frame comes next; all of a tick are captured at once, the lowest first.
    stream: usize,
    /// Frames of each stream since its last key frame was due.
    since_key: [u32; LADDER_RUNGS],
}

impl LadderState {
    pub(super) fn new(model: Ladder) -> Self {
        Self { model, ticks: Ticks::default(), on: 0, stream: 0, since_key: [0; LADDER_RUNGS] }
    }

    pub(super) fn next(&self, config: &EncoderConfig) -> TimeDelta {
        self.ticks.next(config.frame_rate)
    }

    pub(super) fn capture(&mut self, config: &EncoderConfig, rate: DataRate, rng: &mut Pcg64Mcg) -> Picture {
        if self.stream == 0 {
            let before = self.on;
            self.on = self.model.on(rate.bps_f64(), before);
            for since in self.since_key.iter_mut().take(self.on).skip(before) {
                *since = 0; // a stream that is switched on begins with a key frame
            }
        }
        let stream = self.stream;
        let own = self.model.rates[stream];
        let nominal = config.nominal(if stream == 0 { own.min(rate) } else { own });
        let key = config.key_frames.filter(|key| self.since_key[stream].is_multiple_of(key.every.max(1)));
        self.since_key[stream] = self.since_key[stream].saturating_add(1);
        self.stream += 1;
        if self.stream >= self.on {
            self.stream = 0;
            self.ticks.advance();
        }
        let size = nominal * key.map_or(1.0, |key| key.size);
        Picture { bytes: size * (1.0 + clipped_normal(rng, config.size_noise)), key: key.is_some() }
    }

    /// The next stream, if there is another one.
    pub(super) fn next_rung(&self) -> Option<NextLayer> {
        let layers_on = self.on.max(1);
        let needed = || DataRate::from_bps_f64(self.model.switches_on(layers_on + 1).ceil());
        (layers_on < self.model.rungs()).then(|| NextLayer { layers_on, needed: needed() })
    }

    /// Skips the frames of an instant; `false` if some of them were captured already.
    pub(super) fn skip(&mut self) -> bool {
        if self.stream > 0 {
            return false;
        }
        self.ticks.advance();
        true
    }

    pub(super) fn go_on(&mut self, at: TimeDelta) {
        self.ticks.resume(at);
    }

    pub(super) fn resume(&mut self, at: TimeDelta) {
        *self = Self::new(self.model);
        self.ticks.resume(at);
    }

    pub(super) fn request_key_frame(&mut self) {
        self.since_key = [0; LADDER_RUNGS];
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Encoder, Frame};
    use super::*;

    fn encoder() -> Encoder {
        Encoder::new(EncoderConfig::simulcast(), DataRate::from_kbps(300), 1)
    }

    /// The frames of one instant.
    fn tick(encoder: &mut Encoder, kbps: u64) -> Vec<Frame> {
        let at = encoder.next_capture();
        let mut frames = Vec::new();
        while encoder.next_capture() == at {
            frames.push(encoder.capture(DataRate::from_kbps(kbps)));
        }
        frames
    }

    #[test]
    fn streams_are_switched_on_from_the_lowest_with_hysteresis() {
        let mut e = encoder();
        let on = |e: &mut Encoder, kbps| tick(e, kbps).len();
        // 150 + 500 = 650: on from 715, off below 650. With 1500: 2150, on from 2365, the encoder's highest rate.
        assert_eq!([100, 700, 714, 715, 650, 649, 714].map(|kbps| on(&mut e, kbps)), [1, 1, 1, 2, 2, 1, 1]);
        assert_eq!([2364, 2365, 2150, 2149, 9000, 300].map(|kbps| on(&mut e, kbps)), [2, 3, 3, 2, 3, 1]);
    }

    #[test]
    fn the_next_layer_is_that_above_the_streams_that_are_on() {
        let mut e = encoder();
        let mut next = |kbps| {
            tick(&mut e, kbps);
            e.next_layer().map(|next| (next.layers_on, next.needed.bps() / 1000))
        };
        assert_eq!([100, 714, 715, 2364, 2365, 2149].map(&mut next), {
            let (second, third) = (Some((1, 715)), Some((2, 2365)));
            [second, second, third, third, None, third]
        });
        let mut low = EncoderConfig { max_rate: DataRate::from_kbps(2000), ..EncoderConfig::simulcast() };
        let mut e = Encoder::new(low, DataRate::from_kbps(300), 1);
        tick(&mut e, 2000);
        assert_eq!(e.next_layer(), None, "the highest rate is below it");
        low.model = super::super::EncoderModel::Nominal;
        assert_eq!(Encoder::new(low, DataRate::from_kbps(300), 1).next_layer(), None);
    }

    #[test]
    fn the_streams_skip_an_instant_together() {
        let mut e = encoder();
        tick(&mut e, 800);
        assert!(e.skip());
        assert_eq!(e.next_capture(), TimeDelta::from_nanos(66_666_667));
        e.capture(DataRate::from_kbps(800));
        assert!(!e.skip(), "one of two streams has sent");
        assert_eq!(e.next_capture(), TimeDelta::from_nanos(66_666_667));
    }

    #[test]
    fn each_stream_has_its_own_rate_and_begins_with_a_key_frame() {
        let mut e = encoder();
        let described = |frames: Vec<Frame>| -> Vec<(u64, bool)> {
            frames.iter().map(|frame| (frame.size.bytes(), frame.key)).collect()
        };
        // 150 kbit/s at 30 frames/s: 625 bytes, four times that for a key frame; at 100 kbit/s 416.7.
        assert_eq!(described(tick(&mut e, 300)), [(2500, true)]);
        assert_eq!(described(tick(&mut e, 100)), [(417, false)]);
        assert_eq!(described(tick(&mut e, 800)), [(625, false), (8333, true)]);
        assert_eq!(described(tick(&mut e, 800)), [(625, false), (2083, false)]);
        tick(&mut e, 300);
        assert_eq!(described(tick(&mut e, 800)), [(625, false), (8333, true)], "switched on again");
        e.request_key_frame();
        assert!(tick(&mut e, 800).iter().all(|frame| frame.key));
        e.resume(TimeDelta::from_secs(9));
        let frames = tick(&mut e, 800);
        assert!(frames.len() == 2 && frames.iter().all(|frame| frame.key));
    }
}
