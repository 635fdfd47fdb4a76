//! Properties that hold for any sequence of messages.

use proptest::prelude::*;

use super::*;
use crate::coupled::fse::Algorithm;
use crate::testing::cases;
use crate::testing::couplers::messages::message;

const MEMBERS: u32 = 5;

/// An act of an arbitrary host.
#[derive(Clone, Debug)]
enum Act {
    Say(u32, CouplingMessage),
    Group(u32, Option<u32>),
    Merge(u32, u32),
    Split(u32, u32),
    Timeout,
}

fn act() -> impl Strategy<Value = Act> {
    let member = 0..MEMBERS;
    prop_oneof![
        20 => (member.clone(), message()).prop_map(|(member, message)| Act::Say(member, message)),
        1 => (member, prop::option::of(0_u32..3)).prop_map(|(member, label)| Act::Group(member, label)),
        1 => (0_u32..3, 0_u32..3).prop_map(|(into, from)| Act::Merge(into, from)),
        1 => (0_u32..3, 0_u32..3).prop_map(|(from, into)| Act::Split(from, into)),
        1 => Just(Act::Timeout),
    ]
}

fn config() -> impl Strategy<Value = Config> {
    let flags = prop::array::uniform6(any::<bool>());
    (prop::sample::select(all_forms().to_vec()), flags).prop_map(|(config, flags)| Config {
        reconcile_s_cr: flags[0],
        distribute_on_join: flags[1],
        distribute_on_change: flags[2],
        literal_dr: flags[3],
        increase_div_n: flags[4],
        timer_exempts_initiator: flags[5],
        ..config
    })
}

/// The last parameters of each flow that were not refused.
type Wished = [Option<FlowParameters>; MEMBERS as usize];

/// Applies `act`, and notes the parameters that the exchange has accepted in `wished`.
fn live(fse: &mut Fse, now: SendTime, act: &Act, wished: &mut Wished) {
    match act {
        Act::Say(member, message) => {
            let taken = fse.on_message(now, FlowId(*member), message).is_ok();
            match message {
                CouplingMessage::Join(join) if taken => wished[*member as usize] = Some(join.parameters),
                CouplingMessage::FlowParameters(parameters) if taken => {
                    wished[*member as usize] = Some(*parameters);
                }
                _ => {}
            }
        }
        Act::Group(member, label) => _ = fse.set_group(FlowId(*member), *label),
        Act::Merge(into, from) => fse.merge(*into, *from),
        Act::Split(from, into) => fse.split(*from, *into, |FlowId(member)| member % 2 == 0),
        Act::Timeout => fse.on_timeout(now),
    }
    while fse.poll_action().is_some() {}
}

