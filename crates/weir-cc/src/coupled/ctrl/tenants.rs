//! Two levels of weights: tenants' weights, and within each those of its connections (coupling in a hypervisor).

use alloc::vec::Vec;

use crate::config_error::{ConfigError, check, positive};
use crate::coupled::message::FlowId;

/// Tenants whose flows share a weight, however many flows there are: `P(c) = W(v) · w(c) / Σ w` over the tenant's
/// flows.
#[derive(Clone, Debug, Default)]
pub struct Tenants {
    weights: Vec<f64>,
    /// Tenant of each flow, by number of the flow.
    of: Vec<(FlowId, usize)>,
    /// Sum of the weights of each tenant's present flows.
    sums: Vec<f64>,
}

impl Tenants {
    /// No tenants: each flow has a weight of its own.
    pub fn none() -> Self {
        Self::default()
    }

    /// Adds a tenant of this weight with these flows; flows of no tenant have their own weights.
    ///
    /// # Errors
    /// A weight that is not above 0 and finite.
    pub fn with(mut self, weight: f64, flows: impl IntoIterator<Item = FlowId>) -> Result<Self, ConfigError> {
        check([("weight", positive(weight), "above 0")])?;
        let tenant = self.weights.len();
        self.weights.push(weight);
        self.sums.push(0.0);
        self.of.extend(flows.into_iter().map(|flow| (flow, tenant)));
        self.of.sort_by_key(|&(flow, _)| flow);
        Ok(self)
    }

    fn of(&self, member: FlowId) -> Option<usize> {
        let place = self.of.binary_search_by_key(&member, |&(flow, _)| flow).ok()?;
        Some(self.of[place].1)
    }

    /// Forgets the present flows.
    pub(super) fn clear(&mut self) {
        self.sums.fill(0.0);
    }

    /// Counts a flow with a weight of its own as present.
    pub(super) fn add(&mut self, member: FlowId, priority: f64) {
        if let Some(tenant) = self.of(member) {
            self.sums[tenant] += priority;
        }
    }

    /// `P(c)`, once all present flows were added.
    pub(super) fn weight(&self, member: FlowId, priority: f64) -> f64 {
        self.of(member).map_or(priority, |tenant| self.weights[tenant] * (priority / self.sums[tenant]))
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
