//! Joins, leaves, pauses and groups.

use super::*;

fn two(config: Config) -> Flows {
    Flows::at(config, &[(1.0, 2000.0), (1.0, 2000.0)])
}

/// `S_CR` in kbit/s and the number of a flow's group.
fn group(flows: &Flows, flow: u32) -> Option<(f64, u32)> {
    flows.fse.aggregate(FlowId(flow)).map(|aggregate| ((aggregate.sum / 1e3).round(), aggregate.group))
}

#[test]
fn a_flow_joins_others_with_its_start_rate_and_the_next_update_shares() {
    for config in [Config::rtp_2014_active(), Config::rfc8699_conservative()] {
        let mut flows = two(config);
        flows.joins(greedy(1.0), 300.0);
        assert!(flows.actions.is_empty());
        flows.are(4300.0, &[2000.0, 2000.0, 300.0]);
        flows.grows(0, 2200.0).are(4500.0, &[1500.0; 3]);
    }
}

#[test]
fn it_may_have_its_share_at_once() {
    let mut flows = two(Config { distribute_on_join: true, ..Config::rfc8699_active() });
    flows.joins(greedy(1.0), 500.0);
    flows.are(4500.0, &[1500.0; 3]);
}

#[test]
fn a_flow_that_leaves_leaves_its_rate_to_the_others() {
    for config in [Config::rtp_2014_active(), Config::rfc8699_conservative(), Config::rfc8699_active()] {
        for message in [CouplingMessage::Leave, CouplingMessage::Pause] {
            let mut flows = two(config);
            flows.send_message(1, message).unwrap();
            flows.grows(0, 2000.0).shared_among(&[(0, 4000.0)], 4000.0);
            flows.loses(0, 2000.0).shared_among(&[(0, 2000.0)], 2000.0);
        }
    }
}

#[test]
fn a_flow_that_goes_on_by_itself_takes_its_rate_along_and_brings_it_back() {
    for config in [Config::rtp_2014_active(), Config::rfc8699_conservative(), Config::rfc8699_active()] {
        let mut flows = two(config);
        flows.send_message(1, CouplingMessage::Withdraw).unwrap();
        flows.shared_among(&[(0, 2000.0)], 2000.0);
        assert_eq!(group(&flows, 1), None);
        let unknown = flows.send_message(1, CouplingMessage::Withdraw);
        assert_eq!(unknown, Err(Refusal::UnknownFlow(FlowId(1))));
        flows.loses(0, 1000.0).shared_among(&[(0, 1000.0)], 1000.0);
        flows.send_message(1, join(greedy(1.0), 600.0, 600.0)).unwrap();
        assert_eq!(group(&flows, 1), Some((1600.0, 0)));
    }
}

#[test]
fn cuts_of_a_flow_in_the_ten_seconds_before_it_withdraws_are_taken_back() {
    let after = |ms: i64| {
        let mut flows = two(Config::rfc8699_conservative());
        // The flow cuts the sum to a fifth, and once more to a half.
        flows.at_ms(1000).loses(1, 400.0).are(800.0, &[400.0; 2]);
        flows.at_ms(6000).loses(1, 200.0).are(400.0, &[200.0; 2]);
        flows.at_ms(1000 + ms).send_message(1, CouplingMessage::Withdraw).unwrap();
        // The next update of the other flow is answered with its restored rate.
        flows.grows(0, 210.0);
        flows.taken[0].0
    };
    // A cut that is older stays; the second one is taken back from 6 s on for ten more.
    assert_eq!([10_000, 10_001, 15_000, 15_001].map(after), [2010.0, 410.0, 410.0, 210.0]);
}

#[test]
fn a_flow_that_resumes_beside_others_is_ordered_to_its_start_rate() {
    for config in all_forms() {
        let mut flows = two(config);
        flows.send_message(1, CouplingMessage::Pause).unwrap();
        let refused = flows.fse.on_message(
            flows.now,
            FlowId(1),
            &CouplingMessage::Update(Update {
                decision: Decision { rate: kbps(9.0), base: kbps(9.0), why: ChangeReason::Growth, rtt: None },
                window: None,
                epoch: 0,
                has_feedback: true,
            }),
        );
        assert_eq!(refused, Err(Refusal::UnknownFlow(FlowId(1))), "it has paused");
        flows.grows(0, 2000.0);
        let alone = flows.taken[0].0;
        flows.actions.clear();
        flows.send_message(1, join(greedy(1.0), 300.0, 2000.0)).unwrap();
        assert_eq!(flows.taken[1].0, 300.0, "{config:?}");
        assert_eq!(flows.ordered_to(), [1]);
        assert_eq!(group(&flows, 1), Some((alone + 300.0, 0)));
    }
}

