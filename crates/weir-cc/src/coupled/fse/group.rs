//! Flow groups: who shares which sum.

use alloc::vec::Vec;

use super::table::{GroupSlot, Table};
use crate::coupled::water_fill::{Claim, weigh};
use crate::time::SendTime;

/// The time after a cut in which it is the only change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Timer {
    pub(super) expiry: SendTime,
    /// Who made the cut.
    pub(super) by: u32,
    /// Whether missing feedback made it.
    pub(super) by_silence: bool,
}

/// A flow group, `FG`.
#[derive(Debug, Default)]
pub(super) struct Group {
    /// As who groups flows calls it.
    pub(super) label: u32,
    /// `FGI`, which no other group ever had.
    pub(super) number: u32,
    /// `S_CR` in bit/s.
    pub(super) sum: f64,
    /// The sum up to which windows may start slowly; `None` before any congestion.
    pub(super) threshold: Option<f64>,
    pub(super) timer: Option<Timer>,
    /// `TLO` of RFC 8699's appendix C.
    pub(super) left_over: f64,
    /// `FSE_R` of flows that have gone since the last update, which that appendix still counts then.
    pub(super) gone: f64,
    /// One of each flow, by its place in the table, in their order.
    pub(super) claims: Vec<Claim>,
    /// Whether something changed that the next update distributes.
    pub(super) stale: bool,
    /// Whether the flows cannot live with the sum.
    pub(super) overloaded: bool,
}

impl Group {
    pub(super) fn share(&self, claim: usize) -> f64 {
        self.claims.get(claim).map_or(0.0, |claim| claim.share)
    }

    pub(super) fn shares(&self) -> f64 {
        self.claims.iter().map(|claim| claim.share).sum()
    }

    pub(super) fn set_share(&mut self, claim: usize, share: f64) {
        if let Some(claim) = self.claims.get_mut(claim) {
            claim.share = share;
        }
    }

    fn reset(&mut self, label: u32, number: u32) {
        let mut claims = core::mem::take(&mut self.claims);
        claims.clear();
        *self = Self { label, number, claims, ..Self::default() };
    }
}

/// All groups. One without flows does not exist; its place is taken by the next.
#[derive(Debug, Default)]
pub(super) struct Groups {
    groups: Vec<Group>,
    /// How many there were.
    numbers: u32,
}

impl Groups {
    pub(super) fn get(&self, group: usize) -> Option<&Group> {
        self.groups.get(group)
    }

    pub(super) fn get_mut(&mut self, group: usize) -> Option<&mut Group> {
        self.groups.get_mut(group)
    }

    /// The group that is called so, if it has flows.
    pub(super) fn find(&self, label: u32) -> Option<usize> {
        self.groups.iter().position(|group| group.label == label && !group.claims.is_empty())
    }

    /// The group that is called so, or a new one.
    pub(super) fn find_or_begin(&mut self, label: u32) -> usize {
        if let Some(group) = self.find(label) {
            return group;
        }
        let free = self.groups.iter().position(|group| group.claims.is_empty());
        let at = free.unwrap_or_else(|| {
            self.groups.push(Group::default());
            self.groups.len() - 1
        });
        let number = self.numbers;
        self.numbers = self.numbers.wrapping_add(1);
        if let Some(group) = self.get_mut(at) {
            group.reset(label, number);
        }
        at
    }

    /// A flow takes a seat with `share`; `S_CR` is the caller's.
    pub(super) fn seat(&mut self, table: &mut Table, group: usize, slot: u32, share: f64) {
        let (Some(flow), Some(g)) = (table.get(slot), self.groups.get_mut(group)) else { return };
        let mut claim = Claim::new(slot, flow.parameters.priority, flow.least(), flow.most());
        claim.share = share;
        let at = g.claims.partition_point(|other| other.order(&claim).is_lt());
        g.claims.insert(at, claim);
        renumber(g, table, group, at..);
    }

    /// A flow leaves its seat; `S_CR` stays. Returns the seat and what its share was.
    pub(super) fn unseat(&mut self, table: &mut Table, slot: u32) -> Option<(GroupSlot, f64)> {
        let seat = table.get_mut(slot)?.seat.take()?;
        let group = self.groups.get_mut(seat.group)?;
        if seat.claim >= group.claims.len() {
            return None;
        }
        let claim = group.claims.remove(seat.claim);
        renumber(group, table, seat.group, seat.claim..);
        Some((seat, claim.share))
    }

    /// What a flow claims has changed: it takes another seat of the same group.
    pub(super) fn reseat(&mut self, table: &mut Table, slot: u32) {
        if let Some((seat, share)) = self.unseat(table, slot) {
            self.seat(table, seat.group, slot, share);
        }
    }
}

/// Tells the flows from `from` on their seats, and weighs all claims.
fn renumber(group: &mut Group, table: &mut Table, number: usize, from: core::ops::RangeFrom<usize>) {
    for (claim, seated) in group.claims.iter().enumerate().skip(from.start) {
        if let Some(flow) = table.get_mut(seated.of) {
            flow.seat = Some(GroupSlot { group: number, claim });
        }
    }
    weigh(&mut group.claims);
    group.stale = true;
}
