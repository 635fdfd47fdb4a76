//! The sender around the controller as in Chromium: how the encoder's target follows from the controller's.
//!
//! Chromium's controller counts packets with their headers ([`CountedBytes::WithHeaders`](crate::CountedBytes)), so its target
//! contains headers, retransmissions and the encoder's overshoot. [`EncoderTarget`] takes them off. Numbers and formulas are
//! those of libwebrtc's `RtpVideoSender`, `FecControllerDefault`, `EncoderBitrateAdjuster` and `EncoderOvershootDetector`.

mod adjuster;
mod config;
mod headers;
mod overshoot;
mod protection;
mod rate_dropper;
mod sender;
mod target;
mod window;

pub use adjuster::BitrateAdjuster;
pub use config::{ChromiumConfig, QUEUE_LIMIT};
pub use headers::{HeaderRates, header_rate};
pub use overshoot::OvershootDetector;
pub use protection::ProtectionShare;
pub use rate_dropper::RateDropper;
pub use target::{EncoderTarget, EncoderTargetParts};
pub use window::RateWindow;

pub(crate) use sender::ChromiumSender;
