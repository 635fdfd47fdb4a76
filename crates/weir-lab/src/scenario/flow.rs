//! Flows: who sends what to whom, and when.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_cc::{LimitsOutOfOrder, RateLimits};
use weir_net::Time;
use weir_sim::tcp::TcpConfig;
use weir_units::{DataRate, DataSize, TimeDelta};

use super::encoder::Encoder;
use super::tcp_options::TcpOptions;
use super::unresponsive::{Audio, AudioStream, Constant, Pause};
use super::web::Web;
use crate::registry::TcpProfile;

/// Bytes before the payload of a media packet: RTP 12, its extensions 12, UDP 8, IPv4 20.
const MEDIA_HEADERS: u64 = 52;

/// One flow, or several copies of one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Flow {
    /// The node that sends; `left` in a dumbbell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The node that receives; `right` in a dumbbell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// Names of the links on the way; the way with the fewest links unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub route: Option<Vec<String>>,
    /// Names of the links on the way back; the way with the fewest links unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reverse_route: Option<Vec<String>>,
    /// In a dumbbell: the delay of its link at the sender, both ways; that of `access` unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access_delay: Option<TimeDelta>,
    /// Under `multipath`: what its way is hashed from; flows of one five-tuple go together. The flow's name unless
    /// given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub five_tuple: Option<String>,
    /// When it starts.
    #[serde(default)]
    pub start: TimeDelta,
    /// When it stops sending; never unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<TimeDelta>,
    /// How many copies there are, named after the flow with `-1`, `-2`, … behind; `#` in `from`, `to` and the routes
    /// is the number of the copy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 10_000))]
    pub count: Option<u32>,
    /// Number of the first copy; 1 unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 10_000))]
    pub first: Option<u32>,
    /// Each copy starts and stops this much after the one before; without `count` as often as the run is long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every: Option<TimeDelta>,
    /// Each copy starts later by a time drawn uniformly from 0 to this, derived from the run's seed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_spread: Option<TimeDelta>,
    /// Each copy stops later by a time drawn uniformly from 0 to this, derived from the run's seed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_spread: Option<TimeDelta>,
    /// When it pauses; TCP does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pauses: Option<Vec<Pause>>,
    /// The receiver's clock, where it is to be other than the scenario's `clocks` say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receiver_clock: Option<Clock>,
    /// What it carries.
    #[serde(flatten)]
    pub traffic: Traffic,
}

impl Flow {
    /// The highest rate that it can use on the wire; `None` for no limit.
    pub(crate) fn max_rate(&self) -> Option<DataRate> {
        match &self.traffic {
            Traffic::Media(media) => {
                let audio = media.audio.map(AudioStream::config);
                let audio_rate = audio.map_or(DataRate::ZERO, |audio| audio.rate);
                let video = media.max_rate().saturating_sub(audio_rate).min(media.encoder.config().max_rate);
                let on_wire = |rate: DataRate, payload: DataSize| {
                    let payload = payload.bytes();
                    rate.scale((payload + MEDIA_HEADERS) as f64 / payload as f64)
                };
                let video = on_wire(video, media.payload_limit);
                Some(audio.map_or(video, |audio| video + on_wire(audio.rate, audio.payload())))
            }
            Traffic::Constant(constant) => Some(constant.max_rate()),
            Traffic::Audio(audio) => audio.source().steps.first().map(|&(_, rate)| rate),
            Traffic::Tcp(_) => None,
            Traffic::Web(web) => Some(web.load),
        }
    }

    /// What it sends whatever happens, and from when on; empty for a flow that adapts.
    pub(crate) fn sends(&self) -> Vec<(Time, DataRate)> {
        match &self.traffic {
            Traffic::Constant(constant) => constant.source().steps,
            Traffic::Audio(audio) => audio.source().steps,
            Traffic::Media(_) | Traffic::Tcp(_) | Traffic::Web(_) => Vec::new(),
        }
    }

    /// Its weight where flows share a bottleneck.
    pub(crate) fn weight(&self) -> f64 {
        if let Traffic::Media(media) = &self.traffic { media.priority } else { usual_priority() }
    }

    /// Bytes on the wire of its packets of full size; `None` for audio, whose packets are small.
    pub(crate) fn full_packet(&self) -> Option<u32> {
        let tcp = |config: TcpConfig| u64::from(config.mss) + u64::from(config.header);
        let bytes = match &self.traffic {
            Traffic::Media(media) => media.payload_limit.bytes() + MEDIA_HEADERS,
            Traffic::Constant(constant) => constant.packet_size.bytes(),
            Traffic::Audio(_) => return None,
            Traffic::Tcp(own) => tcp(own.config()),
            Traffic::Web(web) => tcp(web.options.unwrap_or_default().config(None, &web.law)),
        };
        u32::try_from(bytes).ok()
    }
}

/// What a flow carries.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Traffic {
    /// Video under a congestion controller.
    Media(Media),
    /// Packets of one size at a constant or a changing rate, without feedback.
    Constant(Constant),
    /// Audio of a constant rate, without feedback.
    Audio(Audio),
    /// TCP.
    Tcp(Tcp),
    /// Web-like traffic over TCP.
    Web(Web),
}

