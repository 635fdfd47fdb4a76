//! Values that claims and plots take from runs.

use super::cases::{Case, CaseSource, scenario};
use crate::judge::Harvest;
use crate::judge::formula::{Harvested, Leaf};
use crate::runs::{Ran, RunError, Store, Task, kept_or_made, key};
use weir_import::traces::TraceStore;
use weir_scenario::compile::RunOptions;
use weir_scenario::scenario::Scenario;

/// Values taken from the runs of each case.
pub(super) struct Harvests<'c> {
    cases: &'c [Case<'c>],
    taken: Vec<Vec<Harvest>>,
}

impl<'c> Harvests<'c> {
    /// Empty harvests of these cases.
    pub(super) fn of(cases: &'c [Case<'c>]) -> Self {
        Self { cases, taken: cases.iter().map(|_| Vec::new()).collect() }
    }

    /// Adds the harvest of the next seed.
    pub(super) fn add(&mut self, case: usize, harvest: Harvest) {
        self.taken[case].push(harvest);
    }

    /// Value at `path` in the run of a seed, counted from zero.
    pub(super) fn get(&self, case: usize, seed: usize, path: &str) -> Option<&Harvested> {
        let seed = if self.is_drawn(case) { seed } else { 0 };
        self.taken[case].get(seed)?.get(path)
    }

    /// Whether the runs of a case differ from seed to seed.
    pub(super) fn is_drawn(&self, case: usize) -> bool {
        self.cases[case].is_drawn()
    }
}

impl Case<'_> {
    /// Values of the run of this seed, read from `store`, or measured and stored there.
    pub(super) fn make(
        &self,
        seed: u64,
        traces: &TraceStore,
        store: &impl Store<Harvest>,
    ) -> Result<Harvest, RunError> {
        match &self.source {
            CaseSource::Scenario(scenario) => self.simulate(scenario, seed, traces, store),
            CaseSource::OfGrid { experiment, variant, place } => {
                self.simulate(&scenario(experiment, variant, place)?, seed, traces, store)
            }
            CaseSource::Analysis { entry, set } => {
                let name = || key(entry.name(), format_args!("{set:?}\n{seed}\n{:?}", self.paths));
                kept_or_made(store.keeps().then(name), store, || {
                    let results = entry.run(set, Some(seed))?;
                    Ok(Harvest::of(&self.paths, &results, None))
                })
            }
        }
    }

    fn simulate(
        &self,
        scenario: &Scenario,
        seed: u64,
        traces: &TraceStore,
        store: &impl Store<Harvest>,
    ) -> Result<Harvest, RunError> {
        let series = self.paths.iter().any(|path| Leaf::is_series(path));
        let options = RunOptions { seed, controller: None, series };
        let folding = format!("{:?}", self.paths);
        let task = Task { folding, ..Task::new("run".to_owned(), scenario, options) };
        task.make(traces, store, |mut ran: Ran| {
            let series = ran.measured.series.take();
            Harvest::of_run(&self.paths, &ran.measured.metrics, series).map_err(RunError::Series)
        })
    }
}
