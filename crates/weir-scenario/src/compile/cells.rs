//! Capacity of Wi-Fi cells.

use weir_net::WifiLink;
use weir_units::DataRate;

use super::topology::{Network, PlannedLink};
use crate::scenario::Cell;

/// Packet size in bytes for the capacity of a cell without flows.
const FULL_SIZE: u32 = 1500;

impl Cell {
    /// The total rate of the flows of `network` through the cell `name` if all get the same rate. Flows that send data over its
    /// links contend with packets of full size. Audio, reports and acknowledgements are not counted in.
    pub(crate) fn capacity(&self, name: &str, network: &Network<'_>) -> DataRate {
        let is_in = |link: &&PlannedLink| link.model.cell.as_deref() == Some(name);
        let hops: Vec<(&PlannedLink, u32)> = network
            .flows
            .iter()
            .filter_map(|flow| Some((flow, flow.flow.full_packet()?)))
            .flat_map(|(flow, packet)| flow.forward.iter().map(move |&link| (&network.links[link], packet)))
            .filter(|(link, _)| is_in(link))
            .collect();
        let mut transmitters: Vec<&str> = hops.iter().map(|(link, _)| link.from.as_str()).collect();
        transmitters.sort_unstable();
        transmitters.dedup();
        let rate = |link: &PlannedLink, packet: u32| {
            let link = WifiLink::new(0, link.model.rate.unwrap_or(self.rate));
            self.config().saturation_rate(&link, packet, transmitters.len() as u32)
        };
        if hops.is_empty() {
            return self.config().saturation_rate(&WifiLink::new(0, self.rate), FULL_SIZE, 1);
        }
        // Each occupies the air for the time of its own bits.
        let air: f64 = hops.iter().map(|&(link, packet)| 1.0 / rate(link, packet).bps_f64()).sum();
        DataRate::from_bps((hops.len() as f64 / air) as u64)
    }
}
