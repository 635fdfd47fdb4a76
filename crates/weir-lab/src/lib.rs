//! The lab: scenario files, the registry from names to controllers, metrics, comparisons, statistics, pages.

pub mod analysis;
pub mod build;
pub mod capture;
pub mod comparison;
pub mod detection;
pub mod experiments;
pub mod fluid;
pub mod form;
mod omniscient;
pub mod page;
pub mod pairs;
pub mod registry;
#[cfg(test)]
mod rooms;
pub mod runs;
pub mod scenario;
pub mod shipped;
pub mod suite;
pub mod traces;

pub use weir_measure::{metrics, results};
