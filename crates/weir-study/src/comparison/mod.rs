//! A scenario run under several controllers and seeds, and its results: a sentence, tables, a report.

pub mod changes;
pub mod cost;
pub mod decisions;
pub mod demo;
pub mod glossary;
mod outcome;
pub mod panels;
pub mod portrait;
mod request;
pub mod saved;
mod scatter;
pub mod tables;
pub mod two_runs;
mod verdict;
pub mod why;

pub use outcome::{Comparison, ControllerRuns, RecordedFlowCall, RunSample};
pub use request::{Captures, ComparisonError, ComparisonOptions, ComparisonRequest, RecordedRuns};
