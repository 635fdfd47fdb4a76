//! How well shared bottleneck detection (RFC 8382) finds which flows share a bottleneck: pairs that do and pairs that do
//! not, over a grid of paths and of traffic of others.
//!
//! Nothing is coupled here. Each flow's statistics are made of the true fates of its packets, as complete per-packet
//! reports would tell them; a detector then judges pairs. It is asked in each interval from 35 s on in which both flows
//! found others in the queue with at least half of their packets.
//!
//! The pair is a tenth of a link of 10 Mbit/s at most, with 200 ms of drop-tail queue. Ten independent sources with
//! exponential bursts of 1 s and gaps of 2 s offer the rest of the load in the mean: what shapes the queue is not the pair.

mod course;
mod grid;
mod parameters;

pub use course::Management;
pub use grid::{DetectionError, DetectionRequest, Judged, LAWS, Row};
pub use parameters::parameters;
