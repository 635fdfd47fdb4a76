//! Faults of a file of a recorded call.

use std::io;

/// A fault of a file: the place, and what would be right.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CallImportError {
    /// The file cannot be read.
    #[error("cannot be read: {0}")]
    Io(#[from] io::Error),
    /// The file is of no known form.
    #[error("{0}")]
    UnknownForm(String),
    /// The file is of the form, and broken at this place.
    #[error("{place}: {problem}")]
    Malformed {
        /// Byte, line, record or member.
        place: String,
        /// The fault, and what would be right.
        problem: String,
    },
    /// The file is whole, and lacks something that the import needs.
    #[error("{0}")]
    Lacking(String),
    /// The file has several calls and none was chosen.
    #[error("the file has several calls; choose one by {option}: {choices}")]
    Ambiguous {
        /// The option that chooses.
        option: &'static str,
        /// The calls, with packets and length of each.
        choices: String,
    },
}

impl CallImportError {
    /// The fault `problem` at `place`.
    pub(crate) fn at(place: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::Malformed { place: place.into(), problem: problem.into() }
    }
}

/// A fault of one of two captures, or of the two together.
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
pub struct CapturePairError {
    /// Whether it is of the receiver's capture, or of the two together; else of the sender's.
    pub of_receiver: bool,
    /// The fault.
    pub error: CallImportError,
}

impl CapturePairError {
    pub(crate) const fn of_sender(error: CallImportError) -> Self {
        Self { of_receiver: false, error }
    }

    pub(crate) const fn of_receiver(error: CallImportError) -> Self {
        Self { of_receiver: true, error }
    }
}
