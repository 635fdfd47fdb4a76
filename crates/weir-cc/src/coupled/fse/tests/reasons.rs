//! The table of reasons.

use super::*;

/// The sum and the rates of two flows at 2000 kbit/s: first as one falls to 1000 for this reason, then a second later
/// as it grows by 100.
fn falls(config: Config, why: ChangeReason) -> [(f64, f64, f64); 2] {
    let mut flows = Flows::at(config, &[(1.0, 2000.0), (1.0, 2000.0)]);
    flows.computes(0, 1000.0, why);
    let is = |flows: &Flows| {
        let share = |flow| flows.fse.share(FlowId(flow)).unwrap() / 1e3;
        (flows.fse.aggregate(FlowId(1)).unwrap().sum / 1e3, share(0), share(1))
    };
    let first = is(&flows);
    let present = flows.taken[0].0;
    flows.at_ms(1000).grows(0, present + 100.0);
    [first, is(&flows)]
}

const MOVED: [(f64, f64, f64); 2] = [(3000.0, 1500.0, 1500.0), (3100.0, 1550.0, 1550.0)];
const CUT: [(f64, f64, f64); 2] = [(2000.0, 1000.0, 1000.0), (2100.0, 1050.0, 1050.0)];
const BOUNDED: [(f64, f64, f64); 2] = [(3000.0, 1000.0, 2000.0), (3100.0, 1100.0, 2000.0)];

#[test]
fn only_congestion_cuts_the_others() {
    let [active, conservative] = [Config::rfc8699_active(), Config::rfc8699_conservative()];
    for why in ChangeReason::ALL {
        let expected = match why {
            ChangeReason::Delay | ChangeReason::Loss | ChangeReason::Mark | ChangeReason::Timeout => {
                [MOVED, CUT]
            }
            ChangeReason::Ceiling | ChangeReason::Application | ChangeReason::Limits => [BOUNDED, BOUNDED],
            ChangeReason::Start | ChangeReason::Growth | ChangeReason::Probe | ChangeReason::Route => {
                [MOVED, MOVED]
            }
        };
        assert_eq!([falls(active, why), falls(conservative, why)], expected, "{why:?}");
    }
}

#[test]
fn rising_rates_count_whatever_the_reason() {
    for config in [Config::rfc8699_active(), Config::rfc8699_conservative()] {
        for why in ChangeReason::ALL {
            let mut flows = Flows::at(config, &[(1.0, 2000.0), (1.0, 2000.0)]);
            flows.computes(0, 3000.0, why).are(5000.0, &[2500.0, 2500.0]);
        }
    }
}

#[test]
fn a_bound_goes_once_the_share_is_below_it() {
    let mut flows = Flows::at(Config::rfc8699_conservative(), &[(1.0, 2000.0), (1.0, 2000.0)]);
    flows.computes(0, 1800.0, ChangeReason::Application).are(3800.0, &[1800.0, 2000.0]);
    flows.at_ms(100).loses(1, 1000.0).are(1900.0, &[950.0, 950.0]);
    // The bound is still noted, until the flow itself reports that it does not bind.
    flows.at_ms(1000).grows(0, 950.0);
    flows.at_ms(1100).grows(0, 5000.0).are(5950.0, &[2975.0, 2975.0]);
}

#[test]
fn bounds_are_noted_while_the_timer_runs() {
    let mut flows = Flows::at(Config::rfc8699_conservative(), &[(1.0, 2000.0), (1.0, 2000.0)]);
    flows.loses(1, 1000.0).are(2000.0, &[1000.0, 1000.0]);
    flows.at_ms(10).computes(0, 400.0, ChangeReason::Application).are(1400.0, &[400.0, 1000.0]);
    flows.at_ms(20).computes(0, 300.0, ChangeReason::Route).are(1400.0, &[400.0, 1000.0]);
}

#[test]
fn a_new_wish_lifts_a_bound() {
    let mut flows = Flows::at(Config::rfc8699_active(), &[(1.0, 2000.0), (1.0, 2000.0)]);
    flows.computes(0, 500.0, ChangeReason::Application).are(2500.0, &[500.0, 2000.0]);
    flows.send_message(0, CouplingMessage::FlowParameters(wanting(1.0, 1500.0))).unwrap();
    flows.grows(1, 2000.0).are(2500.0, &[1250.0, 1250.0]);
}

