//! Tables of comparisons: the columns, and the rows of flows.

use weir_measure::results::{FlowKind, PerLimitingFactor, RunMetrics};
use weir_report::page::{Best, SummaryCell, SummaryTable};
use weir_study::comparison::Comparison;
use weir_study::comparison::demo;
use weir_study::comparison::tables::{self, flow_table};

use super::hand_made::{call, calls, comparison, empty_run, flow};

fn summary_table(comparison: &Comparison) -> SummaryTable {
    tables::summary_table(comparison).summary()
}

fn demo_table(alone: &Comparison, beside: &Comparison) -> SummaryTable {
    demo::table(alone, beside).summary()
}

fn labels(table: &SummaryTable) -> Vec<&str> {
    table.columns.iter().map(|column| column.label.as_str()).collect()
}

fn cell(table: &SummaryTable, row: &str, label: &str) -> Option<SummaryCell> {
    let column = table.columns.iter().position(|column| column.label == label).unwrap();
    table.rows.iter().find(|r| r.name == row).unwrap().cells[column]
}

fn mean(table: &SummaryTable, row: &str, label: &str) -> Option<f64> {
    cell(table, row, label).map(|cell| cell.mean)
}

#[test]
fn a_cell_is_the_mean_over_runs_with_its_interval() {
    // Rates 400, 500 and 600 kbit/s: mean 500, s = 100, half width 4.3027 · 100 / √3 = 248.4.
    let table = summary_table(&calls(&[("gcc-2016", &[400.0, 500.0, 600.0]), ("nada", &[1.0, 1.0, 1.0])]));
    let shown = cell(&table, "gcc-2016", "useful rate").unwrap();
    assert_eq!(shown.mean, 500.0);
    assert!((shown.ci95.unwrap() - 248.4).abs() < 0.1);
    assert_eq!(
        cell(&table, "nada", "useful rate"),
        Some(SummaryCell { ci95: Some(0.0), ..SummaryCell::new(1.0) })
    );
}

#[test]
fn columns_without_any_value_are_left_out() {
    let mut one = call(500.0);
    one.media.frame_delay_ms.p95 = Some(80.0);
    let table = summary_table(&comparison(&[("a", vec![one]), ("b", vec![call(400.0)])]));
    assert!(labels(&table).contains(&"frame delay p95"), "one of the two has a value");
    assert_eq!(mean(&table, "b", "frame delay p95"), None);
    assert!(!labels(&table).contains(&"queuing p95"), "none has");
    assert!(table.rows.iter().all(|row| row.cells.len() == table.columns.len()));
}

#[test]
fn media_flows_are_added_up_and_others_left_out() {
    let mut run =
        empty_run(&[("video-1", FlowKind::Media), ("bulk", FlowKind::Tcp), ("video-2", FlowKind::Media)]);
    for (name, kbps, freezes) in [("video-1", 300.0, 1.0), ("video-2", 400.0, 2.0), ("bulk", 9000.0, 50.0)] {
        let flow = flow(&mut run, name);
        (flow.useful_rate_bps, flow.freezes) = (Some(kbps * 1e3), Some(freezes));
    }
    let table = summary_table(&comparison(&[("nada", vec![run])]));
    assert_eq!(mean(&table, "nada", "useful rate"), Some(700.0));
    assert_eq!(mean(&table, "nada", "freezes"), Some(3.0));
}

#[test]
fn fairness_needs_two_flows() {
    let table = |flows: &[(&str, FlowKind)]| {
        let mut run = empty_run(flows);
        run.jain.of_means = Some(0.9);
        summary_table(&comparison(&[("nada", vec![run])]))
    };
    assert!(!labels(&table(&[("video", FlowKind::Media)])).contains(&"Jain"));
    let two = table(&[("video", FlowKind::Media), ("bulk", FlowKind::Tcp)]);
    assert_eq!(mean(&two, "nada", "Jain"), Some(0.9));
}

