//! Links: rate, queue, delay, jitter, loss.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_net::{ConfigError, LinkConfig, Service};
use weir_units::{DataRate, DataSize, TimeDelta};

use super::change::Change;
use super::loss::LinkLoss;
use super::queue::Queue;

/// A directed link between two nodes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Link {
    /// The node at its begin.
    pub from: String,
    /// The node at its end.
    pub to: String,
    /// Number of copies, named after the link with `-1`, `-2`, … behind; `#` in `from` and `to` is the number of the copy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 10_000))]
    pub count: Option<u32>,
    /// Whether the same link exists in the other direction, named with `-back` behind.
    #[serde(default)]
    pub duplex: bool,
    /// The model of the link: rate, queue, delay, jitter, loss.
    #[serde(flatten)]
    pub model: LinkModel,
}

/// The model of a link: rate, queue, delay, jitter, loss. Its capacity is exactly one of `rate`, `steps`, `trace` and `cell`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkModel {
    /// Propagation delay; none unless given.
    #[serde(default)]
    pub delay: TimeDelta,
    /// Name of the Wi-Fi cell whose air it shares; `rate` is then its PHY rate, that of the cell unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cell: Option<String>,
    /// Constant capacity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<DataRate>,
    /// Capacity that changes at given times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<Vec<Step>>,
    /// Name of a delivery-opportunity trace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<String>,
    /// Trace to use where the file of `trace` is not found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback: Option<String>,
    /// Offset in the trace at the start of the run; at the trace's start unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_offset: Option<TraceOffset>,
    /// Number of opportunities for each recorded one, 0.001 to 1000: a user's share of the cell. 1 unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.001, max = 1000.0))]
    pub trace_scale: Option<f64>,
    /// Whether the trace starts again at its end (the default) or the link is down from then on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeat: Option<bool>,
    /// A token bucket: `rate` or `steps` give the token rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bucket: Option<Bucket>,
    /// The queue before the link; drop-tail of 300 ms unless given.
    #[serde(default)]
    pub queue: Queue,
    /// Random delay after the queue; none unless given.
    #[serde(default)]
    pub jitter: LinkJitter,
    /// Packets that jitter must not reorder; all on the link unless given.
    #[serde(default)]
    pub order: OutputOrder,
    /// Random loss after the queue.
    #[serde(default)]
    pub loss: LinkLoss,
    /// Changes of delay, random loss and queue limits, in order of time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Change>,
}

/// From `at` on, the rate is `rate`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// Time from the start of the run; the first step is at 0 s.
    pub at: TimeDelta,
    /// The rate from then on; of a link `0bps` is an outage.
    pub rate: DataRate,
}

/// Offset in a trace at the start of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum TraceOffset {
    /// A word instead of a time.
    Word(RandomOffset),
    /// This far into the trace.
    At(TimeDelta),
}

/// Offset in a trace at the start of a run, as a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RandomOffset {
    /// Anywhere, derived from the run's seed: the runs see different stretches of the trace.
    Random,
}

/// Random delay of each packet after the queue.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum LinkJitter {
    /// No jitter.
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
    /// These delays, one packet each, over and over.
    Trace {
        /// The delays.
        delays: Vec<TimeDelta>,
    },
}

/// Packets that leave the link in the order in which they left the queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OutputOrder {
    /// All packets on the link.
    #[default]
    Link,
    /// Packets of the same flow.
    Flow,
    /// No packets: jitter reorders.
    None,
}

/// A token bucket, full at the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bucket {
    /// Size of the bucket.
    pub burst: DataSize,
    /// Rate at which a burst leaves; at once unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak: Option<DataRate>,
}

/// A dumbbell in short: one bottleneck from `left` to `right`, and one return path. Each flow has an access and an exit link of
/// its own at either end. Stands in place of `[links]`.
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
    /// The shared return path from right to left; as fast as `access`, as long as `bottleneck` and without queue limit unless
    /// given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reverse: Option<LinkModel>,
}

impl LinkModel {
    /// The link with its server.
    ///
    /// # Errors
    /// Bursts of losses that are impossible.
    pub(crate) fn config(&self, service: Service) -> Result<LinkConfig, ConfigError> {
        Ok(LinkConfig {
            queue: self.queue.config(|| service.peak_rate()),
            delay: self.delay,
            jitter: self.jitter.config(),
            order: match self.order {
                OutputOrder::Link => weir_net::Order::Link,
                OutputOrder::Flow => weir_net::Order::Flow,
                OutputOrder::None => weir_net::Order::None,
            },
            loss: self.loss.config()?,
            changes: self.changes.iter().map(Change::config).collect::<Result<_, _>>()?,
            service,
        })
    }
}

impl LinkJitter {
    pub(crate) fn config(&self) -> weir_net::Jitter {
        match *self {
            Self::None => weir_net::Jitter::None,
            Self::HalfNormal { sd, max } => weir_net::Jitter::HalfNormal { sd, max },
            Self::Uniform { max } => weir_net::Jitter::Uniform { max },
            Self::ClippedNormal { mean, sd, max } => weir_net::Jitter::ClippedNormal { mean, sd, max },
            Self::Trace { ref delays } => weir_net::Jitter::Trace(delays.as_slice().into()),
        }
    }
}
