//! Reasons why two results cannot be compared.

use weir_form::TextError;

use crate::runs::RunError;

/// Reason why two results cannot be compared.
#[derive(Debug, thiserror::Error)]
pub enum BaselineError {
    /// The file cannot be read.
    #[error(
        "{path}: cannot be read: {source}; `weir suite --save` and `weir reproduce --json` write such files"
    )]
    Unreadable {
        /// Path of the file.
        path: String,
        /// Error on reading it.
        source: TextError,
    },
    /// The file is no saved study.
    #[error(
        "{path}:{line}:{column}: no saved study: {problem}; `weir suite --save` and `weir reproduce --json` write such files"
    )]
    Malformed {
        /// Path of the file.
        path: String,
        /// Line of the error.
        line: usize,
        /// Column of the error.
        column: usize,
        /// Description of the error.
        problem: String,
    },
    /// The file lacks a key of saved studies.
    #[error(
        "{path}: no saved study: it lacks `{lacking}`; `weir suite --save` and `weir reproduce --json` write such files"
    )]
    Incomplete {
        /// Path of the file.
        path: String,
        /// The key.
        lacking: &'static str,
    },
    /// The file has claims of papers where the result of a suite is wanted.
    #[error("{path}: has claims of papers, not the result of a suite; `weir suite --save` writes one")]
    ClaimsNotSuite {
        /// Path of the file.
        path: String,
    },
    /// The file has the result of a suite where claims of papers are wanted.
    #[error("{path}: has the result of a suite, not claims of papers; `weir reproduce --json` prints these")]
    SuiteNotClaims {
        /// Path of the file.
        path: String,
    },
    /// The claims are those of rows with other settings.
    #[error("{path}: its rows were changed by `--set`; give a file of the rows as they are")]
    ChangedRows {
        /// Path of the file.
        path: String,
    },
    /// The file is the result of another suite.
    #[error("{path}: is a result of the suite `{found}`, not of `{wanted}`")]
    OtherSuite {
        /// Path of the file.
        path: String,
        /// Suite of the file.
        found: String,
        /// The suite that was run.
        wanted: String,
    },
    /// The file was made with other seeds; only runs of the same seeds can be compared in pairs.
    #[error("{path}: was saved with {found}, and {other} has {wanted}; give the same --runs and --seed")]
    OtherSeeds {
        /// Path of the file.
        path: String,
        /// Seeds of the file, in words.
        found: String,
        /// Name of the other result: `this run`, or another file.
        other: String,
        /// Seeds of the other result, in words.
        wanted: String,
    },
    /// A check of the file differs from that of this run, or lacks values for some seeds.
    #[error("{path}: {check}: {problem}")]
    Check {
        /// Path of the file.
        path: String,
        /// Name of the check: `case/controller/check`.
        check: String,
        /// Description of the error, and of what would be right.
        problem: String,
    },
    /// A case was run over other traces.
    #[error(
        "{path}: {case} was saved with {found}, and {other} has {wanted}; the traces of --data have to be the same"
    )]
    OtherTraces {
        /// Path of the file.
        path: String,
        /// The case.
        case: String,
        /// Traces of the file, in words.
        found: String,
        /// Name of the other result: `this run`, or another file.
        other: String,
        /// Traces of the other result, in words.
        wanted: String,
    },
    /// The two results have no check in common.
    #[error("{path}: has no check of the cases and controllers of {other}; it has {found}{remedy}")]
    NothingInCommon {
        /// Path of the file.
        path: String,
        /// Name of the other result: `this run`, or another file.
        other: String,
        /// Contents of the file, in words.
        found: String,
        /// Advice where one of the two results is of a sweep and therefore has other cases; else empty.
        remedy: &'static str,
    },
    /// The traces of this run cannot be determined.
    #[error(transparent)]
    Run(#[from] RunError),
}
