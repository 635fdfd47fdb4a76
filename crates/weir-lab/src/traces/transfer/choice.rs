//! Which flow of a capture is the transfer.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use super::super::asked::{Asked, Finding, WhichFlow};
use super::super::error::FormError;
use super::super::packet::{FlowKey, Part};
use super::super::packets::{Seen, each};
use super::copies::Copies;

/// Most flows that a capture may have.
const MOST_FLOWS: usize = 200_000;
/// A flow with this share of what goes to its receiver is the transfer.
const NEARLY_ALL: f64 = 0.9;
/// So many flows are named where it is not clear which is meant.
const NAMED: usize = 8;

/// A flow was captured more than once where more than this share of its packets are copies.
const COPIED: f64 = 0.2;

/// Where more than this share of the packets are first fragments without further ones, the rest was not recorded.
const CUT: f64 = 0.02;

/// The flows of the transfer.
#[derive(Debug)]
pub(super) struct Chosen {
    /// The largest first.
    pub(super) flows: Vec<FlowKey>,
    /// Flows of the capture that are there more than once.
    pub(super) copied: HashSet<FlowKey>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Extent {
    packets: u64,
    bytes: u64,
    /// Of these.
    copies: u64,
    copied_bytes: u64,
    /// Fragments.
    firsts: u64,
    laters: u64,
    first: i64,
    last: i64,
}

impl Extent {
    fn is_copied(&self) -> bool {
        self.copies as f64 > COPIED * self.packets as f64
    }
}

/// The flows of the transfer.
pub(super) fn choose(path: &Path, asked: &Asked, findings: &mut Vec<Finding>) -> Result<Chosen, FormError> {
    let mut flows: HashMap<FlowKey, Extent> = HashMap::new();
    let mut copies = Copies::default();
    let seen = each(path, |packet| {
        if flows.len() >= MOST_FLOWS && !flows.contains_key(&packet.flow) {
            let problem =
                format!("there are more than {MOST_FLOWS} flows; filter the transfer with `tshark -Y`");
            return Err(FormError::Packet { number: packet.number, problem });
        }
        let new = Extent { first: packet.nanos, ..Extent::default() };
        let extent = flows.entry(packet.flow).or_insert(new);
        extent.packets += 1;
        extent.bytes += u64::from(packet.bytes);
        if copies.is_copy(packet) {
            extent.copies += 1;
            extent.copied_bytes += u64::from(packet.bytes);
        }
        extent.firsts += u64::from(packet.part == Part::First);
        extent.laters += u64::from(packet.part == Part::Later);
        extent.last = packet.nanos;
        Ok(())
    })?;
    let mut flows: Vec<(FlowKey, Extent)> = flows.into_iter().collect();
    for (_, extent) in flows.iter_mut().filter(|(_, extent)| extent.is_copied()) {
        extent.bytes -= extent.copied_bytes;
    }
    let copied = flows.iter().filter(|(_, extent)| extent.is_copied()).map(|(key, _)| *key).collect();
    flows.sort_by_key(|(key, extent)| (std::cmp::Reverse(extent.bytes), *key));
    let chosen = which(&flows, &seen, asked, findings)?;
    let mut all = Extent::default();
    for (_, extent) in flows.iter().filter(|(key, _)| chosen.contains(key)) {
        all.packets += extent.packets;
        all.copies += if extent.is_copied() { extent.copies } else { 0 };
        all.firsts += extent.firsts;
        all.laters += extent.laters;
    }
    if all.firsts > 2 * all.laters && all.firsts as f64 > CUT * all.packets as f64 {
        let problem = format!(
            "{} of its packets are first fragments of IP packets, and only {} are further ones, which have no ports; record \
             with a filter by address, such as `host {}`, not by port",
            all.firsts, all.laters, chosen[0].to.0
        );
        return Err(FormError::whole(problem));
    }
    if all.copies > 0 {
        let share = 100.0 * all.copies as f64 / all.packets as f64;
        let why = "each has the identification, ports and bytes of one up to 1 ms before it: captured twice, as by `-i any`; \
                   `editcap -d` removes such packets";
        findings.push(Finding::guess("copies", format!("{share:.0} % of the packets, left out"), why));
    }
    Ok(Chosen { flows: chosen, copied })
}

/// The flows of the transfer, the largest first, of all `flows`, the largest first.
fn which(
    flows: &[(FlowKey, Extent)],
    seen: &Seen,
    asked: &Asked,
    findings: &mut Vec<Finding>,
) -> Result<Vec<FlowKey>, FormError> {
    let Some(&(largest, extent)) = flows.first() else {
        let problem = match seen.orphans {
            0 => "it has no packet of TCP or UDP over IP".to_owned(),
            orphans => format!(
                "it has {orphans} fragments of IP packets and none of the first ones, which have the ports; record those, too"
            ),
        };
        return Err(FormError::whole(problem));
    };
    let name = |(key, extent): &(FlowKey, Extent)| named(key, extent, seen.interfaces > 1);
    match asked.flow {
        Some(WhichFlow::Number(number)) => match number.checked_sub(1).and_then(|index| flows.get(index)) {
            Some(flow) => {
                findings.push(Finding::sure("flow", name(flow), "as asked"));
                Ok(vec![flow.0])
            }
            None => Err(FormError::undecided(
                format!("--flow {number}: there are {} flows", flows.len()),
                list(flows, name),
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
                return Err(FormError::undecided(problem, list(flows, name)));
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
