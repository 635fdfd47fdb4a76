//! Values that claims and plots take from runs.

use super::cases::{Case, CaseSource, scenario};
use crate::judge::Harvest;
use crate::judge::formula::{Harvested, Leaf};
use crate::runs::{Ran, RunError, RunWorld, Store, Task, kept_or_made, key};
use weir_import::traces::TraceStore;
use weir_scenario::compile::RunOptions;
use weir_scenario::scenario::Scenario;

/// Values taken from the runs of each case.
pub(super) struct Harvests<'c> {
    cases: &'c [Case<'c>],
    taken: Vec<Vec<Option<Harvest>>>,
}

impl<'c> Harvests<'c> {
    /// Empty harvests of these cases.
    pub(super) fn of(cases: &'c [Case<'c>]) -> Self {
        Self { cases, taken: cases.iter().map(|_| Vec::new()).collect() }
    }

    /// Adds the harvest of the next seed, or `None` for a run that does not count.
    pub(super) fn add(&mut self, case: usize, harvest: Option<Harvest>) {
        self.taken[case].push(harvest);
    }

    /// Value at `path` in the run of a seed, counted from zero.
    pub(super) fn get(&self, case: usize, seed: usize, path: &str) -> Option<&Harvested> {
        let seed = if self.is_drawn(case) { seed } else { 0 };
        self.taken[case].get(seed)?.as_ref()?.get(path)
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

impl Case<'_> {
    /// Values of the run of this seed, read from `store`, or measured and stored there. A run in another `world` may not count,
    /// and then has none.
    pub(super) fn make(
        &self,
        seed: u64,
        traces: &TraceStore,
        world: Option<&dyn RunWorld>,
        store: &impl Store<Harvest>,
    ) -> Result<Option<Harvest>, RunError> {
        match &self.source {
            CaseSource::Scenario(scenario) => self.run(scenario, seed, traces, world, store),
            CaseSource::OfGrid { experiment, variant, place } => {
                self.run(&scenario(experiment, variant, place)?, seed, traces, world, store)
            }
            CaseSource::Analysis { entry, set } => {
                let name = || key(entry.name(), format_args!("{set:?}\n{seed}\n{:?}", self.paths));
                kept_or_made(store.keeps().then(name), store, || {
                    let results = entry.run(set, Some(seed))?;
                    Ok(Harvest::of(&self.paths, &results, None))
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
        world: Option<&dyn RunWorld>,
        store: &impl Store<Harvest>,
    ) -> Result<Option<Harvest>, RunError> {
        let series = self.paths.iter().any(|path| Leaf::is_series(path));
        let options = RunOptions { seed, controller: None, series };
        let folding = format!("{:?}", self.paths);
        let take = |mut ran: Ran| {
            let series = ran.measured.series.take();
            Harvest::of_run(&self.paths, &ran.measured.metrics, series).map_err(RunError::Series)
        };
        if world.is_some_and(|world| !world.is_simulator()) {
            let name = format!("{}/{seed}", self.name);
            let ran = Task { world, ..Task::new(name, scenario, options) }.run(traces)?;
            return ran.counts.then(|| take(ran)).transpose();
        }
        let task = Task { folding, world, ..Task::new("run".to_owned(), scenario, options) };
        task.make(traces, store, take).map(Some)
    }
}
