//! The lab: scenario files, the registry from names to controllers, metrics, comparisons, statistics, pages.
//!
//! ```
//! use weir_lab::compile::RunOptions;
//! use weir_lab::runs::Task;
//! use weir_lab::scenario::Scenario;
//! use weir_lab::traces::TraceStore;
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     // A scenario that ships, or the path of a file; each value may be another one.
//!     let scenario = Scenario::open("quality/steady", &["duration=10s".to_owned()])?;
//!     let run = RunOptions { controller: Some("nada"), ..RunOptions::new(1) };
//!     let ran = Task::new("steady, nada".to_owned(), &scenario, run).run(&TraceStore::find(&[]))?;
//!     println!("{:?} bit/s of video in time", ran.measured.metrics.flows[0].useful_rate_bps);
//!     assert!(ran.measured.metrics.flows[0].useful_rate_bps > Some(100e3));
//!     Ok(())
//! }
//! ```

pub mod analysis;
pub mod attack;
pub mod capture;
pub mod chart;
pub mod comparison;
pub mod compile;
pub mod detection;
pub mod experiments;
pub mod fluid;
pub mod form;
mod omniscient;
pub mod page;
pub mod paired;
pub mod pairs;
pub mod parquet;
pub mod registry;
#[cfg(test)]
mod rooms;
pub mod runs;
pub mod scenario;
mod shell;
pub mod shipped;
pub mod suite;
pub mod traces;

// Re-exports for crates with their own controllers, in the versions that this crate uses.
pub use weir_measure::{metrics, results};
pub use {schemars, serde, weir_cc};
