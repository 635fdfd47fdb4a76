//! Switches of the sender around the controller.

use weir_units::TimeDelta;

use super::target::EncoderTargetParts;

/// libwebrtc's longest time in the pacer's queue.
pub const QUEUE_LIMIT: TimeDelta = TimeDelta::from_secs(2);

/// Parts of the sender around the controller, each of which may be switched off.
///
/// Headers count only with [`MediaConfig::counted`](crate::MediaConfig::counted) of a route besides. Push-back, probes and the
/// pacing factor are the controller's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct ChromiumConfig {
    /// Parts between the controller's target and the encoder's.
    pub target: EncoderTargetParts,
    /// Whether the receiver requests lost video again (RFC 4585 §6.2.1), and the sender repeats it in a stream of its own
    /// (RFC 4588), before other video. Padding travels in that stream, too.
    pub retransmissions: bool,
    /// The pacer is fast enough to empty its queue within this time (`None`: it keeps to the controller's pace).
    pub queue_limit: Option<TimeDelta>,
    /// Whether frames are left out while the encoder is above its rate.
    pub rate_drops: bool,
}

impl ChromiumConfig {
    /// All parts.
    pub const ALL: Self = Self {
        target: EncoderTargetParts::ALL,
        retransmissions: true,
        queue_limit: Some(QUEUE_LIMIT),
        rate_drops: true,
    };
    /// No part.
    pub const NONE: Self = Self {
        target: EncoderTargetParts::NONE,
        retransmissions: false,
        queue_limit: None,
        rate_drops: false,
    };
}
