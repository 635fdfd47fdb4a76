//! Changes of a link during a run, beside those of its rate.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_net::ConfigError;
use weir_units::{DataSize, TimeDelta};

use super::loss::LinkLoss;

/// A change of a link, without notice to the flows. Values that are not given stay as they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// Time from the start of the run.
    pub at: TimeDelta,
    /// Propagation delay of packets that leave the queue from then on. Results count a delay above the least one as time in queues.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay: Option<TimeDelta>,
    /// Random loss of packets that come out from then on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss: Option<LinkLoss>,
    /// All limits of the queue for packets that arrive from then on; `{}` for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<QueueLimits>,
}

/// The limits of a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QueueLimits {
    /// Longest time from a packet's arrival to its departure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<TimeDelta>,
    /// Most bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<DataSize>,
    /// Most bytes, as the data that the rate of the moment sends in this time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_rate: Option<TimeDelta>,
    /// Most packets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packets: Option<u32>,
}

impl Change {
    /// # Errors
    /// Bursts of losses that are impossible.
    pub(crate) fn config(&self) -> Result<weir_net::LinkChange, ConfigError> {
        let limits = |limits: QueueLimits| {
            let QueueLimits { time, bytes, at_rate, packets } = limits;
            weir_net::QueueLimits { time, bytes, at_rate, packets }
        };
        Ok(weir_net::LinkChange {
            at: weir_net::Time::ZERO + self.at,
            delay: self.delay,
            loss: self.loss.map(|loss| loss.config()).transpose()?,
            limits: self.queue.map(limits),
        })
    }
}
