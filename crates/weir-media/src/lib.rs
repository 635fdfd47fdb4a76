//! Media endpoints without IO: encoder, packetiser and pacer at the sender; unwrapping, statistics and reports at
//! the receiver. Simulated and real networks drive the same objects: a [`Session`] of
//! [`MediaSender`]s and, for each of them, a [`MediaReceiver`].
//!
//! Choices where the sources leave room:
//!
//! 1. Rates are rates of media: encoder, pacer, padding and the size of an arrival count payload, so that a receive rate
//!    compares with a target. The wire carries headers besides.
//! 2. RTCP packets travel alone, not in compounds (RFC 5506), with NTP times that count from the sender clock's zero.
//! 3. The first packet of a source is believed: no probation (RFC 3550 A.1).
//! 4. A frame's packets differ in size by at most a byte.
//! 5. Per-packet reports (`Report::Packets`) have no RTCP form yet: no law here sends them.

mod config;
mod encoder;
mod packetiser;
mod receiver;
mod reception;
mod report;
mod sender;
mod session;

pub use config::{MediaConfig, VIDEO_CLOCK_HZ};
pub use encoder::{Encoder, EncoderConfig, Frame, KeyFrames};
pub use packetiser::Packetiser;
pub use receiver::MediaReceiver;
pub use reception::ReceptionStatistics;
pub use sender::{MediaPacket, MediaSender, SentFrame};
pub use session::Session;
