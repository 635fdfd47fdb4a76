//! Figures as the plotting library wants them: traces and a layout in JSON.

mod cdf;
mod coupling;
mod scales;
mod signals;
mod timeline;

use serde_json::{Value, json};

use super::decimate::extremes;
use super::input::PageInput;
use super::palette;
pub(super) use cdf::{SHORTEST_MS, quantile_ms};
pub(super) use scales::INTERACTIVE_MS;
use scales::Scales;

/// A figure and the id of the element that shows it.
#[derive(Clone, Debug)]
pub(super) struct Figure {
    /// The element's id.
    pub(super) id: String,
    /// In pixels.
    pub(super) height: usize,
    /// Whether its time axis follows the other figures' with this flag.
    pub(super) over_time: bool,
    traces: Vec<Value>,
    layout: Value,
}

/// The figures of a report.
#[derive(Clone, Debug)]
pub(super) struct Figures {
    /// One per controller.
    pub(super) timelines: Vec<Figure>,
    /// For each controller one per coupling.
    pub(super) couplings: Vec<Vec<Figure>>,
    /// All controllers together; `None` if no delays are known.
    pub(super) queuing_delay: Option<Figure>,
    /// One per controller; `None` for one without signals.
    pub(super) signals: Vec<Option<Figure>>,
}

impl Figures {
    pub(super) fn of(input: &PageInput) -> Self {
        let scales = Scales::of(&input.controllers);
        let panels = || input.controllers.iter().enumerate();
        Self {
            timelines: panels().map(|(index, panel)| timeline::figure(index, panel, &scales)).collect(),
            couplings: panels().map(|(index, panel)| coupling::figures(index, panel, &scales)).collect(),
            queuing_delay: cdf::figure(&input.controllers, &scales),
            signals: panels().map(|(index, panel)| signals::figure(index, panel, &scales)).collect(),
        }
    }

    /// All of them for the page's script.
    pub(super) fn json(&self) -> String {
        let signals = self.signals.iter().flatten();
        let couplings = self.couplings.iter().flatten();
        let all = self.timelines.iter().chain(couplings).chain(&self.queuing_delay).chain(signals);
        Value::Array(all.map(Figure::json).collect()).to_string()
    }
}

impl Figure {
    fn json(&self) -> Value {
        json!({ "id": self.id, "overTime": self.over_time, "data": self.traces, "layout": self.layout })
    }
}

/// Four significant digits: finer than a pixel. `null`, a gap, for what is not finite.
fn number(value: f64) -> Value {
    match format!("{value:.3e}").parse::<f64>() {
        Ok(rounded) if rounded.is_finite() => json!(rounded),
        _ => Value::Null,
    }
}

/// A time in seconds, to the millisecond.
fn seconds(time: f64) -> Value {
    json!((time * 1e3).round() / 1e3)
}

/// A curve's columns, thinned.
struct Curve {
    x: Vec<Value>,
    y: Vec<Value>,
    /// The bins that the points stand for.
    bins: Vec<usize>,
}

impl Curve {
    fn of(time: &[f64], values: &[f64], max_points: usize) -> Self {
        let len = time.len().min(values.len());
        let bins = extremes(&values[..len], max_points);
        let (x, y) = bins.iter().map(|&bin| (seconds(time[bin]), number(values[bin]))).unzip();
        Self { x, y, bins }
    }
}

/// How long the bin at `index` lasts, as far as the bins around it tell; 0.1 s for a single one.
fn bin_seconds(time: &[f64], index: usize) -> f64 {
    let step = |i: usize| Some(time.get(i + 1)? - time.get(i)?);
    step(index).or_else(|| step(index.checked_sub(1)?)).unwrap_or(0.1)
}

/// What all layouts have in common.
fn base_layout(height: usize) -> Value {
    json!({
        "height": height,
        "margin": { "l": 76, "r": 26, "t": 8, "b": 30 },
        "font": { "family": "system-ui, -apple-system, 'Segoe UI', Roboto, 'Liberation Sans', sans-serif",
                  "size": 12, "color": palette::MUTED },
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "showlegend": false,
        "modebar": { "bgcolor": "rgba(0,0,0,0)", "color": palette::CAPACITY_EDGE, "activecolor": palette::INK },
        "hoverlabel": { "bgcolor": "#ffffff", "bordercolor": "#d5d9e0", "align": "left",
                        "font": { "size": 12, "color": palette::INK } },
    })
}

fn axis(title: &str) -> Value {
    json!({
        "title": { "text": title, "standoff": 8, "font": { "size": 12 } },
        "gridcolor": palette::GRID,
        "linecolor": palette::CAPACITY_EDGE,
        "zeroline": false,
        "fixedrange": true,
    })
}

/// `base` with the members of `more` put over its own.
fn with(mut base: Value, more: Value) -> Value {
    if let (Value::Object(base), Value::Object(more)) = (&mut base, more) {
        base.extend(more);
    }
    base
}

/// The shared time axis, drawn below the axis `anchor`.
fn time_axis(scales: &Scales, anchor: &str) -> Value {
    with(
        axis(""),
        json!({
            "range": [seconds(scales.time.0), seconds(scales.time.1)],
            "anchor": anchor,
            "fixedrange": false,
            "ticks": "outside",
            "ticklen": 4,
            "tickcolor": palette::CAPACITY_EDGE,
            "ticksuffix": " s",
            "showspikes": true,
            "spikemode": "across",
            "spikesnap": "cursor",
            "spikethickness": 1,
            "spikedash": "solid",
            "spikecolor": "#9aa2af",
            "hoverformat": ".1f",
        }),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_four_digits_and_gaps_are_null() {
        assert_eq!(number(1_234_567.0), json!(1_235_000.0));
        assert_eq!(number(-0.000_123_456), json!(-0.000_123_5));
        assert_eq!(number(0.0), json!(0.0));
        assert_eq!(number(f64::NAN), Value::Null);
        assert_eq!(number(f64::NEG_INFINITY), Value::Null);
        assert_eq!(seconds(12_345.678_9), json!(12_345.679));
    }

    #[test]
    fn a_curve_ends_with_its_shorter_column_and_stays_within_the_limit() {
        assert_eq!(Curve::of(&[0.0, 0.1], &[1.0, 2.0, 3.0], 10).y, [json!(1.0), json!(2.0)]);
        let long: Vec<f64> = (0..9_000).map(f64::from).collect();
        let Curve { x, y, bins } = Curve::of(&long, &long, 2_000);
        assert_eq!((x.len(), y.len(), bins.len()), (2_000, 2_000, 2_000));
        assert_eq!((&y[0], &y[1_999]), (&json!(0.0), &json!(8_999.0)));
    }

    #[test]
    fn the_last_bin_lasts_as_long_as_the_one_before() {
        assert_eq!(bin_seconds(&[0.0, 0.5, 2.0], 0), 0.5);
        assert_eq!(bin_seconds(&[0.0, 0.5, 2.0], 2), 1.5);
        assert_eq!(bin_seconds(&[4.0], 0), 0.1);
    }
}
