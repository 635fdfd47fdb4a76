//! The keys of video under a controller.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_cc::{LimitsOutOfOrder, RateLimits};
use weir_units::{DataRate, DataSize, TimeDelta};

use super::encoder::EncoderChoice;
use super::sender::SenderChoice;
use super::unresponsive::AudioStream;

/// Video under a congestion controller.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Media {
    /// Name of the controller, as in the registry.
    pub controller: String,
    /// Whether it keeps that controller when others are compared, and is not judged by suites.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub competitor: bool,
    /// Options of that controller, by the names of its configuration; its defaults unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub options: Option<ControllerOptions>,
    /// Its share of a bottleneck relative to others, 1 being the usual one; for controllers that know priorities.
    #[serde(default = "usual_priority")]
    #[schemars(range(min = 0.01, max = 100.0))]
    pub priority: f64,
    /// The video encoder.
    #[serde(default)]
    pub encoder: EncoderChoice,
    /// The sender around the controller; the encoder's target is the controller's unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender: Option<SenderChoice>,
    /// Whether padding helps an encoder of several streams to the next one; only for such encoders, and on unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub climb: Option<bool>,
    /// Audio in a separate stream under the same controller; none unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audio: Option<AudioStream>,
    /// Shortest time between the receiver's requests for key frames after lost video; no requests unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_frame_requests: Option<TimeDelta>,
    /// The call it belongs to: flows of one call share a host at either end, and its clock; hosts of its own unless
    /// given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
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
    /// The bounds are out of order.
    pub fn limits(&self) -> Result<RateLimits, LimitsOutOfOrder> {
        RateLimits::new(self.rates.min, self.rates.start, self.max_rate())
    }
}

pub(super) const fn usual_priority() -> f64 {
    1.0
}

fn default_payload_limit() -> DataSize {
    DataSize::from_bytes(1200)
}

fn default_rtcp_interval() -> TimeDelta {
    TimeDelta::from_secs(1)
}

/// Options of a controller: a table of keys that the controller has.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct ControllerOptions(pub serde_json::Map<String, serde_json::Value>);

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
    /// The field that the controller responds to. A controller that responds to the share of marks gets ECT(1) (RFC 9331 §4.3),
    /// one that responds to a mark as to a loss ECT(0). Others are not ECN-capable.
    ByController,
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
