//! Panels of a comparison in the report.

use weir_import::traces::TraceStore;
use weir_measure::metrics::{FlowSeries, LinkSeries, Series, SignalSeries};
use weir_measure::results::{FlowKind, RunMetrics};
use weir_report::page::{FlowRole, PageInput};
use weir_scenario::scenario::Scenario;
use weir_study::comparison::panels::report_input;
use weir_study::comparison::{Comparison, ComparisonRequest};
use weir_study::paired::RunTable;
use weir_world::Side;

use super::hand_made::{calls, comparison, empty_run};

fn input(mut comparison: Comparison) -> PageInput {
    let scenario = Scenario::open("gcc-2016/variable-capacity", &[]).unwrap();
    report_input(&scenario, &mut comparison, &RunTable::default(), (None, "A verdict.".to_owned())).unwrap()
}

/// A comparison of one run of these flows whose series have two bins; the flow `i` received `i` and `10 · i` bit/s.
fn with_series(flows: &[(&str, FlowKind)]) -> Comparison {
    let run: RunMetrics = empty_run(flows);
    let mut comparison = comparison(&[("nada", vec![run])]);
    let flow = |(i, &(name, _)): (usize, &(&str, FlowKind))| FlowSeries {
        name: name.to_owned(),
        send_rate_bps: vec![i as f64, f64::NAN],
        receive_rate_bps: vec![i as f64, 10.0 * i as f64],
        target_rate_bps: vec![7.0, 7.0],
        limiting_factor: vec![None, None],
        loss_ratio: vec![0.0, 0.5],
        owd_excess_mean_ms: vec![0.0; 2],
        owd_excess_max_ms: vec![0.0; 2],
        frame_delay_max_ms: vec![30.0 + i as f64, 40.0],
        signals: vec![SignalSeries {
            name: "x_curr".to_owned(),
            side: Side::Receiver,
            min: vec![1.0, 2.0],
            max: vec![3.0, 4.0],
        }],
        share: None,
    };
    let link = LinkSeries {
        name: "forward".to_owned(),
        capacity_bps: vec![1e6, 2e6],
        rate_bps: vec![0.0; 2],
        queue_mean_ms: vec![0.0; 2],
        queue_max_ms: vec![0.0; 2],
    };
    let series = Series {
        time_s: vec![0.0, 0.1],
        flows: flows.iter().enumerate().map(flow).collect(),
        links: vec![link],
        couplings: Vec::new(),
    };
    comparison.controllers[0].sample.series = Some(series.into());
    comparison
}

#[test]
fn the_source_names_scenario_runs_and_seeds() {
    let one = input(calls(&[("nada", &[1.0])]));
    assert!(one.source.starts_with("gcc-2016/variable-capacity · one run, seed 1 of 200s"), "{}", one.source);
    let three = input(calls(&[("nada", &[1.0, 2.0, 3.0])]));
    assert!(three.source.contains("3 runs, seeds 1 to 3 of 200s"), "{}", three.source);
    assert_eq!(
        (three.title.as_str(), three.verdict.as_str()),
        ("One media flow, variable capacity", "A verdict.")
    );
    assert!(three.scenario.contains("name = \"gcc-2016/variable-capacity\""));
}

#[test]
fn intervals_are_explained_where_there_are_any() {
    assert!(input(calls(&[("nada", &[1.0])])).notes.is_empty());
    let notes = input(calls(&[("nada", &[1.0, 2.0])])).notes;
    assert!(notes.len() == 1 && notes[0].ends_with("Curves show the run of seed 1."), "{notes:?}");
}

#[test]
fn a_controller_without_series_has_no_panel() {
    assert!(input(calls(&[("nada", &[1.0])])).controllers.is_empty());
}

#[test]
fn the_panel_is_about_the_first_media_flow() {
    let flows = [("bulk", FlowKind::Tcp), ("video", FlowKind::Media), ("other", FlowKind::Media)];
    let input = input(with_series(&flows));
    let panel = &input.controllers[0];
    assert_eq!((panel.name.as_str(), panel.description.as_str()), ("nada", "RFC 8698"));
    assert_eq!(panel.frame_delay_ms, [31.0, 40.0]);
    assert_eq!(panel.capacity_bps, [1e6, 2e6]);
    let shown: Vec<(&str, FlowRole, usize)> =
        panel.flows.iter().map(|f| (f.name.as_str(), f.role, f.target_rate_bps.len())).collect();
    let expected =
        [("video", FlowRole::Media, 2), ("other", FlowRole::Media, 2), ("bulk", FlowRole::Competitor, 0)];
    assert_eq!(shown, expected, "media first, and only media has a target");
}

#[test]
fn many_competitors_are_shown_as_their_sum() {
    let names: Vec<String> = (1..=9).map(|i| format!("bulk-{i}")).collect();
    let mut flows = vec![("video", FlowKind::Media)];
    flows.extend(names.iter().map(|name| (name.as_str(), FlowKind::Tcp)));
    let panel = &input(with_series(&flows)).controllers[0];
    assert_eq!(panel.flows.len(), 2);
    let others = &panel.flows[1];
    assert_eq!((others.name.as_str(), others.role), ("9 others", FlowRole::Competitor));
    // 1 + 2 + … + 9 = 45; values that are not finite do not count.
    assert_eq!(others.receive_rate_bps, [45.0, 450.0]);
    assert_eq!(others.send_rate_bps, [45.0, 0.0]);
    let eight = &input(with_series(&flows[..8])).controllers[0];
    assert_eq!(eight.flows.len(), 8, "eight are shown one by one");
}

#[test]
fn signals_carry_side_unit_and_meaning() {
    let mut comparison = with_series(&[("video", FlowKind::Media)]);
    let known = weir_scenario::registry::Registry::standard().receiver_signals("nada").unwrap()[0];
    let recorded = &mut comparison.controllers[0].sample.series;
    let mut series = recorded.take().unwrap().whole().unwrap();
    known.name.clone_into(&mut series.flows[0].signals[0].name);
    *recorded = Some(series.into());
    let input = input(comparison);
    let band = &input.controllers[0].signals[0];
    assert_eq!(band.name, format!("{} (receiver)", known.name));
    assert_eq!((band.unit.as_str(), band.meaning.as_str()), (known.unit, known.meaning));
    assert_eq!((band.min.as_slice(), band.max.as_slice()), ([1.0, 2.0].as_slice(), [3.0, 4.0].as_slice()));
}

#[test]
fn a_run_fills_its_panel() {
    let scenario = Scenario::open(
        "gcc-2016/variable-capacity",
        &["duration=4s".to_owned(), "controllers=['nada']".to_owned()],
    )
    .unwrap();
    let request = ComparisonRequest { scenario: &scenario, seeds: &[1], jobs: 1, series: true };
    let comparison = request.run(&TraceStore::at(None), &|| {}).unwrap();
    let panel = &input(comparison).controllers[0];
    assert_eq!(panel.time_s.len(), 40, "4 s in bins of 100 ms");
    assert!(panel.flows[0].receive_rate_bps.iter().any(|&bps| bps > 100e3));
    assert!(panel.queuing_delay.last().is_some_and(|step| (step.share - 1.0).abs() < 1e-9));
    assert!(!panel.signals.is_empty());
}
