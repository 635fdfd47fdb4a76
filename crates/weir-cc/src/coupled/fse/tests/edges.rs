//! Edge cases: impossible, missing and late messages.

use super::*;
use crate::coupled::fse::RefusedMessages;
use crate::coupled::message::{CwndUpdate, WindowEvent};
use crate::window::Window;

#[test]
fn implausible_messages_are_refused_counted_and_change_nothing() {
    let mut flows = Flows::at(Config::rfc8699_active(), &[(1.0, 1000.0), (1.0, 1000.0)]);
    let m = FlowId;
    for priority in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(
            flows.send_message(0, CouplingMessage::FlowParameters(greedy(priority))),
            Err(Refusal::Priority(m(0)))
        );
        assert_eq!(flows.send_message(7, join(greedy(priority), 300.0, 300.0)), Err(Refusal::Priority(m(7))));
    }
    assert_eq!(flows.send_message(7, join(greedy(1.0), 0.0, 300.0)), Err(Refusal::Amount(m(7))));
    assert_eq!(flows.send_message(7, join(greedy(1.0), 300.0, 0.0)), Err(Refusal::Amount(m(7))));
    assert_eq!(flows.send_message(1, join(greedy(1.0), 300.0, 300.0)), Err(Refusal::JoinedAlready(m(1))));
    for message in
        [CouplingMessage::Pause, CouplingMessage::Leave, CouplingMessage::FlowParameters(greedy(1.0))]
    {
        assert_eq!(flows.send_message(7, message), Err(Refusal::UnknownFlow(m(7))));
    }
    assert_eq!(flows.fse.set_group(m(7), Some(1)), Err(Refusal::UnknownFlow(m(7))));
    let refused = RefusedMessages { unknown_flow: 3, joined_already: 1, priority: 8, amount: 2, kind: 0 };
    assert_eq!(flows.fse.refused(), refused);
    flows.grows(0, 1000.0).are(2000.0, &[1000.0, 1000.0]);
}

#[test]
fn an_implausible_message_is_answered_with_the_share() {
    let mut flows = Flows::at(Config::rfc8699_active(), &[(1.0, 1000.0), (1.0, 1000.0)]);
    flows.send_message(1, join(greedy(1.0), 300.0, 300.0)).unwrap_err();
    assert_eq!(flows.actions, [(1, CouplerAction::Rate { rate: kbps(1000.0), epoch: 1 })]);
}

#[test]
fn a_rate_of_zero_is_the_least_rate() {
    let mut flows = Flows::at(Config::rfc8699_conservative(), &[(1.0, 1000.0), (1.0, 1000.0)]);
    // 10 of 1000 would be a hundredth; one update leaves a tenth.
    flows.loses(0, 0.0).are(200.0, &[100.0, 100.0]);
    let mut flows = Flows::new(Config { smallest_cut: 0.0, ..Config::rfc8699_conservative() });
    flows.joins(FlowParameters { least: kbps(50.0), ..greedy(1.0) }, 1000.0);
    flows.joins(greedy(1.0), 1000.0);
    flows.loses(0, 0.0).are(100.0, &[50.0, 50.0]);
}

#[test]
fn a_base_of_zero_is_an_increase() {
    let mut flows = Flows::at(Config::rfc8699_conservative(), &[(1.0, 1000.0), (1.0, 1000.0)]);
    flows.computes_from(0, 0.0, 0, 100.0, ChangeReason::Loss).are(2100.0, &[1050.0, 1050.0]);
}

#[test]
fn one_update_leaves_a_tenth_of_the_sum_but_for_missing_feedback() {
    for config in [Config::rfc8699_active(), Config::rfc8699_conservative()] {
        let mut flows = Flows::at(config, &[(1000.0, 100_000.0), (1.0, 100.0)]);
        flows.loses(0, 50.0).shared_among(&[(0, 10_000.0)], 10_010.0);
        let mut flows = Flows::at(config, &[(1000.0, 100_000.0), (1.0, 100.0)]);
        flows.at_ms(3000).computes(0, 50.0, ChangeReason::Timeout);
        assert!(flows.fse.aggregate(FlowId(0)).unwrap().sum < 200e3);
    }
}

