//! From a scenario file to a run: reading, validation, the network with every shorthand expanded, the simulation and the
//! measurement plan.

mod cells;
mod context;
mod copies;
mod couplings;
mod flows;
mod further;
mod links;
mod measuring;
mod omniscient;
mod read;
mod run;
mod topology;
mod trace_use;
mod traffic;
mod validate;

pub use read::set;
pub use run::{Run, RunOptions};
pub use trace_use::names_of_fallbacks;
pub use trace_use::{TraceUse, fallback_notes, titled};
