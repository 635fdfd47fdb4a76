//! Studies: the demo, the portrait of controllers, suites, and claims of papers.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use weir_import::traces::TraceStore;
use weir_report::page::SummaryTable;
use weir_report::text::{notes_below, summary};
use weir_scenario::registry::with_references;
use weir_scenario::scenario::{Candidate, Scenario as CompiledScenario};
use weir_study::comparison::{Comparison, demo, portrait};
use weir_study::experiments::{self, Experiment, Extent, Provenance, Reproduction};
use weir_study::paired::RunTable;
use weir_study::runs::{NoStore, ResultLog, RunError as StudyError, Shardable};
use weir_study::suite::{self as suites, Suite, SuiteRequest};

use crate::controller::with_a_class;
use crate::error;
use crate::registry::registry;
use crate::run::compare as run_comparison;
use crate::scenario::{classes_in, traces};
use crate::values::from_json;
use crate::waiting::{CallProgress, CallState, attend, wait};
use crate::world::SupervisedSimulator;

/// Adds the functions to the module.
pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(run_demo, module)?)?;
    module.add_function(wrap_pyfunction!(compare, module)?)?;
    module.add_function(wrap_pyfunction!(suite, module)?)?;
    module.add_function(wrap_pyfunction!(reproduce, module)?)
}

/// The candidates of these names, or all controllers.
fn candidates(names: Option<Vec<String>>) -> PyResult<Vec<Candidate>> {
    match names {
        Some(names) => Candidate::list(&names.join(",")).map_err(error::setting),
        None => Ok(registry().controller_names().map(Candidate::named).collect()),
    }
}

/// Whether a class is among the candidates.
fn has_class(candidates: &[Candidate]) -> bool {
    let name = |candidate: &Candidate| candidate.name.split('{').next().unwrap_or_default().trim().to_owned();
    let classes = crate::registry::classes();
    candidates.iter().any(|candidate| classes.iter().any(|class| class.name() == name(candidate)))
}

fn opened(name: &str, overrides: &[String]) -> PyResult<CompiledScenario> {
    CompiledScenario::open_in(&registry(), name, overrides).map_err(|error| error::scenario(&error))
}

/// A table as a dictionary: columns, rows with the value of each run, and the same as text.
fn table<'py>(py: Python<'py>, table: &RunTable) -> PyResult<Bound<'py, PyAny>> {
    let summary = table.summary();
    let value = serde_json::json!({
        "columns": table.columns.iter().map(|column| serde_json::json!({
            "label": column.label, "unit": column.unit, "definition": column.definition, "decimals": column.decimals,
        })).collect::<Vec<_>>(),
        "rows": table.rows.iter().zip(&summary.rows).map(|(row, shown)| serde_json::json!({
            "name": row.name,
            "controller": row.law,
            "values": row.values,
            "mean": shown.cells.iter().map(|cell| cell.map(|cell| cell.mean)).collect::<Vec<_>>(),
            "ci95": shown.cells.iter().map(|cell| cell.and_then(|cell| cell.ci95)).collect::<Vec<_>>(),
        })).collect::<Vec<_>>(),
    });
    from_json(py, &value)
}

/// The table as text, with its notes and the differences between variants.
fn text(table: &RunTable, width: Option<usize>) -> String {
    let drawn = |title: &str, table: &SummaryTable| {
        format!("{}\n{}", summary(title, table, width), notes_below(&table.notes(), width))
    };
    let differences = table.differences();
    let differences = differences.iter().map(|own| drawn(&own.title(), &own.table));
    drawn("controller", &table.summary()) + &differences.collect::<String>()
}