#[test]
fn minimum_rates_go_first_and_a_low_aggregate_is_an_overload() {
    for config in [Config::rtp_2014_conservative(), Config::rfc8699_conservative()] {
        let mut flows = Flows::new(config);
        for least in [300.0, 100.0] {
            flows.joins(FlowParameters { least: kbps(least), ..greedy(1.0) }, 500.0);
        }
        flows.loses(0, 250.0).are(600.0, &[300.0, 300.0]);
        assert!(!flows.fse.is_overloaded(FlowId(0)));
        flows.at_ms(1000).loses(1, 250.0).are(500.0, &[300.0, 200.0]);
        flows.at_ms(2000).loses(1, 100.0).are(400.0, &[300.0, 100.0]);
        assert!(flows.fse.is_overloaded(FlowId(1)));
        flows.at_ms(3000).grows(1, 200.0).are(500.0, &[300.0, 200.0]);
        assert!(!flows.fse.is_overloaded(FlowId(1)));
    }
}

#[test]
fn a_desired_rate_below_the_least_is_the_least() {
    let mut flows = Flows::new(Config::rfc8699_active());
    flows.joins(FlowParameters { least: kbps(200.0), ..wanting(1.0, 50.0) }, 500.0);
    flows.joins(greedy(1.0), 500.0);
    flows.grows(1, 600.0).are(1100.0, &[200.0, 900.0]);
}

#[test]
fn the_order_of_updates_of_one_instant_makes_no_difference_to_algorithm_1() {
    for sequence in [[0, 1], [1, 0]] {
        let mut flows = Flows::at(Config::rfc8699_active(), &[(1.0, 2000.0), (1.0, 2000.0)]);
        for flow in sequence {
            // Both computed before either received the other's.
            let (rate, why) = [(3000.0, ChangeReason::Growth), (1250.0, ChangeReason::Loss)][flow as usize];
            flows.computes_from(flow, 2000.0, 0, rate, why);
        }
        flows.are(4250.0, &[2125.0, 2125.0]);
    }
}

#[test]
fn an_update_from_before_the_last_cut_is_answered_and_not_counted() {
    let config = Config { timer_rtts: 0.0, ..Config::rfc8699_conservative() };
    let mut flows = Flows::at(config, &[(1.0, 2000.0), (1.0, 2000.0)]);
    flows.loses(0, 1000.0).are(2000.0, &[1000.0, 1000.0]);
    // The action is still on its way to the other flow, which reports the same congestion.
    flows.at_ms(50).computes_from(1, 2000.0, 0, 1000.0, ChangeReason::Loss);
    flows.are(2000.0, &[1000.0, 1000.0]);
    assert_eq!(flows.ordered_to(), [1]);
    flows.at_ms(60).loses(1, 500.0).are(1000.0, &[500.0, 500.0]);
    // The flow that made the cut has taken no action since: it knows of the cut.
    flows.at_ms(70).computes_from(1, 500.0, 0, 600.0, ChangeReason::Growth);
    flows.are(1100.0, &[550.0, 550.0]);
}

#[test]
fn a_flow_at_its_share_gets_an_answer_without_a_new_rate() {
    let mut flows = Flows::at(Config::rfc8699_conservative(), &[(1.0, 2000.0), (1.0, 2000.0)]);
    flows.loses(0, 1000.0);
    assert_eq!(flows.ordered_to(), [1], "the first has halved by itself");
    flows.at_ms(100).grows(0, 1000.0);
    assert!(flows.actions.is_empty());
    assert_eq!(flows.acknowledged, [0], "flow 0 gets an answer");
}

