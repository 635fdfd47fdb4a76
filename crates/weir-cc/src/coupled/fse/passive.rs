//! The passive forms: only the updating flow is answered.

use super::group::Group;
use super::sum::FlowUpdate;
use crate::coupled::water_fill::weights;

/// Values of a flow in a passive exchange.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asking {
    /// Its claim among its group's.
    pub(super) claim: usize,
    /// `new_DR` in bit/s, infinite for a greedy flow.
    pub(super) desired: f64,
    /// The least rate that it can use.
    pub(super) least: f64,
}

/// `FSE_R(f)` by its weight.
pub(super) fn by_weight(group: &mut Group, asking: &Asking) -> f64 {
    let Some(claim) = group.claims.get(asking.claim) else { return asking.least };
    // coupling-2018, simple passive form: `P(f) · S_CR / S_P`, at most `new_DR`.
    let share = group.sum * (claim.weight() / weights(&group.claims));
    let share = share.min(asking.desired).max(asking.least);
    group.set_share(asking.claim, share);
    share
}

/// RFC 8699, appendix C: steps (a) to (e). `DR(f)` of its table is the flow's last desired rate or its rate, and no
/// other step reads it.
pub(super) fn appendix_c(group: &mut Group, flow_update: &FlowUpdate, asking: &Asking) -> f64 {
    let Some(claim) = group.claims.get(asking.claim) else { return asking.least };
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
    if asking.desired < flow_update.rate {
        group.left_over = (group.left_over + share - asking.desired).max(0.0);
    }
    // (d): the flow takes `TLO` unless its desired rate ends before.
    let offered = share + group.left_over.min(unused(group, asking.claim, share));
    if offered < asking.desired {
        group.left_over = 0.0;
    }
    // (e): the answer is the rate of the flow.
    let rate = offered.min(asking.desired).max(asking.least);
    group.set_share(asking.claim, rate);
    rate
}

/// The part of `S_CR` that is neither the others' rates nor the flow's own share. A limited flow that updates often
/// adds to the leftover each time; the flow that takes it gets no more than there is. Divergence 5.
fn unused(group: &Group, claim: usize, share: f64) -> f64 {
    let others = group.shares() - group.share(claim);
    (group.sum - others - share).max(0.0)
}
