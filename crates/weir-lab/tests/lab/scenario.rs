//! Scenarios: their words, their errors, and what they become.

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
