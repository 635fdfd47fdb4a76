//! The Flow State Exchange (`coupled::fse`) by the sources' tables and examples. Rates are in kbit/s, times in ms.
//!
//! Sources: "Coupled Congestion Control for RTP Media" (TR 440, University of Oslo, 2014; coupled-rtp-2014), algorithms 1
//! and 2 and the priorities; RFC 8699 with its appendix C; "Lightweight and Flexible Single-Path Congestion Control
//! Coupling" (2018; coupling-2018), the simple passive form.

use super::*;
use crate::coupled::fse::Updates;

#[test]
fn algorithm_1_adds_what_a_controller_changed_and_shares_it() {
    for config in [Config::rtp_2014_active(), Config::rfc8699_active()] {
        let mut flows = Flows::at(config, &[(1.0, 2000.0), (1.0, 2000.0)]);
        flows.are(4000.0, &[2000.0, 2000.0]);
        flows.grows(0, 3000.0).are(5000.0, &[2500.0, 2500.0]);
        flows.loses(1, 1250.0).are(3750.0, &[1875.0, 1875.0]);
    }
}

#[test]
fn algorithm_2_cuts_in_proportion_and_waits_for_two_round_trips() {
    let literal = [Config::rtp_2014_conservative(), Config::rfc8699_conservative()];
    let divided = Config { increase_div_n: true, ..Config::rtp_2014_conservative() };
    for (config, grown) in [(literal[0], 2600.0), (literal[1], 2600.0), (divided, 2550.0)] {
        let mut flows = Flows::at(config, &[(1.0, 2500.0), (1.0, 2500.0)]);
        flows.loses(1, 1250.0).are(2500.0, &[1250.0, 1250.0]);
        flows.at_ms(150).loses(0, 600.0).are(2500.0, &[1250.0, 1250.0]);
        assert_eq!(flows.ordered_to(), [0], "it is set back to its share");
        flows.at_ms(199).grows(0, 1350.0).are(2500.0, &[1250.0, 1250.0]);
        flows.at_ms(200).grows(0, 1350.0).are(grown, &[grown / 2.0, grown / 2.0]);
    }
}

#[test]
fn one_of_five_that_halves_takes_a_tenth_of_the_sum() {
    let after = |config: Config, sum: f64| {
        let mut flows = Flows::at(config, &[(1.0, 1000.0); 5]);
        flows.loses(2, 500.0).are(sum, &[sum / 5.0; 5]);
    };
    after(Config::rtp_2014_active(), 4500.0);
    after(Config::rfc8699_active(), 4500.0);
    // The conservative forms act as one flow: the sum is halved, as if all five had halved.
    after(Config::rtp_2014_conservative(), 2500.0);
    after(Config::rfc8699_conservative(), 2500.0);
}

#[test]
fn the_initiator_may_be_exempt_from_its_timer() {
    let config = Config { timer_exempts_initiator: true, ..Config::rtp_2014_conservative() };
    let mut flows = Flows::at(config, &[(1.0, 2500.0), (1.0, 2500.0)]);
    flows.loses(1, 1250.0);
    flows.at_ms(150).grows(0, 1300.0).are(2500.0, &[1250.0, 1250.0]);
    flows.grows(1, 1350.0).are(2600.0, &[1300.0, 1300.0]);
    flows.loses(1, 650.0).are(1300.0, &[650.0, 650.0]);
    flows.at_ms(200).grows(0, 700.0).are(1350.0, &[675.0, 675.0]);
}

#[test]
fn weights_share_the_sum() {
    let mut flows = Flows::at(Config::rfc8699_active(), &[(1.0, 3000.0), (0.2, 2900.0)]);
    flows.grows(0, 3100.0).are(6000.0, &[5000.0, 1000.0]);
}

/// Three flows with weights 1, 1, 2, two of them limited, reach 12.
fn limited(config: Config) -> Flows {
    let mut flows = Flows::new(config);
    flows.joins(wanting(1.0, 1000.0), 1000.0);
    flows.joins(greedy(1.0), 6900.0);
    flows.joins(wanting(2.0, 4000.0), 4000.0);
    flows.grows(1, 7000.0);
    flows
}

#[test]
fn the_rest_of_limited_flows_is_shared_or_lost() {
    limited(Config::rfc8699_active()).are(12_000.0, &[1000.0, 7000.0, 4000.0]);
    limited(Config::rfc8699_conservative()).are(12_000.0, &[1000.0, 7000.0, 4000.0]);
    limited(Config::rtp_2014_active()).are(12_000.0, &[1000.0, 3000.0, 4000.0]);
    limited(Config::rtp_2014_conservative()).are(12_000.0, &[1000.0, 3000.0, 4000.0]);
}

#[test]
fn unusable_rate_is_forgotten_with_reconciliation() {
    for (reconcile_s_cr, sum) in [(true, 5000.0), (false, 10_000.0)] {
        let mut flows = Flows::new(Config { reconcile_s_cr, ..Config::rfc8699_active() });
        flows.joins(wanting(1.0, 2000.0), 4000.0);
        flows.joins(wanting(1.0, 3000.0), 5000.0);
        flows.grows(0, 5000.0).are(sum, &[2000.0, 3000.0]);
    }
}

#[test]
fn a_desired_rate_of_zero_and_rounded_weights_end() {
    let mut flows = Flows::new(Config::rfc8699_active());
    flows.joins(wanting(1.0, 0.0), 1000.0);
    flows.joins(greedy(1.0), 4000.0);
    flows.grows(1, 5000.0).are(6000.0, &[0.0, 6000.0]);

    let mut flows = Flows::new(Config { reconcile_s_cr: false, ..Config::rfc8699_active() });
    for priority in [0.1, 0.2, 0.3] {
        flows.joins(wanting(priority, 1000.0), 3000.0);
    }
    flows.grows(0, 4000.0).are(10_000.0, &[1000.0; 3]);
}

