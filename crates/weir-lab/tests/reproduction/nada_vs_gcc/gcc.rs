//! The side of GCC, its sender-side form, and the two laws set against each other under the same seeds.

use std::sync::LazyLock;

use weir_lab::results::stats::{Estimate, paired_difference};

use super::{
    FIVE, HALF, SECOND, VIDEOS, calm, fair_late_in_each_step, final_shares, jains, last_over_first, losses,
    means, medians, of, p95s, received, share, table, together, utilisations, variation, variations,
};
use crate::experiment::{Experiment, Run, defined, largest, mean};
use crate::report::Report;

static ONE: LazyLock<Experiment> = LazyLock::new(|| of("variable-capacity-gcc"));
static TWO: LazyLock<Experiment> = LazyLock::new(|| of("two-flows-variable-gcc"));
static THREE: LazyLock<Experiment> = LazyLock::new(|| of("three-flows-gcc"));
static TCP: LazyLock<Experiment> = LazyLock::new(|| of("tcp-one-gcc"));

/// NADA less GCC, seed by seed.
fn difference(report: &mut Report, what: &str, nada: &[f64], gcc: &[f64]) -> Estimate {
    let each: Vec<f64> = nada.iter().zip(gcc).map(|(nada, gcc)| nada - gcc).collect();
    report.row(&format!("NADA less GCC: {what}"), 2, &each);
    paired_difference(nada, gcc).expect("the same seeds")
}

fn higher(difference: Estimate) -> bool {
    difference.mean > 0.0 && difference.excludes_zero()
}

#[test]
fn table_1_one_flow_of_gcc_follows_the_capacity() {
    let mut report = Report::new("nada-vs-gcc-2016, table I: one flow of GCC");
    let gcc = table(&ONE, &mut report);
    assert!(gcc.utilisation >= 68.0);
    assert!(gcc.p5 <= 26.0);
    assert!((13.0..=53.0).contains(&gcc.median));
    assert!((20.0..=80.0).contains(&gcc.p95));
    assert!((0.05..=1.5).contains(&gcc.loss));
    let nada = &super::ONE;
    let utilisation = difference(&mut report, "utilisation", &utilisations(nada), &utilisations(&ONE));
    let median = difference(&mut report, "median delay, ms", &medians(nada), &medians(&ONE));
    difference(&mut report, "95th percentile, ms", &p95s(nada), &p95s(&ONE));
    assert!(utilisation.mean >= -1.0);
    assert!(higher(median));
    assert!(mean(&medians(nada)) < 60.0 && gcc.median < 60.0);
    assert!((0.05..=2.0).contains(&mean(&losses(nada))));
}

#[test]
fn fig_6_gcc_reaches_the_risen_capacity() {
    let mut report = Report::new("nada-vs-gcc-2016, fig. 6: GCC");
    let rise = |run: &Run| means(&received(run, "video", 40.0, 60.0), SECOND);
    let near = |rate: &f64| *rate >= 0.9 * 2.5e6;
    let reached = ONE.each(|run| {
        let first = rise(run).iter().position(near);
        first.map_or(20.0, |n| n as f64 / SECOND as f64 + 1.0)
    });
    let reached = report.row("90 % of 2.5 Mbit/s in a second, s after the rise", 1, &reached);
    let held = ONE.each(|run| f64::from(rise(run).windows(3 * SECOND).any(|rates| rates.iter().all(near))));
    report.row("held for 3 s within the 20 s, share of the runs", 1, &held);
    let highest = ONE.each(|run| largest(&rise(run)) / 1e3);
    report.row("highest rate in a second at 2.5 Mbit/s, kbit/s", 0, &highest);
    let calm = report.row("delay below 80 ms outside 60 to 65 s, % of the time", 1, &calm(&ONE));
    assert!((8.0..20.0).contains(&reached));
    assert!(calm >= 95.0);
    for (from, to) in [(0.0, 40.0), (60.0, 80.0), (80.0, 100.0)] {
        let rate = |run: &Run| mean(&received(run, "video", from, to)) / 1e3;
        let (nada, gcc) = (super::ONE.each(rate), ONE.each(rate));
        let what = format!("rate from {from} to {to} s, kbit/s");
        report.row(&format!("NADA: {what}"), 0, &nada);
        report.row(&format!("GCC: {what}"), 0, &gcc);
        assert!(higher(difference(&mut report, &what, &nada, &gcc)), "{what}");
    }
}

