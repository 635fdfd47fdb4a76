//! The page around the figures.

use core::fmt::{self, Write};

use weir_cc::Cause;

use super::escape::html;
use super::figure::{Figure, Figures, INTERACTIVE_MS, SHORTEST_MS, quantile_ms};
use super::input::{Best, Cell, Column, ControllerPanel, FlowRole, PageInput, Row, SummaryTable};
use super::{embed, palette};
use weir_measure::results::stats::kinds_in_words;

/// Nothing may be loaded from anywhere; what the page brings along may run.
const POLICY: &str =
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:";
const UNSUPPORTED: &str = "The plots need JavaScript and a browser that can inflate what this page brings along \
     (any of 2023 or later). The numbers and the scenario are complete without them.";

/// Writes the page.
pub(super) fn write(out: &mut String, input: &PageInput, figures: &Figures) -> fmt::Result {
    write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{}</title>\n<style>\n{}</style>\n</head>\n<body>\n<main>\n",
        html(&input.title),
        include_str!("page.css"),
    )?;
    header(out, input)?;
    summary(out, &input.summary)?;
    over_time(out, &input.controllers, figures)?;
    couplings(out, &input.controllers, figures)?;
    queuing_delay(out, &input.controllers, figures.queuing_delay.as_ref())?;
    signals(out, &input.controllers, figures)?;
    scenario(out, &input.scenario)?;
    footer(out, input)?;
    write!(
        out,
        "</main>\n<script type=\"application/octet-stream\" id=\"library\">{}</script>\n\
         <script type=\"application/octet-stream\" id=\"figures\">{}</script>\n\
         <script>\n{}</script>\n</body>\n</html>\n",
        embed::library(),
        embed::compress(&figures.json()),
        include_str!("page.js"),
    )
}

fn header(out: &mut String, input: &PageInput) -> fmt::Result {
    let PageInput { title, source, verdict, .. } = input;
    write!(
        out,
        "<header>\n<h1>{}</h1>\n<p class=\"verdict\">{}</p>\n<p class=\"source\">{}</p>\n\
         <p class=\"unsupported card\" id=\"unsupported\" hidden>{UNSUPPORTED}</p>\n\
         <noscript><p class=\"unsupported card\">{UNSUPPORTED}</p></noscript>\n</header>\n",
        html(title),
        html(verdict),
        html(source),
    )
}

