//! Sweep of a scenario from the command line, in place of a row's keys; each text is applied as it is.

use super::values::GridPoint;
use crate::judge::formula::Formula;
use weir_form::{ScenarioError, Varied};
use weir_scenario::registry::Registry;
use weir_scenario::scenario::Scenario;

/// Scenario over values of its own keys, with the quantities that are measured and not judged.
#[derive(Clone, Debug)]
pub(super) struct MeasuredScenario {
    /// Shipped scenario or path of a file.
    pub(super) scenario: String,
    /// Settings applied to the scenario, as after `--set`.
    pub(super) set: Vec<String>,
    /// Key of each sweep, in their order.
    pub(super) varied: Vec<Varied>,
    /// Formulas that are measured at each place.
    pub(super) measured: Vec<Formula>,
}

impl MeasuredScenario {
    /// Scenario at a place.
    pub(super) fn scenario_at(
        &self,
        registry: &Registry,
        place: &GridPoint,
    ) -> Result<Scenario, ScenarioError> {
        let varied = self.varied.iter().zip(place.values());
        let varied = varied.map(|(own, &value)| format!("{}={}", own.path, own.text_at(value)));
        let overrides: Vec<String> = self.set.iter().cloned().chain(varied).collect();
        Scenario::open_in(registry, &self.scenario, &overrides)
    }
}
