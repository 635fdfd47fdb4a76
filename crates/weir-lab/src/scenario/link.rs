//! Links: rate, queue, delay, jitter, loss.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_units::{DataRate, DataSize, TimeDelta};

/// One directed link between two nodes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Link {
    /// The node it starts at.
    pub from: String,
    /// The node it leads to.
    pub to: String,
    /// What it does to packets.
    #[serde(flatten)]
    pub model: LinkModel,
}

/// What a link does to packets. Its capacity is exactly one of `rate`, `steps` and `trace`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkModel {
    /// Propagation delay; none unless given.
    #[serde(default)]
    pub delay: TimeDelta,
    /// Constant capacity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<DataRate>,
    /// Capacity that changes at given times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<Vec<Step>>,
    /// Name of a delivery-opportunity trace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<String>,
    /// Trace to use where the file of `trace` is not to be found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback: Option<String>,
    /// Where in the trace the run begins; at its start unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_offset: Option<TraceOffset>,
    /// Whether the trace starts again at its end (the default) or the link is dead from then on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeat: Option<bool>,
    /// The queue before the link; drop-tail of 300 ms unless given.
    #[serde(default)]
    pub queue: Queue,
    /// Random delay after the queue; none unless given.
    #[serde(default)]
    pub jitter: Jitter,
    /// Share of packets lost at random after the queue, in [0, 1].
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub loss: f64,
}

/// From `at` on, the capacity is `rate`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// Time from the start of the run; the first step is at 0 s.
    pub at: TimeDelta,
    /// The capacity from then on; `0bps` is an outage.
    pub rate: DataRate,
}

/// Where in a trace a run begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum TraceOffset {
    /// A word instead of a time.
    Word(RandomOffset),
    /// This far into the trace.
    At(TimeDelta),
}

/// Where in a trace a run begins, in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RandomOffset {
    /// Anywhere, derived from the run's seed: the runs see different stretches of the trace.
    Random,
}

/// A drop-tail queue: a packet that would violate any of its limits is dropped. `queue = {}` has no limit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Queue {
    /// Longest time from a packet's arrival to its departure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<TimeDelta>,
    /// Most bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<DataSize>,
    /// Most packets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packets: Option<u32>,
    /// Whether the packet in service counts in the limits of bytes and packets.
    #[serde(default)]
    pub in_service: InService,
    /// Packets that waited longer are marked CE if ECN-capable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mark_above: Option<TimeDelta>,
}

impl Queue {
    /// A queue without any limit.
    pub const UNLIMITED: Self =
        Self { time: None, bytes: None, packets: None, in_service: InService::Counted, mark_above: None };
}

impl Default for Queue {
    /// 300 ms, the default of RFC 8867 §4.1.
    fn default() -> Self {
        Self { time: Some(TimeDelta::from_millis(300)), ..Self::UNLIMITED }
    }
}

/// Whether the packet in service counts in a queue's limits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum InService {
    /// Its unserved part counts.
    #[default]
    Counted,
    /// It does not count.
    Free,
}

/// Random delay of each packet after the queue, without reordering.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Jitter {
    /// None.
    #[default]
    None,
    /// The size of a normal variable, cut off at `max`.
    HalfNormal {
        /// Standard deviation of the normal variable.
        sd: TimeDelta,
        /// Largest value.
        max: TimeDelta,
    },
    /// Uniform from 0 to `max`.
    Uniform {
        /// Largest value.
        max: TimeDelta,
    },
    /// Normal, clipped to [0, `max`].
    ClippedNormal {
        /// Mean before clipping.
        mean: TimeDelta,
        /// Standard deviation before clipping.
        sd: TimeDelta,
        /// Largest value.
        max: TimeDelta,
    },
}

/// A dumbbell in short: one bottleneck from `left` to `right`, one way back, and for each flow an access and an
/// exit link of its own at either end. Stands in place of `[links]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Dumbbell {
    /// The bottleneck from left to right.
    pub bottleneck: LinkModel,
    /// Each flow's link from its sender to the bottleneck.
    pub access: LinkModel,
    /// Each flow's link from the bottleneck to its receiver; like `access` unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<LinkModel>,
    /// The shared way from right to left; as fast as `access`, as long as `bottleneck` and without queue limit
    /// unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reverse: Option<LinkModel>,
}
