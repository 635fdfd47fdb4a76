//! Synthetic video encoders: frames of a size, no pictures.
//!
//! Sources: nada-vs-gcc-2016 and gcc-2016 (the encoders of the papers), RFC 8593 (statistical, trace-driven and hybrid
//! models), and what simulations of RMCAT add to them (perfect packets, content sharing, a ladder of streams).
//!
//! Choices that RFC 8593 leaves open:
//! 1. A request is a target that differs from the last one. Of those that come within `tau_v` of a reaction the latest
//!    is applied when it is over, unless [`LateRequests`] says otherwise (§5.1 drops them all): a controller that
//!    arrives at its maximum asks only once.
//! 2. The burst is balanced over its `K_d` frames, (K_d·B0 − K_B) / (K_d − 1) each after the first, at least 0.2·B0; the
//!    RFC gives no formula and lets the mean over `tau_v` be the target, in which `K_d` frames may not fit.
//! 3. The noise is laid over the burst's frames too; an interval is at least 1 ms, a frame at least 1 byte.
//! 4. What is limited to the range of rates is the target (§5.4 limits the output), so that noise is not cut off at its ends.
//! 5. The trace-driven model sends the frame of the present index first and counts then, so that the intra frame is sent.
//! 6. A session begins with an intra frame, and so does the end of a pause.
//! 7. A frame that is skipped ([`Encoder::skip`]) is never encoded: an intra frame that was due stays due, and so does
//!    what is left of a burst, while the content goes on.

mod ladder;
mod noise;
mod nominal;
mod offer;
mod packets;
mod scaled;
mod screen;
mod statistical;
mod trace;
mod traced;

use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;
use weir_units::{DataRate, DataSize, TimeDelta};

pub use ladder::{LADDER_RUNGS, Ladder};
pub(crate) use noise::spread_factor;
pub use offer::{RATE_STEPS, RateSteps};
pub use packets::Packets;
pub use scaled::ScaledVideo;
pub use screen::ContentSharing;
pub use statistical::{FrameBurst, LateRequests, Statistical};
pub use trace::{FrameTraces, TalkingHead, TraceError};
pub use traced::TraceDriven;

use crate::climb::NextLayer;
use ladder::LadderState;
use noise::unit;
use nominal::Nominal;
use packets::PacketsState;
use scaled::ScaledState;
use screen::SharingState;
use statistical::StatisticalState;
use traced::TracedState;

/// Configuration of an encoder, which converts a target rate to frames.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EncoderConfig {
    /// Frames per second, greater than 0.
    pub frame_rate: f64,
    /// The lowest rate it can produce.
    pub min_rate: DataRate,
    /// The highest rate it can produce.
    pub max_rate: DataRate,
    /// Later changes of the highest rate, by time from the start.
    pub max_rates: RateSteps,
    /// Standard deviation of a frame's size as a share of the nominal size, in [0, 1); the nominal model and ladders.
    pub size_noise: f64,
    /// Minimum time between changes of the target (RFC 8593's `tau_v`); zero to follow the target with each frame.
    pub reaction: TimeDelta,
    /// Key frames of the nominal model and of ladders; without them all frames are alike.
    pub key_frames: Option<KeyFrames>,
    /// Queuing delay in front of the pacer, at the target rate, above which a frame is skipped, if frames are skipped.
    /// Without effect for [`EncoderModel::Packets`].
    pub skip_above: Option<TimeDelta>,
    /// Model that generates the frames.
    pub model: EncoderModel,
}

/// Models that generate frames.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum EncoderModel {
    /// Frames of the target's size, with noise and key frames if configured: the encoders of the papers.
    #[default]
    Nominal,
    /// Laplace noise in sizes and intervals, bursts at abrupt changes (RFC 8593 §5).
    Statistical(Statistical),
    /// Frame sizes from recorded or generated sequences (RFC 8593 §6).
    Traces(TraceDriven),
    /// Bursts from the statistical model, sizes in between from the trace-driven one (RFC 8593 §7).
    Hybrid(Statistical, TraceDriven),
    /// A shared screen: small frames most of the time, large ones now and then.
    ContentSharing(ContentSharing),
    /// Packets of one size at exactly the target rate.
    Packets(Packets),
    /// Several streams at fixed rates, switched on from the lowest.
    Ladder(Ladder),
    /// A camera's video whose resolution follows the quality.
    Scaled(ScaledVideo),
}

/// Key frames, larger than other frames. The frames after one are smaller, so that the mean rate is kept.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct KeyFrames {
    /// Distance of key frames in frames, the first frame being one; at least 1.
    pub every: u32,
    /// Size of a key frame as a multiple of the nominal size, at least 1.
    pub size: f64,
}

