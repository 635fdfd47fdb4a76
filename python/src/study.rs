//! Comparisons over several scenarios: the demo, and the portrait of controllers.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyDict;
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

/// A comparison over several scenarios, as it was asked for.
struct StudyRequest<'py> {
    controllers: Option<Vec<String>>,
    runs: Option<u32>,
    jobs: usize,
    progress: Option<Bound<'py, PyAny>>,
    data: Vec<PathBuf>,
    /// Width of the terminal, in columns.
    width: Option<usize>,
}

impl<'py> StudyRequest<'py> {
    /// The scenarios of these names, as `own` changes them, and their runs, one scenario after the other.
    fn compared<const N: usize>(
        &self,
        py: Python<'py>,
        names: [&str; N],
        own: impl Fn(&mut CompiledScenario),
    ) -> PyResult<(Vec<CompiledScenario>, Box<[Comparison; N]>)> {
        let mut overrides = Candidate::laid_over(&candidates(self.controllers.clone())?);
        overrides.extend(self.runs.map(|runs| format!("runs={runs}")));
        let (registry, traces) = (registry(), traces(&self.data));
        let opened = |name: &str| {
            let mut scenario = CompiledScenario::open_in(&registry, name, &overrides)
                .map_err(|error| error::scenario(&error))?;
            own(&mut scenario);
            PyResult::Ok(scenario)
        };
        let scenarios: Vec<CompiledScenario> = names.into_iter().map(opened).collect::<PyResult<_>>()?;
        let run = |scenario: &CompiledScenario| {
            let seeds = scenario.seeds();
            let with_classes = !classes_in(scenario).is_empty();
            run_comparison(
                py,
                (scenario, &traces),
                (&seeds, self.jobs, false),
                with_classes,
                self.progress.clone(),
            )
        };
        let made: Box<[Comparison]> = scenarios.iter().map(run).collect::<PyResult<_>>()?;
        Ok((scenarios, made.try_into().unwrap_or_else(|_| unreachable!("one for each scenario"))))
    }

    /// The result as a dictionary.
    fn result(
        &self,
        py: Python<'py>,
        values: &RunTable,
        notes: Vec<String>,
        verdict: Option<String>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let result = PyDict::new(py);
        result.set_item("table", table(py, values)?)?;
        result.set_item("text", text(values, self.width))?;
        result.set_item("notes", notes)?;
        result.set_item("verdict", verdict)?;
        Ok(result)
    }
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
    let request = StudyRequest { controllers, runs, jobs, progress, data, width };
    let (scenarios, made) = request.compared(py, [demo::ALONE, demo::BESIDE_CUBIC], |scenario| {
        scenario.controllers = demo::candidates(&scenario.controllers);
    })?;
    let [alone, beside] = &*made;
    let values = demo::table(alone, beside);
    let ranking = demo::ranking(alone, beside);
    let notes = [demo::notes(alone, &values), alone.fallback_notes()].concat();
    let result = request.result(py, &values, notes, Some(demo::verdict(alone, ranking.as_ref())))?;
    let beside_name = &scenarios[1].name;
    let title = alone.titled(&scenarios[0].title);
    let extent = format!("{}\nshare beside CUBIC: the same of {beside_name}", alone.extent(&scenarios[0]));
    result.set_item("title", [title, extent])?;
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
    let request = StudyRequest { controllers, runs, jobs, progress, data, width };
    let (_, made) = request.compared(py, portrait::SCENARIOS, |_| ())?;
    let ranking = portrait::ranking(&made);
    let verdict = portrait::verdict(&made, ranking.as_ref());
    request.result(py, &portrait::table(&made), made[0].fallback_notes(), verdict)
}
