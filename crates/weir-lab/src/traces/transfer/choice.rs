//! Which flow of a capture is the transfer.

use std::collections::HashMap;
use std::path::Path;

use super::super::asked::{Asked, Finding, WhichFlow};
use super::super::error::FormError;
use super::super::packets::{FlowKey, each};

/// Most flows that a capture may have.
const MOST_FLOWS: usize = 200_000;
/// A flow with this share of what goes to its receiver is the transfer.
const NEARLY_ALL: f64 = 0.9;
/// So many flows are named where it is not clear which is meant.
const NAMED: usize = 8;

#[derive(Clone, Copy, Debug, Default)]
struct Extent {
    bytes: u64,
    first: i64,
    last: i64,
}

/// The flows of the transfer, the largest first.
pub(super) fn choose(
    path: &Path,
    asked: &Asked,
    findings: &mut Vec<Finding>,
) -> Result<Vec<FlowKey>, FormError> {
    let mut flows: HashMap<FlowKey, Extent> = HashMap::new();
    let interfaces = each(path, |packet| {
        if flows.len() >= MOST_FLOWS && !flows.contains_key(&packet.flow) {
            let problem =
                format!("there are more than {MOST_FLOWS} flows; filter the transfer with `tshark -Y`");
            return Err(FormError::Packet { number: packet.number, problem });
        }
        let new = Extent { first: packet.nanos, ..Extent::default() };
        let extent = flows.entry(packet.flow).or_insert(new);
        extent.bytes += u64::from(packet.bytes);
        extent.last = packet.nanos;
        Ok(())
    })?;
    let mut flows: Vec<(FlowKey, Extent)> = flows.into_iter().collect();
    flows.sort_by_key(|(key, extent)| (std::cmp::Reverse(extent.bytes), *key));
    let Some(&(largest, extent)) = flows.first() else {
        return Err(FormError::whole("it has no packet of TCP or UDP over IP"));
    };
    let name = |(key, extent): &(FlowKey, Extent)| named(key, extent, interfaces > 1);
    match asked.flow {
        Some(WhichFlow::Number(number)) => match number.checked_sub(1).and_then(|index| flows.get(index)) {
            Some(flow) => {
                findings.push(Finding::sure("flow", name(flow), "as asked"));
                Ok(vec![flow.0])
            }
            None => Err(FormError::undecided(
                format!("--flow {number}: there are {} flows", flows.len()),
                list(&flows, name),
            )),
        },
        Some(WhichFlow::All) => {
            let together = |key: &FlowKey| key.to.0 == largest.to.0 && key.interface == largest.interface;
            let keys: Vec<FlowKey> = flows.iter().map(|(key, _)| *key).filter(together).collect();
            findings.push(Finding::sure(
                "flow",
                format!("all {} to {}", keys.len(), largest.to.0),
                "as asked",
            ));
            Ok(keys)
        }
        None => {
            let there = flows.iter().filter(|(key, _)| key.to.0 == largest.to.0);
            let all: u64 = there.map(|(_, extent)| extent.bytes).sum();
            let share = extent.bytes as f64 / all as f64;
            if share < NEARLY_ALL {
                let problem = format!(
                    "several flows go to {}, and the largest has {:.0} % of their bytes",
                    largest.to.0,
                    100.0 * share
                );
                return Err(FormError::undecided(problem, list(&flows, name)));
            }
            let why = format!("it has {:.0} % of the bytes to its receiver", 100.0 * share);
            findings.push(Finding::sure("flow", name(&flows[0]), why));
            Ok(vec![largest])
        }
    }
}

fn list(flows: &[(FlowKey, Extent)], name: impl Fn(&(FlowKey, Extent)) -> String) -> String {
    let named = flows.iter().take(NAMED).enumerate();
    let named: Vec<String> = named.map(|(index, flow)| format!("{}: {}", index + 1, name(flow))).collect();
    format!(
        "say which with --flow NUMBER, or take all to the receiver of the largest with --flow all: {}",
        named.join("; ")
    )
}

fn named(key: &FlowKey, extent: &Extent, interface: bool) -> String {
    let FlowKey { from, to, tcp, .. } = key;
    let protocol = if *tcp { "TCP" } else { "UDP" };
    let end = |(address, port): &(std::net::IpAddr, u16)| match address {
        std::net::IpAddr::V4(address) => format!("{address}:{port}"),
        std::net::IpAddr::V6(address) => format!("[{address}]:{port}"),
    };
    let seconds = (extent.last - extent.first) as f64 / 1e9;
    let seen = if interface { format!(" on interface {}", key.interface) } else { String::new() };
    let megabytes = extent.bytes as f64 / 1e6;
    format!("{protocol} {} → {}{seen}, {megabytes:.1} MB in {seconds:.1} s", end(from), end(to))
}
