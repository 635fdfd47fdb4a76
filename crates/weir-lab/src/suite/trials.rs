//! The runs of a suite: scenarios of its cases, each once for each seed.

use super::cases::Case;
use super::check::{Quantity, all_from, settled};
use super::finding::Finding;
use crate::compile::RunOptions;
use crate::omniscient::NAME;
use crate::runs::{Ran, Task, Watched};
use crate::scenario::Scenario;
use weir_measure::metrics::MeasurePlan;
use weir_net::Time;

/// A scenario that is run once for each seed.
#[derive(Debug)]
pub(super) struct Trial<'c> {
    pub(super) case: &'c Case,
    /// Who takes the place of media flows in it.
    pub(super) contestant: &'c str,
    pub(super) scenario: Scenario,
    /// Whether others are measured against it, and it is not judged itself.
    pub(super) is_benchmark: bool,
}

/// A run of a trial.
#[derive(Clone, Copy, Debug)]
pub(super) struct TrialRun<'t> {
    trial: &'t Trial<'t>,
    seed: u64,
    /// Whether it is the first one, which is drawn.
    is_first: bool,
}

impl Trial<'_> {
    /// Its runs.
    pub(super) fn runs<'t>(&'t self, seeds: &'t [u64]) -> impl Iterator<Item = TrialRun<'t>> {
        let seeds = seeds.iter().enumerate();
        seeds.map(|(index, &seed)| TrialRun { trial: self, seed, is_first: index == 0 })
    }
}

impl<'t> TrialRun<'t> {
    /// How it is made, in a suite of this name.
    pub(super) fn task(&self, suite: &str) -> Task<'t> {
        let &Self { trial: Trial { case, contestant, scenario, is_benchmark }, seed, is_first } = self;
        let name = format!("{suite}/{}/{contestant}/{seed}", case.name);
        let folding = if *is_benchmark {
            "receipts".to_owned()
        } else {
            let quantities: Vec<Quantity> = case.checks.iter().map(|check| check.quantity).collect();
            let counts = case.from.map_or_else(String::new, |from| format!(" from {from}"));
            format!("{quantities:?}{counts}{}", if is_first { ", drawn" } else { "" })
        };
        let task = Task::new(name, scenario, RunOptions { seed, ..RunOptions::default() });
        let plan = if case.from.is_some() { watch_from } else { watch_all };
        Task { folding, watched: Some(Watched { plan, from: case.counts_from() }), ..task }
    }

    /// Whether no controller takes part in it: its result is the same whoever is judged.
    pub(super) fn is_yardstick(&self) -> bool {
        self.trial.is_benchmark || self.trial.contestant == NAME
    }

    /// What is found in it.
    pub(super) fn finding(&self, ran: Ran) -> Finding {
        if self.trial.is_benchmark {
            Finding::of_benchmark(ran)
        } else {
            Finding::of(self.trial.case, self.is_first, &ran)
        }
    }
}

/// The whole run counts, whatever the scenario measures, its queue where it has settled, and what viewers get from `from` on.
fn watch_all(plan: &mut MeasurePlan, from: Time) {
    plan.window = (Time::ZERO, plan.end);
    plan.windows = vec![settled(plan)];
    plan.viewed_from = from;
    plan.media_receipts = true;
}

/// The same, but that the queue counts from `from` on, whatever happens then.
fn watch_from(plan: &mut MeasurePlan, from: Time) {
    watch_all(plan, from);
    plan.windows = vec![all_from(plan, from)];
}
