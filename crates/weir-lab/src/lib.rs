//! The lab: scenario files, the registry from names to controllers, metrics, comparisons, statistics, pages.

pub mod build;
pub mod capture;
pub mod comparison;
pub mod detection;
pub mod experiments;
pub mod fluid;
pub mod form;
pub mod metrics;
pub mod page;
pub mod pairs;
pub mod registry;
pub mod results;
#[cfg(test)]
mod rooms;
pub mod runs;
pub mod scenario;
pub mod shipped;
pub mod suite;
pub mod traces;
