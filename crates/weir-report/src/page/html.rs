//! The page around the figures.

use maud::{DOCTYPE, Markup, PreEscaped, html};
use weir_cc::LimitingFactor;

use super::chip::chip;
use super::figure::{Figure, Figures, INTERACTIVE_MS, SHORTEST_MS, quantile_ms};
use super::input::{ControllerPanel, PageInput, PlacedTable};
use super::names::Names;
use super::table::{PLACED_CSS, placed, shown, summary};
use super::{embed, palette, scatter, strips};
use crate::chart::CHART_CSS;

/// The content security policy of the page: no loading from anywhere; embedded scripts and styles may run.
const POLICY: &str =
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:";
const UNSUPPORTED: &str = "The plots need JavaScript and a browser that can inflate what this page brings along \
     (any of 2023 or later). The numbers and the scenario are complete without them.";
const SCRIPTS: [&str; 3] = [include_str!("plots.js"), include_str!("figures.js"), include_str!("page.js")];

/// The page.
pub(super) fn page(input: &PageInput, names: &Names<'_>, figures: &Figures) -> Markup {
    let has_panel = |name: &str| input.controllers.iter().any(|panel| panel.name == name);
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (input.title) }
                style {
                    (PreEscaped(palette::css()))
                    (PreEscaped(include_str!("vendor/uplot/uPlot.min.css")))
                    (PreEscaped(CHART_CSS))
                    (PreEscaped(include_str!("page.css")))
                    (PreEscaped(PLACED_CSS))
                }
            }
            body {
                main {
                    (header(input, names))
                    (tools(input, names, figures))
                    (summary(&input.summary, names, has_panel))
                    (placed(&input.differences.iter().map(PlacedTable::from).collect::<Vec<_>>()))
                    (strips::section(&input.strips))
                    (over_time(input, names, figures))
                    (couplings(input, names, figures))
                    (queuing_delay(input, names, figures.queuing_delay.as_ref()))
                    (signals(input, names, figures))
                    (scenario(&input.scenario))
                    (footer(input))
                }
                script type="application/octet-stream" id="library" { (PreEscaped(embed::library())) }
                script type="application/octet-stream" id="figures" { (PreEscaped(embed::compress(&figures.json()))) }
                script { @for script in SCRIPTS { (PreEscaped(script)) } }
            }
        }
    }
}

/// The scatter plot, the verdict and the table, with their style, as a part of another page.
pub(super) fn fragment(input: &PageInput, names: &Names<'_>) -> Markup {
    html! {
        div.weir-result {
            style {
                (PreEscaped(palette::css()))
                "@scope (.weir-result) {"
                (PreEscaped(CHART_CSS))
                (PreEscaped(include_str!("page.css")))
                (PreEscaped(PLACED_CSS))
                "}"
            }
            @if let Some(points) = &input.scatter { (scatter::figure(points, names)) }
            p.verdict { (input.verdict) }
            (summary(&input.summary, names, |_| false))
            (placed(&input.differences.iter().map(PlacedTable::from).collect::<Vec<_>>()))
        }
    }
}

fn header(input: &PageInput, names: &Names<'_>) -> Markup {
    html! {
        header {
            h1 { (input.title) }
            @if let Some(points) = &input.scatter { (scatter::figure(points, names)) }
            p.verdict { (input.verdict) }
            p.source { (input.source) }
            p.unsupported.card id="unsupported" hidden { (UNSUPPORTED) }
            noscript { p.unsupported.card { (UNSUPPORTED) } }
        }
    }
}

/// The toolbar, which stays in sight: links to sections, choices of display, and the colours of factors.
fn tools(input: &PageInput, names: &Names<'_>, figures: &Figures) -> Markup {
    let sections = [
        ("table", "Table", !input.summary.rows.is_empty()),
        ("reality", "Real and simulated", !input.strips.is_empty()),
        ("time", "Over time", !input.controllers.is_empty()),
        ("coupled", "Coupled flows", has_couplings(figures)),
        ("delay", "Queuing delay", figures.queuing_delay.is_some()),
        ("inside", "Inside", figures.signals.iter().any(Option::is_some)),
        ("scenario", "Scenario", !input.scenario.is_empty()),
        ("columns", "Columns", !input.summary.columns.is_empty()),
    ];
    let there: Vec<_> = sections.into_iter().filter(|(_, _, there)| *there).collect();
    if there.is_empty() {
        return html! {};
    }
    html! {
        nav.tools.card {
            div.jump {
                @for (id, name, _) in there { a href=(format!("#{id}")) { (name) } }
                @if !input.controllers.is_empty() { (view_buttons()) }
            }
            @if !input.controllers.is_empty() && names.iter().len() > 1 { (picker(names)) }
            @if !input.controllers.is_empty() { (factors(&input.controllers)) }
        }
    }
}