/// A frame to be packetised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Frame {
    /// Its number, from 0.
    pub number: u32,
    /// Payload bytes, at least 1.
    pub size: DataSize,
    /// Whether it is a key frame.
    pub key: bool,
}

/// A frame as a model generates it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Picture {
    /// In bytes, unrounded.
    bytes: f64,
    key: bool,
}

/// The encoder. Time is counted from its own start.
#[derive(Debug)]
pub struct Encoder {
    config: EncoderConfig,
    rng: Pcg64Mcg,
    frames: u32,
    state: State,
}

#[derive(Debug)]
enum State {
    Nominal(Nominal),
    Statistical(StatisticalState),
    Traces(TracedState),
    Hybrid(StatisticalState, TracedState),
    ContentSharing(SharingState),
    Packets(PacketsState),
    Ladder(LadderState),
    Scaled(ScaledState),
}

impl Encoder {
    /// An encoder that begins at `start` bit/s; `seed` is that of the video's own randomness, which is
    /// independent of the network.
    pub fn new(config: EncoderConfig, start: DataRate, seed: u64) -> Self {
        let state = match config.model {
            EncoderModel::Nominal => State::Nominal(Nominal::new(start)),
            EncoderModel::Statistical(model) => State::Statistical(StatisticalState::new(model)),
            EncoderModel::Traces(model) => State::Traces(TracedState::new(model)),
            EncoderModel::Hybrid(statistical, traced) => {
                State::Hybrid(StatisticalState::new(statistical), TracedState::new(traced))
            }
            EncoderModel::ContentSharing(model) => State::ContentSharing(SharingState::new(model)),
            EncoderModel::Packets(model) => State::Packets(PacketsState::new(model)),
            EncoderModel::Ladder(model) => State::Ladder(LadderState::new(model)),
            EncoderModel::Scaled(model) => State::Scaled(ScaledState::new(model, start)),
        };
        let mut encoder = Self { config, rng: Pcg64Mcg::seed_from_u64(seed), frames: 0, state };
        encoder.take_step();
        encoder
    }

    /// Applies the step of the highest rate that is due.
    fn take_step(&mut self) {
        if let Some(rate) = self.config.max_rates.at(self.next_capture()) {
            self.config.max_rate = rate;
        }
    }

    /// Capture time of the next frame, from the start.
    pub fn next_capture(&self) -> TimeDelta {
        match &self.state {
            State::Nominal(state) => state.next(&self.config),
            State::Statistical(state) | State::Hybrid(state, _) => state.next(),
            State::Traces(state) => state.next(&self.config),
            State::ContentSharing(state) => state.next(&self.config),
            State::Packets(state) => state.next(),
            State::Ladder(state) => state.next(&self.config),
            State::Scaled(state) => state.next(&self.config),
        }
    }

    /// Captures the frame of [`Self::next_capture`] at the present target rate.
    pub fn capture(&mut self, target: DataRate) -> Frame {
        self.take_step();
        let (config, rng) = (&self.config, &mut self.rng);
        let picture = match &mut self.state {
            State::Nominal(state) => state.capture(config, target, rng),
            State::Statistical(state) => state.capture(config, target, rng, |nominal| nominal),
            State::Traces(state) => state.capture(config, config.clamp(target)),
            State::Hybrid(state, traced) => {
                let rate = state.accept(config, target);
                let recorded = traced.capture(config, rate);
                let mut picture = state.capture_at(config, rate, rng, |_| recorded.bytes);
                picture.key |= recorded.key;
                picture
            }
            State::ContentSharing(state) => state.capture(config, config.clamp(target), rng),
            State::Packets(state) => state.capture(config.clamp(target)),
            State::Ladder(state) => state.capture(config, config.clamp(target), rng),
            State::Scaled(state) => state.capture(config, config.clamp(target), rng),
        };
        let number = self.frames;
        self.frames = self.frames.wrapping_add(1);
        Frame {
            number,
            size: DataSize::from_bytes_f64(picture.bytes.round().clamp(1.0, LARGEST_FRAME)),
            key: picture.key,
        }
    }

    /// Whether the encoder itself leaves out the frame that is due because frames of its least size exceed `target`. To be called
    /// once for each frame that no other part leaves out.
    pub fn drops(&mut self, target: DataRate) -> bool {
        self.take_step();
        let rate = self.config.clamp(target);
        if let State::Scaled(state) = &mut self.state { state.drops(&self.config, rate) } else { false }
    }

