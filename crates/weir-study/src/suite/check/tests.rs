//! Verdicts over runs made by hand, with the arithmetic beside each number.

use super::*;
use crate::judge::formula::{KnownValues, Leaf, evaluate};
use crate::judge::paths::harvest;
use serde_json::json;
use weir_measure::metrics::{LinkPlan, Recorder};
use weir_net::Service;

const fn s(seconds: u64) -> Time {
    Time::from_millis(1000 * seconds)
}

const MBPS: fn(u64) -> DataRate = DataRate::from_mbps;

fn flow(kind: FlowKind, start: u64, stop: u64) -> FlowPlan {
    FlowPlan { start: s(start), stop: s(stop), ..FlowPlan::new("flow", kind) }
}

fn call() -> FlowPlan {
    flow(FlowKind::Media, 0, 100)
}

fn cross(start: u64, stop: u64, sends: &[(u64, u64)]) -> FlowPlan {
    let sends = sends.iter().map(|&(at, mbps)| (s(at), MBPS(mbps))).collect();
    FlowPlan { sends, ..flow(FlowKind::Constant, start, stop) }
}

/// Plan of 100 s over a link with these rates in Mbit/s.
fn plan(steps: &[(u64, u64)], flows: Vec<FlowPlan>) -> MeasurePlan {
    let steps = steps.iter().map(|&(at, mbps)| (s(at), MBPS(mbps))).collect();
    let link = LinkPlan::bottleneck("bottleneck", Service::Steps(steps));
    MeasurePlan::new(s(100), flows, vec![link])
}

/// Run in which each flow receives these rates, in Mbit/s, each from one second to another.
fn run(plan: &MeasurePlan, received: &[&[(u64, u64, f64)]]) -> Measured {
    let mut measured = Recorder::new(plan.clone()).finish();
    for (bins, stretches) in measured.receipts.iter_mut().zip(received) {
        bins.resize(1000, 0);
        for &(from, to, mbps) in *stretches {
            bins[10 * from as usize..10 * to as usize].fill((mbps * 1e6 / 80.0) as u32);
        }
    }
    // Headers are zero in these runs.
    measured.media_receipts = measured.receipts.clone();
    measured
}

fn value(plan: &MeasurePlan, measured: &Measured, quantity: Quantity) -> Option<f64> {
    value_at(plan, measured, quantity, 0)
}

fn value_at(plan: &MeasurePlan, measured: &Measured, quantity: Quantity, at: u32) -> Option<f64> {
    value_from(plan, measured, START_UP, quantity, at)
}

/// Value of `quantity` in a run whose rates count from `from` on.
fn value_from(
    plan: &MeasurePlan,
    measured: &Measured,
    from: Time,
    quantity: Quantity,
    at: u32,
) -> Option<f64> {
    let run = JudgedRun::new(plan, measured, from);
    let Some(formula) = quantity.formula() else { return run.return_time(at).value };
    let mut results = json!({});
    let paths = formula.leaves().into_iter().map(|leaf| leaf.path.clone()).collect();
    run.add_measures(&mut results, &paths).unwrap();
    let known = |leaf: &Leaf| harvest(&leaf.path, &results, None);
    evaluate(formula, &KnownValues { axes: &|_| None, measured: &known })
}

/// Checks that `value` is `expected` within 1e-6.
fn assert_near(value: Option<f64>, expected: f64) {
    assert!(value.is_some_and(|value| (value - expected).abs() < 1e-6), "{value:?} instead of {expected}");
}

#[test]
fn the_rate_counts_from_20_s_on_and_the_worst_call_decides() {
    let plan = plan(&[(0, 2)], vec![call(), call()]);
    let run = run(&plan, &[&[(20, 100, 1.1)], &[(0, 20, 1.0), (20, 100, 0.7)]]);
    assert_near(value(&plan, &run, Quantity::Rate), 70.0);
}

