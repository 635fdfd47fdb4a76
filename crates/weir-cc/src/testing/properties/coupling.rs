//! Allocations equal to the present rate change nothing, and others are taken within the limits.

use alloc::vec::Vec;

use weir_units::{DataRate, TimeDelta};

use crate::controller::{LimitingFactor, RateLimits, Target};
use crate::decision::{ChangeReason, Decision};
use crate::testing::closed_loop::{Loop, PacketSource};
use crate::testing::tested_controller::{TestedController, usual_limits};

/// Capacity of the link at the start.
pub(crate) const CAPACITY: DataRate = DataRate::from_mbps(1);

/// A flow of `controller` over a bottleneck; where the controller needs it, the clocks agree.
pub(crate) fn flow(
    controller: &TestedController,
    limits: RateLimits,
    source: PacketSource,
    capacity: DataRate,
) -> Loop {
    let (sender, receiver) = (controller.build)(limits);
    let mut path = Loop::of(sender, receiver, source, capacity);
    if controller.absolute_delays {
        path.clock_offset = TimeDelta::ZERO;
    }
    path
}

/// Source of allocations equal to the flow's own rate.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Identity {
    NoAllocation,
    /// An answer to each decision.
    Echo,
    /// A push every 10 ms.
    Push,
}

/// Applies the change of the path at `ms`, if there is one: capacity, random loss and missing feedback in a minute.
pub(crate) fn change_path(path: &mut Loop, ms: i64) {
    match ms {
        20_000 => path.set_capacity(CAPACITY.scale(0.4)),
        30_000 => path.set_capacity(CAPACITY.scale(2.0)),
        40_000 => path.random_loss = 0.05,
        45_000 => path.random_loss = 0.0,
        50_000 => path.feedback_cut = true,
        54_000 => path.feedback_cut = false,
        _ => {}
    }
}

/// The target after each millisecond of a minute with changes of the path, and the decision in it.
fn course(controller: &TestedController, identity: Identity) -> Vec<(Target, Option<Decision>)> {
    let mut path = flow(controller, usual_limits(), PacketSource::VIDEO, CAPACITY);
    path.echoes = identity == Identity::Echo;
    let mut present = usual_limits().start();
    let mut course = Vec::new();
    for ms in 0..60_000 {
        change_path(&mut path, ms);
        path.tick();
        let decision = path.take_decision();
        present = decision.map_or(present, |decision| decision.rate);
        if identity == Identity::Push && ms % 10 == 0 {
            assert_eq!(path.apply_allocation(present), present, "{}", controller.name);
        }
        course.push((path.target(), decision));
    }
    course
}

/// Coupling that answers each decision with its rate, or allocates it every 10 ms, changes no bit of a minute with
/// changes of the link.
pub fn coupling_that_gives_a_flow_its_own_rate_changes_nothing(controller: &TestedController) {
    let alone = course(controller, Identity::NoAllocation);
    let decided = alone.iter().filter(|(_, decision)| decision.is_some()).count();
    assert!(decided > 50, "{} decided {decided} times", controller.name);
    for identity in [Identity::Echo, Identity::Push] {
        assert!(course(controller, identity) == alone, "{}: {identity:?}", controller.name);
    }
}

/// A decision's base is the rate of the one before, and growth never lowers it.
pub fn each_decision_starts_from_the_one_before_and_says_why(controller: &TestedController) {
    let mut base = usual_limits().start();
    for (_, decision) in course(controller, Identity::NoAllocation) {
        let Some(decision) = decision else { continue };
        assert_eq!(decision.base, base, "{}", controller.name);
        let fell = decision.rate < decision.base;
        assert!(!fell || decision.why != ChangeReason::Growth, "{}: {decision:?}", controller.name);
        base = decision.rate;
    }
}

/// Decisions that lowered the rate of a flow over `capacity` by a percent or more in its first 30 s. At the time of
/// each, its source offered less than that rate and `offered` at most.
fn falls(controller: &TestedController, capacity: DataRate, offered: DataRate) -> Vec<Decision> {
    let mut path = flow(controller, usual_limits(), PacketSource::VIDEO, capacity);
    path.source_limit = offered;
    let decisions = path.run_to_decisions(TimeDelta::from_secs(30));
    let fell = |decision: &Decision| decision.rate < decision.base.scale(0.99);
    let unlimited = offered == DataRate::MAX;
    decisions.into_iter().filter(|made| fell(made) && (unlimited || made.base > offered)).collect()
}

/// Where the source fills its target, no fall of the rate is reported as the application's.
pub fn a_source_that_fills_its_rate_is_never_what_lowers_it(controller: &TestedController) {
    let falls = falls(controller, CAPACITY, DataRate::MAX);
    let wrong = falls.iter().find(|decision| decision.why == ChangeReason::Application);
    assert!(wrong.is_none(), "{}: {wrong:?}", controller.name);
}

/// 100 kbit/s on a path of 10 Mbit/s: no fall of the rate is reported as congestion.
pub fn a_source_that_offers_little_on_an_empty_path_is_not_taken_for_congestion(
    controller: &TestedController,
) {
    let falls = falls(controller, DataRate::from_mbps(10), DataRate::from_kbps(100));
    let wrong: Vec<_> = falls.iter().filter(|decision| decision.why.is_congestion()).collect();
    assert!(wrong.is_empty(), "{}: {} of {} as {:?}", controller.name, wrong.len(), falls.len(), wrong[0]);
}

/// An allocation above the maximum or below the minimum is clamped, and the next decision has the clamped rate as its
/// base.
pub fn a_share_outside_the_limits_is_clamped_and_the_next_decision_starts_there(
    controller: &TestedController,
) {
    let limits = usual_limits();
    for (share, taken) in [(DataRate::MAX, limits.max()), (DataRate::ZERO, limits.min())] {
        let mut path = flow(controller, limits, PacketSource::VIDEO, CAPACITY);
        path.run(TimeDelta::from_secs(5), |_| ());
        path.take_decision();
        assert_eq!(path.apply_allocation(share), taken, "{}", controller.name);
        let next = (0..3000).find_map(|_| {
            path.tick();
            path.take_decision()
        });
        assert_eq!(next.map(|decision| decision.base), Some(taken), "{}", controller.name);
    }
}

/// A minute with changes of the link, in which coupling allocates more or less than the present rate each second, and
/// then no other rate.
pub fn coupling_is_the_cause_exactly_while_a_share_is_below_what_the_controller_computed_last(
    controller: &TestedController,
) {
    let mut path = flow(controller, usual_limits(), PacketSource::VIDEO, CAPACITY);
    let (mut computed, mut present) = (usual_limits().start(), usual_limits().start());
    let mut held = 0;
    for ms in 0..60_000 {
        change_path(&mut path, ms);
        path.tick();
        if let Some(decision) = path.take_decision() {
            (computed, present) = (decision.rate, decision.rate);
        }
        match ms % 1000 {
            500 => present = path.apply_allocation(present.scale(0.7)),
            502 => present = path.apply_allocation(present),
            505 if ms % 2000 > 1000 => present = path.apply_allocation(present.scale(1.2)),
            507 if ms % 3000 > 2000 => present = path.apply_allocation(present.scale(2.0)),
            _ => {}
        }
        let (factor, coupled) = (path.target().limiting_factor, present < computed);
        assert_eq!(factor == LimitingFactor::Coupling, coupled, "{} at {ms} ms: {factor:?}", controller.name);
        held += usize::from(coupled);
    }
    assert!(held >= 60, "{}: {held} ms", controller.name);
}
