//! Checks of the cases.

use crate::suite::check::Check;
use crate::suite::quantity::Quantity;

/// Check of a rate that is called `rate` in its cases.
const fn rate(quantity: Quantity) -> Check {
    Check::named("rate", quantity, 0, 80.0)
}

const RATE: Check = rate(Quantity::Rate);
const STEPS: Check = rate(Quantity::RateAfterEachStep);
const BESIDE_TRANSFERS: Check = rate(Quantity::RateBesideTransfers);
const WAIT: Check = Check::of(Quantity::QueueWait, 100.0);
const LOSS: Check = Check::of(Quantity::Loss, 2.0);
const JAIN: Check = Check::of(Quantity::Jain, 0.9);
const JAIN_RTT: Check = Check::of(Quantity::Jain, 0.75);
const COEXIST: Check = Check::of(Quantity::Coexistence, 40.0);
const RESUME: Check = Check::named("re-convergence", Quantity::Reconvergence, 60, 15.0);
const PRIORITIES: Check = Check::of(Quantity::OffPriority, 10.0);
const BEFORE: Check = Check::of(Quantity::RateBefore, 60.0);
const AGAINST_TCP: Check = Check::of(Quantity::RateAgainstTcp, 80.0);
const FRAMES: Check = Check::of(Quantity::FrameDelay, 100.0);

const USEFUL: Check = Check::of(Quantity::Useful, 70.0);
const LATE: Check = Check::of(Quantity::ExcessFrameDelay, 200.0);
const NEIGHBOUR: Check = Check::of(Quantity::Neighbour, 50.0);

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
