//! The keys of a video encoder: presets, and changes to them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_media::{
    EncoderConfig, EncoderModel, FrameBurst, FrameTraces, KeyFrames, LADDER_RUNGS, LateRequests, RateSteps,
};
use weir_units::{DataRate, DataSize, TimeDelta};

use super::link::Step;

/// Name of the built-in frame sizes.
pub const TALKING_HEAD: &str = "talking-head";

/// A video encoder: a preset, or a preset with changes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum EncoderChoice {
    /// A preset as it is.
    Preset(EncoderPreset),
    /// A preset with changes.
    Changed(Box<ChangedEncoder>),
}

impl Default for EncoderChoice {
    fn default() -> Self {
        Self::Preset(EncoderPreset::default())
    }
}

impl EncoderChoice {
    /// The encoder's configuration; with the built-in frame sizes where a file's are wanted.
    pub fn config(&self) -> EncoderConfig {
        match self {
            Self::Preset(preset) => preset.config(),
            Self::Changed(changed) => changed.config(),
        }
    }

    /// The name of the frame sizes from a file, if they are used.
    pub(crate) fn wanted_traces(&self) -> Option<&str> {
        let Self::Changed(changed) = self else { return None };
        changed.traces.as_deref().filter(|&name| name != TALKING_HEAD)
    }

    /// Given keys that have no meaning for the preset.
    pub(crate) fn meaningless(&self) -> Vec<&'static str> {
        let Self::Changed(changed) = self else { return Vec::new() };
        let model = changed.preset.config().model;
        let (mut bursts, mut noisy, mut traced, mut keys) = (false, true, false, false);
        let (mut packets, mut ladder, mut frames, mut scaled) = (false, false, true, false);
        match model {
            EncoderModel::Nominal => keys = true,
            EncoderModel::Statistical(_) => bursts = true,
            EncoderModel::Traces(_) => (traced, noisy) = (true, false),
            EncoderModel::Hybrid(..) => (bursts, traced, noisy) = (true, true, false),
            EncoderModel::ContentSharing(_) => noisy = false,
            EncoderModel::Packets(_) => (packets, frames, noisy) = (true, false, false),
            EncoderModel::Ladder(_) => (ladder, keys) = (true, true),
            EncoderModel::Scaled(_) => scaled = true,
        }
        let reacts = keys && !ladder || bursts;
        [
            ("frame_rate", changed.frame_rate.is_some() && !frames),
            ("size_noise", changed.size_noise.is_some() && !noisy),
            ("reaction", changed.reaction.is_some() && !reacts),
            ("skip_above", changed.skip_above.is_some() && packets),
            ("late_requests", changed.late_requests.is_some() && !bursts),
            ("key_frames", changed.key_frames.is_some() && !keys),
            ("interval_noise", changed.interval_noise.is_some() && !bursts),
            ("burst", changed.burst.is_some() && !bursts),
            ("traces", changed.traces.is_some() && !traced),
            ("skip_frames", changed.skip_frames.is_some() && !traced),
            ("packet_size", changed.packet_size.is_some() && !packets),
            ("ladder", changed.ladder.is_some() && !ladder),
            ("scaling", changed.scaling.is_some() && !scaled),
            ("hysteresis", changed.hysteresis.is_some() && !ladder),
        ]
        .into_iter()
        .filter_map(|(key, meaningless)| meaningless.then_some(key))
        .collect()
    }
}

/// A ready-made encoder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EncoderPreset {
    /// 30 frames/s of equal size, 50 to 2500 kbit/s, follows at once (nada-vs-gcc-2016).
    #[default]
    Papers,
    /// 30 frames/s that scatter by 10 %, up to 2 Mbit/s, half a second to follow, key frames (gcc-2016).
    #[serde(rename = "gcc-2016")]
    Gcc2016,
    /// The statistical model with the example values of RFC 8593 §5.
    Statistical,
    /// The statistical model with a reaction time of 100 ms: the video of RFC 8867 §4.3.
    Rfc8867,
    /// Equal frames at intervals with random noise (ns3-rmcat).
    IntervalNoise,
    /// The trace-driven model of RFC 8593 §6.
    TraceDriven,
    /// The hybrid model of RFC 8593 §7.
    Hybrid,
    /// A shared screen (syncodecs).
    ContentSharing,
    /// Packets at exactly the target rate.
    Perfect,
    /// Always packets to send.
    Greedy,
    /// Three streams, switched on from the lowest.
    Simulcast,
    /// A camera's video whose resolution follows the quality (Chromium).
    Chromium,
}

