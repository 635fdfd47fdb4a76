//! What a command line asks of a scenario in place of a row's words: each text is laid over it as it stands.

use super::formula::Formula;
use super::values::Place;
use crate::form::ScenarioError;
use crate::registry::Registry;
use crate::scenario::Scenario;

/// A scenario over values of its own keys, and what of it is measured without being judged.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    /// A shipped scenario or a file.
    pub(super) scenario: String,
    /// What is laid over it, as after `--set`.
    pub(super) set: Vec<String>,
    /// The key of each sweep, in their order, and the unit of its values.
    pub(super) keys: Vec<(String, String)>,
    /// What is measured at each place.
    pub(super) measured: Vec<Formula>,
}

impl Asked {
    /// The scenario at a place.
    pub(super) fn scenario_at(&self, registry: &Registry, place: &Place) -> Result<Scenario, ScenarioError> {
        let varied = self.keys.iter().zip(place.values());
        let varied = varied.map(|((path, unit), value)| format!("{path}={value}{unit}"));
        let overrides: Vec<String> = self.set.iter().cloned().chain(varied).collect();
        Scenario::open_in(registry, &self.scenario, &overrides)
    }
}
