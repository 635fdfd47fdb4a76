//! Properties of every window algorithm, for any sequence of events.

use proptest::prelude::*;
use weir_units::TimeDelta;

use super::hystart::{Config, HyStart};
use super::{
    Ack, Congestion, Cubic, Dctcp, Delivery, HighSpeed, NewReno, Rules, Westwood, Window, WindowAlgorithm,
    highspeed, westwood,
};
use crate::time::SendTime;

/// An event that a transport may report to an algorithm.
#[derive(Clone, Debug)]
enum Event {
    Delivery { delivered: f64, marked: f64, outstanding: f64, rtt: Option<i64>, recovering: bool },
    Ack { acked: f64, limited: bool },
    Congestion { kind: Congestion, flight: f64 },
    Undo,
    Idle,
}

fn event() -> impl Strategy<Value = Event> {
    let kind = prop_oneof![Just(Congestion::Loss), Just(Congestion::Timeout), Just(Congestion::Ecn)];
    let count = || prop_oneof![0.0..10.0f64, Just(0.0), 0.0..1e6f64];
    prop_oneof![
        4 => (count(), count(), count(), proptest::option::of(1i64..10_000), any::<bool>()).prop_map(
            |(delivered, marked, outstanding, rtt, recovering)| {
                Event::Delivery { delivered, marked, outstanding, rtt, recovering }
            }
        ),
        4 => (0.0..1e4f64, any::<bool>()).prop_map(|(acked, limited)| Event::Ack { acked, limited }),
        2 => (kind, count()).prop_map(|(kind, flight)| Event::Congestion { kind, flight }),
        1 => Just(Event::Undo),
        1 => Just(Event::Idle),
    ]
}

/// The window algorithms with their rules and forms.
fn algorithms() -> Vec<Box<dyn WindowAlgorithm>> {
    let mut algorithms: Vec<Box<dyn WindowAlgorithm>> = Vec::new();
    algorithms.push(Box::new(Cubic::linux_3_16(Some(HyStart::new(Config::linux_3_16())))));
    algorithms.push(Box::new(Cubic::linux_6(Some(HyStart::new(Config::linux())))));
    for rules in [Rules::default(), Rules::rfc_5681(), Rules::linux(), Rules::linux_6(), Rules::ns3_26()] {
        algorithms.push(Box::new(NewReno::with_rules(rules)));
        algorithms.push(Box::new(Cubic::with_rules(rules, Some(HyStart::new(Config::linux())))));
        algorithms.push(Box::new(HighSpeed::with_rules(highspeed::Response::Formula, rules)));
        algorithms.push(Box::new(HighSpeed::with_rules(highspeed::Response::Table, rules)));
        for estimator in [
            westwood::Estimator::Linux,
            westwood::Estimator::Ns3,
            westwood::Estimator::Ns3AckSpacing,
            westwood::Estimator::Ns3PerAck,
        ] {
            algorithms.push(Box::new(Westwood::with_rules(estimator, rules)));
        }
        algorithms.push(Box::new(Dctcp::with_rules(rules)));
    }
    algorithms
}

/// Passes `event` to `algorithm` at `now`.
fn apply_event(algorithm: &mut dyn WindowAlgorithm, window: &mut Window, now: SendTime, event: &Event) {
    let rtt = TimeDelta::from_millis(50);
    match *event {
        Event::Delivery { delivered, marked, outstanding, rtt, recovering } => {
            let rtt = rtt.map(TimeDelta::from_millis);
            let min_rtt = rtt.unwrap_or(TimeDelta::MAX);
            algorithm.on_delivery(
                window,
                &Delivery { now, delivered, marked, outstanding, rtt, min_rtt, recovering },
            );
        }
        Event::Ack { acked, limited } => {
            algorithm.on_ack(window, &Ack { now, acked, srtt: rtt, min_rtt: rtt, window_limited: limited });
        }
        Event::Congestion { kind, flight } => algorithm.on_congestion(window, now, kind, flight),
        Event::Undo => algorithm.on_undo(window, now),
        Event::Idle => algorithm.on_idle(window, rtt),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn an_algorithm_that_is_reset_is_as_new(events in proptest::collection::vec((event(), 0i64..2000), 1..30)) {
        for (mut algorithm, new) in algorithms().into_iter().zip(algorithms()) {
            let mut window = Window { cwnd: 10.0, ssthresh: f64::INFINITY };
            let mut now = SendTime::ZERO;
            for (event, wait) in &events {
                now += TimeDelta::from_millis(*wait);
                apply_event(algorithm.as_mut(), &mut window, now, event);
            }
            algorithm.reset();
            prop_assert_eq!(format!("{algorithm:?}"), format!("{new:?}"));
        }
    }

    #[test]
    fn window_stays_a_number_and_only_congestion_shrinks_it(
        events in proptest::collection::vec((event(), 0i64..2000), 1..100),
    ) {
        for mut algorithm in algorithms() {
            let mut window = Window { cwnd: 10.0, ssthresh: f64::INFINITY };
            let mut now = SendTime::ZERO;
            for (event, wait) in &events {
                now += TimeDelta::from_millis(*wait);
                let before = window.cwnd;
                apply_event(algorithm.as_mut(), &mut window, now, event);
                prop_assert!(window.cwnd.is_finite() && window.cwnd >= 2.0, "{algorithm:?}: {window:?}");
                prop_assert!(window.ssthresh >= 2.0, "{algorithm:?}: {window:?}");
                if !matches!(event, Event::Congestion { .. }) {
                    prop_assert!(window.cwnd >= before, "{algorithm:?} after {event:?}");
                }
            }
        }
    }
}