impl EncoderPreset {
    fn config(self) -> EncoderConfig {
        match self {
            Self::Papers => EncoderConfig::papers(),
            Self::Gcc2016 => EncoderConfig::gcc_2016(),
            Self::Statistical => EncoderConfig::rfc8593_statistical(),
            Self::Rfc8867 => EncoderConfig::rfc8867(),
            Self::IntervalNoise => EncoderConfig::interval_noise(),
            Self::TraceDriven => EncoderConfig::rfc8593_traces(FrameTraces::talking_head()),
            Self::Hybrid => EncoderConfig::rfc8593_hybrid(FrameTraces::talking_head()),
            Self::ContentSharing => EncoderConfig::content_sharing(),
            Self::Perfect => EncoderConfig::perfect(),
            Self::Greedy => EncoderConfig::greedy(),
            Self::Simulcast => EncoderConfig::simulcast(),
            Self::Chromium => EncoderConfig::chromium(),
        }
    }
}

/// A preset with changes; keys that are not given stay as in the preset.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChangedEncoder {
    /// The preset.
    #[serde(default)]
    pub preset: EncoderPreset,
    /// Frames per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1.0, max = 1000.0))]
    pub frame_rate: Option<f64>,
    /// The lowest rate it can produce.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_rate: Option<DataRate>,
    /// The highest rate it can produce.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_rate: Option<DataRate>,
    /// The highest rate from each time of the run on, the first at 0 s, at most four; in place of `max_rate`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_rates: Option<Vec<Step>>,
    /// Standard deviation of a frame's size as a share of the nominal size; in the statistical model the scale of its
    /// Laplace noise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 0.99))]
    pub size_noise: Option<f64>,
    /// Shortest time between two targets that the encoder adopts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reaction: Option<TimeDelta>,
    /// Key frames.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_frames: Option<KeyFrameChoice>,
    /// A frame is skipped while the data that waits for the pacer would take longer than this at the target rate; `never` for
    /// none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skip_above: Option<SkipChoice>,
    /// Treatment of a target that comes within `reaction` of the last adopted one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub late_requests: Option<LateRequestChoice>,
    /// Scale of the Laplace noise of the intervals, as a share of the interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 0.99))]
    pub interval_noise: Option<f64>,
    /// Bursts at abrupt changes of the target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub burst: Option<BurstChoice>,
    /// Name of the frame sizes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traces: Option<String>,
    /// At the end of the sequence it restarts behind this many of its first frames.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skip_frames: Option<u32>,
    /// Payload of a packet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packet_size: Option<DataSize>,
    /// Rates of the streams, rising; at most four.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ladder: Option<Vec<DataRate>>,
    /// Whether the resolution follows the quality; if not, it is the camera's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scaling: Option<bool>,
    /// A stream is switched on at this share above its rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub hysteresis: Option<f64>,
}

impl ChangedEncoder {
    fn config(&self) -> EncoderConfig {
        let preset = self.preset.config();
        let key_frames = match self.key_frames {
            None => preset.key_frames,
            Some(KeyFrameChoice::Word(NoKeyFrames::None)) => None,
            Some(KeyFrameChoice::At(KeyFrameSpacing { every, size })) => Some(KeyFrames { every, size }),
        };
        let (model, top) = self.model(preset.model);
        EncoderConfig {
            frame_rate: self.frame_rate.unwrap_or(preset.frame_rate),
            min_rate: self.min_rate.unwrap_or(preset.min_rate),
            max_rate: self.max_rate.or(self.highest()).or(top).unwrap_or(preset.max_rate),
            max_rates: self.rate_steps().unwrap_or(preset.max_rates),
            size_noise: self.size_noise.unwrap_or(preset.size_noise),
            reaction: self.reaction.unwrap_or(preset.reaction),
            key_frames,
            skip_above: self.skip_above.map_or(preset.skip_above, SkipChoice::limit),
            model,
        }
    }

    /// The highest rate of `max_rates`.
    fn highest(&self) -> Option<DataRate> {
        self.max_rates.iter().flatten().map(|step| step.rate).max()
    }

    /// `max_rates` by the times of the run, or `None` where they are not given, or no steps.
    fn rate_steps(&self) -> Option<RateSteps> {
        let steps = self.max_rates.iter().flatten().map(|step| (step.at, step.rate));
        RateSteps::new(&steps.collect::<Vec<_>>())
    }

