//! A result against an earlier one: what got better and what got worse.

use std::path::Path;

use super::results::{CheckResult, ControllerResult, SuiteResult};
use crate::stats::{Estimate, paired_difference};

/// A change of the mean by less than this share of the limit is none, however sure it is.
const NOTHING: f64 = 0.01;

/// Which way a check went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The 95 % interval of the paired differences lies on the good side of zero.
    Better,
    /// It lies on the bad side, or a check that was passed is passed no longer.
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
    /// Whether it is passed before and now.
    pub passed: (bool, bool),
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
    /// What one of the two has and the other has not: `case/controller`.
    pub unmatched: Vec<String>,
}

impl Changes {
    /// Whether anything got worse.
    pub fn has_regression(&self) -> bool {
        self.changes.iter().any(|change| change.direction == Direction::Worse)
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
}

impl SuiteResult {
    /// Reads a saved result that can be compared with a run of `suite` over `seeds`.
    ///
    /// # Errors
    /// No such file, another form, another suite, other seeds.
    pub fn read(path: &Path, suite: &str, seeds: &[u64]) -> Result<Self, BaselineError> {
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
        Ok(result)
    }
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
    for case in &now.cases {
        let old = before.cases.iter().find(|old| old.name == case.name);
        for controller in &case.controllers {
            let same = |old: &&ControllerResult| old.name == controller.name;
            let Some(old) = old.and_then(|old| old.controllers.iter().find(same)) else {
                changes.unmatched.push(format!("{}/{}", case.name, controller.name));
                continue;
            };
            for check in &controller.checks {
                let Some(earlier) = old.checks.iter().find(|earlier| earlier.name == check.name) else {
                    continue;
                };
                changes.compared += 1;
                changes.changes.extend(change(&case.name, &controller.name, earlier, check));
            }
        }
    }
    for case in &before.cases {
        let new = now.cases.iter().find(|new| new.name == case.name);
        let gone = |old: &&ControllerResult| {
            new.is_none_or(|new| new.controllers.iter().all(|c| c.name != old.name))
        };
        changes
            .unmatched
            .extend(case.controllers.iter().filter(gone).map(|c| format!("{}/{}", case.name, c.name)));
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
    let direction = match (before.passed, now.passed, shifted) {
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
        passed: (before.passed, now.passed),
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
        };
        let controllers = vec![ControllerResult { name: "gcc".to_owned(), checks: vec![check] }];
        let case = CaseResult { name: "5.1".to_owned(), title: String::new(), controllers };
        SuiteResult { suite: "rfc8867".to_owned(), seeds: vec![1, 2, 3], cases: vec![case] }
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
    }
}
