//! Sweeps of a scenario, whose runs other processes can make.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use serde_json::Value;
use weir_form::{ScenarioError as FormError, Varied};
use weir_import::traces::TraceStore;
use weir_scenario::scenario::Candidate;
use weir_study::experiments::{
    KeptRun, Reproduced, Reproduction, SweepError, SweepPart, SweepRequest, SweptScenario, varied_controllers,
};
use weir_study::output::TableFormat;
use weir_study::runs::{
    BUILT_FROM, NoStore, RunError as StudyError, Store, StoreError, table_axes, tidy_table,
};
use weir_study::sweep::{PlannedSweep, json};

use crate::columns::list;
use crate::error;
use crate::folder::ResultFolder;
use crate::registry::{classes, registry};
use crate::scenario::{classes_in, traces};
use crate::tidy::{TidyColumns, tidy_columns};
use crate::waiting::{CallProgress, CallState, wait};
use crate::world::SupervisedSimulator;

/// Adds the classes to the module.
pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(built_from, module)?)?;
    module.add_class::<SweepPlan>()?;
    module.add_class::<SweepWork>()?;
    module.add_class::<SweptRuns>()
}

/// Version and sources of this build: runs of another build are not those of this one.
#[pyfunction]
fn built_from() -> (&'static str, &'static str) {
    let [version, sources] = BUILT_FROM;
    (version, sources)
}

/// A sweep whose runs are planned.
#[pyclass(frozen, module = "weir._weir", name = "SweepPlan")]
#[derive(Debug)]
pub(crate) struct SweepPlan {
    sweep: PlannedSweep,
    traces: TraceStore,
    classes: Vec<String>,
    runs: usize,
}

/// The runs of a sweep that are there, and where they are kept.
#[derive(Debug)]
struct WorkState {
    /// The directory of the results.
    folder: Option<ResultFolder>,
    made: Vec<Option<KeptRun>>,
}

/// A sweep whose runs are being made.
#[pyclass(frozen, module = "weir._weir", name = "SweepWork")]
#[derive(Debug)]
pub(crate) struct SweepWork {
    plan: Py<SweepPlan>,
    state: Mutex<WorkState>,
}

/// The results of a sweep.
#[pyclass(frozen, module = "weir._weir", name = "SweptRuns")]
#[derive(Debug)]
pub(crate) struct SweptRuns {
    plan: Py<SweepPlan>,
    results: Reproduced,
}

/// A store that has nothing, and shows under which key a result would be stored.
#[derive(Debug, Default)]
struct KeySlot(Mutex<Option<String>>);

impl Store<KeptRun> for KeySlot {
    fn get(&self, _: &str) -> Option<KeptRun> {
        None
    }

    fn put(&self, key: &str, _: &KeptRun) -> Result<(), StoreError> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(key.to_owned());
        Ok(())
    }
}

/// The exception of a request that is refused.
fn refused(varied: &[Varied], refused: SweepError) -> PyErr {
    match refused {
        SweepError::Scenario(error) => mistake(varied, &error),
        SweepError::Refused { part, problem } => error::setting(match part {
            SweepPart::Key(key) if key.is_empty() => format!("grid: {problem}"),
            SweepPart::Key(key) => format!("grid {key}: {problem}"),
            SweepPart::FlowController(path) => format!("grid {path}: {problem} in controllers"),
            SweepPart::Set(text) => format!("set {text}: {problem}"),
            SweepPart::Runs(runs) => format!("runs {runs}: {problem}"),
            SweepPart::Controllers => format!("controllers: {problem}"),
        }),
    }
}

/// A mistake in a scenario, at the key of the grid if it comes from there.
fn mistake(varied: &[Varied], mistake: &FormError) -> PyErr {
    let is_swept = |text: &str| varied.iter().any(|own| text.starts_with(&format!("{}=", own.path)));
    error::scenario_at(mistake, &|assignment| if is_swept(assignment) { "grid" } else { "set" })
}

