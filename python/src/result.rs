//! The results of runs.

use std::io;
use std::mem::take;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::{PyKeyError, PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use weir_import::traces::TraceStore;
use weir_measure::metrics::{Column, Recording};
use weir_measure::results::{RunMetrics, Summary};
use weir_report::page::{self, PageInput};
use weir_scenario::compile::RunOptions;
use weir_scenario::scenario::Scenario as CompiledScenario;
use weir_study::comparison::{Comparison, ControllerRuns, panels, tables};
use weir_study::runs::{Task, tidy_table};

use crate::columns::{GatheredTable, list};
use crate::error::{self, RunError};
use crate::tidy::{TidyColumns, tidy_columns};
use crate::values::from_json;
use crate::waiting::CallProgress;
use crate::world::SupervisedSimulator;

/// A function of each block of a table.
type TableBlocks<'t> = dyn FnMut(&[(String, Column<'_>)]) -> io::Result<()> + 't;

/// The note on a page of runs in which a class took part.
const NOT_REPRODUCIBLE: &str = "A Python class took part, so these runs can be made again only where that class is at hand (reproducible: false).";

/// Adds the class to the module.
pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<RunSet>()
}

/// Runs of a scenario under several controllers and seeds.
#[pyclass(frozen, module = "weir._weir", name = "RunSet")]
#[derive(Debug)]
pub(crate) struct RunSet {
    scenario: CompiledScenario,
    /// A report takes the series for a moment.
    comparison: Mutex<Comparison>,
    /// The traces that the runs were made with.
    traces: Arc<TraceStore>,
    reproducible: bool,
}

impl RunSet {
    pub(crate) fn new(
        scenario: CompiledScenario,
        comparison: Comparison,
        traces: Arc<TraceStore>,
        reproducible: bool,
    ) -> Self {
        Self { scenario, comparison: Mutex::new(comparison), traces, reproducible }
    }

    fn comparison(&self) -> MutexGuard<'_, Comparison> {
        self.comparison.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The content of the page.
    fn input(&self) -> PyResult<PageInput> {
        let mut comparison = self.comparison();
        let kept: Vec<Option<Recording>> =
            comparison.controllers.iter().map(|controller| controller.sample.series.clone()).collect();
        let values = tables::summary_table(&comparison);
        let (ranking, verdict) = (comparison.summary.ranking.clone(), comparison.verdict());
        let input =
            panels::report_input(&self.scenario, &mut comparison, &values, (ranking.as_ref(), verdict));
        for (controller, series) in comparison.controllers.iter_mut().zip(kept) {
            controller.sample.series = series;
        }
        let mut input = input.map_err(|error| RunError::new_err(error.to_string()))?;
        if !self.reproducible {
            input.notes.push(NOT_REPRODUCIBLE.to_owned());
        }
        Ok(input)
    }

    /// The recording of a run: that of the first seed, or a run that is made again.
    fn recording(&self, py: Python<'_>, controller: Option<&str>, seed: Option<u64>) -> PyResult<Recording> {
        let (name, seed) = {
            let comparison = self.comparison();
            let runs = runs_of(&comparison, controller)?;
            let seeds = &comparison.summary.seeds;
            let first = seeds.first().copied().unwrap_or(self.scenario.seed);
            let seed = seed.unwrap_or(first);
            if seed == first
                && let Some(series) = &runs.sample.series
            {
                return Ok(series.clone());
            }
            if !seeds.contains(&seed) {
                return Err(PyKeyError::new_err(format!(
                    "there is no run of seed {seed}; the seeds are {seeds:?}"
                )));
            }
            (runs.name.clone(), seed)
        };
        let scenario = &self.scenario;
        let under = (!scenario.controllers.is_empty()).then_some(name.as_str());
        let options = RunOptions { seed, controller: under, series: true };
        let world = SupervisedSimulator::new(!self.reproducible);
        let task = Task::new(format!("{}/{name}/{seed}", scenario.name), scenario, options);
        let task = Task { world: Some(&world), ..task };
        let traces = &*self.traces;
        let progress = CallProgress { function: None, all: 1 };
        let ran = world.supervise(py, &progress, |_| task.run(traces))?;
        let series = ran.map_err(error::run)?.measured.series;
        series.ok_or_else(|| RunError::new_err("the run has no series"))
    }

    /// The table of a run that `each` reads block by block from its recording.
    fn gathered<'py>(
        &self,
        py: Python<'py>,
        (controller, seed): (Option<&str>, Option<u64>),
        each: impl FnOnce(&Recording, &mut TableBlocks<'_>) -> io::Result<()>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let recording = self.recording(py, controller, seed)?;
        let mut table = GatheredTable::default();
        let mut add = |block: &[(String, Column<'_>)]| {
            table.add(block);
            Ok(())
        };
        each(&recording, &mut add).map_err(|error| {
            PyOSError::new_err(format!("the series of a long run, in a temporary file: {error}"))
        })?;
        table.arrays(py)
    }
}

/// The runs of the controller, or of the first one.
fn runs_of<'c>(comparison: &'c Comparison, controller: Option<&str>) -> PyResult<&'c ControllerRuns> {
    let controllers = &comparison.controllers;
    let found = match controller {
        Some(name) => controllers.iter().find(|runs| runs.name == name),
        None => controllers.first(),
    };
    found.ok_or_else(|| {
        let names: Vec<&str> = controllers.iter().map(|runs| runs.name.as_str()).collect();
        PyKeyError::new_err(format!("no run is of controller {controller:?}; the controllers are {names:?}"))
    })
}

