//! Comparison of a result with an earlier one: regressions and improvements.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::path::Path;

use super::cases::Case;
use super::check::Limit;
use super::quantity::Quantity;
use super::results::{CaseResult, CheckResult, ControllerResult, SuiteResult};
use super::run::SuiteRequest;
use crate::judge::Verdict;
use crate::judge::baseline::{Direction, changed};
use crate::judge::error::BaselineError;
use crate::judge::saved::{SavedCase, SavedController, SavedStudy, SavedValue};
use weir_import::traces::TraceStore;
use weir_measure::results::stats::Estimate;
use weir_scenario::compile::TraceUse;
use weir_scenario::scenario::Candidate;

/// Name of the run that a base is compared with, unless that is another file.
const THIS_RUN: &str = "this run";

/// A check that changed.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckChange {
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
pub struct CheckChanges {
    /// Changed checks, in the order of the suite.
    pub changes: Vec<CheckChange>,
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
    NotCounted,
    /// Check of a base saved when its name stood for the queuing delay alone, without the wait at the sender.
    OtherQuantity,
}

impl Unlike {
    /// All reasons.
    pub const ALL: [Self; 3] = [Self::OnlyOne, Self::NotCounted, Self::OtherQuantity];

    /// `only one of the two has them`.
    pub const fn in_words(self) -> &'static str {
        match self {
            Self::OnlyOne => "only one of the two has them",
            Self::NotCounted => "they do not count in one of the two",
            Self::OtherQuantity => "the base has them without the wait at the sender",
        }
    }
}

impl CheckChanges {
    /// Whether any check got worse.
    pub fn has_regression(&self) -> bool {
        self.changes.iter().any(|change| change.direction == Direction::Worse)
    }

    /// Entries that were not compared for this reason.
    pub fn not_compared_for(&self, reason: Unlike) -> impl Iterator<Item = &str> {
        self.not_compared.iter().filter(move |(_, why)| *why == reason).map(|(name, _)| name.as_str())
    }

