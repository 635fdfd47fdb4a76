//! Checks of the cases.

use crate::suite::check::{Check, Limit, QUEUE_WAIT, Quantity};

const fn check(name: &'static str, unit: &'static str, quantity: Quantity, limit: Limit) -> Check {
    Check { name, unit, quantity, limit }
}

const RATE: Check = check("rate", "%", Quantity::Rate, Limit::AtLeast(80.0));
const STEPS: Check = check("rate", "%", Quantity::RateAfterEachStep, Limit::AtLeast(80.0));
const BESIDE_TRANSFERS: Check = check("rate", "%", Quantity::RateBesideTransfers, Limit::AtLeast(80.0));
const WAIT: Check = check(QUEUE_WAIT, "ms", Quantity::QueueWait, Limit::AtMost(100.0));
const LOSS: Check = check("loss", "%", Quantity::Loss, Limit::AtMost(2.0));
const JAIN: Check = check("Jain", "", Quantity::Jain, Limit::AtLeast(0.9));
const JAIN_RTT: Check = check("Jain", "", Quantity::Jain, Limit::AtLeast(0.75));
const COEXIST: Check = check("coexistence", "%", Quantity::Coexistence, Limit::AtLeast(40.0));
const RESUME: Check = check("re-convergence", "s", Quantity::Reconvergence { at: 60 }, Limit::AtMost(15.0));
const PRIORITIES: Check = check("off priority", "%", Quantity::PriorityShares, Limit::AtMost(10.0));
const BEFORE: Check = check("rate before", "%", Quantity::RateBefore, Limit::AtLeast(60.0));
const AGAINST_TCP: Check = check("rate against TCP", "%", Quantity::RateAgainstTcp, Limit::AtLeast(80.0));
const FRAMES: Check = check("frame delay p99", "ms", Quantity::FrameDelay, Limit::AtMost(100.0));

const USEFUL: Check = check("useful", "%", Quantity::Useful, Limit::AtLeast(70.0));
const LATE: Check = check("excess frame delay", "ms", Quantity::ExcessFrameDelay, Limit::AtMost(200.0));
const NEIGHBOUR: Check = check("neighbour", "%", Quantity::Neighbour, Limit::AtLeast(50.0));

pub(super) const ALONE: &[Check] = &[STEPS, WAIT, LOSS, USEFUL, LATE];
pub(super) const TOGETHER: &[Check] = &[RATE, WAIT, LOSS, JAIN, USEFUL, LATE];
pub(super) const WEIGHTED: &[Check] = &[RATE, WAIT, LOSS, JAIN, PRIORITIES, USEFUL, LATE];
pub(super) const APART: &[Check] = &[RATE, WAIT, LOSS, USEFUL, LATE];
/// Checks beside endless TCP in a drop-tail queue, where the transfer determines the delay.
pub(super) const LONG_TCP: &[Check] = &[COEXIST, LOSS];
pub(super) const LONG_TCP_MARKED: &[Check] = &[COEXIST, LOSS, USEFUL, LATE];
pub(super) const SHORT_TCP: &[Check] = &[BESIDE_TRANSFERS, LOSS, JAIN, USEFUL, LATE];
pub(super) const ROUND_TRIPS: &[Check] = &[RATE, WAIT, LOSS, JAIN_RTT, USEFUL, LATE];
pub(super) const PAUSE: &[Check] = &[RATE, WAIT, LOSS, JAIN, RESUME, USEFUL, LATE];
pub(super) const AMONG_TCP: &[Check] = &[AGAINST_TCP, LOSS, JAIN, USEFUL, LATE];
pub(super) const GAMING: &[Check] = &[RATE, FRAMES, LOSS, USEFUL];
pub(super) const GAMING_BESIDE_TCP: &[Check] = &[RATE, FRAMES, LOSS, USEFUL, NEIGHBOUR];
/// Checks of shares on a link where viewers' results are not judged, so that the rate is.
pub(super) const SHARING: &[Check] = &[RATE, WAIT, LOSS, JAIN];
pub(super) const SHARING_FAR: &[Check] = &[RATE, WAIT, LOSS, JAIN_RTT];
/// Checks beside a call under another controller.
pub(super) const BESIDE: &[Check] = &[COEXIST, WAIT, LOSS];
/// Checks after a fall of the capacity.
pub(super) const FALL: &[Check] = &[USEFUL, WAIT, LATE, BEFORE];

/// Checks of drawn cases.
pub(in crate::suite) const ALONE_IN_QUEUE: &[Check] = APART;
pub(in crate::suite) const AMONG_LIKE: &[Check] = TOGETHER;
pub(in crate::suite) const BESIDE_CALL: &[Check] = &[RATE, WAIT, LOSS, USEFUL, LATE, COEXIST];
pub(in crate::suite) const AMONG_LIKE_BESIDE_CALL: &[Check] =
    &[RATE, WAIT, LOSS, JAIN, USEFUL, LATE, COEXIST];
pub(in crate::suite) const BESIDE_DROP_TAIL_TCP: &[Check] = LONG_TCP;
pub(in crate::suite) const BESIDE_MARKED_TCP: &[Check] = LONG_TCP_MARKED;
