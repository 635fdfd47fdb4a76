//! Flow groups: flows that share a sum.

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
    /// The sum up to which windows may use slow start, or `None` before any congestion.
    pub(super) threshold: Option<f64>,
    pub(super) timer: Option<CutTimer>,
    /// `TLO` of RFC 8699's appendix C.
    pub(super) left_over: f64,
    /// `FSE_R` of flows that have gone since the last update, which appendix C still counts then.
    pub(super) gone: f64,
    /// Claim of each flow, in the order of [`ShareClaim::order`].
    pub(super) claims: Vec<ShareClaim>,
    /// The flow of each claim.
    pub(super) members: Vec<FlowId>,
    /// Whether something changed that the next update distributes.
    pub(super) stale: bool,
    /// Whether the flows' least rates exceed the sum.
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

/// All groups. A group without flows does not exist; the next new group takes its place.
#[derive(Debug, Default)]
pub(super) struct Groups {
    all: Vec<Group>,
    /// Number of groups so far.
    numbers: u32,
    /// Ranks of flows that have left, and the number of ranks so far.
    free: Vec<u32>,
    ranks: u32,
}

impl Groups {
    /// A rank for a new flow: ties between claims are in the order of ranks.
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

    /// Seats a flow with `share`; the caller sets `S_CR`.
    pub(super) fn seat(&mut self, flows: &mut Members<Flow>, group: usize, place: usize, share: f64) {
        let (Some(flow), Some(g)) = (flows.get(place), self.all.get_mut(group)) else { return };
        let mut claim = ShareClaim::new(flow.rank, flow.parameters.priority, flow.least(), flow.most());
        claim.share = share;
        let at = g.claims.partition_point(|other| other.order(&claim).is_lt());
        g.claims.insert(at, claim);
        g.members.insert(at, flows.member(place));
        renumber(g, flows, group, at..);
    }

    /// Unseats a flow; `S_CR` stays. Returns the seat and the share.
    pub(super) fn unseat(&mut self, flows: &mut Members<Flow>, place: usize) -> Option<(GroupSlot, f64)> {
        let seat = flows.get_mut(place)?.seat.take()?;
        let group = self.all.get_mut(seat.group)?;
        if seat.claim >= group.claims.len() {
            return None;
        }
        let claim = group.claims.remove(seat.claim);
        group.members.remove(seat.claim);
        renumber(group, flows, seat.group, seat.claim..);
        Some((seat, claim.share))
    }

    /// Seats a flow anew in its group after a change of its claim.
    pub(super) fn reseat(&mut self, flows: &mut Members<Flow>, place: usize) {
        if let Some((seat, share)) = self.unseat(flows, place) {
            self.seat(flows, seat.group, place, share);
        }
    }
}

/// Updates the seats of the flows from `from` on, and weighs all claims.
fn renumber(group: &mut Group, flows: &mut Members<Flow>, number: usize, from: core::ops::RangeFrom<usize>) {
    for (claim, &member) in group.members.iter().enumerate().skip(from.start) {
        if let Some(place) = flows.place(member) {
            flows[place].seat = Some(GroupSlot { group: number, claim });
        }
    }
    weigh(&mut group.claims);
    group.stale = true;
}
