//! Entry of a flow in the Flow State Exchange.

use weir_units::{DataRate, TimeDelta};

use super::cuts::Cuts;
use crate::coupled::bound::DemandBound;
use crate::coupled::conversion::WindowConversion;
use crate::coupled::message::FlowParameters;
use crate::time::SendTime;

/// Entry of a flow. `FSE_R` is the share of its claim while it is in a group.
#[derive(Clone, Copy, Debug)]
pub struct Flow {
    /// Rank that orders equal claims.
    pub(super) rank: u32,
    /// Label of its group as the grouping gives it; `None` until it is set.
    pub(super) label: Option<u32>,
    /// Its group and its claim there, while it is in a group.
    pub(super) slot: Option<GroupSlot>,
    pub(super) parameters: FlowParameters,
    /// Least rate in bit/s for a flow that states none.
    usual_least: f64,
    /// Start rate in bit/s with which it enters a group of other flows.
    pub(super) start: f64,
    /// The rate in use as known here: the last reported one, or the one allocated since.
    pub(super) in_force: f64,
    /// Bound of the rate by the flow's demand.
    pub(super) bound: DemandBound,
    /// `DR` as §5.2 says literally: the last rate of its controller.
    pub(super) literal: f64,
    /// The number of the newest action when it joined.
    pub(super) joined_at: u32,
    /// Number of the action after a cut. An update computed without this action reports congestion that is counted
    /// already.
    pub(super) awaited_epoch: u32,
    pub(super) rtt: Option<TimeDelta>,
    /// Time of its last feedback.
    pub(super) feedback_at: SendTime,
    /// Whether it missed feedback while other flows had feedback.
    pub(super) misses_feedback: bool,
    /// Its window, if it is controlled by windows. A controller that sends rates is controlled by rates, even if it
    /// has a window, too.
    pub(super) conversion: Option<WindowConversion>,
    pub(super) reports_rates: bool,
    /// The cuts that the flow made of its group's sum.
    pub(super) cuts: Cuts,
}

/// A flow's place in a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct GroupSlot {
    pub(super) group: usize,
    pub(super) claim: usize,
}

impl Flow {
    /// A new flow in the group with label `label`; `usual_least` is its least rate if it states none.
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
            slot: None,
            parameters,
            usual_least: usual_least.bps_f64(),
            start: 0.0,
            in_force: 0.0,
            bound: DemandBound::NONE,
            literal: f64::INFINITY,
            joined_at: 0,
            awaited_epoch: 0,
            rtt: None,
            feedback_at: now,
            misses_feedback: false,
            conversion: None,
            reports_rates: false,
            cuts: Cuts::default(),
        }
    }

    /// The least rate that it can use, in bit/s. If it states none, this is enough to keep it from starving.
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

    /// The rate in use, or the start rate if that is unknown.
    pub(super) fn present(&self) -> f64 {
        if self.in_force.is_finite() { self.in_force } else { self.start }
    }

    /// A share as the flow gets it: in whole bit/s, unless it is converted to a window.
    pub(super) fn whole(&self, share: f64) -> f64 {
        if self.conversion.is_some() { share } else { (share + 0.5) as u64 as f64 }
    }

    /// Sets the rate in use to the share. Returns whether it changed, so that the flow must be informed. In recovery
    /// the window is that of the transport.
    pub(super) fn follow(&mut self, share: f64) -> bool {
        let rate = self.whole(share);
        if rate == self.in_force || self.conversion.is_some_and(|conversion| !conversion.is_open()) {
            return false;
        }
        self.in_force = rate;
        true
    }

    /// Whether an update computed after the flow had taken action `epoch` (0 for none) considers the newest action.
    pub(super) const fn is_up_to_date(&self, epoch: u32, newest: u32) -> bool {
        epoch == newest || (epoch == 0 && newest == self.joined_at)
    }

    /// Whether an update computed after the flow had taken action `epoch` does not consider the group's last cut.
    pub(super) fn is_stale(&self, epoch: u32) -> bool {
        self.awaited_epoch != 0 && (epoch == 0 || self.awaited_epoch.wrapping_sub(epoch).cast_signed() > 0)
    }
}
