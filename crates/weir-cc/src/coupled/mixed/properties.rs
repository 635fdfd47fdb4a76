//! Properties that hold for any messages in any order.

use proptest::prelude::*;

use super::tests::{data, media, parameters, update, update_of};
use super::{Config, Mixed};
use crate::coupled::coupler::Coupler;
use crate::coupled::message::{CouplerAction, CouplingMessage, FlowId, WindowEvent};
use crate::decision::ChangeReason;
use crate::time::SendTime;

fn message() -> impl Strategy<Value = CouplingMessage> {
    let flow_parameters =
        (0.01..100.0, prop::option::of(1..5_000u64)).prop_map(|(p, desired)| parameters(p, desired));
    let rate = || prop_oneof![4 => 1..5_000u64, 1 => Just(1), 1 => Just(u64::MAX / 2000)];
    let window = || prop_oneof![6 => 0.0..100.0, 1 => Just(0.0), 1 => Just(1e300), 1 => Just(f64::NAN)];
    let event = prop::sample::select(vec![
        WindowEvent::Acknowledged,
        WindowEvent::Acknowledged,
        WindowEvent::Repairing,
        WindowEvent::RecoveryEntered,
        WindowEvent::RecoveryLeft,
        WindowEvent::TimedOut,
        WindowEvent::Reduced,
        WindowEvent::Marked,
        WindowEvent::Idle,
    ]);
    let rtt = prop_oneof![6 => 50..500i64, 1 => Just(0), 1 => Just(-5), 1 => Just(i64::MAX / 1_000_000)];
    prop_oneof![
        2 => (rate(), flow_parameters.clone()).prop_map(|(start, parameters)| media(start, parameters)),
        2 => (window(), flow_parameters.clone()).prop_map(|(cwnd, parameters)| data(cwnd, parameters)),
        6 => (rate(), rate(), prop::sample::select(ChangeReason::ALL.to_vec()))
            .prop_map(|(base, rate, why)| update(base, rate, why)),
        8 => (event, window(), window(), rtt)
            .prop_map(|(event, before, after, rtt)| update_of(event, before, after, rtt)),
        1 => flow_parameters.prop_map(CouplingMessage::FlowParameters),
        1 => prop::sample::select(vec![CouplingMessage::Pause, CouplingMessage::Withdraw, CouplingMessage::Leave]),
    ]
}

fn config() -> impl Strategy<Value = Config> {
    let partial = Config { partial_loss: true, ..Config::default() };
    prop::sample::select(vec![
        Config::default(),
        Config::by_base_rtt(),
        Config::ledbat(),
        Config::ledbat_sum_all(),
        partial,
    ])
}

proptest! {
    #[test]
    fn actions_are_sound_few_and_numbered(
        config in config(),
        messages in prop::collection::vec((0..400i64, 0..5u32, message()), 1..200),
    ) {
        let mut mixed = Mixed::new(config).unwrap();
        let mut now = 0;
        let mut epochs = [0; 5];
        for (later, member, message) in messages {
            now += later;
            let at = SendTime::from_millis(now);
            let _ = mixed.on_message(at, FlowId(member), &message);
            let sum = mixed.aggregate(FlowId(member)).map_or(1.0, |aggregate| aggregate.sum);
            prop_assert!(sum.is_finite() && sum > 0.0, "{sum}");
            mixed.on_timeout(at);
            let mut actions = 0;
            while let Some((FlowId(member), action)) = mixed.poll_action() {
                actions += 1;
                prop_assert!(actions <= 15, "three for each of five");
                match action {
                    CouplerAction::Rate { epoch: 0, .. } | CouplerAction::Reduce => {}
                    CouplerAction::Rate { epoch, .. } => {
                        prop_assert!(epoch > epochs[member as usize], "numbers never begin anew");
                        epochs[member as usize] = epoch;
                    }
                    CouplerAction::Window(window) => {
                        prop_assert!(window.cwnd.is_finite() && window.cwnd >= config.least_window);
                        prop_assert!(window.ssthresh > 0.0);
                    }
                    other => prop_assert!(false, "{other:?}"),
                }
            }
        }
    }

    #[test]
    fn shares_are_by_priority_and_together_the_sum(
        sum in 200..20_000u64,
        priorities in prop::collection::vec(0.1..10.0, 2..5),
    ) {
        let mut mixed = Mixed::new(Config::default()).unwrap();
        mixed.on_message(SendTime::from_millis(0), FlowId(0), &media(sum, parameters(priorities[0], None))).unwrap();
        for (member, priority) in priorities.iter().enumerate().skip(1) {
            mixed.on_message(SendTime::from_millis(0), FlowId(member as u32), &data(2.0, parameters(*priority, None))).unwrap();
        }
        let total = mixed.aggregate(FlowId(0)).unwrap().sum;
        let rate = core::iter::from_fn(|| mixed.poll_action())
            .filter_map(|(_, action)| if let CouplerAction::Rate { rate, .. } = action { Some(rate.bps_f64()) } else { None })
            .last()
            .unwrap();
        let part = priorities[0] / priorities.iter().sum::<f64>();
        prop_assert!((rate - total * part).abs() <= 1.0, "{rate} of {total}, for {part}");
    }
}
