//! Flows that join, leave, change their parameters, and do not use their shares.

use super::*;
use crate::coupled::Refusal;
use crate::coupled::ctrl::Tenants;

/// Each flow uses all its window and is acknowledged once in each of `rounds` round trips.
fn use_all(rig: &mut Rig, flows: &[u32], rounds: u32) {
    for _ in 0..rounds {
        rig.wait(101);
        for &flow in flows {
            rig.ack(flow);
        }
    }
}

#[test]
fn a_newcomer_comes_to_its_share_by_its_own_acknowledgements() {
    let mut rig = Rig::sharing(ramped(), 60.0, &[1.0]);
    rig.join(1, 1.0, window(10.0, f64::INFINITY));
    assert_eq!((rig.share(1), rig.cwnd(1)), (30.0, 10.0));
    let windows: Vec<f64> = (0..8)
        .map(|_| {
            rig.ack(1);
            rig.cwnd(1)
        })
        .collect();
    assert_eq!(windows, [13.0, 16.0, 19.0, 22.0, 25.0, 28.0, 30.0, 30.0]);
}

#[test]
fn a_leaving_flow_gives_its_share_to_the_others_in_order() {
    let mut rig = Rig::sharing(ramped(), 30.0, &[1.0, 1.0, 1.0]);
    rig.send_message(0, &CouplingMessage::Leave);
    assert_eq!((rig.share(1), rig.share(2), rig.cwnd(1)), (15.0, 15.0, 10.0));
    assert_eq!(rig.coupler.coordinator(), Some(FlowId(1)));
    let windows = [0; 3].map(|_| {
        rig.ack(1);
        rig.cwnd(1)
    });
    assert_eq!(windows, [13.0, 15.0, 15.0]);
    rig.send_message(2, &CouplingMessage::Pause);
    for _ in 0..6 {
        rig.ack(1);
    }
    // The last flow has all, and is on its own.
    assert_eq!(rig.cwnd(1), 30.0);
    rig.event(1, WindowEvent::Acknowledged, 12.0);
    assert_eq!((rig.cwnd(1), rig.share(1)), (12.0, 12.0));
}

#[test]
fn a_withdrawn_flow_keeps_its_share() {
    let mut rig = Rig::sharing(ramped(), 30.0, &[1.0, 1.0, 1.0]);
    rig.send_message(0, &CouplingMessage::Withdraw);
    rig.windows.remove(&0);
    assert_eq!((rig.sum(), rig.share(1), rig.share(2)), (20.0, 10.0, 10.0));
}

#[test]
fn the_reduction_of_a_flow_that_leaves_in_recovery_stays() {
    let mut rig = Rig::sharing(ramped(), 20.0, &[1.0, 1.0]);
    rig.enter_recovery(0);
    rig.send_message(0, &CouplingMessage::Leave);
    assert_eq!(rig.share(1), 10.0);
    assert!(!rig.coupler.in_loss_event(rig.now));
    assert_eq!(rig.coupler.coordinator(), Some(FlowId(1)));
}

#[test]
fn another_group_begins_when_all_have_left() {
    let mut rig = Rig::sharing(ramped(), 20.0, &[1.0]);
    rig.send_message(0, &CouplingMessage::Leave);
    assert_eq!((rig.coupler.coordinator(), rig.threshold()), (None, None));
    rig.join(0, 1.0, window(10.0, f64::INFINITY));
    assert_eq!(rig.sum(), 10.0);
}

#[test]
fn a_priority_takes_effect_at_each_flows_next_acknowledgement() {
    let mut rig = Rig::sharing(ramped(), 12.0, &[1.0, 1.0]);
    rig.send_message(1, &CouplingMessage::FlowParameters(parameters(3.0)));
    assert_eq!((rig.share(0), rig.share(1), rig.cwnd(0), rig.cwnd(1)), (3.0, 9.0, 6.0, 6.0));
    rig.ack(0);
    rig.ack(1);
    assert_eq!((rig.cwnd(0), rig.cwnd(1)), (3.0, 9.0));
}

