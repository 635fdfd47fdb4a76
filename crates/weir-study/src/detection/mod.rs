//! Accuracy of shared bottleneck detection (RFC 8382). Pairs of flows that share a bottleneck and pairs that do not are
//! run over a grid of paths and background traffic.
//!
//! The flows are not coupled. Each flow's statistics come from the true arrivals and losses of its packets, as complete
//! per-packet feedback would report them; a detector then judges pairs. An interval counts from 35 s on if at least
//! half of the packets of both flows met a queue.
//!
//! The pair takes at most a tenth of a link of 10 Mbit/s with 200 ms of drop-tail queue. Ten independent sources with
//! exponential bursts of 1 s and gaps of 2 s offer the rest of the mean load. The queue is thus shaped by the
//! background traffic, and not by the pair.

mod course;
mod grid;
mod parameters;

pub use course::Management;
pub use grid::{CONTROLLERS, DetectionError, DetectionRequest, IntervalCounts, Row};
pub use parameters::parameters;
