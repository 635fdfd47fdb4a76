//! The signals (internal state) of a controller, one below the other.

use serde_json::Value;

use super::grid::AxisGrid;
use super::scales::Scales;
use super::{CurveStyle, Figure, FigureCurve, FigurePlot, number};
use crate::page::input::{ControllerPanel, SignalBand};
use crate::page::palette;

/// Height of a signal without its title, in pixels.
const HEIGHT: usize = 96;
/// Signals are sampled at events: a shorter silence is no gap.
const BRIDGED_SECONDS: f64 = 3.0;

/// The figure of the controller with this index, with a plot per signal that was ever known, or `None` if none was.
pub(super) fn figure(index: usize, panel: &ControllerPanel, scales: &Scales) -> Option<Figure> {
    let grid = AxisGrid::of(&panel.time_s, scales.max_points / 2);
    let ever_known = |signal: &&SignalBand| signal.min.iter().any(|value| value.is_finite());
    let plots: Vec<FigurePlot> =
        panel.signals.iter().filter(ever_known).map(|signal| plot(index, signal, &grid)).collect();
    let (id, controller) = (format!("signals-{index}"), Some(index));
    (!plots.is_empty()).then(|| Figure { id, controller, time: true, x: grid.x(), plots })
}

/// The band between the least and the greatest value of each place.
fn plot(index: usize, signal: &SignalBand, grid: &AxisGrid<'_>) -> FigurePlot {
    let edge = |name: &str, form, values: Vec<f64>| FigureCurve {
        name: name.to_owned(),
        colour: palette::controller(index),
        width: 1.0,
        form,
        y: bridged(&grid.times(), &values),
        ..FigureCurve::default()
    };
    let curves = vec![
        edge("greatest", CurveStyle::Band, grid.edge(&signal.max, f64::max)),
        edge("least", CurveStyle::Line, grid.edge(&signal.min, f64::min)),
    ];
    let title = match signal.meaning.as_str() {
        "" => signal.name.clone(),
        meaning => format!("{}: {meaning}", signal.name),
    };
    FigurePlot { height: HEIGHT, label: signal.unit.clone(), title, curves, ..FigurePlot::default() }
}

/// The values of a curve; short silences are bridged by the line, longer ones are gaps.
fn bridged(times: &[f64], values: &[f64]) -> Vec<Value> {
    let mut bridged: Vec<Value> = values.iter().copied().map(number).collect();
    let known: Vec<usize> = (0..bridged.len()).filter(|&place| !bridged[place].is_null()).collect();
    for pair in known.windows(2).filter(|pair| pair[1] > pair[0] + 1) {
        // The silence lasts from the end of the one place to the other.
        if times[pair[1]] - times[pair[0] + 1] <= BRIDGED_SECONDS {
            bridged[pair[0] + 1..pair[1]].fill(Value::Bool(false));
        }
    }
    bridged
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn band(min: &[f64], max: &[f64]) -> SignalBand {
        SignalBand { name: "x_curr".to_owned(), min: min.to_vec(), max: max.to_vec(), ..Default::default() }
    }

    #[test]
    fn a_band_lies_between_the_least_and_the_greatest_values() {
        let mut signal = band(&[1.0, 2.0], &[3.0, 5.0]);
        (signal.meaning, signal.unit) = ("what it sees".to_owned(), "ms".to_owned());
        let plot = plot(0, &signal, &AxisGrid::of(&[0.0, 1.0], 2000));
        assert_eq!(plot.curves[0].y, [json!(3), json!(5)]);
        assert_eq!(plot.curves[1].y, [json!(1), json!(2)]);
        assert_eq!(plot.curves[0].form, CurveStyle::Band);
        assert_eq!((plot.title.as_str(), plot.label.as_str()), ("x_curr: what it sees", "ms"));
    }

    #[test]
    fn a_silence_of_more_than_three_seconds_splits_the_band() {
        let values = [1.0, f64::NAN, 2.0];
        // The first bin lasts until 4 s; until 7 s is bridged.
        assert_eq!(bridged(&[0.0, 4.0, 7.1], &values), [json!(1), Value::Null, json!(2)]);
        assert_eq!(bridged(&[0.0, 4.0, 7.0], &values), [json!(1), json!(false), json!(2)]);
        assert_eq!(bridged(&[0.0, 4.0], &values[..2]), [json!(1), Value::Null], "the end is no silence");
    }

    #[test]
    fn extremes_of_a_thinned_signal_stay() {
        let time: Vec<f64> = (0..5_000).map(f64::from).collect();
        let mut min = vec![0.0; 5_000];
        let mut max = vec![1.0; 5_000];
        min[1_234] = -8.0;
        max[4_321] = 9.0;
        let plot = plot(0, &band(&min, &max), &AxisGrid::of(&time, 2000));
        assert!(plot.curves[0].y.len() <= 2000);
        assert!(plot.curves[1].y.contains(&json!(-8)) && plot.curves[0].y.contains(&json!(9)));
    }

    #[test]
    fn each_known_signal_has_its_own_plot_and_a_controller_without_any_no_figure() {
        let scales = Scales::of(&[]);
        let mut panel = ControllerPanel { time_s: vec![0.0, 0.1], ..Default::default() };
        assert!(figure(0, &panel, &scales).is_none());
        panel.signals = vec![band(&[f64::NAN], &[f64::NAN])];
        assert!(figure(0, &panel, &scales).is_none());
        panel.signals.extend([band(&[1.0], &[2.0]), band(&[1.0], &[2.0])]);
        let figure = figure(3, &panel, &scales).unwrap();
        assert_eq!((figure.id.as_str(), figure.plots.len()), ("signals-3", 2));
    }
}
