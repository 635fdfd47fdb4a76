//! The statistics of delay and loss (`coupled::sbd::statistics`, RFC 8382 §3.2), with values computed by hand.

use proptest::prelude::*;
use weir_units::DataSize;

use super::*;
use crate::packet::{Ecn, SentPacket};

const MS: i64 = 1_000_000;

/// RFC 8382 as written: each packet's delay is a sample, and `var_est` is of intervals with a bottleneck.
fn statistics() -> FlowStatistics {
    let config = Config { sampling: TimeDelta::ZERO, gated_variability: true, ..Config::default() };
    FlowStatistics::new(config).expect("the configuration is valid")
}

/// Feeds packets `(sent, delay)` in ms, and returns the statistics.
fn feed(statistics: &mut FlowStatistics, packets: impl IntoIterator<Item = (f64, f64)>) -> Vec<Statistics> {
    let mut reported = Vec::new();
    for (sent, delay) in packets {
        let nanos = |ms: f64| (ms * MS as f64) as i64;
        let arrived = ArrivalTime::from_nanos(nanos(sent) + nanos(delay));
        statistics.on_arrival(SendTime::from_nanos(nanos(sent)), arrived);
        reported.extend(statistics.poll());
    }
    reported
}

/// Ten packets an interval, 35 ms apart, whose delay in ms is `delay(interval, packet)`.
fn intervals(count: u32, delay: impl Fn(u32, u32) -> f64) -> Vec<(f64, f64)> {
    let packet = |n: u32| (35.0 * f64::from(n), delay(n / 10, n % 10));
    (0..10 * count).map(packet).collect()
}

#[test]
fn two_intervals_by_hand() {
    // Interval 0: 20 ms and 30 ms, five each: E_T = 25 ms. Nothing to compare with yet.
    // Interval 1: seven of 24 ms, three of 34 ms: 7 below 25 ms, 3 above: skew (7 - 3) / 10 = 0.4. Its deviations from
    // 25 ms are 7 of 1 ms and 3 of 9 ms: 34 ms / 10 = 3.4 ms, but the path has no bottleneck at a skew of 0.4.
    let delay = |interval, packet| match (interval, packet) {
        (0, 0..5) => 20.0,
        (0, _) => 30.0,
        (1, 0..7) => 24.0,
        _ => 34.0,
    };
    let mut flow = statistics();
    let reported = feed(&mut flow, intervals(3, delay));
    assert_eq!(reported.len(), 2);
    assert_eq!(
        (reported[0].interval, reported[0].samples, reported[0].skew, reported[0].bottleneck),
        (0, 10, 0.0, false)
    );
    assert!((reported[0].queuing - 0.005).abs() < 1e-9);
    assert_eq!((reported[1].interval, reported[1].skew, reported[1].bottleneck), (1, 0.4, false));
    assert_eq!(reported[1].variability, 0.0);
    // Interval 2: all 34 ms, above the mean of 25 and 27 ms. The weights of both intervals are 11:
    // skew (4 - 10) / 20 = -0.3, and of the intervals with a bottleneck var_est is |34 - 27| ms.
    let third = feed(&mut flow, [(1050.0, 34.0)]);
    assert!((third[0].skew + 0.3).abs() < 1e-12);
    assert!(third[0].bottleneck);
    assert!((third[0].variability - 0.007).abs() < 1e-9, "{:?}", third[0]);
    assert_eq!(third[0].frequency, 0.0);
}

#[test]
fn a_delay_that_swings_each_interval_crosses_in_each() {
    // The delay alternates by more than p_v = 0.7 times its deviation, 20 ms; half of the samples are above the mean.
    let reported =
        feed(&mut statistics(), intervals(200, |interval, _| if interval % 2 == 0 { 20.0 } else { 40.0 }));
    let last = reported.last().unwrap();
    assert!(last.bottleneck && last.skew.abs() < 0.05, "{last:?}");
    assert_eq!(
        last.frequency, 0.0,
        "10 ms from the mean are less than 0.7 of 20 ms from the interval before"
    );
    let slow = |interval: u32, packet: u32| {
        let side = if interval % 10 < 5 { 20.0 } else { 40.0 };
        side + f64::from(packet % 2)
    };
    let reported = feed(&mut statistics(), intervals(200, slow));
    assert_eq!(reported.last().unwrap().frequency, 0.2, "once in five intervals");
}