#[test]
fn a_late_call_is_judged_while_it_is_there_and_a_pause_is_no_fault() {
    let late = FlowPlan { start: s(40), ..call() };
    let paused = FlowPlan { pauses: vec![(s(50), s(60))], ..call() };
    let plan = plan(&[(0, 2)], vec![late, paused]);
    // The late flow has a share of 1 from 40 s on and 2 in the pause of the other. Of these 70 Mbit it receives 56. The
    // other has 2 until 40 s, then 1 outside its pause: 40 + 10 + 40 = 90, and receives 81.
    let run = run(&plan, &[&[(40, 96, 1.0)], &[(20, 40, 1.8), (40, 50, 0.9), (60, 100, 0.9)]]);
    assert_near(value(&plan, &run, Quantity::Rate), 80.0);
    let alone = JudgedRun::new(&plan, &run, START_UP);
    let rates = alone.rates(&[1], &[(START_UP, plan.end)]);
    assert_near(rates[0].share_bits.map(|share| 100.0 * rates[0].bits / share), 90.0);
}

#[test]
fn each_stretch_between_steps_of_the_capacity_counts_for_itself() {
    let plan = plan(&[(0, 1), (50, 2)], vec![call()]);
    let run = run(&plan, &[&[(20, 50, 0.9), (50, 100, 1.2)]]);
    assert_near(value(&plan, &run, Quantity::RateAfterEachStep), 60.0);
    // 27 + 60 of 30 + 100.
    assert_near(value(&plan, &run, Quantity::Rate), 100.0 * 87.0 / 130.0);
}

#[test]
fn cross_traffic_takes_what_it_sends_and_leaves_the_rest() {
    // 4 Mbit/s less 3 from 30 to 60 s and 2 from then to 80 s: stretches of 20-30, 30-60, 60-80, 80-100 s.
    let plan = plan(&[(0, 4)], vec![call(), cross(30, 80, &[(0, 3), (60, 2)])]);
    let fair = run(&plan, &[&[(20, 30, 4.0), (30, 60, 1.0), (60, 80, 2.0), (80, 100, 4.0)]]);
    assert_near(value(&plan, &fair, Quantity::RateAfterEachStep), 100.0);
    let low = run(&plan, &[&[(20, 30, 4.0), (30, 60, 0.9), (60, 80, 1.0), (80, 100, 4.0)]]);
    assert_near(value(&plan, &low, Quantity::RateAfterEachStep), 50.0);
    // Traffic above the capacity that does not adapt takes all of it.
    let flooded = max_min_shares(&self::plan(&[(0, 4)], vec![call(), cross(0, 100, &[(0, 9)])]));
    assert_eq!(flooded[0].bps, [0.0, 4e6]);
}

#[test]
fn waits_of_all_calls_are_one_distribution() {
    let plan = plan(&[(0, 2)], vec![call(), call(), cross(0, 100, &[(0, 1)])]);
    let plan = MeasurePlan { windows: vec![settled(&plan)], ..plan };
    let mut run = run(&plan, &[]);
    let waited = |run: &mut Measured, flow: usize, ms| {
        let delays = run.delays_within.get_mut(SETTLED).unwrap();
        delays[flow].whole_wait.record(TimeDelta::from_millis(ms));
    };
    for n in 0..97 {
        waited(&mut run, usize::from(n % 2 == 0), 10);
    }
    (0..3).for_each(|_| waited(&mut run, 1, 200));
    let tenth = value(&plan, &run, Quantity::QueueWait).unwrap();
    assert!((9.0..12.0).contains(&tenth), "{tenth}");
    // With five more the 95th percentile is one of the long waits; waits of cross traffic do not count.
    (0..5).for_each(|_| waited(&mut run, 0, 200));
    (0..99).for_each(|_| waited(&mut run, 2, 1));
    let long = value(&plan, &run, Quantity::QueueWait).unwrap();
    assert!((195.0..205.0).contains(&long), "{long}");
}

#[test]
fn five_seconds_after_each_event_the_queue_is_not_held_against_anybody() {
    let paused = FlowPlan { pauses: vec![(s(60), s(63))], stop: s(99), ..call() };
    let plan = plan(
        &[(0, 1), (40, 2)],
        vec![paused, cross(20, 90, &[(0, 1), (85, 2)]), flow(FlowKind::Audio, 50, 55)],
    );
    let expected = [(0, 5), (20, 25), (40, 45), (60, 68), (85, 95), (99, 104)];
    assert_eq!(unsettled(&plan), expected.map(|(from, to)| (s(from), s(to))));
}

