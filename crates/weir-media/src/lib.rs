//! Media endpoints without IO: encoder, packetiser and pacer at the sender; unwrapping, statistics and reports at
//! the receiver. Simulated and real networks drive the same two objects, [`MediaSender`] and [`MediaReceiver`].

mod config;
mod encoder;
mod packetiser;
mod receiver;
mod reception;
mod report;
mod sender;

pub use config::{MediaConfig, VIDEO_CLOCK_HZ};
pub use encoder::{Encoder, EncoderConfig, Frame, KeyFrames};
pub use packetiser::Packetiser;
pub use receiver::MediaReceiver;
pub use reception::ReceptionStatistics;
pub use sender::{MediaPacket, MediaSender, SentFrame};
