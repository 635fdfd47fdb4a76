//! The detector of shared bottlenecks (`coupled::sbd::detector`), which groups flows by RFC 8382.

use proptest::prelude::*;

use super::*;

/// Statistics of a flow at the bottleneck of that number, or at none.
fn at(interval: u64, bottleneck: Option<u32>) -> Statistics {
    Statistics {
        interval,
        skew: if bottleneck.is_some() { 0.0 } else { 0.6 },
        variability: bottleneck.map_or(0.0001, |number| 0.01 * f64::from(1 + number)),
        frequency: 0.2,
        loss: 0.0,
        packets: 0,
        bottleneck: bottleneck.is_some(),
        queuing: 0.02,
        samples: 30,
    }
}

struct DetectorCourse {
    detector: Detector,
    interval: u64,
    changes: Vec<(u64, u32, u32)>,
}

impl DetectorCourse {
    /// A detector that `flows` flows have joined.
    fn of(flows: u32) -> Self {
        let mut detector = Detector::new(nine_tenths()).unwrap();
        (0..flows).for_each(|flow| {
            detector.join(FlowId(flow), None);
        });
        Self { detector, interval: 0, changes: Vec::new() }
    }

    /// Passes `intervals` intervals with each flow at its bottleneck of `places`.
    fn pass(&mut self, intervals: u64, places: &[Option<u32>]) {
        self.pass_with(intervals, |interval, flow| Some(at(interval, places[flow])));
    }

    /// Passes `intervals` intervals; `reported` gives the statistics of an interval and a flow, if it reports any.
    fn pass_with(&mut self, intervals: u64, reported: impl Fn(u64, usize) -> Option<Statistics>) {
        for _ in 0..intervals {
            for flow in 0..self.detector.flows.len() {
                if let Some(statistics) = reported(self.interval, flow) {
                    self.detector.on_statistics(FlowId(flow as u32), &statistics);
                }
            }
            while let Some((FlowId(flow), group)) = self.detector.poll() {
                self.changes.push((self.interval, flow, group));
            }
            self.interval += 1;
        }
    }

    fn groups(&self) -> Vec<u32> {
        (0..self.detector.flows.len()).filter_map(|flow| self.detector.group(FlowId(flow as u32))).collect()
    }
}

#[test]
fn flows_of_one_bottleneck_are_coupled_after_the_start_up() {
    let mut course = DetectorCourse::of(3);
    // For interval 0 only flow 0 sends statistics in time: the detector does not wait for a flow before its first ones.
    course.pass(60, &[Some(0), Some(0), Some(1)]);
    assert_eq!(course.groups(), [1, 2, 3]);
    assert!(course.detector.grouped_now(FlowId(0), FlowId(1)));
    assert!(!course.detector.grouped_now(FlowId(0), FlowId(2)));
    course.pass(1, &[Some(0), Some(0), Some(1)]);
    assert_eq!(course.groups(), [1, 1, 3], "2 M = 60 intervals after the start");
    course.pass(200, &[Some(0), Some(0), Some(1)]);
    assert_eq!(course.changes, [(60, 1, 1)]);
}

#[test]
fn a_bottleneck_that_moves_parts_them_and_numbers_are_never_used_again() {
    let mut course = DetectorCourse::of(2);
    course.pass(100, &[Some(0), Some(0)]);
    course.pass(100, &[Some(0), Some(2)]);
    // In less than half of the last 60 they were together after 31.
    assert_eq!(course.changes[1..], [(130, 1, 3)]);
    course.pass(100, &[Some(0), Some(0)]);
    assert_eq!(course.groups(), [1, 1]);
    course.pass(100, &[Some(0), Some(2)]);
    assert_eq!(course.groups(), [1, 4]);
}

#[test]
fn free_paths_hold_for_a_while() {
    let mut course = DetectorCourse::of(2);
    course.pass(100, &[Some(0), Some(0)]);
    course.pass(85, &[None, None]);
    assert_eq!(course.groups(), [1, 1]);
    course.pass(1, &[None, None]);
    assert_eq!(course.groups(), [1, 3], "30 s are 86 intervals");
}

