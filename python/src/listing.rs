//! Lists of controllers, scenarios, suites, rows of papers, schemas.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use weir_measure::results::table_metrics;
use weir_scenario::scenario::scenario_schema;
use weir_scenario::shipped::SCENARIOS;
use weir_study::experiments::ROWS;
use weir_study::runs::table_schema;
use weir_study::suite::{self, SUITES};

use crate::columns::list;
use crate::error;
use crate::registry::registry;
use crate::values::from_json;

/// Adds the functions to the module.
pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(controllers, module)?)?;
    module.add_function(wrap_pyfunction!(scenarios, module)?)?;
    module.add_function(wrap_pyfunction!(suites, module)?)?;
    module.add_function(wrap_pyfunction!(rows, module)?)?;
    module.add_function(wrap_pyfunction!(metrics, module)?)?;
    module.add_function(wrap_pyfunction!(schema, module)?)
}

/// A dictionary for each controller, in the order of the listing.
#[pyfunction]
fn controllers(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let all = PyList::empty(py);
    for info in registry().controllers() {
        let dict = PyDict::new(py);
        dict.set_item("name", &*info.name)?;
        dict.set_item("summary", &*info.summary)?;
        dict.set_item("source", &*info.source)?;
        dict.set_item("placement", &*info.placement)?;
        dict.set_item("feedback", &*info.feedback)?;
        dict.set_item("presets", list(py, info.presets.iter().map(|preset| &*preset.name))?)?;
        all.append(dict)?;
    }
    Ok(all)
}

/// The names of the shipped scenarios.
#[pyfunction]
fn scenarios(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    list(py, SCENARIOS.iter().map(|scenario| scenario.name))
}

/// The names of the shipped suites.
#[pyfunction]
fn suites(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    list(py, SUITES.iter().map(|suite| suite.name.as_str()))
}

/// The names of the shipped rows of papers.
#[pyfunction]
fn rows(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    list(py, ROWS.iter().map(|row| row.name))
}

/// The metrics of the long table, each with its unit (UCUM).
#[pyfunction]
fn metrics(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let all = PyDict::new(py);
    table_metrics().iter().try_for_each(|metric| all.set_item(&metric.name, metric.unit))?;
    Ok(all)
}

/// A JSON Schema: of `scenario`, `results`, `table`, `study`, `suite`, `row`, `call`, or of the options of a controller.
#[pyfunction]
#[pyo3(signature = (what = "scenario", name = None))]
fn schema<'py>(py: Python<'py>, what: &str, name: Option<&str>) -> PyResult<Bound<'py, PyAny>> {
    let schema = match (what, name) {
        ("scenario", None) => scenario_schema().clone(),
        ("results", None) => {
            serde_json::to_value(weir_measure::results::results_schema()).map_err(error::setting)?
        }
        ("table", None) => table_schema(),
        // The names of both forms stand for the one schema.
        ("study" | "suite" | "row", None) => suite::study_schema().clone(),
        ("call", None) => {
            serde_json::to_value(weir_world::recorded::call_schema()).map_err(error::setting)?
        }
        ("options", Some(name)) => {
            let registry = registry();
            registry.find(name).map_err(error::setting)?;
            let schema = registry.options_schema(name).cloned();
            schema.ok_or_else(|| {
                error::setting(format_args!("`{name}` is a class, which may take any option"))
            })?
        }
        _ => {
            return Err(error::setting(format_args!(
                "there is no schema `{what}`; write `scenario`, `results`, `table`, `study`, `suite`, `row`, `call`, or \
                 `options` and a controller"
            )));
        }
    };
    from_json(py, &schema)
}
