//! Flows of one call.

use super::Problems;
use crate::form::KeyPath;
use crate::scenario::{Flow, Scenario};

impl Problems {
    /// The flows of a call share a host at either end.
    pub(super) fn calls(&mut self, scenario: &Scenario) {
        for (name, flow) in scenario.flows.iter() {
            let Some(call) = flow.call() else { continue };
            let first = scenario.flows.iter().find(|(_, other)| other.call() == Some(call));
            if first.is_some_and(|(_, first)| !share_hosts(flow, first)) {
                let message =
                    format!("the flows of the call `{call}` share a host at either end, and its clock");
                self.value(&KeyPath::of(&["flows", name, "call"]), message)
                    .push_str("let them have the same `from`, `to`, `access_delay` and `receiver_clock`");
            }
        }
    }
}

fn share_hosts(flow: &Flow, first: &Flow) -> bool {
    // Copies whose nodes are numbered are at nodes of their own.
    let numbered = [&flow.from, &flow.to].into_iter().flatten().any(|node| node.contains('#'));
    let ends = |flow: &Flow| (flow.from.clone(), flow.to.clone(), flow.access_delay, flow.receiver_clock);
    !numbered && ends(flow) == ends(first)
}