    /// The preset's model with the changes, and the highest rate where the model has one of its own.
    fn model(&self, mut model: EncoderModel) -> (EncoderModel, Option<DataRate>) {
        let mut top = None;
        match &mut model {
            EncoderModel::Statistical(statistical) | EncoderModel::Hybrid(statistical, _) => {
                statistical.interval_scale = self.interval_noise.unwrap_or(statistical.interval_scale);
                statistical.size_scale = self.size_noise.unwrap_or(statistical.size_scale);
                statistical.late_requests =
                    self.late_requests.map_or(statistical.late_requests, LateRequests::from);
                statistical.burst = match self.burst {
                    None => statistical.burst,
                    Some(BurstChoice::Word(NoBurst::None)) => None,
                    Some(BurstChoice::At(BurstShape { frames, first, abrupt })) => {
                        Some(FrameBurst { frames, first, abrupt })
                    }
                };
            }
            EncoderModel::Packets(packets) => packets.size = self.packet_size.unwrap_or(packets.size),
            EncoderModel::Ladder(ladder) => {
                ladder.hysteresis = self.hysteresis.unwrap_or(ladder.hysteresis);
                if let Some(rates) = &self.ladder {
                    ladder.rates = [DataRate::ZERO; LADDER_RUNGS];
                    ladder.rates.iter_mut().zip(rates).for_each(|(rung, &rate)| *rung = rate);
                }
                if self.ladder.is_some() || self.hysteresis.is_some() {
                    let all: DataRate = ladder.rates.iter().copied().sum();
                    top = Some(all.scale(1.0 + ladder.hysteresis));
                }
            }
            EncoderModel::Scaled(scaled) => scaled.adapts = self.scaling.unwrap_or(scaled.adapts),
            EncoderModel::Nominal | EncoderModel::Traces(_) | EncoderModel::ContentSharing(_) => {}
        }
        if let EncoderModel::Traces(traced) | EncoderModel::Hybrid(_, traced) = &mut model {
            traced.skip_frames = self.skip_frames.unwrap_or(traced.skip_frames);
        }
        (model, top)
    }
}

/// The threshold for skipping frames, or no skipping.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum SkipChoice {
    /// A word instead of a time.
    Word(NoSkip),
    /// Frames are skipped while waiting data would take longer than this.
    Above(TimeDelta),
}

impl SkipChoice {
    const fn limit(self) -> Option<TimeDelta> {
        match self {
            Self::Word(NoSkip::Never) => None,
            Self::Above(limit) => Some(limit),
        }
    }
}

/// No skipping, in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NoSkip {
    /// Every frame is encoded, however much data waits.
    Never,
}

/// Treatment of targets that come too soon after another (RFC 8593 §5.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LateRequestChoice {
    /// The latest is adopted when the time is over.
    Kept,
    /// They are ignored, as in the RFC's text.
    Dropped,
}

impl From<LateRequestChoice> for LateRequests {
    fn from(choice: LateRequestChoice) -> Self {
        match choice {
            LateRequestChoice::Kept => Self::Kept,
            LateRequestChoice::Dropped => Self::Dropped,
        }
    }
}

/// Bursts, or none.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum BurstChoice {
    /// A word instead of a table.
    Word(NoBurst),
    /// Bursts at abrupt changes.
    At(BurstShape),
}

/// No bursts, in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NoBurst {
    /// No bursts: all changes are handled alike.
    None,
}

/// Bursts at abrupt changes of the target (RFC 8593 §5.2).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BurstShape {
    /// `K_d`: how many frames.
    #[schemars(range(min = 2, max = 1000))]
    pub frames: u32,
    /// `K_B`: size of the first.
    pub first: DataSize,
    /// A change is abrupt above this share of the target.
    #[serde(default = "default_abrupt")]
    #[schemars(range(min = 0.0, max = 100.0))]
    pub abrupt: f64,
}

const fn default_abrupt() -> f64 {
    0.1
}

/// Key frames, or none.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum KeyFrameChoice {
    /// A word instead of a table.
    Word(NoKeyFrames),
    /// Key frames at a fixed distance.
    At(KeyFrameSpacing),
}

/// No key frames, in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NoKeyFrames {
    /// No key frames: all frames are handled alike.
    None,
}

/// Key frames at a fixed distance.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KeyFrameSpacing {
    /// Every how many frames there is a key frame, the first included.
    #[schemars(range(min = 1))]
    pub every: u32,
    /// Size as a multiple of the nominal frame size.
    #[schemars(range(min = 1.0, max = 1000.0))]
    pub size: f64,
}