/// Runs scenarios one after the other.
fn comparisons(
    py: Python<'_>,
    scenarios: &[CompiledScenario],
    traces: &TraceStore,
    jobs: usize,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Vec<Comparison>> {
    let run = |scenario: &CompiledScenario| {
        let seeds = scenario.seeds();
        let with_classes = !classes_in(scenario).is_empty();
        run_comparison(py, (scenario, traces), (&seeds, jobs, false), with_classes, progress.cloned())
    };
    scenarios.iter().map(run).collect()
}

/// The demo: a call from a moving car, alone and beside an upload.
#[pyfunction]
#[pyo3(signature = (controllers = None, runs = None, jobs = 1, progress = None, data = Vec::new(), width = None))]
fn run_demo<'py>(
    py: Python<'py>,
    controllers: Option<Vec<String>>,
    runs: Option<u32>,
    jobs: usize,
    progress: Option<Bound<'py, PyAny>>,
    data: Vec<PathBuf>,
    width: Option<usize>,
) -> PyResult<Bound<'py, PyDict>> {
    let mut overrides = Candidate::laid_over(&candidates(controllers)?);
    overrides.extend(runs.map(|runs| format!("runs={runs}")));
    let shown = |name: &str| {
        let mut scenario = opened(name, &overrides)?;
        scenario.controllers = demo::candidates(&scenario.controllers);
        PyResult::Ok(scenario)
    };
    let scenarios = [shown(demo::ALONE)?, shown(demo::BESIDE_CUBIC)?];
    let made = comparisons(py, &scenarios, &traces(&data), jobs, progress.as_ref())?;
    let [alone, beside] = made.as_slice() else { unreachable!("one for each scenario") };
    let values = demo::table(alone, beside);
    let ranking = demo::ranking(alone, beside);
    let result = PyDict::new(py);
    let beside_name = &scenarios[1].name;
    let title = alone.titled(&scenarios[0].title);
    let extent = format!("{}\nshare beside CUBIC: the same of {beside_name}", alone.extent(&scenarios[0]));
    result.set_item("title", [title, extent])?;
    result.set_item("table", table(py, &values)?)?;
    result.set_item("text", text(&values, width))?;
    result.set_item("notes", [demo::notes(alone, &values), alone.fallback_notes()].concat())?;
    result.set_item("verdict", demo::verdict(alone, ranking.as_ref()))?;
    Ok(result)
}

/// The portrait of controllers: a row each, over the scenarios of `weir compare`.
#[pyfunction]
#[pyo3(signature = (controllers = None, runs = None, jobs = 1, progress = None, data = Vec::new(), width = None))]
fn compare<'py>(
    py: Python<'py>,
    controllers: Option<Vec<String>>,
    runs: Option<u32>,
    jobs: usize,
    progress: Option<Bound<'py, PyAny>>,
    data: Vec<PathBuf>,
    width: Option<usize>,
) -> PyResult<Bound<'py, PyDict>> {
    let mut overrides = Candidate::laid_over(&candidates(controllers)?);
    overrides.extend(runs.map(|runs| format!("runs={runs}")));
    let scenarios: Vec<CompiledScenario> =
        portrait::SCENARIOS.iter().map(|name| opened(name, &overrides)).collect::<PyResult<_>>()?;
    let made = comparisons(py, &scenarios, &traces(&data), jobs, progress.as_ref())?;
    let made: Box<[Comparison; portrait::SCENARIOS.len()]> =
        made.into_boxed_slice().try_into().unwrap_or_else(|_| unreachable!("one for each scenario"));
    let ranking = portrait::ranking(&made);
    let result = PyDict::new(py);
    let values = portrait::table(&made);
    result.set_item("table", table(py, &values)?)?;
    result.set_item("text", text(&values, width))?;
    result.set_item("notes", made[0].fallback_notes())?;
    result.set_item("verdict", portrait::verdict(&made, ranking.as_ref()))?;
    Ok(result)
}

