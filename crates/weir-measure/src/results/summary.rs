//! The results of a comparison of controllers.

use schemars::{JsonSchema, Schema, schema_for};
use serde::{Deserialize, Serialize};

use super::RunMetrics;
use super::measures::Measures;
use super::over_runs::{OverRuns, Statistic};
use super::ranking::Ranking;

/// A scenario's results under one or more controllers, each over the same seeds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// The scenario's name.
    pub scenario: String,
    /// How many runs each controller had.
    pub runs: usize,
    /// The seeds of the runs.
    pub seeds: Vec<u64>,
    /// The leading controllers, and the recommended ones; left out for a single controller and without media.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ranking: Option<Ranking>,
    /// The controllers, in the order given.
    pub controllers: Vec<ControllerSummary>,
}

/// The results of one controller.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ControllerSummary {
    /// The controller's name.
    pub name: String,
    /// Its metrics over the runs.
    #[serde(flatten)]
    pub measures: Measures<Option<Statistic>>,
}

/// A controller does not have one run per seed, or there is no seed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnevenRuns {
    /// The controller's name.
    pub controller: String,
    /// The runs it has.
    pub runs: usize,
    /// The number of seeds.
    pub seeds: usize,
}

impl core::fmt::Display for UnevenRuns {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self { controller, runs, seeds } = self;
        write!(
            f,
            "{controller} has {runs} runs for {seeds} seeds; a summary needs one run for each of at least one seed"
        )
    }
}

impl core::error::Error for UnevenRuns {}

impl Summary {
    /// Summarises the runs of each controller, given by name and in the order of the seeds.
    ///
    /// # Errors
    /// [`UnevenRuns`] unless each controller has one run per seed and there is a seed.
    pub fn from_runs<'a>(
        scenario: &str,
        seeds: &[u64],
        controllers: impl IntoIterator<Item = (&'a str, &'a [RunMetrics])>,
    ) -> Result<Self, UnevenRuns> {
        let summarise = |(name, runs): (&str, &[RunMetrics])| {
            let uneven = || UnevenRuns { controller: name.to_owned(), runs: runs.len(), seeds: seeds.len() };
            let (first, others) = runs.split_first().ok_or_else(uneven)?;
            if runs.len() != seeds.len() {
                return Err(uneven());
            }
            let others: Vec<_> = others.iter().collect();
            Ok(ControllerSummary { name: name.to_owned(), measures: RunMetrics::over_runs(first, &others) })
        };
        Ok(Self {
            scenario: scenario.to_owned(),
            runs: seeds.len(),
            seeds: seeds.to_vec(),
            ranking: None,
            controllers: controllers.into_iter().map(summarise).collect::<Result<_, _>>()?,
        })
    }
}

/// The JSON Schema of a [`Summary`].
pub fn results_schema() -> Schema {
    schema_for!(Summary)
}
