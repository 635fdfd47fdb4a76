//! Scenarios, and the plan of their runs.

use std::fs;
use std::path::{Path, PathBuf};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use weir_form::ScenarioError;
use weir_import::traces::TraceStore;
use weir_scenario::scenario::{Candidate, FlowTraffic, Scenario as CompiledScenario};
use weir_scenario::shipped;

use crate::error;
use crate::registry::{classes, registry};
use crate::values;

/// Adds the class to the module.
pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Scenario>()
}

/// Source of a scenario.
#[derive(Clone, Debug)]
enum ScenarioOrigin {
    /// A shipped scenario.
    Named(String),
    /// A text, called by this name or path in messages. A file is read once, so that it may change later.
    Text(String, String),
}

/// Name, text and changes of a scenario.
pub(crate) type ScenarioState = (String, Option<String>, Vec<String>);

/// A valid scenario: a network, its flows, and the measurements.
#[pyclass(frozen, module = "weir._weir", name = "Scenario")]
#[derive(Clone, Debug)]
pub(crate) struct Scenario {
    origin: ScenarioOrigin,
    overrides: Vec<String>,
    compiled: CompiledScenario,
}

impl Scenario {
    fn read(origin: ScenarioOrigin, overrides: Vec<String>) -> Result<Self, ScenarioError> {
        let registry = registry();
        let scenario = match &origin {
            ScenarioOrigin::Named(name) => CompiledScenario::open_in(&registry, name, &overrides)?,
            ScenarioOrigin::Text(name, text) => {
                let stem = Path::new(name).file_stem().unwrap_or_default().to_string_lossy();
                CompiledScenario::parse_in(&registry, name, text, &overrides)?.named(&stem)
            }
        };
        Ok(Self { origin, overrides, compiled: scenario })
    }

    /// The scenario under these controllers and seeds, ready to run.
    pub(crate) fn with(
        &self,
        set: Vec<String>,
        controllers: Option<Vec<String>>,
        seeds: Option<&[u64]>,
    ) -> PyResult<CompiledScenario> {
        let mut overrides = self.overrides.clone();
        overrides.extend(set);
        if let Some(controllers) = controllers {
            let list = controllers.join(",");
            let refused = |problem| PyValueError::new_err(format!("controllers {controllers:?}: {problem}"));
            overrides.extend(Candidate::laid_over(&Candidate::list(&list).map_err(refused)?));
        }
        if let Some(seeds) = seeds {
            let first = seeds
                .first()
                .ok_or_else(|| PyValueError::new_err("seeds: there is none; give one at least"))?;
            overrides.extend([format!("seed={first}"), format!("runs={}", seeds.len())]);
        }
        // With the controllers that are registered now.
        let scenario =
            Self::read(self.origin.clone(), overrides).map_err(|error| error::scenario(&error))?.compiled;
        Ok(scenario)
    }
}

/// Names of the Python classes that `scenario` runs under.
pub(crate) fn classes_in(scenario: &CompiledScenario) -> Vec<String> {
    let flows = scenario.flows.iter().filter_map(|(_, flow)| match &flow.carried {
        FlowTraffic::Media(media) => Some(media.controller.as_str()),
        _ => None,
    });
    let used: Vec<&str> =
        flows.chain(scenario.controllers.iter().map(|name| scenario.controller_of(name))).collect();
    let classes = classes().into_iter().map(|class| class.name().to_owned());
    classes.filter(|class| used.contains(&class.as_str())).collect()
}

/// The traces in these directories, and in those of the environment.
pub(crate) fn traces(data: &[PathBuf]) -> TraceStore {
    TraceStore::find(data)
}

