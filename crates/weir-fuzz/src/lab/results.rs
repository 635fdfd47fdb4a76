//! Saved results: bases of suites, results and tables of comparisons, verdicts of claims.

use std::collections::BTreeSet;
use std::path::Path;

use weir_study::comparison::saved::Saved;
use weir_study::experiments::VerdictBaseline;
use weir_study::suite::{SuiteResult, compare_saved};

use super::{refused, text};
use crate::file;

/// Reads any file as each of these kinds.
pub(crate) fn run(data: &[u8]) {
    match file::holding(data, ".json", SuiteResult::load) {
        Ok(result) => base(&result),
        Err(error) => refused(&error),
    }
    match file::holding(data, ".json", VerdictBaseline::read) {
        // Without a request, no earlier verdict counts as lost.
        Ok(verdicts) => assert!(verdicts.lost(|_| false, &[]).is_empty()),
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

/// A base is written and read the same, and has no changes against itself.
fn base(result: &SuiteResult) {
    let written = serde_json::to_string(result).expect("a result is JSON");
    let again: SuiteResult = serde_json::from_str(&written).expect("what was written can be read");
    assert_eq!(again, *result, "{written}");
    let titled = result.titled("title");
    assert!(titled.contains("title"), "{titled}");
    let _notes = (result.notes(), result.fallback_notes());
    let mut names = BTreeSet::new();
    for case in &result.cases {
        for controller in &case.controllers {
            let _verdict = (controller.verdict(), controller.in_words());
            for check in &controller.checks {
                let _words = (check.in_words(), check.limit_in_words(), check.margin(), check.points());
                names.insert((&case.name, &controller.name, &check.name));
            }
        }
    }
    let checks = result.cases.iter().flat_map(|case| &case.controllers).map(|own| own.checks.len());
    let distinct = names.len() == checks.sum::<usize>();
    match compare_saved((Path::new("before"), result), (Path::new("now"), &again)) {
        Ok(changes) if distinct => assert!(changes.changes.is_empty(), "{changes:?}"),
        Ok(_) => {}
        Err(error) => refused(&error),
    }
}

fn table(saved: &Saved) {
    if saved.table.uneven().is_none() {
        let page = saved.page(String::new(), Vec::new());
        assert_eq!(page.summary.rows.len(), saved.table.rows.len());
    }
}
