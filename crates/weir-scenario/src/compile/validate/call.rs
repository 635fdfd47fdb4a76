//! Flows of one call.

use super::Problems;
use crate::compile::topology::{LEFT, RIGHT};
use crate::scenario::{Flow, Scenario};
use weir_form::KeyPath;

impl Problems<'_> {
    /// The flows of a call share a host at either end.
    pub(super) fn calls(&mut self, scenario: &Scenario) {
        for (name, flow) in scenario.flows.iter() {
            let Some(call) = flow.call() else { continue };
            let first = scenario.flows.iter().find(|(_, other)| other.call() == Some(call));
            if first.is_some_and(|(_, first)| !share_hosts(flow, first, scenario.dumbbell.is_some())) {
                let message =
                    format!("the flows of the call `{call}` share a host at either end, and its clock");
                self.value(&KeyPath::of(&["flows", name, "call"]), message)
                    .push_str("let them have the same `from`, `to`, `access_delay` and `receiver_clock`");
            }
        }
    }
}

fn share_hosts(flow: &Flow, first: &Flow, in_dumbbell: bool) -> bool {
    // Copies whose nodes are numbered are at nodes of their own.
    let numbered = [&flow.from, &flow.to].into_iter().flatten().any(|node| node.contains('#'));
    let hosts = |flow| (ends(flow, in_dumbbell), flow.access_delay, flow.receiver_clock);
    !numbered && hosts(flow) == hosts(first)
}

/// The nodes at which the flow begins and ends; in a dumbbell, the usual ends unless given.
fn ends(flow: &Flow, in_dumbbell: bool) -> [Option<&str>; 2] {
    let (from, to) = (flow.from.as_deref(), flow.to.as_deref());
    if !in_dumbbell {
        return [from, to];
    }
    let from = from.unwrap_or(LEFT);
    let across = if from == RIGHT { LEFT } else { RIGHT };
    [Some(from), Some(to.unwrap_or(across))]
}
