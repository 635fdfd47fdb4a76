//! The page of a replay: the rates over time, their agreement, and where they part.

use maud::{Markup, html};
use weir_world::RecordedCall;

use super::compare::recorded_rate;
use super::{ControllerReplay, Parting, ReplayPoint, SignalValue};
use crate::chart::{ChartLine, TimeChart};
use crate::page::page;

/// The meaning of all figures of a replay.
pub const OPEN_LOOP: &str = "The loop is open: packets and feedback are those of the recording, whatever a controller \
    decides. Figures compare decisions on the same feedback. They are not the rates that the controllers would have reached.";

/// The replays of a call as one page of HTML that loads nothing.
pub fn replay_page(title: &str, call: &RecordedCall, replays: &[ControllerReplay]) -> String {
    let body = html! {
        p.source { (OPEN_LOOP) }
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
        grey: "after its first difference of 20 % from the recording",
        lines: std::iter::once(recorded).filter(|line| !line.points.is_empty()).chain(replayed).collect(),
        ..TimeChart::default()
    }
}

fn agreement(replays: &[ControllerReplay]) -> Markup {
    html! {
        table {
            tr {
                th { "controller" }
                th.n { "within 10 %" }
                th.n { "median ratio" }
                th.n { "diverged at" }
                th.n { "decisions" }
                th { "remarks" }
            }
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
                    td.n { (replay.diverged_us.map_or_else(|| "–".to_owned(), |us| format!("{:.1} s", us as f64 / 1e6))) }
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
    let signals: Vec<String> = decision.signals.iter().map(signal_text).collect();
    let by = if signals.is_empty() { String::new() } else { format!(", by {}", signals.join(", ")) };
    format!(
        "Replayed at {:.1} s: {} to {} kbit/s for {}{by}.{recorded}",
        decision.time_us as f64 / 1e6,
        decision.from_bps / 1000,
        decision.bps / 1000,
        decision.reason
    )
}

/// The signal with its meaning, and three digits of its value.
fn signal_text(signal: &SignalValue) -> String {
    let (unit, scale) = if signal.unit == "bit/s" { ("kbit/s", 1e-3) } else { (signal.unit, 1.0) };
    let space = if unit.is_empty() { "" } else { " " };
    let against = signal.threshold.map_or_else(String::new, |threshold| {
        format!(" against {}{space}{unit}", three_digits(scale * threshold))
    });
    format!(
        "{} ({}) of {}{space}{unit}{against}",
        signal.name,
        signal.meaning,
        three_digits(scale * signal.value)
    )
}

/// A number with three significant digits, or all of its whole part.
fn three_digits(value: f64) -> String {
    let size = value.abs();
    let places = match size {
        _ if size >= 100.0 || size == 0.0 => 0,
        _ if size >= 10.0 => 1,
        _ if size >= 1.0 => 2,
        _ => (2.0 - libm::floor(libm::log10(size))).min(9.0) as usize,
    };
    format!("{value:.places$}")
}

impl Parting {
    /// The decisions of both at its begin, as a sentence.
    pub fn sentence(&self) -> String {
        sentence(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_have_their_meaning_and_three_digits() {
        let signal = SignalValue {
            name: "A_loss",
            unit: "bit/s",
            meaning: "loss-based estimate",
            value: 496_911.0,
            threshold: None,
        };
        assert_eq!(signal_text(&signal), "A_loss (loss-based estimate) of 497 kbit/s");
        let signal =
            SignalValue { name: "x", unit: "ms", meaning: "delay", value: 5.5, threshold: Some(51.295) };
        assert_eq!(signal_text(&signal), "x (delay) of 5.50 ms against 51.3 ms");
        assert_eq!([0.012_345, 0.0, -2.345_6, 1234.5].map(three_digits), ["0.0123", "0", "-2.35", "1234"]);
    }
}
