//! An allocation is kept: no older state pulls a controller back from it.

use alloc::format;
use alloc::vec::Vec;

use weir_units::{DataRate, DataSize, TimeDelta};

use super::coupling::flow;
use crate::controller::RateLimits;
use crate::testing::closed_loop::{Loop, PacketSource};
use crate::testing::tested_controller::TestedController;

/// Capacity at which a packet takes 4 ms, and 8 or 2 after an allocation: whole ticks of the loop.
const LINK: DataRate = DataRate::from_kbps(2400);
const PACKET: DataSize = DataSize::from_bytes(1200);
/// Time after which every controller has settled on the link.
const SETTLED: usize = 60_000;
/// Times in ms after an allocation: a round trip over the path with half of its queue, then two longer ones.
const LATER: [usize; 3] = [200, 500, 1000];
const START: DataRate = DataRate::from_kbps(300);

/// A flow that fills its target evenly, over a link that carries less than its maximum.
fn steady(controller: &TestedController) -> Loop {
    let kbps = DataRate::from_kbps;
    let limits = RateLimits::new(kbps(50), START, kbps(6000)).unwrap();
    flow(controller, limits, PacketSource::STEADY, LINK)
}

/// The rate of the last decision, and whether one was made, in each ms of an uncoupled flow.
fn alone(controller: &TestedController) -> Vec<(DataRate, bool)> {
    let mut path = steady(controller);
    let mut rate = START;
    let ticks = 0..SETTLED + 13_000;
    ticks
        .map(|_| {
            path.tick();
            let decision = path.take_decision();
            rate = decision.map_or(rate, |decision| decision.rate);
            (rate, decision.is_some())
        })
        .collect()
}

/// Four rates: of the first decision after `at`, and a round trip, 500 ms and 1 s after it, as shares of that at `at`.
fn own_course(alone: &[(DataRate, bool)], at: usize) -> [f64; 4] {
    let present = alone[at].0.bps_f64();
    let first = alone[at + 1..].iter().find(|(_, decided)| *decided).map_or(alone[at], |&first| first);
    let later = LATER.map(|ms| alone[at + ms]);
    [first, later[0], later[1], later[2]].map(|(rate, _)| rate.bps_f64() / present)
}

/// Whether the flow rests at `at`: its next decision keeps the rate, and the rates of the next second are near.
fn rests(alone: &[(DataRate, bool)], at: usize) -> bool {
    let present = alone[at].0.bps_f64();
    let second = &alone[at..=at + 1000];
    let near = second.iter().all(|(rate, _)| (rate.bps_f64() / present - 1.0).abs() <= 0.1);
    near && (own_course(alone, at)[0] - 1.0).abs() <= 0.03
}

/// The same as [`own_course`], after an allocation and a change of the share of the capacity by `factor` at `at`. A change
/// of the capacity itself would change the delay of the packets in the queue, which is congestion by itself.
fn after_an_allocation(controller: &TestedController, at: usize, factor: f64) -> [f64; 4] {
    let mut path = steady(controller);
    let mut rate = START;
    for _ in 0..=at {
        path.tick();
        rate = path.take_decision().map_or(rate, |decision| decision.rate);
    }
    let share = rate.scale(factor);
    path.set_share(factor);
    assert_eq!(path.apply_allocation(share), share, "{}", controller.name);
    let (mut first, mut rate, mut later) = (None, share, Vec::new());
    for passed in 1..=2000 {
        path.tick();
        if let Some(decision) = path.take_decision() {
            assert!(
                first.is_some() || decision.base == share,
                "{}: {decision:?} after {share:?}",
                controller.name
            );
            first.get_or_insert(decision.rate);
            rate = decision.rate;
        }
        if LATER.contains(&passed) {
            later.push(rate);
        }
    }
    [first.unwrap_or(share), later[0], later[1], later[2]].map(|rate| rate.bps_f64() / share.bps_f64())
}

/// Whether `kept` is the share, or within the range of the uncoupled controller (`own`), but for a slack of `slack`.
/// The controller may have cut it to `cut` since.
fn is_kept(kept: f64, own: &[f64], slack: f64, cut: f64) -> bool {
    let (least, most) =
        own.iter().fold((1.0_f64, 1.0_f64), |(least, most), &own| (least.min(own), most.max(own)));
    (least * cut.min(1.0 - slack)..=most * (1.0 + slack)).contains(&kept)
}