#[test]
fn an_idle_path_has_no_bottleneck() {
    let reported = feed(&mut statistics(), intervals(100, |_, _| 20.0));
    assert!(
        reported
            .iter()
            .all(|reported| !reported.bottleneck && reported.skew == 0.0 && reported.queuing == 0.0)
    );
    let jitter = |_, packet: u32| 20.0 + 0.1 * f64::from(packet % 2);
    let reported = feed(&mut statistics(), intervals(100, jitter));
    assert!(
        reported.iter().all(|reported| !reported.bottleneck),
        "0.05 ms are less than a quarter of 250 us"
    );
}

#[test]
fn between_the_thresholds_of_the_skew_a_path_keeps_the_bottleneck_that_it_has() {
    // Packets of ten below the mean: skews of 0.2, 0, 0.2, 0.4 and 0.2, each for longer than the window.
    let below = [6, 5, 6, 7, 6];
    let delay = |interval: u32, packet: u32| {
        if packet < below[(interval as usize / 40).min(4)] { 20.0 } else { 40.0 }
    };
    let reported = feed(&mut statistics(), intervals(5 * 40 + 1, delay));
    let ends = [39, 79, 119, 159, 199].map(|end: usize| reported[end]);
    for (reported, skew) in ends.iter().zip([0.2, 0.0, 0.2, 0.4, 0.2]) {
        assert!((reported.skew - skew).abs() < 1e-9, "{reported:?}");
    }
    // RFC 8382 §3.3.1: below c_s = 0.1 there is one, and up to c_h = 0.3 there still is.
    assert_eq!(ends.map(|reported| reported.bottleneck), [false, true, true, false, false]);
}

#[test]
fn much_loss_is_a_bottleneck_and_what_comes_after_all_is_taken_back() {
    let mut flow = statistics();
    let (mut reported, mut lost) = (Vec::new(), Vec::new());
    for n in 0..200_i64 {
        let sent = SendTime::from_millis(35 * n);
        if n % 5 == 4 {
            flow.on_loss(sent);
            lost.push(sent);
        } else {
            flow.on_arrival(sent, ArrivalTime::from_millis(35 * n + 20));
        }
        reported.extend(flow.poll());
    }
    let last = reported.last().unwrap();
    assert_eq!(last.loss, 0.2);
    assert!(last.bottleneck);
    for &sent in &lost[..38] {
        flow.on_recovery(sent, ArrivalTime::ZERO);
    }
    // 200 packets, two lost, and one that closes the interval.
    flow.on_arrival(SendTime::from_millis(7000), ArrivalTime::from_millis(7020));
    let last = flow.poll().unwrap();
    assert_eq!((last.loss, last.samples), (2.0 / 200.0, 8));
}

#[test]
fn an_empty_interval_moves_no_mean_and_many_forget_everything() {
    let mut flow = statistics();
    let shape = |_: u32, packet: u32| if packet < 5 { 20.0 } else { 40.0 };
    feed(&mut flow, intervals(40, shape));
    let (mean, previous) = (flow.mean_delay, flow.previous);
    assert_eq!(flow.intervals(), 39);
    // Intervals 40 to 49 are empty; intervals that end at once give one result.
    let reported = feed(&mut flow, [(350.0 * 50.0, 20.0)]);
    assert_eq!(reported.len(), 1);
    assert_eq!((reported[0].interval, reported[0].samples), (49, 0));
    assert!((flow.mean_delay - mean).abs() < 1e-12 && (flow.previous - previous).abs() < 1e-12);
    // More than M = 30 empty ones.
    assert!(feed(&mut flow, [(350.0 * 81.0, 20.0)]).is_empty());
    assert_eq!(flow.intervals(), 0);
    let reported = feed(&mut flow, [(350.0 * 82.0, 20.0)]);
    assert_eq!((reported[0].interval, reported[0].skew, reported[0].bottleneck), (81, 0.0, false));
}

