//! Readers and writers of RTP, RTCP and TCP in UDP over byte slices. The crate never allocates; neither the
//! standard library nor an allocator is needed.
//!
//! * [`rtp`]: the RTP header and its extensions, read in place and written from borrowed parts.
//! * [`media`]: the one RTP header that Weir's endpoints send, as a plain value at the resolution of the wire.
//! * [`rtcp`]: iteration over a datagram of RTCP packets. Parsed are sender and receiver reports, transport-wide
//!   feedback, congestion control feedback of RFC 8888, REMB, picture loss indications, the reports of NADA, DCCC
//!   and TFRC, and those that other controllers define for themselves.
//! * [`tcp_in_udp`]: the header of TCP segments on one pair of UDP ports, and the assignment of numbers to
//!   connections.
//! * [`seq`], [`abs_send_time`], [`ntp`]: the counters and clocks that wrap on the wire.
//!
//! A reader accepts untrusted bytes: it returns for every slice a value or a [`ParseError`] with the position of
//! the error and the valid value. Integers are big-endian on the wire.
//!
//! ```
//! use weir_wire::rtcp::{self, Message, Pli};
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let mut bytes = [0; 64];
//!     let length = Pli { ssrc: 2, source: 1 }.write(&mut bytes)?;
//!     for message in rtcp::messages(&bytes[..length]) {
//!         if let Message::Pli(request) = message? {
//!             println!("{} asks {} for a key frame", request.ssrc, request.source);
//!         }
//!     }
//!     assert!(rtcp::messages(&bytes[..length - 1]).any(|message| message.is_err()));
//!     Ok(())
//! }
//! ```

#![cfg_attr(not(test), no_std)]

pub mod abs_send_time;
mod cursor;
mod error;
mod frame_marking;
pub mod media;
pub mod ntp;
pub mod rtcp;
pub mod rtp;
pub mod seq;
pub mod tcp_in_udp;

pub use abs_send_time::{AbsSendTime, AbsSendTimeUnwrapper};
pub use error::{BufferTooSmall, ParseError, WriteError};
pub use frame_marking::FrameMarking;
pub use media::{ExtensionIds, MediaHeader, StampExtension};
pub use ntp::NtpTime;
pub use rtp::{Extension, RtpHeader, RtpPacket};

#[cfg(test)]
pub(crate) mod testing {
    /// The bytes of a vector written as hexadecimal pairs.
    pub(crate) fn hex(text: &str) -> Vec<u8> {
        text.split_whitespace().map(|pair| u8::from_str_radix(pair, 16).unwrap()).collect()
    }
}
