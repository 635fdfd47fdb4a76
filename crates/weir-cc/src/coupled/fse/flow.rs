//! State of a flow.

use weir_units::{DataRate, TimeDelta};

use super::cuts::Cuts;
use crate::coupled::bound::DemandBound;
use crate::coupled::conversion::WindowConversion;
use crate::coupled::message::FlowParameters;
use crate::time::SendTime;

/// Entry of a flow. Its `FSE_R` is the share of its claim while it has a seat in a group.
#[derive(Clone, Copy, Debug)]
pub struct Flow {
    /// Its rank among claims that are alike.
    pub(super) rank: u32,
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
    /// Bound without congestion, such as by its source or its receiver.
    pub(super) bound: DemandBound,
    /// `DR` read literally: the last rate of its controller.
    pub(super) literal: f64,
    /// The number of the newest action when it joined.
    pub(super) joined_at: u32,
    /// Action after a cut; an update computed without this action reports congestion that is already counted.
    pub(super) waits_for: u32,
    pub(super) rtt: Option<TimeDelta>,
    /// Time of its last feedback.
    pub(super) feedback_at: SendTime,
    /// Whether it missed feedback that others had.
    pub(super) deaf: bool,
    /// Its window, if windows steer it: a controller that sends rates is steered by rates, even if it has a window as
    /// well.
    pub(super) conversion: Option<WindowConversion>,
    pub(super) tells_rates: bool,
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
        rank: u32,
        label: Option<u32>,
        parameters: FlowParameters,
        usual_least: DataRate,
    ) -> Self {
        Self {
            rank,
            label,
            seat: None,
            parameters,
            usual_least: usual_least.bps_f64(),
            start: 0.0,
            in_force: 0.0,
            bound: DemandBound::NONE,
            literal: f64::INFINITY,
            joined_at: 0,
            waits_for: 0,
            rtt: None,
            feedback_at: now,
            deaf: false,
            conversion: None,
            tells_rates: false,
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
        self.desired().min(self.bound.rate()).max(self.least())
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
        if self.conversion.is_some() { share } else { (share + 0.5) as u64 as f64 }
    }

    /// Sets the rate in use to the share. Returns whether it changed, so that the flow is to get it. In recovery a window
    /// is the transport's own.
    pub(super) fn follow(&mut self, share: f64) -> bool {
        let rate = self.whole(share);
        if rate == self.in_force || self.conversion.is_some_and(|conversion| !conversion.is_open()) {
            return false;
        }
        self.in_force = rate;
        true
    }

    /// Whether an update that was computed after taking action `epoch`, 0 for none, knows the newest.
    pub(super) const fn is_up_to_date(&self, epoch: u32, newest: u32) -> bool {
        epoch == newest || (epoch == 0 && newest == self.joined_at)
    }

    /// Whether an update that was computed after taking action `epoch` is without knowledge of the group's last cut.
    pub(super) fn is_stale(&self, epoch: u32) -> bool {
        self.waits_for != 0 && (epoch == 0 || self.waits_for.wrapping_sub(epoch).cast_signed() > 0)
    }
}
