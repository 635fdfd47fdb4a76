//! Time series, distributions, curves, and numbers along a sweep.

use core::fmt::{self, Write};

use super::super::super::plots::{Drawn, PlotKind, PlotLine, PlotResult};
use super::{COLOURS, marker, style};

use weir_measure::results::Value;
use weir_report::chart::{AxisScale, ChartFrame, Ends, escape_html as html, path, said};

pub(super) fn draw(out: &mut String, plot: &PlotResult) -> fmt::Result {
    let frame = frame(plot);
    let mut inside = String::new();
    for (index, line) in plot.lines.iter().enumerate() {
        match &line.drawn {
            Drawn::Level { y: Some(y) } => level(&mut inside, index, *y, &frame)?,
            Drawn::Points { x, y } => points(&mut inside, plot.kind, index, (x, y), &frame)?,
            Drawn::Means { x, y, ci95 } => means(&mut inside, index, line, (x, y, ci95), &frame)?,
            _ => {}
        }
    }
    frame.open(out, &plot.title)?;
    frame.up(out, &plot.y.label)?;
    frame.across(out, &plot.x.label)?;
    frame.inside(out, &inside)
}

/// Axes that fit all lines; the vertical one fits the values within the horizontal one.
fn frame(plot: &PlotResult) -> ChartFrame {
    let x_ends = match plot.kind {
        PlotKind::Course => Ends::Tight,
        _ => Ends::Loose,
    };
    let x = AxisScale::of(plot.x.bounds(), plot.lines.iter().flat_map(across), x_ends);
    let within = |at: &Value| at.is_some_and(|at| (x.from..=x.to).contains(&at));
    let y = AxisScale::of(
        plot.y.bounds(),
        plot.lines.iter().flat_map(|line| upwards(&line.drawn, &within)),
        if plot.kind == PlotKind::Cdf { Ends::Zero } else { Ends::Round },
    );
    let frame = ChartFrame::new(x, y);
    if plot.equal { frame.equal() } else { frame }
}

fn across(line: &PlotLine) -> Vec<f64> {
    match &line.drawn {
        Drawn::Points { x, .. } => x.iter().flatten().copied().collect(),
        Drawn::Means { x, .. } => x.clone(),
        _ => Vec::new(),
    }
}

fn upwards(drawn: &Drawn, within: &dyn Fn(&Value) -> bool) -> Vec<f64> {
    match drawn {
        Drawn::Points { x, y } => {
            x.iter().zip(y).filter(|(x, _)| within(x)).filter_map(|(_, y)| *y).collect()
        }
        Drawn::Means { x, y, ci95 } => {
            let inside = x.iter().zip(y.iter().zip(ci95)).filter(|(x, _)| within(&Some(**x)));
            let ends = |(y, half): (&Value, &Value)| {
                let half = half.unwrap_or(0.0);
                y.iter().flat_map(|y| [y - half, y + half]).collect::<Vec<_>>()
            };
            inside.flat_map(|(_, value)| ends(value)).collect()
        }
        Drawn::Level { y } => y.iter().copied().collect(),
        _ => Vec::new(),
    }
}

fn level(out: &mut String, index: usize, y: f64, frame: &ChartFrame) -> fmt::Result {
    let Some((_, y)) = frame.place(frame.x.from, y) else { return Ok(()) };
    writeln!(out, "<path class=\"level c{}\" d=\"M0 {y}H{:.0}\"/>", index % COLOURS, frame.width)
}

fn points(
    out: &mut String,
    kind: PlotKind,
    index: usize,
    (x, y): (&[Value], &[Value]),
    frame: &ChartFrame,
) -> fmt::Result {
    let places = x.iter().zip(y).map(|(x, y)| frame.place((*x)?, (*y)?));
    if x.len() == 1 {
        let Some(place) = places.flatten().next() else { return Ok(()) };
        return writeln!(out, "<path class=\"p c{}\" d=\"{}\"/>", index % COLOURS, marker(index, place));
    }
    let path = if kind == PlotKind::Cdf { path::steps(places) } else { path::through(places) };
    writeln!(out, "<path class=\"l {}\" d=\"{path}\"/>", style(index))
}

fn means(
    out: &mut String,
    index: usize,
    line: &PlotLine,
    (x, y, ci95): (&[f64], &[Value], &[Value]),
    frame: &ChartFrame,
) -> fmt::Result {
    let places = x.iter().zip(y).map(|(x, y)| frame.place(*x, (*y)?));
    writeln!(out, "<path class=\"l {}\" d=\"{}\"/>", style(index), path::through(places))?;
    write!(out, "<g class=\"c{}\">", index % COLOURS)?;
    for ((x, y), half) in x.iter().zip(y).zip(ci95) {
        let Some((y, place)) = y.and_then(|y| Some((y, frame.place(*x, y)?))) else { continue };
        let interval = half.and_then(|half| interval(*x, y, half, frame)).unwrap_or_default();
        let interval_text = half.map_or_else(String::new, |half| format!(" ± {}", said(half)));
        write!(
            out,
            "<path class=\"p i\" d=\"{}{interval}\"><title>{}: {}{interval_text} at {}</title></path>",
            marker(index, place),
            html(&line.name),
            said(y),
            said(*x),
        )?;
    }
    out.push_str("</g>\n");
    Ok(())
}

/// Bar from end to end of an interval, unless the marker hides it.
pub(super) fn interval(x: f64, y: f64, half: f64, frame: &ChartFrame) -> Option<String> {
    let (_, middle) = frame.place(x, y)?;
    let (at, high) = frame.place(x, y + half)?;
    // On a logarithmic axis an interval that reaches below the axis is drawn to its end.
    let low = frame.place(x, y - half).map_or(frame.height as i32, |(_, low)| low);
    (middle - high > 8).then(|| format!("M{} {high}h14m-7 0V{low}m-7 0h14", at - 7))
}
