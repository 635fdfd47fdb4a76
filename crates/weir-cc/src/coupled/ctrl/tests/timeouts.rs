//! Retransmission timeouts.

use super::*;

/// Two flows that share 16 segments; the first is not acknowledged while the second is.
fn while_others_are_acknowledged(config: Config) -> Rig {
    let mut rig = Rig::sharing(config, 16.0, &[1.0, 1.0]);
    rig.wait(150);
    rig.ack(1);
    rig.wait(150);
    rig
}

#[test]
fn a_timeout_is_not_decided_before_a_message_of_another_flow() {
    let mut rig = Rig::sharing(ramped(), 16.0, &[1.0, 1.0]);
    rig.wait(300);
    rig.time_out(0);
    assert_eq!((rig.sum(), rig.cwnd(0), rig.actions.len()), (16.0, 8.0, 0));
    rig.ack(1);
    assert_eq!((rig.sum(), rig.share(0), rig.cwnd(1)), (8.0, 4.0, 4.0));
    // The flow goes on with three segments, and comes to its share by its own acknowledgements.
    assert_eq!(rig.cwnd(0), 3.0);
    rig.ack(0);
    assert_eq!((rig.cwnd(0), rig.actions.len()), (4.0, 0));
}

#[test]
fn arrivals_within_a_round_trip_of_the_last_acknowledgement_are_no_evidence() {
    for (after, isolated) in [(100, false), (101, true)] {
        let mut rig = Rig::sharing(ramped(), 16.0, &[1.0, 1.0]);
        rig.wait(after);
        rig.ack(1);
        rig.wait(300 - after);
        rig.time_out(0);
        assert_eq!(rig.sum() < 16.0, isolated, "acknowledged {after} ms later");
    }
}

#[test]
fn a_timeout_in_a_loss_event_or_a_round_trip_after_it_is_no_other() {
    let mut rig = while_others_are_acknowledged(ramped());
    rig.enter_recovery(1);
    rig.time_out(0);
    assert_eq!(rig.sum(), 16.0);
    rig.leave_recovery(1, 4.0);
    assert_eq!((rig.sum(), rig.threshold()), (8.0, Some(8.0)));

    let mut rig = while_others_are_acknowledged(ramped());
    rig.event(1, WindowEvent::RecoveryEntered, 4.0);
    rig.leave_recovery(1, 4.0);
    rig.wait(99);
    rig.time_out(0);
    assert_eq!(rig.sum(), 8.0);
}

#[test]
fn the_timeout_of_who_recovers_ends_the_loss_event_with_its_reduction() {
    let mut rig = Rig::sharing(ramped(), 16.0, &[1.0, 1.0]);
    rig.enter_recovery(0);
    rig.wait(150);
    rig.ack(1);
    rig.wait(150);
    rig.time_out(0);
    assert_eq!((rig.sum(), rig.threshold()), (8.0, Some(8.0)));
    assert!(!rig.coupler.in_loss_event(rig.now));
    assert_eq!(rig.coupler.coordinator(), Some(FlowId(1)));
}

#[test]
fn rto_counts_as_loss_can_be_off() {
    let mut rig = while_others_are_acknowledged(Config { rto_counts_as_loss: false, ..ramped() });
    rig.time_out(0);
    assert_eq!((rig.sum(), rig.share(0), rig.threshold()), (16.0, 8.0, Some(1.0)));
}

#[test]
fn an_isolated_flow_does_not_coordinate_until_it_has_recovered() {
    let mut rig = while_others_are_acknowledged(ramped());
    assert_eq!(rig.coupler.coordinator(), Some(FlowId(0)));
    rig.time_out(0);
    assert_eq!(rig.coupler.coordinator(), Some(FlowId(1)));
    let sum = rig.sum();
    rig.event(0, WindowEvent::Repairing, 9.0);
    assert_eq!(rig.sum(), sum);
}

