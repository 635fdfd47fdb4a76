//! The couplings of flows in a run.

#[cfg(test)]
mod tests;

use weir_cc::coupled::{FlowId, sbd};
use weir_world::{CoupledSpec, CouplingSpec, DesiredRate};

use super::context::{Context, time};
use super::topology::{Network, PlannedFlow};
use crate::registry::{self, CouplerSetting, Steers};
use crate::scenario::{self, Coupling, Detection, FlowTraffic};
use weir_form::{KeyPath, Problem};
use weir_measure::metrics::CouplingPlan;

/// The couplings of a run.
#[derive(Default)]
pub(super) struct CompiledCouplings {
    pub(super) specs: Vec<CouplingSpec>,
    /// The measurement plan of each coupling, including those that only measure.
    pub(super) plans: Vec<CouplingPlan>,
    /// The coupling and weight of each coupled flow, in the order of the network's flows.
    pub(super) places: Vec<Option<CoupledSpec>>,
}

impl Context<'_> {
    pub(super) fn couplings(&self, network: &Network<'_>) -> Result<CompiledCouplings, Problem> {
        let mut couplings =
            CompiledCouplings { places: vec![None; network.flows.len()], ..CompiledCouplings::default() };
        for (name, coupling) in self.scenario.coupling.iter() {
            for (own, members) in groups(name, coupling, network) {
                couplings.add(own, coupling, &members, network).map_err(|error| {
                    Problem::value(&KeyPath::of(&["coupling", name, "options"]), error.to_string())
                        .help(format!("see the options of `{}`", coupling.algorithm))
                })?;
            }
        }
        Ok(couplings)
    }
}

impl CompiledCouplings {
    fn add(
        &mut self,
        name: String,
        coupling: &Coupling,
        members: &[usize],
        network: &Network<'_>,
    ) -> Result<(), registry::RegistryError> {
        let options = coupling.options.as_ref().map(|options| &options.0);
        let setting = setting(coupling, members, network);
        if let Some(coupler) = registry::coupler(&coupling.algorithm, options, &setting)? {
            for &flow in members {
                self.places[flow] = Some(place(self.specs.len(), coupling, &network.flows[flow]));
            }
            self.specs.push(CouplingSpec { name: name.clone(), coupler, delay: coupling.delay });
        }
        let steers = registry::coupler_info(&coupling.algorithm).map(|info| info.steers);
        self.plans.push(CouplingPlan {
            name,
            flows: members.to_vec(),
            windows: steers == Some(Steers::Windows),
        });
        Ok(())
    }
}

/// The settings of the coupler for these members.
pub(super) fn setting(coupling: &Coupling, members: &[usize], network: &Network<'_>) -> CouplerSetting {
    let tenant = |&flow: &usize| {
        let name = network.flows[flow].flow.tenant.as_deref()?;
        let place = coupling.tenants.names().position(|tenant| tenant == name)?;
        Some((FlowId(flow as u32), place))
    };
    CouplerSetting {
        testbed: coupling.testbed,
        measured: coupling.detection == Detection::Measured,
        tenants: coupling.tenants.iter().map(|(_, &weight)| weight).collect(),
        tenant_of: members.iter().filter_map(tenant).collect(),
    }
}

/// The members of each coupler that `coupling` stands for, and its name: one coupler, or one for each five-tuple.
fn groups(name: &str, coupling: &Coupling, network: &Network<'_>) -> Vec<(String, Vec<usize>)> {
    let mut groups: Vec<(String, Vec<usize>)> = Vec::new();
    for (index, planned) in network.flows.iter().enumerate() {
        if !coupling.flows.iter().any(|flow| planned.path.last() == flow) {
            continue;
        }
        let own = match coupling.detection {
            Detection::Configured | Detection::Measured => name.to_owned(),
            Detection::Multiplexed => format!("{name}/{}", planned.five_tuple()),
        };
        match groups.iter_mut().find(|(known, _)| *known == own) {
            Some((_, members)) => members.push(index),
            None => groups.push((own, vec![index])),
        }
    }
    groups
}

/// The coupling and weight of a flow in the coupling of this index.
fn place(index: usize, coupling: &Coupling, planned: &PlannedFlow<'_>) -> CoupledSpec {
    let has_statistics =
        coupling.detection == Detection::Measured && matches!(planned.flow.carried, FlowTraffic::Tcp(_));
    CoupledSpec {
        coupling: index,
        priority: planned.flow.weight(),
        later_priorities: later_weights(planned),
        desired: match coupling.desired {
            scenario::Desired::Unlimited => DesiredRate::Unlimited,
            scenario::Desired::Limits => DesiredRate::Limits,
            scenario::Desired::Measured => DesiredRate::Measured,
        },
        statistics: has_statistics.then_some(&sbd::Config::DEFAULT),
    }
}

/// Later weights of a flow, each from a time on.
pub(super) fn later_weights(planned: &PlannedFlow<'_>) -> Vec<(weir_net::Time, f64)> {
    let steps = planned.flow.priorities.iter().flatten();
    steps.map(|step| (time(step.at + planned.copy.shift), step.priority)).collect()
}