fn view_buttons() -> Markup {
    html! {
        span.view {
            button type="button" data-view="back" aria-label="earlier" { "‹" }
            button type="button" data-view="on" aria-label="later" { "›" }
            button type="button" data-view="in" aria-label="zoom in" { "+" }
            button type="button" data-view="out" aria-label="zoom out" { "−" }
            button type="button" data-view="all" { "all" }
        }
    }
}

/// The checkboxes that choose the controllers shown.
fn picker(names: &Names<'_>) -> Markup {
    let count = names.iter().len();
    html! {
        details.picker {
            summary { "Controllers" small id="picked" { (count) " of " (count) " shown" } }
            div {
                button type="button" data-pick="all" { "all" }
                button type="button" data-pick="none" { "none" }
                @for (index, name) in names.iter() {
                    label { input type="checkbox" data-pick=(index) checked; (chip(index)) (name) }
                }
            }
        }
    }
}

fn factors(panels: &[ControllerPanel]) -> Markup {
    let there: Vec<LimitingFactor> =
        LimitingFactor::ALL.into_iter().filter(|&factor| occurs(panels, factor)).collect();
    html! {
        @if !there.is_empty() {
            div.legend {
                span.lead { "limited by" }
                @for factor in there {
                    span title=(factor.meaning()) { i style=(format!("background:var(--{})", palette::factor(factor))) {} (factor.name()) }
                }
            }
        }
    }
}

fn occurs(panels: &[ControllerPanel], factor: LimitingFactor) -> bool {
    let of_coupled = |panel: &ControllerPanel| {
        let flows = panel.couplings.iter().flat_map(|coupling| &coupling.flows);
        flows.into_iter().any(|flow| flow.limiting_factor.contains(&Some(factor)))
    };
    panels.iter().any(|panel| panel.limiting_factor.contains(&Some(factor)) || of_coupled(panel))
}

/// The run that curves show, as the begin of a sentence.
fn curves_of(input: &PageInput) -> String {
    match input.seed {
        Some(seed) => format!(
            "Curves show the run of seed {seed}, the table means over all runs. {}",
            solid_and_dashed(input)
        ),
        None => solid_and_dashed(input),
    }
}

/// The line style of each of two runs, in words.
fn solid_and_dashed(input: &PageInput) -> String {
    match &input.runs {
        Some([first, second]) => format!("In colour: {first}; dashed: {second}, what it received. "),
        None => String::new(),
    }
}

fn over_time(input: &PageInput, names: &Names<'_>, figures: &Figures) -> Markup {
    html! {
        @if !input.controllers.is_empty() {
            section id="time" {
                h2 { "Over time" }
                p.hint {
                    (curves_of(input))
                    "The controllers shown have the same axes: what is usual fits, and what is above is marked by a bar at the top. \
                     Rates are means over a second until you zoom: drag across a plot to see a stretch of time, in all of them, \
                     with the upright axes that fit it. Double-click to see all. Lines in the ribbon are decisions: across what \
                     lowered the rate, below what raised it; point at one to read it. Dashed: a frame delay of "
                    (INTERACTIVE_MS) " ms. Touch or click a name to hide its curve."
                }
                div.panels {
                    @for ((index, panel), figure) in names.panels(input).into_iter().zip(&figures.timelines) {
                        div.panel.card id=(format!("controller-{index}")) data-controller=(index) {
                            h3 {
                                (chip(index)) (panel.name)
                                @if !panel.description.is_empty() { small { (panel.description) } }
                                @if !input.summary.rows.is_empty() { a.up href="#table" { "table" } }
                            }
                            p.of { (shows(input, panel)) }
                            (placeholder(figure, &format!("{} over time", panel.name)))
                        }
                    }
                }
            }
        }
    }
}

/// The flow and the seed that a plot shows.
fn shows(input: &PageInput, panel: &ControllerPanel) -> String {
    let seed = input.seed.map_or_else(String::new, |seed| format!("Seed {seed}. "));
    match panel.subject.as_str() {
        "" => seed,
        subject => format!("{seed}What limited it, delay and loss are those of the flow {subject}."),
    }
}

fn has_couplings(figures: &Figures) -> bool {
    figures.couplings.iter().any(|coupling| !coupling.is_empty())
}

