//! The handshake: hello, retry with a cookie, hello with the cookie, accept.

mod caller;
mod listener;

pub use caller::{AcceptedCall, CallerOutcome, HelloCaller};
pub use listener::{HelloListener, HelloOutcome, ProvedHello};
