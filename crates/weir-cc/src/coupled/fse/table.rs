//! The flow table: the state of each flow.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use weir_units::{DataRate, TimeDelta};

use super::config::Config;
use super::cuts::Cuts;
use crate::coupled::conversion::Steering;
use crate::coupled::message::{FlowId, FlowParameters};
use crate::time::SendTime;

/// Gain of the mean interval between a flow's updates.
const INTERVAL_GAIN: i64 = 8;

/// Whether a flow takes part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Presence {
    /// Takes part.
    Active,
    /// Paused by its own message: only another join brings it back.
    Paused,
    /// No message for long, or no feedback while others got theirs: its next update brings it back.
    Silent,
}

/// Entry of a flow. Its `FSE_R` is the share of its claim while it has a seat in a group.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flow {
    pub(super) member: FlowId,
    pub(super) presence: Presence,
    /// Label of its group, as the grouping gives it, or `None` until it is set.
    pub(super) label: Option<u32>,
    /// Its group and its claim there, while it has a seat.
    pub(super) seat: Option<GroupSlot>,
    pub(super) parameters: FlowParameters,
    /// Least rate where it states none, in bit/s.
    usual_least: f64,
    /// Start rate with which it enters a group of others, in bit/s.
    pub(super) start: f64,
    /// The rate in use, as far as it is known here: the last reported, or ordered since.
    pub(super) in_force: f64,
    /// Bound without congestion, such as by its source or its receiver; infinite for none.
    pub(super) bound: f64,
    /// `DR` read literally: the last rate of its controller.
    pub(super) literal: f64,
    /// The number of the newest action.
    pub(super) epoch: u32,
    /// The number of the newest action when it joined.
    pub(super) joined_at: u32,
    /// Action after a cut; an update computed without this action reports congestion that is already counted.
    pub(super) waits_for: u32,
    pub(super) rtt: Option<TimeDelta>,
    /// Time of its last feedback …
    pub(super) feedback_at: SendTime,
    /// Whether it missed feedback that others had.
    pub(super) deaf: bool,
    /// … and of its last message.
    pub(super) message_at: SendTime,
    updated: Option<SendTime>,
    interval: TimeDelta,
    /// Its window, if windows steer it: a controller that sends rates is steered by rates, even if it has a window as
    /// well.
    pub(super) steering: Option<Steering>,
    pub(super) tells_rates: bool,
    /// Whether an action waits to be polled.
    pub(super) ordered: bool,
    /// The cuts that it made of its group's sum.
    pub(super) cuts: Cuts,
}

/// A flow's place in a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct GroupSlot {
    pub(super) group: usize,
    pub(super) claim: usize,
}

impl Flow {
    /// A flow that begins, in the group with label `label`; `usual_least` is its least rate where it states none.
    pub(super) fn new(
        now: SendTime,
        member: FlowId,
        label: Option<u32>,
        parameters: FlowParameters,
        usual_least: DataRate,
    ) -> Self {
        Self {
            member,
            presence: Presence::Active,
            label,
            seat: None,
            parameters,
            usual_least: usual_least.bps_f64(),
            start: 0.0,
            in_force: 0.0,
            bound: f64::INFINITY,
            literal: f64::INFINITY,
            epoch: 0,
            joined_at: 0,
            waits_for: 0,
            rtt: None,
            feedback_at: now,
            deaf: false,
            message_at: now,
            updated: None,
            interval: TimeDelta::ZERO,
            steering: None,
            tells_rates: false,
            ordered: false,
            cuts: Cuts::default(),
        }
    }

    /// The least rate that it can use, in bit/s; where it states none, enough that it does not starve.
    pub(super) fn least(&self) -> f64 {
        let least = self.parameters.least.bps_f64();
        if least > 0.0 { least } else { self.usual_least.min(self.desired()) }
    }

    /// The greatest rate that it can use, in bit/s.
    pub(super) fn most(&self) -> f64 {
        self.desired().min(self.bound).max(self.least())
    }

    fn desired(&self) -> f64 {
        self.parameters.desired.map_or(self.literal, DataRate::bps_f64)
    }

    /// The rate in use, or the start rate where that is not known.
    pub(super) fn present(&self) -> f64 {
        if self.in_force.is_finite() { self.in_force } else { self.start }
    }

    /// A share as the flow gets it: in whole bit/s, unless as a window.
    pub(super) fn whole(&self, share: f64) -> f64 {
        if self.steering.is_some() { share } else { (share + 0.5) as u64 as f64 }
    }

