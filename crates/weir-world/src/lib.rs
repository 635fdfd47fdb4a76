//! Description and observation of a run, common to simulated and real packets.
//!
//! A [`RunSpec`] is plain values: links, cells, flows, their traffic, clocks. The code that builds it (from a scenario
//! file, in a test) resolves names, routes and controllers first: a world knows no algorithm and no file. A [`Monitor`]
//! receives the events of the run.
//!
//! ```
//! use weir_net::{LinkConfig, Service, Time};
//! use weir_units::{DataRate, DataSize, TimeDelta};
//! use weir_world::{FlowSpec, LinkSpec, RunSpec, Traffic};
//!
//! let link = || LinkConfig::new(Service::Constant(DataRate::from_mbps(1)), TimeDelta::from_millis(20));
//! let links = vec![LinkSpec::bottleneck("forward", link()), LinkSpec::new("back", link())];
//! let (rate, packet_size) = (DataRate::from_kbps(500), DataSize::from_bytes(1250));
//! let run = RunSpec::over(links, Time::from_millis(10_000))
//!     .with(FlowSpec::new("steady", Traffic::Constant { rate, packet_size }));
//! assert_eq!(run.flows[0].forward, [0], "a flow goes over the first link and back by the second unless told otherwise");
//! ```
//!
//! `weir-sim` runs it.

mod coupling;
mod flow;
pub mod host;
mod link;
mod monitor;
pub mod random;
pub mod recorded;
mod run;
mod seed;
pub mod tcp;
mod traffic;
mod web;
mod wire;

pub use coupling::{CoupledSpec, CouplingSpec};
pub use flow::{ClockSpec, FlowSpec, Side};
pub use link::{CellSpec, LinkSpec};
pub use monitor::{FrameMeta, Loss, Monitor, PacketMeta, TransferMeta, Unwatched};
pub use recorded::{CallMonitor, RecordedCall};
pub use run::RunSpec;
pub use seed::{purpose, stream};
pub use traffic::{DownloadTraffic, MediaSpec, Traffic, Unresponsive, WindowAlgorithms};
pub use web::{WebSizes, WebTraffic};
pub use weir_media::{Breaker, DesiredRate};
pub use wire::{ConnectionKey, WireContent, WirePacket};
