//! Runs of a scenario under several controllers and seeds.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use weir_import::traces::TraceStore;
use weir_scenario::scenario::Scenario as CompiledScenario;
use weir_study::comparison::{Comparison, ComparisonOptions, ComparisonRequest};

use crate::error;
use crate::registry::{begin_call, end_call};
use crate::result::RunSet;
use crate::scenario::{Scenario, assignment, classes_in, traces};
use crate::waiting::CallProgress;
use crate::world::SupervisedSimulator;

/// Adds the class to the module.
pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(assignment, module)?)?;
    module.add_class::<Plan>()
}

/// Runs to be made.
#[pyclass(frozen, module = "weir._weir", name = "Plan")]
#[derive(Debug)]
pub(crate) struct Plan {
    scenario: CompiledScenario,
    seeds: Vec<u64>,
    classes: Vec<String>,
    traces: Arc<TraceStore>,
}

/// Runs `scenario`, with the interpreter's lock where a class takes part, else without it.
pub(crate) fn compare(
    py: Python<'_>,
    (scenario, traces): (&CompiledScenario, &TraceStore),
    (seeds, jobs, series): (&[u64], usize, bool),
    with_classes: bool,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Comparison> {
    let world = SupervisedSimulator::new(with_classes);
    let request = ComparisonRequest { scenario, seeds, jobs: world.jobs(jobs), series };
    let options = ComparisonOptions { world: Some(&world), ..ComparisonOptions::default() };
    let progress = CallProgress { function: progress, all: request.runs() };
    world.supervise(py, &progress, |done| request.run_with(traces, done, options))?.map_err(error::comparison)
}

#[pymethods]
impl Plan {
    /// The plan of these runs; it finds every error that can be found before a run.
    #[new]
    #[pyo3(signature = (scenario, set = Vec::new(), controllers = None, seeds = None, data = Vec::new()))]
    fn new(
        scenario: &Scenario,
        set: Vec<String>,
        controllers: Option<Vec<String>>,
        seeds: Option<Vec<u64>>,
        data: Vec<PathBuf>,
    ) -> PyResult<Self> {
        let scenario = scenario.with(set, controllers, seeds.as_deref())?;
        let traces = Arc::new(traces(&data));
        scenario.try_to_build(&traces).map_err(|error| error::scenario(&error))?;
        let seeds = seeds.unwrap_or_else(|| scenario.seeds());
        let classes = classes_in(&scenario);
        Ok(Self { scenario, seeds, classes, traces })
    }

    /// Begins a call on this thread: classes that are registered before its end are those of its plans alone.
    #[staticmethod]
    fn begin_call() {
        begin_call();
    }

    /// Ends the last call of this thread.
    #[staticmethod]
    fn end_call() {
        end_call();
    }

    /// Names of the classes that take part.
    #[getter]
    fn classes(&self) -> Vec<String> {
        self.classes.clone()
    }

    /// The controllers that are compared; one entry for the flows' own.
    #[getter]
    fn controllers(&self) -> Vec<String> {
        match self.scenario.controllers.as_slice() {
            [] => vec![self.scenario.controllers_in_use()],
            several => several.to_vec(),
        }
    }

    #[getter]
    fn seeds(&self) -> Vec<u64> {
        self.seeds.clone()
    }

    /// Makes the runs.
    #[pyo3(signature = (jobs = 1, series = true, progress = None))]
    fn run(
        &self,
        py: Python<'_>,
        jobs: usize,
        series: bool,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<RunSet> {
        let comparison = compare(
            py,
            (&self.scenario, &self.traces),
            (&self.seeds, jobs, series),
            !self.classes.is_empty(),
            progress,
        )?;
        let scenario = self.scenario.with_absolute_traces(&self.traces);
        Ok(RunSet::new(scenario, comparison, Arc::clone(&self.traces), self.classes.is_empty()))
    }

    /// Metrics of the runs of one controller with these seeds, as JSON, for another process.
    fn metrics(&self, py: Python<'_>, controller: &str, seeds: Vec<u64>) -> PyResult<Vec<String>> {
        let mut scenario = self.scenario.clone();
        if !scenario.controllers.is_empty() {
            scenario.controllers = vec![controller.to_owned()];
        }
        let comparison =
            compare(py, (&scenario, &self.traces), (&seeds, 1, false), !self.classes.is_empty(), None)?;
        let runs = comparison.controllers.iter().flat_map(|controller| &controller.runs);
        runs.map(|run| serde_json::to_string(run).map_err(error::setting)).collect()
    }
}