#[test]
fn table_2_three_flows_of_gcc_share_a_link_without_loss_and_less_evenly_than_nada() {
    let mut report = Report::new("nada-vs-gcc-2016, table II: three flows of GCC");
    let gcc = table(&THREE, &mut report);
    let jain = THREE.jain(&mut report);
    assert!(gcc.utilisation >= 73.0);
    assert!(gcc.p5 <= 21.0);
    assert!(gcc.median <= 40.0);
    assert!(gcc.loss < 0.1);
    assert!(jain >= 0.79);
    let nada = &super::THREE;
    let fairer = difference(&mut report, "Jain's index", &jains(nada), &jains(&THREE));
    let fuller = difference(&mut report, "utilisation", &utilisations(nada), &utilisations(&THREE));
    assert!(higher(fairer) && higher(fuller));
}

#[test]
fn fig_7_gcc_takes_longer_and_the_larger_rate_drops_by_more() {
    let mut report = Report::new("nada-vs-gcc-2016, fig. 7: GCC");
    let share = final_shares(&THREE, &mut report);
    let late = report.row("rate of the last over the first from 100 to 120 s", 2, &last_over_first(&THREE));
    assert!(share >= 0.5 && late <= 1.5);
    let gcc = together(&THREE);
    report.row("all within 25 % of the fair share, s after the third came", 1, &gcc);
    let sooner = difference(&mut report, "the same, s", &together(&super::THREE), &gcc);
    assert!(sooner.mean < 0.0 && sooner.excludes_zero());
    for name in ["three-flows", "three-flows-gcc"] {
        let whole = Experiment::of(&format!("nada-vs-gcc-2016/{name}"), &["measure.from=0s"]);
        let loss = report.row(&format!("{name}: loss over the whole 120 s, %"), 3, &losses(&whole));
        assert_eq!(loss, 0.0, "{name}");
    }
    let drops: Vec<Vec<(f64, f64)>> = THREE.0.iter().map(common_drops).collect();
    let counts: Vec<f64> = drops.iter().map(|drops| drops.len() as f64 / 3.0).collect();
    report.row("over-uses common to all three", 0, &counts);
    let all: Vec<(f64, f64)> = drops.concat();
    let correlation = report.row("correlation of rate and drop, over all of them", 2, &[correlation(&all)]);
    assert!(correlation > 0.0);
}

/// Rate before and drop, of each flow, wherever the targets of all three fall by 5 % within half a second.
fn common_drops(run: &Run) -> Vec<(f64, f64)> {
    let targets = VIDEOS.map(|flow| run.between(&run.flow_series(flow).target_rate_bps, 40.0, 120.0));
    let (mut drops, mut n) = (Vec::new(), 0);
    while n + HALF < targets[0].len() {
        let here: Vec<(f64, f64)> = targets
            .iter()
            .map(|target| {
                (target[n], target[n] - target[n..=n + HALF].iter().copied().fold(target[n], f64::min))
            })
            .collect();
        if here.iter().all(|&(before, drop)| drop >= 0.05 * before) {
            drops.extend(here);
            n += SECOND;
        } else {
            n += 1;
        }
    }
    drops
}

fn correlation(pairs: &[(f64, f64)]) -> f64 {
    let (x, y): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
    let (mx, my) = (mean(&x), mean(&y));
    let product: f64 = pairs.iter().map(|&(x, y)| (x - mx) * (y - my)).sum();
    let square = |values: &[f64], mean: f64| values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>();
    product / (square(&x, mx) * square(&y, my)).sqrt()
}

