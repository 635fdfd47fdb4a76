//! Results of a suite, as values that serialise with stable keys. Of a saved file a comparison reads what a
//! [`SavedStudy`](crate::judge::SavedStudy) has.

#[cfg(test)]
mod tests;
mod whole;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::check::Limit;
use super::quantity::Quantity;
use super::result_parts::{Less, SweptCase};
use crate::judge::measured::known;
use crate::judge::{MeasuredPlace, Verdict, as_check, together};
use weir_measure::results::Value;
use weir_measure::results::ranking::Ranking;
use weir_measure::results::spread::spread_in_words;
use weir_measure::results::stats::{Kind, kinds_in_words, mean};
use weir_scenario::compile::TraceUse;

/// A suite under one controller or several, all over the same seeds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SuiteResult {
    /// Name of the suite.
    pub suite: String,
    /// The seeds of the runs.
    pub seeds: Vec<u64>,
    /// Rule by which the media flows skip frames, as [`Scenario::skip_rule`](weir_scenario::scenario::Scenario::skip_rule) has
    /// it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub skip_rule: String,
    /// Cases, in order.
    pub cases: Vec<CaseResult>,
}

/// A case under each controller.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CaseResult {
    /// Name of the case.
    pub name: String,
    /// Title, in a line.
    pub title: String,
    /// Place of the case on a sweep, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub swept: Option<SweptCase>,
    /// Traces of its links.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub traces: Vec<TraceUse>,
    /// The controllers, in the order given.
    pub controllers: Vec<ControllerResult>,
    /// Ranking by the results at the viewers; absent for a single controller.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ranking: Option<Ranking>,
    /// Omniscient sender at the chosen operating point, named with its preset if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub omniscient: Option<ControllerResult>,
}

/// A case under one controller.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ControllerResult {
    /// Name of the controller or variant.
    pub name: String,
    /// Controller of the variant.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub controller: String,
    /// The checks, in the suite's order.
    pub checks: Vec<CheckResult>,
    /// Results at the viewers in each run, in the order of the seeds.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub viewed: Vec<Viewed>,
}

/// Results of a run at its viewers, over the frames captured from 20 s on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Viewed {
    /// Payload of frames that were complete within 150 ms, of all media flows. The unit is bit/s over the time from 20
    /// s on; null if the run has ended by then.
    pub useful_bps: Value,
    /// 95th percentile from capture to the arrival of the last packet, in ms, of the worst media flow; null without a
    /// complete frame.
    pub frame_delay_ms: Value,
    /// Freezes of all media flows over the whole run; absent in results of older versions.
    #[serde(default)]
    pub freezes: Value,
    /// Overhead: bytes that judged flows received besides the payload of their frames, in per cent of that, from 20 s
    /// on. Absent in results of older versions.
    #[serde(default)]
    pub overhead_percent: Value,
    /// Total receive rate of the flows that are not judged, in bit/s over the whole run; null without such flows.
    #[serde(default)]
    pub neighbour_bps: Value,
}

/// Check with its value in each run, and whether their mean keeps to the limit.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CheckResult {
    /// The check's name.
    pub name: String,
    /// Unit of values and limit; empty for a ratio.
    pub unit: String,
    /// Formula of the values; absent for a quantity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of: Option<String>,
    /// The limit.
    pub limit: f64,
    /// Whether higher values are better.
    pub higher_is_better: bool,
    /// Value in each run, in the order of the seeds; null where there was nothing to measure.
    pub values: Vec<Value>,
    /// Mean of the values.
    pub mean: Value,
    /// Half the width of its 95 % confidence interval.
    pub ci95: Value,
    /// Whether the mean keeps to the limit, however sure that is; false without a value.
    pub passed: bool,
    /// Whether the interval of the mean holds the limit.
    pub open: bool,
    /// The two kinds of runs, if there are two.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kinds: Option<[Kind; 2]>,
    /// The least and the largest value, if the values of a rate, a wait or a loss are a spread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spread: Option<[f64; 2]>,
    /// Reason why the check does not count, if so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub void: Option<Verdict>,
    /// Verdict, or the reason why the check does not count.
    #[serde(serialize_with = "as_check")]
    pub verdict: Option<Verdict>,
    /// For a variant, differences of its values from those of the first variant of a controller, by the name of that
    /// variant.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub less: BTreeMap<String, Less>,
}

