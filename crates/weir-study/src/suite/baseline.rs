//! Comparison of a result with an earlier one: regressions and improvements.

mod saved;
#[cfg(test)]
mod tests;

use std::path::Path;

use super::cases::Case;
use super::check::QUEUE_WAIT;
use super::results::{CaseResult, CheckResult, ControllerResult, SuiteResult};
use super::run::{SuiteError, SuiteRequest};
use crate::judge::Verdict;
use weir_form::{MOST_PRINTED, TextError, text_of};
use weir_import::traces::TraceStore;
use weir_measure::results::stats::{Estimate, paired_difference};
use weir_scenario::compile::TraceUse;

pub use saved::compare_saved;

/// Smallest share of the limit by which a mean has to change; a smaller change does not count, however sure it is.
const NOTHING: f64 = 0.01;

/// Name of the run that a base is compared with, unless that is another file.
const THIS_RUN: &str = "this run";

/// Direction in which a check changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The 95 % interval of the paired differences lies on the good side of zero, or fewer runs lack a value.
    Better,
    /// Regression. The interval lies on the bad side, more runs lack a value, or the mean of a check no longer keeps to
    /// the limit. The last holds whether the new verdict is open or not.
    Worse,
}

/// A check that changed.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Name of the case.
    pub case: String,
    /// Name of the controller.
    pub controller: String,
    /// Name of the check.
    pub check: String,
    /// Unit of the check.
    pub unit: String,
    /// Limit of the check.
    pub limit: f64,
    /// The mean before and now.
    pub means: (Option<f64>, Option<f64>),
    /// Present value less the earlier one, over the seeds in which both have a value, or `None` without such seeds.
    pub difference: Option<Estimate>,
    /// Earlier and present verdict.
    pub verdicts: (Verdict, Verdict),
    /// Direction of the change.
    pub direction: Direction,
}

/// All changes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changes {
    /// Changed checks, in the order of the suite.
    pub changes: Vec<Change>,
    /// Number of checks that were compared.
    pub compared: usize,
    /// Entries that were not compared, with the reason. An entry is `case/controller` or `case/controller/check`, or
    /// `case/check` where it concerns every controller.
    pub not_compared: Vec<(String, Unlike)>,
}

/// Reason why a check is not compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unlike {
    /// Check that only one of the two results has.
    OnlyOne,
    /// Check that is excluded for all controllers in one of the two results.
    ForNobody,
    /// Check of a base saved when its name stood for the queuing delay alone, without the wait at the sender.
    OtherQuantity,
}

impl Unlike {
    /// All reasons.
    pub const ALL: [Self; 3] = [Self::OnlyOne, Self::ForNobody, Self::OtherQuantity];

    /// `only one of the two has them`.
    pub const fn in_words(self) -> &'static str {
        match self {
            Self::OnlyOne => "only one of the two has them",
            Self::ForNobody => "in one of the two they count for nobody",
            Self::OtherQuantity => "the base has them without the wait at the sender",
        }
    }
}

impl Changes {
    /// Whether any check got worse.
    pub fn has_regression(&self) -> bool {
        self.changes.iter().any(|change| change.direction == Direction::Worse)
    }

    /// Entries that were not compared for this reason.
    pub fn not_compared_for(&self, reason: Unlike) -> impl Iterator<Item = &str> {
        self.not_compared.iter().filter(move |(_, why)| *why == reason).map(|(name, _)| name.as_str())
    }

    /// Records that `other` lacks this check; if it has no result of the controller in the case, this is recorded once.
    fn lack(&mut self, other: &SuiteResult, case: &str, controller: &str, check: &CheckResult) {
        let name = match other.find(case, controller) {
            None => format!("{case}/{controller}"),
            Some(_) => format!("{case}/{controller}/{}", check.name),
        };
        self.leave_out(name, Unlike::OnlyOne);
    }

