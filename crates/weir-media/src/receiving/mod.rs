//! The receiving end of applications with packets and sockets of their own, without IO.
//!
//! A [`ReceivingEndpoint`] takes the RTP packets of one sender, of any number of streams, and writes the RTCP that the
//! sender's controller needs: per-packet feedback (transport-wide or RFC 8888) or the reports of a controller's
//! receiver half (NADA's, a REMB), receiver reports, and requests for lost packets and key frames.
//!
//! ```
//! use weir_cc::{ArrivalTime, Ecn};
//! use weir_media::RetransmissionStream;
//! use weir_media::receiving::{IncomingStream, ReceivingConfig, ReceivingEndpoint};
//! use weir_wire::{Extension, RtpHeader};
//!
//! let mut endpoint = ReceivingEndpoint::new(ReceivingConfig::new(2))?;
//! let retransmission = Some(RetransmissionStream { ssrc: 11, payload_type: 97 });
//! endpoint.add_stream(IncomingStream { retransmission, nack: true, ..IncomingStream::new(1, 90_000) })?;
//!
//! // Your socket gives the bytes of a packet; here number 7 of the transport, without payload.
//! let (number, mut bytes) = (Extension { id: 5, data: &[0, 7] }, [0; 20]);
//! RtpHeader { payload_type: 96, ssrc: 1, extensions: &[number], ..RtpHeader::default() }.write(&mut bytes)?;
//! let packet = endpoint.on_packet(ArrivalTime::from_millis(3), &bytes, Ecn::NotEct)?.expect("a known stream");
//! assert_eq!((packet.sequence, packet.payload, packet.reported), (0, 20..20, true));
//!
//! // When the time has come, your socket sends what is due.
//! let due = endpoint.next_timeout().expect("feedback on the packet");
//! let mut out = [0; 1200];
//! while let Some(length) = endpoint.poll_report(due, &mut out) {
//!     println!("{length} bytes of RTCP");
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! * Times are of one clock of the caller, whose zero is arbitrary. A time before that of an earlier call is an error
//!   ([`ReceivingError::TimeWentBack`]) or, in [`ReceivingEndpoint::poll_report`], a count; the call has no effect.
//! * Malformed bytes are an error with the place, and a count. No input causes a panic.
//! * Feedback by transport-wide numbers covers packets with that extension alone. RFC 8888 covers all packets of known
//!   streams, also those of retransmissions, in one message.
//! * Receiver halves of controllers need departure times: abs-send-time, or [`ArrivedPacket::departure`]. Without a
//!   transport-wide number ([`ReceivedExtensions::transport_sequence`]) they see no loss. REMBs are sent then, while
//!   reports that echo the number of a packet are withheld and counted.
//! * To a receiver half all packets have the media time of the first stream of 90 kHz, as those of a flow have.

mod config;
mod core;
mod datagram;
mod departures;
mod endpoint;
pub(crate) mod packet;
mod received;
mod refusal;
mod stats;
mod stream;

pub use config::{FeedbackInterval, IncomingStream, ReceivedExtensions, ReceivingConfig, UnknownStreams};
pub use endpoint::ReceivingEndpoint;
pub use packet::{ArrivedPacket, PacketDeparture};
pub use received::{PacketContent, ReceivedPacket};
pub use refusal::{ConfigRefusal, ReceivingError};
pub use stats::{InboundStreamStats, ReceivingStats};

pub(crate) use self::core::{CoreParts, ReceivingCore, TransportProperties};
pub(crate) use stream::ReceivedStream;

#[cfg(test)]
mod tests;
