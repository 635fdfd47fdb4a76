//! The ACK clock ([`Newcomer::Clocked`]). A newcomer starts with one segment. Acknowledgements of the other flows let
//! the rest of its share out, a segment at a time, and their windows shrink by as much.

use super::*;

/// Flows of the actions that let a segment out, in order of time.
fn clocked_out(rig: &Rig) -> Vec<u32> {
    rig.actions
        .iter()
        .filter(|(_, action)| *action == CouplerAction::Segment)
        .map(|&(flow, _)| flow)
        .collect()
}

/// The windows of all flows, together with segments that are clocked out but not in their flow's window yet.
fn total(rig: &Rig) -> f64 {
    rig.windows.keys().map(|&flow| rig.cwnd(flow)).sum()
}

#[test]
fn others_acknowledgements_let_a_newcomers_share_out_and_windows_shrink_gradually() {
    let mut rig = Rig::sharing(Config::default(), 20.0, &[1.0]);
    rig.join(1, 1.0, window(10.0, f64::INFINITY));
    // One segment by its window, nine by the clock.
    assert_eq!((rig.cwnd(1), rig.share(1)), (1.0, 10.0));
    let mut windows = Vec::new();
    for _ in 0..18 {
        rig.wait(5);
        rig.ack(0);
        windows.push(rig.cwnd(0));
    }
    assert_eq!(clocked_out(&rig), [1; 9]);
    let expected: Vec<f64> = (0..9).flat_map(|sent| [18.0 - f64::from(sent); 2]).collect();
    assert_eq!(windows, expected);
    // Its own acknowledgements, of what is in flight, bring its window.
    let stays = rig.windows[&1];
    let cwnd_update = CwndUpdate { flight: 9.0, ..update_of(WindowEvent::Acknowledged, stays) };
    rig.send_message(1, &CouplingMessage::Window(cwnd_update));
    assert_eq!((rig.cwnd(1), total(&rig)), (10.0, 20.0));
    assert_eq!(rig.coupler.next_timeout(), None);
}

#[test]
fn the_aggregate_does_not_grow_while_a_share_is_clocked_out() {
    let mut rig = Rig::sharing(Config::default(), 20.0, &[1.0]);
    rig.join(1, 1.0, window(10.0, f64::INFINITY));
    rig.event(0, WindowEvent::Acknowledged, 20.05);
    assert_eq!((rig.sum(), rig.cwnd(0)), (20.0, 18.0));
}

#[test]
fn several_newcomers_take_turns_with_one_segment_per_acknowledgement() {
    let mut rig = Rig::sharing(Config::default(), 30.0, &[1.0]);
    rig.join(1, 1.0, window(10.0, f64::INFINITY));
    rig.join(2, 1.0, window(10.0, f64::INFINITY));
    for _ in 0..12 {
        rig.wait(2);
        rig.ack(0);
    }
    // Credit before the first acknowledgement: 2/3 of a segment for flow 1, which joined as one of two, and 3/3 for flow
    // 2, one of three. Each acknowledgement adds 1/3 to both, and lets one segment out at most.
    assert_eq!(clocked_out(&rig), [2, 1, 2, 1, 2, 1, 2, 1]);
}

#[test]
fn a_clock_without_acknowledgements_for_a_round_trip_ends_with_an_initial_window() {
    let mut rig = Rig::sharing(Config::default(), 60.0, &[1.0]);
    rig.join(1, 1.0, window(10.0, f64::INFINITY));
    let due = rig.coupler.next_timeout().unwrap();
    assert_eq!(due, rig.now + RTT);
    rig.coupler.on_timeout(due - TimeDelta::from_millis(1));
    rig.apply();
    assert_eq!(rig.cwnd(1), 1.0);
    rig.coupler.on_timeout(due);
    rig.apply();
    assert_eq!((rig.cwnd(1), rig.coupler.next_timeout()), (10.0, None));
    assert!(clocked_out(&rig).is_empty());
}

#[test]
fn without_others_in_flight_there_is_no_clock() {
    let mut rig = Rig::sharing(Config::default(), 60.0, &[1.0]);
    let stays = rig.windows[&0];
    rig.report_window(0, WindowEvent::Idle, stays);
    rig.join(1, 1.0, window(10.0, f64::INFINITY));
    assert_eq!((rig.cwnd(1), rig.coupler.next_timeout()), (10.0, None));
}

#[test]
fn a_reduction_meanwhile_shortens_the_clock() {
    let mut rig = Rig::sharing(Config::default(), 40.0, &[1.0]);
    rig.join(1, 1.0, window(10.0, f64::INFINITY));
    for _ in 0..10 {
        rig.ack(0);
    }
    assert_eq!(clocked_out(&rig).len(), 5);
    rig.enter_recovery(0);
    rig.leave_recovery(0, 17.0);
    // Half is 20: of its ten segments five are out.
    for _ in 0..40 {
        rig.ack(0);
    }
    assert_eq!((clocked_out(&rig).len(), rig.cwnd(0)), (10, 10.0));
}

#[test]
fn loss_timeout_or_idleness_of_the_newcomer_stops_its_clock() {
    for event in [WindowEvent::RecoveryEntered, WindowEvent::TimedOut, WindowEvent::Idle] {
        let mut rig = Rig::sharing(Config::default(), 40.0, &[1.0]);
        rig.join(1, 1.0, window(10.0, f64::INFINITY));
        rig.ack(0);
        rig.event(1, event, 1.0);
        assert_eq!(rig.coupler.next_timeout(), None, "{event:?}");
        rig.actions.clear();
        (0..10).for_each(|_| rig.ack(0));
        assert!(clocked_out(&rig).is_empty(), "{event:?}");
    }
}

#[test]
fn a_flow_that_was_idle_regains_its_share_by_the_clock() {
    let mut rig = Rig::sharing(Config::default(), 60.0, &[1.0, 1.0]);
    let stays = rig.windows[&1];
    rig.report_window(1, WindowEvent::Idle, stays);
    for _ in 0..4 {
        rig.wait(101);
        rig.ack(0);
    }
    assert_eq!((rig.share(0), rig.share(1)), (50.0, 10.0));
    // The transport has begun with the restart window.
    rig.windows.insert(1, window(10.0, 30.0));
    rig.ack(1);
    assert_eq!((rig.share(1), rig.cwnd(1)), (30.0, 10.0));
    for _ in 0..40 {
        rig.wait(2);
        rig.ack(0);
    }
    assert_eq!(clocked_out(&rig).len(), 20);
}

#[test]
fn a_great_rise_of_priority_is_clocked_out() {
    let mut rig = Rig::sharing(Config::default(), 40.0, &[3.0, 1.0]);
    assert_eq!((rig.cwnd(0), rig.cwnd(1)), (30.0, 10.0));
    rig.send_message(1, &CouplingMessage::FlowParameters(parameters(3.0)));
    for _ in 0..40 {
        rig.wait(2);
        rig.ack(0);
    }
    assert_eq!((clocked_out(&rig).len(), rig.cwnd(0)), (10, 20.0));
}
