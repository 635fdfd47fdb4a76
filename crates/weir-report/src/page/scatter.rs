//! The scatter plot at the top of a report: useful rate against frame delay, with a mark for each controller.
//!
//! Classes of the SVG elements (page.css, chart.css): `p` is the filled mark of a controller, `q` the hollow mark of a
//! reference sender, `o` the ring around a mark of the leading set, `i` the line of a 95 % interval, and `frontier` the
//! dashed Pareto front. Names have the class `t` (bold, recommended), `s` (muted, reference sender) and `e` (the text ends
//! at its position).

use core::fmt::Write;

use maud::{Markup, PreEscaped, html};

use super::input::{ControllerRank, Scatter, ScatterPoint, SummaryCell};
use super::names::Names;
use super::palette;
use super::table::shown;
use crate::chart::{AxisScale, Bounds, ChartFrame, Ends, escape_html, path};

/// Approximate width of a letter, in units of the drawing (half a pixel).
const LETTER_WIDTH: f64 = 14.0;
/// Height of a line of text, in units of the drawing.
const LINE_HEIGHT: f64 = 26.0;
/// Distance of a name from the centre of its mark, in units of the drawing.
const NAME_DISTANCE: f64 = 18.0;
/// Width of the margin to the right of the axes, in units of the drawing.
const RIGHT_MARGIN: f64 = 40.0;

/// The figure with its caption; empty if fewer than two points can be drawn.
pub(super) fn figure(scatter: &Scatter, numbers: &Names<'_>) -> Markup {
    let drawable: Vec<&ScatterPoint> =
        scatter.points.iter().filter(|point| point.delay.mean > 0.0 && point.rate.mean.is_finite()).collect();
    if drawable.len() < 2 {
        return html! {};
    }
    let frame = frame(&drawable);
    let mut svg = String::new();
    // Writing to a string does not fail.
    let _ = frame.open(&mut svg, "Useful rate against frame delay, a mark for each controller");
    let _ = frame.up(&mut svg, "useful rate (kbit/s)");
    let _ = frame.across(&mut svg, "frame delay, 95th percentile (ms, logarithmic)");
    let _ = frame.inside(&mut svg, &drawn(&drawable, numbers, &frame));
    svg.push_str("</svg>");
    let leads = |point: &&ScatterPoint| {
        matches!(point.standing, ControllerRank::Leading | ControllerRank::Recommended)
    };
    html! {
        figure.scatter.card id="scatter" {
            (PreEscaped(svg))
            figcaption.hint {
                "Up and to the left is better. "
                @if drawable.iter().any(leads) {
                    "Ringed: the leading set, which no controller beats in useful rate; bold: recommended. "
                }
                "Lines: 95 % intervals. Dashed: the frontier, on which no controller has both more video in time and less delay. "
                @if drawable.iter().any(|point| point.standing == ControllerRank::ReferenceSender) {
                    "Hollow: reference senders, which are no controllers. "
                }
                (scatter.note)
            }
        }
    }
}

/// The axes that show all points with their intervals.
fn frame(points: &[&ScatterPoint]) -> ChartFrame {
    let ends = |cell: SummaryCell| {
        let half = cell.ci95.unwrap_or(0.0);
        [cell.mean - half, cell.mean, cell.mean + half]
    };
    let delays = points.iter().flat_map(|point| ends(point.delay));
    let rates = points.iter().flat_map(|point| ends(point.rate));
    let x = AxisScale::of(Bounds { log: true, ..Bounds::default() }, delays, Ends::Loose);
    let y = AxisScale::of(Bounds::default(), rates, Ends::Round);
    ChartFrame::new(x, y).with_room(RIGHT_MARGIN, 0.0)
}

/// The elements of the plot as SVG: the frontier, then the marks with their names.
fn drawn(points: &[&ScatterPoint], numbers: &Names<'_>, frame: &ChartFrame) -> String {
    let mut out = frontier(points, frame);
    let mut labels = Labels { occupied: Vec::new(), frame: *frame };
    let mut order: Vec<&&ScatterPoint> = points.iter().collect();
    // The names of leading controllers are placed first.
    order.sort_by_key(|point| core::cmp::Reverse(point.standing));
    for point in &order {
        if let Some((x, y)) = frame.place(point.delay.mean, point.rate.mean) {
            labels.occupied.push(Area::around(f64::from(x), f64::from(y), 2.0 * NAME_DISTANCE, LINE_HEIGHT));
        }
    }
    for point in order {
        // Writing to a string does not fail.
        let _ = mark(&mut out, point, numbers.number(&point.name), frame, &mut labels);
    }
    out
}