    /// Sets the rate in use to the share, and sends it to the flow unless it has that rate already. Returns whether it
    /// is ordered. In recovery a window is the transport's own.
    pub(super) fn follow(&mut self, share: f64, actions: &mut VecDeque<Pending>, slot: u32) -> bool {
        let rate = self.whole(share);
        if rate == self.in_force || self.steering.is_some_and(|steering| !steering.is_open()) {
            return false;
        }
        self.in_force = rate;
        self.epoch = self.epoch.wrapping_add(1).max(1);
        if !core::mem::replace(&mut self.ordered, true) {
            actions.push_back(Pending::AllocatedRate(slot, self.member));
        }
        true
    }

    /// Counts an update for the mean interval.
    pub(super) fn note_update(&mut self, now: SendTime) {
        if let Some(before) = self.updated.replace(now) {
            self.interval += ((now - before) - self.interval) / INTERVAL_GAIN;
        }
    }

    /// When the flow counts as paused unless it sends a message before.
    pub(super) fn expiry(&self, config: &Config) -> SendTime {
        self.message_at + config.soft_state.max(self.interval.scale(config.soft_updates))
    }

    /// Whether an update that was computed after taking action `epoch`, 0 for none, knows the newest.
    pub(super) const fn is_up_to_date(&self, epoch: u32) -> bool {
        epoch == self.epoch || (epoch == 0 && self.epoch == self.joined_at)
    }

    /// Whether an update that was computed after taking action `epoch` is without knowledge of the group's last cut.
    pub(super) fn is_stale(&self, epoch: u32) -> bool {
        self.waits_for != 0 && (epoch == 0 || self.waits_for.wrapping_sub(epoch).cast_signed() > 0)
    }
}

/// Actions that wait to be polled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pending {
    /// The newest share of a flow, by its place in the table.
    AllocatedRate(u32, FlowId),
    /// Answer without a new rate, for a flow that sent a message.
    Acknowledgement(u32, FlowId),
    Reduce(FlowId),
    Uncoupled(FlowId),
}

impl Pending {
    pub(super) const fn member(self) -> FlowId {
        match self {
            Self::AllocatedRate(_, member)
            | Self::Acknowledgement(_, member)
            | Self::Reduce(member)
            | Self::Uncoupled(member) => member,
        }
    }
}

/// Flows by their numbers.
#[derive(Debug, Default)]
pub(super) struct Table {
    flows: Vec<Flow>,
    /// Free places.
    free: Vec<u32>,
    /// Places in the order of members.
    places: Vec<(FlowId, u32)>,
}

impl Table {
    fn search(&self, member: FlowId) -> Result<usize, usize> {
        self.places.binary_search_by_key(&member, |&(member, _)| member)
    }

    /// The place of a flow.
    pub(super) fn find(&self, member: FlowId) -> Option<u32> {
        self.places.get(self.search(member).ok()?).map(|&(_, slot)| slot)
    }

    pub(super) fn get(&self, slot: u32) -> Option<&Flow> {
        self.flows.get(slot as usize)
    }

    pub(super) fn get_mut(&mut self, slot: u32) -> Option<&mut Flow> {
        self.flows.get_mut(slot as usize)
    }

    /// Adds a flow that is not there, or replaces it.
    pub(super) fn insert(&mut self, flow: &Flow) -> u32 {
        match self.search(flow.member) {
            Ok(at) => {
                let slot = self.places.get(at).map_or(0, |&(_, slot)| slot);
                if let Some(place) = self.get_mut(slot) {
                    *place = *flow;
                }
                slot
            }
            Err(at) => {
                let slot = self.place(flow);
                self.places.insert(at, (flow.member, slot));
                slot
            }
        }
    }

    fn place(&mut self, flow: &Flow) -> u32 {
        if let Some(slot) = self.free.pop()
            && let Some(place) = self.get_mut(slot)
        {
            *place = *flow;
            return slot;
        }
        self.flows.push(*flow);
        u32::try_from(self.flows.len() - 1).unwrap_or(u32::MAX)
    }

    pub(super) fn remove(&mut self, member: FlowId) {
        if let Ok(at) = self.search(member) {
            let (_, slot) = self.places.remove(at);
            self.free.push(slot);
        }
    }

    /// Number of flows.
    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    /// The flow at a place in the order of members.
    pub(super) fn slot(&self, place: usize) -> Option<u32> {
        self.places.get(place).map(|&(_, slot)| slot)
    }
}
