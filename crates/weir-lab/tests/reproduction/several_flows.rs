//! Tables 2 and 3 and figs. 14 and 15: several flows of the same controller.

use std::sync::LazyLock;

use crate::experiment::{Experiment, defined, largest, least};
use crate::report::Report;

const THREE: [&str; 3] = ["video-1", "video-2", "video-3"];

static THREE_FLOWS: LazyLock<Experiment> = LazyLock::new(|| Experiment::run("three-flows", &[]));

#[test]
fn table_2_three_flows_share_a_link_without_loss() {
    let mut report = Report::new("table 2: three flows, one after another");
    let table = THREE_FLOWS.table(&mut report);
    let jain = THREE_FLOWS.jain(&mut report);
    assert!(table.utilisation >= 78.0);
    assert!(table.median <= 25.0);
    assert!(table.p95 <= 122.0);
    assert!(jain >= 0.85);
    let losses =
        THREE_FLOWS.each(|run| run.metrics.flows.iter().map(|flow| defined(flow.packet_loss_ratio)).sum());
    assert!(largest(&losses) < 0.001, "in every run: {losses:?}");
}

#[test]
fn fig_14_each_flow_has_its_share_in_the_last_40_s() {
    let mut report = Report::new("fig. 14: the last 40 s, of a fair share of 1 Mbit/s");
    let last = Experiment::run("three-flows", &[r#"measure={ from = "160s", to = "200s" }"#]);
    last.jain(&mut report);
    let means: Vec<f64> = THREE
        .iter()
        .map(|&name| {
            let shares = last.each(|run| defined(run.flow(name).rate_bps) / 1e6);
            report.row(&format!("rate of {name} over fair share"), 2, &shares)
        })
        .collect();
    assert!(least(&means) >= 0.5 && largest(&means) <= 1.6);
}

#[test]
fn table_3_two_flows_follow_the_capacity() {
    let mut report = Report::new("table 3: two flows, variable capacity");
    let runs = Experiment::run("two-flows-variable", &[]);
    let table = runs.table(&mut report);
    let jain = runs.jain(&mut report);
    assert!(table.utilisation >= 77.0);
    assert!(table.median <= 30.0);
    assert!(jain >= 0.79);
}