/// Coupled flows together.
fn couplings(input: &PageInput, names: &Names<'_>, figures: &Figures) -> Markup {
    html! {
        @if has_couplings(figures) {
            section id="coupled" {
                h2 { "Coupled flows" }
                p.hint {
                    (curves_of(input))
                    "Received, in a colour for each flow, and dashed the share that each was ordered to; bold what they received \
                     together, dotted S_CR, what their coupler has for them. Below, each flow’s part of what was sent in the last \
                     second, dashed what its weight asks for; and what limited each."
                }
                div.panels {
                    @for ((index, panel), own) in names.panels(input).into_iter().zip(&figures.couplings) {
                        @for (coupling, figure) in panel.couplings.iter().zip(own) {
                            div.panel.card data-controller=(index) {
                                h3 { (chip(index)) (panel.name) small { (coupling.name) } }
                                p.of { (input.seed.map_or_else(String::new, |seed| format!("Seed {seed}."))) }
                                (placeholder(figure, &format!("{} coupled by {} over time", panel.name, coupling.name)))
                            }
                        }
                    }
                }
            }
        }
    }
}

fn queuing_delay(input: &PageInput, names: &Names<'_>, figure: Option<&Figure>) -> Markup {
    let Some(figure) = figure else { return html! {} };
    let quantiles = |panel: &ControllerPanel| {
        let quantile = |q| quantile_ms(&panel.queuing_delay, q).map(milliseconds);
        Some(format!("50 %: {} ms · 95 %: {} ms", quantile(0.5)?, quantile(0.95)?))
    };
    let seed = input.seed.map_or_else(String::new, |seed| format!(", in the run of seed {seed}"));
    html! {
        section id="delay" {
            h2 { "Queuing delay" }
            p.hint {
                "Which share of the packets of the first media flow was delayed at most how long" (seed)
                "; further up and left is better. " (solid_and_dashed(input)) "Delays below " (SHORTEST_MS) " ms are drawn there. Touch or click a name to \
                 hide its curve; near a curve its name stands out."
            }
            div.panel.card {
                div.direct {
                    @for (index, panel) in names.panels(input) {
                        @if let Some(numbers) = quantiles(panel) {
                            button type="button" data-controller=(index) data-curve=(index) aria-pressed="true" {
                                (chip(index)) (panel.name) small { (numbers) }
                            }
                        }
                    }
                }
                (placeholder(figure, "Queuing delay of all controllers"))
            }
        }
    }
}

fn milliseconds(delay: f64) -> String {
    shown(delay, usize::from(delay < 10.0))
}

fn signals(input: &PageInput, names: &Names<'_>, figures: &Figures) -> Markup {
    let shown: Vec<_> = names.panels(input).into_iter().zip(&figures.signals).collect();
    let names = |panel: &ControllerPanel| {
        panel.signals.iter().map(|signal| signal.name.as_str()).collect::<Vec<_>>().join(", ")
    };
    html! {
        @if shown.iter().any(|(_, figure)| figure.is_some()) {
            section id="inside" {
                h2 { "Inside the controllers" }
                p.hint {
                    (curves_of(input))
                    @if let Some([first, _]) = &input.runs { "Of " (first) " alone. " }
                    "Inner quantities of the first media flow’s controller: the band reaches from the least to the greatest \
                     value in each bin."
                }
                @for ((index, panel), figure) in shown {
                    @if let Some(figure) = figure {
                        details.card data-controller=(index) {
                            summary { (chip(index)) (panel.name) small { (names(panel)) } }
                            p.of { (flow_of(input, panel)) }
                            (placeholder(figure, &format!("Signals of {}", panel.name)))
                        }
                    }
                }
            }
        }
    }
}

fn flow_of(input: &PageInput, panel: &ControllerPanel) -> String {
    let seed = input.seed.map_or_else(String::new, |seed| format!("Seed {seed}, "));
    format!("{seed}flow {}.", panel.subject)
}

fn scenario(text: &str) -> Markup {
    html! {
        @if !text.is_empty() {
            section id="scenario" {
                h2 { "Scenario" }
                p.hint { "What was simulated, for every controller alike." }
                details.card {
                    summary { "Scenario file" small { "TOML" } }
                    pre { (text) }
                }
            }
        }
    }
}

fn footer(input: &PageInput) -> Markup {
    html! {
        footer {
            @if !input.summary.columns.is_empty() {
                h2 id="columns" { "What the columns mean" }
                dl {
                    @for column in &input.summary.columns { dt { (column.label) } dd { (column.definition) } }
                }
            }
            @for note in &input.notes { p { (note) } }
        }
    }
}

/// The element in which the page's script draws `figure`.
fn placeholder(figure: &Figure, description: &str) -> Markup {
    html! {
        div.plot id=(figure.id) role="img" aria-label=(description)
            style=(format!("min-height:{}px", figure.height())) {}
    }
}
