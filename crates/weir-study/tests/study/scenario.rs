//! Scenarios: their keys, their errors, and the resulting runs.

mod build;
mod cells;
mod errors;
mod files;
mod links;
mod robust;
mod set;
mod testbed;
mod topology;
mod traces;
