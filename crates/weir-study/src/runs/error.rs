//! Why a run cannot be made.

use std::io;
use std::path::PathBuf;

use weir_sim::SpecError;

use super::store::StoreError;
use weir_form::ScenarioError;

/// Why a run cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The scenario makes no network.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// The simulator refuses the run.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// No link of that name exists to capture packets on.
    #[error("there is no link `{link}`; there are {known}")]
    NoLink {
        /// The name.
        link: String,
        /// The names of existing links.
        known: String,
    },
    /// A capture cannot be written.
    #[error("{path}: cannot be written: {source}")]
    Capture {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A world other than the simulator cannot make the run.
    #[error("{run}: {problem}")]
    World {
        /// Name of the run.
        run: String,
        /// The cause.
        problem: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The user ended the runs.
    #[error("interrupted: the runs were ended, and nothing was written")]
    Interrupted,
    /// The series of a run of hours did not fit on the disk, or cannot be read from there.
    #[error("the series of a long run, in a temporary file: {0}")]
    Series(io::Error),
    /// A result cannot be stored.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The threads cannot be started.
    #[error("cannot start {jobs} threads: {problem}")]
    Threads {
        /// Number of requested threads.
        jobs: usize,
        /// The cause.
        problem: String,
    },
}
