//! A run that was written down, for its report to be drawn again, alone or over another one.

use serde::{Deserialize, Serialize};
use weir_measure::metrics::{Decisions, MeasurePlan, ReadSeriesError, Series, read_cdf_csv};
use weir_measure::results::ranking::Ranking;
use weir_measure::results::{RunMetrics, Summary};

use super::decisions::{FlowSignals, ticks};
use super::panels;
use super::scatter::scatter;
use super::tables::table_of_runs;
use crate::compile::RunOptions;
use crate::form::ScenarioError;
use crate::page::{CdfStep, ControllerPanel, PageInput};
use crate::paired::RunTable;
use crate::runs::{Ran, RunError, Task};
use crate::scenario::Scenario;
use crate::traces::TraceStore;

/// What a report says, with its table run by run: what `table.json` holds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Saved {
    /// The scenario's name.
    pub scenario: String,
    /// What was compared, in a few words.
    pub title: String,
    /// Where the numbers come from.
    pub source: String,
    /// What it amounted to, in a sentence.
    pub verdict: String,
    /// What a reader should know besides.
    pub notes: Vec<String>,
    /// The seeds of the runs, in the order of the values.
    pub seeds: Vec<u64>,
    /// Which controllers lead; not there of a single one, and of runs that were written before they were ranked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ranking: Option<Ranking>,
    /// The table.
    #[serde(flatten)]
    pub table: RunTable,
}

/// The curves of a controller that were written down cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum CurvesError {
    /// The scenario under this controller cannot be built.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// A table is not that of the run.
    #[error(transparent)]
    Series(#[from] ReadSeriesError),
    /// The table of decisions is not that of the run.
    #[error("decisions: {0}")]
    Decisions(ReadSeriesError),
    /// A part of a long run cannot be read.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

impl Saved {
    /// What `input` says of the runs that `summary` is of, whose table is `table` and whose controllers are ranked by `ranking`.
    pub fn of(summary: &Summary, table: RunTable, ranking: Option<&Ranking>, input: &PageInput) -> Self {
        let PageInput { title, source, verdict, notes, .. } = input;
        let Summary { scenario, seeds, .. } = summary;
        Self {
            scenario: scenario.clone(),
            title: title.clone(),
            source: source.clone(),
            verdict: verdict.clone(),
            notes: notes.clone(),
            seeds: seeds.clone(),
            ranking: ranking.cloned(),
            table,
        }
    }

    /// What `results.json` tells, which knows no single run: means in the place of runs.
    ///
    /// # Errors
    /// The text is no results.
    pub fn from_results(text: &str) -> Result<Self, serde_json::Error> {
        let summary: Summary = serde_json::from_str(text)?;
        let mut controllers = Vec::new();
        for controller in &summary.controllers {
            let means = means(serde_json::to_value(&controller.measures)?);
            controllers.push((&controller.name, vec![serde_json::from_value::<RunMetrics>(means)?]));
        }
        let seeds = match summary.seeds.as_slice() {
            [] => "no run".to_owned(),
            [seed] => format!("one run, seed {seed}"),
            [first, .., last] => format!("{} runs, seeds {first} to {last}", summary.runs),
        };
        Ok(Self {
            title: summary.scenario.clone(),
            source: format!("{} · {seeds}", summary.scenario),
            verdict: format!("Means of {}.", summary.scenario),
            notes: vec![
                "Numbers are means over runs; intervals need the values of every run, table.json.".to_owned(),
            ],
            table: table_of_runs(controllers.iter().map(|(name, runs)| ([*name, *name], runs.as_slice()))),
            scenario: summary.scenario,
            seeds: Vec::new(),
            ranking: summary.ranking,
        })
    }

    /// Says of each row that does not tell it which law it is, by the variants of the scenario.
    pub fn tell_laws(&mut self, scenario: &Scenario) {
        for row in self.table.rows.iter_mut().filter(|row| row.law.is_empty() || row.law == row.name) {
            scenario.controller_of(&row.name).clone_into(&mut row.law);
        }
    }

    /// The page, with these curves and the scenario's text.
    pub fn page(&self, scenario: String, controllers: Vec<ControllerPanel>) -> PageInput {
        PageInput {
            title: self.title.clone(),
            source: self.source.clone(),
            verdict: self.verdict.clone(),
            scenario,
            scatter: scatter(&self.table, self.ranking.as_ref()),
            summary: self.table.summary(),
            differences: self.table.differences(),
            controllers,
            notes: self.notes.clone(),
            seed: panels::first_of_several(&self.seeds),
            ..PageInput::default()
        }
    }

    /// The curves of a controller, from the tables that were written of its first run.
    ///
    /// # Errors
    /// They are not those of the scenario under this controller.
    pub fn curves(
        &self,
        scenario: &Scenario,
        controller: &str,
        store: &TraceStore,
        tables: &Tables,
    ) -> Result<Option<ControllerPanel>, CurvesError> {
        let RecordedRun { plan, series, decisions } = RecordedRun::read(scenario, controller, store, tables)?;
        let subject = plan.flows.get(panels::subject(&plan)).map_or("", |flow| flow.name.as_str());
        let step =
            |point: weir_measure::metrics::CdfPoint| CdfStep { delay_ms: point.delay_ms, share: point.share };
        let queuing_delay = read_cdf_csv(&tables.queuing_delays, subject)?.into_iter().map(step).collect();
        let signals = FlowSignals::of(&plan, &scenario.registry);
        let decisions = ticks(&decisions, &signals)?;
        let (series, _) = series.for_a_page();
        let courses = panels::Courses { series, decisions, queuing_delay };
        Ok(panels::drawn(controller, &scenario.registry, &plan, &signals, courses))
    }
}

/// What was written of a controller's first run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tables {
    /// Its series.
    pub series: String,
    /// Its decisions; empty if there is no table of them.
    pub decisions: String,
    /// The distribution of queuing delays; empty if there is none.
    pub queuing_delays: String,
}