#[pymethods]
impl RunSet {
    #[getter]
    fn scenario(&self) -> &str {
        &self.scenario.name
    }

    #[getter]
    fn title(&self) -> String {
        self.comparison().titled(&self.scenario.title)
    }

    /// The scenario with its changes, as TOML.
    #[getter]
    fn scenario_toml(&self) -> PyResult<String> {
        self.scenario.to_toml().map_err(error::setting)
    }

    /// Whether the same call gives the same results anywhere: no class took part.
    #[getter]
    fn reproducible(&self) -> bool {
        self.reproducible
    }

    #[getter]
    fn controllers<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, pyo3::types::PyList>> {
        list(py, self.comparison().controllers.iter().map(|controller| controller.name.as_str()))
    }

    #[getter]
    fn seeds(&self) -> Vec<u64> {
        self.comparison().summary.seeds.clone()
    }

    /// The result in a few sentences.
    #[getter]
    fn verdict(&self) -> String {
        self.comparison().verdict()
    }

    /// The leading and the recommended controllers, or `None` for a single controller.
    #[getter]
    fn ranking<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let ranking = serde_json::to_value(&self.comparison().summary.ranking).map_err(error::setting)?;
        from_json(py, &ranking)
    }

    /// Sentences on traces that were replaced by others.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.comparison().fallback_notes()
    }

    /// Adds the runs of further seeds, which other processes have made: for each controller in order the metrics of each seed as JSON.
    fn extend(&self, seeds: Vec<u64>, made: Vec<Vec<String>>) -> PyResult<()> {
        let read = |text: &String| {
            serde_json::from_str::<RunMetrics>(text)
                .map_err(|error| PyValueError::new_err(format!("metrics of another process: {error}")))
        };
        let mut comparison = self.comparison();
        let mut further = Vec::with_capacity(made.len());
        for runs in &made {
            further.push(runs.iter().map(read).collect::<PyResult<Vec<_>>>()?);
        }
        for (controller, runs) in comparison.controllers.iter_mut().zip(further) {
            controller.runs.extend(runs);
        }
        let seeds = [comparison.summary.seeds.clone(), seeds].concat();
        let runs = comparison.controllers.iter().map(|own| (own.name.as_str(), own.runs.as_slice()));
        let summary = Summary::from_runs(&self.scenario.name, &seeds, runs);
        let summary = summary.map_err(|error| PyValueError::new_err(error.to_string()))?;
        let (controllers, traces) = (take(&mut comparison.controllers), take(&mut comparison.traces));
        *comparison = Comparison::new(summary, controllers, traces);
        Ok(())
    }

    /// The text of `weir run --json`.
    fn to_json(&self) -> PyResult<String> {
        serde_json::to_string_pretty(&self.comparison().summary).map_err(error::setting)
    }

    /// The long table.
    fn tidy<'py>(&self, py: Python<'py>) -> PyResult<TidyColumns<'py>> {
        tidy_columns(py, &tidy_table(&[], 0, self.comparison().table_runs()))
    }

    /// The time series of a run, in bins of 100 ms.
    #[pyo3(signature = (controller = None, seed = None))]
    fn series<'py>(
        &self,
        py: Python<'py>,
        controller: Option<&str>,
        seed: Option<u64>,
    ) -> PyResult<Bound<'py, PyDict>> {
        self.gathered(py, (controller, seed), |recording, add| recording.each_table(add))
    }

    /// The decisions of a run that moved a rate or changed its limiting factor.
    #[pyo3(signature = (controller = None, seed = None))]
    fn decisions<'py>(
        &self,
        py: Python<'py>,
        controller: Option<&str>,
        seed: Option<u64>,
    ) -> PyResult<Bound<'py, PyDict>> {
        self.gathered(py, (controller, seed), |recording, add| recording.decisions().each_table(add))
    }

    /// The report page.
    fn report_html(&self) -> PyResult<String> {
        Ok(page::render(&self.input()?))
    }

    /// Writes the report page, whole or not at all.
    fn write_report(&self, path: PathBuf) -> PyResult<()> {
        let input = self.input()?;
        page::write(&path, &input)
            .map_err(|error| PyOSError::new_err(format!("{}: cannot be written: {error}", path.display())))
    }

    /// The scatter plot and the table of the report, for a notebook.
    fn fragment(&self) -> PyResult<String> {
        Ok(page::fragment(&self.input()?))
    }
}
