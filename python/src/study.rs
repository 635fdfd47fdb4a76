//! Comparisons over several scenarios: the demo, and the portrait of controllers.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use weir_import::traces::TraceStore;
use weir_report::page::SummaryTable;
use weir_report::text::{notes_below, summary};
use weir_scenario::scenario::{Candidate, Scenario as CompiledScenario};
use weir_study::comparison::{Comparison, demo, portrait};
use weir_study::paired::RunTable;

use crate::error;
use crate::registry::registry;
use crate::run::compare as run_comparison;
use crate::scenario::{candidates, classes_in, traces};
use crate::values::from_json;

/// Adds the functions to the module.
pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(run_demo, module)?)?;
    module.add_function(wrap_pyfunction!(compare, module)?)
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