    /// Skips the frame that is due at [`Self::next_capture`] without encoding it. Returns `false`, and does nothing,
    /// where none can be skipped: packets are no frames, and a ladder's streams skip an instant together.
    pub fn skip(&mut self) -> bool {
        self.take_step();
        let (config, rng) = (&self.config, &mut self.rng);
        match &mut self.state {
            State::Nominal(state) => state.skip(),
            State::Statistical(state) => state.skip(config, rng),
            State::Traces(state) => state.skip(),
            State::Hybrid(state, traced) => {
                state.skip(config, rng);
                traced.skip();
            }
            State::ContentSharing(state) => state.skip(rng),
            State::Packets(_) => return false,
            State::Ladder(state) => return state.skip(),
            State::Scaled(state) => state.skip(rng),
        }
        true
    }

    /// Frames begin again at `at` after a pause, counted from the start. The first has the target of that moment, and
    /// is a key frame if there are any. The debt of a key frame before the pause is dropped.
    pub fn resume(&mut self, at: TimeDelta) {
        match &mut self.state {
            State::Nominal(state) => state.resume(at),
            State::Statistical(state) => state.resume(at),
            State::Traces(state) => state.resume(at),
            State::Hybrid(state, traced) => {
                state.resume(at);
                traced.resume(at);
            }
            State::ContentSharing(state) => state.resume(at),
            State::Packets(state) => state.resume(at),
            State::Ladder(state) => state.resume(at),
            State::Scaled(state) => state.resume(at),
        }
    }

    /// Moves the next frame to `at`, from the start. Frames that were due before are skipped, and the model keeps its
    /// state: this is no pause.
    pub fn go_on(&mut self, at: TimeDelta) {
        match &mut self.state {
            State::Nominal(state) => state.go_on(at),
            State::Statistical(state) | State::Hybrid(state, _) => state.go_on(at),
            State::Traces(state) => state.go_on(at),
            State::ContentSharing(state) => state.go_on(at),
            State::Packets(state) => state.resume(at),
            State::Ladder(state) => state.go_on(at),
            State::Scaled(state) => state.go_on(at),
        }
    }

    /// Makes the next frame a key frame, as after a loss; without effect where the model has none.
    pub fn request_key_frame(&mut self) {
        match &mut self.state {
            State::Nominal(state) => state.request_key_frame(),
            // Without bursts the hybrid's key frame is that of the sequence.
            State::Hybrid(_, traced) if !self.config.has_bursts() => traced.request_key_frame(),
            State::Statistical(state) | State::Hybrid(state, _) => state.request_key_frame(),
            State::Traces(state) => state.request_key_frame(),
            State::ContentSharing(state) => state.request_key_frame(),
            State::Packets(_) => {}
            State::Ladder(state) => state.request_key_frame(),
            State::Scaled(state) => state.request_key_frame(),
        }
    }

    /// Whether it has something to send at any time ([`Packets::greedy`]).
    pub fn is_greedy(&self) -> bool {
        matches!(self.config.model, EncoderModel::Packets(Packets { greedy: true, .. }))
    }

    /// Index of the present resolution: another one after each change. Zero where the model has only one.
    pub fn resolution(&self) -> u8 {
        if let State::Scaled(state) = &self.state { state.step() } else { 0 }
    }

    /// The layer that is switched on next; `None` without such a layer.
    pub fn next_layer(&self) -> Option<NextLayer> {
        let State::Ladder(state) = &self.state else { return None };
        state.next_rung().filter(|next| next.needed <= self.config.max_rate)
    }

    /// Whether a screen is shared.
    pub fn is_screen(&self) -> bool {
        matches!(self.config.model, EncoderModel::ContentSharing(_))
    }

    /// Number of frames captured so far.
    pub fn frames(&self) -> u32 {
        self.frames
    }

    /// The lowest rate of the encoder.
    pub fn min_rate(&self) -> DataRate {
        self.config.min_rate
    }

    /// Frames per second.
    pub fn frame_rate(&self) -> f64 {
        self.config.frame_rate
    }

    /// Queuing delay above which a frame is skipped ([`EncoderConfig::skip_above`]).
    pub fn skip_above(&self) -> Option<TimeDelta> {
        self.config.skip_above
    }

    /// The highest rate of the encoder, as of the last frame that was captured or skipped.
    pub fn max_rate(&self) -> DataRate {
        self.config.max_rate
    }
}

/// Upper bound of the size of a frame in bytes, the example of `fs_max` in RFC 8593 §6.2.
const LARGEST_FRAME: f64 = 1e6;

