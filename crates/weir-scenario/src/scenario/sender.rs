//! The keys of the sender around a controller: presets, and changes to them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_media::CountedBytes;
use weir_media::chromium::{ChromiumConfig, EncoderTargetParts, QUEUE_LIMIT};
use weir_wire::media::UDP_IPV4_OVERHEAD;

/// The sender around a controller: a preset, or a preset with changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum SenderChoice {
    /// A preset as it is.
    Preset(SenderPreset),
    /// A preset with changes.
    Changed(ChangedSender),
}

/// A ready-made sender around a controller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SenderPreset {
    /// Headers, retransmissions and overshoot are taken off the encoder's target; lost video is sent again (Chromium).
    #[default]
    Chromium,
}

/// A preset with changes: its parts, each of which may be switched off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each part is switched alone")]
pub struct ChangedSender {
    /// The preset.
    #[serde(default)]
    pub preset: SenderPreset,
    /// Whether the controller counts RTP, UDP and IP headers, and they are taken off the encoder's target.
    #[serde(default = "on")]
    pub headers: bool,
    /// Whether the encoder's target is divided by its overshoot.
    #[serde(default = "on")]
    pub adjuster: bool,
    /// Whether the share of retransmissions is taken off the encoder's target.
    #[serde(default = "on")]
    pub protection: bool,
    /// Whether lost video is requested and sent again.
    #[serde(default = "on")]
    pub retransmissions: bool,
    /// Whether the pacer is fast enough to empty its queue within 2 s.
    #[serde(default = "on")]
    pub queue_limit: bool,
    /// Whether frames are left out while the encoder is above its rate.
    #[serde(default = "on")]
    pub rate_drops: bool,
}

const fn on() -> bool {
    true
}

impl SenderChoice {
    /// The sender's configuration.
    pub fn config(self) -> ChromiumConfig {
        match self {
            Self::Preset(SenderPreset::Chromium) => ChromiumConfig::ALL,
            Self::Changed(changed) => ChromiumConfig {
                target: EncoderTargetParts {
                    headers: changed.headers,
                    adjuster: changed.adjuster,
                    protection: changed.protection,
                },
                retransmissions: changed.retransmissions,
                queue_limit: changed.queue_limit.then_some(QUEUE_LIMIT),
                rate_drops: changed.rate_drops,
            },
        }
    }

    /// Bytes of a packet that the controller counts.
    pub fn counted(self) -> CountedBytes {
        if self.config().target.headers {
            CountedBytes::WithHeaders(UDP_IPV4_OVERHEAD as u8)
        } else {
            CountedBytes::Payload
        }
    }
}