#[test]
fn a_flow_that_resumes_alone_is_ordered_nothing() {
    for config in all_forms() {
        let mut flows = Flows::at(config, &[(1.0, 300.0)]);
        flows.grows(0, 2000.0);
        flows.send_message(0, CouplingMessage::Pause).unwrap();
        flows.send_message(0, join(greedy(1.0), 300.0, 2000.0)).unwrap();
        flows.are(2000.0, &[2000.0]);
        assert!(flows.actions.is_empty());
    }
}

#[test]
fn the_last_flow_ends_its_group_and_its_number_is_never_used_again() {
    let mut flows = two(Config::rfc8699_conservative());
    flows.loses(0, 1000.0);
    flows.send_message(0, CouplingMessage::Leave).unwrap();
    flows.send_message(1, CouplingMessage::Leave).unwrap();
    assert_eq!(group(&flows, 0), None);
    flows.taken.clear();
    flows.joins(greedy(1.0), 300.0);
    flows.joins(greedy(1.0), 300.0);
    assert_eq!(group(&flows, 1), Some((600.0, 1)));
    // No timer runs any more.
    flows.at_ms(10).loses(0, 150.0).are(300.0, &[150.0, 150.0]);
}

#[test]
fn orders_to_a_flow_that_has_left_are_not_given() {
    let mut flows = two(Config::rfc8699_active());
    let message = CouplingMessage::FlowParameters(greedy(3.0));
    flows.fse.on_message(flows.now, FlowId(0), &message).unwrap();
    let decision = Decision { rate: kbps(2100.0), base: kbps(2000.0), why: ChangeReason::Growth, rtt: None };
    let update = CouplingMessage::Update(Update { decision, window: None, epoch: 0, has_feedback: true });
    flows.fse.on_message(flows.now, FlowId(0), &update).unwrap();
    flows.fse.on_message(flows.now, FlowId(1), &CouplingMessage::Leave).unwrap();
    flows.poll();
    assert_eq!(flows.ordered_to(), [0]);
}

#[test]
fn another_priority_counts_from_the_next_update_on_or_at_once() {
    for at_once in [false, true] {
        let mut flows = two(Config { distribute_on_change: at_once, ..Config::rfc8699_active() });
        flows.send_message(0, CouplingMessage::FlowParameters(greedy(3.0))).unwrap();
        flows.are(4000.0, if at_once { &[3000.0, 1000.0] } else { &[2000.0, 2000.0] });
        let present = flows.taken[1].0;
        flows.grows(1, present).are(4000.0, &[3000.0, 1000.0]);
    }
}

#[test]
fn without_a_group_a_flow_is_not_coupled() {
    let mut flows = Flows::grouped(Config::rfc8699_active(), InitialGrouping::Apart);
    flows.joins(greedy(1.0), 300.0);
    flows.joins(greedy(1.0), 300.0);
    flows.grows(0, 1000.0);
    assert_eq!((group(&flows, 0), flows.actions.len()), (None, 0));
    for flow in [0, 1] {
        flows.fse.set_group(FlowId(flow), Some(7)).unwrap();
    }
    flows.are(1300.0, &[1000.0, 300.0]);
    flows.grows(0, 1000.0).are(1300.0, &[650.0, 650.0]);
    flows.fse.set_group(FlowId(1), None).unwrap();
    flows.actions.clear();
    flows.poll();
    assert_eq!(flows.actions, [(1, CouplerAction::Uncoupled)]);
    flows.grows(0, 700.0).shared_among(&[(0, 700.0)], 700.0);
}

