//! What a suite yields, as values that serialise with stable keys: also the file that is saved as a base.

use serde::{Deserialize, Serialize};

use super::check::Limit;
use crate::build::{TraceUse, stand_ins};
use weir_measure::results::Value;
use weir_measure::results::stats::Estimate;

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
    /// The traces that its links follow.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub traces: Vec<TraceUse>,
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
        let margin = self.mean.map_or(-1.0, |mean| self.limit().margin(mean));
        if margin.is_nan() { -1.0 } else { margin }
    }

    pub(super) fn limit(&self) -> Limit {
        if self.higher_is_better { Limit::AtLeast(self.limit) } else { Limit::AtMost(self.limit) }
    }

    /// `at least 80 %`.
    pub(super) fn limit_in_words(&self) -> String {
        let sense = if self.higher_is_better { "at least" } else { "at most" };
        format!("{sense} {}{}", self.limit, unit(&self.unit))
    }
}

impl ControllerResult {
    pub(super) fn check(&self, name: &str) -> Option<&CheckResult> {
        self.checks.iter().find(|check| check.name == name)
    }

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

    /// A sentence for each trace that another stood in for.
    pub fn stand_ins(&self) -> Vec<String> {
        stand_ins(self.cases.iter().flat_map(|case| &case.traces))
    }

    /// How many cases the controller at `index` passes.
    pub fn passed(&self, index: usize) -> usize {
        self.cases
            .iter()
            .filter(|case| case.controllers.get(index).is_some_and(ControllerResult::passed))
            .count()
    }
}

/// A value of a check with the given half width of its interval, if there is one, and unit: `93 ± 2 %`. Its decimals say
/// enough beside `limit`; where there is no value, a dash.
pub fn figure(value: Value, half_width: Value, limit: f64, unit_name: &str) -> String {
    let decimals = decimals(limit);
    let half = half_width.map_or_else(String::new, |half| format!(" ± {half:.decimals$}"));
    value.map_or_else(|| "–".to_owned(), |value| format!("{value:.decimals$}{half}{}", unit(unit_name)))
}

/// Decimals that say enough about a value beside its limit.
pub fn decimals(limit: f64) -> usize {
    match limit {
        limit if limit < 5.0 => 2,
        limit if limit < 20.0 => 1,
        _ => 0,
    }
}

fn unit(unit: &str) -> String {
    if unit.is_empty() { String::new() } else { format!(" {unit}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_has_the_decimals_that_its_limit_asks_for() {
        assert_eq!(figure(Some(92.6), Some(2.4), 80.0, "%"), "93 ± 2 %");
        assert_eq!(figure(Some(7.25), None, 15.0, "s"), "7.2 s");
        assert_eq!(figure(Some(0.9), Some(0.125), 0.75, ""), "0.90 ± 0.12");
        assert_eq!(figure(None, None, 80.0, "%"), "–");
    }
}
