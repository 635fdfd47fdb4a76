//! Table 6 and fig. 18: TCP against the direction of the video.

use crate::experiment::{Experiment, Run, defined, largest, mean};
use crate::report::Report;

const VIDEO: &str = "video";
/// TCP runs from 30 to 70 s. Before, the fast start and its queue are over by 15 s.
const BEFORE: (f64, f64) = (15.0, 30.0);
const DURING: (f64, f64) = (30.0, 70.0);

fn rate(run: &Run, (from, to): (f64, f64)) -> f64 {
    mean(&run.between(&run.flow_series(VIDEO).receive_rate_bps, from, to))
}

/// How far the distributions of the gradient before and during TCP are apart.
fn gradients_apart(run: &Run) -> f64 {
    let gradient = |(from, to)| run.between(&run.signal(VIDEO, "m").max, from, to);
    distance(&gradient(BEFORE), &gradient(DURING))
}

/// Greatest distance between the distributions of two samples (Kolmogorov and Smirnov).
fn distance(a: &[f64], b: &[f64]) -> f64 {
    let below =
        |sample: &[f64], x: f64| sample.iter().filter(|&&v| v <= x).count() as f64 / sample.len() as f64;
    let gaps = a.iter().chain(b).map(|&x| (below(a, x) - below(b, x)).abs());
    gaps.fold(0.0, f64::max)
}

#[test]
fn table_6_the_rate_does_not_suffer_from_tcp_on_the_way_back() {
    let mut report = Report::new("table 6: TCP on the way back");
    let runs = Experiment::run("tcp-reverse", &[]);
    runs.table(&mut report);
    let before = report.row("rate from 15 to 30 s, kbit/s", 0, &runs.each(|run| rate(run, BEFORE) / 1e3));
    let during = report.row("rate from 30 to 70 s, kbit/s", 0, &runs.each(|run| rate(run, DURING) / 1e3));
    let without = Experiment::run("tcp-reverse", &["flows.tcp.start=90s", "flows.tcp.stop=95s"]);
    report.row("distance of the gradient's distributions", 2, &runs.each(gradients_apart));
    report.row("the same without TCP", 2, &without.each(gradients_apart));
    let losses = runs.each(|run| defined(run.metrics.media.packet_loss_ratio));
    assert!((during / before - 1.0).abs() < 0.1, "{before} kbit/s before, {during} kbit/s during TCP");
    assert!(largest(&losses) < 0.001);
}

#[test]
fn equal_samples_have_distance_zero_and_separate_ones_distance_one() {
    assert_eq!(distance(&[1.0, 2.0], &[2.0, 1.0]), 0.0);
    assert_eq!(distance(&[1.0, 2.0], &[3.0]), 1.0);
    // At 2: all of the first, half of the second.
    assert_eq!(distance(&[1.0, 2.0], &[2.0, 3.0]), 0.5);
}
