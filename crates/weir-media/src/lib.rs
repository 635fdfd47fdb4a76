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
//! 5. A flow is one stream on a transport of its own: its RTP sequence number is the lower 16 bits of its transport-wide
//!    number, padding included, so that RFC 8888, which tells of RTP sequence numbers, and transport-wide feedback tell
//!    of the same numbers.
//! 6. A packet that per-packet feedback tells to have arrived without telling when is left out of the report: its fate
//!    stays open. The receivers here always tell when.
//! 7. Audio of a flow ([`MediaConfig::audio`]) travels in the video's RTP stream under a payload type of its own, so that
//!    history and feedback tell of it without a word more; as padding, it shares the last video packet's timestamp. It
//!    goes by neither pacer nor window, and its rate is taken off what the encoder gets.

mod audio;
mod config;
mod encoder;
mod packet_report;
mod packetiser;
mod receiver;
mod reception;
mod report;
mod sender;
mod session;

pub use audio::AudioConfig;
pub use config::{MediaConfig, PacketFormat, VIDEO_CLOCK_HZ};
pub use encoder::{
    Burst, ContentSharing, Encoder, EncoderConfig, Frame, FrameTraces, KeyFrames, LADDER_RUNGS, Ladder,
    Model, Packets, Statistical, TalkingHead, TraceDriven, TraceError,
};
pub use packetiser::Packetiser;
pub use receiver::MediaReceiver;
pub use reception::ReceptionStatistics;
pub use sender::{MediaPacket, MediaSender, SentFrame};
pub use session::Session;
