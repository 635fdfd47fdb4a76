//! A fast deterministic packet simulator.
//!
//! One thread per run. Each component, link or host, has exactly one next wake-up; ties go by the component's
//! index. A FIFO link knows a packet's departure when the packet arrives, so packets are plain values in rings and
//! never events in a heap. The simulator knows no algorithm by name and no file: it takes a [`SimSpec`] and calls
//! a [`Monitor`].

mod cells;
mod clock;
mod endpoint;
mod monitor;
mod network;
mod packet;
mod schedule;
mod seed;
mod simulation;
mod spec;
pub mod tcp;
mod web;
mod wire;

pub use monitor::{FrameMeta, Loss, Monitor, PacketMeta, Side, TransferMeta, Unwatched};
pub use seed::stream;
pub use simulation::{Simulation, SpecError};
pub use spec::{
    CellSpec, ClockSpec, Downloads, FlowSpec, LinkSpec, SimSpec, Traffic, Unresponsive, WindowLaws,
};
pub use web::{Web, WebSizes};
pub use wire::{WireContent, WirePacket};
