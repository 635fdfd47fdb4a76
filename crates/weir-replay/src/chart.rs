//! Charts over the time of a call.

use core::fmt::Write;

use maud::{Markup, PreEscaped, html};
use weir_report::chart::{AxisScale, Bounds, ChartFrame, Ends, escape_html, path};

/// Colours of lines in the style of charts.
const COLOURS: usize = 9;
/// Dashes of lines in that style, the whole line among them.
const DASHES: usize = 4;
/// Most points of a line: more cannot be told apart at the width of a chart.
const MOST_POINTS: usize = 2400;

/// A line: time in s, and value; an absent value leaves a gap.
#[derive(Clone, Debug, Default)]
pub(crate) struct ChartLine {
    pub(crate) name: String,
    pub(crate) points: Vec<(f64, Option<f64>)>,
    /// Whether a value holds until the next one.
    pub(crate) steps: bool,
    /// Time from which the line is grey.
    pub(crate) grey_from: Option<f64>,
}

/// A span of the call that is marked on a chart.
#[derive(Clone, Debug)]
pub(crate) struct ChartSpan {
    pub(crate) from: f64,
    pub(crate) to: f64,
    pub(crate) title: String,
}

/// A chart over the time of a call.
#[derive(Clone, Debug, Default)]
pub(crate) struct TimeChart {
    pub(crate) title: String,
    /// Label of the vertical axis, with the unit.
    pub(crate) label: String,
    /// Length of the call in s.
    pub(crate) length: f64,
    /// Fixed end of the vertical axis.
    pub(crate) top: Option<f64>,
    pub(crate) lines: Vec<ChartLine>,
    /// Meaning of grey parts of lines.
    pub(crate) grey: &'static str,
    pub(crate) spans: Vec<ChartSpan>,
}

impl TimeChart {
    /// The chart as a figure with a legend.
    pub(crate) fn figure(&self) -> Markup {
        html! {
            figure {
                figcaption { (self.title) }
                ul.legend {
                    @for (index, line) in self.lines.iter().enumerate() {
                        li { (swatch(&style(index))) (line.name) }
                    }
                    @if self.lines.iter().any(|line| line.split() < line.points.len()) {
                        li { (swatch("grey")) (self.grey) }
                    }
                }
                // Writing to a string does not fail.
                (PreEscaped(self.svg().unwrap_or_default()))
            }
        }
    }

    fn svg(&self) -> Result<String, core::fmt::Error> {
        let time = Bounds { from: Some(0.0), to: Some(self.length.max(1.0)), log: false };
        let value = Bounds { from: Some(0.0), to: self.top, log: false };
        let values = self.lines.iter().flat_map(|line| line.points.iter().filter_map(|point| point.1));
        let frame = ChartFrame::new(
            AxisScale::of(time, core::iter::empty(), Ends::Tight),
            AxisScale::of(value, values, Ends::Zero),
        );
        let mut inside = String::new();
        for span in &self.spans {
            self.span(&mut inside, &frame, span)?;
        }
        for (index, line) in self.lines.iter().enumerate() {
            draw(&mut inside, &frame, index, line)?;
        }
        let mut out = String::new();
        frame.open(&mut out, &self.title)?;
        frame.up(&mut out, &self.label)?;
        frame.across(&mut out, "time (s)")?;
        frame.inside(&mut out, &inside)?;
        out.push_str("</svg>\n");
        Ok(out)
    }

    fn span(&self, out: &mut String, frame: &ChartFrame, span: &ChartSpan) -> core::fmt::Result {
        let place = |time: f64| frame.place(time.clamp(0.0, self.length.max(1.0)), frame.y.from);
        let (Some((from, _)), Some((to, _))) = (place(span.from), place(span.to)) else { return Ok(()) };
        writeln!(
            out,
            "<rect class=\"span\" x=\"{from}\" y=\"0\" width=\"{}\" height=\"{:.0}\"><title>{}</title></rect>",
            (to - from).max(3),
            frame.height,
            escape_html(&span.title)
        )
    }
}

impl ChartLine {
    /// First point of the grey part.
    fn split(&self) -> usize {
        let grey = self.grey_from.unwrap_or(f64::INFINITY);
        self.points.partition_point(|&(time, _)| time < grey)
    }
}

/// Classes of the line at a place: colour, and dashes for readers without it.
fn style(index: usize) -> String {
    format!("c{} {}", index % COLOURS, dashes(index))
}

fn dashes(index: usize) -> String {
    format!("d{}", index % DASHES)
}

fn draw(out: &mut String, frame: &ChartFrame, index: usize, line: &ChartLine) -> core::fmt::Result {
    let split = line.split();
    // The grey part begins where the other ends.
    let parts = [
        (&line.points[..split], style(index)),
        (&line.points[split.saturating_sub(1)..], format!("grey {}", dashes(index))),
    ];
    let parts = if split == line.points.len() { &parts[..1] } else { &parts[..] };
    for (points, class) in parts {
        let points = thinned(points);
        let places = points.iter().map(|&(time, value)| frame.place(time, value?));
        let drawn = if line.steps { path::steps(places) } else { path::through(places) };
        writeln!(out, "<path class=\"l {class}\" d=\"{drawn}\"/>")?;
    }
    Ok(())
}

/// At most [`MOST_POINTS`] of the points: of each group the least and the greatest, in their order.
fn thinned(points: &[(f64, Option<f64>)]) -> Vec<(f64, Option<f64>)> {
    if points.len() <= MOST_POINTS {
        return points.to_vec();
    }
    let group = points.len().div_ceil(MOST_POINTS / 2);
    let mut kept = Vec::with_capacity(MOST_POINTS);
    for part in points.chunks(group) {
        let value = |&index: &usize| part[index].1.unwrap_or(f64::NEG_INFINITY);
        let least = (0..part.len()).min_by(|one, two| value(one).total_cmp(&value(two)));
        let most = (0..part.len()).max_by(|one, two| value(one).total_cmp(&value(two)));
        let (least, most) = (least.unwrap_or(0), most.unwrap_or(0));
        kept.push(part[least.min(most)]);
        if least != most {
            kept.push(part[least.max(most)]);
        }
    }
    kept
}

fn swatch(style: &str) -> Markup {
    let class = format!("l {style}");
    html! { svg viewBox="0 0 36 10" { path class=(class) d="M0 5h36" {} } }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(name: &str, grey_from: Option<f64>) -> ChartLine {
        let points = vec![(0.0, Some(1.0)), (5.0, Some(2.0)), (9.0, Some(1.0))];
        ChartLine { name: name.to_owned(), points, steps: true, grey_from }
    }

    #[test]
    fn lines_have_names_dashes_and_a_meaning_of_grey() {
        let mut chart = TimeChart { length: 10.0, grey: "apart", ..TimeChart::default() };
        chart.lines = vec![line("only one", None)];
        let figure = chart.figure().into_string();
        assert!(figure.contains("only one") && !figure.contains("apart"), "{figure}");
        chart.lines.push(line("other", Some(5.0)));
        let figure = chart.figure().into_string();
        assert!(figure.contains("l c0 d0") && figure.contains("l c1 d1") && figure.contains("l grey d1"));
        assert!(figure.contains("apart"), "{figure}");
    }
}
