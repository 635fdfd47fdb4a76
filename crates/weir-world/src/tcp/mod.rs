//! A pair of TCP endpoints: their configuration and their packets.

mod config;
mod packet;

pub use config::{EcnMode, TcpConfig};
pub use packet::{Acknowledgement, SackBlock, Segment, Timestamps};
