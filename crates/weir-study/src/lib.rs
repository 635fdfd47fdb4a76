//! Studies over many runs: comparisons, suites, pairs, accuracy of detection, and the claims of papers.
//!
//! ```
//! use weir_scenario::compile::RunOptions;
//! use weir_study::runs::Task;
//! use weir_scenario::scenario::Scenario;
//! use weir_import::traces::TraceStore;
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

pub mod attack;
pub mod comparison;
pub mod detection;
pub mod differences;
pub mod experiments;
pub mod judge;
#[cfg(test)]
mod layers;
pub mod output;
pub mod paired;
pub mod pairs;
pub mod reproduce;
pub mod runs;
mod shell;
pub mod suite;
pub mod sweep;
pub mod testbed;
