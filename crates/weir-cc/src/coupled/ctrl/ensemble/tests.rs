//! The common part of E-TCP, EFCM and RFC 2140 (`coupled::ctrl::ensemble`).

use weir_units::{DataRate, DataSize};

use super::test_support::{join, send_message, update_of, window};
use super::*;
use crate::coupled::coupler::{Coupler, Refusal};
use crate::coupled::ctrl::ETcp;
use crate::decision::{ChangeReason, Decision};

/// Two flows with 20 segments of 1000 bytes together.
fn two() -> ETcp {
    let mut coupler = ETcp::new();
    send_message(&mut coupler, 0, &join(20.0, 8.0));
    assert_eq!(
        send_message(&mut coupler, 1, &join(10.0, 64.0)),
        [(0, window(10.0, 4.0)), (1, window(10.0, 4.0))]
    );
    coupler
}

fn report(coupler: &mut ETcp, flow: u32, message: &CouplingMessage) -> Result<(), Refusal> {
    coupler.on_message(SendTime::ZERO, FlowId(flow), message)
}

fn actions(coupler: &mut ETcp) -> Vec<(u32, CouplerAction)> {
    core::iter::from_fn(|| coupler.poll_action()).map(|(FlowId(flow), action)| (flow, action)).collect()
}

/// An update of a flow whose window is `cwnd` segments.
fn update(cwnd: f64) -> CouplingMessage {
    let rate = DataRate::from_kbps(300);
    let window = Window { cwnd, ssthresh: f64::INFINITY };
    CouplingMessage::Update(Update {
        decision: Decision { rate, base: rate, why: ChangeReason::Growth, rtt: None },
        window: Some(Windowed { window, segment: DataSize::from_bytes(1000), base_rtt: None }),
        epoch: 0,
        has_feedback: true,
    })
}

#[test]
fn the_aggregate_is_the_sum_of_windows_in_bytes() {
    let coupler = two();
    assert_eq!(coupler.aggregate(FlowId(1)), Some(Aggregate { group: 0, sum: 20e3 }));
    assert_eq!(coupler.aggregate(FlowId(2)), None, "no flow has this number");
}

#[test]
fn the_window_of_an_update_is_divided_and_an_impossible_one_is_refused() {
    let mut coupler = two();
    // In congestion avoidance two segments more of one are one more of both together.
    assert_eq!(report(&mut coupler, 0, &update(12.0)), Ok(()));
    assert_eq!(actions(&mut coupler), [(0, window(10.5, 4.0))]);
    for none in [0.0, -1.0, f64::INFINITY, f64::NAN] {
        assert_eq!(report(&mut coupler, 0, &update(none)), Err(Refusal::Amount(FlowId(0))), "{none}");
        assert_eq!(
            actions(&mut coupler),
            [(0, window(10.5, 4.0))],
            "a refused update is answered with the present window"
        );
    }
}

#[test]
fn impossible_windows_are_refused_and_timeouts_answered() {
    let mut coupler = two();
    let sound = Window { cwnd: 10.0, ssthresh: 4.0 };
    for none in [
        Window { cwnd: -1.0, ..sound },
        Window { cwnd: f64::INFINITY, ..sound },
        Window { ssthresh: -1.0, ..sound },
        Window { ssthresh: f64::NAN, ..sound },
    ] {
        for (before, after) in [(none, sound), (sound, none)] {
            let result = report(&mut coupler, 1, &update_of(WindowEvent::Acknowledged, before, after));
            assert_eq!((result, actions(&mut coupler)), (Err(Refusal::Amount(FlowId(1))), Vec::new()));
        }
    }
    let none = Window { cwnd: f64::NAN, ..sound };
    assert!(report(&mut coupler, 1, &update_of(WindowEvent::TimedOut, none, sound)).is_err());
    assert_eq!(actions(&mut coupler), [(1, CouplerAction::Reduce)]);
    assert_eq!(coupler.aggregate(FlowId(0)).map(|own| own.sum), Some(20e3), "the aggregate has not changed");
}

#[test]
fn a_flow_that_withdraws_takes_its_window_along() {
    let mut coupler = two();
    assert_eq!(send_message(&mut coupler, 0, &CouplingMessage::Withdraw), [(1, window(10.0, 8.0))]);
    assert_eq!(coupler.aggregate(FlowId(1)).map(|own| own.sum), Some(10e3));
}

#[test]
fn after_a_timeout_or_recovery_windows_are_sent_at_once_again() {
    let after_recovery = |end: Option<WindowEvent>| {
        let mut coupler = two();
        let (before, half) = (Window { cwnd: 10.0, ssthresh: 4.0 }, Window { cwnd: 5.0, ssthresh: 5.0 });
        send_message(&mut coupler, 0, &update_of(WindowEvent::RecoveryEntered, before, half));
        if let Some(event) = end {
            send_message(&mut coupler, 0, &update_of(event, half, half));
        }
        // Two segments more of one are one more of both, which have 10 together after the loss.
        let grown = Window { cwnd: 7.0, ..half };
        let actions = send_message(&mut coupler, 0, &update_of(WindowEvent::Acknowledged, half, grown));
        actions.into_iter().filter(|(flow, _)| *flow == 0).collect::<Vec<_>>()
    };
    assert_eq!(after_recovery(None), [], "a flow in recovery gets no window");
    for ends in [WindowEvent::TimedOut, WindowEvent::RecoveryLeft] {
        assert_eq!(after_recovery(Some(ends)), [(0, window(5.5, 5.0))], "{ends:?}");
    }
}
