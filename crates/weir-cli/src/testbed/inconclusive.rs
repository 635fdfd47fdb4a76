//! Runs that were inconclusive twice: they count in no result, and are listed with their reasons.

use weir_study::testbed::LiveRun;

/// The verdict where no run is conclusive.
pub(super) const NOTHING: &str = "No run was conclusive, so there is no result.";

/// Whether the run was inconclusive in its repetition, too.
pub(crate) fn is_final(run: &LiveRun) -> bool {
    run.repeated && !run.inconclusive.is_empty()
}

/// A sentence for each such run.
pub(crate) fn notes(runs: &[LiveRun]) -> Vec<String> {
    let note = |run: &LiveRun| {
        let reasons = run.inconclusive.join(", and ");
        format!("The run {} was inconclusive twice and counts in no result: {reasons}.", run.run)
    };
    runs.iter().filter(|run| is_final(run)).map(note).collect()
}
