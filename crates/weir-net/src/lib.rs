//! Links as values: a queue, a server with a rate that may vary, propagation delay, jitter and loss.
//!
//! A [`Link`] is sans-IO and generic over the packet it carries. It is told the time and answers with values:
//! [`Link::enqueue`] takes a packet or drops it, [`Link::next_departure`] says when the next one comes out at the
//! far end, and [`Link::pop`] hands it over. A simulator and an emulator drive the same links.
//!
//! The server works first in, first out, and its [`Service`] is known in advance: a constant rate, a rate in steps,
//! or the delivery opportunities of a [`Trace`]. So a packet's departure is known when it arrives, a limit on
//! the queue's delay is exact, and a link needs neither timers nor events of its own.
//!
//! ```
//! use weir_net::{Link, LinkConfig, Packet, Service, Time};
//! use weir_units::{DataRate, TimeDelta};
//!
//! #[derive(Debug)]
//! struct Datagram(u32);
//! impl Packet for Datagram {
//!     fn wire_size(&self) -> u32 {
//!         self.0
//!     }
//! }
//!
//! let config = LinkConfig::new(Service::Constant(DataRate::from_mbps(1)), TimeDelta::from_millis(20));
//! let mut link = Link::new(&config, 1)?;
//! link.enqueue(Time::ZERO, Datagram(1250)).expect("an unlimited queue drops nothing");
//! // 10 000 bits at 1 Mbit/s take 10 ms, and the way 20 ms.
//! assert_eq!(link.next_departure(), Some(Time::from_millis(30)));
//! # Ok::<(), weir_net::ConfigError>(())
//! ```

mod config;
mod link;
mod packet;
mod random;
mod server;
mod service;
mod time;
mod trace;

pub use config::{ConfigError, InService, Jitter, LinkConfig, QueueConfig};
pub use link::{Backlog, Link};
pub use packet::{DropReason, Dropped, Exit, Packet};
pub use service::Service;
pub use time::Time;
pub use trace::{Trace, TraceError, TraceProblem};
