//! The flow of the transfer among all flows of a packet capture: the only flow, or the one named by `--flow`.

use std::collections::HashMap;
use std::path::Path;

use super::super::error::FormError;
use super::super::options::{ImportFinding, ReadOptions};
use super::super::packet::{FlowKey, PacketPart};
use super::super::packets::{CaptureFacts, each};
use super::copies::RecentPackets;

/// Greatest number of flows that a capture may have.
const MAX_FLOWS: usize = 200_000;
/// Number of flows that an error message lists, the largest first.
const MAX_LISTED_FLOWS: usize = 8;

/// Share of copies among a flow's packets above which the flow was captured more than once.
const COPY_SHARE: f64 = 0.2;

/// Share of first fragments among a flow's packets above which further fragments must be in the capture, too.
const FRAGMENT_SHARE: f64 = 0.02;

/// The flow of the transfer.
#[derive(Debug)]
pub(super) struct TransferFlow {
    pub(super) key: FlowKey,
    /// Whether its packets were captured more than once.
    pub(super) is_copied: bool,
}

/// Packets of a flow, by their number, size and times.
#[derive(Clone, Copy, Debug, Default)]
struct FlowExtent {
    packets: u64,
    bytes: u64,
    /// Number of packets that are copies of an earlier packet.
    copies: u64,
    copied_bytes: u64,
    /// Number of first fragments of IP packets.
    first_fragments: u64,
    /// Number of further fragments of IP packets.
    later_fragments: u64,
    /// Time of the first packet, in ns.
    first: i64,
    /// Time of the last packet, in ns.
    last: i64,
}

impl FlowExtent {
    /// Whether the flow was captured more than once.
    fn is_copied(&self) -> bool {
        self.copies as f64 > COPY_SHARE * self.packets as f64
    }
}

/// The flow of the transfer in the capture at `path`: the only flow, or the one that `options` name. What was found
/// about the flow is added to `findings`.
///
/// # Errors
/// If the capture cannot be read, has more than one flow and none is named, or is incomplete.
pub(super) fn choose(
    path: &Path,
    options: &ReadOptions,
    findings: &mut Vec<ImportFinding>,
) -> Result<TransferFlow, FormError> {
    let mut flows: HashMap<FlowKey, FlowExtent> = HashMap::new();
    let mut copies = RecentPackets::default();
    let facts = each(path, |packet| {
        if flows.len() >= MAX_FLOWS && !flows.contains_key(&packet.flow) {
            let problem =
                format!("there are more than {MAX_FLOWS} flows; filter the transfer with `tshark -Y`");
            return Err(FormError::Packet { number: packet.number, problem });
        }
        let new = FlowExtent { first: packet.nanos, ..FlowExtent::default() };
        let extent = flows.entry(packet.flow).or_insert(new);
        extent.packets += 1;
        extent.bytes += u64::from(packet.bytes);
        if copies.is_copy(packet) {
            extent.copies += 1;
            extent.copied_bytes += u64::from(packet.bytes);
        }
        extent.first_fragments += u64::from(packet.part == PacketPart::First);
        extent.later_fragments += u64::from(packet.part == PacketPart::Later);
        extent.last = packet.nanos;
        Ok(())
    })?;
    let mut flows: Vec<(FlowKey, FlowExtent)> = flows.into_iter().collect();
    for (_, extent) in flows.iter_mut().filter(|(_, extent)| extent.is_copied()) {
        extent.bytes -= extent.copied_bytes;
    }
    flows.sort_by_key(|(key, extent)| (std::cmp::Reverse(extent.bytes), *key));
    let (key, extent) = named_flow(&flows, &facts, options)?;
    findings.push(ImportFinding::new("flow", described(&key, &extent, facts.interfaces > 1)));
    if extent.first_fragments > 2 * extent.later_fragments
        && extent.first_fragments as f64 > FRAGMENT_SHARE * extent.packets as f64
    {
        let problem = format!(
            "{} of its packets are first fragments of IP packets, and only {} are further ones, which have no ports; record \
             with a filter by address, such as `host {}`, not by port",
            extent.first_fragments, extent.later_fragments, key.to.0
        );
        return Err(FormError::whole(problem));
    }
    if extent.is_copied() {
        let share = 100.0 * extent.copies as f64 / extent.packets as f64;
        let description = format!(
            "{share:.0} % of the packets, left out: each has the identification, ports and bytes of one up to 1 ms before it, as \
             in a capture by `-i any`"
        );
        findings.push(ImportFinding::new("copies", description));
    }
    Ok(TransferFlow { key, is_copied: extent.is_copied() })
}

/// The flow that `options` name among all `flows`, which are sorted by size, the largest first. If none is named, the
/// only flow.
///
/// # Errors
/// If there is no flow, no such flow, or more than one and none is named.
fn named_flow(
    flows: &[(FlowKey, FlowExtent)],
    facts: &CaptureFacts,
    options: &ReadOptions,
) -> Result<(FlowKey, FlowExtent), FormError> {
    if flows.is_empty() {
        let problem = match facts.orphan_fragments {
            0 => "it has no packet of TCP or UDP over IP".to_owned(),
            orphan_fragments => format!(
                "it has {orphan_fragments} fragments of IP packets and none of the first ones, which have the ports; record those, too"
            ),
        };
        return Err(FormError::whole(problem));
    }
    let problem = match (options.flow, flows) {
        (None, [only]) => return Ok(*only),
        (None, _) => format!("the capture has {} flows", flows.len()),
        (Some(number), _) => match number.checked_sub(1).and_then(|index| flows.get(index)) {
            Some(flow) => return Ok(*flow),
            None => format!("--flow {number}: the number of flows is {}", flows.len()),
        },
    };
    let listed = flows.iter().take(MAX_LISTED_FLOWS).enumerate();
    let mut listed: Vec<String> = listed
        .map(|(index, (key, extent))| {
            format!("{}: {}", index + 1, described(key, extent, facts.interfaces > 1))
        })
        .collect();
    if flows.len() > MAX_LISTED_FLOWS {
        listed.push(format!("{} smaller ones", flows.len() - MAX_LISTED_FLOWS));
    }
    Err(FormError::undecided(problem, format!("name one with --flow NUMBER: {}", listed.join("; "))))
}

/// The flow in words, such as `UDP 10.0.0.1:5000 → 10.0.0.2:5001, 1.2 MB in 10.0 s`.
fn described(key: &FlowKey, extent: &FlowExtent, interface: bool) -> String {
    let FlowKey { from, to, tcp, .. } = key;
    let protocol = if *tcp { "TCP" } else { "UDP" };
    let end = |(address, port): &(std::net::IpAddr, u16)| match address {
        std::net::IpAddr::V4(address) => format!("{address}:{port}"),
        std::net::IpAddr::V6(address) => format!("[{address}]:{port}"),
    };
    let seconds = (extent.last - extent.first) as f64 / 1e9;
    let on_interface = if interface { format!(" on interface {}", key.interface) } else { String::new() };
    let megabytes = extent.bytes as f64 / 1e6;
    format!("{protocol} {} → {}{on_interface}, {megabytes:.1} MB in {seconds:.1} s", end(from), end(to))
}
