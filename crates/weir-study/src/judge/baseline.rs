//! Comparison of judged values with those of an earlier result, for suites and claims.

use weir_form::TextError;
use weir_measure::results::Value;
use weir_measure::results::stats::{Estimate, paired_difference};

use crate::runs::RunError;

/// Smallest share of the limit by which a mean has to change; a smaller change does not count, however sure it is.
const NOTHING: f64 = 0.01;

/// Direction in which a judged value changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The 95 % interval of the paired differences lies on the good side of zero, or fewer runs lack a value.
    Better,
    /// Regression. The interval lies on the bad side, more runs lack a value, or the mean no longer keeps to the
    /// limit. The last holds whether the new verdict is open or not.
    Worse,
}

/// Judged value in a result.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry<'r> {
    /// Whether the mean keeps to the limit, or the claim is met.
    pub(crate) is_met: bool,
    /// Value of each run, in the order of the seeds; empty if the verdict alone is compared.
    pub(crate) values: &'r [Value],
    /// Number of runs that lack a value.
    pub(crate) lacking: usize,
    /// The limit.
    pub(crate) limit: f64,
    /// Whether higher values are better.
    pub(crate) higher_is_better: bool,
}

impl Entry<'_> {
    /// Entry of which the verdict alone is compared.
    pub(crate) const fn of_verdict(is_met: bool) -> Self {
        Self { is_met, values: &[], lacking: 0, limit: 0.0, higher_is_better: true }
    }
}

/// Direction in which a value changed, if it did, and the present value less the earlier one.
pub(crate) fn changed(before: &Entry<'_>, now: &Entry<'_>) -> (Option<Direction>, Option<Estimate>) {
    let difference = difference(before, now);
    let sure = |difference: &Estimate| match difference.half_width {
        // A single run has a difference and no interval, so that any difference counts.
        None => difference.mean != 0.0,
        Some(_) => difference.excludes_zero(),
    };
    let shifted = difference
        .filter(|difference| sure(difference) && difference.mean.abs() >= NOTHING * now.limit.abs())
        .map(|difference| (difference.mean > 0.0) == now.higher_is_better);
    let lack = (before.lacking, now.lacking);
    let verdict = (before.is_met != now.is_met).then_some(now.is_met);
    let lack = (lack.0 != lack.1).then_some(lack.1 < lack.0);
    // Any sign of a regression outweighs signs of an improvement.
    let signs = [verdict, lack, shifted];
    let direction = if signs.contains(&Some(false)) {
        Some(Direction::Worse)
    } else if signs.contains(&Some(true)) {
        Some(Direction::Better)
    } else {
        None
    };
    (direction, difference)
}

/// Present value less the earlier one over the seeds in which both have a value. In the other seeds the check did not
/// apply or had no value.
fn difference(before: &Entry<'_>, now: &Entry<'_>) -> Option<Estimate> {
    let pairs = now.values.iter().zip(before.values);
    let (now, before): (Vec<f64>, Vec<f64>) =
        pairs.filter_map(|(&now, &before)| Some((now?, before?))).unzip();
    paired_difference(&now, &before)
}

/// Reason why two results cannot be compared.
#[derive(Debug, thiserror::Error)]
pub enum BaselineError {
    /// The file cannot be read.
    #[error("{path}: cannot be read: {source}; `--save` writes such a file")]
    Unreadable {
        /// Path of the file.
        path: String,
        /// Error on reading it.
        source: TextError,
    },
    /// The file is no result of a suite.
    #[error("{path}:{line}:{column}: not a saved result of a suite: {problem}; `--save` writes such a file")]
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
    /// The file has no verdicts of claims.
    #[error("{path}: no verdicts of claims: {problem}; give a file that `weir reproduce --json` printed")]
    Claims {
        /// Path of the file.
        path: String,
        /// Reason why it has no verdicts.
        problem: String,
    },
    /// The traces of this run cannot be determined.
    #[error(transparent)]
    Run(#[from] RunError),
}