/// Metrics of TCP flows with these rates in kbit/s.
fn with_rates(flows: &[(&str, f64)]) -> RunMetrics {
    let kinds: Vec<(&str, FlowKind)> = flows.iter().map(|&(name, _)| (name, FlowKind::Tcp)).collect();
    let mut run = empty_run(&kinds);
    for (name, kbps) in flows {
        flow(&mut run, name).rate_bps = Some(kbps * 1e3);
    }
    run
}

#[test]
fn copies_of_a_flow_share_a_row_with_their_mean() {
    // Per run the mean of the copies, 200 and 300; over runs 250.
    let first = with_rates(&[("bulk-1", 100.0), ("video", 500.0), ("bulk-2", 300.0)]);
    let second = with_rates(&[("bulk-1", 200.0), ("video", 700.0), ("bulk-2", 400.0)]);
    let table = flow_table(&[first, second]);
    let names: Vec<&str> = table.rows.iter().map(|row| row.name.as_str()).collect();
    assert_eq!(names, ["bulk × 2", "video"]);
    assert_eq!(mean(&table, "bulk × 2", "rate"), Some(250.0));
    assert_eq!(mean(&table, "video", "rate"), Some(600.0));
    assert!(cell(&table, "video", "rate").unwrap().ci95.is_some());
}

#[test]
fn a_number_alone_makes_no_copy() {
    let run = with_rates(&[
        ("tcp-1", 100.0),
        ("h264-video", 200.0),
        ("a-2b", 1.0),
        ("b-", 2.0),
        ("c-1", 3.0),
        ("c", 4.0),
    ]);
    let table = flow_table(&[run]);
    let names: Vec<&str> = table.rows.iter().map(|row| row.name.as_str()).collect();
    assert_eq!(names, ["tcp-1", "h264-video", "a-2b", "b-", "c-1", "c"]);
    assert_eq!(mean(&table, "c-1", "rate"), Some(3.0));
}

#[test]
fn no_runs_have_no_flows() {
    let table = flow_table(&[]);
    assert!(table.rows.is_empty() && table.columns.is_empty());
}

/// A call that lost `seconds` to delay in ten seconds, beside an upload.
fn contest(call_kbps: f64, upload_kbps: f64) -> RunMetrics {
    let mut run = empty_run(&[("video", FlowKind::Media), ("upload", FlowKind::Tcp)]);
    flow(&mut run, "video").rate_bps = Some(call_kbps * 1e3);
    flow(&mut run, "upload").rate_bps = Some(upload_kbps * 1e3);
    run
}

#[test]
fn the_share_beside_cubic_is_that_of_the_contest() {
    // 300 of 300 + 900 kbit/s are 25 %, 500 of 1000 are 50 %: the mean is 37.5 %.
    let alone = calls(&[("nada", &[800.0, 900.0])]);
    let beside = comparison(&[("nada", vec![contest(300.0, 900.0), contest(500.0, 500.0)])]);
    let table = demo_table(&alone, &beside);
    assert_eq!(mean(&table, "nada", "share beside CUBIC"), Some(37.5));
    assert_eq!(mean(&table, "nada", "useful rate"), Some(850.0), "all else is the call alone");
}

