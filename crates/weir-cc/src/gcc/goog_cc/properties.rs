//! Properties of every composition beyond those of every controller.

use proptest::prelude::*;
use weir_units::DataRate;

use super::{Config, GoogCc};
use crate::controller::{PathEvent, Target};
use crate::testing::{Call, CheckedSender, calls, cases, limits, recovers_from_silence, usual_limits};

/// 150 s of good feedback: a hold of the loss controller may last 60 s, and growth is 8 % per second.
const ROUNDS_TO_RECOVER: usize = 1500;

fn config() -> impl Strategy<Value = Config> {
    let dated = prop::sample::select(vec![Config::libwebrtc_2025(), Config::libwebrtc_2024_12()]);
    (dated, any::<bool>()).prop_map(|(dated, use_loss_v2)| Config { use_loss_v2, ..dated })
}

fn rates(target: &Target) -> (DataRate, DataRate) {
    (target.media_rate, target.padding)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(100)))]

    #[test]
    fn every_composition_answers_fates_and_ceilings_and_reports_of_loss_alone(
        config in config(),
        limits in limits(),
        calls in calls(),
    ) {
        let mut life = CheckedSender::new(Box::new(GoogCc::new(config, limits).unwrap()), limits);
        for timed in &calls {
            let before = life.sender.target();
            let decided = life.call(timed).is_some();
            match &timed.1 {
                Call::Packets(results, ..) => prop_assert!(!decided || !results.is_empty()),
                Call::Event(PathEvent::Paused | PathEvent::Resumed | PathEvent::DelayRefuted) => prop_assert!(!decided),
                Call::Ceiling(_) | Call::Event(_) => prop_assert!(decided),
                // Changes by a report of loss take effect later.
                Call::Reception(..) => prop_assert!(!decided && rates(&life.sender.target()) == rates(&before)),
                Call::Timeout => {}
                _ => prop_assert!(!decided),
            }
            while let Some(probe) = life.sender.poll_probe() {
                prop_assert!(probe.rate <= life.limits.max() && probe.rate > DataRate::ZERO, "{:?}", probe);
            }
            let mut signals = [0.0; 10];
            life.sender.read_signals(&mut signals);
            let [delay_based, _, _, threshold, _, loss, ..] = signals;
            prop_assert_eq!(delay_based, life.limits.clamp_bps(delay_based));
            prop_assert!((6.0..=600.0).contains(&threshold) && (0.0..=1.0).contains(&loss), "{:?}", signals);
        }
    }

    #[test]
    fn every_composition_survives_five_seconds_of_silence(config in config(), calls in calls()) {
        let sender = GoogCc::new(config, usual_limits()).unwrap();
        recovers_from_silence(Box::new(sender), usual_limits(), &calls, ROUNDS_TO_RECOVER);
    }
}