fn summary(out: &mut String, table: &SummaryTable) -> fmt::Result {
    if table.rows.is_empty() {
        return Ok(());
    }
    out.push_str("<div class=\"summary card scroll\">\n<table>\n<thead><tr><th>Controller</th>");
    for column in &table.columns {
        write!(out, "<th>{}<span class=\"unit\">{}</span></th>", html(&column.label), html(&column.unit))?;
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for (index, row) in table.rows.iter().enumerate() {
        write!(out, "<tr><th>{}{}</th>", chip(index), html(&row.name))?;
        for (position, column) in table.columns.iter().enumerate() {
            let shown = row.cells.get(position).copied().flatten().filter(|cell| cell.mean.is_finite());
            let has_interval = column_cells(table, position).any(|cell| cell.ci95.is_some());
            let best = best_text(table, position).filter(|_| !row.is_yardstick);
            write_cell(out, column, shown, best.as_deref(), has_interval)?;
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody>\n</table>\n</div>\n");
    Ok(())
}

fn write_cell(
    out: &mut String,
    column: &Column,
    cell: Option<Cell>,
    best: Option<&str>,
    has_interval: bool,
) -> fmt::Result {
    let text = cell.map(|cell| shown(cell.mean, column.decimals));
    let class = if text.is_some() && text.as_deref() == best { " class=\"best\"" } else { "" };
    match &text {
        Some(text) => write!(out, "<td{class}><span class=\"value\">{text}</span>")?,
        None => out.push_str("<td><span class=\"none\">–</span>"),
    }
    if has_interval {
        let half_width = cell.and_then(|cell| cell.ci95).filter(|width| width.is_finite());
        let interval = half_width.map(|width| format!("± {}", shown(width, column.decimals)));
        write!(out, "<span class=\"interval\">{}</span>", interval.unwrap_or_default())?;
    }
    let kinds = kinds_in_words(cell.and_then(|cell| cell.kinds), column.decimals);
    if let Some(kinds) = kinds.strip_prefix("; ") {
        write!(out, "<span class=\"interval\">{kinds}</span>")?;
    }
    out.push_str("</td>");
    Ok(())
}

fn column_cells(table: &SummaryTable, position: usize) -> impl Iterator<Item = Cell> {
    let cell = move |row: &Row| row.cells.get(position).copied().flatten();
    table.rows.iter().filter_map(cell).filter(|cell| cell.mean.is_finite())
}

/// The column's best value as it is shown, so that equal texts are equally good; `None` if all rows are. Yardsticks do not
/// count.
fn best_text(table: &SummaryTable, position: usize) -> Option<String> {
    let column = table.columns.get(position)?;
    let contestants = || table.rows.iter().filter(|row| !row.is_yardstick);
    let cell = |row: &Row| row.cells.get(position).copied().flatten();
    let means = || contestants().filter_map(cell).map(|cell| cell.mean).filter(|mean| mean.is_finite());
    let (highest, lowest) = (means().reduce(f64::max)?, means().reduce(f64::min)?);
    let (highest, lowest) = (shown(highest, column.decimals), shown(lowest, column.decimals));
    match column.best {
        _ if highest == lowest => None,
        Best::Highest => Some(highest),
        Best::Lowest => Some(lowest),
        Best::Neither => None,
    }
}

/// `value` with a true minus sign, and none before a zero.
fn shown(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    match text.strip_prefix('-') {
        Some(digits) if digits.chars().all(|c| c == '0' || c == '.') => digits.to_owned(),
        Some(digits) => format!("−{digits}"),
        None => text,
    }
}

fn over_time(out: &mut String, panels: &[ControllerPanel], figures: &Figures) -> fmt::Result {
    if panels.is_empty() {
        return Ok(());
    }
    out.push_str(
        "<section>\n<h2>Over time</h2>\n<p class=\"hint\">All controllers have the same axes. Drag across a plot \
         to zoom into a stretch of time, in all of them; double-click to zoom out.</p>\n",
    );
    legend(out, panels)?;
    for (index, (panel, figure)) in panels.iter().zip(&figures.timelines).enumerate() {
        write!(out, "<div class=\"panel card\">\n<h3>{}{}", chip(index), html(&panel.name))?;
        if !panel.description.is_empty() {
            write!(out, "<small>{}</small>", html(&panel.description))?;
        }
        out.push_str("</h3>\n");
        placeholder(out, figure, &format!("{} over time", panel.name))?;
        out.push_str("</div>\n");
    }
    out.push_str("</section>\n");
    Ok(())
}

fn legend(out: &mut String, panels: &[ControllerPanel]) -> fmt::Result {
    let has_competitor = panels.iter().flat_map(|panel| &panel.flows).any(|f| f.role == FlowRole::Competitor);
    let line =
        |style: String, text: &str| format!("<span><i class=\"line\" style=\"{style}\"></i>{text}</span>");
    let media = if panels.len() == 1 { palette::controller(0) } else { palette::INK };
    out.push_str("<div class=\"legend card\">\n<span class=\"lead\">rates, delay</span>");
    write!(
        out,
        "<span><i style=\"background:{};border-top:1px solid {}\"></i>capacity</span>",
        palette::CAPACITY,
        palette::CAPACITY_EDGE
    )?;
    out.push_str(&line(format!("border-top:3px solid {media}"), "received (in the controller’s colour)"));
    out.push_str(&line(format!("border-top:1px solid {}", palette::INK), "target"));
    out.push_str(&line(format!("border-top:1px dotted {media}"), "sent"));
    if has_competitor {
        out.push_str(&line(
            format!("border-top:2px solid {}", palette::COMPETITOR),
            "competing flows, received",
        ));
    }
    let limit = format!("frame delay of {INTERACTIVE_MS} ms");
    out.push_str(&line(format!("border-top:1px dashed {}", palette::MUTED), &limit));
    write!(
        out,
        "<span><i style=\"width:2px;margin-left:10px;background:{}\"></i>loss</span>\n\
         <span class=\"break\"></span><span class=\"lead\">limited by</span>",
        palette::LOSS
    )?;
    for cause in Cause::ALL.into_iter().filter(|&cause| occurs(panels, cause)) {
        let (colour, name) = (palette::cause(cause), cause.name());
        write!(out, "<span><i class=\"block\" style=\"background:{colour}\"></i>{name}</span>")?;
    }
    out.push_str("\n</div>\n");
    Ok(())
}

fn occurs(panels: &[ControllerPanel], cause: Cause) -> bool {
    let of_coupled = |panel: &ControllerPanel| {
        panel
            .couplings
            .iter()
            .flat_map(|coupling| &coupling.flows)
            .any(|flow| flow.cause.contains(&Some(cause)))
    };
    panels.iter().any(|panel| panel.cause.contains(&Some(cause)) || of_coupled(panel))
}

/// Coupled flows together.
fn couplings(out: &mut String, panels: &[ControllerPanel], figures: &Figures) -> fmt::Result {
    if figures.couplings.iter().all(Vec::is_empty) {
        return Ok(());
    }
    out.push_str(
        "<section>\n<h2>Coupled flows</h2>\n<p class=\"hint\">Received, in a colour for each flow, and dashed the share \
         that each was ordered to; bold what they received together, dotted S_CR, what their coupler has for them. Below, each \
         flow’s part of what was sent in the last second, dashed what its weight asks for; and what limited each.</p>\n",
    );
    for (index, (panel, own)) in panels.iter().zip(&figures.couplings).enumerate() {
        for (coupling, figure) in panel.couplings.iter().zip(own) {
            let (controller, name) = (html(&panel.name), html(&coupling.name));
            write!(out, "<div class=\"panel card\">\n<h3>{}{controller}<small>{name}", chip(index))?;
            for (rank, flow) in coupling.flows.iter().enumerate() {
                let colour = palette::controller(rank);
                write!(out, " · <span style=\"color:{colour}\">{}</span>", html(&flow.name))?;
            }
            out.push_str("</small></h3>\n");
            placeholder(out, figure, &format!("{} coupled by {} over time", panel.name, coupling.name))?;
            out.push_str("</div>\n");
        }
    }
    out.push_str("</section>\n");
    Ok(())
}

fn queuing_delay(out: &mut String, panels: &[ControllerPanel], figure: Option<&Figure>) -> fmt::Result {
    let Some(figure) = figure else { return Ok(()) };
    write!(
        out,
        "<section>\n<h2>Queuing delay</h2>\n<p class=\"hint\">Which share of the media packets was delayed at most \
         how long; further up and left is better. Delays below {SHORTEST_MS} ms are drawn there.</p>\n\
         <div class=\"panel card\">\n<div class=\"direct\">"
    )?;
    for (index, panel) in panels.iter().enumerate() {
        let quantile = |q| quantile_ms(&panel.queuing_delay, q);
        if let (Some(half), Some(most)) = (quantile(0.5), quantile(0.95)) {
            let name = html(&panel.name);
            let (half, most) = (milliseconds(half), milliseconds(most));
            let numbers = format!("50 %: {half} ms · 95 %: {most} ms");
            write!(out, "<span>{}{name}<small>{numbers}</small></span>", chip(index))?;
        }
    }
    out.push_str("</div>\n");
    placeholder(out, figure, "Queuing delay of all controllers")?;
    out.push_str("</div>\n</section>\n");
    Ok(())
}

fn milliseconds(delay: f64) -> String {
    shown(delay, usize::from(delay < 10.0))
}

fn signals(out: &mut String, panels: &[ControllerPanel], figures: &Figures) -> fmt::Result {
    let shown: Vec<_> = panels.iter().enumerate().zip(&figures.signals).collect();
    if shown.iter().all(|(_, figure)| figure.is_none()) {
        return Ok(());
    }
    out.push_str(
        "<section>\n<h2>Inside the controllers</h2>\n\
         <p class=\"hint\">Inner quantities: the band reaches from the least to the greatest value in \
         each bin.</p>\n",
    );
    for ((index, panel), figure) in shown {
        let Some(figure) = figure else { continue };
        let names: Vec<&str> = panel.signals.iter().map(|signal| signal.name.as_str()).collect();
        write!(
            out,
            "<details class=\"card\">\n<summary>{}{}<small>{}</small></summary>\n",
            chip(index),
            html(&panel.name),
            html(&names.join(", ")),
        )?;
        placeholder(out, figure, &format!("Signals of {}", panel.name))?;
        out.push_str("</details>\n");
    }
    out.push_str("</section>\n");
    Ok(())
}

fn scenario(out: &mut String, text: &str) -> fmt::Result {
    if text.is_empty() {
        return Ok(());
    }
    write!(
        out,
        "<section>\n<h2>Scenario</h2>\n<p class=\"hint\">What was simulated, for every controller alike.</p>\n\
         <details class=\"card\">\n<summary>Scenario file<small>TOML</small></summary>\n<pre>{}</pre>\n</details>\n\
         </section>\n",
        html(text)
    )
}

fn footer(out: &mut String, input: &PageInput) -> fmt::Result {
    out.push_str("<footer>\n");
    if !input.summary.columns.is_empty() {
        out.push_str("<h2>What the columns mean</h2>\n<dl>\n");
        for column in &input.summary.columns {
            writeln!(out, "<dt>{}</dt><dd>{}</dd>", html(&column.label), html(&column.definition))?;
        }
        out.push_str("</dl>\n");
    }
    for note in &input.notes {
        writeln!(out, "<p>{}</p>", html(note))?;
    }
    out.push_str("</footer>\n");
    Ok(())
}

/// Where the page's script draws `figure`.
fn placeholder(out: &mut String, figure: &Figure, description: &str) -> fmt::Result {
    let Figure { id, height, .. } = figure;
    writeln!(
        out,
        "<div class=\"plot\" id=\"{id}\" role=\"img\" aria-label=\"{}\" style=\"min-height:{height}px\"></div>",
        html(description),
    )
}

/// A spot that stands for the controller.
fn chip(index: usize) -> String {
    format!("<i class=\"chip\" style=\"background:{}\"></i>", palette::fill(index))
}
