//! A saved run, from which its report can be drawn again, alone or together with another run.

use serde::{Deserialize, Serialize};
use weir_measure::metrics::{Decisions, MeasurePlan, ReadSeriesError, Series, read_cdf_csv};
use weir_measure::results::ranking::Ranking;
use weir_measure::results::{RunMetrics, Summary};

use super::decisions::{FlowSignals, ticks};
use super::panels;
use super::scatter::scatter;
use super::tables::table_of_runs;
use crate::paired::RunTable;
use crate::runs::{Ran, RunError, Task};
use weir_form::ScenarioError;
use weir_import::traces::TraceStore;
use weir_report::page::{CdfStep, ControllerPanel, PageInput};
use weir_scenario::compile::RunOptions;
use weir_scenario::scenario::Scenario;

/// The content of a report, with its table run by run, as stored in `table.json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Saved {
    /// The scenario's name.
    pub scenario: String,
    /// Title of the comparison, a few words.
    pub title: String,
    /// Source of the numbers.
    pub source: String,
    /// Result of the comparison, in a sentence.
    pub verdict: String,
    /// Further notes for the reader.
    pub notes: Vec<String>,
    /// The seeds of the runs, in the order of the values.
    pub seeds: Vec<u64>,
    /// The leading controllers; absent for a single controller, and for runs that were written before rankings existed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ranking: Option<Ranking>,
    /// The table.
    #[serde(flatten)]
    pub table: RunTable,
}

/// Errors on reading the saved curves of a controller.
#[derive(Debug, thiserror::Error)]
pub enum CurvesError {
    /// The scenario under this controller cannot be built.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// A table does not belong to the run.
    #[error(transparent)]
    Series(#[from] ReadSeriesError),
    /// The table of decisions does not belong to the run.
    #[error("decisions: {0}")]
    Decisions(ReadSeriesError),
    /// A part of a long run cannot be read.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

impl Saved {
    /// The saved contents of `input`, the report on the runs of `summary`. `table` is their table, and `ranking` ranks their
    /// controllers.
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

    /// The contents of `results.json`, which has means in place of single runs.
    ///
    /// # Errors
    /// The text is not valid results JSON.
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

    /// Sets the controller of each row without one, from the variants of the scenario.
    pub fn set_controllers(&mut self, scenario: &Scenario) {
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

    /// The curves of a controller, from the saved tables of its first run.
    ///
    /// # Errors
    /// The tables do not fit the scenario under this controller.
    pub fn curves(
        &self,
        scenario: &Scenario,
        controller: &str,
        store: &TraceStore,
        tables: &SavedTables,
    ) -> Result<Option<ControllerPanel>, CurvesError> {
        let RecordedRun { plan, series, decisions } = RecordedRun::read(scenario, controller, store, tables)?;
        let subject = plan.flows.get(panels::detailed_flow(&plan)).map_or("", |flow| flow.name.as_str());
        let step =
            |point: weir_measure::metrics::CdfPoint| CdfStep { delay_ms: point.delay_ms, share: point.share };
        let queuing_delay = read_cdf_csv(&tables.queuing_delays, subject)?.into_iter().map(step).collect();
        let signals = FlowSignals::of(&plan, &scenario.registry);
        let decisions = ticks(&decisions, &signals)?;
        let (series, _) = series.for_a_page();
        let courses = panels::PanelData { series, decisions, queuing_delay };
        Ok(panels::panel(controller, &scenario.registry, &plan, &signals, courses))
    }
}

/// The saved tables of a controller's first run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SavedTables {
    /// Table of its time series.
    pub series: String,
    /// Table of its decisions; empty if there is none.
    pub decisions: String,
    /// Table of the distribution of queuing delays; empty if there is none.
    pub queuing_delays: String,
}

/// A controller's first run, read from its saved tables.
#[derive(Clone, Debug)]
pub struct RecordedRun {
    /// The flows, links and queues that were measured.
    pub plan: MeasurePlan,
    /// The time series.
    pub series: Series,
    /// The decisions of the controllers of its flows.
    pub decisions: Decisions,
}

impl RecordedRun {
    /// The first run of `scenario` under the controller, from its saved tables.
    ///
    /// # Errors
    /// The tables do not belong to the scenario under this controller.
    pub fn read(
        scenario: &Scenario,
        controller: &str,
        store: &TraceStore,
        tables: &SavedTables,
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

    /// The run of another seed, which is simulated again.
    ///
    /// # Errors
    /// The scenario cannot be built or run, or the series of a long run cannot be stored on the disk.
    pub fn rerun(
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

/// The means of statistics over runs, in the place of values of runs.
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