#[test]
fn a_flow_that_has_not_applied_the_newest_action_gets_it_again() {
    let mut flows = Flows::at(Config::rfc8699_active(), &[(1.0, 2000.0), (1.0, 2000.0)]);
    flows.grows(0, 2200.0);
    // An action to 2100 is on its way while the flow comes to 2100 itself: then it is ordered to 2150.
    flows.computes_from(1, 2000.0, 0, 2100.0, ChangeReason::Growth).are(4300.0, &[2150.0, 2150.0]);
    flows.computes_from(1, 2150.0, 0, 2150.0, ChangeReason::Growth);
    assert_eq!(flows.ordered_to(), [1]);
}

#[test]
fn the_timer_of_a_flow_without_a_round_trip_time_takes_the_longest_known() {
    for (known, expiry) in [([Some(300), Some(50)], 600), ([None, Some(50)], 100), ([None, None], 200)] {
        let mut flows = Flows::at(Config::rfc8699_conservative(), &[(1.0, 1000.0); 3]);
        let compute = |flows: &mut Flows, flow: u32, (base, rate): (f64, f64), rtt: Option<i64>, why| {
            let decision =
                Decision { rate: kbps(rate), base: kbps(base), why, rtt: rtt.map(TimeDelta::from_millis) };
            let epoch = flows.taken[flow as usize].1;
            flows
                .send_message(
                    flow,
                    CouplingMessage::Update(Update { decision, window: None, epoch, has_feedback: true }),
                )
                .unwrap();
        };
        compute(&mut flows, 1, (1000.0, 1000.0), known[0], ChangeReason::Growth);
        compute(&mut flows, 2, (1000.0, 1000.0), known[1], ChangeReason::Growth);
        compute(&mut flows, 0, (1000.0, 500.0), None, ChangeReason::Loss);
        flows.at_ms(expiry - 1);
        compute(&mut flows, 1, (500.0, 800.0), known[0], ChangeReason::Growth);
        flows.shared_among(&[(0, 500.0), (1, 500.0), (2, 500.0)], 1500.0);
        flows.at_ms(expiry);
        compute(&mut flows, 1, (500.0, 800.0), known[0], ChangeReason::Growth);
        flows.shared_among(&[(0, 600.0), (1, 600.0), (2, 600.0)], 1800.0);
    }
}

#[test]
fn one_flow_is_coupled_with_no_other() {
    for config in all_forms() {
        let mut flows = Flows::at(config, &[(0.3, 300.0)]);
        let reasons = [
            ChangeReason::Loss,
            ChangeReason::Timeout,
            ChangeReason::Application,
            ChangeReason::Ceiling,
            ChangeReason::Growth,
        ];
        for (ms, rate) in [(0, 301.0), (10, 150.5), (20, 3.0), (30, 3000.0), (40, 12.3456)] {
            for why in reasons {
                flows.at_ms(ms).computes(0, rate, why);
                assert!(flows.actions.is_empty(), "{config:?}: {:?}", flows.actions);
                flows.are(rate, &[rate]);
            }
        }
    }
}

#[test]
fn one_limited_flow_gets_its_desired_rate() {
    for config in all_forms() {
        let mut flows = Flows::new(config);
        flows.joins(wanting(1.0, 500.0), 300.0);
        flows.grows(0, 400.0);
        assert_eq!(flows.taken[0].0, 400.0);
        flows.grows(0, 700.0);
        assert_eq!(flows.taken[0].0, 500.0, "{config:?}");
    }
}

#[test]
fn a_silent_flow_has_paused_and_its_next_update_brings_it_back() {
    let mut flows = Flows::at(Config::rfc8699_active(), &[(1.0, 300.0), (1.0, 300.0)]);
    flows.grows(0, 1000.0).are(1300.0, &[650.0, 650.0]);
    for ms in (0..=4900).step_by(100) {
        let present = flows.taken[0].0;
        flows.at_ms(ms).grows(0, present);
    }
    assert_eq!(flows.fse.next_timeout(), Some(SendTime::from_millis(5000)));
    flows.at_ms(4999).fse.on_timeout(SendTime::from_millis(4999));
    assert!(flows.fse.aggregate(FlowId(1)).is_some());
    flows.at_ms(5000).fse.on_timeout(SendTime::from_millis(5000));
    assert_eq!(flows.fse.aggregate(FlowId(1)), None);
    assert_eq!(flows.fse.next_timeout(), Some(SendTime::from_millis(9900)));
    // The others inherit its rate …
    flows.at_ms(5010).grows(0, 650.0).shared_among(&[(0, 1300.0)], 1300.0);
    // … and it comes back with its start rate and the increase of its controller.
    flows.at_ms(6000).grows(1, 660.0);
    flows.are(1610.0, &[805.0, 805.0]);
    assert_eq!(flows.fse.refused(), RefusedMessages::default());
}

