//! Figures as the page's script draws them: plots below each other over one axis, in JSON.

mod cdf;
mod coupling;
mod grid;
mod scales;
mod signals;
mod timeline;

use serde::Serialize;
use serde_json::{Value, json};

use super::input::PageInput;
use super::names::Names;
pub(super) use cdf::{SHORTEST_MS, quantile_ms};
pub(super) use scales::INTERACTIVE_MS;
use scales::Scales;

/// A figure and the id of the element that shows it.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Figure {
    /// The element's id.
    pub(super) id: String,
    /// Index of the controller that the figure is about, or `None` for a figure of all controllers.
    #[serde(skip_serializing_if = "Option::is_none")]
    controller: Option<usize>,
    /// Whether its axis is the time, which all figures share.
    time: bool,
    x: Vec<Value>,
    plots: Vec<FigurePlot>,
}

/// A plot: curves over the figure's axis, or lanes of colours.
#[derive(Clone, Debug, Default, Serialize)]
struct FigurePlot {
    /// Height in pixels.
    height: usize,
    /// The label of the vertical axis.
    label: String,
    /// Title above the plot; empty for none.
    #[serde(skip_serializing_if = "String::is_empty")]
    title: String,
    scale: PlotScale,
    /// Whether its curves are means over a second while the whole run is in sight.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    smooth: bool,
    /// Levels to mark.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    guides: Vec<f64>,
    curves: Vec<FigureCurve>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    lanes: Vec<Lane>,
}

/// The range of a plot's vertical axis. All but [`PlotScale::Share`] follow the visible part when the page is zoomed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum PlotScale {
    /// Rates, alike in all plots.
    Rate,
    /// Delays, logarithmic and alike in all plots.
    Delay,
    /// From zero.
    Zero,
    /// The range of the values.
    #[default]
    Auto,
    /// From zero to one, in per cent.
    Share,
}

/// The drawing style of a curve.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum CurveStyle {
    /// Lines from point to point.
    #[default]
    Line,
    /// Steps: each value holds until the next.
    Steps,
    /// Steps with a filled area below.
    Area,
    /// The upper edge of a band; the next curve is its lower one.
    Band,
    /// A tick at the bottom wherever there is a value.
    Ticks,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
struct FigureCurve {
    name: String,
    /// The controller of the curve, where curves of several controllers meet.
    #[serde(skip_serializing_if = "Option::is_none")]
    controller: Option<usize>,
    /// The name of its colour.
    colour: String,
    #[serde(skip_serializing_if = "<[u8]>::is_empty")]
    dash: &'static [u8],
    width: f64,
    form: CurveStyle,
    /// Whether the shared axis follows it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    leads: bool,
    unit: &'static str,
    /// A value for each place of the axis; `null` for a gap, `false` where the line continues to the next value.
    y: Vec<Value>,
}

/// Stretches of one factor each.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
struct Lane {
    name: String,
    /// The begins of the stretches, and the end of the last one.
    edges: Vec<Value>,
    factors: Vec<Option<usize>>,
    /// Decisions: time, direction of the rate change (−1, 0 or 1), and description.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    ticks: Vec<(Value, i8, String)>,
}

/// The figures of a report.
#[derive(Clone, Debug)]
pub(super) struct Figures {
    scales: Scales,
    /// A timeline for each controller.
    pub(super) timelines: Vec<Figure>,
    /// For each controller, a figure per coupling.
    pub(super) couplings: Vec<Vec<Figure>>,
    /// The queuing delays of all controllers, or `None` if no delays are known.
    pub(super) queuing_delay: Option<Figure>,
    /// The signals of each controller, or `None` for a controller without signals.
    pub(super) signals: Vec<Option<Figure>>,
}

impl Figures {
    pub(crate) fn of(input: &PageInput, names: &Names<'_>) -> Self {
        let scales = Scales::of(&input.controllers);
        let panels = names.panels(input);
        let each = || panels.iter().copied();
        Self {
            timelines: each().map(|(index, panel)| timeline::figure(index, panel, &scales)).collect(),
            couplings: each().map(|(index, panel)| coupling::figures(index, panel, &scales)).collect(),
            queuing_delay: cdf::figure(&panels),
            signals: each().map(|(index, panel)| signals::figure(index, panel, &scales)).collect(),
            scales,
        }
    }

    /// All figures for the page's script, with their common axes.
    pub(super) fn json(&self) -> String {
        let signals = self.signals.iter().flatten();
        let couplings = self.couplings.iter().flatten();
        let all = self.timelines.iter().chain(couplings).chain(&self.queuing_delay).chain(signals);
        let factors = weir_cc::LimitingFactor::ALL.map(weir_cc::LimitingFactor::name);
        let Scales { time, rate_top, delay_ms, .. } = self.scales;
        json!({
            "time": [seconds(time.0), seconds(time.1)],
            "rate": [0, number(rate_top)],
            "delay": [number(delay_ms.0), number(delay_ms.1)],
            "factors": factors,
            "figures": all.collect::<Vec<_>>(),
        })
        .to_string()
    }
}

impl Figure {
    /// About its height, in pixels.
    pub(crate) fn height(&self) -> usize {
        const KEYS: usize = 30;
        const AXIS: usize = 24;
        const TITLE: usize = 22;
        let own = |plot: &FigurePlot| plot.height + if plot.title.is_empty() { 0 } else { TITLE };
        KEYS + AXIS + self.plots.iter().map(own).sum::<usize>()
    }
}

/// Four significant digits: finer than a pixel, also of a part of the axis. `null`, a gap, for what is not finite.
fn number(value: f64) -> Value {
    rounded(&format!("{value:.3e}"))
}

/// Three significant digits, which suffice where an axis begins with zero or is logarithmic.
fn coarse(value: f64) -> Value {
    rounded(&format!("{value:.2e}"))
}

fn rounded(text: &str) -> Value {
    match text.parse::<f64>() {
        // A whole number is shorter as an integer.
        Ok(rounded) if rounded.fract() == 0.0 && rounded.abs() < 1e15 => json!(rounded as i64),
        Ok(rounded) if rounded.is_finite() => json!(rounded),
        _ => Value::Null,
    }
}

/// A time in seconds, to the millisecond.
fn seconds(time: f64) -> Value {
    json!((time * 1e3).round() / 1e3)
}

/// Duration of the bin at `index`, derived from the bins around it; 0.1 s for a single one.
fn bin_seconds(time: &[f64], index: usize) -> f64 {
    let step = |i: usize| Some(time.get(i + 1)? - time.get(i)?);
    step(index).or_else(|| step(index.checked_sub(1)?)).unwrap_or(0.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_four_digits_and_gaps_are_null() {
        assert_eq!(number(1_234_567.0), json!(1_235_000));
        assert_eq!(number(-0.000_123_456), json!(-0.000_123_5));
        assert_eq!((number(0.0), coarse(1_234_567.0)), (json!(0), json!(1_230_000)));
        assert_eq!(number(f64::NAN), Value::Null);
        assert_eq!(number(f64::NEG_INFINITY), Value::Null);
        assert_eq!(seconds(12_345.678_9), json!(12_345.679));
    }

    #[test]
    fn the_last_bin_lasts_as_long_as_the_one_before() {
        assert_eq!(bin_seconds(&[0.0, 0.5, 2.0], 0), 0.5);
        assert_eq!(bin_seconds(&[0.0, 0.5, 2.0], 2), 1.5);
        assert_eq!(bin_seconds(&[4.0], 0), 0.1);
    }
}
