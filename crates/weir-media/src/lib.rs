//! Media endpoints without IO: encoder, packetiser and pacer at the sender; unwrapping, statistics and reports at
//! the receiver. Simulated and real networks drive the same objects: a [`Session`] of
//! [`MediaSender`]s and, for each of them, a [`MediaReceiver`].
//!
//! ```
//! use weir_cc::gcc::goog_cc::{Config, GoogCc};
//! use weir_cc::packet_feedback::PacketFeedback;
//! use weir_cc::{ArrivalTime, DataRate, RateLimits, SendTime, TimeDelta};
//! use weir_media::{EncoderConfig, MediaConfig, MediaReceiver, MediaSender, SenderSeeds};
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let kbps = DataRate::from_kbps;
//!     let limits = RateLimits::new(kbps(50), kbps(300), kbps(2500))?;
//!     let config = MediaConfig::new(limits, EncoderConfig::papers());
//!     let controller = Box::new(GoogCc::new(Config::default(), limits)?);
//!     let mut sender = MediaSender::new(controller, config, 1, SenderSeeds { encoder: 1, rtcp: 2 });
//!     let feedback = Box::new(PacketFeedback::new(TimeDelta::from_millis(50)));
//!     let mut receiver = MediaReceiver::new(feedback, config, 2, 1, 3);
//!     sender.start(SendTime::ZERO);
//!     let mut room = [0; 1472];
//!     for ms in 0..2000 {
//!         let (now, there) = (SendTime::from_millis(ms), ArrivalTime::from_millis(ms));
//!         sender.on_timeout(now);
//!         while sender.poll_frame(now).is_some() {}
//!         // Your network stands between the two; this one takes no time.
//!         while let Some(packet) = sender.poll_packet(now) {
//!             receiver.on_packet(there, &packet.header, packet.payload, config.ecn);
//!         }
//!         while let Some(length) = receiver.poll_rtcp(there, &mut room) {
//!             sender.on_rtcp(now, &room[..length]);
//!         }
//!     }
//!     assert!(sender.target().media_rate > limits.start());
//!     Ok(())
//! }
//! ```
//!
//! Applications with packets and sockets of their own take [`Endpoint`] and [`receiving`]. Applications that need only
//! per-packet reports use [`feedback`]; see `crates/weir-media/examples/feedback.rs`.
//!
//! Choices that the sources leave open:
//!
//! 1. Rates are rates of media: encoder, pacer, padding and the size of an arrival count payload, so that a receive rate
//!    compares with a target. The wire carries headers besides.
//! 2. RTCP packets travel alone, not in compounds (RFC 5506), with NTP times that count from the sender clock's zero.
//! 3. The first packet of a source is believed: no probation (RFC 3550 A.1).
//! 4. A frame's packets differ in size by at most a byte.
//! 5. A flow has a transport of its own, whose transport-wide numbers are those of the history. Padding travels in the
//!    video's stream. With video alone its RTP sequence numbers are the lower 16 bits of the transport-wide ones.
//! 6. A packet that per-packet feedback reports as arrived without a time is left out of the report: its fate
//!    stays open. The receivers here always report times.
//! 7. Audio of a flow ([`MediaConfig::audio`]) is an RTP stream of its own: another source identifier (video's with its
//!    highest bit changed), sequence numbers, a clock of 48 kHz, reports. Controller and history count it as they count
//!    video, and feedback reports it. It goes by neither pacer nor window, and its rate is taken off what the encoder
//!    gets. To the controller's receiver half an audio packet has the media time of the last video packet, as padding
//!    has.
//! 8. A receiver that asks for key frames ([`MediaConfig::key_frame_requests`]) does so by picture loss indications
//!    (RFC 4585 §6.3.1) as packets come, and goes by frame markings (RFC 9626): only a key frame repairs the picture.
//! 9. Retransmissions ([`MediaConfig::chromium`]) are an RTP stream of their own (RFC 4588), without sender and receiver reports: video's
//!    source identifier with its second bit changed. Padding travels in it.

pub mod allocation;
mod audio;
pub mod chromium;
pub mod climb;
mod config;
mod content;
mod coupled;
mod coupled_flows;
mod detection;
mod encoder;
mod endpoint;
pub mod feedback;
mod frame_dropper;
mod guard;
mod key_frames;
mod nack_list;
mod numbers_ahead;
mod packetiser;
mod path;
mod path_config;
mod receiver;
pub mod receiving;
mod reception;
mod report_codec;
mod retransmissions;
mod rtcp_interval;
mod rtcp_outcome;
mod sender;
mod session;
mod sources;
mod streams;
mod timer;
#[cfg(feature = "serde")]
mod wire_forms;

pub use audio::AudioConfig;
pub use config::{AUDIO_CLOCK_HZ, CountedBytes, MediaConfig, VIDEO_CLOCK_HZ};
pub use content::{MediaPacket, SentFrame};
pub use coupled::{CoupledFlow, CoupledOutput, DesiredRate, FlowSet};
pub use coupled_flows::CoupledFlows;
pub use detection::{BottleneckDetection, DetectionSide};
pub use encoder::{
    ContentSharing, Encoder, EncoderConfig, EncoderModel, Frame, FrameBurst, FrameTraces, KeyFrames,
    LADDER_RUNGS, Ladder, LateRequests, Packets, RATE_STEPS, RateSteps, ScaledVideo, Statistical,
    TalkingHead, TraceDriven, TraceError,
};
pub use endpoint::{
    Departure, EncoderDescription, EncoderId, Endpoint, EndpointConfig, EndpointError, EndpointEvent,
    EndpointGroup, EndpointStats, GroupError, JoinedResult, LayerAllocation, PacerRates, PacketBatch,
    PacketKind, PacketMeta, PacketNumbering, Payload, PayloadHandle, QualityLimitation, RetransmissionStream,
    SentReport, StreamConfig, StreamId, StreamKind, StreamStats,
};
pub use guard::{Alarm, Breaker, RefusedReports};
pub use packetiser::Packetiser;
pub use receiver::MediaReceiver;
pub use receiving::ReceivingEndpoint;
pub use reception::ReceptionStatistics;
pub use rtcp_outcome::RtcpOutcome;
pub use sender::{MediaSender, SenderSeeds};
pub use session::{Output, Session, Wake};
pub use timer::SenderTimer;
pub use weir_cc::PacketFormat;
pub use weir_cc::coupled::FlowId;