/// Makes all runs; those in the log `out` are not made again.
fn make<D: Shardable + Sync>(
    py: Python<'_>,
    all: &D,
    (state, with_class): (&CallState, bool),
    (traces, jobs): (&TraceStore, usize),
    out: Option<PathBuf>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<D::Whole>
where
    D::Whole: Send,
{
    let log =
        out.map(|path| ResultLog::open(&path, &[])).transpose().map_err(|error| error::run(error.into()))?;
    let progress = CallProgress { function: progress, all: all.runs() };
    let run = |done: &(dyn Fn() + Sync)| -> Result<D::Whole, StudyError> {
        match &log {
            Some(log) => all.run(jobs, traces, log, done),
            None => all.run(jobs, traces, &NoStore, done),
        }
    };
    let ran = if with_class {
        attend(py, state, &progress, run)?
    } else {
        wait(py, state, &progress, || run(&|| state.count()))?
    };
    ran.map_err(error::run)
}

/// Controllers through a suite of cases: the result as JSON, and the page.
#[pyfunction]
#[pyo3(signature = (suite, controllers = None, seeds = None, cases = Vec::new(), jobs = 1, out = None, progress = None, data = Vec::new()))]
fn suite(
    py: Python<'_>,
    suite: &str,
    controllers: Option<Vec<String>>,
    seeds: Option<Vec<u64>>,
    cases: Vec<String>,
    jobs: usize,
    out: Option<PathBuf>,
    progress: Option<Bound<'_, PyAny>>,
    data: Vec<PathBuf>,
) -> PyResult<(String, String, Vec<String>)> {
    let registry = registry();
    let from_file;
    let suite: &Suite = if let Some(shipped) = suites::find(suite) {
        shipped
    } else {
        from_file =
            Suite::open(&registry, std::path::Path::new(suite)).map_err(|error| error::scenario(&error))?;
        &from_file
    };
    let candidates = match (&controllers, suite.controllers.as_slice()) {
        (None, own @ [_, ..]) => own.to_vec(),
        _ => candidates(controllers)?,
    };
    let cases: Vec<&str> = cases.iter().map(String::as_str).collect();
    if let Some(case) = cases.iter().find(|case| suite.case(case).is_none()) {
        let known: Vec<&str> = suite.cases.iter().map(|case| case.name.as_str()).collect();
        return Err(error::setting(format_args!(
            "the suite {} has no case `{case}`; it has {}",
            suite.name,
            known.join(", ")
        )));
    }
    let seeds = seeds.unwrap_or_else(|| (1..=5).collect());
    let traces = traces(&data);
    let state = CallState::default();
    let world = SupervisedSimulator { state: &state };
    let request =
        SuiteRequest { suite, registry: &registry, controllers: &candidates, seeds: &seeds, cases: &cases };
    let with_class = has_class(&candidates);
    let jobs = if with_class { 1 } else { jobs };
    let plan = request.plan().map_err(error::run)?.in_world(&world);
    let run = make(py, &plan, (&state, with_class), (&traces, jobs), out, progress)?;
    let json = serde_json::to_string(&run.result).map_err(error::setting)?;
    Ok((json, suites::page(&suite.title, &run, &[]), run.result.notes()))
}

/// The claims of papers: the claims as JSON, and the page.
#[pyfunction]
#[pyo3(signature = (rows = Vec::new(), paper = None, full = false, runs = None, grid = None, set = Vec::new(), jobs = 1, out = None, progress = None, data = Vec::new()))]
fn reproduce(
    py: Python<'_>,
    rows: Vec<String>,
    paper: Option<&str>,
    full: bool,
    runs: Option<u32>,
    grid: Option<u32>,
    set: Vec<String>,
    jobs: usize,
    out: Option<PathBuf>,
    progress: Option<Bound<'_, PyAny>>,
    data: Vec<PathBuf>,
) -> PyResult<(String, String)> {
    let registry = with_references(registry());
    let rows = experiments::open(&registry, &rows, paper).map_err(|error| error::scenario(&error))?;
    let rows: Vec<Experiment> = rows.into_iter().map(|row| row.changed(&set)).collect();
    let traces = traces(&data);
    let extent = Extent { full, runs, grid, plots: true };
    let state = CallState::default();
    let world = SupervisedSimulator { state: &state };
    // Rows name their controllers in scenarios, which may be classes.
    let (plan, with_class) = with_a_class(|| Reproduction::plan(&rows, extent, &traces));
    let plan = plan.map_err(|error| error::scenario(&error))?.in_world(&world);
    let provenance = Provenance { seeds: plan.seeds(), changed: set.clone(), ..Provenance::of(&[]) };
    let jobs = if with_class { 1 } else { jobs };
    let done = make(py, &plan, (&state, with_class), (&traces, jobs), out, progress)?;
    let json = serde_json::to_string(&done.claims).map_err(error::setting)?;
    Ok((json, experiments::report(&rows, &done.claims, &done.plots, &provenance)))
}