    fn leave_out(&mut self, name: String, why: Unlike) {
        let left_out = (name, why);
        if !self.not_compared.contains(&left_out) {
            self.not_compared.push(left_out);
        }
    }
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
    /// The traces of this run cannot be determined.
    #[error(transparent)]
    Run(#[from] SuiteError),
}

impl SuiteResult {
    /// Reads a saved result that can be compared with the result of `request` over the traces of `store`.
    ///
    /// # Errors
    /// No such file, another form, another suite, other seeds, checks or traces, or no check in common.
    pub fn read(path: &Path, request: &SuiteRequest<'_>, store: &TraceStore) -> Result<Self, BaselineError> {
        let (suite, seeds) = (&request.suite.name, request.seeds);
        let name = || path.display().to_string();
        let other = THIS_RUN.to_owned();
        let result = Self::load(path)?;
        if result.suite != *suite {
            let (found, wanted) = (result.suite, suite.clone());
            return Err(BaselineError::OtherSuite { path: name(), found, wanted });
        }
        if result.seeds != seeds {
            let (found, wanted) = (seeds_in_words(&result.seeds), seeds_in_words(seeds));
            return Err(BaselineError::OtherSeeds { path: name(), found, other, wanted });
        }
        if let Some((check, problem)) = result.wrong_check(request) {
            return Err(BaselineError::Check { path: name(), check, problem });
        }
        let selected = request.selected();
        let in_common = |(case, controller, check): (&str, &str, &CheckResult)| {
            let same = |own: &&&Case| own.name == case && own.checks.iter().any(|c| c.name == check.name);
            request.controllers.iter().any(|own| own.name == controller)
                && selected.iter().any(|own| same(&own))
        };
        if !result.checks().any(in_common) {
            let found = result.in_words();
            let now = selected.iter().map(|case| (case.name.as_str(), case.swept.is_some()));
            let remedy = result.remedy(now);
            return Err(BaselineError::NothingInCommon { path: name(), other, found, remedy });
        }
        for (case, traces) in selected.iter().zip(request.traces(store)?) {
            let Some(saved) = result.case(&case.name) else { continue };
            let (found, wanted) = (traces_in_words(&saved.traces), traces_in_words(&traces));
            if found != wanted {
                let case = case.name.clone();
                return Err(BaselineError::OtherTraces { path: name(), case, found, other, wanted });
            }
        }
        Ok(result)
    }

    /// Reads a saved result of any suite.
    ///
    /// # Errors
    /// No such file, or another form.
    pub fn load(path: &Path) -> Result<Self, BaselineError> {
        let name = || path.display().to_string();
        let text = text_of(path, MOST_PRINTED)
            .map_err(|source| BaselineError::Unreadable { path: name(), source })?;
        serde_json::from_str(&text).map_err(|error| BaselineError::Malformed {
            path: name(),
            line: error.line(),
            column: error.column(),
            problem: error.to_string(),
        })
    }

    /// All checks, each with its case and controller.
    fn checks(&self) -> impl Iterator<Item = (&str, &str, &CheckResult)> {
        let own = self.cases.iter().flat_map(|case| case.controllers.iter().map(move |own| (case, own)));
        own.flat_map(|(case, own)| {
            own.checks.iter().map(|check| (case.name.as_str(), own.name.as_str(), check))
        })
    }

    fn case(&self, name: &str) -> Option<&CaseResult> {
        self.cases.iter().find(|own| own.name == name)
    }

    fn find(&self, case: &str, controller: &str) -> Option<&ControllerResult> {
        let case = self.case(case)?;
        case.controllers.iter().find(|own| own.name == controller)
    }

    /// First check that differs from the one of `request`, and a description of the difference.
    fn wrong_check(&self, request: &SuiteRequest<'_>) -> Option<(String, String)> {
        let problem = |case: &str, check: &CheckResult| {
            if let Some(problem) = self.lacks_values(check) {
                return Some(problem);
            }
            let case = request.suite.case(case)?;
            let now = case.checks.iter().find(|now| now.name == check.name)?;
            if (now.limit, now.unit) == (check.limit(), &check.unit) {
                return None;
            }
            let (found, wanted) =
                (check.limit_in_words(), CheckResult::new(now, Vec::new()).limit_in_words());
            Some(format!("was saved with the limit {found}, which is {wanted} now; save it anew"))
        };
        self.checks().find_map(|(case, controller, check)| {
            Some((format!("{case}/{controller}/{}", check.name), problem(case, check)?))
        })
    }

    /// Error if `check` does not have one value for each seed.
    fn lacks_values(&self, check: &CheckResult) -> Option<String> {
        let (values, seeds) = (check.values.len(), self.seeds.len());
        let problem = || format!("has values for {values} runs of {seeds}; `--save` writes one for each");
        (values != seeds).then(problem)
    }