#[test]
fn similar_flows_on_both_sides_of_the_threshold_stay_in_one_group() {
    // Flow 0 passes a bottleneck, with a skew just below the threshold, and flow 1 passes none, just above it.
    let reported = |skew: f64| {
        move |interval: u64, flow: usize| match flow {
            0 => Some(Statistics { skew: 0.09, ..at(interval, Some(0)) }),
            _ => Some(Statistics { skew, ..at(interval, None) }),
        }
    };
    let mut course = DetectorCourse::of(2);
    course.pass(100, &[Some(0), Some(0)]);
    course.pass_with(80, reported(0.11));
    assert_eq!(course.groups(), [1, 1]);
    course.pass(100, &[Some(0), Some(0)]);
    course.pass_with(80, reported(0.25));
    assert_eq!(course.groups(), [1, 3], "they differ by more than flows of one group do");
}

#[test]
fn a_flow_changes_its_group_once_in_ten_seconds() {
    // Two pairs, one of which flips: with a window of 2 it joins and parts every few intervals.
    let stability = crate::coupled::sbd::StabilityConfig {
        window: 2,
        least: 1,
        start_up: 0,
        join: 1.0,
        part: 0.5,
        ..Default::default()
    };
    let mut course = DetectorCourse::of(2);
    course.detector = Detector::new(Config { stability, ..Config::default() }).unwrap();
    course.detector.join(FlowId(0), None);
    course.detector.join(FlowId(1), None);
    course.pass_with(300, |interval, flow| {
        let together = interval / 3 % 2 == 0;
        Some(at(interval, Some(if together { 0 } else { flow as u32 })))
    });
    let of_second: Vec<u64> =
        course.changes.iter().filter(|&&(_, flow, _)| flow == 1).map(|&(interval, ..)| interval).collect();
    assert!(of_second.len() > 5, "{:?}", course.changes);
    assert!(of_second.windows(2).all(|pair| pair[1] - pair[0] >= 29), "{of_second:?}");
}

#[test]
fn by_default_half_of_what_says_something_joins_and_less_than_a_quarter_parts() {
    let mut course = DetectorCourse::of(2);
    course.detector = Detector::new(Config::default()).unwrap();
    (0..2).for_each(|flow| {
        course.detector.join(FlowId(flow), None);
    });
    course.pass(60, &[None, None]);
    course.pass(11, &[Some(0), Some(2)]);
    course.pass(8, &[Some(0), Some(0)]);
    assert_eq!(course.groups(), [1, 2], "19 say something");
    // Alternating intervals until half of them are together.
    course.pass(3, &[Some(0), Some(0)]);
    assert_eq!(course.changes, [(81, 1, 1)], "11 of 22");
    // 60 are together, then 15 of 60 are left after 45 that are apart, and 14 after one more.
    course.pass(60, &[Some(0), Some(0)]);
    course.pass(45, &[Some(0), Some(2)]);
    assert_eq!(course.groups(), [1, 1]);
    course.pass(1, &[Some(0), Some(2)]);
    assert_eq!(course.groups(), [1, 3]);
}

#[test]
fn a_report_that_comes_late_does_not_take_the_place_of_one_that_waits() {
    let mut flow = Flow::new(FlowId(0), 0);
    flow.take_statistics(&at(5, None));
    flow.take_statistics(&at(2, None));
    assert!(flow.statistics(5).is_some() && flow.statistics(2).is_none());
}

#[test]
fn flows_of_one_five_tuple_are_one_from_the_start() {
    let mut detector = Detector::new(nine_tenths()).unwrap();
    let groups: Vec<u32> = [(0, Some(7)), (1, None), (2, Some(7)), (3, Some(8))]
        .map(|(flow, of)| detector.join(FlowId(flow), of))
        .into();
    assert_eq!(groups, [1, 2, 1, 3]);
    for interval in 0..61 {
        // The flow with more samples counts more: together they are as flow 1.
        detector.on_statistics(FlowId(0), &Statistics { samples: 90, skew: 0.05, ..at(interval, Some(0)) });
        detector.on_statistics(FlowId(2), &Statistics { samples: 10, skew: -0.45, ..at(interval, Some(0)) });
        detector.on_statistics(FlowId(1), &at(interval, Some(0)));
    }
    let changes: Vec<_> = core::iter::from_fn(|| detector.poll()).collect();
    assert_eq!(changes, [(FlowId(1), 1)], "more units, or rate, or the lower number");
    detector.on_rate(FlowId(1), 1e6);
    assert_eq!(detector.group(FlowId(2)), Some(1));
    detector.leave(FlowId(0));
    assert_eq!(detector.join(FlowId(0), Some(7)), 1);
}

