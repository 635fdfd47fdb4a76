//! Copies of packets at either side of bottlenecks, on every system.

use weir_net::Time;
use weir_world::{LinkSpec, RunSpec};

/// Place of a capture: either side of a bottleneck.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CapturePoint {
    /// Where packets arrive at the bottleneck, also those that it drops.
    Before,
    /// Where packets leave the bottleneck.
    Behind,
}

/// A copy of a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapturedPacket {
    /// Time since the start.
    pub at: Time,
    /// Index of the link among those at which packets are captured.
    pub link: usize,
    /// The place.
    pub point: CapturePoint,
    /// Its bytes from the IP header on, with the ECN field of this place.
    pub bytes: Vec<u8>,
}

/// The link of least capacity until `end` on a route, the first of several; `None` on a route without links.
pub fn bottleneck(links: &[LinkSpec], route: &[usize], end: Time) -> Option<usize> {
    let capacity = |&link: &usize| links.get(link).map(|link| link.config.service.capacity(Time::ZERO, end));
    route.iter().copied().min_by_key(capacity)
}

/// The links at which packets of a run are captured: the [bottleneck] of each route, by flows, the way forward before the way
/// back.
pub fn captured_links(spec: &RunSpec) -> Vec<usize> {
    let routes = spec.flows.iter().flat_map(|flow| [&flow.forward, &flow.reverse]);
    let mut links = Vec::new();
    for link in routes.filter_map(|route| bottleneck(&spec.links, route, spec.end)) {
        if !links.contains(&link) {
            links.push(link);
        }
    }
    links
}

#[cfg(test)]
mod tests {
    use weir_net::{LinkConfig, Service};
    use weir_units::{DataRate, DataSize, TimeDelta};
    use weir_world::{FlowSpec, Traffic};

    use super::*;

    #[test]
    fn each_route_has_its_bottleneck_and_shared_ones_count_once() {
        let link = |mbps| {
            let service = Service::Constant(DataRate::from_mbps(mbps));
            LinkSpec::new(&mbps.to_string(), LinkConfig::new(service, TimeDelta::ZERO))
        };
        let flow = |forward: &[usize], reverse: &[usize]| {
            let (rate, packet_size) = (DataRate::from_kbps(100), DataSize::from_bytes(1000));
            FlowSpec::new("steady", Traffic::Constant { rate, packet_size }).over(forward, reverse)
        };
        let links = [100, 2, 2, 50].map(link).to_vec();
        let flows = [flow(&[0, 1, 2], &[3, 0]), flow(&[3, 1], &[])];
        let spec = RunSpec::over(links, Time::from_millis(1000)).with_all(flows);
        assert_eq!(captured_links(&spec), [1, 3]);
    }
}