impl CheckResult {
    pub(super) fn new(check: &super::Check, values: Vec<Value>) -> Self {
        let measured = MeasuredPlace::of(&values);
        // A controller may not leave a run without a value.
        let estimate = measured.estimate().filter(|_| measured.runs == values.len());
        let width = check.quantity().and_then(Quantity::spread_width);
        let result = Self {
            name: check.name.to_string(),
            unit: check.unit.to_string(),
            of: check.formula().map(str::to_owned),
            limit: check.limit.value(),
            higher_is_better: check.limit.higher_is_better(),
            mean: estimate.map(|estimate| estimate.mean),
            ci95: estimate.and_then(|estimate| estimate.half_width),
            passed: estimate.is_some_and(|estimate| check.limit.slack(estimate.mean) >= 0.0),
            open: estimate.is_some_and(|estimate| estimate.leaves_open(check.limit.value())),
            kinds: estimate.and_then(|estimate| estimate.kinds),
            spread: estimate.zip(width).and_then(|(_, width)| width.ends(&known(&values))),
            values,
            void: None,
            verdict: None,
            less: BTreeMap::new(),
        };
        result.judged()
    }

    /// Result over the runs in which the check applies, or one that does not count without such runs; `values` are
    /// those of all runs.
    pub(super) fn applicable(check: &super::Check, values: Vec<Value>, applicable: &[bool]) -> Self {
        let of_applicable =
            values.iter().zip(applicable).filter(|(_, applicable)| **applicable).map(|(&value, _)| value);
        let of_applicable = Self::new(check, of_applicable.collect());
        let void = (!applicable.contains(&true)).then_some(Verdict::NotApplicable);
        Self { values, void, ..of_applicable }.judged()
    }

    /// Copy that does not count, if it is one of the `void` checks, each with the reason.
    pub(super) fn unless(self, void: &[(&str, Verdict)]) -> Self {
        let own = void.iter().find(|(name, _)| *name == self.name).map(|&(_, why)| why);
        Self { void: own.or(self.void), ..self }.judged()
    }

    /// Copy with its verdict in a word.
    fn judged(self) -> Self {
        Self { verdict: Some(self.void.unwrap_or_else(|| self.verdict())), ..self }
    }

    /// Whether the check counts.
    pub const fn counts(&self) -> bool {
        self.void.is_none()
    }

    /// Sign of the verdict, or `·` if the check does not count.
    pub fn mark(&self) -> char {
        self.void.unwrap_or_else(|| self.verdict()).mark()
    }

    /// Verdict on the check.
    pub const fn verdict(&self) -> Verdict {
        match (self.open, self.passed) {
            (true, _) => Verdict::Open,
            (false, true) => Verdict::Passed,
            (false, false) => Verdict::Missed,
        }
    }

    /// Distance by which the mean keeps to the limit, as a share of the limit; negative if it does not.
    fn slack(&self) -> f64 {
        let slack = self.mean.map_or(-1.0, |mean| self.limit().slack(mean));
        if slack.is_nan() { -1.0 } else { slack }
    }

    /// Mean over the limit where more is better, limit over the mean where less is better. At most 1, and 0 without a
    /// mean.
    pub fn margin(&self) -> f64 {
        self.mean.map(|mean| self.limit().margin(mean)).filter(|margin| !margin.is_nan()).unwrap_or(0.0)
    }

    /// Distance of the mean from the limit, in its unit, or `None` without a mean and if it keeps to the limit.
    pub fn points(&self) -> Option<f64> {
        self.mean.filter(|_| !self.passed).map(|mean| (mean - self.limit).abs())
    }

    /// Name and mean, without the interval: `rate 93 %`.
    fn in_short(&self) -> String {
        format!("{} {}", self.name, figure(self.mean, None, self.limit, &self.unit))
    }

    /// Name and mean with its interval, and what these hide of the runs: `rate 93 ± 2 %`.
    pub fn in_words(&self) -> String {
        let figure = figure(self.mean, self.ci95, self.limit, &self.unit);
        format!("{} {figure}{}", self.name, self.hidden_in_words())
    }

    /// Name and mean as in [`Self::in_short`], with the points missed and what the mean hides of the runs:
    /// `loss 2.83 % (0.83 above)`.
    fn with_points(&self) -> String {
        let side = if self.higher_is_better { "below" } else { "above" };
        let decimals = decimals(self.limit);
        let points =
            self.points().map_or_else(String::new, |points| format!(" ({points:.decimals$} {side})"));
        format!("{}{points}{}", self.in_short(), self.hidden_in_words())
    }

    /// Properties of the runs that the mean hides: both kinds, and both ends of a spread.
    fn hidden_in_words(&self) -> String {
        let decimals = decimals(self.limit);
        let kinds = kinds_in_words(self.kinds, decimals).map(|kinds| format!("; two kinds: {kinds}"));
        let spread = spread_in_words(self.spread, decimals).map(|ends| format!("; spread: {ends}"));
        [kinds, spread].into_iter().flatten().collect()
    }

