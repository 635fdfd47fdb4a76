//! Statistics for shared bottleneck detection, computed at either end.

use weir_cc::TimeDelta;
use weir_cc::coupled::Statistics;
use weir_cc::coupled::sbd::Config;
use weir_media::{BottleneckDetection, DetectionSide, MediaConfig, PacketFormat};
use weir_units::DataRate;
use weir_wire::rtcp::Sbd;

use crate::rig::{Call, RECEIVER, SENDER, config, nada};

const T_MS: i64 = 350;

fn detecting(place: DetectionSide) -> MediaConfig {
    let detection = BottleneckDetection::new(place, &Config::DEFAULT).unwrap();
    MediaConfig {
        detection: Some(detection),
        additional_reports: Some(TimeDelta::from_millis(50)),
        ..config()
    }
}

/// A minute of a call over 1 Mbit/s with a loss of one packet in 20.
fn minute(config: &MediaConfig) -> Call {
    let mut call = Call::new(nada(), config, DataRate::from_kbps(1000));
    call.media_loss = 20;
    call.run(TimeDelta::from_secs(60));
    call
}

/// Asserts that there is each interval once, in order, from the beginning to almost the end.
fn assert_each_interval(statistics: &[Statistics]) {
    assert!(
        statistics.iter().enumerate().all(|(n, taken_interval)| taken_interval.interval == n as u64),
        "{statistics:?}"
    );
    let passed = 60_000 / T_MS as usize;
    assert!((passed - 2..=passed).contains(&statistics.len()), "{}", statistics.len());
}

#[test]
fn the_sender_makes_statistics_of_per_packet_feedback() {
    for packet_format in [PacketFormat::TransportWide, PacketFormat::Rfc8888] {
        let call = minute(&MediaConfig { packet_format, ..detecting(DetectionSide::Sender) });
        assert_each_interval(&call.statistics);
        let last = call.statistics.last().unwrap();
        assert!((0.045..0.055).contains(&last.loss), "{last:?}");
        assert!(last.samples > 5 && last.variability < 0.1, "{last:?}");
    }
}

#[test]
fn the_receiver_makes_the_same_of_what_arrives_and_reports_it() {
    let here = minute(&detecting(DetectionSide::Sender)).statistics;
    let there = minute(&detecting(DetectionSide::Receiver)).statistics;
    assert!(there.len().abs_diff(here.len()) <= 1, "{} {}", there.len(), here.len());
    assert!(
        there.windows(2).all(|two| two[1].interval == two[0].interval + 1),
        "no interval is reported twice"
    );
    // The receiver's intervals divide the same time at other places: it knows the sender's clock except for a constant.
    let mean = |of: &[Statistics], value: fn(&Statistics) -> f64| {
        let settled = &of[60..];
        settled.iter().map(value).sum::<f64>() / settled.len() as f64
    };
    let (a, b) = (mean(&here, |statistics| statistics.skew), mean(&there, |statistics| statistics.skew));
    assert!((a - b).abs() < 0.1, "{a} {b}");
    let (a, b) =
        (mean(&here, |statistics| statistics.queuing), mean(&there, |statistics| statistics.queuing));
    assert!((a - b).abs() < 0.15 * a.max(b) + 0.001, "{a} {b}");
    let (a, b) = (mean(&here, |statistics| statistics.loss), mean(&there, |statistics| statistics.loss));
    assert!((a - b).abs() < 0.005, "{a} {b}");
}

#[test]
fn statistics_change_nothing_else() {
    let additional_reports = Some(TimeDelta::from_millis(50));
    let without = minute(&MediaConfig { additional_reports, ..config() });
    let with = minute(&detecting(DetectionSide::Sender));
    // Unknown signals are NaN, and equal only as text.
    assert!(format!("{:?}", with.events) == format!("{:?}", without.events));
    assert!(without.statistics.is_empty());
}

#[test]
fn a_report_that_cannot_be_is_refused_and_counted_and_one_on_another_flow_is_not_ours() {
    let mut call = minute(&detecting(DetectionSide::Receiver));
    let now = weir_cc::SendTime::from_millis(60_000);
    let right =
        Sbd { ssrc: RECEIVER, source: SENDER, defined: true, anew: true, interval: 1, ..Sbd::default() };
    let mut is_taken = |report: Sbd| {
        let mut bytes = [0; Sbd::WIRE_LEN];
        report.write(&mut bytes).unwrap();
        call.sender.on_rtcp(now, &bytes).statistics.is_some()
    };
    assert!(is_taken(right));
    assert!(!is_taken(Sbd { loss: 40_000, ..right }));
    assert!(!is_taken(Sbd { source: SENDER + 100, ..right }));
    assert_eq!(call.sender.refused_statistics(), 1);
}

/// A flow that reports future intervals would end those of all others.
#[test]
fn a_receiver_that_runs_ahead_of_the_senders_clock_is_refused_and_counted() {
    let mut call = minute(&detecting(DetectionSide::Receiver));
    let ended = call.statistics.last().unwrap().interval;
    let mut taken_interval = |passed: u64, number: u64, anew: bool| {
        let interval = number as u16;
        let report = Sbd { ssrc: RECEIVER, source: SENDER, defined: true, anew, interval, ..Sbd::default() };
        let mut bytes = [0; Sbd::WIRE_LEN];
        report.write(&mut bytes).unwrap();
        let now = weir_cc::SendTime::from_millis((ended + passed + 1) as i64 * T_MS + 50);
        call.sender.on_rtcp(now, &bytes).statistics.map(|statistics| statistics.interval)
    };
    assert_eq!(taken_interval(1, 1000, true), Some(ended + 1));
    for passed in 2..=20 {
        assert_eq!(taken_interval(passed, 1000 + 4 * passed, false), None);
    }
    assert_eq!(taken_interval(21, 1081, false), Some(ended + 21));
    assert_eq!(call.sender.refused_statistics(), 19);
}
