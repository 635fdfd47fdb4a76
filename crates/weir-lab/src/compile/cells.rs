//! What a Wi-Fi cell can carry.

use weir_net::WifiLink;
use weir_units::DataRate;

use super::topology::{Network, PlannedLink};
use crate::scenario::Cell;

/// Bytes of the packets by which the capacity of a cell without flows is told.
const FULL_SIZE: u32 = 1500;

impl Cell {
    /// What the flows of `network` can carry together through the cell, which is called `name`, if all get the same:
    /// those that send data over its links contend with packets of full size. Audio, reports and acknowledgements
    /// are not counted in.
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
        // Each takes the air for as long as its own bits need.
        let air: f64 = hops.iter().map(|&(link, packet)| 1.0 / rate(link, packet).bps_f64()).sum();
        DataRate::from_bps((hops.len() as f64 / air) as u64)
    }
}
