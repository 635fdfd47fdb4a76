//! The HTML page of experiments (`experiments::report`).

use std::collections::BTreeMap;

use super::super::plots::{Axis, Drawn, PlotKind, PlotLine};
use super::*;

/// A plot of the rate over time with these lines.
fn plot(kind: PlotKind, lines: Vec<(&str, Drawn)>) -> PlotResult {
    let axis = |label: &str| Axis { label: label.to_owned(), ..Axis::default() };
    PlotResult {
        row: "paper/row".to_owned(),
        id: "id".to_owned(),
        title: "A <title>".to_owned(),
        kind,
        x: axis("time, s"),
        y: axis("rate, kbit/s"),
        equal: false,
        at: BTreeMap::from([("flows".to_owned(), 3.0)]),
        lines: lines.into_iter().map(|(name, drawn)| PlotLine { name: name.to_owned(), drawn }).collect(),
    }
}

/// The SVG of `plot`.
fn figure(plot: &PlotResult) -> String {
    let mut out = String::new();
    chart::figure(&mut out, plot).unwrap();
    out
}

fn some(values: &[f64]) -> Vec<Option<f64>> {
    values.iter().map(|&value| Some(value).filter(|value| value.is_finite())).collect()
}

#[test]
fn a_course_is_a_line_from_edge_to_edge_with_a_gap_where_there_is_no_value() {
    let (x, y) = (some(&[0.0, 25.0, 50.0, 75.0, 100.0]), some(&[0.0, 500.0, f64::NAN, 500.0, 1000.0]));
    let figure = figure(&plot(PlotKind::Course, vec![("flow", Drawn::Points { x, y })]));
    // The box is 1040 wide and 500 high; the axes of 0 to 100 s and 0 to 1000 kbit/s fill it.
    assert!(figure.contains("<path class=\"l c0 d0\" d=\"M0 500l260-250M780 250l260-250\"/>"), "{figure}");
    assert!(figure.contains("A &lt;title&gt;<small>flows = 3, first seed</small>"), "{figure}");
    assert!(figure.contains(">time, s</text>") && figure.contains(">rate, kbit/s</text>"), "{figure}");
}

#[test]
fn a_sweep_has_markers_with_intervals_that_say_their_values() {
    let drawn = Drawn::Means { x: vec![1.0, 2.0], y: some(&[10.0, 20.0]), ci95: vec![Some(5.0), None] };
    let figure = figure(&plot(PlotKind::Sweep, vec![("alone", drawn)]));
    assert!(figure.contains("<title>alone: 10 ± 5 at 1</title>"), "{figure}");
    assert!(figure.contains("<title>alone: 20 at 2</title>"), "{figure}");
    // The axis of 0 to 20 has a length of 500: 15 is at 125, 5 at 375.
    assert!(figure.contains(" 125h14m-7 0V375m-7 0h14\""), "{figure}");
}

#[test]
fn bars_show_the_papers_number_beside_ours() {
    let bar = |y, paper| Drawn::Bar { y: Some(y), ci95: Some(0.1), paper };
    let figure = figure(&plot(PlotKind::Bars, vec![("GCC", bar(0.8, Some(0.87))), ("NADA", bar(0.9, None))]));
    assert_eq!(figure.matches("class=\"b c0\"").count(), 3, "a key and two bars: {figure}");
    assert_eq!(figure.matches("class=\"q\"").count(), 2, "a key and one bar: {figure}");
    assert!(figure.contains(">0.87</text>") && figure.contains(">NADA</text>"), "{figure}");
}

#[test]
fn a_curve_with_equal_axes_has_units_of_one_length() {
    let (x, y) = (some(&[-1.0, 1.0]), some(&[-1.0, 1.0]));
    let point = Drawn::Points { x: some(&[-1.0]), y: some(&[0.0]) };
    let mut plot = plot(PlotKind::Curve, vec![("loop", Drawn::Points { x, y }), ("−1", point)]);
    (plot.x.from, plot.x.to, plot.y.from, plot.y.to) = (Some(-2.0), Some(2.0), Some(-1.0), Some(1.0));
    plot.equal = true;
    let figure = figure(&plot);
    // Four units are 1040 wide, so that two are 520 high, and the line rises.
    assert!(figure.contains("width=\"1040\" height=\"520\""), "{figure}");
    assert!(figure.contains("d=\"M260 520l520-520\""), "{figure}");
    assert!(figure.contains("<path class=\"p c1\" d=\"M254 254h12v12h-12z\"/>"), "{figure}");
}

#[test]
fn a_map_has_bands_and_a_bar_of_their_colours() {
    let drawn =
        Drawn::Grid { x: vec![1.0, 10.0], y: vec![0.0, 1.0], z: vec![some(&[0.0, 1.0]), some(&[0.0, 1.0])] };
    let mut plot = plot(PlotKind::Map, vec![("utility", drawn)]);
    plot.x.log = true;
    let figure = figure(&plot);
    // Ten bands of a tenth, each in the box and in the colour bar.
    assert_eq!(figure.matches("<path fill=\"#").count(), 20, "{}", figure.len());
    assert!(figure.contains(">utility</text>"), "{figure}");
}

#[test]
fn rows_stand_in_the_order_of_the_paper() {
    let mut names = ["fig10", "table1", "fig9", "eq17-19", "fig9b", "alg"];
    names.sort_by_key(|&name| in_order(name));
    assert_eq!(names, ["alg", "eq17-19", "fig9", "fig9b", "fig10", "table1"]);
}

#[test]
fn a_plot_without_values_says_so() {
    let figure = figure(&plot(PlotKind::Course, vec![("flow", Drawn::Level { y: None })]));
    assert!(figure.contains("No run has a value to draw.") && !figure.contains("<svg"), "{figure}");
}