    pub(super) fn limit(&self) -> Limit {
        Limit::new(self.limit, self.higher_is_better)
    }

    /// Limit in words, as in `at least 80 %`.
    pub fn limit_in_words(&self) -> String {
        self.limit().in_words(&self.unit)
    }
}

impl ControllerResult {
    /// Verdict: missed if a check that counts is missed. Else not judged if some check has nothing to measure or none
    /// counts. Else passed if every check that counts is passed, and open if not.
    pub fn verdict(&self) -> Verdict {
        let counting: Vec<Verdict> = self.counting().map(CheckResult::verdict).collect();
        match together(&counting, 1.0) {
            _ if counting.is_empty() => Verdict::NotJudged,
            Verdict::Missed => Verdict::Missed,
            verdict if self.void(Verdict::NotJudged).is_empty() => verdict,
            _ => Verdict::NotJudged,
        }
    }

    /// Names of the checks that do not count for this reason.
    pub fn void(&self, why: Verdict) -> Vec<&str> {
        let void = self.checks.iter().filter(|check| check.void == Some(why));
        void.map(|check| check.name.as_str()).collect()
    }

    /// `not judged`, with the reason.
    fn not_judged_in_words(&self) -> String {
        let void = |why| self.void(why).join(", ");
        let unmeasured = void(Verdict::NotJudged);
        if !unmeasured.is_empty() {
            return format!("not judged: nothing to measure of {unmeasured}");
        }
        let reasons = [
            (Verdict::Unattainable, "beyond physics"),
            (Verdict::NoBoundKnown, "of no known bound"),
            (Verdict::NotApplicable, "not applicable"),
            (Verdict::Shown, "only shown"),
        ];
        let reasons = reasons.map(|(why, words)| (void(why), words)).into_iter();
        let reasons = reasons.filter(|(names, _)| !names.is_empty());
        let reasons: Vec<String> = reasons.map(|(names, words)| format!("{names} {words}")).collect();
        let why = if reasons.is_empty() { String::new() } else { format!(": {}", reasons.join("; ")) };
        format!("not judged{why}")
    }

    /// Checks that count.
    fn counting(&self) -> impl Iterator<Item = &CheckResult> {
        self.checks.iter().filter(|check| check.counts())
    }

    /// Deciding check: of those with the verdict of the case the one that is missed by most, or kept by least.
    pub fn deciding(&self) -> Option<&CheckResult> {
        // Verdicts are ordered from the best to the worst.
        self.counting().min_by(|a, b| b.verdict().cmp(&a.verdict()).then(a.slack().total_cmp(&b.slack())))
    }

    /// Margin of the check with the least, or `None` of a case that is not judged.
    pub fn margin(&self) -> Option<f64> {
        let judged = self.verdict() != Verdict::NotJudged;
        let margins = self.counting().map(CheckResult::margin);
        margins.reduce(f64::min).filter(|_| judged)
    }

    /// Mean overhead over the runs, in per cent of the payload.
    fn overhead(&self) -> Value {
        let known: Vec<f64> = self.viewed.iter().filter_map(|run| run.overhead_percent).collect();
        mean(&known)
    }

    /// Margin, the deciding check, and every other missed check with its points from the limit:
    /// `0.71 useful 50 % (20 below), loss 2.83 % (0.83 above)`. For a case that is not judged, the reason:
    /// `not judged: nothing to measure of useful`.
    pub fn in_words(&self) -> String {
        let judged = self.deciding().zip(self.margin());
        let Some((deciding, margin)) = judged else { return self.not_judged_in_words() };
        let missed = |check: &&CheckResult| !check.passed && check.name != deciding.name;
        let checks = std::iter::once(deciding).chain(self.counting().filter(missed));
        let checks: Vec<String> = checks.map(CheckResult::with_points).collect();
        format!("{margin:.2} {}", checks.join(", "))
    }
}

impl CaseResult {
    /// Name of the case in the suite; for a case of a sweep the swept case.
    pub fn of_suite(&self) -> &str {
        self.swept.as_ref().map_or(&self.name, |swept| &swept.case)
    }
}

/// Value of a check with the half width of its interval, if any, and its unit: `93 ± 2 %`. The decimals suit `limit`; a
/// missing value is a dash.
pub fn figure(value: Value, half_width: Value, limit: f64, unit_name: &str) -> String {
    let decimals = decimals(limit);
    let half = half_width.map_or_else(String::new, |half| format!(" ± {half:.decimals$}"));
    value.map_or_else(|| "–".to_owned(), |value| format!("{value:.decimals$}{half}{}", unit(unit_name)))
}

/// Decimals of a value that suit its limit.
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
