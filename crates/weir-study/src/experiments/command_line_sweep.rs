//! Sweep of a scenario from the command line, in place of a row's keys; each text is applied as it is.

use std::path::Path;

use super::values::GridPoint;
use crate::judge::formula::Formula;
use weir_form::{ScenarioError, Varied};
use weir_scenario::registry::Registry;
use weir_scenario::scenario::Scenario;

/// Scenario of a sweep, to be read again at each place.
#[derive(Clone, Debug)]
pub struct SweptScenario {
    /// Source of the controllers.
    pub registry: Registry,
    /// Shipped scenario or path of a file.
    pub name: String,
    /// Text of the file, or `None` if it is to be read from there.
    pub text: Option<String>,
}

impl SweptScenario {
    /// Scenario with these settings, as after `--set`.
    ///
    /// # Errors
    /// No such scenario, or a mistake in it or in a setting.
    pub fn open(&self, set: &[String]) -> Result<Scenario, ScenarioError> {
        let Self { registry, name, text } = self;
        let Some(text) = text else { return Scenario::open_in(registry, name, set) };
        let stem = Path::new(name).file_stem().unwrap_or_default().to_string_lossy();
        Scenario::parse_in(registry, name, text, set).map(|scenario| scenario.named(&stem))
    }
}

/// Scenario over values of its own keys, with the quantities that are measured and not judged.
#[derive(Clone, Debug)]
pub(super) struct MeasuredScenario {
    /// The scenario.
    pub(super) scenario: SweptScenario,
    /// Settings applied to the scenario, as after `--set`.
    pub(super) set: Vec<String>,
    /// Key of each sweep, in their order.
    pub(super) varied: Vec<Varied>,
    /// Formulas that are measured at each place.
    pub(super) measured: Vec<Formula>,
}

impl MeasuredScenario {
    /// Keys of the sweeps with their values at a place.
    fn settings_at(&self, place: &GridPoint) -> impl Iterator<Item = String> {
        let varied = self.varied.iter().zip(place.values());
        varied.map(|(own, &value)| format!("{}={}", own.path, own.text_at(value)))
    }

    /// Name of the runs of a controller at a place.
    pub(super) fn name_at(&self, controller: &str, place: &GridPoint) -> String {
        let own = [self.scenario.name.clone(), controller.to_owned()];
        own.into_iter().chain(self.settings_at(place)).collect::<Vec<_>>().join("/")
    }

    /// Scenario at a place.
    pub(super) fn scenario_at(&self, place: &GridPoint) -> Result<Scenario, ScenarioError> {
        let overrides: Vec<String> = self.set.iter().cloned().chain(self.settings_at(place)).collect();
        self.scenario.open(&overrides)
    }
}
