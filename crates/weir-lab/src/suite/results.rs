//! What a suite yields, as values that serialise with stable keys: also the file that is saved as a base.

use serde::{Deserialize, Serialize};

use super::check::Limit;
use crate::results::Value;
use crate::stats::Estimate;

/// A suite under one controller or several, all over the same seeds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SuiteResult {
    /// The suite's name.
    pub suite: String,
    /// The seeds of the runs.
    pub seeds: Vec<u64>,
    /// Its cases, in order.
    pub cases: Vec<CaseResult>,
}

/// A case under each controller.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CaseResult {
    /// The case's name.
    pub name: String,
    /// What it is, in a line.
    pub title: String,
    /// The controllers, in the order given.
    pub controllers: Vec<ControllerResult>,
}

/// A case under one controller.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ControllerResult {
    /// The controller's name.
    pub name: String,
    /// The checks, in the suite's order.
    pub checks: Vec<CheckResult>,
}

/// A check: its value in each run, and whether their mean keeps to the limit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckResult {
    /// The check's name.
    pub name: String,
    /// Unit of values and limit; empty for a ratio.
    pub unit: String,
    /// The limit.
    pub limit: f64,
    /// Whether higher values are better.
    pub higher_is_better: bool,
    /// The value in each run, in the order of the seeds; null where there was nothing to measure.
    pub values: Vec<Value>,
    /// Their mean.
    pub mean: Value,
    /// Half the width of its 95 % confidence interval.
    pub ci95: Value,
    /// Whether the mean keeps to the limit. Without a value it does not.
    pub passed: bool,
}

impl CheckResult {
    pub(super) fn new(check: &super::Check, values: Vec<Value>) -> Self {
        let known: Option<Vec<f64>> = values.iter().copied().collect();
        let estimate = known.as_deref().and_then(Estimate::of);
        Self {
            name: check.name.to_owned(),
            unit: check.unit.to_owned(),
            limit: check.limit.value(),
            higher_is_better: check.limit.higher_is_better(),
            mean: estimate.map(|estimate| estimate.mean),
            ci95: estimate.and_then(|estimate| estimate.half_width),
            passed: estimate.is_some_and(|estimate| check.limit.margin(estimate.mean) >= 0.0),
            values,
        }
    }

    /// By how much the mean keeps to the limit, as a share of the limit; negative if it does not.
    pub fn margin(&self) -> f64 {
        let limit =
            if self.higher_is_better { Limit::AtLeast(self.limit) } else { Limit::AtMost(self.limit) };
        let margin = self.mean.map_or(-1.0, |mean| limit.margin(mean));
        if margin.is_nan() { -1.0 } else { margin }
    }
}

impl ControllerResult {
    /// Whether every check is passed.
    pub fn passed(&self) -> bool {
        self.checks.iter().all(|check| check.passed)
    }

    /// The check that decides: the one that is missed by most, or kept by least.
    pub fn deciding(&self) -> Option<&CheckResult> {
        self.checks.iter().min_by(|a, b| a.margin().total_cmp(&b.margin()))
    }
}

impl SuiteResult {
    /// Names of the controllers.
    pub fn controllers(&self) -> impl Iterator<Item = &str> {
        self.cases.first().into_iter().flat_map(|case| case.controllers.iter().map(|own| own.name.as_str()))
    }

    /// How many cases the controller at `index` passes.
    pub fn passed(&self, index: usize) -> usize {
        self.cases
            .iter()
            .filter(|case| case.controllers.get(index).is_some_and(ControllerResult::passed))
            .count()
    }
}
