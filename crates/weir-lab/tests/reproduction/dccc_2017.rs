//! dccc-2017, figs. 5, 6, 13, 14 and 15. Nothing in them is left to chance but the times of the receiver reports, which
//! DCCC does not use: one run each, as in the paper, but for fig. 6.

use crate::experiment::{Experiment, Run, defined, largest, least, mean};
use crate::report::Report;

const THREE: [&str; 3] = ["video-1", "video-2", "video-3"];
/// Propagation in figs. 5, 6, 13 and 14, in ms.
const PROPAGATION: f64 = 25.0;
/// Of fig. 13, in Mbit/s; the paper does not print which.
const CAPACITIES: [f64; 10] = [0.5, 0.75, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0];

fn window(from: u32, to: u32) -> String {
    format!(r#"measure={{ from = "{from}s", to = "{to}s" }}"#)
}

/// Mean rates in kbit/s.
fn rates(run: &Run, flows: &[&str]) -> Vec<f64> {
    flows.iter().map(|name| defined(run.flow(name).rate_bps) / 1e3).collect()
}

/// Mean one-way delay of the first flow above propagation, in ms.
fn queuing(run: &Run, flow: &str) -> f64 {
    defined(run.flow(flow).owd_excess_ms.mean)
}

fn report_shares(report: &mut Report, run: &Run, flows: &[&str]) -> (Vec<f64>, f64) {
    let rates = rates(run, flows);
    for (name, rate) in flows.iter().zip(&rates) {
        report.row(&format!("rate of {name}, kbit/s"), 0, &[*rate]);
    }
    let delay = report.row("one-way delay, ms", 1, &[PROPAGATION + queuing(run, flows[0])]);
    report.row("loss, %", 2, &[100.0 * defined(run.metrics.media.packet_loss_ratio)]);
    (rates, delay)
}

fn jain(rates: &[f64]) -> f64 {
    let (sum, squares): (f64, f64) = (rates.iter().sum(), rates.iter().map(|rate| rate * rate).sum());
    sum * sum / (rates.len() as f64 * squares)
}

#[test]
fn fig_5_flows_share_a_long_queue_and_more_of_them_wait_longer() {
    let mut report = Report::new("dccc-2017, fig. 5: two flows, then three, then two");
    let three = Run::once("dccc-2017/three-flows-delay", &[]);
    let mut delays = Vec::new();
    for (flows, from, to, expected) in [(2, 50, 99, 119.0), (3, 200, 255, 131.0), (2, 280, 320, 119.0)] {
        let run = Run::once("dccc-2017/three-flows-delay", &[&window(from, to)]);
        let (rates, delay) = report_shares(&mut report, &run, &THREE[..flows]);
        let share = 3000.0 / flows as f64;
        assert!(rates.iter().all(|rate| (rate / share - 1.0).abs() < 0.1), "{rates:?}");
        assert!(jain(&rates) > 0.98);
        assert!((delay - expected).abs() < 10.0, "{delay} ms");
        assert_eq!(defined(run.metrics.media.packet_loss_ratio), 0.0);
        delays.push(delay);
    }
    assert!(delays[1] > delays[0] && delays[1] > delays[2]);
    // From 150 s the latecomer has what the others have.
    let late = mean(&three.between(&three.flow_series("video-3").receive_rate_bps, 150.0, 250.0));
    let early = mean(&three.between(&three.flow_series("video-1").receive_rate_bps, 150.0, 250.0));
    assert!((late / early - 1.0).abs() < 0.1, "{late}, {early}");
}

#[test]
fn fig_6_flows_share_a_short_queue_by_their_losses() {
    let mut report = Report::new("dccc-2017, fig. 6: two flows, then three");
    // Whose packets find the queue full depends on how the flows' packets interleave: ten runs in which each flow
    // starts up to 50 ms later. π/(1 − π) = h/x at equilibrium: 1.3 and 2 %.
    for (flows, from, to, loss) in [(2, 50, 99, 0.013), (3, 200, 255, 0.02)] {
        let spread = THREE.map(|flow| format!("flows.{flow}.start_spread=50ms"));
        let window = window(from, to);
        let overrides = [&window, &spread[0], &spread[1], &spread[2]].map(String::as_str);
        let runs = Experiment::of("dccc-2017/three-flows-loss", &overrides);
        let share = 3000.0 / flows as f64;
        for flow in &THREE[..flows] {
            let rates = runs.each(|run| defined(run.flow(flow).rate_bps) / 1e3);
            let rate = report.row(&format!("rate of {flow}, kbit/s"), 0, &rates);
            assert!((rate / share - 1.0).abs() < 0.15, "{flow}: {rate}");
        }
        let fair = report.row("Jain's index", 3, &runs.each(|run| jain(&rates(run, &THREE[..flows]))));
        assert!(fair > 0.95);
        let lost = runs.each(|run| 100.0 * defined(run.metrics.media.packet_loss_ratio));
        let lost = report.row("loss, %", 2, &lost) / 100.0;
        assert!((loss / 2.0..loss * 2.0).contains(&lost), "{lost}");
        let longest = runs.each(|run| PROPAGATION + defined(run.metrics.media.owd_excess_ms.max));
        report.row("largest one-way delay, ms", 1, &longest);
        assert!(largest(&longest) < 100.0, "delay has no price: {longest:?} ms");
    }
}

/// Mean, largest queuing delay in ms and coefficient of variation of the rate of one flow at a capacity in Mbit/s.
fn alone(report: &mut Report, scenario: &str, capacity: f64) -> [f64; 3] {
    let rate = format!("dumbbell.bottleneck.rate={capacity}Mbps");
    let run = Run::once(&format!("dccc-2017/{scenario}"), &[&rate]);
    let flow = run.flow("video");
    let variation = 100.0 * defined(flow.rate_sd_bps) / defined(flow.rate_bps);
    let name = |what: &str| format!("{scenario} at {capacity} Mbit/s: {what}");
    report.row(&name("rate, kbit/s"), 0, &[defined(flow.rate_bps) / 1e3]);
    [
        report.row(&name("queuing delay, mean, ms"), 1, &[queuing(&run, "video")]),
        report.row(&name("queuing delay, largest, ms"), 1, &[defined(flow.owd_excess_ms.max)]),
        report.row(&name("variation of the rate, %"), 2, &[variation]),
    ]
}

#[test]
fn fig_13_the_delay_of_one_flow_follows_equation_18() {
    let mut report = Report::new("dccc-2017, fig. 13: one flow of DCCC");
    // Eq. (18) less propagation.
    let expected = [
        (0.5, 158.0),
        (1.0, 106.0),
        (1.5, 94.0),
        (2.0, 89.0),
        (2.5, 86.0),
        (3.0, 84.0),
        (4.0, 82.0),
        (6.0, 79.0),
    ];
    for (capacity, delay) in expected {
        let [mean, _, _] = alone(&mut report, "one-flow", capacity);
        assert!((mean - delay).abs() < 10.0, "{capacity} Mbit/s: {mean} ms");
    }
}

/// How far apart the mean delays are, in ms, over the capacities.
fn range(delays: &[f64]) -> f64 {
    largest(delays) - least(delays)
}

#[test]
fn fig_13_delay_varies_most_with_nada_and_least_with_ledbat() {
    let mut report = Report::new("dccc-2017, fig. 13: NADA, DCCC and LEDBAT alone");
    let mut means = |scenario| CAPACITIES.map(|capacity| alone(&mut report, scenario, capacity)[0]);
    let (nada, dccc, ledbat) = (means("one-flow-nada"), means("one-flow"), means("one-flow-ledbat"));
    for (what, delays) in [("NADA", &nada), ("DCCC", &dccc), ("LEDBAT", &ledbat)] {
        report.row(&format!("{what}: largest less least mean delay, ms"), 1, &[range(delays)]);
    }
    assert!(range(&nada) > range(&dccc) && range(&dccc) > range(&ledbat));
    assert!(nada.windows(2).all(|pair| pair[1] < pair[0]), "{nada:?}");
    // Its target.
    assert!(ledbat.iter().all(|delay| (delay - 100.0).abs() < 15.0), "{ledbat:?}");
}

#[test]
fn fig_13_the_simplified_gcc_waits_least_up_to_2500_kbps() {
    let mut report = Report::new("dccc-2017, fig. 13: the simplified GCC against the others");
    for capacity in CAPACITIES.into_iter().filter(|&capacity| capacity <= 2.5) {
        let mut mean = |scenario| alone(&mut report, scenario, capacity)[0];
        let gcc = mean("one-flow-gcc");
        let others = ["one-flow", "one-flow-ledbat", "one-flow-nada"].map(&mut mean);
        assert!(others.iter().all(|&other| gcc < other), "{capacity} Mbit/s: {gcc} ms, {others:?}");
    }
}

#[test]
fn fig_14_nada_and_ledbat_are_steady_too() {
    let mut report = Report::new("dccc-2017, fig. 14: NADA and LEDBAT on 1.5 Mbit/s");
    let [_, _, swings] = alone(&mut report, "one-flow-gcc", 1.5);
    for scenario in ["one-flow-nada", "one-flow-ledbat"] {
        let [_, _, steady] = alone(&mut report, scenario, 1.5);
        assert!(steady < 3.0 && swings > 5.0 * steady, "{scenario}: {steady} %");
    }
}

#[test]
fn fig_14_dccc_is_steady_and_the_simplified_gcc_is_not() {
    let mut report = Report::new("dccc-2017, fig. 14: one flow on 1.5 Mbit/s");
    let [dccc, _, steady] = alone(&mut report, "one-flow", 1.5);
    let [mean, largest, swings] = alone(&mut report, "one-flow-gcc", 1.5);
    assert!(steady < 3.0 && swings > 5.0 * steady);
    assert!(mean < dccc && largest > 2.0 * mean, "{mean}, {largest} ms");
}

#[test]
fn fig_15_delay_grows_as_the_bandwidth_falls() {
    let mut report = Report::new("dccc-2017, fig. 15: DCCC beside a constant flow that takes steps");
    // Eq. (18) at 2, 1.5, 1 and 0.5 Mbit/s.
    let paths = [
        (25, 50, [58.0, 62.0, 69.0, 100.0]),
        (50, 100, [117.0, 123.0, 138.0, 200.0]),
        (100, 150, [178.0, 189.0, 213.0, 317.0]),
    ];
    for (propagation, threshold, expected) in paths {
        let delay = format!("dumbbell.bottleneck.delay={propagation}ms");
        let fixed = format!("flows.video.options.threshold.fixed={threshold}ms");
        // The second half of each step but the first, in which the flow is still climbing where the path is long.
        let seen = [0, 1, 2, 3, 2, 1, 0_usize].iter().enumerate().skip(1).map(|(step, &level)| {
            let end = 50 * (step as u32 + 1);
            let run = Run::once("dccc-2017/bandwidth-steps", &[&delay, &fixed, &window(end - 25, end)]);
            let link =
                run.metrics.links.iter().find(|link| link.name == "bottleneck").expect("the bottleneck");
            assert!(defined(link.utilisation.bits) > 0.95);
            (level, f64::from(propagation) + queuing(&run, "video"))
        });
        for (level, delay) in seen.collect::<Vec<_>>() {
            let wanted: f64 = expected[level];
            report.row(&format!("{propagation} ms, step of {wanted} ms: one-way delay, ms"), 1, &[delay]);
            assert!((delay - wanted).abs() < (0.08 * wanted).max(10.0), "{delay} ms, not {wanted}");
        }
    }
}
