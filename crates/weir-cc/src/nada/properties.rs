//! Properties of NADA's variants beyond those of every controller.

use proptest::prelude::*;
use weir_units::TimeDelta;

use super::{Config, CongestionBound, LossAverage, Nada, NadaObserver, NadaPacing};
use crate::controller::{Observer, PathEvent};
use crate::report::NativeReport;
use crate::testing::{Call, CheckedSender, arrivals, calls, cases, limits, survives_silence, usual_limits};
use crate::time::ArrivalTime;

fn config() -> impl Strategy<Value = Config> {
    let bound = prop_oneof![
        Just(CongestionBound::At(TimeDelta::from_millis(500))),
        Just(CongestionBound::Wire),
        Just(CongestionBound::Unbounded)
    ];
    let pacing =
        prop_oneof![Just(NadaPacing::Shaped), Just(NadaPacing::Factor(2.5)), Just(NadaPacing::Unpaced)];
    let average = prop_oneof![Just(LossAverage::Closed), Just(LossAverage::WithOpen)];
    (bound, pacing, average).prop_map(|(congestion_bound, pacing, loss_average)| Config {
        congestion_bound,
        loss_average,
        pacing,
        ..Config::default()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(256)))]

    #[test]
    fn every_variant_answers_its_own_report_and_no_other(
        config in config(),
        limits in limits(),
        calls in calls(),
    ) {
        let mut life = CheckedSender::new(Box::new(Nada::new(config, limits).unwrap()), limits);
        for timed in &calls {
            let decided = life.call(timed).is_some();
            match timed.1 {
                Call::Native(NativeReport::Nada(_), _) | Call::Event(PathEvent::Limits(_) | PathEvent::RouteChanged) => prop_assert!(decided),
                Call::Timeout => {}
                _ => prop_assert!(!decided),
            }
            let target = life.sender.target();
            prop_assert!(target.media_rate <= target.sending_rate);
            let mut signals = [0.0; 4];
            life.sender.read_signals(&mut signals);
            let reference = signals[3];
            prop_assert_eq!(reference, life.limits.clamp_bps(reference));
        }
    }

    #[test]
    fn every_variant_survives_five_seconds_of_silence(config in config(), calls in calls()) {
        survives_silence(Box::new(Nada::new(config, usual_limits()).unwrap()), usual_limits(), &calls);
    }

    #[test]
    fn the_observer_reports_in_time_and_within_reason(config in config(), arrivals in arrivals()) {
        let mut observer = NadaObserver::new(config).unwrap();
        for packet in &arrivals {
            observer.on_arrival(packet);
            let due = observer.next_report();
            prop_assert!(due.is_some_and(|due| due <= packet.at + config.feedback_interval));
            while let Some(NativeReport::Nada(report)) = observer.report(packet.at) {
                prop_assert!(!report.congestion.is_negative());
            }
            let mut signals = [0.0; 6];
            observer.read_signals(&mut signals);
            let ratios = &signals[2..4];
            prop_assert!(ratios.iter().all(|ratio| (0.0..=1.0).contains(ratio)), "{:?}", ratios);
        }
        observer.report(ArrivalTime::MAX);
        prop_assert_eq!(observer.next_report(), None);
    }
}