#[test]
fn coupling_that_raises_the_delay_is_dropped_and_blocked() {
    let mut course = DetectorCourse::of(3);
    suffer_when_coupled(&mut course, |_| 0.0);
    // Coupled in interval 60, judged 29 intervals later, parted in the one after that, together with the third flow,
    // which was on trial, too. 343 intervals after the judgement they are tried again.
    let parted = [(60, 1, 1), (60, 2, 1), (90, 1, 4), (90, 2, 5), (432, 1, 1), (432, 2, 1)];
    assert_eq!(course.changes, parted);
    // The same if they are known to send more while they are coupled.
    let mut course = DetectorCourse::of(3);
    suffer_when_coupled(&mut course, |coupled| if coupled { 1.1e6 } else { 1e6 });
    assert_eq!(course.changes, parted);
}

#[test]
fn growth_while_a_pair_sends_no_more_is_no_harm_of_its_coupling() {
    for rates in [[1e6, 1e6], [1e6, 0.7e6]] {
        let mut course = DetectorCourse::of(3);
        suffer_when_coupled(&mut course, |coupled| rates[usize::from(coupled)]);
        assert_eq!(course.changes, [(60, 1, 1), (60, 2, 1)]);
    }
}

#[test]
fn a_flow_that_is_pushed_beyond_its_own_bottleneck_parts_the_pair() {
    // Their sum of rates is unchanged, but flow 0 sends half more than its path carries.
    let mut course = DetectorCourse::of(2);
    for _ in 0..120 {
        let coupled = course.groups()[0] == course.groups()[1];
        let rates = if coupled { [1.5e6, 1.5e6] } else { [1e6, 2e6] };
        (0..2).for_each(|flow| course.detector.on_rate(FlowId(flow), rates[flow as usize]));
        course.pass_with(1, |interval, flow| {
            let queuing = if coupled && flow == 0 { 0.06 } else { 0.02 };
            Some(Statistics { queuing, ..at(interval, Some(0)) })
        });
    }
    assert_eq!(course.changes, [(60, 0, 2), (90, 1, 3)]);
}

/// The first two of three flows meet a queue of 50 ms while they are coupled, else all one of 20 ms. They send at `rate`.
fn suffer_when_coupled(course: &mut DetectorCourse, rate: impl Fn(bool) -> f64) {
    for _ in 0..450 {
        let coupled = course.groups()[0] == course.groups()[1];
        (0..3).for_each(|flow| course.detector.on_rate(FlowId(flow), rate(coupled)));
        course.pass_with(1, |interval, flow| {
            let queuing = if coupled && flow < 2 { 0.05 } else { 0.02 };
            Some(Statistics { queuing, ..at(interval, Some(0)) })
        });
    }
}

#[test]
fn the_detector_waits_two_intervals_for_a_late_flow() {
    let mut course = DetectorCourse::of(2);
    // Flow 1 sends the statistics of each interval one interval later than flow 0.
    course.pass_with(100, |interval, flow| match flow {
        0 => Some(at(interval, Some(0))),
        _ => interval.checked_sub(1).map(|late| at(late, Some(0))),
    });
    assert_eq!(course.groups(), [1, 1]);
    // Flow 1 is silent: there are no verdicts on the pair, and in the end it parts.
    course.pass_with(80, |interval, flow| (flow == 0).then(|| at(interval, Some(0))));
    assert_eq!(course.groups(), [1, 1]);
    course.pass_with(20, |interval, flow| (flow == 0).then(|| at(interval, Some(0))));
    assert_eq!(course.groups(), [1, 3]);
}

