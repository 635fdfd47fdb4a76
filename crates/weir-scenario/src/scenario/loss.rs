//! Random loss.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_net::ConfigError;

/// Random loss after the queue: a share of all packets, or a table.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum LinkLoss {
    /// Each packet is lost with this probability, independently.
    Share(#[schemars(range(min = 0.0, max = 1.0))] f64),
    /// Losses that depend on earlier ones.
    Model(LossModel),
}

impl Default for LinkLoss {
    fn default() -> Self {
        Self::Share(0.0)
    }
}

/// Random loss that depends on earlier losses.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum LossModel {
    /// Bursts of losses.
    Bursts {
        /// Share of packets lost.
        #[schemars(range(min = 0.0, max = 1.0))]
        mean: f64,
        /// Mean length of a burst in packets.
        #[schemars(range(min = 1.0))]
        burst: f64,
    },
    /// A chain of a good and a bad state.
    GilbertElliott {
        /// Probability per packet of a step from good to bad.
        #[schemars(range(min = 0.0, max = 1.0))]
        to_bad: f64,
        /// Probability per packet of a step from bad to good.
        #[schemars(range(min = 0.0, max = 1.0))]
        to_good: f64,
        /// Loss probability in the bad state; 1 unless given.
        #[serde(default = "certain")]
        #[schemars(range(min = 0.0, max = 1.0))]
        loss_in_bad: f64,
        /// Loss probability in the good state; 0 unless given.
        #[serde(default)]
        #[schemars(range(min = 0.0, max = 1.0))]
        loss_in_good: f64,
    },
}

const fn certain() -> f64 {
    1.0
}

impl LinkLoss {
    /// # Errors
    /// Bursts of losses that are impossible.
    pub(crate) fn config(&self) -> Result<weir_net::LossModel, ConfigError> {
        match *self {
            Self::Share(0.0) => Ok(weir_net::LossModel::None),
            Self::Share(share) => Ok(weir_net::LossModel::Bernoulli(share)),
            Self::Model(LossModel::Bursts { mean, burst }) => weir_net::LossModel::bursts(mean, burst),
            Self::Model(LossModel::GilbertElliott { to_bad, to_good, loss_in_bad, loss_in_good }) => {
                Ok(weir_net::LossModel::GilbertElliott { to_bad, to_good, loss_in_bad, loss_in_good })
            }
        }
    }
}
