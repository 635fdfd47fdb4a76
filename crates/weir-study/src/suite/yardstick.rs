//! Results of the omniscient sender in a case, as the reference for controllers and as the bound of what is possible.

use super::cases::Case;
use super::check::{Check, is_asked, useful_bytes, worst_frame_delay};
use super::finding::Finding;
use super::quantity::Quantity;
use super::results::{CheckResult, ControllerResult};
use crate::judge::Verdict;
use weir_measure::results::Value;
use weir_scenario::omniscient::NAME;

/// Part of the highest useful rate from which on the frame delay decides between operating points.
const NEAR: f64 = 0.98;

/// Run of the omniscient sender.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Attempt {
    finding: Finding,
    /// Value of each check of the case.
    values: Vec<Value>,
    /// Whether there is anything to measure, for each check of the case, even without a value.
    measurable: Vec<bool>,
}

impl Attempt {
    /// Run with these measurements, and with the value of each check and whether there is anything to measure.
    pub(super) fn new(finding: Finding, judged: Vec<(Value, bool)>) -> Self {
        let (values, measurable) = judged.into_iter().unzip();
        Self { finding, values, measurable }
    }
}

/// Reference runs: those of the omniscient sender in a case at its best operating point.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Yardstick {
    /// Preset of that operating point, or `None` for the first one.
    preset: Option<&'static str>,
    /// Runs at the best operating point, in the order of the seeds.
    runs: Vec<Attempt>,
    /// Runs at each other operating point.
    others: Vec<Vec<Attempt>>,
}

impl Yardstick {
    /// Best of several operating points, each with its preset. Of those within 2 % of the highest useful rate, mean
    /// over the runs, the least frame delay decides, and the first of equal ones.
    pub(super) fn best(mut tried: Vec<(Option<&'static str>, Vec<Attempt>)>) -> Self {
        let useful =
            |runs: &[Attempt]| runs.iter().map(|run| useful_bytes(run.finding.served())).sum::<u64>();
        let delay = |runs: &[Attempt]| {
            // A run without a complete frame is worse than any delay.
            let delays = runs.iter().map(|run| worst_frame_delay(run.finding.served()));
            delays.map(|delay| delay.unwrap_or(f64::INFINITY)).sum::<f64>()
        };
        let most = tried.iter().map(|(_, runs)| useful(runs)).max().unwrap_or(0);
        let near = |runs: &[Attempt]| useful(runs) as f64 >= NEAR * most as f64;
        let best = (0..tried.len())
            .filter(|&place| near(&tried[place].1))
            .min_by(|&a, &b| delay(&tried[a].1).total_cmp(&delay(&tried[b].1)));
        let Some(best) = best else { return Self { preset: None, runs: Vec::new(), others: Vec::new() } };
        let (preset, runs) = tried.remove(best);
        Self { preset, runs, others: tried.into_iter().map(|(_, runs)| runs).collect() }
    }

    /// Measurements of the run of this index.
    pub(super) fn finding(&self, run: usize) -> Option<&Finding> {
        self.runs.get(run).map(|run| &run.finding)
    }

    /// Measurements of its runs.
    pub(super) fn findings(&self) -> Vec<Finding> {
        self.runs.iter().map(|run| run.finding.clone()).collect()
    }

    /// Whether `check` applies, run by run.
    pub(super) fn asks(&self, check: &Check) -> Vec<bool> {
        let asked = |run: &Attempt| !check.is_of(Quantity::Useful) || is_asked(run.finding.served());
        self.runs.iter().map(asked).collect()
    }

    /// Results of the omniscient sender in the `checks` of the case.
    fn checks(&self, checks: &[Check]) -> Vec<CheckResult> {
        let check = |(index, check)| CheckResult::asked(check, values(&self.runs, index), &self.asks(check));
        checks.iter().enumerate().map(check).collect()
    }

    /// Checks of `case` that do not count. Reasons are: nothing to measure at any operating point, a limit that is
    /// missed at all of them, or a rate that is only shown.
    pub(super) fn void<'c>(&self, case: &'c Case) -> Vec<(&'c str, Verdict)> {
        let all = || self.others.iter().chain([&self.runs]);
        let why = |index: usize, check: &Check| {
            let is_measurable = all().flatten().any(|run| run.measurable[index]);
            // A single operating point that keeps to the limit shows that the limit can be met.
            let keeps = |runs: &Vec<Attempt>| CheckResult::new(check, values(runs, index)).passed;
            if !is_measurable {
                Some(Verdict::NotJudged)
            } else if case.shown_beside(check).is_some_and(|useful| !self.asks(useful).contains(&false)) {
                Some(Verdict::Shown)
            } else if check.quantity().is_some_and(Quantity::is_bound_by_physics) && !all().any(keeps) {
                Some(if case.bound_known { Verdict::BeyondPhysics } else { Verdict::NoBoundKnown })
            } else {
                None
            }
        };
        let named = |(index, check): (usize, &'c Check)| Some((&*check.name, why(index, check)?));
        case.checks.iter().enumerate().filter_map(named).collect()
    }

    /// Result of the omniscient sender, in the form of a controller's.
    pub(super) fn result(&self, case: &Case) -> ControllerResult {
        let void = self.void(case);
        let checks = self.checks(&case.checks).into_iter().map(|check| check.unless(&void)).collect();
        let point = self.preset.map_or_else(String::new, |preset| format!(" ({preset})"));
        let viewed = self.runs.iter().map(|run| run.finding.viewed()).collect();
        ControllerResult { name: format!("{NAME}{point}"), law: NAME.to_owned(), checks, viewed }
    }
}

/// Value of the check of this index, run by run.
fn values(runs: &[Attempt], index: usize) -> Vec<Value> {
    runs.iter().map(|run| run.values[index]).collect()
}