#[test]
fn a_flow_that_changes_groups_takes_its_rate_along_but_no_timer() {
    let mut flows = Flows::at(Config::rfc8699_conservative(), &[(1.0, 2000.0); 3]);
    flows.fse.set_group(FlowId(2), Some(1)).unwrap();
    flows.shared_among(&[(0, 2000.0), (1, 2000.0)], 4000.0);
    flows.shared_among(&[(2, 2000.0)], 2000.0);
    flows.loses(0, 1000.0).shared_among(&[(0, 1000.0), (1, 1000.0)], 2000.0);
    flows.at_ms(10).fse.set_group(FlowId(1), Some(1)).unwrap();
    flows.shared_among(&[(0, 1000.0)], 1000.0);
    // The moved flow is not blocked in its new group.
    flows.at_ms(20).grows(1, 1200.0).shared_among(&[(1, 1600.0), (2, 1600.0)], 3200.0);
    // The way back, while a timer of one group runs.
    flows.loses(2, 800.0).shared_among(&[(1, 800.0), (2, 800.0)], 1600.0);
    flows.at_ms(30).fse.set_group(FlowId(1), Some(0)).unwrap();
    flows.shared_among(&[(0, 1000.0), (1, 800.0)], 1800.0);
    flows.grows(1, 900.0).shared_among(&[(0, 900.0), (1, 900.0)], 1800.0);
    flows.at_ms(200).grows(1, 1000.0).shared_among(&[(0, 950.0), (1, 950.0)], 1900.0);
}

#[test]
fn a_group_never_has_less_than_its_flows_go_by() {
    let mut flows = Flows::new(Config::rtp_2014_active());
    flows.joins(wanting(1.0, 500.0), 2000.0);
    flows.joins(greedy(1.0), 2000.0);
    flows.grows(1, 2200.0).are(4200.0, &[500.0, 2100.0]);
    flows.fse.set_group(FlowId(1), Some(1)).unwrap();
    flows.shared_among(&[(0, 500.0)], 2100.0);
    flows.fse.set_group(FlowId(0), Some(1)).unwrap();
    flows.are(2600.0, &[500.0, 2100.0]);
}

#[test]
fn the_place_of_a_paused_flow_is_kept_by_its_group() {
    let mut flows = Flows::at(Config::rfc8699_active(), &[(1.0, 1000.0); 3]);
    flows.send_message(2, CouplingMessage::Pause).unwrap();
    flows.fse.set_group(FlowId(2), Some(5)).unwrap();
    assert_eq!(group(&flows, 2), None);
    flows.send_message(2, join(greedy(1.0), 300.0, 1000.0)).unwrap();
    flows.shared_among(&[(2, 1000.0)], 1000.0);
}

#[test]
fn merged_groups_have_one_sum_and_the_later_timer() {
    let mut flows = Flows::at(Config::rfc8699_conservative(), &[(1.0, 2000.0); 4]);
    for flow in [2, 3] {
        flows.fse.set_group(FlowId(flow), Some(1)).unwrap();
    }
    flows.loses(0, 1000.0);
    flows.at_ms(100).loses(2, 1000.0);
    flows.fse.merge(0, 1);
    flows.are(4000.0, &[1000.0; 4]);
    flows.at_ms(299).grows(0, 1400.0).are(4000.0, &[1000.0; 4]);
    flows.at_ms(300).grows(0, 1400.0).are(4400.0, &[1100.0; 4]);
    flows.fse.merge(0, 0);
    flows.fse.merge(0, 9);
    flows.are(4400.0, &[1100.0; 4]);
}

#[test]
fn both_parts_of_a_split_group_keep_the_timer() {
    let mut flows = Flows::at(Config::rtp_2014_conservative(), &[(1.0, 2000.0); 4]);
    flows.loses(0, 1000.0).are(4000.0, &[1000.0; 4]);
    flows.fse.split(0, 1, |FlowId(flow)| flow >= 2);
    flows.shared_among(&[(0, 1000.0), (1, 1000.0)], 2000.0);
    flows.shared_among(&[(2, 1000.0), (3, 1000.0)], 2000.0);
    for flow in [1, 3] {
        flows.at_ms(199).grows(flow, 1200.0);
        assert_eq!(group(&flows, flow).map(|(sum, _)| sum), Some(2000.0));
        flows.at_ms(200).grows(flow, 1200.0);
        assert_eq!(group(&flows, flow).map(|(sum, _)| sum), Some(2200.0));
    }
}

#[test]
fn only_ratios_of_priorities_matter() {
    for scale in [1e-6, 0.1, 1.0, 4.0, 1e6] {
        let mut flows = Flows::at(Config::rfc8699_active(), &[(2.0 * scale, 3000.0), (scale, 3000.0)]);
        flows.grows(0, 3000.0).are(6000.0, &[4000.0, 2000.0]);
    }
}
