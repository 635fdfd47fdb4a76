//! Values taken from runs.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::cases::{Case, CaseSource, scenario};
use super::formula::{Harvested, Leaf};
use super::paths;
use crate::runs::{Ran, RunError, Store, Task, kept_or_made, key};
use weir_import::traces::TraceStore;
use weir_measure::metrics::Recording;
use weir_scenario::compile::RunOptions;
use weir_scenario::scenario::Scenario;

/// Values taken from a run, by path.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Harvest(BTreeMap<String, Harvested>);

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
        self.taken[case].get(seed)?.0.get(path)
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
                    Ok(self.harvest(|path| paths::harvest(path, &results, None)))
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
        task.make(traces, store, |ran: Ran| {
            let metrics = paths::printed(&ran.measured.metrics);
            let series = ran.measured.series.map(Recording::whole).transpose().map_err(RunError::Series)?;
            Ok(self.harvest(|path| paths::harvest(path, &metrics, series.as_ref())))
        })
    }

    fn harvest(&self, take: impl Fn(&str) -> Option<Harvested>) -> Harvest {
        Harvest(self.paths.iter().filter_map(|path| Some((path.clone(), take(path)?))).collect())
    }
}