#[test]
fn any_message_keeps_a_flow_alive_and_rare_updates_are_waited_for() {
    let mut flows = Flows::at(Config::rfc8699_active(), &[(1.0, 300.0), (1.0, 300.0)]);
    flows.at_ms(3000).send_message(1, CouplingMessage::FlowParameters(greedy(1.0))).unwrap();
    flows.at_ms(5500).fse.on_timeout(SendTime::from_millis(5500));
    assert_eq!(flows.fse.aggregate(FlowId(0)), None);
    assert!(flows.fse.aggregate(FlowId(1)).is_some());
    assert_eq!(flows.fse.next_timeout(), Some(SendTime::from_millis(8000)));

    // Each 3 s: the mean interval comes to 3 s · (1 − (7/8)^20) = 2.79 s, of which 20 are 55.8 s.
    let mut flows = Flows::at(Config::rfc8699_active(), &[(1.0, 300.0)]);
    for n in 0..=20 {
        flows.at_ms(3000 * n).grows(0, 300.0);
        flows.fse.on_timeout(flows.now);
    }
    flows.at_ms(60_000 + 55_000).fse.on_timeout(SendTime::from_millis(115_000));
    assert!(flows.fse.aggregate(FlowId(0)).is_some());
    flows.fse.on_timeout(SendTime::from_millis(60_000 + 56_000));
    assert_eq!(flows.fse.aggregate(FlowId(0)), None);
}

#[test]
fn a_flow_that_was_alone_and_silent_goes_on_as_it_was() {
    for config in all_forms() {
        let mut flows = Flows::at(config, &[(1.0, 300.0)]);
        flows.grows(0, 900.0);
        flows.at_ms(9000).fse.on_timeout(SendTime::from_millis(9000));
        assert_eq!(flows.fse.aggregate(FlowId(0)), None);
        flows.grows(0, 950.0).are(950.0, &[950.0]);
        assert!(flows.actions.is_empty(), "{config:?}");
    }
}

#[test]
fn orders_are_numbered_on_when_a_flow_comes_again() {
    let mut flows = Flows::at(Config::rfc8699_active(), &[(1.0, 1000.0), (1.0, 1000.0)]);
    for _ in 0..3 {
        flows.grows(0, 1100.0 + flows.taken[0].0);
        let newest = flows.taken[1].1;
        flows.send_message(1, CouplingMessage::Leave).unwrap();
        flows.send_message(1, join(greedy(1.0), 300.0, 300.0)).unwrap();
        flows.grows(0, 1100.0 + flows.taken[0].0);
        assert!(newest > 0 && flows.taken[1].1 > newest);
    }
}

#[test]
fn a_timer_of_who_joined_without_a_window_is_answered() {
    let mut flows = Flows::at(Config::rfc8699_active(), &[(1.0, 1000.0), (1.0, 1000.0)]);
    let window = Window { cwnd: 10.0, ssthresh: 5.0 };
    let cwnd_update = CwndUpdate {
        event: WindowEvent::TimedOut,
        before: window,
        after: window,
        acked: 0.0,
        flight: 10.0,
        window_limited: true,
        srtt: None,
        base_rtt: None,
    };
    flows.actions.clear();
    flows.send_message(1, CouplingMessage::Window(cwnd_update)).unwrap();
    assert_eq!(flows.actions, [(1, CouplerAction::Reduce)]);
}
