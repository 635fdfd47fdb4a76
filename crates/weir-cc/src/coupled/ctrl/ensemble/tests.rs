use weir_units::{DataRate, DataSize};

use super::test_support::{join, news, tell, window};
use super::*;
use crate::coupled::ctrl::ETcp;
use crate::coupled::message::Windowed;
use crate::decision::{ChangeReason, Decision};

/// Two flows with 20 segments of 1000 bytes together.
fn two() -> ETcp {
    let mut coupler = ETcp::new();
    tell(&mut coupler, 0, &join(20.0, 8.0));
    assert_eq!(tell(&mut coupler, 1, &join(10.0, 64.0)), [(0, window(10.0, 4.0)), (1, window(10.0, 4.0))]);
    coupler
}

fn say(coupler: &mut ETcp, flow: u32, word: &CouplingMessage) -> Result<(), Refusal> {
    coupler.on_message(SendTime::ZERO, FlowId(flow), word)
}

fn orders(coupler: &mut ETcp) -> Vec<(u32, CouplerAction)> {
    core::iter::from_fn(|| coupler.poll_action()).map(|(FlowId(flow), order)| (flow, order)).collect()
}

fn update(cwnd: f64) -> CouplingMessage {
    let rate = DataRate::from_kbps(300);
    let window = Window { cwnd, ssthresh: f64::INFINITY };
    CouplingMessage::Update(Update {
        decision: Decision { rate, base: rate, why: ChangeReason::Growth, rtt: None },
        window: Some(Windowed { window, segment: DataSize::from_bytes(1000), base_rtt: None }),
        epoch: 0,
        heard: true,
    })
}

#[test]
fn the_aggregate_is_the_sum_of_windows_in_bytes() {
    let coupler = two();
    assert_eq!(coupler.aggregate(FlowId(1)), Some(Aggregate { group: 0, sum: 20e3 }));
    assert_eq!(coupler.aggregate(FlowId(2)), None, "nobody of that number");
}

#[test]
fn a_window_that_is_told_beside_a_rate_is_divided_and_one_that_is_none_is_refused() {
    let mut coupler = two();
    // In congestion avoidance two segments more of one are one more of both together.
    assert_eq!(say(&mut coupler, 0, &update(12.0)), Ok(()));
    assert_eq!(orders(&mut coupler), [(0, window(10.5, 4.0))]);
    for none in [0.0, -1.0, f64::INFINITY, f64::NAN] {
        assert_eq!(say(&mut coupler, 0, &update(none)), Err(Refusal::Amount(FlowId(0))), "{none}");
        assert_eq!(orders(&mut coupler), [(0, window(10.5, 4.0))], "it hears what holds");
    }
}

#[test]
fn news_of_windows_that_are_none_are_refused_and_timeouts_answered() {
    let mut coupler = two();
    let sound = Window { cwnd: 10.0, ssthresh: 4.0 };
    for none in [
        Window { cwnd: -1.0, ..sound },
        Window { cwnd: f64::INFINITY, ..sound },
        Window { ssthresh: -1.0, ..sound },
        Window { ssthresh: f64::NAN, ..sound },
    ] {
        for (before, after) in [(none, sound), (sound, none)] {
            let told = say(&mut coupler, 1, &news(WindowEvent::Acknowledged, before, after));
            assert_eq!((told, orders(&mut coupler)), (Err(Refusal::Amount(FlowId(1))), Vec::new()));
        }
    }
    let none = Window { cwnd: f64::NAN, ..sound };
    assert!(say(&mut coupler, 1, &news(WindowEvent::TimedOut, none, sound)).is_err());
    assert_eq!(orders(&mut coupler), [(1, CouplerAction::Reduce)]);
    assert_eq!(coupler.aggregate(FlowId(0)).map(|own| own.sum), Some(20e3), "and nothing has changed");
}

#[test]
fn who_goes_on_by_itself_takes_its_window_along() {
    let mut coupler = two();
    assert_eq!(tell(&mut coupler, 0, &CouplingMessage::Withdraw), [(1, window(10.0, 8.0))]);
    assert_eq!(coupler.aggregate(FlowId(1)).map(|own| own.sum), Some(10e3));
}

#[test]
fn a_timeout_ends_recovery_and_windows_are_ordered_at_once_again() {
    let after_recovery = |told: Option<WindowEvent>| {
        let mut coupler = two();
        let (before, half) = (Window { cwnd: 10.0, ssthresh: 4.0 }, Window { cwnd: 5.0, ssthresh: 5.0 });
        tell(&mut coupler, 0, &news(WindowEvent::RecoveryEntered, before, half));
        if let Some(told) = told {
            tell(&mut coupler, 0, &news(told, half, half));
        }
        // Two segments more of one are one more of both, which have 10 together after the loss.
        let grown = Window { cwnd: 7.0, ..half };
        let orders = tell(&mut coupler, 0, &news(WindowEvent::Acknowledged, half, grown));
        orders.into_iter().filter(|(flow, _)| *flow == 0).collect::<Vec<_>>()
    };
    assert_eq!(after_recovery(None), [], "in recovery it is told with its next word");
    for ends in [WindowEvent::TimedOut, WindowEvent::RecoveryLeft] {
        assert_eq!(after_recovery(Some(ends)), [(0, window(5.5, 5.0))], "{ends:?}");
    }
}
