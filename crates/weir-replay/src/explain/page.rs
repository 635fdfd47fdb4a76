//! The explanation as a page.

use maud::{Markup, html};
use weir_world::RecordedCall;

use super::series::{BIN_US, CallSeries};
use super::terminal::BY_ARRIVALS;
use super::{CallQuality, ExplainedFall, Explanation, FallCause};
use crate::chart::{ChartLine, ChartSpan, TimeChart};
use crate::page::page;
use crate::replay::recorded_rate;

/// The explanation as one page of HTML that loads nothing.
pub fn explanation_page(title: &str, call: &RecordedCall, explanation: &Explanation) -> String {
    let body = html! {
        (summary(explanation))
        @if let Some(quality) = &explanation.quality {
            (charts(call, explanation, quality))
        }
        @if !explanation.moments.is_empty() {
            h2 { "Moments to look at" }
            ol {
                @for moment in &explanation.moments {
                    li { (format!("{:.1} s: ", moment.at_us as f64 / 1e6)) (moment.sentence) " " small { "[" (moment.cites) "]" } }
                }
            }
        }
        @if !explanation.falls.is_empty() {
            h2 { "Falls of the rate by at least 15 %" }
            (falls(&explanation.falls))
        }
        @for remark in &explanation.remarks { p.source { (remark) } }
    };
    page(title, &body)
}

fn summary(explanation: &Explanation) -> Markup {
    let main = explanation.main_cause.map_or("none that the recording shows", FallCause::name);
    html! {
        @if explanation.quality.is_some() { p { "Main cause of the falls: " b { (main) } "." } }
        @if let Some(quality) = &explanation.quality {
            table {
                tr { th { "length" } td.n { (format!("{:.1} s", explanation.length_s)) } }
                @if let Some(sent) = quality.sent_bps {
                    tr { th { "rate that left" } td.n { (format!("{:.0} kbit/s", sent / 1e3)) } }
                }
                @if let Some(received) = quality.received_bps {
                    tr { th { "rate that arrived" } td.n { (format!("{:.0} kbit/s", received / 1e3)) } }
                }
                @if let Some(lost) = quality.lost_share {
                    tr { th { "packets lost" } td.n { (format!("{:.2} %", 100.0 * lost)) } }
                }
                @if let Some(rate) = quality.pictures_per_second {
                    tr { th { "complete pictures" } td.n { (format!("{rate:.1} per second")) } }
                }
                @if let (Some(middle), Some(most)) = (quality.picture_delay_p50_ms, quality.picture_delay_p95_ms) {
                    tr { th { "picture delay, median and 95th percentile" } td.n { (format!("{middle:.0} and {most:.0} ms")) } }
                }
                @if let Some(freezes) = &quality.freezes {
                    tr {
                        th { "freezes" @if !freezes.of_the_decoder { ", " (BY_ARRIVALS) } }
                        td.n { (format!("{}, {:.1} s together", freezes.found.len(), freezes.seconds())) }
                    }
                }
            }
        }
        @for finding in &explanation.counted { p { (finding.sentence) " " small { "[" (finding.cites) "]" } } }
        @if !explanation.shares.is_empty() {
            h2 { "Share of the time" }
            table {
                tr { th { "cause" } th.n { "of the time" } th.n { "falls" } }
                @for share in &explanation.shares {
                    tr {
                        td { (share.cause.name()) }
                        td.n { (format!("{:.1} %", 100.0 * share.share)) }
                        td.n { (share.falls) }
                    }
                }
            }
        }
    }
}

fn charts(call: &RecordedCall, explanation: &Explanation, quality: &CallQuality) -> Markup {
    let series = CallSeries::of(call);
    let time = |bin: usize| (bin as i64 * BIN_US) as f64 / 1e6;
    let arrived = (0..series.bins.len()).step_by(4).map(|bin| {
        let from = bin as i64 * BIN_US;
        (time(bin), series.knows_arrivals.then(|| series.arrived_bps(from, from + 999_999) / 1e6))
    });
    let mut estimate: Vec<(f64, Option<f64>)> = recorded_rate(call)
        .iter()
        .map(|point| (point.time_us as f64 / 1e6, Some(point.bps as f64 / 1e6)))
        .collect();
    estimate.extend(estimate.last().copied().map(|(_, value)| (explanation.length_s, value)));
    let queue = |pick: fn(&super::series::CallBin) -> Option<i64>| {
        series
            .bins
            .iter()
            .enumerate()
            .map(|(bin, values)| (time(bin), pick(values).map(|us| us as f64 / 1e3)))
            .collect()
    };
    let loss = series.bins.iter().enumerate().map(|(bin, values)| {
        let is_known = series.knows_arrivals && values.packets > 0;
        let share = is_known.then(|| 100.0 * f64::from(values.lost) / f64::from(values.packets));
        (time(bin), share)
    });
    let freezes: Vec<ChartSpan> = quality
        .freezes
        .iter()
        .flat_map(|freezes| &freezes.found)
        .map(|freeze| {
            let from = freeze.from_us as f64 / 1e6;
            let to = from + freeze.length_us as f64 / 1e6;
            ChartSpan { from, to, title: format!("freeze of {:.1} s", to - from) }
        })
        .collect();
    let line = |name: &str, points: Vec<(f64, Option<f64>)>, steps: bool| ChartLine {
        name: name.to_owned(),
        points,
        steps,
        grey_from: None,
    };
    let chart = |title: &str, label: &str, lines: Vec<ChartLine>| {
        let has_values = |line: &ChartLine| line.points.iter().any(|(_, value)| value.is_some());
        TimeChart {
            title: title.to_owned(),
            label: label.to_owned(),
            length: explanation.length_s,
            lines: lines.into_iter().filter(has_values).collect(),
            spans: freezes.clone(),
            ..TimeChart::default()
        }
    };
    let charts = [
        chart(
            "Rates; freezes are shaded",
            "rate (Mbit/s)",
            vec![line("arrived", arrived.collect(), true), line("estimate", estimate, true)],
        ),
        chart(
            "Queuing delay in each quarter second",
            "delay (ms)",
            vec![
                line("largest", queue(|bin| bin.largest_us), false),
                line("least: the standing queue", queue(|bin| bin.standing_us), false),
            ],
        ),
        chart("Lost packets in each quarter second", "loss (%)", vec![line("loss", loss.collect(), false)]),
    ];
    let drawn: Vec<&TimeChart> = charts.iter().filter(|chart| !chart.lines.is_empty()).collect();
    html! {
        @if !drawn.is_empty() { h2 { "Over time" } }
        @for chart in drawn { (chart.figure()) }
    }
}

fn falls(falls: &[ExplainedFall]) -> Markup {
    html! {
        table {
            tr { th.n { "time (s)" } th.n { "from (kbit/s)" } th.n { "to (kbit/s)" } th { "what came first" } }
            @for fall in falls {
                tr {
                    td.n { (format!("{:.1}", fall.at_us as f64 / 1e6)) }
                    td.n { (format!("{:.0}", fall.from_bps / 1e3)) }
                    td.n { (format!("{:.0}", fall.to_bps / 1e3)) }
                    td {
                        b { (fall.cause.map_or("no sign came before", FallCause::name)) }
                        @for (sentence, cites) in &fall.evidence { " " (sentence) " " small { "[" (cites) "]" } }
                    }
                }
            }
        }
    }
}
