//! How well shared bottleneck detection (RFC 8382) finds which flows share a bottleneck: pairs that do and pairs that do
//! not, over a grid of paths and of traffic of others.
//!
//! Nothing is coupled here. Each flow's statistics are made of the true fates of its packets, as complete per-packet
//! reports would tell them; a detector then judges pairs. It is asked in each interval from 35 s on in which both flows
//! met a queue that was not empty with at least half of their packets.

mod course;
mod grid;

pub use course::{Case, Course, Kind, SECONDS, run};
pub use grid::{APART, Judged, Law, cases, chance, judge, table};
