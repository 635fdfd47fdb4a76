//! Recorded calls: their replay under other controllers, and their explanation.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use pyo3::prelude::*;
use weir_cc::{DataRate, TimeDelta};
use weir_import::calls::{self, CallOptions, EndSelection};
use weir_replay::explain::{Explanation as CallExplanation, explain as explain_call, explanation_page};
use weir_replay::replay::{ControllerReplay, ReplayOptions, replay as replay_call, replay_page};
use weir_world::RecordedCall;

use crate::controller::{FailureSlot, of_call};
use crate::error::{self, CallError};
use crate::registry::{classes, registry};
use crate::values::from_json;
use crate::waiting::{CallProgress, CallState, wait};

/// Adds the class and the function to the module.
pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Call>()?;
    module.add_class::<Replay>()?;
    module.add_class::<Explanation>()
}

/// A recorded call.
#[pyclass(frozen, module = "weir._weir", name = "Call")]
#[derive(Debug)]
pub(crate) struct Call {
    name: String,
    call: RecordedCall,
}

fn refused(path: &Path) -> impl Fn(calls::CallImportError) -> PyErr {
    let path = path.display().to_string();
    move |error| CallError::new_err(format!("{path}: {error}"))
}

fn rate(bps: Option<f64>) -> Option<DataRate> {
    bps.map(DataRate::from_bps_f64)
}

#[pymethods]
impl Call {
    /// The call of one recording, or of two captures, that of the sender first.
    #[staticmethod]
    #[pyo3(signature = (files, direction = None, ssrc = None))]
    fn read(files: Vec<PathBuf>, direction: Option<&str>, ssrc: Option<u32>) -> PyResult<Self> {
        let direction = match direction {
            None => EndSelection::Larger,
            Some("sent") => EndSelection::Sent,
            Some("received") => EndSelection::Received,
            Some(other) => {
                return Err(error::setting(format_args!("direction `{other}`: write `sent` or `received`")));
            }
        };
        let options = CallOptions { direction, ssrc, ..CallOptions::default() };
        let call = match files.as_slice() {
            [file] => calls::read_file(file, &options).map_err(refused(file))?,
            [sender, receiver] => calls::read_two_files(sender, receiver, &options)
                .map_err(|fault| refused(if fault.of_receiver { receiver } else { sender })(fault.error))?,
            _ => return Err(error::setting("give one recording, or two captures, that of the sender first")),
        };
        let name = files.first().and_then(|file| file.file_name()).unwrap_or_default().to_string_lossy();
        let name = name.split('.').find(|part| !part.is_empty()).unwrap_or("call").to_owned();
        Ok(Self { name, call })
    }

    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    #[getter]
    fn remarks(&self) -> Vec<String> {
        self.call.remarks.clone()
    }

    fn __len__(&self) -> usize {
        self.call.packets.len()
    }

    /// The decisions that these controllers would have made on the call. Rates in bit/s, the interval in seconds.
    #[pyo3(signature = (controllers, start = None, max = None, feedback_interval = None))]
    fn replay(
        &self,
        py: Python<'_>,
        controllers: Vec<String>,
        start: Option<f64>,
        max: Option<f64>,
        feedback_interval: Option<f64>,
    ) -> PyResult<Replay> {
        let limits = ReplayOptions::of(&self.call, rate(start), rate(max));
        let options = limits.map_err(|error| error::setting(format_args!("start, max: {error}")))?;
        let options =
            ReplayOptions { feedback_interval: feedback_interval.map(TimeDelta::from_secs_f64), ..options };
        let registry = registry();
        let mut replays = Vec::with_capacity(controllers.len());
        for controller in &controllers {
            let failure = Arc::new(FailureSlot::default());
            let run = || replay_call(&self.call, &registry, (controller, None), &options);
            let replayed = if classes().iter().any(|class| class.name() == controller) {
                of_call(&self.name, &failure, run)
            } else {
                let progress = CallProgress { function: None, all: 1 };
                wait(py, &CallState::default(), &progress, run)?
            };
            if let Some(failure) = failure.take() {
                return Err(failure.raised_in(&format!("replay of {} under {controller}", self.name)));
            }
            replays.push(replayed.map_err(|error| CallError::new_err(format!("{}: {error}", self.name)))?);
        }
        let page = replay_page(&format!("Replay of {}", self.name), &self.call, &replays);
        Ok(Replay { replays, page })
    }

    /// The falls of the call, and their causes.
    fn explain(&self, py: Python<'_>) -> PyResult<Explanation> {
        if self.call.packets.is_empty() && self.call.counters.is_empty() {
            let problem = "the recording has neither packets nor counters; there is nothing to explain";
            return Err(CallError::new_err(format!("{}: {problem}", self.name)));
        }
        let progress = CallProgress { function: None, all: 1 };
        let found = wait(py, &CallState::default(), &progress, || explain_call(&self.call))?;
        let found = found.map_err(|error| CallError::new_err(format!("{}: {error}", self.name)))?;
        let page = explanation_page(&format!("What happened in {}", self.name), &self.call, &found);
        Ok(Explanation { found, page })
    }
}

/// The replays of a call.
#[pyclass(frozen, module = "weir._weir", name = "Replay")]
#[derive(Debug)]
pub(crate) struct Replay {
    replays: Vec<ControllerReplay>,
    page: String,
}

#[pymethods]
impl Replay {
    /// The results as `weir replay --json` has them: a dictionary for each controller.
    fn results<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        from_json(py, &serde_json::to_value(&self.replays).map_err(error::setting)?)
    }

    /// The page.
    fn html(&self) -> &str {
        &self.page
    }
}

/// The explanation of a call.
#[pyclass(frozen, module = "weir._weir", name = "Explanation")]
#[derive(Debug)]
pub(crate) struct Explanation {
    found: CallExplanation,
    page: String,
}

#[pymethods]
impl Explanation {
    /// The results as `weir explain-call --json` has them.
    fn results<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        from_json(py, &serde_json::to_value(&self.found).map_err(error::setting)?)
    }

    /// The page.
    fn html(&self) -> &str {
        &self.page
    }

    fn __str__(&self) -> String {
        self.found.to_string()
    }
}