#[test]
fn a_clock_that_is_set_begins_anew_and_a_queue_that_fills_does_not() {
    let leap = |by: f64| {
        let mut flow = statistics();
        let shape =
            |interval: u32, packet: u32| f64::from(packet) + if interval < 50 { 20.0 } else { 20.0 + by };
        feed(&mut flow, intervals(52, shape));
        flow.intervals() < 3
    };
    assert!(leap(1100.0) && leap(-1100.0));
    assert!(leap(500.0), "100 times var_est, and longer than an interval");
    assert!(!leap(300.0) && !leap(5.0));
}

#[test]
fn neither_clock_offset_nor_skew_changes_the_statistics() {
    // A queue of up to 60 ms that fills and empties in 3.5 s, with some noise.
    let shape = |interval: u32, packet: u32| {
        let n = interval * 10 + packet;
        20.0 + 60.0 * f64::from(n % 100) / 100.0 + f64::from(n * 7 % 13)
    };
    let course = |offset_s: f64, skew: f64| {
        let packets = intervals(1000, shape);
        feed(
            &mut statistics(),
            packets.into_iter().map(|(sent, delay)| (sent, delay + offset_s * 1000.0 + skew * sent)),
        )
    };
    let plain = course(0.0, 0.0);
    assert_eq!(course(1e6, 0.0).len(), plain.len());
    for (a, b) in course(1e6, 0.0).iter().zip(&plain) {
        assert!((a.skew - b.skew).abs() < 1e-9 && a.frequency == b.frequency && a.bottleneck == b.bottleneck);
        assert!((a.variability - b.variability).abs() < 1e-6);
    }
    for ppm in [-100.0, 100.0] {
        for (skewed, plain) in course(0.0, ppm * 1e-6).iter().zip(&plain) {
            assert_eq!(skewed.bottleneck, plain.bottleneck);
            // Before the skew is known it shifts the mean of 10 s by a part of a millisecond.
            assert!((skewed.skew - plain.skew).abs() < 0.04, "{skewed:?} {plain:?}");
            assert!((skewed.frequency - plain.frequency).abs() < 0.03, "{skewed:?} {plain:?}");
            assert!((skewed.variability - plain.variability).abs() < 0.0005, "{skewed:?} {plain:?}");
        }
    }
}

#[derive(Clone, Debug)]
enum StatisticsCall {
    Arrival(i64, i64),
    Several(i64, i64, u32),
    Loss(i64, u32),
    Recovery(i64, i64),
    Reset,
}

fn call() -> impl Strategy<Value = StatisticsCall> {
    let sent = prop_oneof![20 => -2_000..40_000_i64, 1 => any::<i64>()];
    let arrived = prop_oneof![20 => -2_000..60_000_i64, 1 => any::<i64>()];
    prop_oneof![
        20 => (sent.clone(), arrived.clone()).prop_map(|(sent, at)| StatisticsCall::Arrival(sent, at)),
        2 => (sent.clone(), arrived.clone(), any::<u32>()).prop_map(|(sent, at, n)| StatisticsCall::Several(sent, at, n)),
        4 => (sent.clone(), prop_oneof![0..20_u32, any::<u32>()]).prop_map(|(sent, n)| StatisticsCall::Loss(sent, n)),
        4 => (sent, arrived).prop_map(|(sent, at)| StatisticsCall::Recovery(sent, at)),
        1 => Just(StatisticsCall::Reset),
    ]
}

proptest! {
    #[test]
    fn statistics_stay_in_their_ranges(
        calls in prop::collection::vec(call(), 0..400), in_order in any::<bool>(), small in any::<bool>(),
    ) {
        let small_window = Config { long_window: 5, window: 4, flat: 2, ..Config::default() };
        let config = if small { small_window } else { Config::default() };
        let mut flow = FlowStatistics::new(config).unwrap();
        let mut calls = calls;
        if in_order {
            calls.sort_by_key(|call| match *call {
                StatisticsCall::Arrival(sent, _)
                | StatisticsCall::Several(sent, ..)
                | StatisticsCall::Loss(sent, _)
                | StatisticsCall::Recovery(sent, _) => sent,
                StatisticsCall::Reset => 20_000,
            });
        }
        for call in calls {
            let (sent, arrived) = (|ms: i64| SendTime::from_millis(ms), |ms: i64| ArrivalTime::from_millis(ms));
            match call {
                StatisticsCall::Arrival(s, a) => flow.on_arrival(sent(s), arrived(a)),
                StatisticsCall::Several(s, a, n) => flow.on_arrivals(sent(s), arrived(a), n),
                StatisticsCall::Loss(s, n) => flow.on_losses(sent(s), n),
                StatisticsCall::Recovery(s, a) => flow.on_recovery(sent(s), arrived(a)),
                StatisticsCall::Reset => flow.reset(),
            }
            if let Some(reported) = flow.poll() {
                prop_assert!(reported.is_possible(), "{reported:?}");
            }
        }
    }
}

