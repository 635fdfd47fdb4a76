//! Plots as figures: a title, a legend, and a drawing in SVG. The drawing needs no script, is sharp on paper, and
//! takes its colours from the light or dark page.

mod bars;
mod lines;
mod map;

use core::fmt::{self, Write};

use super::super::plots::{Drawn, PlotKind, PlotLine, PlotResult};
use weir_report::chart::{escape_html as html, said};

/// Numbers of colours and dashes of the page; they have no common divisor, so that pairs repeat late.
const COLOURS: usize = 9;
const DASHES: usize = 4;

/// Figure of a plot.
pub(super) fn figure(out: &mut String, plot: &PlotResult) -> fmt::Result {
    write!(
        out,
        "<figure>\n<figcaption>{}<small>{}</small></figcaption>\n",
        html(&plot.title),
        html(&note(plot))
    )?;
    if !plot.lines.iter().any(|line| has_values(&line.drawn)) {
        return writeln!(out, "<p class=\"none\">No run has a value to draw.</p>\n</figure>");
    }
    match plot.kind {
        PlotKind::Bars => bars::draw(out, plot)?,
        PlotKind::Map => map::draw(out, plot)?,
        PlotKind::Course | PlotKind::Cdf | PlotKind::Sweep | PlotKind::Curve => {
            legend(out, &plot.lines)?;
            lines::draw(out, plot)?;
        }
    }
    out.push_str("</svg>\n</figure>\n");
    Ok(())
}

/// Note with the place of the sweeps and the runs.
fn note(plot: &PlotResult) -> String {
    let at = plot.at.iter().map(|(axis, value)| format!("{axis} = {}", said(*value)));
    let runs = match plot.kind {
        PlotKind::Course => Some("first seed"),
        PlotKind::Cdf => Some("all seeds together"),
        PlotKind::Sweep | PlotKind::Bars => Some("means over the seeds with their 95 % intervals"),
        PlotKind::Map => Some("means over the seeds"),
        // Most curves are closed forms, without seeds.
        PlotKind::Curve => None,
    };
    at.chain(runs.map(str::to_owned)).collect::<Vec<_>>().join(", ")
}

fn has_values(drawn: &Drawn) -> bool {
    match drawn {
        Drawn::Points { y, .. } | Drawn::Means { y, .. } => y.iter().any(Option::is_some),
        Drawn::Level { y } | Drawn::Bar { y, .. } => y.is_some(),
        Drawn::Grid { z, .. } => z.iter().flatten().any(Option::is_some),
    }
}

/// Style class of the line with this index: colour and dash.
fn style(index: usize) -> String {
    format!("c{} d{}", index % COLOURS, index % DASHES)
}

/// Marker of the line with this index, around a point: a disc, a square, a diamond or a triangle.
fn marker(index: usize, (x, y): (i32, i32)) -> String {
    match index % DASHES {
        0 => format!("M{} {y}a7 7 0 1 0 14 0a7 7 0 1 0-14 0z", x - 7),
        1 => format!("M{} {}h12v12h-12z", x - 6, y - 6),
        2 => format!("M{x} {}l9 9l-9 9l-9-9z", y - 9),
        _ => format!("M{x} {}l9 15h-18z", y - 9),
    }
}

fn legend(out: &mut String, lines: &[PlotLine]) -> fmt::Result {
    out.push_str("<ul class=\"legend\">");
    for (index, line) in lines.iter().enumerate() {
        let key = match &line.drawn {
            Drawn::Level { .. } => format!("<path class=\"level c{}\" d=\"M0 10h64\"/>", index % COLOURS),
            Drawn::Points { x, .. } if x.len() == 1 => {
                format!("<path class=\"p c{}\" d=\"{}\"/>", index % COLOURS, marker(index, (32, 10)))
            }
            Drawn::Means { .. } => format!(
                "<path class=\"l {}\" d=\"M0 10h64\"/><path class=\"p c{}\" d=\"{}\"/>",
                style(index),
                index % COLOURS,
                marker(index, (32, 10))
            ),
            _ => format!("<path class=\"l {}\" d=\"M0 10h64\"/>", style(index)),
        };
        write!(
            out,
            "<li><svg viewBox=\"0 0 64 20\" aria-hidden=\"true\">{key}</svg>{}</li>",
            html(&line.name)
        )?;
    }
    out.push_str("</ul>\n");
    Ok(())
}
