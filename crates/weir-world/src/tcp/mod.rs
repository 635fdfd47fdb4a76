//! A pair of TCP endpoints: what can be chosen about them, and what they send to each other.

mod config;
mod packet;

pub use config::{EcnMode, TcpConfig};
pub use packet::{Acknowledgement, SackBlock, Segment, Timestamps};
