//! Pairs of controllers and TCP algorithms, coupled and uncoupled, over the same network and video. The table shows the
//! effect of coupling on fairness, queue and utilisation for each combination.

#[cfg(test)]
mod tests;

use serde::Serialize;

use crate::runs::{NoStore, RunError, Runner, Task};
use weir_form::ScenarioError;
use weir_import::traces::TraceStore;
use weir_measure::results::{Measures, OverRuns, RunMetrics, Statistic};
use weir_scenario::compile::RunOptions;
use weir_scenario::registry::Registry;
use weir_scenario::scenario::{NO_COUPLER, Scenario};

/// Scenario of a pair.
pub const SCENARIO: &str = "coupling/pair";
/// Coupling algorithm unless another is given.
pub const ALGORITHM: &str = "rfc8699-1";
/// TCP algorithms that are paired in addition to the controllers.
pub const WINDOW_ALGORITHMS: [&str; 2] = ["newreno", "cubic"];

/// Greatest queuing delay of an unharmed pair over that without coupling …
const MOST_QUEUE: f64 = 1.25;
/// … or in addition to it, in milliseconds …
const MORE_QUEUE_MS: f64 = 5.0;
/// … and least utilisation over that without coupling.
const LEAST_UTILISATION: f64 = 0.9;

/// Algorithms that can form a pair: the controllers of `registry`, then [`WINDOW_ALGORITHMS`].
pub fn controllers(registry: &Registry) -> impl Iterator<Item = &str> {
    registry.controller_names().chain(WINDOW_ALGORITHMS)
}

/// Pairs to run.
#[derive(Clone, Copy, Debug)]
pub struct PairsRequest<'a> {
    /// Registry of the controllers.
    pub registry: &'a Registry,
    /// Algorithms; each is paired with itself and once with each of the others.
    pub controllers: &'a [&'a str],
    /// The coupling algorithm.
    pub algorithm: &'a str,
    /// The seeds of the runs.
    pub seeds: &'a [u64],
    /// Number of threads.
    pub jobs: usize,
}

/// Pair of algorithms with its results.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Pair {
    /// Names of the algorithms.
    pub controllers: [String; 2],
    /// Result without coupling.
    pub uncoupled: PairOutcome,
    /// Result with coupling.
    pub coupled: PairOutcome,
}

/// Results of two flows on their link, over runs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PairOutcome {
    /// Jain's index of their mean payload rates.
    pub jain: Option<Statistic>,
    /// Mean queuing delay at the bottleneck, in ms.
    pub queue_ms: Option<Statistic>,
    /// Carried bits over possible bits.
    pub utilisation: Option<Statistic>,
}

impl PairsRequest<'_> {
    fn pairs(&self) -> Vec<[&str; 2]> {
        let from = |(place, &first)| self.controllers[place..].iter().map(move |&second| [first, second]);
        self.controllers.iter().enumerate().flat_map(from).collect()
    }

    /// Number of runs.
    pub fn runs(&self) -> usize {
        2 * self.pairs().len() * self.seeds.len()
    }

    /// Runs all pairs; `done` is called after each run, from any thread.
    ///
    /// # Errors
    /// An unknown controller, TCP algorithm or coupling algorithm.
    pub fn run(&self, store: &TraceStore, done: &(dyn Fn() + Sync)) -> Result<Vec<Pair>, RunError> {
        let pairs = self.pairs();
        let mut scenarios = Vec::with_capacity(2 * pairs.len());
        for &controllers in &pairs {
            for algorithm in [NO_COUPLER, self.algorithm] {
                scenarios.push((controllers, algorithm, scenario(self.registry, controllers, algorithm)?));
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
        let mut outcomes = metrics.chunks(self.seeds.len().max(1)).map(PairOutcome::of);
        let mut next = || outcomes.next().unwrap_or_else(|| PairOutcome::of(&[]));
        let pair = |controllers: [&str; 2]| Pair {
            controllers: controllers.map(str::to_owned),
            uncoupled: next(),
            coupled: next(),
        };
        Ok(pairs.into_iter().map(pair).collect())
    }
}

/// Scenario with these controllers or TCP algorithms, under this coupling algorithm.
fn scenario(registry: &Registry, controllers: [&str; 2], algorithm: &str) -> Result<Scenario, ScenarioError> {
    let set = |(flow, controller): (&str, &str)| {
        if WINDOW_ALGORITHMS.contains(&controller) {
            format!("flows.{flow}={{ kind = \"tcp\", algorithm = \"{controller}\", start_spread = \"1s\" }}")
        } else {
            format!("flows.{flow}.controller={controller}")
        }
    };
    let mut sets: Vec<String> = ["first", "second"].into_iter().zip(controllers).map(set).collect();
    sets.push(format!("coupling.call.algorithm={algorithm}"));
    Scenario::open_in(registry, SCENARIO, &sets)
}

impl PairOutcome {
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
    /// Whether coupling causes neither a longer queue nor an emptier link. The queuing delay is at most 1.25 times that
    /// without coupling or 5 ms longer, and the utilisation at least 90 % of it.
    pub fn is_unharmed(&self) -> bool {
        let means = |pick: fn(&PairOutcome) -> Option<Statistic>| {
            Some((pick(&self.uncoupled)?.mean, pick(&self.coupled)?.mean))
        };
        let queue = means(|outcome| outcome.queue_ms)
            .is_some_and(|(alone, now)| now <= (MOST_QUEUE * alone).max(alone + MORE_QUEUE_MS));
        let used = means(|outcome| outcome.utilisation);
        queue && used.is_some_and(|(alone, now)| now >= LEAST_UTILISATION * alone)
    }
}
