//! Scenario files and their compilation into runs.

pub mod compile;
pub mod omniscient;
pub mod registry;
pub mod scenario;
pub mod shipped;
