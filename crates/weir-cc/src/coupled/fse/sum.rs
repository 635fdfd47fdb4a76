//! Effect of an update on `S_CR`, the sum that a group shares.
//!
//! | why | a rate that rose or stayed | one that fell, active 1 | one that fell, active 2 |
//! |---|---|---|---|
//! | start, growth, probe, route | `S_CR += DELTA` | `S_CR += DELTA` | `S_CR += DELTA` |
//! | delay, loss, mark | `S_CR += DELTA` | `S_CR += DELTA` | `S_CR` in proportion; the timer starts |
//! | timeout, others get feedback | the flow has paused | the flow has paused | the flow has paused |
//! | timeout, feedback within its round trip | as for loss | as for loss | as for loss |
//! | timeout, no flow gets feedback | `S_CR += DELTA` | `S_CR += DELTA` | as for loss, whatever timer of another reason runs |
//! | ceiling, application, limits | `S_CR += DELTA` | `DR(f) := CC_R`, `S_CR += DELTA` | `DR(f) := CC_R`, `S_CR += DELTA` |
//!
//! A fall without congestion concerns one flow only: its source, its receiver or its bounds need less. The others keep
//! their rates, and grow by themselves if there is capacity. If the unused part raised their rates, it would count
//! again as the limited flow grows back, and so on without end. While such a bound holds, it rises with the flow's own
//! rate, and ends when the flow's share is below it. (The algorithms of coupled-rtp-2014 keep `S_CR` there: the unused
//! part of a limited flow's share is not reassigned.) A change of route takes away the rate that the flow brought. A
//! probe that found less takes back the rate that the flow had assumed. Neither makes others yield.
//!
//! While the timer of active 2 runs only bounds change the sum. A flow that is alone in its group is not coupled:
//! `S_CR` is its rate, and no timer starts.

use weir_units::TimeDelta;

use super::config::Config;
use super::group::{CutTimer, Group};
use crate::coupled::bound::is_demand;
use crate::coupled::conversion::possible_rtt;
use crate::coupled::water_fill::Leftover;
use crate::decision::ChangeReason;
use crate::time::SendTime;

/// An update of a flow, as far as `S_CR` depends on it.
#[derive(Clone, Copy, Debug)]
pub(super) struct FlowUpdate {
    /// Rank of the updating flow.
    pub(super) by: u32,
    /// `CC_R` in bit/s.
    pub(super) rate: f64,
    /// The rate from which it was computed, in bit/s.
    pub(super) base: f64,
    pub(super) why: ChangeReason,
    /// Round-trip time for the timer.
    pub(super) rtt: TimeDelta,
    /// Whether it was computed without the last cut's action.
    pub(super) stale: bool,
}

/// Effect of a changed rate on the group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RateEffect {
    /// The sum changes by the same amount.
    AddsDifference,
    /// All flows are reduced in proportion.
    ScalesSum,
    /// The flow can use no more than this rate, and the others keep their rates.
    BoundsFlow,
}

impl FlowUpdate {
    pub(super) fn effect(&self, conservative: bool) -> RateEffect {
        match self.why {
            _ if self.rate >= self.base => RateEffect::AddsDifference,
            why if is_demand(why) => RateEffect::BoundsFlow,
            ChangeReason::Delay | ChangeReason::Loss | ChangeReason::Mark | ChangeReason::Timeout
                if conservative =>
            {
                RateEffect::ScalesSum
            }
            _ => RateEffect::AddsDifference,
        }
    }

    /// Whether congestion lowered the rate.
    fn is_cut(&self) -> bool {
        self.rate < self.base && self.why.is_congestion()
    }
}

/// `S_CR` for a flow that is alone: its rate, and the rates that other flows have left to it since its last action.
pub(super) fn follow_one(group: &mut Group, flow_update: &FlowUpdate) {
    let inherited = group.sum - flow_update.base;
    // A share is in whole bit/s.
    group.sum =
        if inherited.abs() < 1.0 { flow_update.rate } else { (flow_update.rate + inherited).max(0.0) };
    note_congestion(group, flow_update, flow_update.base);
}

/// Changes `S_CR` by an update of one of several flows. Returns whether the sum was cut for all flows.
pub(super) fn follow(
    config: &Config,
    group: &mut Group,
    claim: usize,
    now: SendTime,
    flow_update: &FlowUpdate,
) -> bool {
    let conservative = config.algorithm.is_conservative();
    let effect = flow_update.effect(conservative);
    if effect == RateEffect::BoundsFlow {
        group.sum = (group.sum - given_up(config, group.share(claim) - flow_update.rate)).max(0.0);
        return false;
    }
    // The sum stays while the timer runs, and for an update computed without knowledge of the last cut.
    if conservative && (flow_update.stale || is_blocked(config, group, now, flow_update)) {
        return false;
    }
    let before = group.sum;
    // Algorithm 2 of RFC 8699 (§5.3.2) scales the sum by a cut; any other change is added (§5.3.1).
    let sum = match effect {
        RateEffect::ScalesSum => before * (flow_update.rate / flow_update.base),
        _ if flow_update.rate > flow_update.base && conservative && config.increase_div_n => {
            before + (flow_update.rate - flow_update.base) / group.claims.len() as f64
        }
        _ => flow_update.rate + (before - flow_update.base),
    };
    // Divergence 8: one update leaves a least part of the sum.
    let least = if flow_update.why == ChangeReason::Timeout { 0.0 } else { before * config.smallest_cut };
    group.sum = sum.max(least);
    note_congestion(group, flow_update, before);
    let cut = effect == RateEffect::ScalesSum;
    if cut {
        start_timer(config, group, now, flow_update);
    }
    cut
}

/// Amount by which the sum falls if a bound removes `surplus` from a flow's share, so that the others' shares stay
/// the same.
fn given_up(config: &Config, surplus: f64) -> f64 {
    let others_stay_anyway = config.algorithm.leftover() == Leftover::Kept && !config.algorithm.is_passive();
    if others_stay_anyway { 0.0 } else { surplus.max(0.0) }
}

/// Whether the timer of an earlier cut prevents this change.
fn is_blocked(config: &Config, group: &Group, now: SendTime, flow_update: &FlowUpdate) -> bool {
    let Some(timer) = group.timer.filter(|timer| now < timer.expiry) else { return false };
    let exempt = config.timer_exempts_initiator && timer.by == flow_update.by;
    let silent = flow_update.why == ChangeReason::Timeout && !timer.by_silence;
    !exempt && !silent
}

/// Starts the timer. A running timer is extended only for missing feedback.
fn start_timer(config: &Config, group: &mut Group, now: SendTime, flow_update: &FlowUpdate) {
    let by_silence = flow_update.why == ChangeReason::Timeout;
    if by_silence || group.timer.is_none_or(|timer| now >= timer.expiry) {
        let expiry = now + possible_rtt(flow_update.rtt).scale(config.timer_rtts);
        // RFC 8699 §5.3.2: two round trips of the flow whose rate fell.
        group.timer = Some(CutTimer { expiry, by: flow_update.by, by_silence });
    }
}

/// Sets the slow-start threshold of windows: to the sum after congestion, or after a timeout to half of the sum
/// before.
fn note_congestion(group: &mut Group, flow_update: &FlowUpdate, before: f64) {
    if flow_update.is_cut() {
        group.threshold =
            Some(if flow_update.why == ChangeReason::Timeout { before / 2.0 } else { group.sum });
    }
}
