//! Every pair of laws, coupled and left alone, over the same network and the same video: what coupling does to fairness,
//! queue and utilisation, whatever is coupled with what.

#[cfg(test)]
mod tests;

use serde::Serialize;

use crate::compile::RunOptions;
use crate::form::ScenarioError;
use crate::registry::Registry;
use crate::runs::{NoStore, RunError, Runner, Task};
use crate::scenario::{NO_COUPLER, Scenario};
use crate::traces::TraceStore;
use weir_measure::results::{Measures, OverRuns, RunMetrics, Statistic};

/// The scenario that two laws meet in.
pub const SCENARIO: &str = "coupling/pair";
/// The algorithm that couples them unless another is asked for.
pub const ALGORITHM: &str = "rfc8699-1";
/// Window laws that stand beside the controllers.
pub const WINDOW_ALGORITHMS: [&str; 2] = ["newreno", "cubic"];

/// A pair is unharmed with at most so many times its own queue …
const MOST_QUEUE: f64 = 1.25;
/// … or with so many milliseconds more …
const MORE_QUEUE_MS: f64 = 5.0;
/// … and at least so much of its own utilisation.
const LEAST_UTILISATION: f64 = 0.9;

/// Every law that can stand in a pair: the controllers of `registry`, then [`WINDOW_ALGORITHMS`].
pub fn laws(registry: &Registry) -> impl Iterator<Item = &str> {
    registry.controller_names().chain(WINDOW_ALGORITHMS)
}

/// Pairs to be run.
#[derive(Clone, Copy, Debug)]
pub struct PairsRequest<'a> {
    /// The controllers that there are.
    pub registry: &'a Registry,
    /// The laws; each meets itself and each of the others once.
    pub laws: &'a [&'a str],
    /// The coupling algorithm.
    pub algorithm: &'a str,
    /// The seeds of the runs.
    pub seeds: &'a [u64],
    /// Threads.
    pub jobs: usize,
}

/// Two laws and what became of them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Pair {
    /// The laws.
    pub laws: [String; 2],
    /// Left alone.
    pub uncoupled: Outcome,
    /// Coupled.
    pub coupled: Outcome,
}

/// What two flows make of their link; over runs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Outcome {
    /// Jain's index of their mean payload rates.
    pub jain: Option<Statistic>,
    /// Mean wait in the queue of the bottleneck, in ms.
    pub queue_ms: Option<Statistic>,
    /// Carried bits over possible bits.
    pub utilisation: Option<Statistic>,
}

impl PairsRequest<'_> {
    fn pairs(&self) -> Vec<[&str; 2]> {
        let from = |(place, &first)| self.laws[place..].iter().map(move |&second| [first, second]);
        self.laws.iter().enumerate().flat_map(from).collect()
    }

    /// How many runs this makes.
    pub fn runs(&self) -> usize {
        2 * self.pairs().len() * self.seeds.len()
    }

    /// Runs everything; `done` is called after each run, from any thread.
    ///
    /// # Errors
    /// A law or an algorithm that is not known.
    pub fn run(&self, store: &TraceStore, done: &(dyn Fn() + Sync)) -> Result<Vec<Pair>, RunError> {
        let pairs = self.pairs();
        let mut scenarios = Vec::with_capacity(2 * pairs.len());
        for &laws in &pairs {
            for algorithm in [NO_COUPLER, self.algorithm] {
                scenarios.push((laws, algorithm, scenario(self.registry, laws, algorithm)?));
            }
        }
        let tasks: Vec<Task<'_>> = scenarios
            .iter()
            .flat_map(|([first, second], algorithm, scenario)| {
                self.seeds.iter().map(move |&seed| {
                    let name = format!("pairs/{first}/{second}/{algorithm}/{seed}");
                    Task::new(name, scenario, RunOptions { seed, ..RunOptions::default() })
                })
            })
            .collect();
        let runner = Runner { jobs: self.jobs, done };
        let metrics = runner.run(&tasks, store, &NoStore, |_, ran| ran.measured.metrics)?;
        let mut outcomes = metrics.chunks(self.seeds.len().max(1)).map(Outcome::of);
        let mut next = || outcomes.next().unwrap_or_else(|| Outcome::of(&[]));
        let pair =
            |laws: [&str; 2]| Pair { laws: laws.map(str::to_owned), uncoupled: next(), coupled: next() };
        Ok(pairs.into_iter().map(pair).collect())
    }
}

/// The scenario with these laws under this algorithm.
fn scenario(registry: &Registry, laws: [&str; 2], algorithm: &str) -> Result<Scenario, ScenarioError> {
    let set = |(flow, law): (&str, &str)| {
        if WINDOW_ALGORITHMS.contains(&law) {
            format!("flows.{flow}={{ kind = \"tcp\", law = \"{law}\", start_spread = \"1s\" }}")
        } else {
            format!("flows.{flow}.controller={law}")
        }
    };
    let mut sets: Vec<String> = ["first", "second"].into_iter().zip(laws).map(set).collect();
    sets.push(format!("coupling.call.algorithm={algorithm}"));
    Scenario::open_in(registry, SCENARIO, &sets)
}

impl Outcome {
    fn of(runs: &[RunMetrics]) -> Self {
        let Some((first, others)) = runs.split_first() else {
            return Self { jain: None, queue_ms: None, utilisation: None };
        };
        let Measures { links, jain, .. } = RunMetrics::over_runs(first, &others.iter().collect::<Vec<_>>());
        let bottleneck = links.into_iter().find(|link| link.bottleneck);
        let (queue_ms, utilisation) =
            bottleneck.map_or((None, None), |link| (link.queue_ms.mean, link.utilisation.bits));
        Self { jain: jain.of_means, queue_ms, utilisation }
    }
}

impl Pair {
    /// Whether coupling harms the pair neither by a longer queue nor by an emptier link: its queue is at most 1.25 times
    /// that of the pair left alone, or 5 ms longer, and its utilisation at least 90 % of it.
    pub fn is_unharmed(&self) -> bool {
        let means = |pick: fn(&Outcome) -> Option<Statistic>| {
            Some((pick(&self.uncoupled)?.mean, pick(&self.coupled)?.mean))
        };
        let queue = means(|outcome| outcome.queue_ms)
            .is_some_and(|(alone, now)| now <= (MOST_QUEUE * alone).max(alone + MORE_QUEUE_MS));
        let used = means(|outcome| outcome.utilisation);
        queue && used.is_some_and(|(alone, now)| now >= LEAST_UTILISATION * alone)
    }
}