#[test]
fn fairness_is_that_of_the_last_30_s_in_which_all_are_there() {
    let early = FlowPlan { stop: s(90), ..call() };
    let plan = plan(&[(0, 2)], vec![early, call()]);
    // 60 to 90 s: 1.0 and 0.5 of 1 each: (1.5)²/(2·1.25) = 0.9.
    let run = run(&plan, &[&[(0, 60, 0.1), (60, 90, 1.0)], &[(0, 60, 1.9), (60, 90, 0.5), (90, 100, 2.0)]]);
    assert_near(value(&plan, &run, Quantity::Jain), 0.9);
}

#[test]
fn beside_a_long_transfer_the_one_that_has_least_counts() {
    let plan = plan(&[(0, 2)], vec![call(), flow(FlowKind::Tcp, 0, 100)]);
    let starved = run(&plan, &[&[(20, 100, 1.7)], &[(20, 100, 0.3)]]);
    assert_near(value(&plan, &starved, Quantity::Coexistence), 30.0);
    assert_near(value(&plan, &starved, Quantity::Rate), 170.0);
}

#[test]
fn beside_short_transfers_a_call_is_due_what_they_leave() {
    let calls = || FlowPlan { max_rate: Some(MBPS(1)), stop: s(99), ..call() };
    let plan = plan(&[(0, 2)], vec![calls(), calls(), flow(FlowKind::Downloads, 0, 100)]);
    // 20 to 99 s: 158 Mbit, of which the transfers took 79; the calls have 39.5 each and receive 39.5 and 31.6.
    let run = run(&plan, &[&[(20, 99, 0.5)], &[(20, 99, 0.4)], &[(20, 99, 1.0)]]);
    assert_near(value(&plan, &run, Quantity::RateBesideTransfers), 80.0);
}

#[test]
fn against_tcp_counts_what_as_many_transfers_get_at_most_a_calls_rate() {
    let calls = FlowPlan { max_rate: Some(MBPS(1)), ..call() };
    let plan = plan(&[(0, 4)], vec![calls.clone(), calls, flow(FlowKind::Tcp, 40, 80)]);
    let own = run(&plan, &[&[(0, 100, 0.9)], &[(0, 100, 0.3)], &[(40, 80, 2.0)]]);
    // In place of the calls, TCP flows received 2.0, of which 1.0 counts, and 0.6: 1.2 against 1.6.
    let other = run(&plan, &[&[(0, 100, 2.0)], &[(0, 100, 0.6)]]);
    let own = JudgedRun::new(&plan, &own, START_UP).against_tcp();
    assert_near(own.value(&other.receipts), 75.0);
    assert_eq!(own.value(&[]), None);
}

#[test]
fn the_slowest_to_come_back_counts_and_one_that_does_not_has_no_value() {
    let plan = plan(&[(0, 2)], vec![call(), call()]);
    let mut run = run(&plan, &[]);
    let after = |at: f64, seconds: Option<f64>| Convergence {
        at_seconds: Some(at),
        share_bps: Some(1e6),
        seconds,
        not_converged: Some(f64::from(u8::from(seconds.is_none()))),
    };
    run.metrics.flows[0].convergence = vec![after(40.0, Some(30.0)), after(60.05, Some(4.0))];
    run.metrics.flows[1].convergence = vec![after(60.05, Some(9.0))];
    assert_eq!(value_at(&plan, &run, Quantity::Reconvergence, 60), Some(9.0));
    run.metrics.flows[1].convergence = vec![after(60.05, None)];
    assert_eq!(value_at(&plan, &run, Quantity::Reconvergence, 60), None);
    assert_eq!(
        value_at(&plan, &run, Quantity::Reconvergence, 40),
        Some(30.0),
        "nothing changes for the other"
    );
    let measurable = |at| JudgedRun::new(&plan, &run, START_UP).return_time(at).is_measurable;
    assert!(measurable(60) && measurable(40), "one that does not come back is measured");
    assert!(!measurable(50), "nothing changes then");
}

