//! The runs of a suite with all of their metrics.

use super::cases::Suite;
use super::finding::Finding;
use super::trials::SeedTrial;
use crate::runs::{TableRun, axis_value};
use weir_form::Varied;
use weir_measure::results::RunMetrics;

/// Metrics of the controllers' runs: case by case, controller by controller, seed by seed.
#[derive(Clone, Debug, Default)]
pub struct SuiteRuns(Vec<SuiteTableRun>);

/// A run of a controller in a case.
#[derive(Clone, Debug)]
struct SuiteTableRun {
    /// `SUITE/CASE`, without the place of a sweep.
    scenario: String,
    variant: String,
    controller: String,
    seed: u64,
    /// Values of the swept keys, as after `--set`.
    at: Vec<(String, String)>,
    metrics: Box<RunMetrics>,
}

impl SuiteRuns {
    /// The metrics of `findings`, which are those of `trials` in the order of `seeds`; they are taken from there.
    pub(super) fn of<'t>(
        suite: &Suite,
        trials: impl Iterator<Item = &'t SeedTrial<'t>>,
        seeds: &[u64],
        findings: &mut [Finding],
    ) -> Self {
        let mut runs = Vec::new();
        let places = trials.flat_map(|trial| seeds.iter().map(move |&seed| (trial, seed)));
        for ((trial, seed), finding) in places.zip(findings) {
            let Some(metrics) = finding.take_metrics() else { continue };
            let SeedTrial { case, candidate, scenario, .. } = trial;
            let name = case.swept.as_ref().map_or(&case.name, |swept| &swept.case);
            let at = case.swept.iter().flat_map(|swept| &swept.at);
            runs.push(SuiteTableRun {
                scenario: format!("{}/{name}", suite.name),
                variant: (*candidate).to_owned(),
                controller: scenario.controller_of(candidate).to_owned(),
                seed,
                at: at.map(|(path, value)| (path.clone(), value.clone())).collect(),
                metrics,
            });
        }
        Self(runs)
    }

    /// The runs, each with its value of the keys `varied`.
    pub fn table_runs<'r>(&'r self, varied: &'r [Varied]) -> impl Iterator<Item = TableRun<'r>> {
        self.0.iter().map(move |run| {
            let value = |own: &Varied| {
                let text = run.at.iter().find(|(path, _)| *path == own.path).map(|(_, text)| text);
                axis_value(own, own.values.iter().find(|value| Some(&value.text) == text))
            };
            let SuiteTableRun { scenario, variant, controller, seed, metrics, .. } = run;
            let at = varied.iter().map(value).collect();
            TableRun { scenario, variant, controller, seed: *seed, at, metrics }
        })
    }
}
