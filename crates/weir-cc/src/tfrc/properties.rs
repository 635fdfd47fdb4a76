//! Properties of TFRC's variants beyond those of every controller.

use proptest::prelude::*;

use super::{Config, Tfrc, TfrcObserver};
use crate::controller::{Observer, PathEvent};
use crate::report::NativeReport;
use crate::testing::{Call, CheckedSender, arrivals, calls, cases, limits, survives_silence, usual_limits};
use crate::time::ArrivalTime;

fn config() -> impl Strategy<Value = Config> {
    let base = prop_oneof![Just(Config::default()), Just(Config::ns2())];
    (base, any::<bool>(), prop_oneof![Just(1.0), Just(0.25)]).prop_map(
        |(base, oscillation_prevention, discount_threshold)| Config {
            oscillation_prevention,
            discount_threshold,
            ..base
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(256)))]

    #[test]
    fn every_variant_answers_its_own_report_and_no_other(config in config(), limits in limits(), calls in calls()) {
        let mut life = CheckedSender::new(Box::new(Tfrc::new(config, limits).unwrap()), limits);
        for timed in &calls {
            let decided = life.live(timed).is_some();
            match timed.1 {
                Call::Event(PathEvent::Limits(_) | PathEvent::RouteChanged) => prop_assert!(decided),
                // No rate before a round-trip time is known, nor until it is time to double.
                Call::Law(NativeReport::Tfrc(_), _) | Call::Timeout => {}
                _ => prop_assert!(!decided),
            }
            let target = life.sender.target();
            prop_assert!(target.media_rate <= target.sending_rate);
        }
    }

    #[test]
    fn every_variant_survives_five_seconds_of_silence(config in config(), calls in calls()) {
        survives_silence(Box::new(Tfrc::new(config, usual_limits()).unwrap()), usual_limits(), &calls);
    }

    #[test]
    fn the_observer_reports_in_time_and_within_reason(config in config(), arrivals in arrivals()) {
        let mut observer = TfrcObserver::new(config).unwrap();
        for packet in &arrivals {
            observer.on_arrival(packet);
            while let Some(NativeReport::Tfrc(report)) = observer.report(packet.at) {
                prop_assert!((0.0..=1.0).contains(&report.loss_event_rate), "{:?}", report);
            }
            prop_assert!(observer.next_report().is_some_and(|due| due > packet.at));
        }
        observer.report(ArrivalTime::MAX);
        observer.report(ArrivalTime::MAX);
        prop_assert_eq!(observer.next_report(), None);
    }
}