impl SweepPlan {
    /// The result of `work` on the runs.
    fn with_runs<T: Send>(
        &self,
        py: Python<'_>,
        progress: &CallProgress<'_>,
        work: impl FnOnce(&Reproduction<'_>, &(dyn Fn() + Sync)) -> Result<T, StudyError> + Send,
    ) -> PyResult<T> {
        let world = SupervisedSimulator::new(!self.classes.is_empty());
        let runs = self.sweep.runs.clone().with_metrics(true).in_world(&world);
        world.supervise(py, progress, |done| work(&runs, done))?.map_err(error::run)
    }

    /// The content of `sweep.json`.
    fn json(&self, results: &Reproduced) -> Value {
        let request = &self.sweep.request;
        json(request, &request.numbers(results))
    }

    fn check(&self, places: &[usize]) -> PyResult<()> {
        match places.iter().find(|place| **place >= self.runs) {
            None => Ok(()),
            Some(place) => Err(PyValueError::new_err(format!("there is no run {place} among {}", self.runs))),
        }
    }
}

#[pymethods]
impl SweepPlan {
    /// The plan of a sweep; it finds every error that can be found before a run. A scenario is a shipped one, a file, or a `text`
    /// that messages call `name`. Each entry of `grid` is a `path=value,value`.
    #[new]
    #[pyo3(signature = (name, text, set, grid, controllers = None, runs = None, data = Vec::new()))]
    fn new(
        py: Python<'_>,
        name: String,
        text: Option<String>,
        set: Vec<String>,
        grid: Vec<String>,
        controllers: Option<Vec<String>>,
        runs: Option<u32>,
        data: Vec<PathBuf>,
    ) -> PyResult<Self> {
        let read = |text: &String| {
            text.parse::<Varied>().map_err(|problem| error::setting(format!("grid: {problem}")))
        };
        let varied: Vec<Varied> = grid.iter().map(read).collect::<PyResult<_>>()?;
        let named = match &controllers {
            Some(names) => Candidate::list(&names.join(","))
                .map_err(|problem| error::setting(format!("controllers {names:?}: {problem}")))?,
            None => Vec::new(),
        };
        let source = SweptScenario { registry: registry(), name, text };
        let traces = traces(&data);
        let overrides = set.iter().cloned().chain(runs.map(|runs| format!("runs={runs}")));
        let of_candidates = if named.is_empty() { Vec::new() } else { Candidate::laid_over(&named) };
        let overrides: Vec<String> = overrides.chain(of_candidates).collect();
        py.detach(|| {
            let opened =
                source.open(&overrides).and_then(|opened| opened.try_to_build(&traces).map(|()| opened));
            let scenario = opened.map_err(|error| mistake(&varied, &error))?;
            let mut names = classes_in(&scenario);
            let swept = |name: &str| varied_controllers(&varied).any(|controller| controller == name);
            for class in classes().iter().filter(|class| swept(class.name())) {
                if names.iter().all(|name| name != class.name()) {
                    names.push(class.name().to_owned());
                }
            }
            let request = SweepRequest::new(source, &scenario, set, varied.clone(), named, &traces);
            let request = request.map_err(|error| refused(&varied, error))?;
            let sweep = PlannedSweep::new(request, &traces).map_err(|error| mistake(&varied, &error))?;
            let runs = sweep.runs.number();
            Ok(Self { sweep, traces, classes: names, runs })
        })
    }

    /// Number of all runs.
    #[getter]
    fn runs(&self) -> usize {
        self.runs
    }

    /// Names of the classes that take part.
    #[getter]
    fn classes(&self) -> Vec<String> {
        self.classes.clone()
    }

    /// Makes the runs at these places in the order of all runs, and returns them as a line each, for [`SweepWork::absorb`].
    fn shard<'py>(&self, py: Python<'py>, places: Vec<usize>) -> PyResult<Bound<'py, PyBytes>> {
        self.check(&places)?;
        let progress = CallProgress { function: None, all: places.len() };
        let lines = self.with_runs(py, &progress, |runs, done| {
            let mut lines = Vec::new();
            for place in places {
                let slot = KeySlot::default();
                let made = runs.make_runs(&[place], 1, &self.traces, &slot, done)?;
                let key = slot.0.into_inner().unwrap_or_else(PoisonError::into_inner);
                let [Some(made)] = made.as_slice() else { continue };
                let line = serde_json::to_string(&(place, key, made));
                lines.push(line.map_err(|error| StudyError::World {
                    run: format!("run {place}"),
                    problem: error.into(),
                })?);
            }
            Ok(lines.join("\n"))
        })?;
        Ok(PyBytes::new(py, lines.as_bytes()))
    }
}

impl SweepWork {
    fn state(&self) -> MutexGuard<'_, WorkState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl SweepWork {
    /// The work of `plan`; runs that the directory `out` keeps are there already.
    #[new]
    #[pyo3(signature = (plan, out = None, jobs = 1))]
    fn new(py: Python<'_>, plan: Py<SweepPlan>, out: Option<PathBuf>, jobs: usize) -> PyResult<Self> {
        let own = plan.get();
        let folder = out.map(|out| ResultFolder::open(&out, &own.sweep.request.source.registry));
        let folder = folder.transpose()?;
        let made = match folder.as_ref().map(ResultFolder::log) {
            Some(log) if !log.is_empty() => {
                let runs = own.sweep.runs.clone().with_metrics(true);
                let state = CallState::default();
                let progress = CallProgress { function: None, all: own.runs };
                let find = || runs.stored_runs(jobs, &own.traces, log, &|| !state.is_ended());
                wait(py, &state, &progress, find)?.map_err(error::run)?
            }
            _ => vec![None; own.runs],
        };
        Ok(Self { plan, state: Mutex::new(WorkState { folder, made }) })
    }