fn check(fse: &Fse, config: &Config, event: Option<u32>, wished: &Wished) {
    for member in (0..MEMBERS).map(FlowId) {
        let (Some(share), Some(parameters)) = (fse.share(member), wished[member.0 as usize]) else {
            continue;
        };
        let sum = fse.aggregate(member).unwrap().sum;
        assert!(share.is_finite() && share >= 0.0, "{member:?} has {share}");
        assert!(sum.is_finite() && sum >= 0.0, "S_CR is {sum}");
        if event == Some(member.0) {
            let desired = parameters.desired.map_or(f64::INFINITY, DataRate::bps_f64);
            let most = desired.max(parameters.least.bps_f64());
            assert!(share <= most, "{config:?}: {member:?} has {share} and wants {most}");
            let starves = share == 0.0 && most > 0.0 && sum > 1.0;
            assert!(!starves, "{config:?}: {member:?} of {sum}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(2000)))]

    #[test]
    fn shares_are_usable_rates_whatever_is_reported(
        config in config(),
        acts in prop::collection::vec((0_i64..700, act()), 1..60),
    ) {
        let mut fse = Fse::new(config, InitialGrouping::Together).unwrap();
        let (mut now, mut wished) = (SendTime::ZERO, Wished::default());
        for (ms, act) in &acts {
            now += TimeDelta::from_millis(*ms);
            live(&mut fse, now, act, &mut wished);
            let event = match act {
                Act::Say(member, CouplingMessage::Update(_)) => Some(*member),
                _ => None,
            };
            check(&fse, &config, event, &wished);
        }
    }

    /// RFC 8699: Σ FSE_R is S_CR before it is reconciled, or the sum of desired rates, and at least the sum of least
    /// rates.
    #[test]
    fn the_shares_are_the_sum(
        reconcile_s_cr in any::<bool>(),
        conservative in any::<bool>(),
        flows in prop::collection::vec((0.1..4.0, prop::option::of(10.0..5000.0), 0.0..400.0), 2..6),
        updates in prop::collection::vec((0_usize..6, 0.3..1.3, 0_i64..400), 1..60),
    ) {
        let form = if conservative { Config::rfc8699_conservative() } else { Config::rfc8699_active() };
        let mut all = Flows::new(Config { reconcile_s_cr, ..form });
        let (mut least, mut most) = (0.0, 0.0);
        for &(priority, desired, needs) in &flows {
            let parameters = FlowParameters { least: kbps(needs), priority, desired: desired.map(kbps) };
            all.joins(parameters, 1000.0);
            let needs = parameters.least.bps_f64();
            least += needs;
            most += parameters.desired.map_or(f64::INFINITY, |desired| desired.bps_f64().max(needs));
        }
        for &(flow, factor, ms) in &updates {
            all.now += TimeDelta::from_millis(ms);
            let flow = (flow % flows.len()) as u32;
            let (present, _) = all.taken[flow as usize];
            let why = if factor < 1.0 { ChangeReason::Loss } else { ChangeReason::Growth };
            all.computes(flow, present * factor, why);
            let sum = all.fse.aggregate(FlowId(0)).unwrap().sum;
            let shares: f64 = (0..flows.len()).map(|flow| all.fse.share(FlowId(flow as u32)).unwrap()).sum();
            let expected = if reconcile_s_cr { sum } else { sum.min(most).max(least) };
            prop_assert!((shares - expected).abs() <= 1.0, "{} of {}", shares, expected);
            prop_assert!(shares >= least - 1.0 && shares <= most + 1.0);
        }
    }

    /// coupled-rtp-2014: no flow gets more than its part of the sum, unless its least rate is above it.
    #[test]
    fn without_redistribution_each_has_its_part_of_the_sum_at_most(
        weights in prop::collection::vec((0.1..4.0, prop::option::of(10.0..5000.0)), 2..6),
        updates in prop::collection::vec((0_usize..6, 0.3..1.3, 0_i64..400), 1..60),
    ) {
        let mut all = Flows::new(Config::rtp_2014_conservative());
        for &(priority, desired) in &weights {
            let least = DataRate::from_bps(1);
            all.joins(FlowParameters { least, desired: desired.map(kbps), priority }, 1000.0);
        }
        let total: f64 = weights.iter().map(|weight| weight.0).sum();
        for &(flow, factor, ms) in &updates {
            all.now += TimeDelta::from_millis(ms);
            let flow = (flow % weights.len()) as u32;
            let (present, _) = all.taken[flow as usize];
            let why = if factor < 1.0 { ChangeReason::Loss } else { ChangeReason::Growth };
            all.computes(flow, present * factor, why);
            let sum = all.fse.aggregate(FlowId(0)).unwrap().sum;
            // In a smaller sum, least rates are a notable part.
            if sum < 1e3 {
                return Ok(());
            }
            for (flow, (weight, desired)) in (0..).zip(&weights) {
                let part = sum * weight / total;
                let expected = desired.map_or(part, |desired| part.min(kbps(desired).bps_f64()));
                let share = all.fse.share(FlowId(flow)).unwrap();
                prop_assert!((share - expected).abs() <= 5.0, "{} of {}", share, expected);
            }
        }
    }
}

#[test]
fn no_form_is_left_out() {
    let passive = all_forms().iter().filter(|config| config.algorithm.is_passive()).count();
    assert_eq!((all_forms().len(), passive), (6, 2));
    assert!(all_forms().iter().any(|config| config.algorithm == Algorithm::Rtp2014Active));
}
