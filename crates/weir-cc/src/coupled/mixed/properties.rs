//! Properties that hold for any messages in any order.

use proptest::prelude::*;

use super::tests::{data, media, parameters};
use super::{Config, Mixed};
use crate::coupled::coupler::Coupler;
use crate::coupled::message::{CouplerAction, FlowId};
use crate::testing::cases;
use crate::testing::couplers::messages::message;
use crate::time::SendTime;

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
    #![proptest_config(ProptestConfig::with_cases(cases(256)))]

    #[test]
    fn no_window_is_below_the_least_and_no_flow_is_left_without_coupling(
        config in config(),
        messages in prop::collection::vec((0..400i64, 0..5u32, message()), 1..200),
    ) {
        let mut mixed = Mixed::new(config).unwrap();
        let mut now = 0;
        for (later, member, message) in messages {
            now += later;
            let at = SendTime::from_millis(now);
            let _ = mixed.on_message(at, FlowId(member), &message);
            let sum = mixed.aggregate(FlowId(member)).map_or(1.0, |aggregate| aggregate.sum);
            prop_assert!(sum > 0.0, "{sum}");
            mixed.on_timeout(at);
            while let Some((_, action)) = mixed.poll_action() {
                match action {
                    CouplerAction::Rate { .. } | CouplerAction::Reduce => {}
                    CouplerAction::Window(window) => prop_assert!(window.cwnd >= config.least_window),
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
