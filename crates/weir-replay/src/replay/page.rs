//! The page of a replay: the rates over time, their agreement, and where they part.

use maud::{Markup, html};
use weir_world::RecordedCall;

use super::compare::recorded_rate;
use super::{ControllerReplay, Parting, ReplayPoint};
use crate::chart::{ChartLine, TimeChart};
use crate::page::page;

/// The replays of a call as one page of HTML that loads nothing.
pub fn replay_page(title: &str, call: &RecordedCall, replays: &[ControllerReplay]) -> String {
    let body = html! {
        p.source { "Each controller in an open loop: the packets and the feedback are those of the recording." }
        (rates(call, replays).figure())
        h2 { "Agreement with the recorded rate" }
        (agreement(replays))
        @for replay in replays.iter().filter(|replay| !replay.partings.is_empty()) {
            h2 { (replay.controller) ": where it parts from the recording" }
            (partings(&replay.partings))
        }
        @for remark in &call.remarks { p.source { (remark) } }
    };
    page(title, &body)
}

fn rates(call: &RecordedCall, replays: &[ControllerReplay]) -> TimeChart {
    let end = call.duration_us as f64 / 1e6;
    let line = |name: &str, points: &[ReplayPoint]| {
        let mut drawn: Vec<(f64, Option<f64>)> =
            points.iter().map(|point| (point.time_us as f64 / 1e6, Some(point.bps as f64 / 1e6))).collect();
        drawn.extend(points.last().map(|last| (end, Some(last.bps as f64 / 1e6))));
        ChartLine { name: name.to_owned(), points: drawn, steps: true, grey_from: None }
    };
    let recorded = line("recorded", &recorded_rate(call));
    let replayed = replays.iter().map(|replay| ChartLine {
        grey_from: replay.diverged_us.map(|time| time as f64 / 1e6),
        ..line(&replay.controller, &replay.rate)
    });
    TimeChart {
        title: "Rate of each controller on the recorded feedback".to_owned(),
        label: "rate (Mbit/s)".to_owned(),
        length: end,
        lines: std::iter::once(recorded).filter(|line| !line.points.is_empty()).chain(replayed).collect(),
        ..TimeChart::default()
    }
}

fn agreement(replays: &[ControllerReplay]) -> Markup {
    html! {
        table {
            tr { th { "controller" } th.n { "within 10 %" } th.n { "median ratio" } th.n { "decisions" } th { "remarks" } }
            @for replay in replays {
                tr {
                    td { (replay.controller) }
                    @if let Some(found) = &replay.agreement {
                        td.n { (format!("{:.1} %", 100.0 * found.within_10_percent)) }
                        td.n { (format!("{:.2}", found.median_ratio)) }
                    } @else {
                        td.n { "–" }
                        td.n { "–" }
                    }
                    td.n { (replay.decisions.len()) }
                    td { (replay.remarks.join(" ")) }
                }
            }
        }
    }
}

fn partings(partings: &[Parting]) -> Markup {
    html! {
        table {
            tr { th.n { "from (s)" } th.n { "to (s)" } th.n { "replayed (kbit/s)" } th.n { "recorded (kbit/s)" } th { "decisions" } }
            @for parting in partings {
                tr {
                    td.n { (format!("{:.1}", parting.from_us as f64 / 1e6)) }
                    td.n { (format!("{:.1}", parting.to_us as f64 / 1e6)) }
                    td.n { (parting.replayed_bps / 1000) }
                    td.n { (parting.recorded_bps / 1000) }
                    td { (sentence(parting)) }
                }
            }
        }
    }
}

/// The decisions of both at the begin of a parting, with the signals that they rest on.
fn sentence(parting: &Parting) -> String {
    let recorded = match parting.recorded_state.as_str() {
        "" => String::new(),
        state => format!(" Recorded: {state}."),
    };
    let Some(decision) = &parting.replayed_decision else { return recorded.trim_start().to_owned() };
    let signals: Vec<String> = decision
        .signals
        .iter()
        .map(|signal| {
            let against =
                signal.threshold.map_or_else(String::new, |threshold| format!(" against {threshold:.4}"));
            let unit = if signal.unit.is_empty() { String::new() } else { format!(" {}", signal.unit) };
            format!("{} {:.4}{unit}{against}", signal.name, signal.value)
        })
        .collect();
    let by = if signals.is_empty() { String::new() } else { format!(", by {}", signals.join(", ")) };
    format!(
        "Replayed at {:.1} s: {} to {} kbit/s for {}{by}.{recorded}",
        decision.time_us as f64 / 1e6,
        decision.from_bps / 1000,
        decision.bps / 1000,
        decision.reason
    )
}

impl Parting {
    /// The decisions of both at its begin, as a sentence.
    pub fn sentence(&self) -> String {
        sentence(self)
    }
}
