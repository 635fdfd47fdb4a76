//! Flows that real hosts do not have, refused before anything starts.

use weir_wire::media::RATED_LEN;
use weir_world::host::UDP_OVERHEAD;
use weir_world::{ClockSpec, FlowSpec, RunSpec, Traffic};

use super::{FaceKind, LiveError};
use crate::face::MTU;
use crate::face::udp::overhead;
use crate::hosts::tcp;

/// Refuses what real hosts do not have.
pub(super) fn refuse_unreal(spec: &RunSpec, face: FaceKind, ipv6: bool) -> Result<(), LiveError> {
    for flow in &spec.flows {
        let refuse = |reason: &str| Err(refusal(flow, reason));
        let drifts = |clock: &ClockSpec| clock.drift_ppm != 0.0 || clock.step.is_some();
        if drifts(&flow.sender_clock) || drifts(&flow.receiver_clock) {
            return refuse("the machine has one clock, without drift and steps");
        }
        if let Some(size) = impossible_size(&flow.traffic, ipv6) {
            let headers = overhead(ipv6);
            return refuse(&format!(
                "a packet of {size} bytes is not within {headers} to {MTU}, headers included"
            ));
        }
        match &flow.traffic {
            Traffic::Media(_) | Traffic::Constant { .. } | Traffic::Unresponsive(_) => {}
            Traffic::Tcp { name, .. } => kernel_tcp(flow, name, face)?,
            Traffic::Downloads { algorithms, .. } => kernel_tcp(flow, algorithms.name(), face)?,
            Traffic::ChromiumTcp { .. } => return refuse("`chromium-2015` is a TCP of a simulator"),
            Traffic::Web { .. } => return refuse("web traffic is a model without real endpoints"),
        }
    }
    Ok(())
}

fn refusal(flow: &FlowSpec, reason: &str) -> LiveError {
    LiveError::Flow { flow: flow.name.clone(), reason: reason.to_owned() }
}

/// Refuses a flow that the kernel's TCP cannot carry under the congestion control `name`.
fn kernel_tcp(flow: &FlowSpec, name: &str, face: FaceKind) -> Result<(), LiveError> {
    if flow.coupled.is_some() {
        return Err(refusal(flow, "the kernel's TCP takes no allocations, so it cannot be coupled"));
    }
    if tcp::kernel_name(name).is_none() {
        return Err(refusal(flow, &format!("the kernel has no congestion control `{name}`")));
    }
    match face {
        FaceKind::Udp => Err(LiveError::NeedsTun(flow.name.clone())),
        FaceKind::Tun => Ok(()),
    }
}

/// Size on the wire of the flow's largest packet, headers included, if no face carries it.
fn impossible_size(traffic: &Traffic, ipv6: bool) -> Option<u64> {
    let headers = overhead(ipv6) as u64;
    // Sizes of simulated packets have the headers of IPv4.
    let real = |size: u64| (size + headers).saturating_sub(u64::from(UDP_OVERHEAD));
    let size = match traffic {
        Traffic::Media(media) => {
            let audio = media.config.audio.map_or(0, |audio| audio.payload().bytes());
            headers + RATED_LEN as u64 + u64::from(media.config.payload_limit).max(audio)
        }
        Traffic::Constant { packet_size, .. } => real(packet_size.bytes()),
        Traffic::Unresponsive(traffic) => real(traffic.packet_size.bytes()),
        _ => return None,
    };
    (size < headers || size > MTU as u64).then_some(size)
}

#[cfg(test)]
mod tests {
    use weir_units::{DataRate, DataSize};

    use super::*;

    #[test]
    fn packets_are_as_large_as_a_face_carries() {
        let size = |bytes, ipv6| {
            let packet_size = DataSize::from_bytes(bytes);
            impossible_size(&Traffic::Constant { rate: DataRate::from_mbps(1), packet_size }, ipv6)
        };
        assert_eq!([27, 28, 1500, 1501].map(|bytes| size(bytes, false)), [Some(27), None, None, Some(1501)]);
        // Headers of IPv6 are 20 bytes longer.
        assert_eq!([27, 28, 1480, 1481].map(|bytes| size(bytes, true)), [Some(47), None, None, Some(1501)]);
    }
}