#[test]
fn a_flow_that_never_converges_keeps_no_limit_above_the_time_left() {
    let plan = plan(&[(0, 2)], vec![call()]);
    let mut run = run(&plan, &[]);
    let never = Convergence {
        at_seconds: Some(90.0),
        share_bps: Some(1e6),
        seconds: Some(10.0),
        not_converged: Some(1.0),
    };
    let value = |run: &Measured, limit: f64| {
        JudgedRun::new(&plan, run, START_UP).return_time(90).beside(Limit::AtMost(limit)).0
    };
    run.metrics.flows[0].convergence = vec![never.clone()];
    assert_eq!((value(&run, 8.0), value(&run, 15.0)), (Some(10.0), None));
    run.metrics.flows[0].convergence = vec![Convergence { not_converged: Some(0.0), ..never }];
    assert_eq!(value(&run, 15.0), Some(10.0));
}

#[test]
fn loss_and_frame_delay_are_those_of_the_worst_call() {
    let plan = plan(&[(0, 2)], vec![call(), call(), flow(FlowKind::Tcp, 0, 100)]);
    let mut run = run(&plan, &[]);
    for (flow, lost_packets) in [(0, 1), (1, 3), (2, 50)] {
        (run.views[flow].packets, run.views[flow].lost_packets) = (100 - lost_packets, lost_packets);
    }
    assert_near(value(&plan, &run, Quantity::Loss), 3.0);
    assert_eq!(value(&plan, &run, Quantity::FrameDelay), None);
    run.delays[0].frame_delay.record(TimeDelta::from_millis(80));
    run.delays[1].frame_delay.record(TimeDelta::from_millis(40));
    let worst = value(&plan, &run, Quantity::FrameDelay).unwrap();
    assert!((79.0..81.0).contains(&worst), "{worst}");
}

#[test]
fn a_limit_is_kept_at_the_limit_itself() {
    assert_eq!(Limit::AtLeast(80.0).slack(80.0), 0.0);
    assert_near(Some(Limit::AtLeast(80.0).slack(60.0)), -0.25);
    assert_near(Some(Limit::AtMost(100.0).slack(150.0)), -0.5);
    assert_near(Some(Limit::AtMost(2.0).slack(1.0)), 0.5);
    // A margin is a ratio of at most 1.
    let margins = [
        Limit::AtLeast(80.0).margin(60.0),
        Limit::AtLeast(80.0).margin(90.0),
        Limit::AtMost(100.0).margin(200.0),
        Limit::AtMost(2.0).margin(0.0),
        Limit::AtLeast(80.0).margin(-5.0),
    ];
    assert_eq!(margins, [0.75, 1.0, 0.5, 1.0, 0.0]);
}

#[test]
fn parts_are_judged_against_priorities_in_the_last_30_s() {
    let first = FlowPlan { weight: 2.0, ..call() };
    let plan = plan(&[(0, 3)], vec![first, call(), flow(FlowKind::Audio, 0, 100)]);
    // Of 2.5 the first flow receives 1.5, 60 % in place of two thirds: a tenth less. The second receives 40 in place of
    // 33.3 %: a fifth more.
    let run = run(&plan, &[&[(0, 70, 0.1), (70, 100, 1.5)], &[(0, 100, 1.0)], &[(0, 100, 0.4)]]);
    assert_near(value(&plan, &run, Quantity::OffPriority), 20.0);
}

#[test]
fn of_media_the_payload_of_frames_counts_and_what_else_arrives_is_overhead() {
    let plan = plan(&[(0, 2)], vec![call(), FlowPlan { competes: true, ..call() }]);
    let mut run = run(&plan, &[&[(0, 100, 1.0)], &[(0, 100, 0.5)]]);
    // Four fifths of the received bytes are payload; the rest are headers and padding.
    run.media_receipts[0].iter_mut().for_each(|bytes| *bytes = *bytes * 4 / 5);
    assert_near(value(&plan, &run, Quantity::Rate), 80.0);
    assert_near(JudgedRun::new(&plan, &run, START_UP).overhead(), 25.0);
    assert_near(value(&plan, &run, Quantity::Neighbour), 50.0);
    assert_near(value(&plan, &run, Quantity::Coexistence), 50.0);
}

