//! Judgement of runs, for suites and claims of papers alike.

mod verdict;

pub use verdict::Verdict;
pub(crate) use verdict::as_check;
