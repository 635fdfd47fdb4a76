//! Paths between two ends.

use weir_net::Time;
use weir_world::LinkSpec;

use crate::capture::bottleneck;
use crate::emulator::{Emulator, EmulatorError};

/// Span over which capacities of links are compared.
const COMPARED: Time = Time::from_millis(60_000);

/// Links between two ends, and the way in each direction as a list of their indices.
#[derive(Clone, Debug)]
pub struct Path {
    /// The links.
    pub links: Vec<LinkSpec>,
    /// From the near end to the far end, and back.
    pub routes: [Vec<usize>; 2],
}

impl Path {
    /// The link of least capacity in each direction, the first of several.
    pub fn bottlenecks(&self) -> [usize; 2] {
        self.routes.each_ref().map(|route| bottleneck(&self.links, route, COMPARED).unwrap_or(0))
    }

    /// An emulator with this pair of routes, `pairs` times. Waiting in any link counts.
    pub(super) fn emulator(mut self, seed: u64, pairs: usize) -> Result<Emulator, EmulatorError> {
        for link in &mut self.links {
            link.bottleneck = true;
        }
        let [there, back] = &self.routes;
        Emulator::new(seed, &self.links, &[there, back].repeat(pairs))
    }
}
