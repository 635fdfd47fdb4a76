//! Links as values: a queue, a server with a rate that may vary, propagation delay, jitter and loss.
//!
//! A [`Link`] is sans-IO and generic over the packet it carries. The caller passes the time, and the link answers
//! with values: [`Link::enqueue`] takes a packet or drops it, [`Link::next_departure`] returns when the next one
//! comes out at the far end, and [`Link::pop`] hands it over. A simulator and an emulator drive the same links.
//!
//! The server's [`Service`] is known in advance: a constant rate, a rate in steps, a token bucket, or the delivery
//! opportunities of a [`Trace`]. Behind a drop-tail queue a packet's departure is therefore known when it arrives.
//! A limit on the queue's delay is exact, and a link needs neither timers nor events of its own. Any other
//! [`Discipline`] (drop-head, CoDel, FQ-CoDel, PIE, RED, DualPI2) chooses when the server fetches the next packet.
//! So does a link without an [`Order`] of all its packets. These links must also be polled at these moments.
//!
//! A [`Path`] between two ends has a link there and only a delay back, for calls without a simulator.
//!
//! Links that share the air are a [`WifiCell`], which is driven like a link and returns each packet with the link
//! that it left.
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
//! // 10 000 bits at 1 Mbit/s take 10 ms, and propagation 20 ms.
//! assert_eq!(link.next_departure(), Some(Time::from_millis(30)));
//! # Ok::<(), weir_net::ConfigError>(())
//! ```

mod active;
mod backlog;
mod changes;
mod config;
mod disciplined;
mod error;
mod link;
mod loss;
mod packet;
mod passive;
mod path;
mod queue;
mod random;
mod records;
mod schedule;
mod server;
mod service;
mod time;
mod trace;
mod wifi;

pub use backlog::Backlog;
pub use changes::{LinkChange, QueueLimits};
pub use config::{InService, Jitter, LinkConfig, Order, QueueConfig};
pub use error::ConfigError;
pub use link::Link;
pub use loss::LossModel;
pub use packet::{DropReason, Dropped, Exit, Fate, Packet};
pub use passive::Passive;
pub use path::{ArrivedPacket, Path, Sent};
pub use queue::{CoDel, Discipline, DualPi2, FqCoDel, Pie, Red, Scheduler};
pub use service::{Service, TokenBucket};
pub use time::Time;
pub use trace::{Trace, TraceError, TraceProblem};
pub use wifi::{WifiCell, WifiConfig, WifiLink};