#[test]
fn no_flow_gets_more_than_its_desired_rate_of_the_rest() {
    let mut flows = Flows::new(Config { reconcile_s_cr: false, ..Config::rfc8699_active() });
    for desired in [2000.0, 15_000.0, 11_000.0] {
        flows.joins(wanting(1.0, desired), 9000.0);
    }
    // Of 30, 2 are left over. An earlier draft gave the second 17.
    flows.grows(0, 12_000.0).are(30_000.0, &[2000.0, 15_000.0, 11_000.0]);
}

#[test]
fn the_example_of_appendix_c() {
    let mut flows = Flows::at(Config::rfc8699_passive_in_a_testbed(), &[(1.0, 10_000.0), (0.5, 1000.0)]);
    flows.are(11_000.0, &[10_000.0, 1000.0]);
    flows.loses(0, 8000.0).are(9000.0, &[6000.0, 1000.0]);
    assert_eq!(flows.ordered_to(), [0], "only the flow that updates is answered");
    flows.grows(1, 2000.0).are(10_000.0, &[6000.0, 3333.33]);
    flows.send_message(0, CouplingMessage::FlowParameters(wanting(1.0, 2000.0))).unwrap();
    flows.grows(0, 7000.0).are(11_000.0, &[2000.0, 3333.33]);
    flows.grows(1, 4333.33).are(12_000.0, &[2000.0, 9333.33]);
    flows.send_message(0, CouplingMessage::Leave).unwrap();
    flows.loses(1, 7333.33).shared_among(&[(1, 9333.33)], 9333.33);
}

/// A limited flow that updates thrice adds thrice to the leftover; the other gets no more than there is.
#[test]
fn the_leftover_rate_of_appendix_c_does_not_accumulate() {
    let mut flows = Flows::new(Config::rfc8699_passive_in_a_testbed());
    flows.joins(wanting(1.0, 1000.0), 5000.0);
    flows.joins(greedy(1.0), 5000.0);
    for _ in 0..3 {
        flows.computes_from(0, 5000.0, 0, 5000.0, ChangeReason::Growth);
    }
    flows.grows(1, 5000.0).are(10_000.0, &[1000.0, 9000.0]);
}

#[test]
fn the_simple_passive_form_answers_who_asks() {
    let mut flows = Flows::at(Config::passive_simple_in_a_testbed(), &[(1.0, 10_000.0), (1.0, 1000.0)]);
    flows.grows(1, 2000.0).are(12_000.0, &[10_000.0, 6000.0]);
    assert_eq!(flows.ordered_to(), [1]);
    flows.grows(0, 10_000.0).are(12_000.0, &[6000.0, 6000.0]);
}

#[test]
fn a_passive_form_may_get_updates_on_changes_only() {
    let config = Config { updates: Updates::OnChange, ..Config::passive_simple_in_a_testbed() };
    let mut flows = Flows::at(config, &[(1.0, 10_000.0), (1.0, 1000.0)]);
    flows.grows(1, 2000.0).are(12_000.0, &[10_000.0, 6000.0]);
    flows.grows(0, 10_000.0).are(12_000.0, &[10_000.0, 6000.0]);
    flows.grows(0, 10_001.0).are(12_001.0, &[6000.5, 6000.0]);
}

#[test]
fn desired_rates_read_literally_uncouple() {
    let with_literal_dr = |literal_dr| {
        let config = Config { literal_dr, reconcile_s_cr: false, ..Config::rfc8699_active() };
        let mut flows = Flows::at(config, &[(1.0, 10_000.0), (1.0, 1000.0)]);
        flows.computes(0, 8000.0, ChangeReason::Loss);
        flows
    };
    with_literal_dr(true).are(9000.0, &[8000.0, 1000.0]);
    with_literal_dr(false).are(9000.0, &[4500.0, 4500.0]);
}

/// Without redistribution the sum of a greedy flow beside a limited one grows until the greedy one's share is the free
/// capacity. The limited one may then take 40 of 10 Mbit/s.
#[test]
fn without_redistribution_the_sum_inflates() {
    let mut flows = Flows::new(Config::rtp_2014_active());
    flows.joins(wanting(1.0, 2000.0), 2000.0);
    flows.joins(greedy(0.2), 1000.0);
    for _ in 0..2000 {
        let (present, _) = flows.taken[1];
        if present < 8000.0 {
            flows.grows(1, (present + 50.0).min(8000.0 + 50.0));
        }
    }
    let sum = flows.fse.aggregate(FlowId(0)).unwrap().sum / 1e3;
    assert!((sum - 48_000.0).abs() < 100.0, "{sum}");
    flows.send_message(0, CouplingMessage::FlowParameters(greedy(1.0))).unwrap();
    flows.grows(1, 8001.0);
    assert!(flows.taken[0].0 > 39_900.0, "{:?}", flows.taken);
}

#[test]
fn priorities_share_a_constant_sum_as_in_coupled_rtp_2014() {
    let mut flows = Flows::at(Config::rtp_2014_conservative(), &[(1.0, 5000.0), (1.0, 5000.0)]);
    for (priority, share) in [(0.66, 0.3976), (0.42, 0.2958), (0.25, 0.2), (0.11, 0.0991)] {
        flows.send_message(0, CouplingMessage::FlowParameters(greedy(priority))).unwrap();
        let present = flows.taken[1].0;
        flows.grows(1, present);
        let (one, other) = (flows.taken[0].0, flows.taken[1].0);
        assert!((one / (one + other) - share).abs() < 1e-4, "{one} of {other}");
        assert!((one + other - 10_000.0).abs() < 0.01, "the sum stays");
    }
}