#[pymethods]
impl Scenario {
    /// The shipped scenario of this name, or that of a file.
    #[staticmethod]
    #[pyo3(signature = (name, set = Vec::new()))]
    fn open(name: &str, set: Vec<String>) -> PyResult<Self> {
        if name == "-" {
            return Err(error::setting("`-`: standard input is no scenario here; give its text"));
        }
        let named = Self::read(ScenarioOrigin::Named(name.to_owned()), set);
        let mut scenario = named.map_err(|error| error::scenario(&error))?;
        if shipped::find(name).is_none() {
            let text = fs::read_to_string(name).map_err(error::setting)?;
            scenario.origin = ScenarioOrigin::Text(name.to_owned(), text);
        }
        Ok(scenario)
    }

    /// The scenario of a text in TOML.
    #[staticmethod]
    #[pyo3(signature = (text, name = "scenario", set = Vec::new()))]
    fn parse(text: &str, name: &str, set: Vec<String>) -> PyResult<Self> {
        let origin = ScenarioOrigin::Text(name.to_owned(), text.to_owned());
        Self::read(origin, set).map_err(|error| error::scenario(&error))
    }

    /// The scenario of a dictionary with the keys of a scenario file.
    #[staticmethod]
    fn build(keys: &Bound<'_, PyDict>) -> PyResult<Self> {
        let text = toml::to_string(&values::table(keys)?).map_err(error::setting)?;
        Self::parse(&text, "scenario", Vec::new())
    }

    /// The same scenario with other values, each a `path=value`.
    fn set(&self, set: Vec<String>) -> PyResult<Self> {
        let overrides = self.overrides.iter().cloned().chain(set).collect();
        Self::read(self.origin.clone(), overrides).map_err(|error| error::scenario(&error))
    }

    /// Source and changes, for another process.
    pub(crate) fn state(&self) -> ScenarioState {
        let overrides = self.overrides.clone();
        match &self.origin {
            ScenarioOrigin::Named(name) => (name.clone(), None, overrides),
            ScenarioOrigin::Text(name, text) => (name.clone(), Some(text.clone()), overrides),
        }
    }

    /// The scenario of a [state](Self::state).
    #[staticmethod]
    pub(crate) fn of_state(state: ScenarioState) -> PyResult<Self> {
        let (name, text, overrides) = state;
        match text {
            Some(text) => Self::parse(&text, &name, overrides),
            None => Self::open(&name, overrides),
        }
    }

    /// The scenario as TOML, with every default written out.
    fn to_toml(&self) -> PyResult<String> {
        self.compiled.to_toml().map_err(error::setting)
    }

    #[getter]
    fn name(&self) -> &str {
        &self.compiled.name
    }

    #[getter]
    fn title(&self) -> &str {
        &self.compiled.title
    }

    /// Duration of a run in seconds.
    #[getter]
    fn duration(&self) -> f64 {
        self.compiled.duration.secs_f64()
    }

    #[getter]
    fn seeds(&self) -> Vec<u64> {
        self.compiled.seeds()
    }

    #[getter]
    fn controllers(&self) -> Vec<String> {
        self.compiled.controllers.clone()
    }

    #[getter]
    fn flows(&self) -> Vec<String> {
        self.compiled.flows.names().map(str::to_owned).collect()
    }

    #[getter]
    fn links(&self) -> Vec<String> {
        self.compiled.links.names().map(str::to_owned).collect()
    }

    /// Warnings about parts that should not be sent into a network.
    fn warnings(&self) -> Vec<String> {
        self.compiled.warnings().iter().map(ToString::to_string).collect()
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.compiled.to_toml().ok() == other.compiled.to_toml().ok()
    }
}

/// The candidates of these names, or all controllers.
pub(crate) fn candidates(names: Option<Vec<String>>) -> PyResult<Vec<Candidate>> {
    match names {
        Some(names) => Candidate::list(&names.join(",")).map_err(error::setting),
        None => Ok(registry().controller_names().map(Candidate::named).collect()),
    }
}

/// The text of a value of Python after `path=`: text as it is, other values as in TOML.
#[pyfunction]
pub(crate) fn assignment(path: &str, value: &Bound<'_, PyAny>) -> PyResult<String> {
    let value = match values::value(value, path)? {
        toml::Value::String(text) => text,
        other => other.to_string(),
    };
    Ok(format!("{path}={value}"))
}
