//! From a scenario file to a run: reading, checking that it makes sense, the network with every shorthand expanded, and
//! what to simulate and to measure.

mod cells;
mod copies;
mod read;
mod run;
mod topology;
mod validate;

pub use read::set;
pub use run::{Run, RunOptions, TraceUse, stand_ins};
