//! Claims of papers.

use std::path::PathBuf;

use pyo3::prelude::*;
use weir_scenario::registry::with_references;
use weir_study::experiments::{self, Experiment, Extent, Provenance, Reproduced, Reproduction};
use weir_study::reproduce::{ReproductionRequest, write};
use weir_study::runs::tidy_table;

use crate::controller::with_a_class;
use crate::error;
use crate::folder::{ResultFolder, make, table_format};
use crate::registry::registry;
use crate::scenario::traces;
use crate::tidy::{TidyColumns, tidy_columns};
use crate::world::SupervisedSimulator;

/// Adds the class and the function to the module.
pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(reproduce, module)?)?;
    module.add_class::<RowRuns>()
}

/// The runs of rows of papers, judged.
#[pyclass(frozen, module = "weir._weir", name = "RowRuns")]
#[derive(Debug)]
pub(crate) struct RowRuns {
    rows: Vec<Experiment>,
    results: Reproduced,
    provenance: Provenance,
    has_metrics: bool,
    reproducible: bool,
}

#[pymethods]
impl RowRuns {
    /// The claims, as `weir reproduce --json` prints them.
    fn to_json(&self) -> PyResult<String> {
        serde_json::to_string(&self.results.claims).map_err(error::setting)
    }

    /// The page.
    fn html(&self) -> String {
        experiments::report(&self.rows, &self.results.claims, &self.results.plots, &self.provenance)
    }

    /// Whether the runs can be made again without a Python class.
    #[getter]
    fn reproducible(&self) -> bool {
        self.reproducible
    }

    /// The long table of all runs; `None` if their metrics were not kept.
    fn tidy<'py>(&self, py: Python<'py>) -> PyResult<Option<TidyColumns<'py>>> {
        if !self.has_metrics {
            return Ok(None);
        }
        let runs = &self.results.runs;
        let table = py.detach(|| tidy_table(&runs.axes(), 0, runs.table_runs()));
        tidy_columns(py, &table).map(Some)
    }
}

/// The claims of papers, run and judged.
#[pyfunction]
#[pyo3(signature = (rows = Vec::new(), paper = None, full = false, runs = None, grid = None, set = Vec::new(), jobs = 1, out = None, table = "parquet", progress = None, data = Vec::new()))]
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
    table: &str,
    progress: Option<Bound<'_, PyAny>>,
    data: Vec<PathBuf>,
) -> PyResult<RowRuns> {
    let format = table_format(table)?;
    let registry = with_references(registry());
    // Figures may need runs of their own, which the page shows.
    let extent = Extent { full, runs, grid, plots: true };
    let request =
        ReproductionRequest { rows: &rows, paper, extent, set: &set, data: &data, tried: false, live: false };
    let experiments = request.open(&registry).map_err(|error| error::scenario(&error))?;
    let traces = traces(&data);
    // Rows name their controllers in scenarios, which may be classes.
    let (plan, with_class) = with_a_class(|| Reproduction::plan(&experiments, extent, &traces));
    let world = SupervisedSimulator::new(with_class);
    let plan = plan.map_err(|error| error::scenario(&error))?.with_metrics(format.is_some()).in_world(&world);
    let provenance = request.provenance(&plan);
    let mut folder = out.map(|out| ResultFolder::open(&out, &registry)).transpose()?;
    let results = make(py, (&plan, &world), (&traces, jobs), folder.as_ref(), progress)?;
    let made = RowRuns {
        rows: experiments,
        results,
        provenance,
        has_metrics: format.is_some(),
        reproducible: !with_class,
    };
    if let Some(folder) = &mut folder {
        let RowRuns { rows, results, provenance, .. } = &made;
        py.detach(|| folder.write(|directory| write(results, rows, provenance, directory, format)))?;
    }
    Ok(made)
}
