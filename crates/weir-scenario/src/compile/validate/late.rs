//! Flows that never send.

use crate::scenario::Scenario;
use weir_form::{KeyPath, Problem};

/// A warning for each flow that starts when the run is over.
pub(super) fn warnings(scenario: &Scenario) -> impl Iterator<Item = Problem> {
    let end = scenario.duration;
    let late = scenario.flows.iter().filter(move |(_, flow)| flow.start >= end);
    late.map(move |(name, flow)| {
        let path = KeyPath::of(&["flows", name, "start"]);
        let message =
            format!("the run ends at {end}, before `{name}` starts at {}: it sends nothing", flow.start);
        Problem::value(&path, message).help("let it start earlier, or the run last longer").warning()
    })
}
