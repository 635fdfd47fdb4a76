//! Fair shares and fairness.

use super::*;

#[test]
fn the_fair_share_is_the_capacity_over_the_number_of_active_flows() {
    let second = FlowPlan { start: Time::from_millis(5000), ..media("b") };
    let mut run = Run::new(plan(10_000, vec![media("a"), second]));
    // Payload rates: each packet carries 40 bytes of headers, every 100 ms.
    for ms in (0..10_000).step_by(100) {
        run.passes(0, ms, ms, 7500 + HEADERS);
        if ms >= 5000 {
            run.passes(1, ms, ms, 3750 + HEADERS);
        }
    }
    let metrics = run.metrics();
    // Alone for 5 s, then one of two: (1 · 5 + 0.5 · 5) / 10 = 0.75 Mbit/s; 0.6 of it is 0.8.
    near(metrics.flows[0].fair_share, 0.8, 1e-9);
    // One of two throughout its life: 0.3 of 0.5 Mbit/s.
    near(metrics.flows[1].fair_share, 0.6, 1e-9);
    near(metrics.links[0].utilisation.fair_share, 0.7, 1e-9);
}

#[test]
fn a_completed_transfer_takes_no_share_any_more() {
    let transfer = FlowPlan { kind: FlowKind::Tcp, ..media("tcp") };
    let mut run = Run::new(plan(10_000, vec![media("a"), transfer]));
    for ms in (0..10_000).step_by(100) {
        run.passes(0, ms, ms, 9375 + HEADERS);
    }
    run.0.completed(Time::from_millis(5000), 1);
    // 0.75 Mbit/s of (0.5 · 5 + 1 · 5) / 10.
    near(run.metrics().flows[0].fair_share, 1.0, 1e-9);
}

#[test]
fn flows_that_take_turns_are_fair_in_the_long_term_only() {
    let mut run = Run::new(plan(4000, vec![media("a"), media("b")]));
    for second in 0..4 {
        run.flows_at(second % 2, 1000 * second as u64, 1000 * (second as u64 + 1), 1000);
    }
    let jain = run.metrics().jain;
    // (1, 0) in each second: 1 / (2 · 1); means (0.5, 0.5).
    assert_eq!((jain.mean_of_instant, jain.of_means), (Some(0.5), Some(1.0)));
}

#[test]
fn fairness_over_time_begins_when_all_are_active() {
    let late = FlowPlan { start: Time::from_millis(1500), ..media("b") };
    let mut run = Run::new(plan(4000, vec![media("a"), late]));
    run.flows_at(0, 0, 2000, 1000);
    // From 2 s on 600 and 400, then 500 and 500 kbit/s: 1 / (2 · 0.52) = 0.961538 and 1, their
    // mean 0.980769.
    for (flow, first, second) in [(0, 600, 500), (1, 400, 500)] {
        run.flows_at(flow, 2000, 3000, first);
        run.flows_at(flow, 3000, 4000, second);
    }
    near(run.metrics().jain.mean_of_instant, 0.980_769, 1e-6);
}

#[test]
fn only_adaptive_flows_of_the_same_bottleneck_compete() {
    let constant = FlowPlan { kind: FlowKind::Constant, ..media("cross") };
    let elsewhere = FlowPlan { kind: FlowKind::Tcp, route: vec![1], bottleneck: Some(1), ..media("reverse") };
    let tcp = FlowPlan { kind: FlowKind::Tcp, ..media("tcp") };
    let mut plan = plan(2000, vec![constant, elsewhere, media("a"), tcp]);
    plan.links.push(plan.links[0].clone());
    let mut run = Run::new(plan);
    for (flow, kbps) in [(0, 100), (1, 900), (2, 200), (3, 100)] {
        run.flows_at(flow, 0, 2000, kbps);
    }
    // (2, 1): 9 / (2 · 5) = 0.9.
    let jain = run.metrics().jain;
    near(jain.of_means, 0.9, 1e-9);
    near(jain.mean_of_instant, 0.9, 1e-9);
}

#[test]
fn a_single_flow_is_neither_fair_nor_unfair() {
    let mut run = Run::new(plan(2000, vec![media("a")]));
    run.flows_at(0, 0, 2000, 1000);
    let jain = run.metrics().jain;
    assert_eq!((jain.of_means, jain.mean_of_instant), (None, None));
}
