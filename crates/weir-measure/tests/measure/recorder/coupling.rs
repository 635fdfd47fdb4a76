//! Shares of coupled flows in their aggregate.

use weir_cc::coupled::{Aggregate, CouplerAction, CouplingMessage, FlowId, Refusal};
use weir_cc::window::Window;
use weir_measure::metrics::{CouplingPlan, Recording, Series, Share};

use super::*;

/// Flows of which the first two are coupled.
fn coupled(end_ms: u64, flows: Vec<FlowPlan>) -> MeasurePlan {
    let coupling = CouplingPlan { name: "call".to_owned(), flows: vec![0, 1], windows: false };
    MeasurePlan { couplings: vec![coupling], series: true, ..plan(end_ms, flows) }
}

#[test]
fn shares_are_of_the_bytes_of_coupled_flows_alone() {
    let mut run = Run::new(coupled(1000, vec![media("a"), media("b"), media("c")]));
    run.passes(0, 0, 10, 3000);
    run.sends(0, 20, 3000);
    run.passes(1, 0, 10, 2000);
    run.passes(2, 0, 10, 9000);
    let flows = run.metrics().flows;
    near(flows[0].share_sent, 0.75, 1e-12);
    near(flows[1].share_sent, 0.25, 1e-12);
    near(flows[0].share_received, 0.6, 1e-12);
    assert_eq!((flows[2].share_sent, flows[2].share_wanted, flows[2].refused_messages), (None, None, None));
}

#[test]
fn the_share_that_is_wanted_follows_weights_and_who_is_there() {
    let first = FlowPlan { later_weights: vec![(Time::from_millis(4000), 0.5)], ..media("a") };
    let second = FlowPlan { pauses: vec![(Time::from_millis(6000), Time::from_millis(8000))], ..media("b") };
    let wanted = |mut run: Run| {
        run.flows_at(0, 0, 8000, 100);
        let flows = run.metrics().flows;
        (flows[0].share_wanted, flows[1].share_wanted)
    };
    // A half for 4 s, a third for 2 s, all for 2 s of the pause.
    let (own, other) = wanted(Run::new(coupled(8000, vec![first.clone(), second.clone()])));
    near(own, (0.5 * 4.0 + 2.0 / 3.0 + 2.0) / 8.0, 1e-12);
    near(other, (0.5 * 4.0 + 4.0 / 3.0) / 8.0, 1e-12);
    let (own, _) = wanted(Run::within(coupled(8000, vec![first, second]), 4000, 6000));
    near(own, 1.0 / 3.0, 1e-12);
}

#[test]
fn refused_messages_are_counted() {
    let mut run = Run::within(coupled(2000, vec![media("a"), media("b")]), 1000, 2000);
    let refused = Some(Refusal::UnknownFlow(FlowId(0)));
    run.0.coupling_message(Time::from_millis(500), 0, &CouplingMessage::Pause, refused);
    run.0.coupling_message(Time::from_millis(1500), 0, &CouplingMessage::Pause, refused);
    run.0.coupling_message(Time::from_millis(1600), 0, &CouplingMessage::Pause, None);
    let flows = run.metrics().flows;
    assert_eq!((flows[0].refused_messages, flows[1].refused_messages), (Some(1.0), Some(0.0)));
}

#[test]
fn fairness_of_what_is_sent_is_measured_beside_that_of_what_arrives() {
    let mut run = Run::new(coupled(2000, vec![media("a"), media("b")]));
    // Sent 1 : 1, then 2 : 1; received 1 : 0, as the second one's packets are under way for ever.
    for (ms, own) in [(100, 1000), (1100, 2000)] {
        run.passes(0, ms, ms, own);
        run.sends(1, ms, 1000);
    }
    let jain = run.metrics().jain;
    near(jain.sent_mean_of_instant, f64::midpoint(1.0, 9.0 / 10.0), 1e-12);
    // 3 : 2.
    near(jain.sent_of_means, 25.0 / 26.0, 1e-12);
    near(jain.mean_of_instant, 0.5, 1e-12);
}

type Orders<'a> = &'a [(u64, usize, CouplerAction, Option<Aggregate>)];

fn three() -> MeasurePlan {
    coupled(400, vec![media("a"), media("b"), media("c")])
}

/// The recording of three coupled flows with these actions; the second flow leaves at 250 ms.
fn recording(orders: Orders<'_>) -> Recording {
    let mut run = Run::new(three());
    run.passes(0, 110, 120, 1250);
    run.passes(1, 110, 120, 2500);
    for (ms, flow, order, aggregate) in orders {
        run.0.coupler_action(Time::from_millis(*ms), *flow, order, *aggregate);
    }
    run.0.coupling_message(Time::from_millis(250), 1, &CouplingMessage::Leave, None);
    run.0.finish().series.unwrap()
}

