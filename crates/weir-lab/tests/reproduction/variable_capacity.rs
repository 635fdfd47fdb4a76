//! Table 1 and fig. 13: one flow, 1 / 2.5 / 0.5 / 1 Mbit/s for 50 s each.

use std::sync::LazyLock;

use crate::experiment::{Experiment, Run, defined, largest, least, mean};
use crate::report::Report;

const VIDEO: &str = "video";
/// The capacity rises to 2.5 Mbit/s, falls to 0.5 Mbit/s and rises to 1 Mbit/s.
const RISE: f64 = 50.0;
const FALL: f64 = 100.0;
const RECOVERY: f64 = 150.0;
/// The highest rate of the encoder, of payload.
const ENCODER_MAX_BPS: f64 = 2e6;
/// Bins of the series in a second, and in three.
const SECOND: usize = 10;
const THREE_SECONDS: usize = 30;

static RUNS: LazyLock<Experiment> = LazyLock::new(|| Experiment::run("variable-capacity", &[]));

/// Means over a second, from each bin on.
fn second_means(bins: &[f64]) -> Vec<f64> {
    bins.windows(SECOND).map(mean).collect()
}

/// Seconds from the rise until the payload received per second is at least 90 % of the encoder's maximum for three
/// seconds.
fn ramp(run: &Run) -> f64 {
    // The series counts headers; their share hardly changes with the rate.
    let payload_share = defined(run.flow(VIDEO).payload_rate_bps) / defined(run.flow(VIDEO).rate_bps);
    let received = run.between(&run.flow_series(VIDEO).receive_rate_bps, RISE, FALL);
    let reached: Vec<bool> =
        second_means(&received).iter().map(|rate| rate * payload_share >= 0.9 * ENCODER_MAX_BPS).collect();
    let held = reached.windows(THREE_SECONDS).position(|window| window.iter().all(|&bin| bin));
    // The first of the seconds ends a second after it began.
    held.map_or(f64::INFINITY, |bin| (bin + SECOND) as f64 / SECOND as f64)
}

#[test]
fn table_1_utilisation_delay_and_loss_are_those_of_the_paper() {
    let mut report = Report::new("table 1: one flow, variable capacity");
    let table = RUNS.table(&mut report);
    assert!((78.0..=92.0).contains(&table.utilisation));
    assert!(table.median <= 40.0);
    assert!((80.0..=300.0).contains(&table.p95));
    assert!(table.loss < 1.0);
}

#[test]
fn fig_13_the_rate_takes_10_to_40_s_after_the_capacity_rose() {
    let mut report = Report::new("fig. 13: after the rise at 50 s");
    let ramps = RUNS.each(ramp);
    report.row("time to 90 % of 2 Mbit/s, s", 1, &ramps);
    assert!(ramps.iter().all(|ramp| (10.0..=40.0).contains(ramp)), "{ramps:?}");
}

#[test]
fn fig_13_the_encoder_limits_the_rate_to_2_mbps() {
    let mut report = Report::new("fig. 13: at the encoder's limit");
    let settled = Experiment::run("variable-capacity", &[r#"measure={ from = "80s", to = "100s" }"#]);
    let rates = settled.each(|run| defined(run.flow(VIDEO).payload_rate_bps));
    report.row(
        "payload received from 80 to 100 s, kbit/s",
        0,
        &rates.iter().map(|r| r / 1e3).collect::<Vec<_>>(),
    );
    // 600 frames whose sizes scatter by 10 %: the mean scatters by 0.4 %.
    assert!(largest(&rates) <= 1.01 * ENCODER_MAX_BPS);
    assert!(least(&rates) >= 0.9 * ENCODER_MAX_BPS);
}

#[test]
fn fig_13_the_rate_is_below_the_capacity_within_5_s_of_its_fall() {
    let mut report = Report::new("fig. 13: after the fall at 100 s");
    let sent =
        |run: &Run| second_means(&run.between(&run.flow_series(VIDEO).send_rate_bps, FALL, FALL + 5.0));
    let lowest = RUNS.each(|run| least(&sent(run)));
    report.row(
        "lowest rate sent in a second by 105 s, kbit/s",
        0,
        &lowest.iter().map(|r| r / 1e3).collect::<Vec<_>>(),
    );
    assert!(largest(&lowest) < 0.5e6);
}

#[test]
fn table_1_packets_are_lost_only_after_the_capacity_fell() {
    let mut report = Report::new("table 1: where packets are lost");
    let after_fall = Experiment::run("variable-capacity", &[r#"measure={ from = "100s", to = "106s" }"#]);
    let all = RUNS.each(|run| run.lost_packets(VIDEO));
    let there = after_fall.each(|run| run.lost_packets(VIDEO));
    report.row("packets lost", 0, &all);
    report.row("packets lost within 6 s of the fall", 0, &there);
    let shares: Vec<f64> = there.iter().zip(&all).map(|(there, all)| 100.0 * there / all).collect();
    report.row("share of them, %", 1, &shares);
    let gamma = |run: &Run| largest(&run.between(&run.signal(VIDEO, "gamma").max, FALL, 108.0));
    report.row("largest threshold from 100 to 108 s, ms", 1, &RUNS.each(gamma));
    let over = |run: &Run| largest(&run.between(&run.signal(VIDEO, "usage").max, 105.0, 110.0));
    report.row("runs with over-use from 105 to 110 s, share", 1, &RUNS.each(over));
    let queue = |run: &Run| mean(&run.between(&run.series.links[0].queue_mean_ms, 140.0, RECOVERY));
    report.row("wait in the queue from 140 to 150 s, ms", 0, &RUNS.each(queue));
    for run in &RUNS.0 {
        let loss = |from, to| largest(&run.between(&run.flow_series(VIDEO).loss_ratio, from, to));
        assert_eq!((loss(0.0, FALL), loss(RECOVERY, 200.0)), (0.0, 0.0));
    }
    assert!(least(&there) > 0.0);
}