#[test]
fn table_3_two_flows_of_gcc_keep_delay_and_loss_below_those_of_nada() {
    let mut report = Report::new("nada-vs-gcc-2016, table III: two flows of GCC");
    let gcc = table(&TWO, &mut report);
    let jain = TWO.jain(&mut report);
    assert!(gcc.utilisation >= 66.0);
    assert!(gcc.p5 <= 20.0);
    assert!(gcc.median <= 40.0);
    assert!((22.0..=88.0).contains(&gcc.p95));
    assert!(gcc.loss <= 1.3);
    assert!(jain >= 0.78);
    let nada = &super::TWO;
    assert!(mean(&jains(nada)) >= 0.78);
    for (what, values) in [
        ("utilisation", utilisations as fn(&Experiment) -> Vec<f64>),
        ("median delay, ms", medians),
        ("95th percentile, ms", p95s),
        ("loss, %", losses),
    ] {
        assert!(higher(difference(&mut report, what, &values(nada), &values(&TWO))), "{what}");
    }
    assert!(mean(&p95s(nada)) >= 2.0 * gcc.p95);
}

#[test]
fn fig_8_two_flows_of_gcc_stay_fair() {
    let mut report = Report::new("nada-vs-gcc-2016, fig. 8: GCC");
    let fair = fair_late_in_each_step(&TWO, &mut report);
    let gcc = variations(&TWO, 75.0, 100.0);
    report.row("variation of the rate at 1 Mbit/s, 75 to 100 s", 2, &gcc);
    difference(&mut report, "the same", &variations(&super::TWO, 75.0, 100.0), &gcc);
    assert!(fair >= 0.8);
}

#[test]
fn table_4_gcc_beside_tcp_keeps_its_share() {
    let mut report = Report::new("nada-vs-gcc-2016, table IV: GCC beside one TCP flow");
    let total = TCP.each(|run| share(run.metrics.links[0].utilisation.bits));
    let total = report.row("total utilisation, %", 1, &total);
    let loss = report.row("loss of GCC, %", 2, &TCP.each(|run| share(run.flow("video").loss_ratio)));
    report.row("loss of TCP, %", 2, &TCP.each(|run| share(run.flow("tcp").loss_ratio)));
    let jain = TCP.jain(&mut report);
    let p95 = report.row("queuing delay, 95th percentile, ms", 0, &p95s(&TCP));
    let rate = TCP.each(|run| defined(run.flow("video").rate_bps) / 1e6);
    report.row("rate of GCC, Mbit/s", 2, &rate);
    let gcc = settled(&TCP);
    report.row("GCC: both near 1 Mbit/s, s after its start", 0, &gcc);
    let nada = settled(&super::TCP);
    report.row("NADA: both near 1 Mbit/s, s after its start", 0, &nada);
    let sooner = difference(&mut report, "the same, s", &nada, &gcc);
    assert!(sooner.mean < 0.0 && sooner.excludes_zero());
    let vary = |runs: &Experiment| runs.each(|run| variation(run, "video", 55.0, 120.0));
    report.row("variation of GCC's rate from 55 s on", 2, &vary(&TCP));
    difference(&mut report, "the same", &vary(&super::TCP), &vary(&TCP));
    let tcp = TCP.each(|run| defined(run.flow("tcp").rate_bps) / 1e6);
    let tcp = report.row("rate of TCP, Mbit/s", 2, &tcp);
    assert!(total >= 94.0);
    assert!((0.4..=3.3).contains(&loss));
    assert!(jain >= 0.72);
    assert!(p95 >= 200.0);
    assert!((0.5..=1.6).contains(&mean(&rate)) && tcp >= 0.5);
}

/// Seconds from the start of the media flow until the means of ten seconds of both flows are within 40 % of 1 Mbit/s
/// and stay there; 115 for never.
fn settled(runs: &Experiment) -> Vec<f64> {
    runs.each(|run| {
        let rates = ["video", "tcp"].map(|flow| means(&received(run, flow, 5.0, 120.0), 2 * FIVE));
        let out = |n: &usize| rates.iter().any(|rates| (rates[*n] / 1e6 - 1.0).abs() > 0.4);
        let last = (0..rates[0].len().min(rates[1].len())).rev().find(out);
        last.map_or(0.0, |n| if n + 1 == rates[0].len() { 115.0 } else { (n + 1) as f64 / SECOND as f64 })
    })
}
