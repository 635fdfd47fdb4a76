//! A result against an earlier one: what got better and what got worse.

use std::path::Path;

use super::cases::Case;
use super::results::{CheckResult, ControllerResult, SuiteResult, Verdict};
use super::run::{SuiteError, SuiteRequest};
use crate::build::TraceUse;
use crate::traces::TraceStore;
use weir_measure::results::stats::{Estimate, paired_difference};

/// A change of the mean by less than this share of the limit is none, however sure it is.
const NOTHING: f64 = 0.01;

/// Which way a check went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The 95 % interval of the paired differences lies on the good side of zero, or more runs have a value.
    Better,
    /// It lies on the bad side, fewer runs have a value, or the mean of a check kept to the limit and does so no longer,
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
    /// Now less before, seed by seed; `None` where a run has no value.
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
    /// What one of the two has and the other has not: `case/controller`, or `case/controller/check`.
    pub unmatched: Vec<String>,
}

impl Changes {
    /// Whether anything got worse.
    pub fn has_regression(&self) -> bool {
        self.changes.iter().any(|change| change.direction == Direction::Worse)
    }

    /// Notes that `other` has no such check; where it has nothing of the controller in the case, once.
    fn lack(&mut self, other: &SuiteResult, case: &str, controller: &str, check: &CheckResult) {
        let name = match other.find(case, controller) {
            None => format!("{case}/{controller}"),
            Some(_) => format!("{case}/{controller}/{}", check.name),
        };
        if !self.unmatched.contains(&name) {
            self.unmatched.push(name);
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
        source: std::io::Error,
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
    #[error("{path}: was saved with {found}, and this run has {wanted}; give the same --runs and --seed")]
    OtherSeeds {
        /// Which file.
        path: String,
        /// Its seeds, in words.
        found: String,
        /// Those of this run, in words.
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
        "{path}: {case} was saved with {found}, and this run has {wanted}; the traces of --data have to be the same"
    )]
    OtherTraces {
        /// Which file.
        path: String,
        /// The case.
        case: String,
        /// Its traces, in words.
        found: String,
        /// Those of this run, in words.
        wanted: String,
    },
    /// There is nothing to compare.
    #[error("{path}: has no check of the cases and controllers of this run; it has {found}")]
    NothingInCommon {
        /// Which file.
        path: String,
        /// What is in it, in words.
        found: String,
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
        let (suite, seeds) = (request.suite.name, request.seeds);
        let name = || path.display().to_string();
        let text = std::fs::read_to_string(path)
            .map_err(|source| BaselineError::Unreadable { path: name(), source })?;
        let result: Self = serde_json::from_str(&text).map_err(|error| BaselineError::Malformed {
            path: name(),
            line: error.line(),
            column: error.column(),
            problem: error.to_string(),
        })?;
        if result.suite != suite {
            let (found, wanted) = (result.suite, suite.to_owned());
            return Err(BaselineError::OtherSuite { path: name(), found, wanted });
        }
        if result.seeds != seeds {
            let (found, wanted) = (seeds_in_words(&result.seeds), seeds_in_words(seeds));
            return Err(BaselineError::OtherSeeds { path: name(), found, wanted });
        }
        if let Some((check, problem)) = result.wrong_check(request) {
            return Err(BaselineError::Check { path: name(), check, problem });
        }
        let selected = request.selected();
        let in_common = |(case, controller, check): (&str, &str, &CheckResult)| {
            let same = |own: &&&Case| own.name == case && own.checks.iter().any(|c| c.name == check.name);
            request.controllers.contains(&controller) && selected.iter().any(|own| same(&own))
        };
        if !result.checks().any(in_common) {
            return Err(BaselineError::NothingInCommon { path: name(), found: result.in_words() });
        }
        for (case, traces) in selected.iter().zip(request.traces(store)?) {
            let Some(saved) = result.cases.iter().find(|saved| saved.name == case.name) else { continue };
            let (found, wanted) = (traces_in_words(&saved.traces), traces_in_words(&traces));
            if found != wanted {
                let case = case.name.to_owned();
                return Err(BaselineError::OtherTraces { path: name(), case, found, wanted });
            }
        }
        Ok(result)
    }

    /// All checks, each with its case and controller.
    fn checks(&self) -> impl Iterator<Item = (&str, &str, &CheckResult)> {
        let own = self.cases.iter().flat_map(|case| case.controllers.iter().map(move |own| (case, own)));
        own.flat_map(|(case, own)| {
            own.checks.iter().map(|check| (case.name.as_str(), own.name.as_str(), check))
        })
    }

    fn find(&self, case: &str, controller: &str) -> Option<&ControllerResult> {
        let case = self.cases.iter().find(|own| own.name == case)?;
        case.controllers.iter().find(|own| own.name == controller)
    }

    /// The first check that was not made as `request` makes it, and what is wrong with it.
    fn wrong_check(&self, request: &SuiteRequest<'_>) -> Option<(String, String)> {
        let problem = |case: &str, check: &CheckResult| {
            let (values, seeds) = (check.values.len(), self.seeds.len());
            if values != seeds {
                return Some(format!(
                    "has values for {values} runs of {seeds}; `--save` writes one for each"
                ));
            }
            let case = request.suite.cases.iter().find(|own| own.name == case)?;
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
        match before.find(case, controller).and_then(|old| old.check(&check.name)) {
            None => changes.lack(before, case, controller, check),
            Some(earlier) => {
                changes.compared += 1;
                changes.changes.extend(change(case, controller, earlier, check));
            }
        }
    }
    for (case, controller, check) in before.checks() {
        if now.find(case, controller).and_then(|new| new.check(&check.name)).is_none() {
            changes.lack(now, case, controller, check);
        }
    }
    changes
}

fn change(case: &str, controller: &str, before: &CheckResult, now: &CheckResult) -> Option<Change> {
    let all = |check: &CheckResult| check.values.iter().copied().collect::<Option<Vec<f64>>>();
    let difference = all(now).zip(all(before)).and_then(|(now, before)| paired_difference(&now, &before));
    let sure = |difference: &Estimate| match difference.half_width {
        // One run says what changed, not how surely.
        None => difference.mean != 0.0,
        Some(_) => difference.excludes_zero(),
    };
    let shifted = difference
        .filter(|difference| sure(difference) && difference.mean.abs() >= NOTHING * now.limit.abs())
        .map(|difference| (difference.mean > 0.0) == now.higher_is_better);
    let values = |check: &CheckResult| check.values.iter().flatten().count();
    let more = (values(now) != values(before)).then(|| values(now) > values(before));
    let direction = match (before.passed, now.passed, shifted.or(more)) {
        (true, false, _) | (_, _, Some(false)) => Direction::Worse,
        (false, true, _) | (_, _, Some(true)) => Direction::Better,
        _ => return None,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite::results::CaseResult;

    fn result(values: &[f64]) -> SuiteResult {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let check = CheckResult {
            name: "rate".to_owned(),
            unit: "%".to_owned(),
            limit: 80.0,
            higher_is_better: true,
            values: values.iter().map(|&v| Some(v)).collect(),
            mean: Some(mean),
            ci95: None,
            passed: mean >= 80.0,
            open: false,
            kinds: None,
            void: None,
        };
        let (name, viewed) = ("gcc".to_owned(), Vec::new());
        let controllers = vec![ControllerResult { name, checks: vec![check], viewed }];
        let case = CaseResult {
            name: "5.1".to_owned(),
            title: String::new(),
            traces: Vec::new(),
            controllers,
            omniscient: None,
        };
        let (suite, skip_rule) = ("rfc8867".to_owned(), String::new());
        SuiteResult { suite, seeds: vec![1, 2, 3], skip_rule, cases: vec![case] }
    }

    fn direction(before: &[f64], now: &[f64]) -> Option<Direction> {
        compare(&result(before), &result(now)).changes.first().map(|change| change.direction)
    }

    #[test]
    fn the_same_runs_are_no_change() {
        assert_eq!(direction(&[90.0, 91.0, 92.0], &[90.0, 91.0, 92.0]), None);
    }

    #[test]
    fn what_all_seeds_agree_on_is_a_change_and_scatter_is_none() {
        // Differences −2, −2.2, −1.8: half width 0.4968, and 2 is more than 1 % of 80.
        assert_eq!(direction(&[90.0, 95.0, 99.0], &[88.0, 92.8, 97.2]), Some(Direction::Worse));
        assert_eq!(direction(&[88.0, 92.8, 97.2], &[90.0, 95.0, 99.0]), Some(Direction::Better));
        assert_eq!(direction(&[90.0, 95.0, 99.0], &[88.0, 99.0, 96.0]), None);
    }

    #[test]
    fn a_sure_change_of_next_to_nothing_is_none() {
        assert_eq!(direction(&[90.0, 95.0, 99.0], &[89.9, 94.9, 98.9]), None);
    }

    #[test]
    fn to_fail_what_was_passed_is_worse_however_little_it_takes() {
        assert_eq!(direction(&[80.1, 80.0, 80.0], &[79.9, 80.0, 80.0]), Some(Direction::Worse));
        assert!(compare(&result(&[80.1; 3]), &result(&[79.9; 3])).has_regression());
    }

    #[test]
    fn what_only_one_has_is_named() {
        let mut other = result(&[90.0; 3]);
        other.cases[0].controllers[0].name = "nada".to_owned();
        let changes = compare(&other, &result(&[90.0; 3]));
        assert_eq!(changes.unmatched, ["5.1/gcc", "5.1/nada"]);
        assert_eq!(changes.compared, 0);
        let mut other = result(&[90.0; 3]);
        other.cases[0].controllers[0].checks[0].name = "speed".to_owned();
        let changes = compare(&other, &result(&[90.0; 3]));
        assert_eq!(changes.unmatched, ["5.1/gcc/rate", "5.1/gcc/speed"]);
    }

    #[test]
    fn to_have_no_value_any_longer_is_worse_though_it_failed_before() {
        let with = |values: [Option<f64>; 3]| {
            let mut result = result(&[70.0; 3]);
            let check = &mut result.cases[0].controllers[0].checks[0];
            check.values = values.to_vec();
            check.mean = None;
            result
        };
        let (most, few) = (with([Some(70.0), None, Some(70.0)]), with([None, None, Some(70.0)]));
        let direction = |before, now| compare(before, now).changes.first().map(|change| change.direction);
        assert_eq!(direction(&most, &few), Some(Direction::Worse));
        assert_eq!(direction(&few, &most), Some(Direction::Better));
        assert_eq!(direction(&few, &few), None);
    }

    /// Why `result`, saved, is no base for gcc and nada in 5.1 over three seeds.
    fn refusal(result: &SuiteResult) -> String {
        let file = tempfile::NamedTempFile::new().unwrap();
        serde_json::to_writer(&file, result).unwrap();
        let suite = crate::suite::find("rfc8867").unwrap();
        let request = SuiteRequest {
            suite,
            controllers: &["gcc", "nada"],
            seeds: &[1, 2, 3],
            jobs: 1,
            cases: &["5.1"],
        };
        let read = SuiteResult::read(file.path(), &request, &TraceStore::at(None));
        let error = read.err().map_or_else(String::new, |error| error.to_string());
        error.replace(&file.path().display().to_string(), "base")
    }

    #[test]
    fn a_base_has_the_checks_of_the_run_for_each_seed() {
        let edited = |edit: fn(&mut CheckResult)| {
            let mut result = result(&[90.0; 3]);
            edit(&mut result.cases[0].controllers[0].checks[0]);
            refusal(&result)
        };
        assert_eq!(edited(|_| {}), "");
        assert_eq!(
            edited(|check| check.values.truncate(2)),
            "base: 5.1/gcc/rate: has values for 2 runs of 3; `--save` writes one for each"
        );
        assert_eq!(
            edited(|check| check.limit = 70.0),
            "base: 5.1/gcc/rate: was saved with the limit at least 70 %, which is at least 80 % now; save it anew"
        );
        assert!(edited(|check| check.higher_is_better = false).contains("at most 80 %"));
        assert!(edited(|check| check.unit.clear()).contains("the limit at least 80, which"));
    }

    #[test]
    fn a_base_has_something_to_compare_with() {
        let none = "base: has no check of the cases and controllers of this run; it has ";
        let mut other = result(&[90.0; 3]);
        other.cases[0].controllers[0].name = "scream".to_owned();
        assert_eq!(refusal(&other), format!("{none}5.1 under scream"));
        other.cases[0].name = "5.2".to_owned();
        other.cases[0].controllers[0].name = "gcc".to_owned();
        assert_eq!(refusal(&other), format!("{none}5.2 under gcc"));
        other.cases[0].controllers[0].checks.clear();
        assert_eq!(refusal(&other), format!("{none}5.2 under gcc"));
        other.cases.clear();
        assert_eq!(refusal(&other), format!("{none}no cases"));
    }

    #[test]
    fn a_base_ran_over_the_same_traces() {
        let mut other = result(&[90.0; 3]);
        let (link, wanted, used) = ("radio".to_owned(), "train".to_owned(), "synthetic-lte".to_owned());
        other.cases[0].traces = vec![TraceUse { link, wanted, used }];
        assert_eq!(
            refusal(&other),
            "base: 5.1 was saved with `synthetic-lte` on radio, and this run has no traces; the traces of --data have to \
             be the same"
        );
    }
}