/// Writes the mark of a controller with its intervals and its name; `index` determines the colour.
fn mark(
    out: &mut String,
    point: &ScatterPoint,
    index: usize,
    frame: &ChartFrame,
    labels: &mut Labels,
) -> Result<(), core::fmt::Error> {
    let Some((x, y)) = frame.place(point.delay.mean, point.rate.mean) else { return Ok(()) };
    let name = escape_html(&point.name);
    let colour = match point.standing {
        ControllerRank::ReferenceSender => palette::MUTED.to_owned(),
        _ => palette::controller(index),
    };
    write!(
        out,
        "<g data-controller=\"{}\" style=\"--c:var(--{})\"><title>{name}: {} kbit/s, {} ms</title>",
        index,
        colour,
        in_words(point.rate),
        in_words(point.delay)
    )?;
    let end = |delay: f64, rate: f64| frame.place(delay, rate);
    if let Some(half) = point.rate.ci95 {
        let (low, high) =
            (end(point.delay.mean, point.rate.mean - half), end(point.delay.mean, point.rate.mean + half));
        if let (Some((_, low)), Some((_, high))) = (low, high) {
            write!(out, "<path class=\"i\" d=\"M{x} {low}V{high}\"/>")?;
        }
    }
    if let Some(half) = point.delay.ci95 {
        // The interval may reach below the axis, where no bar can be drawn.
        let least = (point.delay.mean - half).max(frame.x.from);
        let (low, high) = (end(least, point.rate.mean), end(point.delay.mean + half, point.rate.mean));
        if let (Some((low, _)), Some((high, _))) = (low, high) {
            write!(out, "<path class=\"i\" d=\"M{low} {y}H{high}\"/>")?;
        }
    }
    let (class, text) = match point.standing {
        ControllerRank::ReferenceSender => ("q", "s"),
        ControllerRank::Behind | ControllerRank::Leading => ("p", ""),
        ControllerRank::Recommended => ("p", "t"),
    };
    if point.is_second {
        let (left, top) = (x - 8, y - 8);
        write!(out, "<rect class=\"{class}\" x=\"{left}\" y=\"{top}\" width=\"16\" height=\"16\"/>")?;
    } else {
        write!(out, "<circle class=\"{class}\" cx=\"{x}\" cy=\"{y}\" r=\"8\"/>")?;
    }
    if matches!(point.standing, ControllerRank::Leading | ControllerRank::Recommended) {
        write!(out, "<circle class=\"o\" cx=\"{x}\" cy=\"{y}\" r=\"14\"/>")?;
    }
    let (at, baseline, end) = labels.place(&point.name, (f64::from(x), f64::from(y)));
    let anchor = if end { " e" } else { "" };
    writeln!(out, "<text class=\"{text}{anchor}\" x=\"{at:.0}\" y=\"{baseline:.0}\">{name}</text></g>")
}

/// The mean with half the width of its interval, such as `596 ± 24`.
fn in_words(cell: SummaryCell) -> String {
    let mean = shown(cell.mean, 0);
    cell.ci95.map_or(mean.clone(), |half| format!("{mean} ± {half:.0}"))
}

/// The Pareto front of the controllers' means, from the least delay to the highest rate. Reference senders are left out.
fn frontier(points: &[&ScatterPoint], frame: &ChartFrame) -> String {
    let mut by_delay: Vec<&&ScatterPoint> =
        points.iter().filter(|point| point.standing != ControllerRank::ReferenceSender).collect();
    by_delay.sort_by(|a, b| a.delay.mean.total_cmp(&b.delay.mean));
    let mut best = f64::NEG_INFINITY;
    let mut undominated = Vec::new();
    for point in by_delay {
        // Points come by increasing delay, so that a point is undominated if its rate exceeds all rates before.
        if point.rate.mean > best {
            best = point.rate.mean;
            undominated.push(frame.place(point.delay.mean, point.rate.mean));
        }
    }
    format!("<path class=\"frontier\" d=\"{}\"/>\n", path::steps(undominated.into_iter()))
}

/// Placement of names, so that they overlap neither each other nor a mark.
struct Labels {
    /// Areas of all marks and of the names placed so far.
    occupied: Vec<Area>,
    frame: ChartFrame,
}

/// A rectangle of the drawing.
#[derive(Clone, Copy)]
struct Area {
    left: f64,
    top: f64,
    right: f64,
    bottom: f64,
}

impl Area {
    /// The area of this width and height around the centre `(x, y)`.
    fn around(x: f64, y: f64, width: f64, height: f64) -> Self {
        Self {
            left: x - width / 2.0,
            top: y - height / 2.0,
            right: x + width / 2.0,
            bottom: y + height / 2.0,
        }
    }

    fn overlaps(&self, other: &Self) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }
}

impl Labels {
    /// Position of the name of a mark at `(x, y)`, its baseline, and whether the name ends there instead of beginning.
    fn place(&mut self, name: &str, (x, y): (f64, f64)) -> (f64, f64, bool) {
        let width = name.chars().count() as f64 * LETTER_WIDTH;
        let steps = [0.0, -0.8, 0.8, -1.6, 1.6, -2.4, 2.4, -3.2, 3.2, -4.0, 4.0];
        let places = steps.iter().flat_map(|step| [false, true].map(|end| (y + step * LINE_HEIGHT, end)));
        let area = |middle: f64, end: bool| {
            let left = if end { x - NAME_DISTANCE - width } else { x + NAME_DISTANCE };
            Area {
                left,
                right: left + width,
                top: middle - LINE_HEIGHT / 2.0,
                bottom: middle + LINE_HEIGHT / 2.0,
            }
        };
        let inside = |label_area: &Area| {
            label_area.left >= 0.0
                && label_area.right <= self.frame.width
                && label_area.top >= 0.0
                && label_area.bottom <= self.frame.height
        };
        // No name overlaps its own mark, which is beside it.
        let free = |label_area: &Area| !self.occupied.iter().any(|other| other.overlaps(label_area));
        let found = places.into_iter().find(|&(middle, end)| {
            let label_area = area(middle, end);
            inside(&label_area) && free(&label_area)
        });
        let (middle, end) = found.unwrap_or((y, x + NAME_DISTANCE + width > self.frame.width));
        self.occupied.push(area(middle, end));
        (if end { x - NAME_DISTANCE } else { x + NAME_DISTANCE }, middle + LINE_HEIGHT / 3.0, end)
    }
}
