//! A fast deterministic packet simulator.
//!
//! One thread per run. Each component, link, host, Wi-Fi cell or coupler, has exactly one next wake-up; ties go by the
//! component's index. A FIFO link knows a packet's departure when the packet arrives, so packets are plain values in rings and
//! never events in a heap. The simulator knows no algorithm by name and no file: it takes a [`RunSpec`](weir_world::RunSpec) and calls
//! a [`Monitor`](weir_world::Monitor).

mod cells;
mod clock;
mod couplings;
mod endpoint;
mod network;
mod packet;
mod random;
mod schedule;
mod seed;
mod simulation;
pub mod tcp;

pub use simulation::{Simulation, SpecError};
