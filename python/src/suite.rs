//! Suites of cases.

use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use weir_scenario::scenario::Candidate;
use weir_study::runs::tidy_table;
use weir_study::suite::{self as suites, Suite, SuiteRequest, SuiteRun};

use crate::controller::with_a_class;
use crate::error;
use crate::folder::{ResultFolder, make, table_format};
use crate::registry::{classes, registry};
use crate::scenario::{candidates, traces};
use crate::tidy::{TidyColumns, tidy_columns};
use crate::world::SupervisedSimulator;

/// Adds the class and the function to the module.
pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(suite, module)?)?;
    module.add_class::<SuiteRuns>()
}

/// The runs of a suite, judged.
#[pyclass(frozen, module = "weir._weir", name = "SuiteRuns")]
#[derive(Debug)]
pub(crate) struct SuiteRuns {
    title: String,
    run: SuiteRun,
    /// First words of the command that repeats the suite.
    begun: Vec<String>,
    has_metrics: bool,
    reproducible: bool,
}

#[pymethods]
impl SuiteRuns {
    /// The result, as `weir suite --json` prints it.
    fn to_json(&self) -> PyResult<String> {
        serde_json::to_string(&self.run.result).map_err(error::setting)
    }

    /// The page.
    fn html(&self) -> String {
        suites::page(&self.title, &self.run, &self.begun)
    }

    /// Sentences on the verdicts, and on traces that were replaced by others.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.run.result.notes()
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
        let table = py.detach(|| tidy_table(&[], 0, self.run.runs.table_runs(&[])));
        tidy_columns(py, &table).map(Some)
    }
}

/// Whether a class is among the candidates.
fn has_class(candidates: &[Candidate]) -> bool {
    let name = |candidate: &Candidate| candidate.name.split('{').next().unwrap_or_default().trim().to_owned();
    let classes = classes();
    candidates.iter().any(|candidate| classes.iter().any(|class| class.name() == name(candidate)))
}

/// Controllers through a suite of cases.
#[pyfunction]
#[pyo3(signature = (suite, controllers = None, seeds = None, cases = Vec::new(), jobs = 1, out = None, table = "parquet", progress = None, data = Vec::new()))]
fn suite(
    py: Python<'_>,
    suite: &str,
    controllers: Option<Vec<String>>,
    seeds: Option<Vec<u64>>,
    cases: Vec<String>,
    jobs: usize,
    out: Option<PathBuf>,
    table: &str,
    progress: Option<Bound<'_, PyAny>>,
    data: Vec<PathBuf>,
) -> PyResult<SuiteRuns> {
    let format = table_format(table)?;
    let registry = registry();
    let name = suite;
    let from_file;
    let suite: &Suite = if let Some(shipped) = suites::find(name) {
        shipped
    } else {
        from_file = Suite::open(&registry, Path::new(name)).map_err(|error| error::scenario(&error))?;
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
    let request =
        SuiteRequest { suite, registry: &registry, controllers: &candidates, seeds: &seeds, cases: &cases };
    let stand_ins = !request.fallback_notes(&traces).map_err(error::run)?.is_empty();
    // Scenarios of a suite's file may name classes, too.
    let (plan, builds_a_class) = with_a_class(|| request.plan());
    let with_class = builds_a_class || has_class(&candidates);
    let world = SupervisedSimulator::new(with_class);
    let plan = plan.map_err(error::run)?.with_metrics(format.is_some()).in_world(&world);
    let mut folder = out.map(|out| ResultFolder::open(&out, &registry)).transpose()?;
    let run = make(py, (&plan, &world), (&traces, jobs), folder.as_ref(), progress)?;
    let made = SuiteRuns {
        title: suite.title.clone(),
        run,
        begun: suites::command_words(name, Vec::new(), &data, stand_ins),
        has_metrics: format.is_some(),
        reproducible: !with_class,
    };
    if let Some(folder) = &mut folder {
        let shown = (made.title.as_str(), made.begun.as_slice());
        py.detach(|| folder.write(|directory| made.run.write(directory, format, &[], shown)))?;
    }
    Ok(made)
}
