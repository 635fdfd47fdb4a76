//! Comparison of a result with an earlier one: regressions and improvements.

#[cfg(test)]
mod tests;

use std::path::Path;

use super::cases::Case;
use super::quantity::Quantity;
use super::results::{CaseResult, CheckResult, ControllerResult, SuiteResult};
use super::run::SuiteRequest;
use crate::judge::Verdict;
use crate::judge::baseline::{BaselineError, Direction, Entry, changed};
use weir_form::{MOST_PRINTED, text_of};
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

impl SuiteResult {
    /// Reads a saved result that can be compared with the result of `request` over the traces of `store`.
    ///
    /// # Errors
    /// No such file, another form, another suite, other seeds, checks or traces, or no check in common.
    pub fn read(path: &Path, request: &SuiteRequest<'_>, store: &TraceStore) -> Result<Self, BaselineError> {
        let result = Self::load(path)?;
        comparable((&path.display().to_string(), &result), (THIS_RUN, &Self::expected(request, store)?))?;
        Ok(result)
    }

    /// Result of `request` before its runs: checks without values.
    fn expected(request: &SuiteRequest<'_>, store: &TraceStore) -> Result<Self, BaselineError> {
        let seeds = request.seeds.to_vec();
        let case = |(case, traces): (&Case, Vec<TraceUse>)| {
            let check = |check| CheckResult::new(check, vec![None; seeds.len()]);
            let controller = |own: &Candidate| ControllerResult {
                name: own.name.clone(),
                law: String::new(),
                checks: case.checks.iter().map(check).collect(),
                viewed: Vec::new(),
            };
            CaseResult {
                name: case.name.clone(),
                title: String::new(),
                swept: case.swept.clone(),
                traces,
                controllers: request.controllers.iter().map(controller).collect(),
                ranking: None,
                omniscient: None,
            }
        };
        let cases = request.selected().into_iter().zip(request.traces(store)?).map(case).collect();
        Ok(Self { suite: request.suite.name.clone(), seeds: seeds.clone(), skip_rule: String::new(), cases })
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
        let own = self
            .cases
            .iter()
            .flat_map(|case| case.controllers.iter().map(move |controller| (case, controller)));
        own.flat_map(|(case, own)| {
            own.checks.iter().map(|check| (case.name.as_str(), own.name.as_str(), check))
        })
    }

    fn case(&self, name: &str) -> Option<&CaseResult> {
        self.cases.iter().find(|case| case.name == name)
    }

    fn find(&self, case: &str, controller: &str) -> Option<&ControllerResult> {
        let case = self.case(case)?;
        case.controllers.iter().find(|own| own.name == controller)
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

/// Error if the result `before` cannot be compared with `now`; each comes with its name.
fn comparable(
    (path, before): (&str, &SuiteResult),
    (other, now): (&str, &SuiteResult),
) -> Result<(), BaselineError> {
    let (path, other) = (path.to_owned(), other.to_owned());
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
        let Some(earlier) = before.find(case, controller).and_then(|own| own.check(&check.name)) else {
            continue;
        };
        if let Some(problem) = other_requirement(earlier, check, &other) {
            let check = format!("{case}/{controller}/{}", check.name);
            return Err(BaselineError::Check { path, check, problem });
        }
    }
    // Without a common check nothing would be compared, and the verdict would say that all is well.
    let in_common = |(case, controller, check): (&str, &str, &CheckResult)| {
        before.find(case, controller).is_some_and(|own| own.check(&check.name).is_some())
    };
    if !now.checks().any(in_common) {
        let found = before.in_words();
        let remedy = before.remedy(now.cases.iter().map(|case| (case.name.as_str(), case.swept.is_some())));
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
fn other_requirement(before: &CheckResult, now: &CheckResult, other: &str) -> Option<String> {
    let (found, wanted) = (before.limit_in_words(), now.limit_in_words());
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

/// Changes from the saved result `before` to the saved result `now`; each comes with the path of its file.
///
/// # Errors
/// The results are of two suites, have other seeds, traces or limits, or have no check in common.
pub fn compare_saved(
    (before_path, before): (&Path, &SuiteResult),
    (now_path, now): (&Path, &SuiteResult),
) -> Result<CheckChanges, BaselineError> {
    let paths = [before_path, now_path].map(|path| path.display().to_string());
    comparable((&paths[0], before), (&paths[1], now))?;
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
pub fn compare(before: &SuiteResult, now: &SuiteResult) -> CheckChanges {
    let mut changes = CheckChanges::default();
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
    } else if is_old && now.name == Quantity::QueueWait.name() {
        Some(Unlike::OtherQuantity)
    } else {
        None
    }
}

fn change(case: &str, controller: &str, before: &CheckResult, now: &CheckResult) -> Option<CheckChange> {
    let (direction, difference) = changed(&entry(before), &entry(now));
    Some(CheckChange {
        case: case.to_owned(),
        controller: controller.to_owned(),
        check: now.name.clone(),
        unit: now.unit.clone(),
        limit: now.limit,
        means: (before.mean, now.mean),
        difference,
        verdicts: (before.verdict(), now.verdict()),
        direction: direction?,
    })
}

fn entry(check: &CheckResult) -> Entry<'_> {
    Entry {
        is_met: check.passed,
        values: &check.values,
        lacking: check.lacking(),
        limit: check.limit,
        higher_is_better: check.higher_is_better,
    }
}
