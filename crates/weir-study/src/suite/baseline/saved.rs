//! Comparison of two saved results, without a run.

use std::path::Path;

use super::{BaselineError, Changes, compare, seeds_in_words, traces_in_words};
use crate::suite::results::{CheckResult, SuiteResult};

/// Changes from the saved result `before` to the saved result `now`; each comes with the path of its file.
///
/// # Errors
/// The results are of two suites, have other seeds, traces or limits, or have no check in common.
pub fn compare_saved(
    (before_path, before): (&Path, &SuiteResult),
    (now_path, now): (&Path, &SuiteResult),
) -> Result<Changes, BaselineError> {
    let (path, other) = (before_path.display().to_string(), now_path.display().to_string());
    if before.suite != now.suite {
        let (found, wanted) = (before.suite.clone(), now.suite.clone());
        return Err(BaselineError::OtherSuite { path, found, wanted });
    }
    if before.seeds != now.seeds {
        let (found, wanted) = (seeds_in_words(&before.seeds), seeds_in_words(&now.seeds));
        return Err(BaselineError::OtherSeeds { path, found, other, wanted });
    }
    for (path, result) in [(&path, before), (&other, now)] {
        for (case, controller, check) in result.checks() {
            if let Some(problem) = result.lacks_values(check) {
                let check = format!("{case}/{controller}/{}", check.name);
                return Err(BaselineError::Check { path: path.clone(), check, problem });
            }
        }
    }
    for (case, controller, check) in now.checks() {
        let earlier = before.find(case, controller).and_then(|own| own.check(&check.name));
        let (Some(found), wanted) = (earlier.map(CheckResult::limit_in_words), check.limit_in_words()) else {
            continue;
        };
        if found != wanted {
            let check = format!("{case}/{controller}/{}", check.name);
            let problem =
                format!("has the limit {found}, which is {wanted} in {other}; run both with one suite");
            return Err(BaselineError::Check { path, check, problem });
        }
    }
    for own in &now.cases {
        let Some(saved) = before.case(&own.name) else { continue };
        let (found, wanted) = (traces_in_words(&saved.traces), traces_in_words(&own.traces));
        if found != wanted {
            return Err(BaselineError::OtherTraces { path, case: own.name.clone(), found, other, wanted });
        }
    }
    let in_common = |(case, controller, check): (&str, &str, &CheckResult)| {
        before.find(case, controller).is_some_and(|own| own.check(&check.name).is_some())
    };
    if !now.checks().any(in_common) {
        let found = before.in_words();
        let remedy = before.remedy(now.cases.iter().map(|case| (case.name.as_str(), case.swept.is_some())));
        return Err(BaselineError::NothingInCommon { path, other, found, remedy });
    }
    Ok(compare(before, now))
}
