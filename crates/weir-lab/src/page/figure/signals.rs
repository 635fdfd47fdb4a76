//! The inner quantities of a controller, one below the other.

use serde_json::{Map, Value, json};

use super::scales::Scales;
use super::{Figure, axis, base_layout, bin_seconds, number, seconds, time_axis, with};
use crate::page::decimate::stretches;
use crate::page::escape::label;
use crate::page::input::{ControllerPanel, SignalBand};
use crate::page::palette;

/// Height of a signal with its title, in pixels.
const ROW: usize = 118;
/// Of which the title takes this share.
const TITLE_SHARE: f64 = 0.22;
/// Margins above and below all rows.
const MARGINS: usize = 50;
/// Signals are read when something happens: a shorter silence is no gap.
const BRIDGED_SECONDS: f64 = 3.0;

/// The figure of the controller with this index, with a row per signal that was ever known; `None` if none was.
pub(super) fn figure(index: usize, panel: &ControllerPanel, scales: &Scales) -> Option<Figure> {
    let ever_known = |signal: &&SignalBand| signal.min.iter().any(|value| value.is_finite());
    let signals: Vec<&SignalBand> = panel.signals.iter().filter(ever_known).collect();
    let rows = signals.len();
    if rows == 0 {
        return None;
    }
    let height = MARGINS + rows * ROW;
    let mut layout = Map::new();
    layout.insert("hovermode".to_owned(), json!("closest"));
    layout.insert("xaxis".to_owned(), time_axis(scales, &axis_name("y", rows - 1)));
    let mut titles = Vec::new();
    for (row, signal) in signals.iter().enumerate() {
        let top = 1.0 - row as f64 / rows as f64;
        let band = 1.0 / rows as f64;
        let domain = json!({ "domain": [(top - band).max(0.0), top - band * TITLE_SHARE], "nticks": 5 });
        layout.insert(axis_name("yaxis", row), with(axis(&label(&signal.unit)), domain));
        titles.push(title(signal, top));
    }
    layout.insert("annotations".to_owned(), Value::Array(titles));
    let colour = palette::controller(index);
    let traces = signals.into_iter().enumerate();
    Some(Figure {
        id: format!("signals-{index}"),
        height,
        over_time: true,
        traces: traces.map(|(row, signal)| trace(panel, signal, row, colour, scales)).collect(),
        layout: with(base_layout(height), Value::Object(layout)),
    })
}

/// Plotly counts axes `y`, `y2`, `y3` …
fn axis_name(prefix: &str, row: usize) -> String {
    if row == 0 { prefix.to_owned() } else { format!("{prefix}{}", row + 1) }
}

fn title(signal: &SignalBand, top: f64) -> Value {
    let name = label(&signal.name);
    let meaning = label(&signal.meaning);
    let text =
        if meaning.is_empty() { format!("<b>{name}</b>") } else { format!("<b>{name}</b>   {meaning}") };
    json!({
        "text": text, "xref": "paper", "x": 0, "xanchor": "left", "yref": "paper", "y": top, "yanchor": "top",
        "showarrow": false, "align": "left", "font": { "size": 12, "color": palette::INK }, "borderpad": 0,
    })
}

fn trace(panel: &ControllerPanel, signal: &SignalBand, row: usize, colour: &str, scales: &Scales) -> Value {
    let (x, y) = outline(&panel.time_s, signal, scales.max_points);
    let unit = label(&signal.unit);
    json!({
        "type": "scatter", "mode": "lines", "name": label(&signal.name), "x": x, "y": y,
        "yaxis": axis_name("y", row), "fill": "toself", "fillcolor": format!("{colour}38"), "hoveron": "points",
        "line": { "color": colour, "width": 1 },
        "hovertemplate": format!("%{{y:.4~g}} {unit}<br>%{{x:.1f}} s"),
    })
}

/// A stretch of time and the extremes of a signal in it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Extremes {
    from: f64,
    to: f64,
    min: f64,
    max: f64,
}

/// The outline of the band between least and greatest values: from gap to gap forth along the minima and back along
/// the maxima. At most `max_points`: a lone bin between gaps takes five points for two bins.
fn outline(time: &[f64], signal: &SignalBand, max_points: usize) -> (Vec<Value>, Vec<Value>) {
    let len = time.len().min(signal.min.len()).min(signal.max.len());
    let mut points = (Vec::new(), Vec::new());
    let mut run = Vec::new();
    for bins in stretches(len, max_points * 2 / 5) {
        let Some(extremes) = extremes_in(time, signal, bins) else { continue };
        if run.last().is_some_and(|last: &Extremes| extremes.from - last.to > BRIDGED_SECONDS) {
            draw(&mut run, &mut points);
        }
        run.push(extremes);
    }
    draw(&mut run, &mut points);
    points
}