#[test]
fn a_silent_flow_delays_the_others_by_two_intervals_at_most() {
    let mut course = DetectorCourse::of(3);
    course.pass(100, &[Some(0), Some(0), Some(1)]);
    // The pair parts 30 intervals after its paths did and the two for which flow 2 may be late, not when flow 2 is forgotten.
    let parted = |interval, flow: usize| (flow < 2).then(|| at(interval, Some([0, 2][flow])));
    course.pass_with(31 + 2, parted);
    assert_eq!(course.changes[1..], [(131, 1, 4)]);
}

#[test]
fn impossible_old_or_unknown_statistics_are_refused() {
    let mut detector = Detector::new(nine_tenths()).unwrap();
    detector.join(FlowId(0), None);
    assert!(detector.on_statistics(FlowId(0), &at(5, Some(0))));
    assert!(!detector.on_statistics(FlowId(1), &at(6, Some(0))));
    assert!(!detector.on_statistics(FlowId(0), &at(4, Some(0))));
    assert!(!detector.on_statistics(FlowId(0), &at(u64::MAX, Some(0))));
    assert!(!detector.on_statistics(FlowId(0), &Statistics { skew: f64::NAN, ..at(6, None) }));
    assert!(!detector.on_statistics(FlowId(0), &Statistics { loss: 1.5, ..at(6, None) }));
    assert!(!detector.on_statistics(FlowId(0), &Statistics { variability: f64::INFINITY, ..at(6, None) }));
    assert!(detector.on_statistics(FlowId(0), &at(6, None)));
}

#[derive(Clone, Debug)]
enum DetectorCall {
    Join(u32, Option<u64>),
    Leave(u32),
    Statistics(u32, u64, f64, f64, bool),
    Rate(u32, f64),
}

fn call() -> impl Strategy<Value = DetectorCall> {
    let member = 0..6_u32;
    prop_oneof![
        2 => (member.clone(), prop::option::of(0..2_u64)).prop_map(|(of, bundle)| DetectorCall::Join(of, bundle)),
        1 => member.clone().prop_map(DetectorCall::Leave),
        40 => (member.clone(), prop_oneof![30 => 0..3_u64, 1 => 0..200_u64, 1 => any::<u64>()],
               -1.2..1.2_f64, 0.0..0.02_f64, any::<bool>())
            .prop_map(|(of, ahead, skew, variability, passes)| DetectorCall::Statistics(of, ahead, skew, variability, passes)),
        1 => (member, any::<f64>()).prop_map(|(of, rate)| DetectorCall::Rate(of, rate)),
    ]
}

proptest! {
    #[test]
    fn each_flow_is_in_one_group_and_gets_its_number(
        calls in prop::collection::vec(call(), 0..600), window in 1_u32..5,
    ) {
        let stability = crate::coupled::sbd::StabilityConfig {
            window, least: 1, start_up: 2, between_changes: weir_units::TimeDelta::ZERO, ..Default::default()
        };
        let mut detector = Detector::new(Config { stability, ..Config::default() }).unwrap();
        let mut known = [None; 6];
        let mut interval = 0_u64;
        for call in calls {
            match call {
                DetectorCall::Join(of, bundle) => known[of as usize] = Some(detector.join(FlowId(of), bundle)),
                DetectorCall::Leave(of) => {
                    detector.leave(FlowId(of));
                    known[of as usize] = None;
                }
                DetectorCall::Statistics(of, ahead, skew, variability, passes) => {
                    if ahead == 1 {
                        interval += 1;
                    }
                    let reported = Statistics { skew, variability, ..at(interval.saturating_add(ahead), passes.then_some(0)) };
                    detector.on_statistics(FlowId(of), &reported);
                }
                DetectorCall::Rate(of, rate) => detector.on_rate(FlowId(of), rate),
            }
            while let Some((FlowId(of), group)) = detector.poll() {
                prop_assert!(known[of as usize].is_some());
                known[of as usize] = Some(group);
            }
            for (of, group) in known.iter().enumerate() {
                prop_assert_eq!(*group, detector.group(FlowId(of as u32)));
            }
        }
    }
}

/// Joining at RFC 8382 §3.3's example, parting at a half.
fn nine_tenths() -> Config {
    let stability =
        crate::coupled::sbd::StabilityConfig { least: 30, join: 0.9, part: 0.5, ..Default::default() };
    Config { stability, ..Config::default() }
}
