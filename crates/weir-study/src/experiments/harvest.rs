//! Values that claims and plots take from runs.

use serde::{Deserialize, Serialize};

use super::cases::{Case, CaseSource, scenario};
use crate::judge::Harvest;
use crate::judge::formula::{Harvested, Leaf};
use crate::judge::paths::printed;
use crate::runs::{Ran, RunError, RunWorld, Store, StoredMetrics, Task, kept_or_made, key};
use weir_import::traces::TraceStore;
use weir_scenario::compile::RunOptions;
use weir_scenario::scenario::Scenario;

/// Stored values of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct KeptRun {
    /// Values for claims and plots.
    values: Harvest,
    /// All metrics, if a table of the runs is wanted and the run has some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    metrics: Option<Box<StoredMetrics>>,
}

/// World and measurement of the runs.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CaseRuns<'w> {
    /// World of the runs; `None` is the simulator.
    pub(super) world: Option<&'w dyn RunWorld>,
    /// Whether all metrics are kept.
    pub(super) keeps_metrics: bool,
}

/// Values taken from the runs of each case.
pub(super) struct Harvests<'c> {
    cases: &'c [Case],
    taken: Vec<Vec<Option<KeptRun>>>,
}

impl<'c> Harvests<'c> {
    /// Empty harvests of these cases.
    pub(super) fn of(cases: &'c [Case]) -> Self {
        Self { cases, taken: cases.iter().map(|_| Vec::new()).collect() }
    }

    /// Adds the harvest of the next seed, or `None` for a run that does not count.
    pub(super) fn add(&mut self, case: usize, harvest: Option<KeptRun>) {
        self.taken[case].push(harvest);
    }

    /// Value at `path` in the run of a seed, counted from zero.
    pub(super) fn get(&self, case: usize, seed: usize, path: &str) -> Option<&Harvested> {
        let seed = if self.is_drawn(case) { seed } else { 0 };
        self.taken[case].get(seed)?.as_ref()?.values.get(path)
    }

    /// Metrics of each run of each case, in the order of seeds.
    pub(super) fn into_metrics(self) -> Vec<Vec<Option<Box<StoredMetrics>>>> {
        let of_case = |runs: Vec<Option<KeptRun>>| runs.into_iter().map(|run| run?.metrics).collect();
        self.taken.into_iter().map(of_case).collect()
    }

    /// Whether the run of a seed, counted from zero, counts in the verdict.
    pub(super) fn counts(&self, case: usize, seed: usize) -> bool {
        self.taken[case].get(seed).is_none_or(Option::is_some)
    }

    /// Whether the runs of a case differ from seed to seed.
    pub(super) fn is_drawn(&self, case: usize) -> bool {
        self.cases[case].is_drawn()
    }
}

impl Case {
    /// Values of the run of this seed, read from `store`, or measured and stored there. A run in another `world` may not count,
    /// and then has none.
    pub(super) fn make(
        &self,
        seed: u64,
        traces: &TraceStore,
        runs: CaseRuns<'_>,
        store: &impl Store<KeptRun>,
    ) -> Result<Option<KeptRun>, RunError> {
        match &self.source {
            CaseSource::Scenario(scenario) => self.run(scenario, seed, traces, runs, store),
            CaseSource::OfGrid { experiment, variant, place } => {
                self.run(&scenario(experiment, variant, place)?, seed, traces, runs, store)
            }
            CaseSource::Analysis { entry, set } => {
                let name = || key(entry.name(), format_args!("{set:?}\n{seed}\n{:?}", self.paths));
                kept_or_made(store.keeps().then(name), store, || {
                    let results = entry.run(set, Some(seed))?;
                    Ok(KeptRun { values: Harvest::of(&self.paths, &results, None), metrics: None })
                })
                .map(Some)
            }
        }
    }

    fn run(
        &self,
        scenario: &Scenario,
        seed: u64,
        traces: &TraceStore,
        CaseRuns { world, keeps_metrics }: CaseRuns<'_>,
        store: &impl Store<KeptRun>,
    ) -> Result<Option<KeptRun>, RunError> {
        let series = self.paths.iter().any(|path| Leaf::is_series(path));
        let options = RunOptions { seed, controller: None, series };
        let folding = format!("{:?}{}", self.paths, if keeps_metrics { ", metrics" } else { "" });
        let take = |mut ran: Ran| {
            let (series, metrics) = (ran.measured.series.take(), ran.measured.metrics);
            let values =
                Harvest::of_run(&self.paths, &printed(&metrics), series).map_err(RunError::Series)?;
            let controller = scenario.controllers_in_use();
            let metrics = keeps_metrics.then(|| Box::new(StoredMetrics { controller, metrics }));
            Ok(KeptRun { values, metrics })
        };
        if world.is_some_and(|world| !world.is_simulator()) {
            let name = format!("{}/{seed}", self.name);
            let ran = Task { world, ..Task::new(name, scenario, options) }.run(traces)?;
            return ran.counts.then(|| take(ran)).transpose();
        }
        let task = Task { folding, world, ..Task::new("run".to_owned(), scenario, options) };
        let placed = |error| match error {
            RunError::World { problem, .. } => {
                RunError::World { run: format!("{}/{seed}", self.name), problem }
            }
            other => other,
        };
        task.make(traces, store, take).map(Some).map_err(placed)
    }
}
