//! The runs of a suite: scenarios of its cases, each once for each seed.

use super::cases::Case;
use super::check::{START_UP, settled};
use crate::build::RunOptions;
use crate::registry::Registry;
use crate::runs::{Forget, Ran, RunError, Runner, Task};
use crate::scenario::Scenario;
use crate::traces::TraceStore;
use weir_measure::metrics::MeasurePlan;
use weir_net::Time;

/// A scenario that is run once for each seed.
#[derive(Debug)]
pub(super) struct Trial<'c> {
    /// The place of its case among those that are run.
    pub(super) place: usize,
    pub(super) case: &'c Case,
    /// Who takes the place of media flows in it.
    pub(super) contestant: &'c str,
    pub(super) scenario: Scenario,
}

/// How trials are run.
#[derive(Clone, Copy)]
pub(super) struct Trials<'a> {
    /// The name of the suite.
    pub(super) suite: &'a str,
    /// Where the controllers come from that the cases' scenarios name.
    pub(super) registry: &'a Registry,
    pub(super) seeds: &'a [u64],
    /// Threads.
    pub(super) jobs: usize,
    pub(super) traces: &'a TraceStore,
    /// Called after each run, from any thread.
    pub(super) done: &'a (dyn Fn() + Sync),
}

impl Trials<'_> {
    /// What `fold` makes of the runs of each of `trials`, in the order of the seeds, whose places it is told.
    ///
    /// # Errors
    /// That of the first run that fails.
    pub(super) fn run<T: Send>(
        &self,
        trials: &[Trial<'_>],
        fold: impl Fn(&Trial<'_>, usize, Ran) -> T + Sync,
    ) -> Result<Vec<Vec<T>>, RunError> {
        let seeds = self.seeds.len();
        let tasks: Vec<Task<'_>> =
            trials.iter().flat_map(|trial| self.seeds.iter().map(|&seed| self.task(trial, seed))).collect();
        let runner = Runner { jobs: self.jobs, done: self.done };
        let fold = |index: usize, ran: Ran| fold(&trials[index / seeds], index % seeds, ran);
        let mut folded = runner.run(&tasks, self.traces, &Forget, fold)?.into_iter();
        Ok(trials.iter().map(|_| folded.by_ref().take(seeds).collect()).collect())
    }

    fn task<'t>(&self, trial: &'t Trial<'_>, seed: u64) -> Task<'t> {
        let name = format!("{}/{}/{}/{seed}", self.suite, trial.case.name, trial.contestant);
        let task = Task::new(name, &trial.scenario, RunOptions { seed, ..RunOptions::default() });
        Task { replan: Some(watch_all), ..task }
    }
}

/// The whole run counts, whatever the scenario measures, and where it has settled.
fn watch_all(plan: &mut MeasurePlan) {
    plan.window = (Time::ZERO, plan.end);
    plan.windows = vec![settled(plan)];
    plan.viewed_from = START_UP;
}
