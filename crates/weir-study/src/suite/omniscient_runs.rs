//! Results of the omniscient sender in a case. They are the reference for controllers, and show which limits can be met
//! at all.
//!
//! The omniscient sender knows the capacity of the path and sends its share of it, one round trip late (docs/suites.md).
//! Its presets are operating points, which differ in the trade of rate against delay.

use super::cases::Case;
use super::check::{Check, is_applicable, useful_bytes, worst_frame_delay};
use super::finding::Finding;
use super::quantity::Quantity;
use super::results::{CheckResult, ControllerResult};
use crate::judge::Verdict;
use weir_measure::results::Value;
use weir_scenario::omniscient::NAME;

/// Share of the highest useful rate from which on an operating point is as good as the best one in rate, so that the
/// frame delay decides.
const NEAR_BEST: f64 = 0.98;

/// Measurements of one run of the omniscient sender.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct OmniscientRun {
    finding: Finding,
    /// Value of each check of the case.
    values: Vec<Value>,
    /// Whether the value of each check can be measured in this run.
    measurable: Vec<bool>,
}

impl OmniscientRun {
    /// A run with these measurements, and for each check its value and whether it can be measured.
    pub(super) fn new(finding: Finding, checked: Vec<(Value, bool)>) -> Self {
        let (values, measurable) = checked.into_iter().unzip();
        Self { finding, values, measurable }
    }
}

/// Runs of the omniscient sender in a case, at its best operating point and at the others.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct OmniscientRuns {
    /// Preset of that operating point, or `None` for the first one.
    preset: Option<&'static str>,
    /// Runs at the best operating point, in the order of the seeds.
    runs: Vec<OmniscientRun>,
    /// Runs at each other operating point.
    others: Vec<Vec<OmniscientRun>>,
}

impl OmniscientRuns {
    /// The runs of several operating points, each with its preset, of which the best is chosen. It has the least frame
    /// delay of all whose useful rate is within 2 % of the highest; the first of equal ones.
    pub(super) fn best(mut tried: Vec<(Option<&'static str>, Vec<OmniscientRun>)>) -> Self {
        let useful =
            |runs: &[OmniscientRun]| runs.iter().map(|run| useful_bytes(run.finding.served())).sum::<u64>();
        let delay = |runs: &[OmniscientRun]| {
            // A run without a complete frame is worse than any delay.
            let delays = runs.iter().map(|run| worst_frame_delay(run.finding.served()));
            delays.map(|delay| delay.unwrap_or(f64::INFINITY)).sum::<f64>()
        };
        let most = tried.iter().map(|(_, runs)| useful(runs)).max().unwrap_or(0);
        let near = |runs: &[OmniscientRun]| useful(runs) as f64 >= NEAR_BEST * most as f64;
        let best = (0..tried.len())
            .filter(|&place| near(&tried[place].1))
            .min_by(|&a, &b| delay(&tried[a].1).total_cmp(&delay(&tried[b].1)));
        let Some(best) = best else { return Self { preset: None, runs: Vec::new(), others: Vec::new() } };
        let (preset, runs) = tried.remove(best);
        Self { preset, runs, others: tried.into_iter().map(|(_, runs)| runs).collect() }
    }

    /// Measurements of the run of this index at the best operating point.
    pub(super) fn finding(&self, run: usize) -> Option<&Finding> {
        self.runs.get(run).map(|run| &run.finding)
    }

    /// Measurements of all runs at the best operating point.
    pub(super) fn findings(&self) -> Vec<Finding> {
        self.runs.iter().map(|run| run.finding.clone()).collect()
    }

    /// Whether `check` applies to each run.
    pub(super) fn applicability(&self, check: &Check) -> Vec<bool> {
        let applicable =
            |run: &OmniscientRun| !check.is_of(Quantity::Useful) || is_applicable(run.finding.served());
        self.runs.iter().map(applicable).collect()
    }

    /// Results of the omniscient sender in the `checks` of the case.
    fn checks(&self, checks: &[Check]) -> Vec<CheckResult> {
        let check = |(index, check)| {
            CheckResult::applicable(check, values(&self.runs, index), &self.applicability(check))
        };
        checks.iter().enumerate().map(check).collect()
    }

    /// Checks of `case` that do not count, each with the reason: no value to measure at any operating point, a limit that
    /// is missed at all of them, or a rate that is only shown.
    pub(super) fn void<'c>(&self, case: &'c Case) -> Vec<(&'c str, Verdict)> {
        let all = || self.others.iter().chain([&self.runs]);
        let reason = |index: usize, check: &Check| {
            let is_measurable = all().flatten().any(|run| run.measurable[index]);
            // A single operating point that keeps to the limit shows that the limit can be met.
            let keeps = |runs: &Vec<OmniscientRun>| CheckResult::new(check, values(runs, index)).passed;
            if !is_measurable {
                Some(Verdict::NotJudged)
            } else if case
                .shown_beside(check)
                .is_some_and(|useful| !self.applicability(useful).contains(&false))
            {
                Some(Verdict::Shown)
            } else if check.quantity().is_some_and(Quantity::is_bound_by_physics) && !all().any(keeps) {
                Some(if case.bound_known { Verdict::Unattainable } else { Verdict::NoBoundKnown })
            } else {
                None
            }
        };
        let named = |(index, check): (usize, &'c Check)| Some((&*check.name, reason(index, check)?));
        case.checks.iter().enumerate().filter_map(named).collect()
    }

    /// Result of the omniscient sender in the form of a controller's result.
    pub(super) fn result(&self, case: &Case) -> ControllerResult {
        let void = self.void(case);
        let checks = self.checks(&case.checks).into_iter().map(|check| check.unless(&void)).collect();
        let point = self.preset.map_or_else(String::new, |preset| format!(" ({preset})"));
        let viewed = self.runs.iter().map(|run| run.finding.viewed()).collect();
        ControllerResult { name: format!("{NAME}{point}"), controller: NAME.to_owned(), checks, viewed }
    }
}

/// Value of the check of this index, run by run.
fn values(runs: &[OmniscientRun], index: usize) -> Vec<Value> {
    runs.iter().map(|run| run.values[index]).collect()
}