/// On a steady link of which cross traffic leaves half or twice as much, the flow goes on from an allocation of that. At the next
/// decision the rate is within a step of the controller's own. For a second it is within the range of the uncoupled
/// controller, but for one cut ([`TestedController::cutting_to`]). A controller that [forgets
/// shares](TestedController::forgetting_shares) has forgotten it with the next decision.
pub fn an_allocation_is_kept(controller: &TestedController) {
    if controller.forgets_shares {
        forgets_within_a_report(controller);
        return;
    }
    let mut broken = Vec::new();
    let alone = alone(controller);
    assert!(alone[SETTLED].0 > LINK.scale(0.4), "{} has not settled: {:?}", controller.name, alone[SETTLED]);
    for after in [0, 3000, 6000, 9000] {
        let from = SETTLED + after;
        let at = (from..from + 3000).find(|&at| rests(&alone, at));
        // A controller that never rests goes on from the share as it would have gone on from its own rate.
        let (at, own) = at.map_or((from, own_course(&alone, from)), |at| (at, [1.0; 4]));
        for factor in [0.5, 2.0] {
            let kept = after_an_allocation(controller, at, factor);
            let later = kept[1..].iter().all(|&kept| is_kept(kept, &own, 0.15, controller.own_cut));
            // The 1e-9 is for the rounding of a step of 5 %.
            if !is_kept(kept[0], &own[..1], 0.05 + 1e-9, 1.0) || !later {
                broken.push(format!("{} ×{factor} at {at} ms: {kept:.3?}, alone {own:.3?}", controller.name));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

/// Check for controllers such as TFRC, whose rate is a function of the loss that the receiver measured. With a factor
/// on the equation's rate it would keep a share, and lose more and carry less.
fn forgets_within_a_report(controller: &TestedController) {
    for (factor, forgotten) in [(0.5, 2.0), (2.0, 0.5)] {
        let [first, ..] = after_an_allocation(controller, SETTLED, factor);
        assert!((first / forgotten - 1.0).abs() < 0.1, "{} ×{factor}: {first}", controller.name);
    }
}

/// Change of the capacity.
#[derive(Clone, Copy, Debug, PartialEq)]
enum CapacityChange {
    /// The capacity differs from the beginning.
    None,
    /// The capacity changes once the flow has settled.
    Link,
    /// The capacity changes so, and coupling allocates accordingly at the same instant.
    LinkAndWord,
}

/// The mean target as a share of the capacity, from 10 to 20 s after it changed by `factor`, and the share of the
/// packets dropped then.
fn long_after(controller: &TestedController, factor: f64, change: CapacityChange) -> (f64, f64) {
    let mut path = steady(controller);
    let capacity = LINK.scale(factor);
    if change == CapacityChange::None {
        path.set_capacity(capacity);
    }
    let decisions = path.run_to_decisions(TimeDelta::from_millis(SETTLED as i64));
    path.set_capacity(capacity);
    if change == CapacityChange::LinkAndWord {
        path.apply_allocation(decisions.last().map_or(START, |decision| decision.rate).scale(factor));
    }
    path.run(TimeDelta::from_secs(10), |_| ());
    let (dropped, sent) = (path.dropped, path.sent_bits());
    let rates = path.run(TimeDelta::from_secs(10), Loop::target_rate);
    let lost = (path.dropped - dropped) as f64 * PACKET.bits_f64() / (path.sent_bits() - sent);
    (rates.iter().sum::<f64>() / 10_000.0 / capacity.bps_f64(), lost)
}

/// From 10 to 20 s after such an allocation the target is at least 0.9 of the one without it. At most 0.01 more of the
/// sent packets are dropped.
pub fn an_allocation_floods_no_link_and_starves_no_flow_for_long(controller: &TestedController) {
    for factor in [0.5, 2.0] {
        let [fresh, alone, announced] =
            [CapacityChange::None, CapacityChange::Link, CapacityChange::LinkAndWord]
                .map(|change| long_after(controller, factor, change));
        let starved = announced.0 < 0.9 * alone.0.min(fresh.0).min(1.0);
        let flooded = announced.1 > alone.1.max(fresh.1) + 0.01;
        let figures = format!("{announced:.3?}, alone {alone:.3?} or {fresh:.3?}");
        assert!(!starved && !flooded, "{} ×{factor}: {figures}", controller.name);
    }
}
