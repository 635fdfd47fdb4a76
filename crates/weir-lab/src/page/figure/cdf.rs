//! Queuing delays of all controllers as cumulative distributions.

use serde_json::{Value, json};

use super::scales::Scales;
use super::{Figure, axis, base_layout, number, with};
use crate::page::decimate::stretches;
use crate::page::escape::label;
use crate::page::input::{CdfStep, ControllerPanel};
use crate::page::palette;

const HEIGHT: usize = 380;
/// Delays below are drawn here: a logarithmic axis has no zero.
pub(in crate::page) const SHORTEST_MS: f64 = 0.1;

/// The figure; `None` if no controller has a distribution.
pub(super) fn figure(panels: &[ControllerPanel], scales: &Scales) -> Option<Figure> {
    let known = panels.iter().enumerate().filter(|(_, panel)| !panel.queuing_delay.is_empty());
    let traces: Vec<Value> = known.map(|(index, panel)| distribution(index, panel, scales)).collect();
    (!traces.is_empty()).then(|| Figure {
        id: "queuing-delay".to_owned(),
        height: HEIGHT,
        over_time: false,
        traces,
        layout: layout(panels),
    })
}

fn layout(panels: &[ControllerPanel]) -> Value {
    let (shortest, longest) = span(panels);
    let guide = |share: f64| {
        json!({
            "type": "line", "xref": "paper", "x0": 0, "x1": 1, "yref": "y", "y0": share, "y1": share,
            "line": { "color": palette::MUTED, "width": 1, "dash": "dash" },
        })
    };
    with(
        base_layout(HEIGHT),
        json!({
            "hovermode": "closest",
            "margin": { "l": 76, "r": 26, "t": 8, "b": 46 },
            "xaxis": with(axis("queuing delay (ms)"), json!({
                "type": "log", "range": [number(libm::log10(shortest)), number(libm::log10(longest))],
                "tickvals": [0.1, 0.3, 1, 3, 10, 30, 100, 300, 1000, 3000, 10000],
                "ticktext": ["≤ 0.1", "0.3", "1", "3", "10", "30", "100", "300", "1000", "3000", "10000"],
                "ticks": "outside", "ticklen": 4, "tickcolor": palette::CAPACITY_EDGE,
            })),
            "yaxis": with(axis("share of packets"), json!({
                "range": [0, 1.01], "tickvals": [0, 0.25, 0.5, 0.75, 0.95], "tickformat": ".0%",
            })),
            "shapes": [guide(0.5), guide(0.95)],
        }),
    )
}

/// Ends of the delay axis in milliseconds.
fn span(panels: &[ControllerPanel]) -> (f64, f64) {
    let ends = |end: fn(&[CdfStep]) -> Option<&CdfStep>| {
        panels.iter().filter_map(move |panel| end(&panel.queuing_delay)).map(|step| step.delay_ms)
    };
    let shortest = ends(<[CdfStep]>::first).fold(f64::INFINITY, f64::min);
    let longest = ends(<[CdfStep]>::last).filter(|delay| delay.is_finite()).fold(100.0, f64::max);
    ((shortest / 1.2).clamp(SHORTEST_MS, 10.0), longest * 1.1)
}

fn distribution(index: usize, panel: &ControllerPanel, scales: &Scales) -> Value {
    let steps = thinned(&panel.queuing_delay, scales.max_points - 1);
    let start = steps.first().map(|step| CdfStep { share: 0.0, ..*step });
    let (x, y): (Vec<Value>, Vec<Value>) = start
        .iter()
        .chain(&steps)
        .map(|step| (number(step.delay_ms.max(SHORTEST_MS)), number(step.share)))
        .unzip();
    json!({
        "type": "scatter", "mode": "lines", "name": label(&panel.name), "x": x, "y": y,
        "line": { "color": palette::controller(index), "width": 2.2, "dash": palette::dash(index), "shape": "hv" },
        "hovertemplate": "%{y:.1%} within %{x:.3~r} ms",
    })
}

/// At most `max_points` steps, the last one among them: the last of each stretch.
fn thinned(steps: &[CdfStep], max_points: usize) -> Vec<CdfStep> {
    stretches(steps.len(), max_points).map(|stretch| steps[stretch.end - 1]).collect()
}

/// The delay in milliseconds within which the share `q` of packets stayed.
pub(in crate::page) fn quantile_ms(steps: &[CdfStep], q: f64) -> Option<f64> {
    steps.iter().find(|step| step.share >= q).map(|step| step.delay_ms)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(delays: &[f64]) -> Vec<CdfStep> {
        let share = |i: usize| (i + 1) as f64 / delays.len() as f64;
        delays.iter().enumerate().map(|(i, &delay_ms)| CdfStep { delay_ms, share: share(i) }).collect()
    }

    #[test]
    fn a_distribution_rises_from_zero_at_its_shortest_delay() {
        let panel = ControllerPanel { queuing_delay: steps(&[0.0, 2.0, 8.0, 9.0]), ..Default::default() };
        let trace = distribution(0, &panel, &Scales::of(&[]));
        assert_eq!(trace["x"], json!([0.1, 0.1, 2.0, 8.0, 9.0]));
        assert_eq!(trace["y"], json!([0.0, 0.25, 0.5, 0.75, 1.0]));
    }

    #[test]
    fn the_axis_spans_all_distributions() {
        let panel = |delays| ControllerPanel { queuing_delay: steps(delays), ..ControllerPanel::default() };
        // 2.4 / 1.2 = 2 and 400 * 1.1 = 440.
        let (shortest, longest) = span(&[panel(&[2.4, 30.0]), panel(&[6.0, 400.0])]);
        assert!((shortest - 2.0).abs() < 1e-9 && (longest - 440.0).abs() < 1e-9);
        assert_eq!(span(&[panel(&[0.0, 1.0])]).0, SHORTEST_MS);
    }

    #[test]
    fn a_long_distribution_is_thinned_and_keeps_its_end() {
        let delays: Vec<f64> = (1..=7_777).map(f64::from).collect();
        let kept = thinned(&steps(&delays), 1_999);
        assert_eq!(kept.len(), 1_999);
        assert_eq!(kept[1_998], CdfStep { delay_ms: 7_777.0, share: 1.0 });
    }

    #[test]
    fn a_quantile_is_the_first_delay_that_covers_the_share() {
        // Shares 0.25, 0.5, 0.75 and 1: half are covered at 2, 95 % only at 9.
        let steps = steps(&[1.0, 2.0, 8.0, 9.0]);
        assert_eq!(quantile_ms(&steps, 0.5), Some(2.0));
        assert_eq!(quantile_ms(&steps, 0.95), Some(9.0));
        assert_eq!(quantile_ms(&[], 0.5), None);
    }
}
