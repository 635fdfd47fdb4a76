//! Judgement of runs, for suites and claims of papers alike.
//!
//! A check or claim takes a value from each run, by a formula or a named quantity, holds it against a limit, and
//! has a [`Verdict`].

pub(crate) mod baseline;
pub(crate) mod error;
pub(crate) mod formula;
mod harvest;
pub(crate) mod measured;
pub(crate) mod paths;
pub(crate) mod saved;
mod verdict;

pub use baseline::Direction;
pub use error::BaselineError;
pub use harvest::Harvest;
pub use measured::MeasuredPlace;
pub use saved::SavedStudy;
pub use verdict::Verdict;
pub(crate) use verdict::{as_check, needed, together};
