//! What a command line asks of a scenario in place of a row's words: each text is laid over it as it stands.

use super::formula::Formula;
use super::values::Place;
use crate::form::{ScenarioError, Varied};
use crate::registry::Registry;
use crate::scenario::Scenario;

/// A scenario over values of its own keys, and what of it is measured without being judged.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    /// A shipped scenario or a file.
    pub(super) scenario: String,
    /// What is laid over it, as after `--set`.
    pub(super) set: Vec<String>,
    /// The key of each sweep, in their order.
    pub(super) varied: Vec<Varied>,
    /// What is measured at each place.
    pub(super) measured: Vec<Formula>,
}

impl Asked {
    /// The scenario at a place.
    pub(super) fn scenario_at(&self, registry: &Registry, place: &Place) -> Result<Scenario, ScenarioError> {
        let varied = self.varied.iter().zip(place.values());
        let varied = varied.map(|(own, &value)| format!("{}={}", own.path, own.with_unit(value)));
        let overrides: Vec<String> = self.set.iter().cloned().chain(varied).collect();
        Scenario::open_in(registry, &self.scenario, &overrides)
    }
}
