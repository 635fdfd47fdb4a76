//! Media endpoints without IO: encoder, packetiser and pacer at the sender; unwrapping, statistics and reports at
//! the receiver. Simulated and real networks drive the same objects: a [`Session`] of
//! [`MediaSender`]s and, for each of them, a [`MediaReceiver`].

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