#[test]
fn a_case_about_what_follows_a_time_counts_from_there_on() {
    let plan = plan(&[(0, 2), (60, 1)], vec![call()]);
    let run = run(&plan, &[&[(0, 60, 2.0), (60, 100, 0.7)]]);
    assert_near(value_from(&plan, &run, s(60), Quantity::Rate, 0), 70.0);
    assert_eq!(all_from(&plan, s(60)).spans, [(s(60), s(100))]);
}

#[test]
fn only_packets_of_frames_of_judged_flows_are_counted_as_lost() {
    let plan = plan(&[(0, 2)], vec![call(), call(), FlowPlan { competes: true, ..call() }]);
    let mut run = run(&plan, &[]);
    for (view, lost) in run.views.iter_mut().zip([1, 3, 50]) {
        (view.packets, view.lost_packets) = (100 - lost, lost);
    }
    assert_near(value(&plan, &run, Quantity::Loss), 3.0);
}

/// Value of a quantity that compares the frames at the viewers with the omniscient sender's.
fn beside_omniscient(quantity: Quantity, own: &[Served], omniscient: &[Served]) -> Option<f64> {
    let results = [own, omniscient].map(|frames| json!({ "judged": { "frames": frames } }));
    let known = |leaf: &Leaf| harvest(&leaf.path, &results[usize::from(leaf.variant == "omniscient")], None);
    evaluate(quantity.formula().unwrap(), &KnownValues { axes: &|_| None, measured: &known })
}

fn frames(payload_bytes: u64, useful_bytes: u64, delay: f64) -> Served {
    Served { payload_bytes, useful_bytes, frame_delay_ms: Some(delay) }
}

/// Flow without frames.
const NO_FRAMES: Served = Served { payload_bytes: 0, useful_bytes: 0, frame_delay_ms: None };

#[test]
fn the_flow_that_has_least_of_what_could_have_been_counts() {
    let useful = |own: &[Served], omniscient: &[Served]| beside_omniscient(Quantity::Useful, own, omniscient);
    let excess = |own: &[Served], other: &[Served]| beside_omniscient(Quantity::ExcessFrameDelay, own, other);
    let omniscient = [frames(1000, 900, 50.0), NO_FRAMES, frames(1000, 400, 300.0)];
    let own = [frames(900, 720, 70.0), NO_FRAMES, frames(2000, 240, 480.0)];
    // 720 of 900, and 240 of 400; 20 ms more, and 180.
    assert_eq!((useful(&own, &omniscient), excess(&own, &omniscient)), (Some(60.0), Some(180.0)));
    assert_eq!(useful(&omniscient, &omniscient), Some(100.0));

    // A flow that the omniscient sender can hardly serve in time has no useful rate, and a delay as any other.
    let hardly = frames(1000, 249, 400.0);
    assert!(!is_applicable(&[hardly, NO_FRAMES]) && is_applicable(&[hardly, frames(1000, 250, 400.0)]));
    assert_eq!(useful(&[frames(1000, 0, 0.0)], &[hardly]), None);
    assert_eq!(useful(&[frames(1000, 125, 0.0)], &[frames(1000, 250, 0.0)]), Some(50.0));
    let (own, other) = ([frames(1000, 10, 410.0), frames(1000, 500, 100.0)], frames(1000, 1000, 100.0));
    assert_eq!(useful(&own, &[hardly, other]), Some(50.0));
    assert_eq!(excess(&own, &[hardly, other]), Some(10.0));

    // A flow without a complete frame has no delay, and then there is no excess at all.
    assert_eq!(excess(&[NO_FRAMES], &[frames(1000, 900, 50.0)]), None);
    assert_eq!(excess(&[NO_FRAMES, frames(1000, 500, 100.0)], &[other, other]), None);
    assert_eq!(useful(&[NO_FRAMES], &[frames(1000, 900, 50.0)]), Some(0.0));
}
