//! Per-packet feedback as RTCP bytes, and back, without IO: transport-wide feedback
//! (draft-holmer-rmcat-transport-wide-cc-extensions-01 §3.1) and congestion control feedback (RFC 8888 §3.1).
//!
//! For who has packets and sockets of his own. [`MediaSender`](crate::MediaSender) and
//! [`MediaReceiver`](crate::MediaReceiver) write and read with the same types.
//!
//! * The receiver shows arrivals to [`PacketFeedback`](weir_cc::packet_feedback::PacketFeedback); a [`FeedbackWriter`] makes
//!   RTCP packets of its reports.
//! * The sender notes in [`StreamNumbers`] which packet of which RTP stream has which number in its
//!   [`SendHistory`](weir_cc::history::SendHistory); a [`FeedbackReader`] makes a [`Report`](weir_cc::Report) of each RTCP
//!   packet, which the history joins with what was sent.
//!
//! What cannot be read is an error of [`weir_wire::rtcp::messages`], which says where the trouble is; nothing panics.
//!
//! Times count from the zero of the receiver's clock, modulo what the wire holds of them. The reader unwraps the first
//! one to the reading nearest to the sender's clock, each further one to the reading nearest to the receiver's clock as it knows
//! it: clocks that are synchronised stay so, and with others only differences mean anything.
//!
//! Who sends with ECN tells the history ([`set_ecn`](weir_cc::history::SendHistory::set_ecn)), or marks are refused.
//!
//! ```
//! use weir_cc::history::SendHistory;
//! use weir_cc::{ArrivalTime, DataSize, Record, Report, SendTime, TimeDelta};
//! use weir_media::feedback::{FeedbackReader, FeedbackWriter, StreamNumbers};
//!
//! // At the receiver, whose source identifier is 2: the packet 7 of the transport has arrived, 8 has not, and 9 has.
//! let at = |ms| Some(ArrivalTime::from_millis(ms));
//! let records = [Record::new(7, at(64)), Record::new(8, None), Record::new(9, at(69))];
//! let mut bytes = [0; 1200];
//! let mut writer = FeedbackWriter::transport_wide(2, 1);
//! let length = writer.write(&Report::packets(&records, 0), &mut bytes).expect("there is news, and room");
//!
//! // At the sender:
//! let mut history = SendHistory::new(TimeDelta::from_secs(5));
//! let (header, payload) = (DataSize::from_bytes(24), DataSize::from_bytes(1200));
//! (0..10).for_each(|n| _ = history.on_media_sent(SendTime::from_millis(n), header, payload));
//! let (now, numbers, mut reader) = (SendTime::from_millis(100), StreamNumbers::new(), FeedbackReader::new());
//! for message in weir_wire::rtcp::messages(&bytes[..length]) {
//!     assert_eq!(reader.read(now, &message?, &numbers, &history), Some(Report::packets(&records, 0)));
//! }
//! # Ok::<(), weir_wire::ParseError>(())
//! ```
//!
//! `crates/weir-media/examples/feedback.rs` is a call over such bytes, from the first packet to the controller's target.

mod by_stream;
mod numbers;
mod reader;
mod writer;

pub use numbers::StreamNumbers;
pub use reader::FeedbackReader;
pub use writer::FeedbackWriter;

#[cfg(test)]
mod tests;