impl EncoderConfig {
    /// The source of the simulations in nada-vs-gcc-2016: 30 frames/s of equal size, 50 to 2500 kbit/s, immediate.
    pub const fn papers() -> Self {
        Self {
            frame_rate: 30.0,
            min_rate: DataRate::from_kbps(50),
            max_rate: DataRate::from_kbps(2500),
            max_rates: RateSteps::NONE,
            size_noise: 0.0,
            reaction: TimeDelta::ZERO,
            key_frames: None,
            skip_above: None,
            model: EncoderModel::Nominal,
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

    /// The statistical model with the example values of RFC 8593 table 1: 150 to 1500 kbit/s, 200 ms to react, bursts of 8
    /// frames that begin with 13.5 kB.
    pub const fn rfc8593_statistical() -> Self {
        Self {
            min_rate: DataRate::from_kbps(150),
            max_rate: DataRate::from_kbps(1500),
            reaction: TimeDelta::from_millis(200),
            model: EncoderModel::Statistical(Statistical::rfc8593()),
            ..Self::papers()
        }
    }

    /// The video of RFC 8867 §4.3: the statistical model of RFC 8593, 100 ms to react.
    pub const fn rfc8867() -> Self {
        Self { reaction: TimeDelta::from_millis(100), ..Self::rfc8593_statistical() }
    }

    /// The trace-driven model of RFC 8593 §6 over `traces`, whose range it takes over.
    pub fn rfc8593_traces(traces: &'static FrameTraces) -> Self {
        Self {
            min_rate: traces.lowest(),
            max_rate: traces.highest(),
            model: EncoderModel::Traces(TraceDriven::new(traces)),
            ..Self::papers()
        }
    }

    /// The hybrid model of RFC 8593 §7 over `traces`.
    pub fn rfc8593_hybrid(traces: &'static FrameTraces) -> Self {
        Self {
            model: EncoderModel::Hybrid(Statistical::rfc8593(), TraceDriven::new(traces)),
            reaction: TimeDelta::from_millis(200),
            ..Self::rfc8593_traces(traces)
        }
    }

    /// Equal frames at intervals that scatter by Laplace noise of scale 0.15: the default source of ns3-rmcat.
    pub const fn interval_noise() -> Self {
        Self {
            min_rate: DataRate::from_kbps(150),
            max_rate: DataRate::from_kbps(1500),
            model: EncoderModel::Statistical(Statistical {
                burst: None,
                size_scale: 0.0,
                ..Statistical::rfc8593()
            }),
            ..Self::papers()
        }
    }

    /// Packets of 1000 bytes at exactly the target rate, for any target.
    pub const fn perfect() -> Self {
        Self {
            min_rate: DataRate::from_kbps(1),
            max_rate: DataRate::from_mbps(1000),
            model: EncoderModel::Packets(Packets { size: DataSize::from_bytes(1000), greedy: false }),
            ..Self::papers()
        }
    }

    /// A source that always has packets of 1000 bytes to send.
    pub const fn greedy() -> Self {
        let model = EncoderModel::Packets(Packets { size: DataSize::from_bytes(1000), greedy: true });
        Self { model, ..Self::perfect() }
    }

    /// Whether there are key frames, which [`Encoder::request_key_frame`] needs.
    pub fn has_key_frames(&self) -> bool {
        match self.model {
            EncoderModel::Nominal | EncoderModel::Ladder(_) => self.key_frames.is_some(),
            EncoderModel::Statistical(_) => self.has_bursts(),
            EncoderModel::Traces(_)
            | EncoderModel::Hybrid(..)
            | EncoderModel::ContentSharing(_)
            | EncoderModel::Scaled(_) => true,
            EncoderModel::Packets(_) => false,
        }
    }

    /// Whether it sends several layers, switched on from the lowest.
    pub const fn has_layers(&self) -> bool {
        matches!(self.model, EncoderModel::Ladder(_))
    }

    fn has_bursts(&self) -> bool {
        matches!(self.model, EncoderModel::Statistical(model) | EncoderModel::Hybrid(model, _) if model.burst.is_some())
    }

    /// `target` within the range of the encoder.
    fn clamp(&self, target: DataRate) -> DataRate {
        target.min(self.max_rate).max(self.min_rate)
    }

    /// `R_v / 8 / FPS`, in bytes.
    fn nominal(&self, rate: DataRate) -> f64 {
        rate.bps_f64() / 8.0 / self.frame_rate
    }
}

/// Frame times at a fixed interval, counted from the start or the end of the last pause. Fractions of a nanosecond do
/// not add up to drift.
#[derive(Clone, Copy, Debug, Default)]
struct Ticks {
    epoch: TimeDelta,
    count: u32,
}

impl Ticks {
    fn next(self, frame_rate: f64) -> TimeDelta {
        self.epoch + TimeDelta::from_secs_f64(f64::from(self.count) / frame_rate)
    }

    fn advance(&mut self) {
        self.count = self.count.saturating_add(1);
    }

    fn resume(&mut self, at: TimeDelta) {
        *self = Self { epoch: at, count: 0 };
    }
}
