//! What the omniscient sender gets in a case: what laws are measured against, and what nobody can keep to.

use super::check::{Check, Served, is_asked, useful_bytes};
use super::finding::Finding;
use super::results::{CheckResult, ControllerResult, Void};
use crate::omniscient::NAME;
use weir_measure::results::Value;

/// A run of the omniscient sender.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Attempt {
    finding: Finding,
    /// Of each check of the case.
    values: Vec<Value>,
    /// Of each check of the case, whether there is anything to measure, whatever comes of it.
    measurable: Vec<bool>,
}

impl Attempt {
    /// One in which this was found, with the value of each check and whether there is anything to measure.
    pub(super) fn new(finding: Finding, judged: Vec<(Value, bool)>) -> Self {
        let (values, measurable) = judged.into_iter().unzip();
        Self { finding, values, measurable }
    }
}

/// What the omniscient sender gets in a case at the point that serves it best.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Yardstick {
    /// The preset of that point; `None` for the first one.
    preset: Option<&'static str>,
    /// Run by run.
    runs: Vec<Attempt>,
    /// The runs at each other point.
    others: Vec<Vec<Attempt>>,
}

impl Yardstick {
    /// The one of several, each with its preset, with the highest useful rate, mean over the runs; the first of equal ones.
    pub(super) fn best(tried: Vec<(Option<&'static str>, Vec<Attempt>)>) -> Self {
        let useful =
            |runs: &[Attempt]| runs.iter().map(|run| useful_bytes(run.finding.served())).sum::<u64>();
        let mut best = Self { preset: None, runs: Vec::new(), others: Vec::new() };
        for (preset, runs) in tried {
            if best.runs.is_empty() || useful(&runs) > useful(&best.runs) {
                best.preset = preset;
                best.others.push(std::mem::replace(&mut best.runs, runs));
            } else {
                best.others.push(runs);
            }
        }
        best.others.retain(|runs| !runs.is_empty());
        best
    }

    /// What the viewer of each flow got from it in the run of this number.
    pub(super) fn served(&self, run: usize) -> &[Served] {
        self.runs.get(run).map_or(&[], |run| run.finding.served())
    }

    /// What was found in its runs.
    pub(super) fn findings(&self) -> Vec<Finding> {
        self.runs.iter().map(|run| run.finding.clone()).collect()
    }

    /// Run by run, whether `check` is asked for.
    pub(super) fn asks(&self, check: &Check) -> Vec<bool> {
        let asked = |run: &Attempt| !check.quantity.needs_asking() || is_asked(run.finding.served());
        self.runs.iter().map(asked).collect()
    }

    /// How it does itself in the `checks` of the case.
    fn checks(&self, checks: &[Check]) -> Vec<CheckResult> {
        let check = |(index, check)| CheckResult::asked(check, values(&self.runs, index), &self.asks(check));
        checks.iter().enumerate().map(check).collect()
    }

    /// Of `checks` those that count for nobody: of which there is nothing to measure in its own runs, at none of its points, or
    /// that ask for more than physics allows, as it keeps to them at none.
    pub(super) fn void<'c>(&self, checks: &'c [Check]) -> Vec<(&'c str, Void)> {
        let all = || self.others.iter().chain([&self.runs]);
        let why = |index: usize, check: &Check| {
            let is_measurable = all().flatten().any(|run| run.measurable[index]);
            let keeps = |runs: &Vec<Attempt>| CheckResult::new(check, values(runs, index)).passed;
            if !is_measurable {
                Some(Void::NotJudged)
            } else if check.quantity.is_bound_by_physics() && !all().any(keeps) {
                Some(Void::BeyondPhysics)
            } else {
                None
            }
        };
        let named = |(index, check): (usize, &'c Check)| Some((check.name, why(index, check)?));
        checks.iter().enumerate().filter_map(named).collect()
    }

    /// The same as a result.
    pub(super) fn result(&self, checks: &[Check]) -> ControllerResult {
        let void = self.void(checks);
        let checks = self.checks(checks).into_iter().map(|check| check.unless(&void)).collect();
        let point = self.preset.map_or_else(String::new, |preset| format!(" ({preset})"));
        let viewed = self.runs.iter().map(|run| run.finding.viewed()).collect();
        ControllerResult { name: format!("{NAME}{point}"), law: NAME.to_owned(), checks, viewed }
    }
}

/// Run by run, what came of the check of this number.
fn values(runs: &[Attempt], index: usize) -> Vec<Value> {
    runs.iter().map(|run| run.values[index]).collect()
}