#[test]
fn freezes_of_the_demo_are_differences_stretch_by_stretch() {
    let frozen = |counts: [f64; 3]| -> Vec<RunMetrics> {
        counts
            .into_iter()
            .map(|count| {
                let mut run = call(100.0);
                let own = flow(&mut run, "video");
                (own.freezes, own.freeze_seconds) = (Some(count), Some(count / 2.0));
                own.target_rate_bps = Some(300e3);
                run
            })
            .collect()
    };
    let alone = comparison(&[("nada", frozen([30.0, 33.0, 27.0])), ("fixed", frozen([30.0, 31.0, 29.0]))]);
    let table = demo_table(&alone, &alone);
    // 0, 2, −2 and half of that: the total equals the reference sender's, though not in each stretch.
    assert_eq!(mean(&table, "nada", "freezes beyond fixed"), Some(0.0));
    assert!(cell(&table, "nada", "frozen beyond fixed").unwrap().ci95.unwrap() > 1.0);
    assert_eq!(cell(&table, "fixed", "freezes beyond fixed").unwrap().ci95, Some(0.0));
    assert!(table.rows[1].is_reference && !table.rows[0].is_reference);
    let [floor, references] = demo::notes(&alone, &demo::table(&alone, &alone)).try_into().unwrap();
    assert!(
        floor.contains("sends 300 kbit/s") && floor.contains("its 30.0 ± 2.5 freezes and 15.0 ± 1.2 s"),
        "{floor}"
    );
    assert!(
        references.starts_with("`fixed` sends the start rate") && !references.contains("omniscient"),
        "{references}"
    );
    let without = calls(&[("nada", &[800.0])]);
    assert!(demo::notes(&without, &demo::table(&without, &without)).is_empty());
}

#[test]
fn a_share_of_nothing_is_none() {
    let alone = calls(&[("nada", &[800.0])]);
    let table = demo_table(&alone, &comparison(&[("nada", vec![contest(0.0, 0.0)])]));
    assert_eq!(cell(&table, "nada", "share beside CUBIC"), None);
    let starved = demo_table(&alone, &comparison(&[("nada", vec![contest(0.0, 900.0)])]));
    assert_eq!(mean(&starved, "nada", "share beside CUBIC"), Some(0.0), "a share of zero is a value");
}

#[test]
fn the_columns_of_the_demo_stand_in_their_order() {
    let alone = calls(&[("nada", &[800.0])]);
    let table = demo_table(&alone, &comparison(&[("nada", vec![contest(1.0, 1.0)])]));
    let expected = [
        "useful rate",
        "frame delay p95",
        "freezes beyond fixed",
        "frozen beyond fixed",
        "share beside CUBIC",
        "loss",
        "time held by delay",
        "time held by loss",
        "time held by ramp-up",
        "time held by silence",
        "time at minimum",
    ];
    assert_eq!(labels(&table), expected);
    assert!(table.columns.iter().all(|column| !column.definition.is_empty()));
    let neither: Vec<&str> =
        table.columns.iter().filter(|c| c.best == Best::Neither).map(|c| c.label.as_str()).collect();
    assert_eq!(neither.len(), 6, "share and factors are neither good nor bad: {neither:?}");
}

#[test]
fn time_lost_is_a_share_of_all_time_under_the_controller() {
    // 2 s of 2 + 1 + 5 s are 25 %; at the maximum no rate is lost, but its time counts.
    let mut run = call(800.0);
    let seconds = PerLimitingFactor {
        delay: Some(2.0),
        ramp_up: Some(1.0),
        maximum: Some(5.0),
        ..PerLimitingFactor::default()
    };
    flow(&mut run, "video").time_per_limiting_factor = seconds;
    let alone = comparison(&[("nada", vec![run])]);
    let table = demo_table(&alone, &comparison(&[("nada", vec![contest(1.0, 1.0)])]));
    assert_eq!(mean(&table, "nada", "time held by delay"), Some(25.0));
    assert_eq!(mean(&table, "nada", "time held by ramp-up"), Some(12.5));
    assert_eq!(mean(&table, "nada", "time held by loss"), Some(0.0));
}

#[test]
fn no_time_is_lost_without_a_target() {
    let mut run = call(800.0);
    flow(&mut run, "video").time_per_limiting_factor = PerLimitingFactor::default();
    let table =
        demo_table(&comparison(&[("nada", vec![run])]), &comparison(&[("nada", vec![contest(1.0, 1.0)])]));
    assert_eq!(cell(&table, "nada", "time held by delay"), None);
}
