//! A fast deterministic packet simulator.
//!
//! Each run has one thread. Each component, link, host, Wi-Fi cell or coupler, has exactly one next wake-up; ties go by
//! the component's index. A FIFO link knows a packet's departure when the packet arrives, so packets are plain values
//! in rings and never events in a heap. The simulator knows no algorithm by name and no file: it takes a
//! [`RunSpec`](weir_world::RunSpec) and calls a [`Monitor`](weir_world::Monitor).
//!
//! ```
//! use weir_net::{LinkConfig, Service, Time};
//! use weir_sim::{Simulation, SpecError};
//! use weir_units::{DataRate, DataSize, TimeDelta};
//! use weir_world::{FlowSpec, LinkSpec, Monitor, PacketMeta, RunSpec, Traffic};
//!
//! struct Counter(u64);
//! impl Monitor for Counter {
//!     fn delivered(&mut self, _now: Time, _flow: usize, packet: &PacketMeta) {
//!         self.0 += u64::from(packet.payload);
//!     }
//! }
//!
//! fn main() -> Result<(), SpecError> {
//!     let link = || LinkConfig::new(Service::Constant(DataRate::from_mbps(1)), TimeDelta::from_millis(20));
//!     let links = vec![LinkSpec::bottleneck("forward", link()), LinkSpec::new("back", link())];
//!     let (rate, packet_size) = (DataRate::from_kbps(500), DataSize::from_bytes(1250));
//!     let run = RunSpec::over(links, Time::from_millis(10_000))
//!         .with(FlowSpec::new("steady", Traffic::Constant { rate, packet_size }));
//!     let Counter(bytes) = Simulation::new(run, Counter(0))?.run();
//!     println!("{bytes} bytes in 10 s");
//!     assert!(bytes > 600_000);
//!     Ok(())
//! }
//! ```

mod cells;
mod endpoint;
mod network;
mod packet;
mod random;
mod schedule;
mod seed;
mod simulation;
pub mod tcp;

pub use simulation::{Simulation, SpecError};
