//! Loss events and marks. Losses of a round trip, of any flows, are one loss event: they reduce the aggregate once,
//! when the first flow leaves recovery. Until then the aggregate does not grow, and a flow in recovery keeps its own window.
//! Marks of a round trip also reduce it once.

use super::*;

/// The sum and the windows of three flows after the losses of one round trip.
fn left_by(losses: impl Fn(&mut Rig)) -> (f64, Vec<f64>) {
    let mut rig = Rig::sharing(ramped(), 33.0, &[1.0, 1.0, 1.0]);
    losses(&mut rig);
    for _ in 0..2 {
        (0..3).for_each(|flow| rig.ack(flow));
    }
    (rig.sum(), (0..3).map(|flow| rig.cwnd(flow)).collect())
}

#[test]
fn losses_of_a_round_trip_reduce_alike_wherever_and_however_many_they_are() {
    let one = left_by(|rig| {
        rig.enter_recovery(0);
        rig.wait(100);
        rig.leave_recovery(0, 5.5);
    });
    assert_eq!(one, (16.5, vec![5.5; 3]));
    let of_two = left_by(|rig| {
        rig.enter_recovery(0);
        rig.wait(10);
        rig.enter_recovery(1);
        rig.wait(90);
        rig.leave_recovery(0, 5.5);
        rig.wait(10);
        rig.leave_recovery(1, 5.5);
    });
    let several_of_one = left_by(|rig| {
        rig.enter_recovery(1);
        for _ in 0..3 {
            rig.wait(100);
            let inflated = rig.cwnd(1) + 1.0;
            rig.event(1, WindowEvent::Repairing, inflated);
        }
        // RFC 6582: it ends with what is in the network and one segment more.
        rig.leave_recovery(1, 2.0);
    });
    assert_eq!((&of_two, &several_of_one), (&one, &one));
}

#[test]
fn the_flow_that_sees_the_loss_coordinates() {
    let mut rig = Rig::sharing(ramped(), 20.0, &[1.0, 1.0]);
    rig.enter_recovery(1);
    assert_eq!(rig.coupler.coordinator(), Some(FlowId(1)));
    // A loss of another flow in the same event does not take the coordination over.
    rig.enter_recovery(0);
    assert_eq!(rig.coupler.coordinator(), Some(FlowId(1)));
}

#[test]
fn flows_in_recovery_are_not_steered_and_others_do_not_grow_meanwhile() {
    let mut rig = Rig::sharing(ramped(), 20.0, &[1.0, 1.0]);
    rig.enter_recovery(1);
    rig.event(0, WindowEvent::Acknowledged, 10.1);
    assert_eq!((rig.sum(), rig.cwnd(0)), (20.0, 10.0));
    rig.event(1, WindowEvent::Repairing, 8.0);
    assert_eq!((rig.sum(), rig.cwnd(1)), (20.0, 8.0));
}

#[test]
fn a_loss_within_a_round_trip_after_the_event_belongs_to_it() {
    for (wait, sum) in [(99, 10.0), (100, 5.0)] {
        let mut rig = Rig::sharing(ramped(), 20.0, &[1.0, 1.0]);
        rig.enter_recovery(0);
        rig.leave_recovery(0, 5.0);
        rig.wait(wait);
        rig.enter_recovery(1);
        rig.leave_recovery(1, 2.5);
        assert_eq!(rig.sum(), sum, "{wait} ms later");
    }
}

#[test]
fn the_window_algorithm_sets_the_reduction_of_a_loss() {
    // CUBIC keeps 0.7 · 10 of 10: of 20 there are 14.
    let mut rig = Rig::sharing(ramped(), 20.0, &[1.0, 1.0]);
    rig.event(0, WindowEvent::RecoveryEntered, 7.0);
    rig.leave_recovery(0, 7.0);
    assert!(close(rig.sum(), 14.0), "{}", rig.sum());
}

#[test]
fn a_flow_that_fills_little_of_its_share_takes_half_of_the_aggregate_at_most() {
    // The flow had 4 segments in flight, and its threshold is 2 of 10.
    let mut rig = Rig::sharing(ramped(), 20.0, &[1.0, 1.0]);
    rig.event(0, WindowEvent::RecoveryEntered, 2.0);
    rig.leave_recovery(0, 2.0);
    assert_eq!(rig.sum(), 10.0);
}

