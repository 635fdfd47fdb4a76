//! nada-vs-gcc-2016, tables I to IV and figs. 6 to 9: here the side of NADA, in `gcc` that of GCC and the two set
//! against each other.

mod gcc;

use std::sync::LazyLock;

use weir_lab::results::Value;

use crate::experiment::{Experiment, Run, defined, largest, least, mean};
use crate::report::Report;

/// Bins of the series in half a second, in a second, in five.
const HALF: usize = 5;
const SECOND: usize = 10;
const FIVE: usize = 50;
/// Fair share of three flows, in bit/s.
const FAIR: f64 = 3.5e6 / 3.0;

const VIDEOS: [&str; 3] = ["video-1", "video-2", "video-3"];

static ONE: LazyLock<Experiment> = LazyLock::new(|| of("variable-capacity"));
static TWO: LazyLock<Experiment> = LazyLock::new(|| of("two-flows-variable"));
static THREE: LazyLock<Experiment> = LazyLock::new(|| of("three-flows"));
static TCP: LazyLock<Experiment> = LazyLock::new(|| of("tcp-one"));

fn of(name: &str) -> Experiment {
    Experiment::of(&format!("nada-vs-gcc-2016/{name}"), &[])
}

fn share(value: Value) -> f64 {
    100.0 * defined(value)
}

/// What the tables of this paper give, as means over the runs.
struct Table {
    utilisation: f64,
    p5: f64,
    median: f64,
    p95: f64,
    loss: f64,
}

/// Rate over fair share in each run, in per cent.
fn utilisations(runs: &Experiment) -> Vec<f64> {
    runs.each(|run| share(run.metrics.links[0].utilisation.fair_share))
}

/// Median of the queuing delay in each run, in ms.
fn medians(runs: &Experiment) -> Vec<f64> {
    runs.each(|run| defined(run.metrics.media.owd_excess_ms.p50))
}

/// 95th percentile of the queuing delay in each run, in ms.
fn p95s(runs: &Experiment) -> Vec<f64> {
    runs.each(|run| defined(run.metrics.media.owd_excess_ms.p95))
}

/// Loss of the media flows in each run, in per cent.
fn losses(runs: &Experiment) -> Vec<f64> {
    runs.each(|run| share(run.metrics.media.loss_ratio))
}

/// Jain's index of the mean rates in each run.
fn jains(runs: &Experiment) -> Vec<f64> {
    runs.each(|run| defined(run.metrics.jain.of_means))
}

fn table(runs: &Experiment, report: &mut Report) -> Table {
    let time = runs.each(|run| share(run.metrics.links[0].utilisation.time_mean));
    let utilisation = report.row("rate over fair share, %", 1, &utilisations(runs));
    report.row("utilisation as time mean, %", 1, &time);
    let p5 = runs.each(|run| defined(run.metrics.media.owd_excess_ms.p5));
    Table {
        utilisation,
        p5: report.row("queuing delay, 5th percentile, ms", 1, &p5),
        median: report.row("queuing delay, median, ms", 1, &medians(runs)),
        p95: report.row("queuing delay, 95th percentile, ms", 1, &p95s(runs)),
        loss: report.row("loss, %", 2, &losses(runs)),
    }
}

/// Means over `bins` bins, from each bin on.
fn means(values: &[f64], bins: usize) -> Vec<f64> {
    values.windows(bins).map(mean).collect()
}

fn received(run: &Run, flow: &str, from: f64, to: f64) -> Vec<f64> {
    run.between(&run.flow_series(flow).receive_rate_bps, from, to)
}

/// Standard deviation over mean of the rate received per half second.
fn variation(run: &Run, flow: &str, from: f64, to: f64) -> f64 {
    let bins = received(run, flow, from, to);
    let rates: Vec<f64> = bins.chunks_exact(HALF).map(mean).collect();
    let middle = mean(&rates);
    let variance = mean(&rates.iter().map(|rate| (rate - middle) * (rate - middle)).collect::<Vec<_>>());
    variance.sqrt() / middle
}

/// How much of the time outside 60 to 65 s the delay in fig. 6 is below 80 ms, in per cent.
fn calm(runs: &Experiment) -> Vec<f64> {
    runs.each(|run| {
        let delays = &run.flow_series("video").owd_excess_mean_ms;
        let mut outside = run.between(delays, 0.0, 60.0);
        outside.extend(run.between(delays, 65.0, 100.0));
        100.0 * outside.iter().filter(|&&delay| delay < 80.0).count() as f64 / outside.len() as f64
    })
}

/// Seconds from the start of the third flow until all are within 25 % of the fair share over five; 80 for never.
fn together(runs: &Experiment) -> Vec<f64> {
    runs.each(|run| {
        let rates = VIDEOS.map(|flow| means(&received(run, flow, 40.0, 120.0), FIVE));
        let within = |n: usize| rates.iter().all(|rates| (rates[n] / FAIR - 1.0).abs() <= 0.25);
        let first = (0..rates[0].len()).find(|&n| within(n));
        first.map_or(80.0, |n| (n + FIVE) as f64 / SECOND as f64)
    })
}

/// Rate of the last flow over that of the first from 100 to 120 s.
fn last_over_first(runs: &Experiment) -> Vec<f64> {
    runs.each(|run| {
        let [first, _, last] = VIDEOS.map(|flow| mean(&received(run, flow, 100.0, 120.0)));
        last / first
    })
}

/// Reports the rates over the fair share from 100 to 120 s; returns the least mean.
fn final_shares(runs: &Experiment, report: &mut Report) -> f64 {
    let shares = VIDEOS.map(|flow| {
        let shares = runs.each(|run| mean(&received(run, flow, 100.0, 120.0)) / FAIR);
        report.row(&format!("{flow}: rate over fair share from 100 to 120 s"), 2, &shares)
    });
    least(&shares)
}