#[test]
fn feedback_that_one_flow_misses_alone_pauses_it() {
    for config in [Config::rfc8699_active(), Config::rfc8699_conservative()] {
        let mut flows = Flows::at(config, &[(1.0, 2000.0), (1.0, 2000.0)]);
        for ms in (0..3000).step_by(100) {
            flows.at_ms(ms).grows(1, 2000.0);
        }
        flows.at_ms(3000).computes(0, 1000.0, ChangeReason::Timeout);
        assert_eq!(flows.fse.aggregate(FlowId(0)), None);
        assert!(flows.actions.is_empty(), "it goes on by itself");
        flows.at_ms(3100).grows(1, 2000.0).shared_among(&[(1, 4000.0)], 4000.0);
        // Another timeout does not bring it back; feedback from the path does.
        flows.at_ms(4000).computes(0, 500.0, ChangeReason::Timeout);
        assert_eq!(flows.fse.aggregate(FlowId(0)), None);
        flows.at_ms(5000).grows(0, 550.0).are(4550.0, &[2275.0, 2275.0]);
    }
}

#[test]
fn feedback_that_all_miss_cuts_once_whatever_timer_runs() {
    let mut flows = Flows::at(Config::rfc8699_conservative(), &[(1.0, 2000.0), (1.0, 2000.0)]);
    flows.at_ms(5).grows(1, 2000.0);
    flows.at_ms(2950).computes_from(0, 2000.0, 0, 2000.0, ChangeReason::Growth);
    flows.at_ms(2960).computes_from(1, 2000.0, 0, 1000.0, ChangeReason::Loss).are(2000.0, &[1000.0, 1000.0]);
    // Both had no feedback for 3 s. The first timeout counts at once, and the other's is of the same event.
    flows.at_ms(5950).computes(0, 500.0, ChangeReason::Timeout).are(1000.0, &[500.0, 500.0]);
    flows.at_ms(5960).computes(1, 250.0, ChangeReason::Timeout).are(1000.0, &[500.0, 500.0]);
    flows.at_ms(6950).computes(0, 250.0, ChangeReason::Timeout).are(500.0, &[250.0, 250.0]);

    let mut flows = Flows::at(
        Config { timer_rtts: 100.0, ..Config::rfc8699_conservative() },
        &[(1.0, 2000.0), (1.0, 2000.0)],
    );
    flows.loses(1, 1000.0).are(2000.0, &[1000.0, 1000.0]);
    flows.at_ms(3000).computes(0, 500.0, ChangeReason::Timeout).are(1000.0, &[500.0, 500.0]);
}

#[test]
fn a_timeout_of_a_flow_acknowledged_within_its_round_trip_is_a_loss() {
    let mut flows = Flows::at(Config::rfc8699_conservative(), &[(1.0, 2000.0), (1.0, 2000.0)]);
    flows.at_ms(100).grows(1, 2000.0);
    flows.at_ms(150).loses(0, 1000.0).are(2000.0, &[1000.0, 1000.0]);
    // The timer holds: the path is not silent, and the flow has not paused.
    flows.at_ms(200).computes(0, 500.0, ChangeReason::Timeout).are(2000.0, &[1000.0, 1000.0]);
}

#[test]
fn growth_of_a_flow_back_to_its_limit_does_not_inflate_the_sum() {
    for config in [Config::rfc8699_active(), Config::rfc8699_conservative()] {
        let mut flows = Flows::at(config, &[(1.0, 2000.0), (1.0, 2000.0)]);
        for round in 1..100 {
            flows
                .at_ms(500 * round)
                .computes(0, 1500.0, ChangeReason::Ceiling)
                .are(3500.0, &[1500.0, 2000.0]);
            flows.at_ms(500 * round + 250).grows(0, 2000.0).are(4000.0, &[2000.0, 2000.0]);
        }
    }
}
