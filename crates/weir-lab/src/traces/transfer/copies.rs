//! Packets that were captured more than once: at each interface that "any" stands for, at a bond and at its members, by
//! both sides of a mirror port.

use std::collections::HashMap;

use super::super::packet::{FlowKey, Packet};

/// Copies are at most so many ns apart.
const APART: i64 = 1_000_000;
/// Packets that are remembered before those that are too old are forgotten.
const REMEMBERED: usize = 1 << 16;

/// Packets of late.
#[derive(Debug, Default)]
pub(super) struct Copies {
    /// When each passed last.
    seen: HashMap<(FlowKey, u64), i64>,
    /// The first identity of each flow, and whether it had others.
    identities: HashMap<FlowKey, (u64, bool)>,
}

impl Copies {
    /// Whether the packet is one that was there up to 1 ms ago. Packets without identification are none as long as all of
    /// their flow are alike.
    pub(super) fn is_copy(&mut self, packet: &Packet) -> bool {
        let hash = packet.identity.hash;
        let (first, differ) = self.identities.entry(packet.flow).or_insert((hash, false));
        *differ |= *first != hash;
        let tells = packet.identity.numbered || *differ;
        self.is_again(packet) && tells
    }

    /// The same of a flow whose packets tell.
    pub(super) fn is_again(&mut self, packet: &Packet) -> bool {
        let near = |nanos: i64| (packet.nanos - nanos).abs() <= APART;
        if self.seen.len() >= REMEMBERED {
            self.seen.retain(|_, nanos| near(*nanos));
            // So many within 1 ms: more are not remembered, so that each is looked at once.
            if self.seen.len() > REMEMBERED / 2 {
                self.seen.clear();
            }
        }
        self.seen.insert((packet.flow, packet.identity.hash), packet.nanos).is_some_and(near)
    }
}
