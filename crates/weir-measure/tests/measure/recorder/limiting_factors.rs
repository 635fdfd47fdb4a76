//! Limiting factors and target rate of a flow.

use super::*;

#[test]
fn each_cause_holds_until_the_next() {
    let mut run = Run::within(plan(12_000, vec![media("a")]), 2000, 10_000);
    run.aims(0, 1000, LimitingFactor::RampUp);
    run.aims(4000, 2000, LimitingFactor::Delay);
    run.aims(5000, 2000, LimitingFactor::Delay);
    run.aims(7000, 500, LimitingFactor::Loss);
    let flow = &run.metrics().flows[0];
    // In the window from 2 to 10 s: 2 s, 3 s and 3 s.
    let seconds = |factor| *flow.time_per_limiting_factor.get(factor);
    assert_eq!(seconds(LimitingFactor::RampUp), Some(2.0));
    assert_eq!(seconds(LimitingFactor::Delay), Some(3.0));
    assert_eq!(seconds(LimitingFactor::Loss), Some(3.0));
    assert_eq!(seconds(LimitingFactor::Drain), Some(0.0));
    // (1000 · 2 + 2000 · 3 + 500 · 3) / 8 = 1187.5 kbit/s.
    assert_eq!(flow.target_rate_bps, Some(1_187_500.0));
}

#[test]
fn a_stopped_flow_has_no_limiting_factor() {
    let mut run = Run::new(plan(10_000, vec![FlowPlan { stop: Time::from_millis(6000), ..media("a") }]));
    run.aims(0, 1000, LimitingFactor::Delay);
    assert_eq!(run.metrics().flows[0].time_per_limiting_factor.delay, Some(6.0));
}

#[test]
fn a_flow_without_a_controller_has_no_cause() {
    let flow = Run::new(plan(1000, vec![media("a")])).metrics().flows.remove(0);
    assert_eq!((flow.time_per_limiting_factor.delay, flow.target_rate_bps), (None, None));
}
