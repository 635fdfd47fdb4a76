//! A pair of TCP endpoints: their configuration and their packets.

mod config;
mod packet;

use weir_cc::Signal;

pub use config::{EcnMode, TcpConfig};
pub use packet::{Acknowledgement, SackBlock, Segment, Timestamps};

/// The signals of a TCP sender, in the order in which its world shows their values.
pub const TCP_SIGNALS: [Signal; 4] = [
    Signal { name: "cwnd", unit: "segments", meaning: "congestion window" },
    Signal {
        name: "ssthresh",
        unit: "segments",
        meaning: "slow-start threshold; infinite before the first congestion",
    },
    Signal { name: "rtt", unit: "ms", meaning: "latest sample of the round-trip time" },
    Signal { name: "acked", unit: "B", meaning: "data acknowledged in order" },
];
