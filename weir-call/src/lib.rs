//! A video call into a browser under a congestion controller of Weir, without sockets and clock.
//!
//! [`CallSession`] is the whole of a call: it takes the browser's offer and gives the answer, takes the datagrams of one
//! UDP socket and gives those to send. Between the call and that socket stand two emulated links
//! ([`CallPath`](path::CallPath)). Controller and links may change while the call runs.
//!
//! ```
//! use std::net::SocketAddr;
//! use std::time::Instant;
//!
//! use weir_call::clips::ClipSet;
//! use weir_call::controller::ControllerChoice;
//! use weir_call::path::PathSettings;
//! use weir_call::session::{CallConfig, CallSession, SessionOutput};
//! use weir_registry::Registry;
//!
//! # fn now() -> Instant {
//! #     #[expect(clippy::disallowed_methods, reason = "an example of a caller, which has a clock")]
//! #     Instant::now()
//! # }
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let local: SocketAddr = "192.0.2.1:5000".parse()?;
//!     let choice = ControllerChoice::of(&Registry::standard(), "gcc")?;
//!     let config = CallConfig { path: PathSettings::default(), ..CallConfig::new(choice)? };
//!     let mut session = CallSession::new(config, ClipSet::built_in(), local, now())?;
//!     // An offer comes: `session.on_offer(now(), sdp)?` is the answer. A datagram comes: `session.on_datagram(..)`.
//!     // Afterwards, and when the time of the last wake-up has come:
//!     let wake = loop {
//!         match session.poll(now()) {
//!             SessionOutput::Datagram(datagram) => { /* `datagram.bytes` go to `datagram.peer` */ }
//!             SessionOutput::Event(event) => println!("{event:?}"),
//!             SessionOutput::Wake(at) => break at,
//!         }
//!     };
//!     assert!(wake.is_none_or(|wake| wake >= now() || !session.is_connected()));
//!     Ok(())
//! }
//! ```

pub mod clips;
pub mod controller;
mod decisions;
mod feedback;
mod frame_delays;
pub mod ivf;
pub mod path;
mod peer;
mod sender;
pub mod session;
mod session_error;
pub mod status;
mod vp8;
