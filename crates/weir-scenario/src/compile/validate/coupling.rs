//! Problems of couplings.

use weir_units::TimeDelta;

use super::Problems;
use crate::compile::traffic::has_window;
use crate::registry::{self, CouplerInfo, CouplerSetting, Steers, TcpProfile};
use crate::scenario::{Coupling, Detection, Flow, FlowTraffic, NO_COUPLER, PriorityStep, Scenario};
use weir_form::{KeyPath, advice, list};

/// Longest delay of messages to the coupler.
const LONGEST_DELAY: TimeDelta = TimeDelta::from_millis(500);

impl Problems<'_> {
    pub(super) fn couplings(&mut self, scenario: &Scenario) {
        for (name, coupling) in scenario.coupling.iter() {
            let path = KeyPath::of(&["coupling", name]);
            if let Some(info) = self.algorithm(coupling, &path) {
                self.coupled_flows(scenario, (name, coupling), info, &path);
            }
            self.message_delay(coupling.delay, &path.with("delay"));
            self.detection(coupling, &path);
            self.tenants(scenario, coupling, &path);
        }
        for (name, flow) in scenario.flows.iter() {
            self.coupled_flow(scenario, name, flow);
        }
    }

    /// The description of the algorithm, if it may be used.
    fn algorithm(&mut self, coupling: &Coupling, path: &KeyPath) -> Option<&'static CouplerInfo> {
        let name = &coupling.algorithm;
        let Some(info) = registry::coupler_info(name) else {
            let advice = advice(name, registry::couplers().map(|info| info.name));
            let message = format!("there is no coupling algorithm `{name}`");
            self.value(&path.with("algorithm"), message).push_str(&advice);
            return None;
        };
        if info.testbed_only && !coupling.testbed {
            let message = format!("`{name}` is unsafe outside of testbeds ({})", info.source);
            self.value(&path.with("algorithm"), message)
                .push_str("add `testbed = true` if you know that, or take another one");
            return Some(info);
        }
        let options = coupling.options.as_ref().map(|options| &options.0);
        let setting = CouplerSetting {
            testbed: coupling.testbed,
            measured: coupling.detection == Detection::Measured,
            tenants: coupling.tenants.iter().map(|(_, &weight)| weight).collect(),
            ..CouplerSetting::default()
        };
        if let Err(error) = registry::coupler(name, options, &setting) {
            let advice = format!("see the options of `{name}`");
            self.value(&path.with("options"), error.to_string()).push_str(&advice);
        }
        Some(info)
    }

    fn coupled_flows(
        &mut self,
        scenario: &Scenario,
        (name, coupling): (&str, &Coupling),
        info: &CouplerInfo,
        path: &KeyPath,
    ) {
        let path = path.with("flows");
        if coupling.flows.is_empty() {
            self.value(&path, format!("`{path}` is empty")).push_str("name the flows that are coupled");
        }
        for (index, wanted) in coupling.flows.iter().enumerate() {
            let at = path.item(index);
            let Some(flow) = scenario.flows.get(wanted) else {
                self.value(&at, format!("there is no flow `{wanted}`"))
                    .push_str(&advice(wanted, scenario.flows.names()));
                continue;
            };
            if coupling.flows[..index].contains(wanted) {
                self.value(&at, format!("the flow `{wanted}` is named twice")).push_str("name it once");
            } else if let Some((other, _)) = scenario.coupling_of(wanted).filter(|(other, _)| *other != name)
            {
                let message = format!("the flow `{wanted}` is in two couplings, `{other}` and `{name}`");
                self.value(&at, message).push_str("name it in one of them");
            } else if let Some(reason) = uncoupled_kind(flow) {
                self.value(&at, format!("the flow `{wanted}` cannot be coupled: {reason}"))
                    .push_str("couple media flows and TCP flows of one transfer");
            } else if info.steers == Steers::Windows && !has_window(self.registry, &flow.carried) {
                let message =
                    format!("`{}` couples windows, and the flow `{wanted}` has none", coupling.algorithm);
                self.value(&at, message).push_str(&steering_rates());
            }
        }
    }

    fn message_delay(&mut self, delay: TimeDelta, path: &KeyPath) {
        if delay.is_negative() || delay > LONGEST_DELAY {
            let advice = format!("write a time from 0s to {LONGEST_DELAY}");
            self.value(path, format!("`{path}` is {delay}")).push_str(&advice);
        }
    }

    fn detection(&mut self, coupling: &Coupling, path: &KeyPath) {
        if coupling.at.is_some() && coupling.detection != Detection::Measured {
            let path = path.with("at");
            self.key(&path, format!("`{path}` has no meaning unless groups are measured"))
                .push_str("leave it out, or write `detection = \"measured\"`");
        }
    }

    fn tenants(&mut self, scenario: &Scenario, coupling: &Coupling, path: &KeyPath) {
        let path = path.with("tenants");
        for (tenant, &weight) in coupling.tenants.iter() {
            if !(weight.is_finite() && weight > 0.0) {
                self.value(&path.with(tenant), format!("`{}` is {weight}", path.with(tenant)))
                    .push_str("write a weight above 0");
            }
        }
        let flows = coupling.flows.iter().filter_map(|name| Some((name, scenario.flows.get(name)?)));
        for (name, flow) in flows {
            let own = KeyPath::of(&["flows", name, "tenant"]);
            match &flow.tenant {
                Some(tenant) if coupling.tenants.get(tenant).is_none() => {
                    let advice = if coupling.tenants.is_empty() {
                        format!("add `tenants = {{ {tenant} = 1.0 }}` to its coupling")
                    } else {
                        advice(tenant, coupling.tenants.names())
                    };
                    self.value(&own, format!("there is no tenant `{tenant}`")).push_str(&advice);
                }
                None if !coupling.tenants.is_empty() => {
                    let tenants: Vec<&str> = coupling.tenants.names().collect();
                    let advice = format!("add `tenant`: one of {}", list(&tenants));
                    self.value(&own, format!("the flow `{name}` is no tenant's")).push_str(&advice);
                }
                _ => {}
            }
        }
    }

    /// Keys of a flow that have a meaning for coupled flows alone.
    fn coupled_flow(&mut self, scenario: &Scenario, name: &str, flow: &Flow) {
        let path = KeyPath::of(&["flows", name]);
        let coupled = scenario.coupling_of(name).is_some();
        for (key, given) in [("priorities", flow.priorities.is_some()), ("tenant", flow.tenant.is_some())] {
            if given && !coupled {
                let path = path.with(key);
                self.key(&path, format!("`{path}` has no meaning: the flow is in no coupling"))
                    .push_str("leave it out, or name the flow in a `[coupling.NAME]`");
            }
        }
        self.priority_steps(flow.priorities.as_deref().unwrap_or_default(), &path.with("priorities"));
    }

    fn priority_steps(&mut self, steps: &[PriorityStep], path: &KeyPath) {
        for (i, step) in steps.iter().enumerate() {
            self.positive(&path.item(i).with("at"), Some(step.at));
        }
        for (i, pair) in steps.windows(2).enumerate().filter(|(_, pair)| pair[1].at <= pair[0].at) {
            let (before, at) = (pair[0].at, pair[1].at);
            let message = format!("the priority at {at} comes after the one at {before}");
            self.value(&path.item(i + 1).with("at"), message)
                .push_str("let each priority be later than the one before");
        }
    }
}