#[test]
fn orders_hold_until_the_next_one_or_until_the_flow_leaves() {
    let rate = |kbps| CouplerAction::Rate { rate: DataRate::from_kbps(kbps), epoch: 1 };
    let sum = |kbps: f64| Some(Aggregate { group: 0, sum: kbps * 1e3 });
    let recording = recording(&[
        (10, 0, rate(300), sum(400.0)),
        (110, 0, rate(200), sum(500.0)),
        (110, 1, rate(300), sum(500.0)),
    ]);
    let series = recording.clone().whole().unwrap();
    let Some(Share::Rate(first)) = &series.flows[0].share else { panic!("no rates") };
    assert_eq!(first, &[300e3, 200e3, 200e3, 200e3]);
    let Some(Share::Rate(second)) = &series.flows[1].share else { panic!("no rates") };
    assert!(second[0].is_nan() && second[1] == 300e3 && second[2].is_nan() && second[3].is_nan());
    assert_eq!(series.flows[2].share, None);
    let coupling = &series.couplings[0];
    assert_eq!(coupling.aggregate, [400e3, 500e3, 500e3, 500e3]);
    assert_eq!(coupling.groups, [1.0; 4]);
    assert_eq!(coupling.receive_rate_bps, [0.0, 300e3, 0.0, 0.0]);
    let mut csv = Vec::new();
    recording.write_csv(&mut csv).unwrap();
    let csv = String::from_utf8(csv).unwrap();
    for column in [
        "a.share_bps",
        "b.share_bps",
        "call.send_rate_bps",
        "call.receive_rate_bps",
        "call.aggregate_bps",
        "call.groups",
    ] {
        assert!(csv.lines().next().unwrap().split(',').any(|name| name == column), "{column}");
    }
    assert!(!csv.contains("c.share"));
}

#[test]
fn windows_are_shown_in_segments() {
    let window = CouplerAction::Window(Window { cwnd: 12.5, ssthresh: 20.0 });
    let orders = [(10, 0, window, Some(Aggregate { group: 1, sum: 30e3 }))];
    let series = recording(&orders).whole().unwrap();
    assert_eq!(series.flows[0].share, Some(Share::Window(vec![12.5; 4])));
}

/// Checks that a run by `plan` with these allocations is read from its file as it was written.
#[track_caller]
fn reads_back(plan: &MeasurePlan, orders: Orders<'_>) {
    let mut run = Run::new(plan.clone());
    run.passes(0, 110, 120, 1250);
    for (ms, flow, order, aggregate) in orders {
        run.0.coupler_action(Time::from_millis(*ms), *flow, order, *aggregate);
    }
    let recording = run.0.finish().series.unwrap();
    let mut csv = Vec::new();
    recording.write_csv(&mut csv).unwrap();
    let read = Series::read_csv(&String::from_utf8(csv).unwrap(), plan).unwrap();
    // NaN is equal to NaN here.
    assert_eq!(format!("{read:?}"), format!("{:?}", recording.whole().unwrap()));
}

#[test]
fn actions_of_couplers_are_read_back() {
    let sum = |group, sum| Some(Aggregate { group, sum });
    let rate = CouplerAction::Rate { rate: DataRate::from_kbps(300), epoch: 1 };
    reads_back(&three(), &[(10, 0, rate, sum(0, 400e3)), (110, 1, rate, sum(1, 500e3))]);
    let mut by_windows = three();
    by_windows.couplings[0].windows = true;
    let window = CouplerAction::Window(Window { cwnd: 12.5, ssthresh: 20.0 });
    reads_back(&by_windows, &[(10, 0, window, sum(1, 30e3)), (110, 1, window, sum(1, 30e3))]);
}

#[test]
fn a_flow_that_is_no_longer_coupled_has_no_share() {
    let rate = CouplerAction::Rate { rate: DataRate::from_kbps(300), epoch: 1 };
    let sum = Some(Aggregate { group: 0, sum: 300e3 });
    let series = recording(&[(10, 0, rate, sum), (110, 0, CouplerAction::Uncoupled, None)]).whole().unwrap();
    let Some(Share::Rate(first)) = &series.flows[0].share else { panic!("no rates") };
    assert!(first[0] == 300e3 && first[1..].iter().all(|rate| rate.is_nan()), "{first:?}");
    assert!(series.couplings[0].groups[1].is_nan() && series.couplings[0].aggregate[3].is_nan());
}