/// Mean variation of the rates of the two flows of fig. 8.
fn variations(runs: &Experiment, from: f64, to: f64) -> Vec<f64> {
    runs.each(|run| mean(&["video-1", "video-2"].map(|flow| variation(run, flow, from, to))))
}

/// Reports Jain's index late in each step of fig. 8; returns the least mean.
fn fair_late_in_each_step(runs: &Experiment, report: &mut Report) -> f64 {
    let steps = [0.0, 25.0, 50.0, 75.0, 100.0].map(|begin| {
        let jain = runs.each(|run| {
            let [a, b] =
                ["video-1", "video-2"].map(|flow| mean(&received(run, flow, begin + 15.0, begin + 25.0)));
            (a + b) * (a + b) / (2.0 * (a * a + b * b))
        });
        report.row(&format!("Jain's index in the last 10 s of the 25 from {begin} s on"), 3, &jain)
    });
    least(&steps)
}

#[test]
fn table_1_one_flow_follows_the_capacity() {
    let mut report = Report::new("nada-vs-gcc-2016, table I: one flow, variable capacity");
    let table = table(&ONE, &mut report);
    assert!(table.utilisation >= 71.0);
    assert!(table.p5 <= 26.0);
    assert!((16.0..=65.0).contains(&table.median));
    assert!((26.0..=106.0).contains(&table.p95));
    assert!(table.loss <= 1.8);
}

#[test]
fn fig_6_the_rate_does_not_reach_the_risen_capacity_and_delay_stays_low_but_for_the_fall() {
    let mut report = Report::new("nada-vs-gcc-2016, fig. 6");
    let highest = ONE.each(|run| largest(&means(&received(run, "video", 40.0, 60.0), SECOND)) / 1e3);
    report.row("highest rate in a second at 2.5 Mbit/s, kbit/s", 0, &highest);
    let calm = calm(&ONE);
    report.row("delay below 80 ms outside 60 to 65 s, % of the time", 1, &calm);
    let spike =
        ONE.each(|run| largest(&run.between(&run.flow_series("video").owd_excess_max_ms, 60.0, 65.0)));
    report.row("longest delay from 60 to 65 s, ms", 0, &spike);
    assert!(largest(&highest) < 2400.0);
    assert!(mean(&calm) >= 95.0);
    assert!(mean(&spike) >= 200.0);
}

#[test]
fn table_2_three_flows_share_a_link_without_loss() {
    let mut report = Report::new("nada-vs-gcc-2016, table II: three flows, one after another");
    let table = table(&THREE, &mut report);
    let jain = THREE.jain(&mut report);
    assert!(table.utilisation >= 79.0);
    assert!(table.p5 <= 22.0);
    assert!(table.median <= 40.0);
    assert!((25.0..=100.0).contains(&table.p95));
    assert!(table.loss < 0.1);
    assert!(jain >= 0.87);
}

#[test]
fn fig_7_the_flows_come_together() {
    let mut report = Report::new("nada-vs-gcc-2016, fig. 7");
    final_shares(&THREE, &mut report);
    let together = together(&THREE);
    report.row("all within 25 % of the fair share, s after the third came", 1, &together);
    let late = last_over_first(&THREE);
    report.row("rate of the last over the first from 100 to 120 s", 2, &late);
}

#[test]
fn table_3_two_flows_follow_the_capacity() {
    let mut report = Report::new("nada-vs-gcc-2016, table III: two flows, variable capacity");
    let table = table(&TWO, &mut report);
    let jain = TWO.jain(&mut report);
    assert!(table.utilisation >= 69.0);
    assert!(table.p5 <= 21.0);
    assert!((19.0..=76.0).contains(&table.median));
    assert!((75.0..=300.0).contains(&table.p95));
    assert!(table.loss <= 3.0);
    assert!(jain >= 0.77);
}

#[test]
fn fig_8_the_rates_oscillate_at_1_mbps() {
    let mut report = Report::new("nada-vs-gcc-2016, fig. 8");
    let calm = variations(&TWO, 25.0, 50.0);
    let wild = variations(&TWO, 75.0, 100.0);
    report.row("variation of the rate at 2 Mbit/s, 25 to 50 s", 2, &calm);
    report.row("variation of the rate at 1 Mbit/s, 75 to 100 s", 2, &wild);
    fair_late_in_each_step(&TWO, &mut report);
}

#[test]
fn table_4_a_flow_beside_tcp_keeps_its_share() {
    let mut report = Report::new("nada-vs-gcc-2016, table IV: beside one TCP flow");
    let total = TCP.each(|run| share(run.metrics.links[0].utilisation.bits));
    let total = report.row("total utilisation, %", 1, &total);
    let loss = report.row("loss of NADA, %", 2, &TCP.each(|run| share(run.flow("video").loss_ratio)));
    report.row("loss of TCP, %", 2, &TCP.each(|run| share(run.flow("tcp").loss_ratio)));
    let jain = TCP.jain(&mut report);
    let p95 = TCP.each(|run| defined(run.flow("video").owd_excess_ms.p95));
    let p95 = report.row("queuing delay, 95th percentile, ms", 0, &p95);
    let rate = TCP.each(|run| defined(run.flow("video").rate_bps) / 1e6);
    report.row("rate of NADA, Mbit/s", 2, &rate);
    report.row("variation of NADA's rate", 2, &TCP.each(|run| variation(run, "video", 5.0, 120.0)));
    assert!(total >= 93.0);
    assert!((0.4..=4.2).contains(&loss));
    assert!(jain >= 0.73);
    assert!(p95 >= 200.0);
    assert!((0.6..=1.4).contains(&mean(&rate)));
}
