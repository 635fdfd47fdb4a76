//! The choice of the transfer among the flows of a capture.

use std::collections::HashMap;
use std::path::Path;

use super::super::asked::{ImportFinding, ReadOptions};
use super::super::error::FormError;
use super::super::packet::{FlowKey, PacketPart};
use super::super::packets::{CaptureFacts, each};
use super::copies::RecentPackets;

/// Most flows that a capture may have.
const MOST_FLOWS: usize = 200_000;
/// Flows of a capture that are listed, the largest.
const LISTED: usize = 8;

/// A flow was captured more than once where more than this share of its packets are copies.
const COPIED: f64 = 0.2;

/// A capture is cut where more than this share of its packets are first fragments without further ones.
const CUT: f64 = 0.02;

/// The flow of the transfer.
#[derive(Debug)]
pub(super) struct Chosen {
    pub(super) flow: FlowKey,
    /// Whether its packets were captured more than once.
    pub(super) copied: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct TransferExtent {
    packets: u64,
    bytes: u64,
    /// Number of copies among its packets.
    copies: u64,
    copied_bytes: u64,
    /// Fragments.
    firsts: u64,
    laters: u64,
    first: i64,
    last: i64,
}

impl TransferExtent {
    fn is_copied(&self) -> bool {
        self.copies as f64 > COPIED * self.packets as f64
    }
}

/// The flow of the transfer: the only one, or the one that `asked` names.
///
/// # Errors
/// The capture cannot be read, or another flow could be meant.
pub(super) fn choose(
    path: &Path,
    asked: &ReadOptions,
    findings: &mut Vec<ImportFinding>,
) -> Result<Chosen, FormError> {
    let mut flows: HashMap<FlowKey, TransferExtent> = HashMap::new();
    let mut copies = RecentPackets::default();
    let seen = each(path, |packet| {
        if flows.len() >= MOST_FLOWS && !flows.contains_key(&packet.flow) {
            let problem =
                format!("there are more than {MOST_FLOWS} flows; filter the transfer with `tshark -Y`");
            return Err(FormError::Packet { number: packet.number, problem });
        }
        let new = TransferExtent { first: packet.nanos, ..TransferExtent::default() };
        let extent = flows.entry(packet.flow).or_insert(new);
        extent.packets += 1;
        extent.bytes += u64::from(packet.bytes);
        if copies.is_copy(packet) {
            extent.copies += 1;
            extent.copied_bytes += u64::from(packet.bytes);
        }
        extent.firsts += u64::from(packet.part == PacketPart::First);
        extent.laters += u64::from(packet.part == PacketPart::Later);
        extent.last = packet.nanos;
        Ok(())
    })?;
    let mut flows: Vec<(FlowKey, TransferExtent)> = flows.into_iter().collect();
    for (_, extent) in flows.iter_mut().filter(|(_, extent)| extent.is_copied()) {
        extent.bytes -= extent.copied_bytes;
    }
    flows.sort_by_key(|(key, extent)| (std::cmp::Reverse(extent.bytes), *key));
    let (key, extent) = one_of(&flows, &seen, asked)?;
    findings.push(ImportFinding::new("flow", named(&key, &extent, seen.interfaces > 1)));
    if extent.firsts > 2 * extent.laters && extent.firsts as f64 > CUT * extent.packets as f64 {
        let problem = format!(
            "{} of its packets are first fragments of IP packets, and only {} are further ones, which have no ports; record \
             with a filter by address, such as `host {}`, not by port",
            extent.firsts, extent.laters, key.to.0
        );
        return Err(FormError::whole(problem));
    }
    if extent.is_copied() {
        let share = 100.0 * extent.copies as f64 / extent.packets as f64;
        let is = format!(
            "{share:.0} % of the packets, left out: each has the identification, ports and bytes of one up to 1 ms before it, as \
             in a capture by `-i any`"
        );
        findings.push(ImportFinding::new("copies", is));
    }
    Ok(Chosen { flow: key, copied: extent.is_copied() })
}

/// The flow that `asked` names among all `flows`, the largest first; the only one where none is named.
fn one_of(
    flows: &[(FlowKey, TransferExtent)],
    seen: &CaptureFacts,
    asked: &ReadOptions,
) -> Result<(FlowKey, TransferExtent), FormError> {
    if flows.is_empty() {
        let problem = match seen.orphans {
            0 => "it has no packet of TCP or UDP over IP".to_owned(),
            orphans => format!(
                "it has {orphans} fragments of IP packets and none of the first ones, which have the ports; record those, too"
            ),
        };
        return Err(FormError::whole(problem));
    }
    let problem = match (asked.flow, flows) {
        (None, [only]) => return Ok(*only),
        (None, _) => format!("the capture has {} flows", flows.len()),
        (Some(number), _) => match number.checked_sub(1).and_then(|index| flows.get(index)) {
            Some(flow) => return Ok(*flow),
            None => format!("--flow {number}: the number of flows is {}", flows.len()),
        },
    };
    let listed = flows.iter().take(LISTED).enumerate();
    let mut listed: Vec<String> = listed
        .map(|(index, (key, extent))| format!("{}: {}", index + 1, named(key, extent, seen.interfaces > 1)))
        .collect();
    if flows.len() > LISTED {
        listed.push(format!("{} smaller ones", flows.len() - LISTED));
    }
    Err(FormError::undecided(problem, format!("name one with --flow NUMBER: {}", listed.join("; "))))
}

fn named(key: &FlowKey, extent: &TransferExtent, interface: bool) -> String {
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