#[test]
fn a_burst_gives_one_sample_a_slot_and_all_of_its_packets_count_for_loss() {
    // Five packets at once each 50 ms, of which the first waits least.
    let burst = |n: u32| {
        (0..5).map(move |packet| (50.0 * f64::from(n) + f64::from(packet), 20.0 + f64::from(packet)))
    };
    let first = |mut flow: FlowStatistics| {
        feed(&mut flow, (0..7).flat_map(burst));
        flow.on_loss(SendTime::from_millis(349));
        feed(&mut flow, [(350.0, 20.0)])[0]
    };
    let reported = first(FlowStatistics::new(Config::default()).unwrap());
    assert_eq!((reported.samples, reported.loss, reported.queuing), (7, 1.0 / 36.0, 0.0));
    let reported = first(statistics());
    assert_eq!((reported.samples, reported.loss), (35, 1.0 / 36.0));
    assert!((reported.queuing - 0.002).abs() < 1e-9, "{reported:?}");
}

#[test]
fn without_the_gate_the_deviation_is_that_of_all_intervals() {
    // As in the intervals by hand, but 3.4 ms after interval 1, and (34 + 70) ms / 20 = 5.2 ms after interval 2.
    let delay = |interval, packet| match (interval, packet) {
        (0, 0..5) => 20.0,
        (0, _) => 30.0,
        (1, 0..7) => 24.0,
        _ => 34.0,
    };
    let mut flow = FlowStatistics::new(Config { sampling: TimeDelta::ZERO, ..Config::default() }).unwrap();
    let reported = feed(&mut flow, intervals(3, delay));
    assert!((reported[1].variability - 0.0034).abs() < 1e-9 && !reported[1].bottleneck, "{:?}", reported[1]);
    let third = feed(&mut flow, [(1050.0, 34.0)]);
    assert!((third[0].variability - 0.0052).abs() < 1e-9, "{:?}", third[0]);
}

#[test]
fn a_packet_at_an_unknown_time_is_no_loss_and_no_sample() {
    let result = |n: u64, fate| {
        let sent = SentPacket::new(n, SendTime::from_millis(10 * n as i64), DataSize::from_bytes(1000));
        PacketResult { sent, fate }
    };
    let at = |n: u64| Some(ArrivalTime::from_millis(10 * n as i64 + 25));
    let (mut timed, mut untimed) = (statistics(), statistics());
    let mut reported = [None; 2];
    for n in 0..400 {
        // Of ten packets one is lost, which comes late; of the others a third has no time.
        let fate = |at| match n % 10 {
            0 => PacketFate::Missing,
            _ => PacketFate::Arrived { at, ecn: Ecn::NotEct },
        };
        timed.on_results(&[result(n, fate(at(n)))]);
        untimed.on_results(&[result(n, fate(at(n).filter(|_| n % 3 > 0)))]);
        if n % 20 == 5 {
            timed.on_results(&[result(n - 5, PacketFate::Recovered { at: at(n - 5), ecn: Ecn::NotEct })]);
            untimed.on_results(&[result(n - 5, PacketFate::Recovered { at: None, ecn: Ecn::NotEct })]);
        }
        reported = [timed.poll().or(reported[0]), untimed.poll().or(reported[1])];
    }
    let [timed, untimed] = reported.map(Option::unwrap);
    assert_eq!((timed.loss, timed.interval), (untimed.loss, untimed.interval));
    assert!(untimed.samples < timed.samples && untimed.samples > timed.samples / 2);
    assert!((timed.queuing - untimed.queuing).abs() < 1e-9);
}
