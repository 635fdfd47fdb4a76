//! Saved results: bases of suites, results and tables of comparisons, verdicts of claims.

use weir_study::comparison::saved::Saved;
use weir_study::experiments::lost;
use weir_study::judge::SavedStudy;
use weir_study::suite::compare_saved;

use super::{refused, text};
use crate::file;

/// Reads any file as each of these kinds.
pub(crate) fn run(data: &[u8]) {
    match file::holding(data, ".json", SavedStudy::of_suite) {
        Ok(result) => base(&result),
        Err(error) => refused(&error),
    }
    match file::holding(data, ".json", SavedStudy::of_claims) {
        // Without a request, no earlier verdict counts as lost.
        Ok(verdicts) => assert!(lost(&verdicts, |_| false, &[]).is_empty()),
        Err(error) => refused(&error),
    }
    let Some(text) = text(data) else { return };
    match Saved::from_results(text) {
        Ok(saved) => table(&saved),
        Err(error) => refused(&error),
    }
    match serde_json::from_str::<Saved>(text) {
        Ok(saved) => {
            table(&saved);
            let written = serde_json::to_string(&saved).expect("a table is JSON");
            assert_eq!(serde_json::from_str::<Saved>(&written).ok().as_ref(), Some(&saved), "{written}");
        }
        Err(error) => refused(&error),
    }
}

/// A base has no changes against itself.
fn base(result: &SavedStudy) {
    match compare_saved(result, result) {
        Ok(changes) => assert!(changes.changes.is_empty(), "{changes:?}"),
        Err(error) => refused(&error),
    }
}

fn table(saved: &Saved) {
    if saved.table.uneven().is_none() {
        let page = saved.page(String::new(), Vec::new());
        assert_eq!(page.summary.rows.len(), saved.table.rows.len());
    }
}