    /// Records that `other` lacks this check; if it has no result of the controller in the case, this is recorded once.
    fn lack(&mut self, other: &SavedStudy, case: &str, controller: &str, check: &SavedValue) {
        let name = match other.controller(case, controller) {
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

impl From<&SuiteResult> for SavedStudy {
    fn from(result: &SuiteResult) -> Self {
        let controller = |own: &ControllerResult| SavedController {
            name: own.name.clone(),
            values: own.checks.iter().map(SavedValue::from).collect(),
        };
        let case = |own: &CaseResult| SavedCase {
            name: own.name.clone(),
            is_swept: own.swept.is_some(),
            traces: own.traces.clone(),
            controllers: own.controllers.iter().map(controller).collect(),
            has_omniscient: own.omniscient.is_some(),
        };
        Self {
            source: THIS_RUN.to_owned(),
            suite: result.suite.clone(),
            seeds: result.seeds.clone(),
            skip_rule: result.skip_rule.clone(),
            cases: result.cases.iter().map(case).collect(),
        }
    }
}

impl From<&CheckResult> for SavedValue {
    fn from(check: &CheckResult) -> Self {
        Self {
            name: check.name.clone(),
            verdict: check.verdict(),
            is_met: check.passed,
            counts: check.counts(),
            runs: check.values.clone(),
            mean: check.mean,
            limit: check.limit,
            higher_is_better: check.higher_is_better,
            unit: check.unit.clone(),
            of: check.of.clone(),
        }
    }
}

impl SuiteRequest<'_> {
    /// Reads a saved result that can be compared with the result of this request over the traces of `store`.
    ///
    /// # Errors
    /// No such file, another form, another suite, other seeds, checks or traces, or no check in common.
    pub fn base(&self, path: &Path, store: &TraceStore) -> Result<SavedStudy, BaselineError> {
        let result = SavedStudy::of_suite(path)?;
        comparable(&result, &self.expected(store)?)?;
        Ok(result)
    }

    /// Result before the runs: checks without values.
    fn expected(&self, store: &TraceStore) -> Result<SavedStudy, BaselineError> {
        let case = |(case, traces): (&Case, Vec<TraceUse>)| {
            let check = |check| SavedValue::from(&CheckResult::new(check, vec![None; self.seeds.len()]));
            let controller = |own: &Candidate| SavedController {
                name: own.name.clone(),
                values: case.checks.iter().map(check).collect(),
            };
            SavedCase {
                name: case.name.clone(),
                is_swept: case.swept.is_some(),
                traces,
                controllers: self.controllers.iter().map(controller).collect(),
                has_omniscient: true,
            }
        };
        let cases = self.selected().into_iter().zip(self.traces(store)?).map(case).collect();
        Ok(SavedStudy {
            source: THIS_RUN.to_owned(),
            suite: self.suite.name.clone(),
            seeds: self.seeds.to_vec(),
            skip_rule: String::new(),
            cases,
        })
    }
}

/// Advice if `before` has none of the cases of `now`, and one of both results is of a sweep.
fn remedy(before: &SavedStudy, now: &SavedStudy) -> &'static str {
    let is_of_others = !now.cases.iter().any(|case| before.case(&case.name).is_some());
    let is_swept = |study: &SavedStudy| study.cases.iter().any(|case| case.is_swept);
    if is_of_others && is_swept(now) {
        "; save one with the same --sweep"
    } else if is_of_others && is_swept(before) {
        "; save one without --sweep"
    } else {
        ""
    }
}

/// Cases and controllers of a result.
fn contents_in_words(study: &SavedStudy) -> String {
    let cases: Vec<&str> = study.cases.iter().map(|case| case.name.as_str()).collect();
    let Some(first) = study.cases.first() else { return "no cases".to_owned() };
    let controllers: Vec<&str> = first.controllers.iter().map(|own| own.name.as_str()).collect();
    format!("{} under {}", cases.join(", "), controllers.join(", "))
}

/// Limit in words, as in `at least 80 %`.
fn limit_in_words(check: &SavedValue) -> String {
    Limit::new(check.limit, check.higher_is_better).in_words(&check.unit)
}

/// Error if the result `before` cannot be compared with `now`.
fn comparable(before: &SavedStudy, now: &SavedStudy) -> Result<(), BaselineError> {
    let (path, other) = (before.source.clone(), now.source.clone());
    if before.suite != now.suite {
        let (found, wanted) = (before.suite.clone(), now.suite.clone());
        return Err(BaselineError::OtherSuite { path, found, wanted });
    }
    if before.seeds != now.seeds {
        let (found, wanted) = (seeds_in_words(&before.seeds), seeds_in_words(&now.seeds));
        return Err(BaselineError::OtherSeeds { path, found, other, wanted });
    }
    let seeds = now.seeds.len();
    for study in [before, now] {
        let mut names = BTreeSet::new();
        for (case, controller, check) in study.values() {
            let runs = check.runs.len();
            let problem = if runs != seeds {
                format!("has values for {runs} runs of {seeds}; `--save` writes one for each")
            } else if names.insert((&case.name, controller, &check.name)) {
                continue;
            } else {
                "stands there twice; leave one of both".to_owned()
            };
            let check = format!("{}/{controller}/{}", case.name, check.name);
            return Err(BaselineError::Check { path: study.source.clone(), check, problem });
        }
    }
    let common = |(case, controller, check): (&SavedCase, &str, &SavedValue)| {
        before.value(&case.name, controller, &check.name).is_some()
    };
    for (case, controller, check) in now.values() {
        let Some(earlier) = before.value(&case.name, controller, &check.name) else { continue };
        if let Some(problem) = other_requirement(earlier, check, &other) {
            let check = format!("{}/{controller}/{}", case.name, check.name);
            return Err(BaselineError::Check { path, check, problem });
        }
    }
    // Without a common check nothing would be compared, and the verdict would say that all is well.
    if !now.values().any(common) {
        let (found, remedy) = (contents_in_words(before), remedy(before, now));
        return Err(BaselineError::NothingInCommon { path, other, found, remedy });
    }
    for own in &now.cases {
        let Some(saved) = before.case(&own.name) else { continue };
        let (found, wanted) = (traces_in_words(&saved.traces), traces_in_words(&own.traces));
        if found != wanted {
            return Err(BaselineError::OtherTraces { path, case: own.name.clone(), found, other, wanted });
        }
    }
    Ok(())
}

/// Difference between the limit or formula of a check in two results of one suite.
fn other_requirement(before: &SavedValue, now: &SavedValue, other: &str) -> Option<String> {
    let (found, wanted) = (limit_in_words(before), limit_in_words(now));
    let (saved, remedy, is_of) = match other {
        THIS_RUN => ("was saved with the", "save it anew", "now".to_owned()),
        other => ("has the", "run both with one suite", format!("in {other}")),
    };
    if found != wanted {
        Some(format!("{saved} limit {found}, which is {wanted} {is_of}; {remedy}"))
    } else if before.of != now.of {
        Some(format!("{saved} formula of another suite; {remedy}"))
    } else {
        None
    }
}

/// Changes from the saved result `before` to the saved result `now`.
///
/// # Errors
/// The results are of two suites, have other seeds, traces or limits, or have no check in common.
pub fn compare_saved(before: &SavedStudy, now: &SavedStudy) -> Result<CheckChanges, BaselineError> {
    comparable(before, now)?;
    Ok(compare(before, now))
}

fn traces_in_words(traces: &[TraceUse]) -> String {
    let each: Vec<String> =
        traces.iter().map(|trace| format!("`{}` on {}", trace.used, trace.link)).collect();
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
pub fn compare(before: &SavedStudy, now: &SavedStudy) -> CheckChanges {
    let mut changes = CheckChanges::default();
    for (SavedCase { name: case, .. }, controller, check) in now.values() {
        let Some(earlier) = before.value(case, controller, &check.name) else {
            changes.lack(before, case, controller, check);
            continue;
        };
        if let Some(why) = unlike(earlier, check, before.case(case).is_some_and(|case| !case.has_omniscient))
        {
            changes.leave_out(format!("{case}/{}", check.name), why);
        } else {
            changes.compared += 1;
            changes.changes.extend(change(case, controller, earlier, check));
        }
    }
    for (SavedCase { name: case, .. }, controller, check) in before.values() {
        if now.value(case, controller, &check.name).is_none() {
            changes.lack(now, case, controller, check);
        }
    }
    changes
}

/// Reason why two checks of one name cannot be compared. The earlier one `is_old` if it was judged without the
/// omniscient sender, by a version in which no check had the wait at the sender.
fn unlike(before: &SavedValue, now: &SavedValue, is_old: bool) -> Option<Unlike> {
    if !(before.counts && now.counts) {
        Some(Unlike::NotCounted)
    } else if is_old && now.name == Quantity::QueueWait.name() {
        Some(Unlike::OtherQuantity)
    } else {
        None
    }
}

fn change(case: &str, controller: &str, before: &SavedValue, now: &SavedValue) -> Option<CheckChange> {
    let (direction, difference) = changed(before, now);
    Some(CheckChange {
        case: case.to_owned(),
        controller: controller.to_owned(),
        check: now.name.clone(),
        unit: now.unit.clone(),
        limit: now.limit,
        means: (before.mean, now.mean),
        difference,
        verdicts: (before.verdict, now.verdict),
        direction: direction?,
    })
}