fn extremes_in(time: &[f64], signal: &SignalBand, bins: core::ops::Range<usize>) -> Option<Extremes> {
    let last = bins.end.checked_sub(1)?;
    let finite =
        |values: &[f64]| values[bins.clone()].iter().copied().filter(|v| v.is_finite()).collect::<Vec<_>>();
    Some(Extremes {
        from: time[bins.start],
        to: time[last] + bin_seconds(time, last),
        min: finite(&signal.min).into_iter().reduce(f64::min)?,
        max: finite(&signal.max).into_iter().reduce(f64::max)?,
    })
}

/// Draws `run` and empties it.
fn draw(run: &mut Vec<Extremes>, (x, y): &mut (Vec<Value>, Vec<Value>)) {
    let Some(&last) = run.last() else { return };
    if !x.is_empty() {
        x.push(Value::Null);
        y.push(Value::Null);
    }
    let ends = [(last.to, last.min), (last.to, last.max)];
    let forth = run.iter().map(|bin| (bin.from, bin.min));
    let back = run.iter().rev().map(|bin| (bin.from, bin.max));
    for (time, value) in forth.chain(ends).chain(back) {
        x.push(seconds(time));
        y.push(number(value));
    }
    run.clear();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn band(min: &[f64], max: &[f64]) -> SignalBand {
        SignalBand { name: "x_curr".to_owned(), min: min.to_vec(), max: max.to_vec(), ..Default::default() }
    }

    #[test]
    fn a_band_goes_forth_along_the_minima_and_back_along_the_maxima() {
        let (x, y) = outline(&[0.0, 1.0], &band(&[1.0, 2.0], &[3.0, 5.0]), 2000);
        assert_eq!(x, [json!(0.0), json!(1.0), json!(2.0), json!(2.0), json!(1.0), json!(0.0)]);
        assert_eq!(y, [json!(1.0), json!(2.0), json!(2.0), json!(5.0), json!(5.0), json!(3.0)]);
    }

    #[test]
    fn a_gap_of_more_than_three_seconds_splits_the_band() {
        let values = [1.0, f64::NAN, 2.0];
        // The first bin lasts until 4 s; until 7 s is bridged.
        let (x, y) = outline(&[0.0, 4.0, 7.1], &band(&values, &values), 2000);
        assert_eq!(x.len(), 4 + 1 + 4);
        assert_eq!((&x[4], &y[4]), (&Value::Null, &Value::Null));
        let (x, _) = outline(&[0.0, 4.0, 7.0], &band(&values, &values), 2000);
        assert_eq!(x.len(), 6);
    }

    #[test]
    fn no_band_has_more_points_than_allowed_even_with_gaps_everywhere() {
        let time: Vec<f64> = (0..5_000).map(|i| f64::from(i) * 10.0).collect();
        let holes: Vec<f64> = (0..5_000).map(|i| if i % 14 < 7 { 1.0 } else { f64::NAN }).collect();
        for values in [time.clone(), holes] {
            let (x, y) = outline(&time, &band(&values, &values), 2000);
            assert!(x.len() <= 2000 && x.len() == y.len(), "{}", x.len());
            assert!(y.iter().any(|value| !value.is_null()));
        }
    }

    #[test]
    fn extremes_of_a_thinned_signal_stay() {
        let time: Vec<f64> = (0..5_000).map(f64::from).collect();
        let mut min = vec![0.0; 5_000];
        let mut max = vec![1.0; 5_000];
        min[1_234] = -8.0;
        max[4_321] = 9.0;
        let (_, y) = outline(&time, &band(&min, &max), 2000);
        assert!(y.contains(&json!(-8.0)) && y.contains(&json!(9.0)));
    }

    #[test]
    fn each_known_signal_has_its_own_axis_and_a_controller_without_any_no_figure() {
        let scales = Scales::of(&[]);
        let mut panel = ControllerPanel { time_s: vec![0.0, 0.1], ..Default::default() };
        assert!(figure(0, &panel, &scales).is_none());
        panel.signals = vec![band(&[f64::NAN], &[f64::NAN])];
        assert!(figure(0, &panel, &scales).is_none());
        panel.signals.extend([band(&[1.0], &[2.0]), band(&[1.0], &[2.0])]);
        let figure = figure(3, &panel, &scales).unwrap();
        assert_eq!((figure.id.as_str(), figure.traces.len()), ("signals-3", 2));
        assert_eq!((&figure.traces[0]["yaxis"], &figure.traces[1]["yaxis"]), (&json!("y"), &json!("y2")));
        assert!(figure.layout["yaxis"].is_object() && figure.layout["yaxis2"].is_object());
        assert_eq!(figure.layout["xaxis"]["anchor"], "y2");
    }
}
