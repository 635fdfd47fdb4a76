//! The reported limiting factor is the cause that keeps the rate from rising.

use alloc::vec::Vec;

use super::coupling::{CAPACITY, change_path, flow};
use crate::controller::{LimitingFactor, Target};
use crate::decision::{ChangeReason, Decision};
use crate::testing::closed_loop::PacketSource;
use crate::testing::tested_controller::{TestedController, usual_limits};

/// Samples of the target in a second.
const PARTS: usize = 10;
/// Rise within a second above which the rate rises by the controller's own growth.
const RISE: f64 = 1.05;
/// Most of such seconds that may be mainly reported as limited by delay or loss. A controller that decides seldom was
/// limited within them, and then decides on a higher rate.
const MOST_WRONG: usize = 3;
/// Most changes of the limiting factor in a minute.
const MOST_CHANGES: usize = 40;

/// In a minute with changes of the link, a second with a rise of the rate by more than 5 %, and not by a probe, is
/// rarely limited by delay or loss. The limiting factor does not change with each decision. At the maximum rate the
/// factor is the maximum.
pub fn a_rate_that_rises_is_not_limited_by_delay_or_loss(controller: &TestedController) {
    let course = course(controller);
    let wrong = course.chunks(PARTS).filter(|second| is_wrong(second)).count();
    assert!(wrong <= MOST_WRONG, "{}: {wrong} of {} seconds", controller.name, course.len() / PARTS);
    let factors: Vec<LimitingFactor> = course.iter().map(|(target, _)| target.limiting_factor).collect();
    let changes = factors.windows(2).filter(|pair| pair[0] != pair[1]).count();
    assert!(changes <= MOST_CHANGES, "{}: {changes} changes", controller.name);
    let max = usual_limits().max();
    for (target, _) in course.iter().filter(|(target, _)| target.sending_rate >= max) {
        assert_eq!(target.limiting_factor, LimitingFactor::Maximum, "{}: {target:?}", controller.name);
    }
}

/// The target each tenth of a second, and whether a probe was part of its change.
fn course(controller: &TestedController) -> Vec<(Target, bool)> {
    let mut path = flow(controller, usual_limits(), PacketSource::VIDEO, CAPACITY);
    let mut probed = false;
    let mut course = Vec::new();
    for ms in 0..60_000 {
        change_path(&mut path, ms);
        path.tick();
        probed |= matches!(path.take_decision(), Some(Decision { why: ChangeReason::Probe, .. }));
        if (ms + 1) % (1000 / PARTS as i64) == 0 {
            course.push((path.target(), core::mem::take(&mut probed)));
        }
    }
    course
}

/// Whether the rate rises within a second by the controller's own growth, while most of the second is reported as
/// limited by delay or loss.
fn is_wrong(second: &[(Target, bool)]) -> bool {
    let rate = |at: &(Target, bool)| at.0.sending_rate.bps_f64();
    let rises =
        second.first().zip(second.last()).is_some_and(|(first, last)| rate(last) > RISE * rate(first));
    let limited =
        |at: &&(Target, bool)| matches!(at.0.limiting_factor, LimitingFactor::Delay | LimitingFactor::Loss);
    rises
        && second.iter().all(|(_, probed)| !probed)
        && 2 * second.iter().filter(limited).count() > second.len()
}
