//! Sweeps of a scenario over values of its own keys: their plan, and the files of their results.

mod files;
mod planned;

pub use files::{REPORT, RESULTS, json};
pub use planned::PlannedSweep;