#[test]
fn after_three_timeouts_of_one_flow_alone_it_leaves_with_its_share() {
    let mut rig = while_others_are_acknowledged(ramped());
    for timeouts in 1..=3 {
        rig.time_out(0);
        assert_eq!(rig.actions.is_empty(), timeouts < 3);
        rig.wait(150);
        rig.ack(1);
        rig.wait(150);
    }
    assert_eq!(rig.actions, [(0, CouplerAction::Uncoupled)]);
    assert!(rig.coupler.share(FlowId(0)).is_none());
    // 16, 8, 4, 2 segments at least for the threshold: half of the last goes.
    assert_eq!(rig.coupler.aggregate(FlowId(1)).unwrap().sum, 1000.0);
    // A later message of the flow is refused, and the flow does not wait for an action in vain.
    let stays = rig.windows[&0];
    let message = CouplingMessage::Window(update_of(WindowEvent::TimedOut, stays));
    assert!(rig.coupler.on_message(rig.now, FlowId(0), &message).is_err());
    assert_eq!(rig.coupler.poll_action(), Some((FlowId(0), CouplerAction::Uncoupled)));
}

#[test]
fn own_acknowledgements_begin_the_count_of_timeouts_anew() {
    let mut rig = while_others_are_acknowledged(ramped());
    for _ in 0..5 {
        rig.time_out(0);
        rig.ack(0);
        rig.wait(150);
        rig.ack(1);
        rig.wait(150);
    }
    assert!(rig.coupler.share(FlowId(0)).is_some());
}

#[test]
fn a_flow_without_outstanding_data_is_not_waited_for() {
    let mut rig = Rig::sharing(ramped(), 16.0, &[1.0, 1.0]);
    let stays = rig.windows[&1];
    rig.report_window(1, WindowEvent::Idle, stays);
    rig.wait(300);
    rig.time_out(0);
    assert_eq!(rig.actions, [(0, CouplerAction::Reduce)]);
}

#[test]
fn a_timeout_that_waits_is_decided_when_the_other_leaves() {
    let mut rig = Rig::sharing(ramped(), 16.0, &[1.0, 1.0]);
    rig.wait(300);
    rig.time_out(0);
    rig.send_message(1, &CouplingMessage::Leave);
    assert_eq!(rig.actions, [(0, CouplerAction::Reduce)]);
}

#[test]
fn a_group_timeout_with_priorities_leaves_a_segment_to_the_last_that_timed_out() {
    let mut rig = Rig::sharing(ramped(), 16.0, &[1.0, 3.0]);
    rig.wait(300);
    rig.time_out(1);
    rig.time_out(0);
    assert!(close(rig.sum(), 4.0) && close(rig.share(1), 3.0), "{}", rig.sum());
}

#[test]
fn a_lone_flow_is_ordered_to_reduce_at_once() {
    let mut rig = Rig::sharing(ramped(), 16.0, &[1.0]);
    rig.time_out(0);
    assert_eq!(rig.actions, [(0, CouplerAction::Reduce)]);
}

#[test]
fn timeouts_of_all_do_not_count_towards_a_flows_release() {
    let mut rig = Rig::sharing(ramped(), 16.0, &[1.0, 1.0]);
    for _ in 0..3 {
        rig.wait(1000);
        rig.time_out(0);
        rig.time_out(1);
    }
    rig.wait(150);
    rig.ack(1);
    rig.wait(150);
    rig.time_out(0);
    rig.wait(150);
    rig.ack(1);
    assert!(rig.coupler.share(FlowId(0)).is_some(), "{:?}", rig.actions);
}

#[test]
fn a_round_trip_of_ages_does_not_hold_timers_for_ever() {
    let mut rig = Rig::sharing(ramped(), 16.0, &[1.0, 1.0]);
    let stays = rig.windows[&0];
    let ages = Some(TimeDelta::from_secs(1_000_000));
    rig.send_message(
        0,
        &CouplingMessage::Window(CwndUpdate { srtt: ages, ..update_of(WindowEvent::Marked, stays) }),
    );
    rig.wait(10_001);
    assert!(!rig.coupler.in_loss_event(rig.now));
}
