//! Bars of numbers, the paper's beside ours.

use core::fmt::{self, Write};

use super::super::super::plots::{Drawn, PlotLine, PlotResult};
use super::lines::interval;

use weir_measure::results::Value;
use weir_report::chart::{AxisScale, Bounds, ChartFrame, Ends, escape_html as html, said};

/// Greatest width of a bar.
const WIDEST: f64 = 90.0;
/// Approximate width of a letter, and the distance of lines of text.
const LETTER: f64 = 12.5;
const LINE: f64 = 26.0;

struct Bar<'p> {
    name: &'p str,
    ours: Value,
    half: Value,
    paper: Value,
}

pub(super) fn draw(out: &mut String, plot: &PlotResult) -> fmt::Result {
    let bar = |line: &PlotLine| match line.drawn {
        Drawn::Bar { y, ci95, paper } => Some((y, ci95, paper)),
        _ => None,
    };
    let of_line = |line| bar(line).map(|(ours, half, paper)| Bar { name: &line.name, ours, half, paper });
    let bars: Vec<Bar<'_>> = plot.lines.iter().filter_map(of_line).collect();
    let with_paper = bars.iter().any(|bar| bar.paper.is_some());
    if with_paper {
        out.push_str(
            "<ul class=\"legend\"><li><svg viewBox=\"0 0 40 20\" aria-hidden=\"true\"><path class=\"b c0\" d=\"M4 2h32v16h-32z\"/>\
             </svg>ours</li><li><svg viewBox=\"0 0 40 20\" aria-hidden=\"true\"><path class=\"q\" d=\"M4 2h32v16h-32z\"/></svg>the \
             paper’s</li></ul>\n",
        );
    }
    let frame = frame(plot, &bars);
    let room = frame.width / bars.len().max(1) as f64;
    let names: Vec<Vec<String>> =
        bars.iter().map(|bar| wrapped(bar.name, (room / LETTER).max(4.0) as usize)).collect();
    let lines = names.iter().map(Vec::len).max().unwrap_or(1);
    let frame = frame
        .with_room(30.0, (lines as f64 - 1.0) * LINE + if plot.x.label.is_empty() { -36.0 } else { 0.0 });
    let (mut inside, mut below) = (String::new(), String::new());
    for (index, bar) in bars.iter().enumerate() {
        let middle = (index as f64 + 0.5) * room;
        one(&mut inside, bar, (middle, room), &frame)?;
        for (line, text) in names[index].iter().enumerate() {
            let y = frame.height + 34.0 + line as f64 * LINE;
            write!(below, "<text x=\"{middle:.0}\" y=\"{y:.0}\">{}</text>", html(text))?;
        }
    }
    frame.open(out, &plot.title)?;
    frame.up(out, &plot.y.label)?;
    frame.label_across(out, &plot.x.label)?;
    frame.inside(out, &inside)?;
    ChartFrame::beside(out, &format!("<g class=\"m\">{below}</g>\n"))
}

fn frame(plot: &PlotResult, bars: &[Bar<'_>]) -> ChartFrame {
    let ends = |bar: &Bar<'_>| {
        let half = bar.half.unwrap_or(0.0);
        let ours = bar.ours.map(|ours| [ours - half, ours + half]);
        ours.into_iter().flatten().chain(bar.paper).collect::<Vec<_>>()
    };
    let values: Vec<f64> = bars.iter().flat_map(ends).collect();
    // The scale leaves space for the number above each bar.
    let most = values.iter().copied().fold(0.0, f64::max);
    let y = AxisScale::of(plot.y.bounds(), values.into_iter().chain([most * 1.08]), Ends::Zero);
    let x = Bounds { from: Some(0.0), to: Some(bars.len().max(1) as f64), ..Bounds::default() };
    ChartFrame::new(AxisScale::of(x, core::iter::empty(), Ends::Tight), y)
}

/// Bar of our value with its interval, and that of the paper to its right, if any.
fn one(out: &mut String, bar: &Bar<'_>, (middle, room): (f64, f64), frame: &ChartFrame) -> fmt::Result {
    let width = (room * 0.36).min(WIDEST);
    let ours = if bar.paper.is_some() { middle - width / 2.0 } else { middle };
    if let Some(value) = bar.ours {
        column(out, "b c0", (ours, width), value, frame)?;
        let half = bar.half.unwrap_or(0.0);
        let at = ours / frame.width * frame.x.to;
        let interval = interval(at, value, half, frame).unwrap_or_default();
        let interval_text = bar.half.map_or_else(String::new, |half| format!(" ± {}", said(half)));
        write!(
            out,
            "<path class=\"i k\" d=\"{interval}\"><title>{}: {}{interval_text}</title></path>",
            html(bar.name),
            said(value)
        )?;
        number(out, ours, value, half, frame)?;
    }
    if let Some(paper) = bar.paper {
        column(out, "q", (middle + width / 2.0, width), paper, frame)?;
        number(out, middle + width / 2.0, paper, 0.0, frame)?;
    }
    out.push('\n');
    Ok(())
}

fn column(
    out: &mut String,
    class: &str,
    (middle, width): (f64, f64),
    value: f64,
    frame: &ChartFrame,
) -> fmt::Result {
    let Some((_, top)) = frame.place(0.0, value) else { return Ok(()) };
    let zero = frame.place(0.0, 0.0).map_or(frame.height as i32, |(_, zero)| zero);
    let left = middle - width / 2.0;
    write!(out, "<path class=\"{class}\" d=\"M{left:.0} {zero}V{top}h{width:.0}V{zero}z\"/>")
}

/// Number above a bar and its interval, or below a negative bar.
fn number(out: &mut String, at: f64, value: f64, half: f64, frame: &ChartFrame) -> fmt::Result {
    let end = if value < 0.0 { value - half } else { value + half };
    let Some((_, y)) = frame.place(0.0, end) else { return Ok(()) };
    let y = if value < 0.0 { y + 26 } else { (y - 8).max(24) };
    write!(out, "<text class=\"m s\" x=\"{at:.0}\" y=\"{y}\">{}</text>", said(value))
}

/// Name broken into lines of about `letters` letters.
fn wrapped(name: &str, letters: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in name.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= letters => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_name_goes_on_in_the_next_line() {
        assert_eq!(wrapped("one flow of GCC", 8), ["one flow", "of GCC"]);
        assert_eq!(wrapped("GCC", 2), ["GCC"]);
    }
}
