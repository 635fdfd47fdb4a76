//! Exceptions: one sentence, with the place of the fault.

use std::io::ErrorKind;

use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyKeyboardInterrupt, PyOSError};
use pyo3::prelude::*;
use weir_form::ScenarioError as FormError;
use weir_study::comparison::ComparisonError;
use weir_study::output::OutputError;
use weir_study::runs::{RunError as StudyError, StoreError};

use crate::controller::CallbackFailure;

create_exception!(weir, WeirError, PyException, "The base of all exceptions of this package.");
create_exception!(
    weir,
    ScenarioError,
    WeirError,
    "A scenario, study file or setting is wrong; the text has the place."
);
create_exception!(weir, RunError, WeirError, "A run cannot be made.");
create_exception!(
    weir,
    ControllerError,
    RunError,
    "A controller class failed; the text has the scenario, the flow and the time."
);
create_exception!(weir, CallError, WeirError, "A file is no recorded call, or lacks what was asked of it.");

/// Adds the exceptions to the module.
pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("WeirError", py.get_type::<WeirError>())?;
    module.add("ScenarioError", py.get_type::<ScenarioError>())?;
    module.add("RunError", py.get_type::<RunError>())?;
    module.add("ControllerError", py.get_type::<ControllerError>())?;
    module.add("CallError", py.get_type::<CallError>())
}

/// Every problem of a scenario, a line each, with advice.
pub(crate) fn scenario(error: &FormError) -> PyErr {
    scenario_at(error, &|_| "set")
}

/// The same, with the name of the argument that has the assignment.
pub(crate) fn scenario_at(error: &FormError, argument: &dyn Fn(&str) -> &'static str) -> PyErr {
    let line = |error: &FormError| {
        let advice = error.advice().map_or_else(String::new, |advice| format!("; {advice}"));
        // The text of a scenario built in code is in no file, so its line is shown.
        let source = error.line().map_or_else(String::new, |line| format!("\n  {}", line.trim()));
        match error.assignment() {
            Some(assignment) => format!("{} {assignment}: {}{advice}", argument(assignment), error.message()),
            None => format!("{error}{advice}{source}"),
        }
    };
    let lines: Vec<String> = error.each().iter().map(line).collect();
    ScenarioError::new_err(lines.join("\n"))
}

/// A failed run.
pub(crate) fn run(error: StudyError) -> PyErr {
    match error {
        StudyError::Scenario(error) => scenario(&error),
        StudyError::Interrupted => PyKeyboardInterrupt::new_err(()),
        StudyError::World { run, problem } => match problem.downcast::<CallbackFailure>() {
            Ok(failure) => failure.raised_in(&run),
            Err(problem) => RunError::new_err(format!("{run}: {problem}")),
        },
        StudyError::Store(error) => stored(&error),
        other => RunError::new_err(other.to_string()),
    }
}

/// A store that cannot be read or written, as an `OSError` with its number where there is one. A refusal of the store, such as of one that
/// another process uses, is no error of the system.
fn stored(error: &StoreError) -> PyErr {
    match error.source.raw_os_error() {
        Some(number) => PyOSError::new_err((number, error.to_string())),
        None if error.source.kind() == ErrorKind::Other => RunError::new_err(error.to_string()),
        None => PyOSError::new_err(error.to_string()),
    }
}

/// A failed comparison.
pub(crate) fn comparison(error: ComparisonError) -> PyErr {
    match error {
        ComparisonError::Run(error) => run(error),
        ComparisonError::Runs(error) => RunError::new_err(error.to_string()),
    }
}

/// An output that cannot be written.
pub(crate) fn output(error: OutputError) -> PyErr {
    PyOSError::new_err(error.to_string())
}

/// A setting that is wrong.
pub(crate) fn setting(text: impl std::fmt::Display) -> PyErr {
    ScenarioError::new_err(text.to_string())
}
