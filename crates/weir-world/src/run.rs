//! A whole run.

use weir_net::Time;

use crate::coupling::CouplingSpec;
use crate::flow::FlowSpec;
use crate::link::{CellSpec, LinkSpec};

/// A whole run: a network and the flows that cross it.
#[derive(Debug)]
pub struct RunSpec {
    /// Seed of the run; each component draws from its own stream, derived from this and its name.
    pub seed: u64,
    /// End of the run.
    pub end: Time,
    /// The links; flows refer to them by index.
    pub links: Vec<LinkSpec>,
    /// The Wi-Fi cells that carry some of the links.
    pub cells: Vec<CellSpec>,
    /// The couplers of some of the flows.
    pub couplings: Vec<CouplingSpec>,
    /// The flows.
    pub flows: Vec<FlowSpec>,
}

impl RunSpec {
    /// A network of `links` without flows, observed until `end`, with seed 1.
    pub fn over(links: Vec<LinkSpec>, end: Time) -> Self {
        Self { seed: 1, end, links, cells: Vec::new(), couplings: Vec::new(), flows: Vec::new() }
    }

    /// Adds a flow.
    pub fn with(mut self, flow: FlowSpec) -> Self {
        self.flows.push(flow);
        self
    }

    /// Adds a coupling, whose index is the number of those before it.
    pub fn coupling(mut self, coupling: CouplingSpec) -> Self {
        self.couplings.push(coupling);
        self
    }

    /// Adds flows.
    pub fn with_all(mut self, flows: impl IntoIterator<Item = FlowSpec>) -> Self {
        self.flows.extend(flows);
        self
    }
}
