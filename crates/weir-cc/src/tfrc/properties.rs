//! Properties of TFRC's variants under arbitrary sequences of calls, beyond the properties of every controller in
//! [`testing`](crate::testing).

use proptest::prelude::*;

use super::{Config, Tfrc, TfrcObserver};
use crate::controller::{Observer, PathEvent};
use crate::report::NativeReport;
use crate::testing::{Call, CheckedSender, arrivals, calls, cases, limits, survives_silence, usual_limits};
use crate::time::ArrivalTime;

/// The configurations of RFC 5348 and of ns-2, each with and without two of its options.
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
    fn every_variant_decides_by_tfrc_reports_and_events_only(config in config(), limits in limits(), calls in calls()) {
        let mut sender = CheckedSender::new(Box::new(Tfrc::new(config, limits).unwrap()), limits);
        for timed_call in &calls {
            let has_decided = sender.call(timed_call).is_some();
            match timed_call.1 {
                Call::Event(PathEvent::Limits(_) | PathEvent::RouteChanged) => prop_assert!(has_decided),
                // A report gives no rate before the round-trip time is known, or before the next doubling is due.
                Call::Native(NativeReport::Tfrc(_), _) | Call::Timeout => {}
                _ => prop_assert!(!has_decided),
            }
            let target = sender.sender.target();
            prop_assert!(target.media_rate <= target.sending_rate);
        }
    }

    #[test]
    fn every_variant_survives_five_seconds_of_silence(config in config(), calls in calls()) {
        survives_silence(Box::new(Tfrc::new(config, usual_limits()).unwrap()), usual_limits(), &calls);
    }

    #[test]
    fn the_observer_reports_in_time_and_in_range(config in config(), arrivals in arrivals()) {
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
