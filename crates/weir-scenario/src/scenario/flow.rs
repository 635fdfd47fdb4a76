//! Flows: sender, receiver, traffic and times.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_net::Time;
use weir_units::{DataRate, DataSize, TimeDelta};
use weir_world::tcp::TcpConfig;

use super::coupling::PriorityStep;
use super::media::{Media, usual_priority};
use super::tcp::Tcp;
use super::unresponsive::{Audio, AudioStream, Constant, Pause};
use super::web::Web;

/// Bytes before the payload of a media packet: RTP 12, its extensions 12, UDP 8, IPv4 20.
const MEDIA_HEADERS: u64 = 52;

/// A flow, or several copies of one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Flow {
    /// The node that sends; `left` in a dumbbell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The node that receives; `right` in a dumbbell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// Names of the links on the path; the path with the fewest links unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub route: Option<Vec<String>>,
    /// Names of the links on the return path; the path with the fewest links unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reverse_route: Option<Vec<String>>,
    /// In a dumbbell: the delay of its link at the sender, in both directions; that of `access` unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access_delay: Option<TimeDelta>,
    /// The name of its five-tuple. Under `multipath` its path is hashed from it, and a coupling multiplexes by it: flows of one
    /// five-tuple go together. The name of its call or else the flow's own unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub five_tuple: Option<String>,
    /// Time at which it starts.
    #[serde(default)]
    pub start: TimeDelta,
    /// Time at which it stops sending; never unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<TimeDelta>,
    /// Number of copies, named after the flow with `-1`, `-2`, … behind; `#` in `from`, `to` and the routes is the number of the
    /// copy.
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
    /// Other priorities from certain times on, for its coupling.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priorities: Option<Vec<PriorityStep>>,
    /// In a coupling with `tenants`: the tenant that the flow belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// Times in which the flow pauses; TCP does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pauses: Option<Vec<Pause>>,
    /// The receiver's clock, where it differs from the scenario's `clocks`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receiver_clock: Option<HostClock>,
    /// The traffic of the flow.
    #[serde(flatten)]
    pub carried: FlowTraffic,
}

impl Flow {
    /// Its media, if it has some and is no competitor of the judged flows.
    pub(crate) fn judged_media_mut(&mut self) -> Option<&mut Media> {
        match &mut self.carried {
            FlowTraffic::Media(media) if !media.competitor => Some(media),
            _ => None,
        }
    }

    /// The highest rate that it can use on the wire, or `None` for no limit.
    pub(crate) fn max_rate(&self) -> Option<DataRate> {
        match &self.carried {
            FlowTraffic::Media(media) => Some(most_on_wire(media, media.encoder.config().max_rate)),
            FlowTraffic::Constant(constant) => Some(constant.max_rate()),
            FlowTraffic::Audio(audio) => audio.source().steps.first().map(|&(_, rate)| rate),
            FlowTraffic::Tcp(_) => None,
            FlowTraffic::Web(web) => Some(web.load),
        }
    }

    /// Other such rates from certain times of the run on, those of the first copy.
    pub(crate) fn max_rates(&self) -> Vec<(TimeDelta, DataRate)> {
        let FlowTraffic::Media(media) = &self.carried else { return Vec::new() };
        let steps = media.encoder.config().max_rates;
        steps.iter().map(|(at, rate)| (at, most_on_wire(media, rate))).collect()
    }

    /// The rates of a flow that does not adapt, each with its start; empty for a flow that adapts.
    pub(crate) fn sends(&self) -> Vec<(Time, DataRate)> {
        match &self.carried {
            FlowTraffic::Constant(constant) => constant.source().steps,
            FlowTraffic::Audio(audio) => audio.source().steps,
            FlowTraffic::Media(_) | FlowTraffic::Tcp(_) | FlowTraffic::Web(_) => Vec::new(),
        }
    }

    /// The call it belongs to.
    pub(crate) fn call(&self) -> Option<&str> {
        if let FlowTraffic::Media(media) = &self.carried { media.call.as_deref() } else { None }
    }

    /// Its weight where flows share a bottleneck.
    pub(crate) fn weight(&self) -> f64 {
        match &self.carried {
            FlowTraffic::Media(media) => media.priority,
            FlowTraffic::Tcp(tcp) => tcp.priority,
            FlowTraffic::Constant(_) | FlowTraffic::Audio(_) | FlowTraffic::Web(_) => usual_priority(),
        }
    }

    /// Bytes on the wire of its packets of full size, or `None` for audio, whose packets are small.
    pub(crate) fn full_packet(&self) -> Option<u32> {
        let tcp = |config: TcpConfig| u64::from(config.mss) + u64::from(config.header);
        let bytes = match &self.carried {
            FlowTraffic::Media(media) => media.payload_limit.bytes() + MEDIA_HEADERS,
            FlowTraffic::Constant(constant) => constant.packet_size.bytes(),
            FlowTraffic::Audio(_) => return None,
            FlowTraffic::Tcp(own) => tcp(own.config()),
            FlowTraffic::Web(web) => tcp(web.config()),
        };
        u32::try_from(bytes).ok()
    }
}

/// The highest rate on the wire of a media flow whose video has at most the rate `source`.
fn most_on_wire(media: &Media, source: DataRate) -> DataRate {
    let audio = media.audio.map(AudioStream::config);
    let audio_rate = audio.map_or(DataRate::ZERO, |audio| audio.rate);
    let video = media.max_rate().saturating_sub(audio_rate).min(source);
    let on_wire = |rate: DataRate, payload: DataSize| {
        let payload = payload.bytes();
        rate.scale((payload + MEDIA_HEADERS) as f64 / payload as f64)
    };
    let video = on_wire(video, media.payload_limit);
    audio.map_or(video, |audio| video + on_wire(audio.rate, audio.payload()))
}

/// The traffic of a flow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum FlowTraffic {
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

/// A host's clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostClock {
    /// Offset of the clock at the start of the run; as the scenario's `clocks` say unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<TimeDelta>,
    /// How much too fast it runs, in parts per million.
    #[serde(default)]
    #[schemars(range(min = -1000.0, max = 1000.0))]
    pub drift_ppm: f64,
    /// Readings are multiples of this; whole nanoseconds unless given.
    #[serde(default)]
    pub resolution: TimeDelta,
    /// A step of the clock, without notice to the flows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<ClockStep>,
}

/// A step of a host's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClockStep {
    /// Time of the step, from the start of the run.
    pub at: TimeDelta,
    /// Distance by which the clock is set forward; back if negative.
    pub by: TimeDelta,
}
