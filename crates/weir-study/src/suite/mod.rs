//! Standard test cases as a verdict: a suite is a list of cases, a case a scenario and the checks that it has to pass.
//!
//! The limits of the checks are those of the suite, for every controller. `docs/suites.md` has the sources of cases and
//! limits, and the form of a suite's file. The saved result of a suite can be the base with which a later version is
//! compared.

mod baseline;
mod cases;
mod check;
mod course;
mod curves;
mod drawn;
mod file;
mod files;
mod finding;
mod judge;
mod moments;
mod omniscient_runs;
mod page;
mod quantity;
mod ranking;
mod result_parts;
mod results;
mod run;
mod suite_runs;
mod trials;
mod variants;

pub use baseline::{CheckChange, CheckChanges, Unlike, compare, compare_saved};
pub use cases::{Case, SUITES, Suite, find};
pub use check::{Check, Limit};
pub use course::RateSeries;
pub use drawn::{DRAWN, USUAL_CASES, drawn, seed_of};
pub use file::study_schema;
pub use files::{MATRIX, RESULT, command_words};
pub use finding::Finding;
pub use moments::Untimely;
pub use page::page;
pub use quantity::{Quantity, quantities};
pub use result_parts::{Less, SweptCase};
pub use results::{CaseResult, CheckResult, ControllerResult, SuiteResult, Viewed, decimals, figure};
pub use run::{SuiteError, SuitePlan, SuiteRequest, SuiteRun};
pub use suite_runs::SuiteRuns;
