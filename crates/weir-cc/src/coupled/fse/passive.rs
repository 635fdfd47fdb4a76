//! The passive algorithms of the Flow State Exchange, which answer only the updating flow (RFC 8699 appendix C, and
//! the simple form).

use super::group::Group;
use super::sum::FlowUpdate;
use crate::coupled::water_fill::weights;

/// The updating flow in a passive algorithm.
#[derive(Clone, Copy, Debug)]
pub(super) struct UpdatingFlow {
    /// Index of its claim in its group.
    pub(super) claim: usize,
    /// `new_DR` in bit/s, infinite for a greedy flow.
    pub(super) desired: f64,
    /// The least rate that it can use, in bit/s.
    pub(super) least: f64,
}

/// Sets `FSE_R(f)` of the flow by its weight.
pub(super) fn by_weight(group: &mut Group, flow: &UpdatingFlow) -> f64 {
    let Some(claim) = group.claims.get(flow.claim) else { return flow.least };
    // coupling-2018, simple passive form: `P(f) · S_CR / S_P`, at most `new_DR`.
    let share = group.sum * (claim.weight() / weights(&group.claims));
    let share = share.min(flow.desired).max(flow.least);
    group.set_share(flow.claim, share);
    share
}

/// RFC 8699, appendix C: steps (a) to (e). `DR(f)` in its table is the last desired rate of the flow, or its rate; no
/// other step reads it.
pub(super) fn appendix_c(group: &mut Group, flow_update: &FlowUpdate, flow: &UpdatingFlow) -> f64 {
    let Some(claim) = group.claims.get(flow.claim) else { return flow.least };
    let part = claim.weight() / weights(&group.claims);
    let delta = flow_update.rate - flow_update.base;
    // (a), (b): `S_CR` follows an increase, and after a decrease is the sum of `FSE_R` with that of flows that went.
    if delta > 0.0 {
        group.sum = flow_update.rate + (group.sum - flow_update.base);
    } else if delta < 0.0 {
        group.sum = (flow_update.rate + (group.shares() + group.gone - flow_update.base)).max(0.0);
    }
    // (c): the flows that went are forgotten.
    group.gone = 0.0;
    let share = group.sum * part;
    if flow.desired < flow_update.rate {
        group.left_over = (group.left_over + share - flow.desired).max(0.0);
    }
    // (d): the flow takes `TLO` unless its desired rate ends before.
    let offered = share + group.left_over.min(unused(group, flow.claim, share));
    if offered < flow.desired {
        group.left_over = 0.0;
    }
    // (e): the answer is the rate of the flow.
    let rate = offered.min(flow.desired).max(flow.least);
    group.set_share(flow.claim, rate);
    rate
}

/// The part of `S_CR` that is neither in the others' rates nor in the flow's own share. It limits the leftover, which
/// a limited flow that updates often would otherwise increase each time. Divergence 5.
fn unused(group: &Group, claim: usize, share: f64) -> f64 {
    let others = group.shares() - group.share(claim);
    (group.sum - others - share).max(0.0)
}
