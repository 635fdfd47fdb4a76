//! Errors of trace files, with their places.

use weir_net::TraceError;
use weir_units::TimeDelta;

/// Greatest number of bins of rates, and of rates in a file.
pub(super) const MAX_BINS: u64 = 10_000_000;

/// Error of a file that is no valid trace of its format, with the place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FormError {
    /// Mahimahi's form.
    #[error(transparent)]
    Opportunities(#[from] TraceError),
    /// A text.
    #[error("line {line}, column {column}: {problem}")]
    Rates {
        /// Line, counted from 1.
        line: usize,
        /// Column, counted from 1.
        column: usize,
        /// The problem, and a valid alternative.
        problem: String,
    },
    /// JSON whose values are wrong.
    #[error("entry {number} of `{list}`: {problem}")]
    Entry {
        /// Name of the array.
        list: &'static str,
        /// Number of the entry, counted from 1.
        number: usize,
        /// The problem, and a valid alternative.
        problem: String,
    },
    /// A capture of packets.
    #[error("packet {number}: {problem}")]
    Packet {
        /// Number of the packet, counted from 1.
        number: u64,
        /// The problem, and a valid alternative.
        problem: String,
    },
    /// The whole of it.
    #[error("{problem}")]
    Whole {
        /// The problem, and a valid alternative.
        problem: String,
    },
    /// The file can be read in several ways, and an option has to choose one.
    #[error("{problem}")]
    Undecided {
        /// The open choice.
        problem: String,
        /// The option that decides it.
        remedy: String,
    },
}

impl FormError {
    /// The option that decides it, or the expected format of the text.
    pub fn form(&self) -> String {
        let form = match self {
            Self::Opportunities(_) => {
                "one line per delivery opportunity: its time in whole milliseconds, never falling; the name of a table ends in .csv"
            }
            Self::Rates { .. } | Self::Entry { .. } => {
                "times from which rates hold, increasing; after a last rate of 0 the trace ends, after another one as long as \
                 the one before lasted"
            }
            Self::Packet { .. } => "pcap or pcapng, whole",
            Self::Whole { .. } => "see docs/files.md, Your own trace",
            Self::Undecided { remedy, .. } => remedy,
        };
        form.to_owned()
    }

    /// A problem of the whole file.
    pub(super) fn whole(problem: impl Into<String>) -> Self {
        Self::Whole { problem: problem.into() }
    }

    /// A choice between readings that is left to an option.
    pub(super) fn undecided(problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::Undecided { problem: problem.into(), remedy: remedy.into() }
    }
}

/// Reasons for which a trace has no rates in bins of a given length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BinError {
    /// A bin is not a number of whole milliseconds.
    #[error("a bin must be a whole number of milliseconds, 1 ms at least")]
    Length,
    /// There would be too many bins.
    #[error(
        "a trace of {duration} has {bins} bins of this length, and {MAX_BINS} is the most; take longer ones"
    )]
    TooMany {
        /// Duration of the trace.
        duration: TimeDelta,
        /// Number of bins.
        bins: u64,
    },
}
