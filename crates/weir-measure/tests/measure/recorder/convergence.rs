//! How long a flow takes to reach its share.

use super::*;

#[test]
fn convergence_is_from_the_change_to_five_good_seconds() {
    let mut plan = plan(20_000, vec![media("a")]);
    let rate = DataRate::from_mbps;
    plan.links[0].service = Service::Steps(vec![(Time::ZERO, rate(1)), (Time::from_millis(10_000), rate(2))]);
    let mut run = Run::new(plan);
    run.flows_at(0, 0, 3000, 500);
    run.flows_at(0, 3000, 20_000, 1000);
    let found = &run.metrics().flows[0].convergence;
    // The rate of the past second is at least 0.8 Mbit/s from 3.6 s on (0.4 · 0.5 + 0.6 · 1); of the 51 samples of
    // the following 5 s five may be outside, so the condition holds from 3.1 s on.
    assert_eq!(found.len(), 2);
    near(found[0].seconds, 3.1, 1e-9);
    assert_eq!((found[0].at_seconds, found[0].share_bps), (Some(0.0), Some(1e6)));
    assert_eq!(found[0].not_converged, Some(0.0));
    // 1 Mbit/s is not within 20 % of 2: censored at the end, 10 s later.
    assert_eq!((found[1].at_seconds, found[1].share_bps), (Some(10.0), Some(2e6)));
    assert_eq!((found[1].seconds, found[1].not_converged), (Some(10.0), Some(1.0)));
}

#[test]
fn the_rest_of_a_limited_flow_goes_to_the_others() {
    let limited = FlowPlan {
        kind: FlowKind::Constant,
        max_rate: Some(DataRate::from_kbps(200)),
        start: Time::from_millis(10_000),
        ..media("cross")
    };
    let mut run = Run::new(plan(20_000, vec![media("a"), limited]));
    run.flows_at(0, 0, 20_000, 800);
    let metrics = run.metrics();
    // Alone 1 Mbit/s, of which 0.8 is just near enough; then the 0.8 Mbit/s that the other cannot use.
    let shares: Vec<_> = metrics.flows[0].convergence.iter().map(|c| c.share_bps.unwrap()).collect();
    assert_eq!(shares, [1e6, 8e5]);
    assert_eq!(metrics.flows[0].convergence[1].seconds, Some(0.0));
    // A constant flow does not converge.
    assert!(metrics.flows[1].convergence.is_empty());
}

#[test]
fn changes_in_quick_succession_are_not_judged() {
    let flow = |name: &str, start: u64| FlowPlan { start: Time::from_millis(start), ..media(name) };
    let metrics = Run::new(plan(20_000, vec![flow("a", 0), flow("b", 4000), flow("c", 8000)])).metrics();
    // 4 s each until 8 s, then 12 s with three flows.
    let [last] = &metrics.flows[0].convergence[..] else { panic!("one change") };
    assert_eq!(last.at_seconds, Some(8.0));
    near(last.share_bps, 1e6 / 3.0, 1.0);
}

#[test]
fn changes_before_the_window_are_not_judged() {
    let second = FlowPlan { start: Time::from_millis(5000), ..media("b") };
    let metrics = Run::within(plan(20_000, vec![media("a"), second]), 5000, 20_000).metrics();
    let [only] = &metrics.flows[0].convergence[..] else { panic!("one change") };
    assert_eq!((only.at_seconds, only.share_bps), (Some(5.0), Some(5e5)));
}