/// A controller's first run as it was written down.
#[derive(Clone, Debug)]
pub struct RecordedRun {
    /// What was measured.
    pub plan: MeasurePlan,
    /// Over time.
    pub series: Series,
    /// What the controllers of its flows decided.
    pub decisions: Decisions,
}

impl RecordedRun {
    /// The first run of `scenario` under the controller, from what was written of it.
    ///
    /// # Errors
    /// The tables are not those of the scenario under this controller.
    pub fn read(
        scenario: &Scenario,
        controller: &str,
        store: &TraceStore,
        tables: &Tables,
    ) -> Result<Self, CurvesError> {
        let under = (!scenario.controllers.is_empty()).then_some(controller);
        let options = RunOptions { seed: scenario.seed, controller: under, series: true };
        let plan = scenario.build(&options, store)?.plan;
        let series = Series::read_csv(&tables.series, &plan)?;
        let decisions = match tables.decisions.as_str() {
            "" => Decisions::default(),
            text => Decisions::read_csv(text, &plan).map_err(CurvesError::Decisions)?,
        };
        Ok(Self { plan, series, decisions })
    }

    /// The run of another seed, which is made again.
    ///
    /// # Errors
    /// The scenario cannot be built or run; the series of a long run cannot be kept on the disk.
    pub fn again(
        scenario: &Scenario,
        controller: &str,
        seed: u64,
        store: &TraceStore,
    ) -> Result<Self, RunError> {
        let under = (!scenario.controllers.is_empty()).then_some(controller);
        let options = RunOptions { seed, controller: under, series: true };
        let task = Task::new(format!("{}/{controller}/{seed}", scenario.name), scenario, options);
        let Ran { plan, measured, .. } = task.run(store)?;
        let recording = measured.series.unwrap_or_else(|| unreachable!("the options ask for series"));
        let decisions = recording.decisions().clone();
        let series = recording.whole().map_err(RunError::Series)?;
        Ok(Self { plan, series, decisions })
    }
}

/// The values of a run in the place of statistics over runs: their means.
fn means(value: serde_json::Value) -> serde_json::Value {
    use serde_json::Value;
    match value {
        Value::Object(fields) if fields.contains_key("mean") && fields.contains_key("ci95") => {
            fields.get("mean").cloned().unwrap_or_default()
        }
        Value::Object(fields) => fields.into_iter().map(|(name, value)| (name, means(value))).collect(),
        Value::Array(values) => values.into_iter().map(means).collect(),
        other => other,
    }
}
