//! Detection of packets that were captured more than once: at each interface of "any", at a bond and at its members,
//! or by both sides of a mirror port.

use std::collections::HashMap;

use super::super::packet::{FlowKey, Packet};

/// Greatest time between copies of a packet, in ns.
const MAX_DISTANCE: i64 = 1_000_000;
/// Number of remembered packets above which old ones are dropped.
const MAX_REMEMBERED: usize = 1 << 16;

/// Memory of recent packets, to detect copies among later ones.
#[derive(Debug, Default)]
pub(crate) struct RecentPackets {
    /// Time of the last packet of each flow and hash.
    seen: HashMap<(FlowKey, u64), i64>,
    /// The first identity of each flow, and whether other identities followed.
    identities: HashMap<FlowKey, (u64, bool)>,
}

impl RecentPackets {
    /// Whether a copy of the packet was captured up to 1 ms before. Packets without identification do not count as copies as long
    /// as all packets of their flow are alike.
    pub(crate) fn is_copy(&mut self, packet: &Packet) -> bool {
        let hash = packet.identity.hash;
        let (first, differ) = self.identities.entry(packet.flow).or_insert((hash, false));
        *differ |= *first != hash;
        let is_distinct = packet.identity.numbered || *differ;
        self.is_repeated(packet) && is_distinct
    }

    /// As [`Self::is_copy`], for a flow whose packets are known to differ.
    pub(super) fn is_repeated(&mut self, packet: &Packet) -> bool {
        let near = |nanos: i64| (packet.nanos - nanos).abs() <= MAX_DISTANCE;
        if self.seen.len() >= MAX_REMEMBERED {
            self.seen.retain(|_, nanos| near(*nanos));
            // Above this number within 1 ms, further packets are not remembered, so that each is looked at once.
            if self.seen.len() > MAX_REMEMBERED / 2 {
                self.seen.clear();
            }
        }
        self.seen.insert((packet.flow, packet.identity.hash), packet.nanos).is_some_and(near)
    }
}
