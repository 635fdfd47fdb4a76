//! Per-packet feedback as RTCP bytes, and back, without IO: transport-wide feedback
//! (draft-holmer-rmcat-transport-wide-cc-extensions-01 §3.1) and congestion control feedback (RFC 8888 §3.1).
//!
//! For applications with packets and sockets of their own. [`MediaSender`](crate::MediaSender) and
//! [`MediaReceiver`](crate::MediaReceiver) write and read with the same types.
//!
//! * The receiver passes arrivals to [`PacketFeedback`](weir_cc::packet_feedback::PacketFeedback); a [`FeedbackWriter`]
//!   makes RTCP packets of its reports.
//! * The sender records in [`StreamNumbers`] the number of each RTP packet in its
//!   [`SendHistory`](weir_cc::history::SendHistory); a [`FeedbackReader`] makes a [`Report`](weir_cc::Report) of each
//!   RTCP packet, which the history joins with what was sent.
//!
//! Malformed messages are errors of [`weir_wire::rtcp::messages`] that name the place; no input causes a panic.
//!
//! Times count from the zero of the receiver's clock, modulo the range of their fields. The reader unwraps the first
//! one to the value nearest to the sender's clock. Each further one becomes the value nearest to its estimate of the
//! receiver's clock. Clocks that are synchronised stay so; with others only differences are meaningful.
//!
//! A sender that uses ECN must set it in the history ([`set_ecn`](weir_cc::history::SendHistory::set_ecn)), or marks are
//! refused.
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
//! let length = writer.write(&Report::packets(&records, 0), &mut bytes).expect("there are records, and space");
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
mod stream_feedback;
mod writer;

pub use numbers::StreamNumbers;
pub use reader::FeedbackReader;
pub(crate) use stream_feedback::StreamFeedback;
pub use writer::FeedbackWriter;

#[cfg(test)]
mod tests;
