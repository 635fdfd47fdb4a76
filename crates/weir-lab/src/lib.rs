//! Placeholder

pub mod metrics;
pub mod results;
pub mod stats;
