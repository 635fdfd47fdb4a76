//! A range of rates a hundred times the path, as for a game's stream on a bad link.

use super::verdict::{Finding, assert_as_said, judge};
use super::{Runs, of_every_controller, rate, set};

/// The capacity here, in bit/s.
const THIN: f64 = 500e3;

/// By its own equation NADA rests at x = XREF·RMAX/r = 1 s. That is the sum of 300 ms of queue and the penalty of some 10 % of
/// loss.
const NADA: &[&str] = &["nada", "nada-at-sender"];

/// Runs of every controller over 500 kbit/s, from start rates of 300 kbit/s and 10 Mbit/s.
fn runs() -> Vec<Runs> {
    let starting = |start: &str| {
        set(&[
            "measure={ from = \"20s\" }",
            "links.forward.rate=500kbps",
            "flows.video.encoder.max_rate=50Mbps",
            "flows.video.rates.max=50Mbps",
            &format!("flows.video.rates.start={start}"),
        ])
    };
    of_every_controller(&["300kbps", "10Mbps"].map(starting))
}

/// Whether both runs use 70 % of the link at a loss of at most `most_loss`.
fn finding(runs: &Runs, most_loss: f64) -> Finding {
    let fates: Vec<(f64, f64)> =
        runs.metrics.iter().map(|run| (run.flows[0].loss_ratio.unwrap_or(0.0), rate(run))).collect();
    let shown: Vec<String> = fates
        .iter()
        .map(|(loss, rate)| format!("{:.1} % lost, {:.0} kbit/s", 100.0 * loss, rate / 1e3))
        .collect();
    Finding {
        controller: runs.controller,
        figures: format!("from 300 kbit/s {}; from 10 Mbit/s {}", shown[0], shown[1]),
        holds: fates.iter().all(|&(loss, rate)| loss <= most_loss && rate >= 0.7 * THIN),
    }
}

#[test]
fn a_maximum_far_above_the_path_costs_no_loss() {
    let runs = runs();
    let mut wrong = judge("large range", runs.iter().map(|runs| finding(runs, 0.05)).collect());
    let nada = runs.iter().filter(|runs| NADA.contains(&runs.controller));
    wrong.extend(judge("large range, 12 % of loss", nada.map(|runs| finding(runs, 0.12)).collect()));
    assert_as_said(&wrong);
}