#[test]
fn flows_of_a_tenant_share_its_weight_however_many_they_are() {
    let tenants = Tenants::none().with(1.0, [FlowId(0)]).unwrap().with(1.0, [FlowId(1), FlowId(2)]).unwrap();
    let mut rig = Rig::of(CtrlTcp::for_tenants(ramped(), tenants).unwrap());
    rig.join(0, 1.0, window(24.0, 1.0));
    rig.join(1, 1.0, window(10.0, f64::INFINITY));
    assert_eq!((rig.share(0), rig.share(1)), (12.0, 12.0));
    rig.join(2, 2.0, window(10.0, f64::INFINITY));
    assert!([(0, 12.0), (1, 4.0), (2, 8.0)].into_iter().all(|(flow, share)| close(rig.share(flow), share)));
    rig.send_message(2, &CouplingMessage::Leave);
    assert_eq!((rig.share(0), rig.share(1)), (12.0, 12.0));
}

#[test]
fn a_flow_that_uses_less_than_half_of_its_share_yields_the_rest() {
    let mut rig = Rig::sharing(ramped(), 80.0, &[1.0, 1.0]);
    use_all(&mut rig, &[0, 1], 2);
    for _ in 0..3 {
        rig.wait(101);
        rig.ack(0);
        // Eight segments in flight, of 40.
        let stays = rig.windows[&1];
        let cwnd_update =
            CwndUpdate { flight: 7.0, window_limited: false, ..update_of(WindowEvent::Acknowledged, stays) };
        rig.send_message(1, &CouplingMessage::Window(cwnd_update));
    }
    // 1.5 · 8.
    assert_eq!((rig.share(1), rig.share(0)), (12.0, 68.0));
    use_all(&mut rig, &[0, 1], 3);
    assert_eq!((rig.share(1), rig.share(0)), (40.0, 40.0));
}

#[test]
fn a_coordinator_that_does_not_use_its_share_hands_over() {
    let mut rig = Rig::sharing(ramped(), 80.0, &[1.0, 1.0]);
    use_all(&mut rig, &[0, 1], 2);
    assert_eq!(rig.coupler.coordinator(), Some(FlowId(0)));
    for _ in 0..3 {
        rig.wait(101);
        rig.ack(1);
        let stays = rig.windows[&0];
        let cwnd_update =
            CwndUpdate { flight: 7.0, window_limited: false, ..update_of(WindowEvent::Acknowledged, stays) };
        rig.send_message(0, &CouplingMessage::Window(cwnd_update));
    }
    assert_eq!(rig.coupler.coordinator(), Some(FlowId(1)));
}

#[test]
fn a_coordinator_that_is_silent_for_two_round_trips_hands_over() {
    let mut rig = Rig::sharing(ramped(), 20.0, &[1.0, 1.0]);
    use_all(&mut rig, &[1], 1);
    assert_eq!(rig.coupler.coordinator(), Some(FlowId(0)));
    use_all(&mut rig, &[1], 1);
    assert_eq!(rig.coupler.coordinator(), Some(FlowId(1)));
}

#[test]
fn an_idle_coordinator_is_replaced() {
    let mut rig = Rig::sharing(ramped(), 20.0, &[1.0, 1.0]);
    let stays = rig.windows[&0];
    rig.report_window(0, WindowEvent::Idle, stays);
    assert_eq!(rig.coupler.coordinator(), Some(FlowId(1)));
}

#[test]
fn the_aggregate_does_not_grow_by_a_coordinator_that_its_application_limits() {
    let mut rig = Rig::sharing(ramped(), 20.0, &[1.0, 1.0]);
    let (before, after) = (rig.windows[&0], window(10.1, 1.0));
    let cwnd_update =
        CwndUpdate { window_limited: false, ..update_between(WindowEvent::Acknowledged, before, after) };
    rig.send_message(0, &CouplingMessage::Window(cwnd_update));
    assert_eq!((rig.sum(), rig.cwnd(0)), (20.0, 10.0));
}

