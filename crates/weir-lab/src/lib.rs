//! The lab: scenario files, the registry from names to controllers, metrics, comparisons, statistics, reports.

pub mod capture;
pub mod comparison;
pub mod cost;
pub mod demo;
pub mod error;
pub mod fluid;
pub mod metrics;
pub mod panels;
pub mod portrait;
pub mod registry;
pub mod report;
pub mod results;
pub mod scenario;
pub mod shipped;
pub mod stats;
pub mod suite;
pub mod tables;
pub mod traces;
