//! Runs of a suite: scenarios of its cases, each once for each seed.

use super::cases::Case;
use super::check::{JudgedValue, all_from, settled};
use super::finding::{Finding, FurtherParts};
use crate::judge::formula::Leaf;
use crate::runs::{Ran, RunError, Task, Watched};
use weir_measure::metrics::MeasurePlan;
use weir_net::Time;
use weir_scenario::compile::RunOptions;
use weir_scenario::omniscient::NAME;
use weir_scenario::scenario::Scenario;

/// Scenario that is run once for each seed.
#[derive(Debug)]
pub(super) struct SeedTrial<'c> {
    pub(super) case: &'c Case,
    /// Candidate that takes the place of the media flows.
    pub(super) candidate: &'c str,
    pub(super) scenario: Scenario,
    /// Whether the trial is a benchmark, which is not judged itself.
    pub(super) is_benchmark: bool,
}

/// Run of a trial.
#[derive(Clone, Copy, Debug)]
pub(super) struct TrialRun<'t> {
    trial: &'t SeedTrial<'t>,
    seed: u64,
    /// Whether it is the first run, whose time series is drawn.
    is_first: bool,
    /// Whether a table of the runs is wanted.
    in_table: bool,
}

impl SeedTrial<'_> {
    /// Runs of the trial.
    pub(super) fn runs<'t>(&'t self, seeds: &'t [u64], in_table: bool) -> impl Iterator<Item = TrialRun<'t>> {
        let seeds = seeds.iter().enumerate();
        seeds.map(move |(index, &seed)| TrialRun { trial: self, seed, is_first: index == 0, in_table })
    }

    /// Whether no controller takes part, so that the results are the same for all controllers.
    pub(super) fn is_reference(&self) -> bool {
        self.is_benchmark || self.candidate == NAME
    }
}

impl<'t> TrialRun<'t> {
    /// Task of the run in a suite of this name.
    pub(super) fn task(&self, suite: &str) -> Task<'t> {
        let &Self { trial: SeedTrial { case, candidate, scenario, is_benchmark }, seed, is_first, .. } = self;
        let name = format!("{suite}/{}/{candidate}/{seed}", case.name);
        let folding = if *is_benchmark {
            "receipts".to_owned()
        } else {
            // The key has the subjects and not the limits, so that other limits reuse the same runs.
            let subjects: Vec<&JudgedValue> = case.checks.iter().map(|check| &check.subject).collect();
            let counts = case.from.map_or_else(String::new, |from| format!(" from {from}"));
            let drawn = if is_first { ", drawn" } else { "" };
            format!("{subjects:?}{counts}{drawn}{}", if self.keeps_metrics() { ", metrics" } else { "" })
        };
        let series = !is_benchmark && case.paths().iter().any(|path| Leaf::is_series(path));
        let task = Task::new(name, scenario, RunOptions { seed, series, ..RunOptions::default() });
        let plan = if case.from.is_some() { watch_from } else { watch_all };
        Task { folding, watched: Some(Watched { plan, from: case.counts_from() }), ..task }
    }

    /// Whether the run is a reference run: no controller takes part, and its result is the same for all controllers.
    pub(super) fn is_reference(&self) -> bool {
        self.trial.is_reference()
    }

    /// Whether all of its metrics are kept.
    fn keeps_metrics(&self) -> bool {
        self.in_table && !self.is_reference()
    }

    /// Measurements of the run.
    ///
    /// # Errors
    /// The recorded time series cannot be read.
    pub(super) fn finding(&self, ran: Ran) -> Result<Finding, RunError> {
        if self.trial.is_benchmark {
            Ok(Finding::of_benchmark(ran))
        } else {
            let further = FurtherParts { course: self.is_first, metrics: self.keeps_metrics() };
            Finding::of(self.trial.case, further, ran).map_err(RunError::Series)
        }
    }
}

/// Measures the whole run whatever the scenario measures, the queue at settled times, and frames from `from` on.
fn watch_all(plan: &mut MeasurePlan, from: Time) {
    plan.window = (Time::ZERO, plan.end);
    plan.windows = vec![settled(plan)];
    plan.viewed_from = from;
    plan.media_receipts = true;
}

/// Measures as [`watch_all`], but the queue from `from` on, whatever happens then.
fn watch_from(plan: &mut MeasurePlan, from: Time) {
    watch_all(plan, from);
    plan.windows = vec![all_from(plan, from)];
}