#[test]
fn by_rates_a_window_is_as_long_as_its_path() {
    // Rates alike: of 30 segments a path twice as long has 20. A segment more of it in 200 ms is half of one in 100 ms,
    // and of the aggregate, whose paths are 150 ms on average, 3/4.
    let mut rig = Rig::new(Config { by_rates: true, ..ramped() });
    rig.join(0, 1.0, window(30.0, 1.0));
    rig.join(1, 1.0, window(10.0, f64::INFINITY));
    let far = |rig: &Rig, cwnd: f64| {
        let (before, after) = (rig.windows[&1], Window { cwnd, ..rig.windows[&1] });
        let base_rtt = Some(TimeDelta::from_millis(200));
        CouplingMessage::Window(CwndUpdate {
            base_rtt,
            ..update_between(WindowEvent::Acknowledged, before, after)
        })
    };
    for _ in 0..9 {
        let message = far(&rig, rig.cwnd(1));
        rig.send_message(1, &message);
        rig.ack(0);
    }
    assert!(close(rig.cwnd(0), 10.0) && close(rig.cwnd(1), 20.0), "{:?}", rig.windows);
    rig.enter_recovery(1);
    rig.leave_recovery(1, 10.0);
    assert!(close(rig.sum(), 15.0), "{}", rig.sum());
    let message = far(&rig, rig.cwnd(1) + 1.0);
    rig.send_message(1, &message);
    assert!(close(rig.sum(), 15.75), "{}", rig.sum());
}

#[test]
fn implausible_messages_are_refused_with_the_reason() {
    let mut rig = Rig::sharing(ramped(), 20.0, &[1.0]);
    let mut refusal = |flow, message: &CouplingMessage| {
        rig.coupler.on_message(SendTime::ZERO, FlowId(flow), message).unwrap_err()
    };
    let sound = window(10.0, 5.0);
    assert_eq!(refusal(0, &join(1.0, sound)), Refusal::JoinedAlready(FlowId(0)));
    assert_eq!(refusal(1, &join(0.0, sound)), Refusal::Priority(FlowId(1)));
    assert_eq!(refusal(1, &join(1.0, window(f64::NAN, 5.0))), Refusal::Amount(FlowId(1)));
    assert_eq!(refusal(1, &CouplingMessage::Leave), Refusal::UnknownFlow(FlowId(1)));
    assert_eq!(
        refusal(0, &CouplingMessage::FlowParameters(parameters(f64::INFINITY))),
        Refusal::Priority(FlowId(0))
    );
    let CouplingMessage::Join(join) = join(1.0, sound) else { unreachable!() };
    assert_eq!(refusal(1, &CouplingMessage::Join(Join { window: None, ..join })), Refusal::Kind(FlowId(1)));
}

#[test]
fn the_leader_of_the_sum_stays_though_another_is_acknowledged_more() {
    let mut rig = Rig::sharing(ramped(), 20.0, &[1.0, 1.0]);
    assert_eq!(rig.coupler.coordinator(), Some(FlowId(0)));
    for _ in 0..5 {
        rig.wait(101);
        for flow in [1, 1, 0, 1, 1] {
            rig.ack(flow);
        }
        assert_eq!(rig.coupler.coordinator(), Some(FlowId(0)));
    }
}

#[test]
fn the_sum_falls_in_the_proportion_of_its_leaders_window() {
    let mut rig = Rig::sharing(ramped(), 20.0, &[1.0, 1.0]);
    rig.event(0, WindowEvent::Acknowledged, 8.0);
    assert!(close(rig.sum(), 16.0), "{}", rig.sum());
}

#[test]
fn by_rates_a_flow_without_a_round_trip_time_has_the_mean_of_the_others() {
    let mut rig = Rig::new(Config { by_rates: true, ..ramped() });
    let join = |base_rtt: Option<i64>| {
        let CouplingMessage::Join(mut join) = join(1.0, window(20.0, 10.0)) else { unreachable!() };
        let windowed = join.window.as_mut().unwrap();
        windowed.base_rtt = base_rtt.map(TimeDelta::from_millis);
        CouplingMessage::Join(join)
    };
    for (flow, base_rtt) in [(0, Some(40)), (1, Some(80)), (2, None)] {
        rig.windows.insert(flow, window(20.0, 10.0));
        rig.send_message(flow, &join(base_rtt));
    }
    // 40 : 80 : 60 of 20 segments.
    for (flow, part) in [(0, 40.0), (1, 80.0), (2, 60.0)] {
        assert!(close(rig.share(flow), 20.0 * part / 180.0), "{flow}: {}", rig.share(flow));
    }
}
