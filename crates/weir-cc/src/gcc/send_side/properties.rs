//! Properties of every composition of the sender-side form.

use proptest::prelude::*;

use super::{Config, ControlForm, FilterForm, LossForm, SampleGrouping, SendSideGcc, SendSidePacing};
use crate::controller::PathEvent;
use crate::packet::PacketFate;
use crate::testing::{Call, CheckedSender, calls, cases, limits, recovers_from_silence, usual_limits};

fn config() -> impl Strategy<Value = Config> {
    let grouping = prop::sample::select(vec![SampleGrouping::Burst, SampleGrouping::PerPacket]);
    let filter = prop::sample::select(vec![FilterForm::Scalar, FilterForm::TwoState]);
    let control = prop::sample::select(vec![ControlForm::Draft, ControlForm::Libwebrtc2016]);
    let loss = prop::sample::select(vec![LossForm::Paper, LossForm::LibwebrtcV1]);
    let pacing = prop::sample::select(vec![SendSidePacing::Factor(1.0), SendSidePacing::Unpaced]);
    (grouping, filter, control, loss, pacing).prop_map(|(grouping, filter, control, loss, pacing)| Config {
        grouping,
        filter,
        control,
        loss,
        pacing,
        ..Config::default()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(256)))]

    #[test]
    fn every_composition_answers_arrivals_and_nothing_else(
        config in config(),
        limits in limits(),
        calls in calls(),
    ) {
        let mut life = CheckedSender::new(Box::new(SendSideGcc::new(config, limits).unwrap()), limits);
        for timed in &calls {
            let decided = life.call(timed).is_some();
            match &timed.1 {
                Call::Packets(results, ..) => {
                    let timed = |fate| {
                        use PacketFate::{Arrived, Recovered};
                        matches!(fate, Arrived { at: Some(_), .. } | Recovered { at: Some(_), .. })
                    };
                    prop_assert_eq!(decided, results.iter().any(|result| timed(result.fate)));
                }
                Call::Event(event) => prop_assert_eq!(decided, !matches!(event, PathEvent::Paused | PathEvent::Resumed | PathEvent::DelayRefuted)),
                Call::Timeout => {}
                _ => prop_assert!(!decided),
            }
            let mut signals = [0.0; 11];
            life.sender.read_signals(&mut signals);
            let [m, threshold, gain, noise, .., delay_rate, rate, loss] = signals;
            prop_assert!(m.is_finite() && (6.0..=600.0).contains(&threshold));
            prop_assert!(gain.is_finite() && noise >= 1.0, "{gain} {noise}");
            prop_assert!(config.filter == FilterForm::TwoState || (0.0..=1.0).contains(&gain), "{gain}");
            prop_assert!(rate <= delay_rate && (0.0..1.0).contains(&loss));
        }
    }

    #[test]
    fn every_composition_survives_five_seconds_of_silence(config in config(), calls in calls()) {
        let sender = SendSideGcc::new(config, usual_limits()).unwrap();
        recovers_from_silence(Box::new(sender), usual_limits(), &calls, 750);
    }
}