/// Video under a congestion controller.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Media {
    /// Name of the controller, as in the registry.
    pub controller: String,
    /// Options of that controller, by the names of its configuration; its defaults unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub options: Option<Options>,
    /// Its share of a bottleneck against that of others, 1 being the usual one; for controllers that know priorities.
    #[serde(default = "usual_priority")]
    #[schemars(range(min = 0.01, max = 100.0))]
    pub priority: f64,
    /// The video encoder.
    #[serde(default)]
    pub encoder: Encoder,
    /// Audio in a stream of its own under the same controller; none unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audio: Option<AudioStream>,
    /// The receiver asks for a key frame when it has lost video, at most once in this time; never unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_frame_requests: Option<TimeDelta>,
    /// Bounds of the controller's rate.
    #[serde(default)]
    pub rates: Rates,
    /// Most payload bytes in a packet.
    #[serde(default = "default_payload_limit")]
    pub payload_limit: DataSize,
    /// Mean interval of RTCP reports; each is drawn uniformly from 50 % to 150 % of it (RFC 3550 §6.2).
    #[serde(default = "default_rtcp_interval")]
    pub rtcp_interval: TimeDelta,
    /// The ECN field of its packets.
    #[serde(default)]
    pub ecn: EcnField,
}

impl Media {
    /// The highest rate of the controller.
    pub fn max_rate(&self) -> DataRate {
        self.rates.max.unwrap_or_else(|| self.encoder.config().max_rate)
    }

    /// The bounds of the controller's rate.
    ///
    /// # Errors
    /// Bounds out of order.
    pub fn limits(&self) -> Result<RateLimits, LimitsOutOfOrder> {
        RateLimits::new(self.rates.min, self.rates.start, self.max_rate())
    }
}

const fn usual_priority() -> f64 {
    1.0
}

fn default_payload_limit() -> DataSize {
    DataSize::from_bytes(1200)
}

fn default_rtcp_interval() -> TimeDelta {
    TimeDelta::from_secs(1)
}

/// Options of a controller: a table whose keys the controller knows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Options(#[schemars(with = "serde_json::Map<String, serde_json::Value>")] pub toml::Table);

/// The ECN field of a flow's packets (RFC 3168).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EcnField {
    /// Not ECN-capable.
    #[default]
    NotEct,
    /// ECT(0).
    Ect0,
    /// ECT(1).
    Ect1,
}

/// Bounds of a controller's rate: 0 < `min` ≤ `start` ≤ `max`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rates {
    /// The lowest rate.
    #[serde(default = "default_min_rate")]
    pub min: DataRate,
    /// The rate to begin with.
    #[serde(default = "default_start_rate")]
    pub start: DataRate,
    /// The highest rate; that of the encoder unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<DataRate>,
}

const fn default_min_rate() -> DataRate {
    DataRate::from_kbps(50)
}

const fn default_start_rate() -> DataRate {
    DataRate::from_kbps(300)
}

impl Default for Rates {
    fn default() -> Self {
        Self { min: default_min_rate(), start: default_start_rate(), max: None }
    }
}

/// A TCP transfer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Tcp {
    /// The stack; Weir's own, which resembles a present Linux, unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<TcpProfile>,
    /// Name of the window law; that of the profile, or `cubic`, unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub law: Option<String>,
    /// How much to transfer; without end unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<DataSize>,
    /// Downloads with idle times between them, in place of one transfer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub downloads: Option<Downloads>,
    /// Options of the endpoints; their defaults unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub options: Option<TcpOptions>,
}

/// Downloads with idle times between them, each over a connection of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Downloads {
    /// What the size of each is drawn from, uniformly.
    pub size: SizeRange,
    /// Mean of the exponentially distributed idle time after each.
    #[serde(default = "default_idle")]
    pub idle: TimeDelta,
    /// What it begins with.
    #[serde(default)]
    pub begin: OnOrOff,
}

/// Sizes from one to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SizeRange {
    /// The smallest.
    pub min: DataSize,
    /// The largest.
    pub max: DataSize,
}

/// Whether a flow that takes turns begins with sending.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OnOrOff {
    /// With a download.
    #[default]
    On,
    /// With an idle time.
    Off,
}

fn default_idle() -> TimeDelta {
    TimeDelta::from_secs(10)
}

pub(super) fn default_law() -> String {
    "cubic".to_owned()
}

impl Tcp {
    /// Name of the window law.
    pub fn law(&self) -> &str {
        self.law.as_deref().unwrap_or_else(|| self.profile.map_or("cubic", TcpProfile::law))
    }

    /// The endpoints.
    pub fn config(&self) -> TcpConfig {
        self.options.unwrap_or_default().config(self.profile, self.law())
    }
}

/// A host's clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Clock {
    /// What it reads at the start of the run; as the scenario's `clocks` say unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<TimeDelta>,
    /// How much too fast it runs, in parts per million.
    #[serde(default)]
    #[schemars(range(min = -1000.0, max = 1000.0))]
    pub drift_ppm: f64,
    /// Readings are multiples of this; whole nanoseconds unless given.
    #[serde(default)]
    pub resolution: TimeDelta,
}
