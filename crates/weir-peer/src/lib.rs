//! Media flows between two machines: a handshake, protection against a hostile network, and reports at both ends.
//!
//! A [`PeerEnd`](end::PeerEnd) is one end of a session without IO. On Linux a [`drive`] serves it by a socket.
//!
//! * [`handshake`], [`cookie`], [`keys`], [`protection`]: who may talk. A hello gets a cookie, a hello with the cookie the receiver's
//!   consent. Each packet then carries a counter and a tag.
//! * [`offer`]: the flows that an end offers to send, and the ceilings within which the other receives.
//! * [`watch`]: a sender halves its rate while reports are missing, and stops 5 s after the last one.
//! * [`message`]: the bytes of messages beside RTP and RTCP.
//!
//! The crate neither prints nor ends the process, and has no state outside of its values.

pub mod cookie;
#[cfg(target_os = "linux")]
pub mod drive;
pub mod end;
pub mod handshake;
pub mod hosts;
pub mod key_file;
pub mod keys;
pub mod message;
pub mod metrics;
pub mod monitor;
pub mod offer;
mod outbox;
pub mod plan;
pub mod protection;
pub mod random;
mod reception;
pub mod results;
mod session;
pub mod watch;
mod wire;