    /// Places of the runs that are not there yet, in the order of all runs.
    fn missing(&self) -> Vec<usize> {
        let missing = |(place, made): (usize, &Option<KeptRun>)| made.is_none().then_some(place);
        self.state().made.iter().enumerate().filter_map(missing).collect()
    }

    /// Makes the runs that are missing, in this process.
    #[pyo3(signature = (jobs = 1, progress = None))]
    fn make(&self, py: Python<'_>, jobs: usize, progress: Option<Bound<'_, PyAny>>) -> PyResult<()> {
        let places = self.missing();
        let plan = self.plan.get();
        let mut state = self.state();
        let jobs = if plan.classes.is_empty() { jobs } else { 1 };
        let progress = CallProgress { function: progress, all: places.len() };
        let log = state.folder.as_ref().map(ResultFolder::log);
        let made = plan.with_runs(py, &progress, |runs, done| match log {
            Some(log) => runs.make_runs(&places, jobs, &plan.traces, log, done),
            None => runs.make_runs(&places, jobs, &plan.traces, &NoStore, done),
        })?;
        for (place, made) in places.into_iter().zip(made) {
            state.made[place] = made;
        }
        Ok(())
    }

    /// Takes the runs of a [shard](SweepPlan::shard), and keeps them.
    fn absorb(&self, py: Python<'_>, shard: &[u8]) -> PyResult<usize> {
        let plan = self.plan.get();
        py.detach(|| {
            let mut state = self.state();
            let WorkState { folder, made } = &mut *state;
            let mut taken = 0;
            for line in shard.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
                let (place, key, run): (usize, Option<String>, KeptRun) = serde_json::from_slice(line)
                    .map_err(|error| {
                        PyValueError::new_err(format!("the runs of another process: {error}"))
                    })?;
                plan.check(&[place])?;
                if let (Some(folder), Some(key)) = (&folder, &key) {
                    folder.log().put(key, &run).map_err(|error| error::run(error.into()))?;
                }
                made[place] = Some(run);
                taken += 1;
            }
            Ok(taken)
        })
    }

    /// The results, after all runs; the files of the directory are written.
    fn finish(&self, py: Python<'_>) -> PyResult<SweptRuns> {
        let plan = self.plan.clone_ref(py);
        let sweep = &self.plan.get().sweep;
        let results = py.detach(|| {
            let mut state = self.state();
            let missing = state.made.iter().filter(|made| made.is_none()).count();
            if missing > 0 {
                return Err(PyValueError::new_err(format!("{missing} runs are missing")));
            }
            let results = sweep.runs.clone().with_metrics(true).combine(std::mem::take(&mut state.made));
            if let Some(folder) = &mut state.folder {
                let content = self.plan.get().json(&results);
                let format = Some(TableFormat::Parquet);
                folder.write(|directory| sweep.request.write(&results, directory, format, &content))?;
            }
            Ok(results)
        })?;
        Ok(SweptRuns { plan, results })
    }

    /// Lets the next call have the directory. A directory that was made for this work goes again if it keeps no run.
    fn close(&self) {
        let folder = self.state().folder.take();
        drop(folder);
    }
}

#[pymethods]
impl SweptRuns {
    /// Name of the scenario.
    #[getter]
    fn scenario(&self) -> &str {
        &self.plan.get().sweep.request.name
    }

    /// Title of the scenario.
    #[getter]
    fn title(&self) -> &str {
        &self.plan.get().sweep.request.title
    }

    /// Whether the same call gives the same results anywhere: no class took part.
    #[getter]
    fn reproducible(&self) -> bool {
        self.plan.get().sweep.request.reproducible
    }

    /// Names under which controllers were compared.
    #[getter]
    fn controllers<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        list(py, self.plan.get().sweep.request.candidates.iter().map(|own| own.name.as_str()))
    }

    /// Sentences on traces that were replaced by others.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.plan.get().sweep.request.notes.clone()
    }

    /// The content of `sweep.json`.
    fn to_json(&self) -> PyResult<String> {
        serde_json::to_string(&self.plan.get().json(&self.results)).map_err(error::setting)
    }

    /// The long table, with a column for each key of the grid.
    fn tidy<'py>(&self, py: Python<'py>) -> PyResult<TidyColumns<'py>> {
        let request = &self.plan.get().sweep.request;
        let table =
            py.detach(|| tidy_table(&table_axes(&request.varied), 0, request.table_runs(&self.results)));
        tidy_columns(py, &table)
    }
}
