//! Fair shares of flows over a whole run.

use std::sync::Arc;

use weir_measure::metrics::{FairShares, max_min_shares, max_min_shares_every};
use weir_net::Trace;

use super::*;

const T: fn(u64) -> Time = Time::from_millis;

fn shares(found: &[FairShares]) -> Vec<(u64, u64, Vec<f64>)> {
    let ms = |time: Time| time.nanos() / 1_000_000;
    found.iter().map(|piece| (ms(piece.from), ms(piece.to), piece.bps.clone())).collect()
}

#[test]
fn shares_change_as_flows_come_pause_and_go() {
    let second = FlowPlan { start: T(1000), stop: T(4000), pauses: vec![(T(2000), T(3000))], ..media("b") };
    let found = shares(&max_min_shares(&plan(5000, vec![media("a"), second])));
    let (alone, both) = (vec![1e6, 0.0], vec![5e5, 5e5]);
    assert_eq!(
        found,
        [
            (0, 1000, alone.clone()),
            (1000, 2000, both.clone()),
            (2000, 3000, alone.clone()),
            (3000, 4000, both),
            (4000, 5000, alone)
        ]
    );
}

#[test]
fn weights_and_limits_hold_from_when_they_change() {
    let first = FlowPlan { weight: 3.0, later_weights: vec![(T(2000), 1.0)], ..media("a") };
    let second = FlowPlan {
        max_rate: Some(DataRate::from_kbps(100)),
        max_rates: vec![(T(1000), DataRate::from_kbps(300))],
        ..media("b")
    };
    let found = shares(&max_min_shares(&plan(3000, vec![first, second])));
    // 3 : 1, of which the second can use 100 kbit/s at first; then 500 each, of which it can use 300.
    assert_eq!(
        found,
        [(0, 1000, vec![9e5, 1e5]), (1000, 2000, vec![7.5e5, 2.5e5]), (2000, 3000, vec![7e5, 3e5])]
    );
}

#[test]
fn unresponsive_traffic_takes_its_rate_or_the_whole_capacity() {
    let cross = FlowPlan {
        sends: vec![(T(1000), DataRate::from_kbps(400)), (T(2000), DataRate::from_mbps(3))],
        ..FlowPlan::new("cross", FlowKind::Constant)
    };
    let short = FlowPlan::new("short", FlowKind::Downloads);
    let found = shares(&max_min_shares(&plan(3000, vec![media("a"), cross, short])));
    assert_eq!(
        found,
        [
            (0, 1000, vec![1e6, 0.0, 0.0]),
            (1000, 2000, vec![6e5, 4e5, 0.0]),
            (2000, 3000, vec![0.0, 1e6, 0.0])
        ]
    );
}

#[test]
fn capacity_that_changes_counts_from_when_it_arrives_at_the_far_end() {
    let mut plan = plan(3000, vec![FlowPlan { route: vec![0, 1], ..media("a") }]);
    let rate = DataRate::from_kbps;
    plan.links[0].service = Service::Steps(vec![(Time::ZERO, rate(800)), (T(900), rate(400))]);
    plan.links[0].delay = TimeDelta::from_millis(100);
    // The link is no bottleneck, so it limits no flow and its steps cut no piece.
    let wide = LinkPlan {
        bottleneck: false,
        ..LinkPlan::bottleneck("wide", Service::Steps(vec![(Time::ZERO, rate(10)), (T(500), rate(20))]))
    };
    plan.links.push(wide);
    let found = shares(&max_min_shares(&plan));
    // No packet comes out in the first 100 ms.
    assert_eq!(found, [(0, 100, vec![0.0]), (100, 1000, vec![8e5]), (1000, 3000, vec![4e5])]);
}

#[test]
fn a_trace_counts_with_its_mean_over_pieces_of_a_second_at_most() {
    // 100 opportunities of 1500 bytes in the first half of each second: 1.2 Mbit/s on the whole.
    let trace = Arc::new(Trace::from_millis((1..=100).map(|k| 5 * k)).unwrap());
    let mut plan = plan(2500, vec![media("a")]);
    plan.links[0].service = Service::Trace { trace, offset: TimeDelta::ZERO, repeat: false };
    let found = shares(&max_min_shares(&plan));
    let edges: Vec<_> = found.iter().map(|piece| (piece.0, piece.1)).collect();
    assert_eq!(edges, [(0, 1000), (1000, 2000), (2000, 2500)]);
    near(Some(found[0].2[0]), 1.2e6, 1.0);
    assert_eq!(found[1].2, [0.0]);
    let finer = shares(&max_min_shares_every(&plan, TimeDelta::from_millis(500)));
    assert_eq!(finer.iter().map(|piece| piece.0).collect::<Vec<_>>(), [0, 500, 1000, 1500, 2000]);
    // The hundredth comes at 500 ms, which is not before.
    near(Some(finer[0].2[0]), 99.0 * 12e3 / 0.5, 1.0);
}

#[test]
fn a_flow_may_send_from_its_start_to_its_stop_but_for_its_pauses() {
    let flow = FlowPlan { start: T(100), stop: T(900), pauses: vec![(T(300), T(500))], ..media("a") };
    let may = [99, 100, 299, 300, 499, 500, 899, 900].map(|at| flow.may_send_at(T(at)));
    assert_eq!(may, [false, true, true, false, false, true, true, false]);
}

#[test]
fn limits_and_weights_hold_from_their_time_on() {
    let (low, high) = (DataRate::from_kbps(100), DataRate::from_kbps(200));
    let flow = FlowPlan {
        max_rates: vec![(T(300), low), (T(500), high)],
        later_weights: vec![(T(300), 4.0)],
        ..media("a")
    };
    assert_eq!(
        [299, 300, 499, 500].map(|at| flow.max_rate_at(T(at))),
        [None, Some(low), Some(low), Some(high)]
    );
    assert_eq!([299, 300, 301].map(|at| flow.weight_at(T(at))), [1.0, 4.0, 4.0]);
}
