//! What describes a run, and how it is watched: the same whether packets are simulated or real.
//!
//! A [`RunSpec`] is plain values: links, cells, flows, what they carry, clocks. Whoever builds it (a scenario file, a
//! test) resolves names, routes and controllers first: a world knows no algorithm and no file. A [`Monitor`] is told
//! what happens.

mod coupling;
mod flow;
mod link;
mod monitor;
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
pub use run::RunSpec;
pub use seed::stream;
pub use traffic::{Downloads, MediaSpec, Traffic, Unresponsive, WindowLaws};
pub use web::{Web, WebSizes};
pub use weir_media::Desired;
pub use wire::{Way, WireContent, WirePacket};
