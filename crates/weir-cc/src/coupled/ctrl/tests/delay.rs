//! Delay-based controllers, alone and with TCPs.

use super::*;
use crate::coupled::Update;
use crate::coupled::ctrl::CoordinatorSelection;
use crate::decision::{ChangeReason, Decision};

/// A controller's decision that takes its window from the present value to `cwnd`.
fn update(rig: &mut Rig, flow: u32, cwnd: f64, why: ChangeReason) {
    let before = rig.cwnd(flow);
    let rate = |cwnd: f64| DataRate::from_bps_f64(cwnd * MSS * 8.0 / 0.1);
    let decision = Decision { rate: rate(cwnd), base: rate(before), why, rtt: Some(RTT) };
    let segment = DataSize::from_bytes(1000);
    let windowed = Windowed { window: window(cwnd, f64::INFINITY), segment, base_rtt: Some(RTT) };
    rig.windows.insert(flow, windowed.window);
    rig.send_message(
        flow,
        &CouplingMessage::Update(Update { decision, window: Some(windowed), epoch: 0, has_feedback: true }),
    );
}

/// Delay-based flows at their shares of 20 segments, of which flow 0 coordinates.
fn ledbats() -> Rig {
    let mut rig = Rig::sharing(ramped(), 20.0, &[1.0, 1.0]);
    for flow in [0, 1] {
        let cwnd = rig.cwnd(flow);
        update(&mut rig, flow, cwnd, ChangeReason::Delay);
    }
    rig
}

#[test]
fn the_coordinators_steps_are_additive_in_both_directions() {
    let mut rig = ledbats();
    update(&mut rig, 0, 10.5, ChangeReason::Delay);
    assert!(close(rig.sum(), 20.5) && close(rig.cwnd(0), 10.25));
    let lower = rig.cwnd(0) - 0.5;
    update(&mut rig, 0, lower, ChangeReason::Delay);
    assert!(close(rig.sum(), 20.0) && close(rig.cwnd(0), 10.0));
    update(&mut rig, 1, 12.0, ChangeReason::Delay);
    assert!(close(rig.sum(), 20.0) && close(rig.cwnd(1), 10.0));
}

#[test]
fn a_loss_halves_the_aggregate_once_in_a_round_trip() {
    let mut rig = ledbats();
    update(&mut rig, 1, 5.0, ChangeReason::Loss);
    assert!(close(rig.sum(), 10.0) && close(rig.cwnd(1), 5.0));
    rig.wait(99);
    update(&mut rig, 0, 5.0, ChangeReason::Loss);
    assert!(close(rig.sum(), 10.0) && close(rig.cwnd(0), 5.0));
    rig.wait(1);
    update(&mut rig, 0, 2.5, ChangeReason::Loss);
    assert!(close(rig.sum(), 5.0));
}

#[test]
fn missing_feedback_of_one_flow_is_no_congestion_while_another_gets_some() {
    let mut rig = ledbats();
    rig.wait(150);
    let stays = rig.cwnd(1);
    update(&mut rig, 1, stays, ChangeReason::Delay);
    update(&mut rig, 0, 1.0, ChangeReason::Timeout);
    assert!(close(rig.sum(), 20.0) && close(rig.cwnd(0), 10.0));
    rig.wait(150);
    update(&mut rig, 0, 1.0, ChangeReason::Timeout);
    assert!(close(rig.sum(), 10.0));
}

#[test]
fn a_connection_is_always_answered_and_alone_with_its_own_window() {
    let mut rig = Rig::sharing(ramped(), 20.0, &[1.0]);
    let windowed =
        Windowed { window: window(0.3, 0.7), segment: DataSize::from_bytes(1200), base_rtt: Some(RTT) };
    let rate = DataRate::from_kbps(77);
    let decision = Decision { rate, base: rate, why: ChangeReason::Delay, rtt: Some(RTT) };
    for cwnd in [7.123_456_789, 1e-3 + 20.0] {
        let windowed = Windowed { window: Window { cwnd, ..windowed.window }, ..windowed };
        let message = CouplingMessage::Update(Update {
            decision,
            window: Some(windowed),
            epoch: 0,
            has_feedback: true,
        });
        rig.coupler.on_message(rig.now, FlowId(0), &message).unwrap();
        let action = rig.coupler.poll_action();
        assert!(
            matches!(action, Some((FlowId(0), CouplerAction::Window(window))) if window.cwnd == cwnd),
            "{action:?}"
        );
    }
    let message = CouplingMessage::Update(Update { decision, window: None, epoch: 0, has_feedback: true });
    assert!(rig.coupler.on_message(rig.now, FlowId(0), &message).is_err());
    assert!(rig.coupler.poll_action().is_some());
    assert!(rig.coupler.on_message(rig.now, FlowId(9), &message).is_err());
    assert_eq!(rig.coupler.poll_action(), Some((FlowId(9), CouplerAction::Uncoupled)));
}

/// A TCP, flow 0, and a LEDBAT, flow 1, at their shares of 20 segments.
fn tcp_and_ledbat(lead: CoordinatorSelection) -> Rig {
    let mut rig = Rig::sharing(Config { lead, ..ramped() }, 20.0, &[1.0, 1.0]);
    let cwnd = rig.cwnd(1);
    update(&mut rig, 1, cwnd, ChangeReason::Delay);
    rig
}

#[test]
fn delay_leads_a_tcp_does_not_grow_but_its_losses_count() {
    let mut rig = tcp_and_ledbat(CoordinatorSelection::Delay);
    assert_eq!(rig.coupler.coordinator(), Some(FlowId(1)));
    rig.event(0, WindowEvent::Acknowledged, 10.1);
    assert!(close(rig.sum(), 20.0) && close(rig.cwnd(0), 10.0));
    update(&mut rig, 1, 9.5, ChangeReason::Delay);
    assert!(close(rig.sum(), 19.5));
    rig.enter_recovery(0);
    assert_eq!(rig.coupler.coordinator(), Some(FlowId(1)));
    rig.leave_recovery(0, 5.0);
    assert!(close(rig.sum(), 9.75), "{}", rig.sum());
}

#[test]
fn a_tcp_coordinates_where_no_delay_based_flow_is_active() {
    let mut rig = tcp_and_ledbat(CoordinatorSelection::Delay);
    for _ in 0..3 {
        rig.wait(101);
        rig.ack(0);
    }
    assert_eq!(rig.coupler.coordinator(), Some(FlowId(0)));
    let cwnd = rig.cwnd(1);
    update(&mut rig, 1, cwnd, ChangeReason::Delay);
    assert_eq!(rig.coupler.coordinator(), Some(FlowId(1)));
}

#[test]
fn sum_all_everyones_step_counts_by_its_part() {
    let mut rig = tcp_and_ledbat(CoordinatorSelection::All);
    rig.event(0, WindowEvent::Acknowledged, 10.5);
    assert!(close(rig.sum(), 20.25) || close(rig.sum(), 20.5), "{}", rig.sum());
    let (sum, cwnd) = (rig.sum(), rig.cwnd(1));
    update(&mut rig, 1, cwnd - 1.0, ChangeReason::Delay);
    assert!(close(rig.sum(), sum - 0.5), "{}", rig.sum());
}