/// Why a flow of this kind cannot be coupled, or `None` if it can.
fn uncoupled_kind(flow: &Flow) -> Option<&'static str> {
    match &flow.carried {
        FlowTraffic::Constant(_) => Some("its rate is what it is, whatever happens"),
        FlowTraffic::Audio(_) => Some("audio has a rate of its own, whatever happens"),
        FlowTraffic::Web(_) => Some("each of its requests has a connection of its own"),
        FlowTraffic::Tcp(tcp) if tcp.downloads.is_some() => {
            Some("each of its downloads has a connection of its own")
        }
        FlowTraffic::Tcp(tcp) if tcp.profile == TcpProfile::Chromium2015 => {
            Some("the stack `chromium-2015` has an algorithm of its own")
        }
        FlowTraffic::Media(_) | FlowTraffic::Tcp(_) => None,
    }
}

/// Advice with the algorithms that couple any flow.
fn steering_rates() -> String {
    let any = |info: &&CouplerInfo| info.steers == Steers::Rates;
    let names: Vec<&str> = registry::couplers().filter(any).map(|info| info.name).collect();
    match names.as_slice() {
        [] => format!("leave the flow out, or take `{NO_COUPLER}`"),
        names => format!("leave the flow out, or take one of {}", list(names)),
    }
}