    /// Advice if the file has none of the cases `now`, and one of both results is of a sweep. Each case comes with
    /// whether it is of a sweep.
    fn remedy<'c>(&self, now: impl Iterator<Item = (&'c str, bool)>) -> &'static str {
        let (names, swept): (Vec<&str>, Vec<bool>) = now.unzip();
        let is_of_others = !names.iter().any(|name| self.case(name).is_some());
        if is_of_others && swept.contains(&true) {
            "; save one with the same --sweep"
        } else if is_of_others && self.cases.iter().any(|case| case.swept.is_some()) {
            "; save one without --sweep"
        } else {
            ""
        }
    }

    /// Cases and controllers of the result.
    fn in_words(&self) -> String {
        let cases: Vec<&str> = self.cases.iter().map(|case| case.name.as_str()).collect();
        let controllers: Vec<&str> = self.controllers().collect();
        match cases.as_slice() {
            [] => "no cases".to_owned(),
            cases => format!("{} under {}", cases.join(", "), controllers.join(", ")),
        }
    }
}

fn traces_in_words(traces: &[TraceUse]) -> String {
    let each: Vec<String> = traces.iter().map(|own| format!("`{}` on {}", own.used, own.link)).collect();
    if each.is_empty() { "no traces".to_owned() } else { each.join(", ") }
}

fn seeds_in_words(seeds: &[u64]) -> String {
    match seeds {
        [] => "no seeds".to_owned(),
        [one] => format!("the seed {one}"),
        [first, .., last] => format!("the seeds {first} to {last}"),
    }
}

/// Changes from `before` to `now`, over the same seeds.
pub fn compare(before: &SuiteResult, now: &SuiteResult) -> Changes {
    let mut changes = Changes::default();
    for (case, controller, check) in now.checks() {
        let Some(earlier) = before.find(case, controller).and_then(|old| old.check(&check.name)) else {
            changes.lack(before, case, controller, check);
            continue;
        };
        if let Some(why) = unlike(earlier, check, before.case(case).is_some_and(CaseResult::is_of_old_judge))
        {
            changes.leave_out(format!("{case}/{}", check.name), why);
        } else {
            changes.compared += 1;
            changes.changes.extend(change(case, controller, earlier, check));
        }
    }
    for (case, controller, check) in before.checks() {
        if now.find(case, controller).and_then(|new| new.check(&check.name)).is_none() {
            changes.lack(now, case, controller, check);
        }
    }
    changes
}

/// Reason why two checks of one name cannot be compared. The earlier one `is_old` if it was judged without the
/// omniscient sender.
fn unlike(before: &CheckResult, now: &CheckResult, is_old: bool) -> Option<Unlike> {
    if !(before.counts() && now.counts()) {
        Some(Unlike::ForNobody)
    } else if is_old && now.name == QUEUE_WAIT {
        Some(Unlike::OtherQuantity)
    } else {
        None
    }
}

fn change(case: &str, controller: &str, before: &CheckResult, now: &CheckResult) -> Option<Change> {
    let difference = difference(before, now);
    let sure = |difference: &Estimate| match difference.half_width {
        // A single run has a difference and no interval, so that any difference counts.
        None => difference.mean != 0.0,
        Some(_) => difference.excludes_zero(),
    };
    let shifted = difference
        .filter(|difference| sure(difference) && difference.mean.abs() >= NOTHING * now.limit.abs())
        .map(|difference| (difference.mean > 0.0) == now.higher_is_better);
    let lack = (before.lacking(), now.lacking());
    let verdict = (before.passed != now.passed).then_some(now.passed);
    let lack = (lack.0 != lack.1).then_some(lack.1 < lack.0);
    // Any sign of a regression outweighs signs of an improvement.
    let signs = [verdict, lack, shifted];
    let direction = if signs.contains(&Some(false)) {
        Direction::Worse
    } else if signs.contains(&Some(true)) {
        Direction::Better
    } else {
        return None;
    };
    Some(Change {
        case: case.to_owned(),
        controller: controller.to_owned(),
        check: now.name.clone(),
        unit: now.unit.clone(),
        limit: now.limit,
        means: (before.mean, now.mean),
        difference,
        verdicts: (before.verdict(), now.verdict()),
        direction,
    })
}

/// Present value less the earlier one over the seeds in which both have a value. In the other seeds the check did not
/// apply or had no value.
fn difference(before: &CheckResult, now: &CheckResult) -> Option<Estimate> {
    let pairs = now.values.iter().zip(&before.values);
    let (now, before): (Vec<f64>, Vec<f64>) =
        pairs.filter_map(|(&now, &before)| Some((now?, before?))).unzip();
    paired_difference(&now, &before)
}
