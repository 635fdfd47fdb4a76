//! Flow groups of the Flow State Exchange: flows that share a sum.

use alloc::vec::Vec;

use super::flow::{Flow, GroupSlot};
use crate::coupled::frame::Members;
use crate::coupled::message::FlowId;
use crate::coupled::water_fill::{ShareClaim, weigh};
use crate::time::SendTime;

/// The time after a cut in which it is the only change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CutTimer {
    pub(super) expiry: SendTime,
    /// Rank of the flow that made the cut.
    pub(super) by: u32,
    /// Whether missing feedback caused it.
    pub(super) by_silence: bool,
}

/// A flow group, `FG`.
#[derive(Debug, Default)]
pub(super) struct Group {
    /// Label of the group, as the grouping gives it.
    pub(super) label: u32,
    /// `FGI`, a number that no other group ever had.
    pub(super) number: u32,
    /// `S_CR` in bit/s.
    pub(super) sum: f64,
    /// The sum up to which windows may use slow start, or `None` before the first congestion.
    pub(super) threshold: Option<f64>,
    pub(super) timer: Option<CutTimer>,
    /// `TLO`, the remainder in RFC 8699's appendix C.
    pub(super) left_over: f64,
    /// `FSE_R` of flows that have left since the last update, which appendix C still counts.
    pub(super) gone: f64,
    /// Claim of each flow, in the order of [`ShareClaim::order`].
    pub(super) claims: Vec<ShareClaim>,
    /// The flow of each claim.
    pub(super) members: Vec<FlowId>,
    /// Whether a change waits to be distributed by the next update.
    pub(super) stale: bool,
    /// Whether the sum of the flows' least rates exceeds `S_CR`.
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
        let mut members = core::mem::take(&mut self.members);
        claims.clear();
        members.clear();
        *self = Self { label, number, claims, members, ..Self::default() };
    }
}

/// All groups. The slot of a group without flows is reused for the next new group.
#[derive(Debug, Default)]
pub(super) struct Groups {
    all: Vec<Group>,
    /// Number of groups so far.
    numbers: u32,
    /// Ranks of flows that have left, for reuse. The number of ranks follows.
    free: Vec<u32>,
    ranks: u32,
}

impl Groups {
    /// A rank for a new flow, which decides ties between claims.
    pub(super) fn take_rank(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.ranks = self.ranks.wrapping_add(1);
            self.ranks.wrapping_sub(1)
        })
    }

    pub(super) fn free_rank(&mut self, rank: u32) {
        self.free.push(rank);
    }

    pub(super) fn get(&self, group: usize) -> Option<&Group> {
        self.all.get(group)
    }

    pub(super) fn get_mut(&mut self, group: usize) -> Option<&mut Group> {
        self.all.get_mut(group)
    }

    /// The group with this label, if it has flows.
    pub(super) fn find(&self, label: u32) -> Option<usize> {
        self.all.iter().position(|group| group.label == label && !group.claims.is_empty())
    }

    /// The group with this label, or a new one.
    pub(super) fn find_or_begin(&mut self, label: u32) -> usize {
        if let Some(group) = self.find(label) {
            return group;
        }
        let free = self.all.iter().position(|group| group.claims.is_empty());
        let at = free.unwrap_or_else(|| {
            self.all.push(Group::default());
            self.all.len() - 1
        });
        let number = self.numbers;
        self.numbers = self.numbers.wrapping_add(1);
        if let Some(group) = self.get_mut(at) {
            group.reset(label, number);
        }
        at
    }

    /// Adds a flow with the share `share` to a group. The caller sets `S_CR`.
    pub(super) fn add(&mut self, flows: &mut Members<Flow>, group: usize, place: usize, share: f64) {
        let (Some(flow), Some(g)) = (flows.get(place), self.all.get_mut(group)) else { return };
        let mut claim = ShareClaim::new(flow.rank, flow.parameters.priority, flow.least(), flow.most());
        claim.share = share;
        let at = g.claims.partition_point(|other| other.order(&claim).is_lt());
        g.claims.insert(at, claim);
        g.members.insert(at, flows.member(place));
        renumber(g, flows, group, at..);
    }

    /// Removes a flow from its group. `S_CR` stays. Returns its slot and its share.
    pub(super) fn remove(&mut self, flows: &mut Members<Flow>, place: usize) -> Option<(GroupSlot, f64)> {
        let slot = flows.get_mut(place)?.slot.take()?;
        let group = self.all.get_mut(slot.group)?;
        if slot.claim >= group.claims.len() {
            return None;
        }
        let claim = group.claims.remove(slot.claim);
        group.members.remove(slot.claim);
        renumber(group, flows, slot.group, slot.claim..);
        Some((slot, claim.share))
    }

    /// Moves a flow within its group after a change of its claim.
    pub(super) fn reorder(&mut self, flows: &mut Members<Flow>, place: usize) {
        if let Some((slot, share)) = self.remove(flows, place) {
            self.add(flows, slot.group, place, share);
        }
    }
}

/// Updates the slots of the flows from `from` on, and weighs all claims.
fn renumber(group: &mut Group, flows: &mut Members<Flow>, number: usize, from: core::ops::RangeFrom<usize>) {
    for (claim, &member) in group.members.iter().enumerate().skip(from.start) {
        if let Some(place) = flows.place(member) {
            flows[place].slot = Some(GroupSlot { group: number, claim });
        }
    }
    weigh(&mut group.claims);
    group.stale = true;
}
