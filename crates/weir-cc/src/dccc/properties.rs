//! Properties of DCCC's variants beyond those of every controller.

use proptest::prelude::*;
use weir_units::TimeDelta;

use super::{Config, Dccc, DcccObserver, DelayThreshold, Interarrival};
use crate::controller::{Observer, PathEvent};
use crate::report::NativeReport;
use crate::testing::{Call, CheckedSender, arrivals, calls, cases, limits};

fn config() -> impl Strategy<Value = Config> {
    let ms = TimeDelta::from_millis;
    let threshold = prop_oneof![
        Just(DelayThreshold::Fixed(ms(100))),
        Just(DelayThreshold::AtLeastMinimum(ms(50))),
        Just(DelayThreshold::AboveMinimum(ms(50)))
    ];
    let interarrival = prop_oneof![Just(Interarrival::Timestamps), Just(Interarrival::Count)];
    let options = (any::<bool>(), prop::option::of(Just(1.0)), prop::option::of(Just(ms(1))));
    (threshold, interarrival, options).prop_map(
        |(threshold, interarrival, (clamp_delay_price, g_max, clock_resolution))| Config {
            threshold,
            interarrival,
            clamp_delay_price,
            g_max,
            clock_resolution,
            smoothing: if clamp_delay_price { 0.5 } else { 0.0 },
            ..Config::default()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(256)))]

    #[test]
    fn every_variant_answers_its_own_report_and_no_other(
        config in config(),
        limits in limits(),
        calls in calls(),
    ) {
        let mut life = CheckedSender::new(Box::new(Dccc::new(config, limits).unwrap()), limits);
        for timed in &calls {
            let decided = life.call(timed).is_some();
            match timed.1 {
                Call::Event(PathEvent::Limits(_) | PathEvent::RouteChanged) => prop_assert!(decided),
                Call::Native(NativeReport::Dccc(_), _) | Call::Timeout => {}
                _ => prop_assert!(!decided),
            }
            let target = life.sender.target();
            prop_assert_eq!(life.sender.stamp().map(|stamp| stamp.rate), Some(target.sending_rate));
        }
    }

    #[test]
    fn the_observer_reports_in_time_and_within_reason(config in config(), arrivals in arrivals()) {
        let mut observer = DcccObserver::new(config).unwrap();
        for packet in &arrivals {
            observer.on_arrival(packet);
            let due = observer.next_report();
            prop_assert!(due.is_some_and(|due| due <= packet.at + config.max_interval));
            while let Some(NativeReport::Dccc(report)) = observer.report(packet.at) {
                prop_assert!(!report.interarrival.is_negative());
                prop_assert!(report.receive_rate().is_none_or(|rate| rate > 0.0 && rate.is_finite()));
            }
        }
    }
}
