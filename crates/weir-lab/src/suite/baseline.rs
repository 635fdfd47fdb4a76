//! A result against an earlier one: what got better and what got worse.

mod saved;
#[cfg(test)]
mod tests;

use std::path::Path;

use super::cases::Case;
use super::check::QUEUE_WAIT;
use super::results::{CaseResult, CheckResult, ControllerResult, SuiteResult, Verdict};
use super::run::{SuiteError, SuiteRequest};
use crate::compile::TraceUse;
use crate::form::{MOST_PRINTED, TextError, text_of};
use crate::traces::TraceStore;
use weir_measure::results::stats::{Estimate, paired_difference};

pub use saved::compare_saved;

/// A change of the mean by less than this share of the limit is none, however sure it is.
const NOTHING: f64 = 0.01;

/// With what a base is compared unless it is another file.
const THIS_RUN: &str = "this run";

/// Which way a check went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The 95 % interval of the paired differences lies on the good side of zero, or fewer runs lack a value.
    Better,
    /// It lies on the bad side, more runs lack a value, or the mean of a check kept to the limit and does so no longer,
    /// be it open or not.
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
    /// Its unit.
    pub unit: String,
    /// Its limit.
    pub limit: f64,
    /// The mean before and now.
    pub means: (Option<f64>, Option<f64>),
    /// Now less before, seed by seed, of the seeds in which both have a value; `None` without any.
    pub difference: Option<Estimate>,
    /// What came of it before and now.
    pub verdicts: (Verdict, Verdict),
    /// Which way it went.
    pub direction: Direction,
}

/// All changes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changes {
    /// What changed, in the order of the suite.
    pub changes: Vec<Change>,
    /// How many checks were compared.
    pub compared: usize,
    /// What was not, and why: as `case/controller` or `case/controller/check`; as `case/check` what no controller is.
    pub not_compared: Vec<(String, Unlike)>,
}

/// Why a check is not compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unlike {
    /// Only one of the two has it.
    OnlyOne,
    /// It counts for nobody in one of the two.
    ForNobody,
    /// The base was saved when its name stood for the wait in queues alone, without that at the sender.
    OtherQuantity,
}

impl Unlike {
    /// All of them.
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
    /// Whether anything got worse.
    pub fn has_regression(&self) -> bool {
        self.changes.iter().any(|change| change.direction == Direction::Worse)
    }

    /// What was not compared for this reason.
    pub fn not_compared_for(&self, reason: Unlike) -> impl Iterator<Item = &str> {
        self.not_compared.iter().filter(move |(_, why)| *why == reason).map(|(name, _)| name.as_str())
    }

    /// Notes that `other` has no such check; where it has nothing of the controller in the case, once.
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

/// Why two results cannot be compared.
#[derive(Debug, thiserror::Error)]
pub enum BaselineError {
    /// The file cannot be read.
    #[error("{path}: cannot be read: {source}; `--save` writes such a file")]
    Unreadable {
        /// Which file.
        path: String,
        /// Why.
        source: TextError,
    },
    /// The file is no result of a suite.
    #[error("{path}:{line}:{column}: not a saved result of a suite: {problem}; `--save` writes such a file")]
    Malformed {
        /// Which file.
        path: String,
        /// Where in it.
        line: usize,
        /// Where in the line.
        column: usize,
        /// What is wrong.
        problem: String,
    },
    /// It is the result of another suite.
    #[error("{path}: is a result of the suite `{found}`, not of `{wanted}`")]
    OtherSuite {
        /// Which file.
        path: String,
        /// The suite in it.
        found: String,
        /// The suite that was run.
        wanted: String,
    },
    /// It was made with other seeds: runs can be compared in pairs only.
    #[error("{path}: was saved with {found}, and {other} has {wanted}; give the same --runs and --seed")]
    OtherSeeds {
        /// Which file.
        path: String,
        /// Its seeds, in words.
        found: String,
        /// With what it is compared: `this run`, or another file.
        other: String,
        /// The seeds of that, in words.
        wanted: String,
    },
    /// A check is not the one of this run, or not that of all seeds.
    #[error("{path}: {check}: {problem}")]
    Check {
        /// Which file.
        path: String,
        /// Which: `case/controller/check`.
        check: String,
        /// What is wrong, and what would be right.
        problem: String,
    },
    /// A case was run over other traces.
    #[error(
        "{path}: {case} was saved with {found}, and {other} has {wanted}; the traces of --data have to be the same"
    )]
    OtherTraces {
        /// Which file.
        path: String,
        /// The case.
        case: String,
        /// Its traces, in words.
        found: String,
        /// With what it is compared: `this run`, or another file.
        other: String,
        /// The traces of that, in words.
        wanted: String,
    },
    /// There is nothing to compare.
    #[error("{path}: has no check of the cases and controllers of {other}; it has {found}{remedy}")]
    NothingInCommon {
        /// Which file.
        path: String,
        /// With what it is compared: `this run`, or another file.
        other: String,
        /// What is in it, in words.
        found: String,
        /// What to do, where one of the two is of a sweep and has other cases for that; else empty.
        remedy: &'static str,
    },
    /// The traces of this run cannot be told.
    #[error(transparent)]
    Run(#[from] SuiteError),
}

impl SuiteResult {
    /// Reads a saved result that can be compared with what `request` yields over the traces of `store`.
    ///
    /// # Errors
    /// No such file, another form, another suite, other seeds, checks or traces, or nothing that both have.
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

    /// Reads a saved result, whatever it is of.
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

    /// The first check that was not made as `request` makes it, and what is wrong with it.
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

    /// That `check` has not one value for each seed.
    fn lacks_values(&self, check: &CheckResult) -> Option<String> {
        let (values, seeds) = (check.values.len(), self.seeds.len());
        let problem = || format!("has values for {values} runs of {seeds}; `--save` writes one for each");
        (values != seeds).then(problem)
    }

    /// What to do where it has none of the cases `now`, each with whether it is one of a sweep, as one of both is of a sweep.
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

    /// Its cases and controllers.
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

/// What changed from `before` to `now`, over the same seeds.
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

/// Why two checks of one name cannot be compared; whether the earlier one `is_old`, of a judge without yardstick.
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
        // One run says what changed, not how surely.
        None => difference.mean != 0.0,
        Some(_) => difference.excludes_zero(),
    };
    let shifted = difference
        .filter(|difference| sure(difference) && difference.mean.abs() >= NOTHING * now.limit.abs())
        .map(|difference| (difference.mean > 0.0) == now.higher_is_better);
    let lack = (before.lacking(), now.lacking());
    let verdict = (before.passed != now.passed).then_some(now.passed);
    let lack = (lack.0 != lack.1).then_some(lack.1 < lack.0);
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

/// Now less before over the seeds in which both have a value: in others one of them was not asked, or had none.
fn difference(before: &CheckResult, now: &CheckResult) -> Option<Estimate> {
    let pairs = now.values.iter().zip(&before.values);
    let (now, before): (Vec<f64>, Vec<f64>) =
        pairs.filter_map(|(&now, &before)| Some((now?, before?))).unzip();
    paired_difference(&now, &before)
}