#[test]
fn a_threshold_is_two_segments_at_least() {
    let mut rig = Rig::sharing(ramped(), 3.0, &[1.0, 1.0]);
    rig.enter_recovery(0);
    assert_eq!(rig.threshold(), Some(2.0));
}

#[test]
fn marks_of_a_round_trip_reduce_once_whichever_flows_see_them() {
    let mut rig = Rig::sharing(ramped(), 20.0, &[1.0, 1.0]);
    rig.event(0, WindowEvent::Marked, 5.0);
    assert_eq!((rig.sum(), rig.threshold(), rig.cwnd(0)), (10.0, Some(10.0), 5.0));
    rig.wait(50);
    rig.event(1, WindowEvent::Marked, 5.0);
    rig.enter_recovery(0);
    rig.leave_recovery(0, 2.5);
    assert_eq!((rig.sum(), rig.cwnd(1)), (10.0, 5.0));
    rig.wait(50);
    rig.event(1, WindowEvent::Marked, 2.5);
    assert_eq!(rig.sum(), 5.0);
}

#[test]
fn the_aggregate_leaves_recovery_in_congestion_avoidance() {
    let mut rig = Rig::with_threshold(ramped(), 20.0, f64::INFINITY, &[1.0, 1.0]);
    assert!(rig.windows[&0].in_slow_start());
    rig.enter_recovery(0);
    rig.leave_recovery(0, 4.0);
    rig.ack(1);
    assert!((0..2).all(|flow| !rig.windows[&flow].in_slow_start()), "{:?}", rig.windows);
    assert_eq!((rig.cwnd(0), rig.cwnd(1)), (5.0, 5.0));
}

#[test]
fn in_slow_start_the_aggregate_doubles_as_all_of_it_is_acknowledged() {
    let mut rig = Rig::with_threshold(ramped(), 20.0, f64::INFINITY, &[1.0, 1.0]);
    for (flow, sum) in [(0, 30.0), (1, 40.0)] {
        for _ in 0..10 {
            let grown = rig.cwnd(flow) + 1.0;
            rig.event(flow, WindowEvent::Acknowledged, grown);
        }
        assert!(close(rig.sum(), sum), "{}", rig.sum());
    }
    rig.ack(0);
    // A controller that ends slow start by itself ends it for all.
    let cwnd = rig.cwnd(0);
    rig.windows.insert(0, window(cwnd, cwnd));
    rig.event(0, WindowEvent::Acknowledged, cwnd + 0.1);
    rig.event(1, WindowEvent::Acknowledged, cwnd + 1.0);
    assert!(close(rig.sum(), 40.1) && !rig.windows[&1].in_slow_start(), "{:?}", rig.windows);
}

#[test]
fn the_reduction_takes_effect_when_the_first_flow_leaves_recovery() {
    let mut rig = Rig::sharing(ramped(), 20.0, &[1.0, 1.0]);
    rig.enter_recovery(0);
    rig.wait(10);
    rig.enter_recovery(1);
    rig.wait(100);
    rig.leave_recovery(1, 5.0);
    assert_eq!((rig.sum(), rig.cwnd(1)), (10.0, 5.0));
    rig.wait(90);
    rig.leave_recovery(0, 5.0);
    assert_eq!((rig.sum(), rig.cwnd(0)), (10.0, 5.0));
}

#[test]
fn a_loss_event_ends_with_its_owners_next_message_outside_of_recovery() {
    for event in [WindowEvent::Idle, WindowEvent::Acknowledged] {
        let mut rig = Rig::sharing(ramped(), 20.0, &[1.0, 1.0]);
        rig.enter_recovery(1);
        assert!(rig.coupler.in_loss_event(rig.now));
        let stays = rig.windows[&1];
        rig.report_window(1, event, stays);
        assert!(!rig.coupler.in_loss_event(rig.now), "{event:?}");
        assert_eq!((rig.sum(), rig.threshold()), (10.0, Some(10.0)));
    }
}
