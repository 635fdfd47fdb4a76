//! Properties of every configuration of nada-2016.

use proptest::prelude::*;

use super::{Config, Nada2016, Nada2016Observer, OffsetForm};
use crate::controller::Observer;
use crate::nada::NadaPacing;
use crate::report::NativeReport;
use crate::testing::{CheckedSender, arrivals, calls, cases, limits, survives_silence, usual_limits};

fn config() -> impl Strategy<Value = Config> {
    let base = prop::sample::select(vec![Config::nada_2016(), Config::reproduction(), Config::framework()]);
    let form = prop::sample::select(vec![OffsetForm::Paper, OffsetForm::Zhu06]);
    let pacing = prop::sample::select(vec![NadaPacing::Shaped, NadaPacing::Factor(2.5), NadaPacing::Unpaced]);
    (base, form, pacing, any::<bool>()).prop_map(|(base, offset_form, pacing, ramp_guard)| Config {
        ramp_guard,
        offset_form,
        pacing,
        ..base
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(256)))]

    #[test]
    fn every_configuration_keeps_its_promises(config in config(), limits in limits(), calls in calls()) {
        let mut life = CheckedSender::new(Box::new(Nada2016::new(config, limits).unwrap()), limits);
        for call in &calls {
            life.call(call);
            let mut signals = [0.0; 4];
            life.sender.read_signals(&mut signals);
            prop_assert_eq!(signals[3], life.limits.clamp_bps(signals[3]));
        }
    }

    #[test]
    fn every_configuration_survives_five_seconds_of_silence(config in config(), calls in calls()) {
        survives_silence(Box::new(Nada2016::new(config, usual_limits()).unwrap()), usual_limits(), &calls);
    }

    #[test]
    fn the_signal_is_bounded_by_its_terms(config in config(), arrivals in arrivals()) {
        let mut observer = Nada2016Observer::new(config).unwrap();
        for packet in &arrivals {
            observer.on_arrival(packet);
            while let Some(NativeReport::Nada(report)) = observer.report(packet.at) {
                // 50 ms of delay, 1 s of loss, 0.2 s of marks.
                prop_assert!((0.0..=1250.0).contains(&report.congestion.millis_f64()), "{:?}", report);
            }
        }
    }
}
