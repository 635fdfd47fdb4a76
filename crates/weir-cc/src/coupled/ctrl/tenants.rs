//! Weights of coupled flows on two levels, as in a hypervisor: each tenant has a weight, and its connections divide it
//! by their own weights.

use alloc::vec::Vec;

use crate::config_error::{ConfigError, check, positive};
use crate::coupled::message::FlowId;

/// Tenants, each with flows that share its weight, whatever their number: `P(c) = W(v) · w(c) / Σ w`. `P(c)` is the
/// resulting weight of connection `c`, `W(v)` the weight of its tenant, `w(c)` its own, and the sum is over the tenant's
/// present flows.
#[derive(Clone, Debug, Default)]
pub struct Tenants {
    /// `W(v)`, the weight of each tenant.
    weights: Vec<f64>,
    /// Index of each flow's tenant, sorted by the number of the flow.
    tenant_by_flow: Vec<(FlowId, usize)>,
    /// `Σ w`, the sum of the own weights of each tenant's present flows.
    sums: Vec<f64>,
}

impl Tenants {
    /// No tenants: each flow has a weight of its own.
    pub fn none() -> Self {
        Self::default()
    }

    /// Adds a tenant of this weight with these flows. A flow of no tenant has its own weight.
    ///
    /// # Errors
    /// A weight that is not above 0 and finite.
    pub fn with(mut self, weight: f64, flows: impl IntoIterator<Item = FlowId>) -> Result<Self, ConfigError> {
        check([("weight", positive(weight), "above 0")])?;
        let tenant = self.weights.len();
        self.weights.push(weight);
        self.sums.push(0.0);
        self.tenant_by_flow.extend(flows.into_iter().map(|flow| (flow, tenant)));
        self.tenant_by_flow.sort_by_key(|&(flow, _)| flow);
        Ok(self)
    }

    /// Index of the flow's tenant, or `None` for a flow of no tenant.
    fn tenant(&self, member: FlowId) -> Option<usize> {
        let place = self.tenant_by_flow.binary_search_by_key(&member, |&(flow, _)| flow).ok()?;
        Some(self.tenant_by_flow[place].1)
    }

    /// Removes all present flows from the sums.
    pub(super) fn clear(&mut self) {
        self.sums.fill(0.0);
    }

    /// Counts a flow as present, with `priority` as its own weight `w(c)`.
    pub(super) fn add(&mut self, member: FlowId, priority: f64) {
        if let Some(tenant) = self.tenant(member) {
            self.sums[tenant] += priority;
        }
    }

    /// `P(c)`, the resulting weight of a flow, after all present flows were added.
    pub(super) fn weight(&self, member: FlowId, priority: f64) -> f64 {
        self.tenant(member).map_or(priority, |tenant| self.weights[tenant] * (priority / self.sums[tenant]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flows_of_a_tenant_have_its_weight_together() {
        let mut tenants =
            Tenants::none().with(1.0, [FlowId(0)]).unwrap().with(2.0, [FlowId(1), FlowId(2)]).unwrap();
        for (flow, priority) in [(0, 5.0), (1, 1.0), (2, 3.0), (3, 0.7)] {
            tenants.add(FlowId(flow), priority);
        }
        let weights =
            [(0, 5.0), (1, 1.0), (2, 3.0), (3, 0.7)].map(|(flow, own)| tenants.weight(FlowId(flow), own));
        assert_eq!(weights, [1.0, 0.5, 1.5, 0.7]);
        assert!(Tenants::none().with(0.0, []).is_err());
    }
}
