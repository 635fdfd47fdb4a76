//! Failures of writing.

use std::io;
use std::path::PathBuf;

/// Why an output cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// A directory cannot be written; found before anything was run.
    #[error("{path}: cannot be written: {source}")]
    Directory {
        /// Path of the directory.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A file cannot be written; found before anything was run.
    #[error("{path}: cannot be written: {source}")]
    File {
        /// Path of the file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A file cannot be written, after everything was run.
    #[error("{path}: cannot be written: {source}")]
    Write {
        /// Path of the file or directory.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The process cannot become one of the user who called.
    #[error("the rights of root cannot be dropped: {0}")]
    Rights(io::Error),
}
