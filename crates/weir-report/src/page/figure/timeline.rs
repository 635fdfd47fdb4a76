//! A controller over time: rates below the capacity, limiting factors, frame delay and losses.

use super::grid::AxisGrid;
use super::scales::{INTERACTIVE_MS, Scales};
use super::{CurveStyle, Figure, FigureCurve, FigurePlot, Lane, PlotScale};
use crate::page::input::{ControllerPanel, FlowCurves, FlowRole};
use crate::page::palette;

/// Heights in pixels.
const RATES: usize = 155;
const RIBBON: usize = 26;
const DELAYS: usize = 78;
/// Media flows after the first are drawn with these dashes.
const FURTHER: [&[u8]; 3] = [&[9, 3], &[4, 3], &[1, 3]];

/// Dashes of the second of two runs.
const SECOND: &[u8] = &[5, 3];

/// The figure of the controller with this index.
pub(super) fn figure(index: usize, panel: &ControllerPanel, scales: &Scales) -> Figure {
    let grid = AxisGrid::of(&panel.time_s, scales.max_points);
    let plots = vec![
        FigurePlot {
            height: RATES,
            label: scales.rate.label(),
            scale: PlotScale::Rate,
            smooth: true,
            curves: rates(index, panel, &grid, scales),
            ..FigurePlot::default()
        },
        FigurePlot {
            height: if panel.other.is_some() { 2 * RIBBON } else { RIBBON },
            label: "limited by".to_owned(),
            lanes: ribbons(panel, &grid),
            ..FigurePlot::default()
        },
        FigurePlot {
            height: DELAYS,
            label: "delay (ms)".to_owned(),
            scale: PlotScale::Delay,
            guides: vec![INTERACTIVE_MS],
            curves: delays(index, panel, &grid),
            ..FigurePlot::default()
        },
    ];
    Figure { id: format!("timeline-{index}"), controller: Some(index), time: true, x: grid.x(), plots }
}

/// The limiting factor over time; for two runs, that of both.
fn ribbons(panel: &ControllerPanel, grid: &AxisGrid<'_>) -> Vec<Lane> {
    match &panel.other {
        None => vec![grid.lane("limited by", &panel.limiting_factor, &panel.decisions)],
        Some(other) => {
            let second = AxisGrid::of(&other.time_s, grid.len());
            vec![
                grid.lane("first", &panel.limiting_factor, &panel.decisions),
                second.lane("second", &other.limiting_factor, &other.decisions),
            ]
        }
    }
}

/// Frame delay and losses, of two runs both frame delays and the losses of the first.
fn delays(index: usize, panel: &ControllerPanel, grid: &AxisGrid<'_>) -> Vec<FigureCurve> {
    let mut own = frame_delay(panel, grid);
    let mut curves = Vec::new();
    if let Some(other) = &panel.other {
        own.colour = palette::controller(index);
        let delays = onto(&panel.time_s, &other.time_s, &other.frame_delay_ms);
        let second = ControllerPanel { frame_delay_ms: delays, ..ControllerPanel::default() };
        let name = "frame delay, second run".to_owned();
        curves.push(FigureCurve { name, dash: SECOND, ..frame_delay(&second, grid) });
    }
    curves.insert(0, own);
    curves.push(losses(panel, grid));
    curves
}

/// `values` on the bins `from` as values on the bins `to`: the value of the bin with the same begin, or NaN.
fn onto(to: &[f64], from: &[f64], values: &[f64]) -> Vec<f64> {
    let at = |&time: &f64| {
        let place = from.partition_point(|&own| own < time - 1e-3);
        let near = from.get(place).is_some_and(|own| (own - time).abs() <= 1e-3);
        near.then(|| values.get(place).copied()).flatten().unwrap_or(f64::NAN)
    };
    to.iter().map(at).collect()
}

fn rates(index: usize, panel: &ControllerPanel, grid: &AxisGrid<'_>, scales: &Scales) -> Vec<FigureCurve> {
    let curve = |rates_bps: &[f64]| grid.curve(&scales.rate.scale(rates_bps));
    let mut curves = vec![FigureCurve {
        name: "capacity".to_owned(),
        colour: palette::CAPACITY_EDGE.to_owned(),
        width: 1.0,
        form: CurveStyle::Area,
        unit: scales.rate.name,
        y: curve(&panel.capacity_bps),
        ..FigureCurve::default()
    }];
    let (media, others): (Vec<_>, Vec<_>) = panel.flows.iter().partition(|flow| flow.role == FlowRole::Media);
    curves.extend(others.into_iter().map(|flow| FigureCurve {
        name: flow.name.clone(),
        colour: palette::COMPETITOR.to_owned(),
        width: 1.2,
        leads: true,
        unit: scales.rate.name,
        y: curve(&flow.receive_rate_bps),
        ..FigureCurve::default()
    }));
    for (rank, flow) in media.into_iter().enumerate() {
        let own = media_rates(flow, rank, index, scales, &curve);
        // Of two runs only the received rates are drawn, so that they can be seen.
        curves.extend(own.into_iter().filter(|curve| panel.other.is_none() || curve.leads));
    }
    if let Some(other) = &panel.other {
        let media = other.flows.iter().filter(|flow| flow.role == FlowRole::Media);
        curves.extend(media.take(1).map(|flow| FigureCurve {
            name: format!("{} received, second run", flow.name),
            colour: palette::INK.to_owned(),
            dash: SECOND,
            width: 1.4,
            leads: true,
            unit: scales.rate.name,
            y: curve(&onto(&panel.time_s, &other.time_s, &flow.receive_rate_bps)),
            ..FigureCurve::default()
        }));
    }
    curves
}

/// Sent, received and target rate of the first flow, the target on top; of the others what was received.
fn media_rates(
    flow: &FlowCurves,
    rank: usize,
    index: usize,
    scales: &Scales,
    curve: &dyn Fn(&[f64]) -> Vec<serde_json::Value>,
) -> Vec<FigureCurve> {
    let curve_of = |what: &str, colour: String, rates_bps: &[f64]| FigureCurve {
        name: format!("{} {what}", flow.name),
        colour,
        width: 1.0,
        unit: scales.rate.name,
        y: curve(rates_bps),
        ..FigureCurve::default()
    };
    let received = FigureCurve {
        width: 2.0,
        leads: true,
        ..curve_of("received", palette::controller(index), &flow.receive_rate_bps)
    };
    match rank.checked_sub(1) {
        Some(further) => {
            let dash = FURTHER[further.min(FURTHER.len() - 1)];
            vec![FigureCurve { dash, width: 1.4, ..received }]
        }
        None => vec![
            FigureCurve {
                dash: &[1, 2],
                ..curve_of("sent", palette::controller(index), &flow.send_rate_bps)
            },
            received,
            curve_of("target", palette::INK.to_owned(), &flow.target_rate_bps),
        ],
    }
}

fn frame_delay(panel: &ControllerPanel, grid: &AxisGrid<'_>) -> FigureCurve {
    let positive: Vec<f64> =
        panel.frame_delay_ms.iter().map(|&delay| if delay > 0.0 { delay } else { f64::NAN }).collect();
    FigureCurve {
        name: "frame delay".to_owned(),
        colour: palette::INK.to_owned(),
        width: 1.2,
        leads: true,
        unit: "ms",
        y: grid.curve(&positive),
        ..FigureCurve::default()
    }
}

/// A tick for each place with losses.
fn losses(panel: &ControllerPanel, grid: &AxisGrid<'_>) -> FigureCurve {
    let lossy: Vec<f64> =
        panel.loss_ratio.iter().map(|&loss| if loss > 0.0 { loss } else { f64::NAN }).collect();
    FigureCurve {
        name: "loss".to_owned(),
        colour: palette::factor(weir_cc::LimitingFactor::Loss),
        width: 1.2,
        form: CurveStyle::Ticks,
        unit: "share",
        y: grid.curve(&lossy),
        ..FigureCurve::default()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use weir_cc::LimitingFactor;

    use super::*;

    /// A panel of five bins with two limiting factors and a gap between them.
    fn panel() -> ControllerPanel {
        ControllerPanel {
            time_s: vec![0.0, 0.1, 0.2, 0.3, 0.4],
            limiting_factor: vec![
                Some(LimitingFactor::RampUp),
                Some(LimitingFactor::RampUp),
                None,
                Some(LimitingFactor::Loss),
                Some(LimitingFactor::Loss),
            ],
            frame_delay_ms: vec![20.0, 0.0, 40.0, f64::NAN, 60.0],
            loss_ratio: vec![0.0, 0.25, f64::NAN, 0.5, 0.0],
            ..ControllerPanel::default()
        }
    }

    /// A flow of 1 Mbit/s over five bins.
    fn flow(name: &str, role: FlowRole) -> FlowCurves {
        FlowCurves {
            name: name.to_owned(),
            role,
            send_rate_bps: vec![1e6; 5],
            receive_rate_bps: vec![1e6; 5],
            target_rate_bps: vec![1e6; 5],
        }
    }

    fn drawn(panel: &ControllerPanel) -> Figure {
        figure(3, panel, &Scales::of(std::slice::from_ref(panel)))
    }

    #[test]
    fn only_places_with_losses_have_a_tick_and_only_frames_a_delay() {
        let figure = drawn(&panel());
        let [delay, losses] = figure.plots[2].curves.as_slice() else { panic!("delay and losses") };
        assert_eq!(losses.y, [Value::Null, json!(0.25), Value::Null, json!(0.5), Value::Null]);
        assert_eq!(delay.y, [json!(20), Value::Null, json!(40), Value::Null, json!(60)]);
    }

    #[test]
    fn only_the_first_media_flow_shows_what_was_sent_and_wanted_and_every_curve_has_its_own_look() {
        let mut panel = panel();
        panel.flows = vec![
            flow("a", FlowRole::Media),
            flow("tcp", FlowRole::Competitor),
            flow("b", FlowRole::Media),
            flow("c", FlowRole::Media),
        ];
        let figure = drawn(&panel);
        let curves = &figure.plots[0].curves;
        let names: Vec<&str> = curves.iter().map(|curve| curve.name.as_str()).collect();
        assert_eq!(
            names,
            ["capacity", "tcp", "a sent", "a received", "a target", "b received", "c received"]
        );
        let looks: std::collections::BTreeSet<_> =
            curves.iter().map(|curve| (curve.colour.clone(), curve.dash)).collect();
        assert_eq!(looks.len(), curves.len());
    }

    #[test]
    fn two_runs_are_drawn_over_each_other() {
        let mut both = panel();
        both.flows = vec![flow("video", FlowRole::Media)];
        // The second run began a bin later.
        let mut second = ControllerPanel { time_s: vec![0.1, 0.2], ..both.clone() };
        second.flows[0].receive_rate_bps = vec![2e6, 3e6];
        both.other = Some(Box::new(second));
        let figure = drawn(&both);
        let names: Vec<&str> = figure.plots[0].curves.iter().map(|curve| curve.name.as_str()).collect();
        assert_eq!(names, ["capacity", "video received", "video received, second run"]);
        let second = &figure.plots[0].curves[2];
        assert_eq!(second.y, [Value::Null, json!(2), json!(3), Value::Null, Value::Null]);
        assert_eq!((second.dash, figure.plots[1].lanes.len()), (SECOND, 2));
        let delays: Vec<&str> = figure.plots[2].curves.iter().map(|curve| curve.name.as_str()).collect();
        assert_eq!(delays, ["frame delay", "frame delay, second run", "loss"]);
    }

    #[test]
    fn limiting_factors_last_to_the_end_of_the_last_bin() {
        let figure = drawn(&panel());
        let lane = &figure.plots[1].lanes[0];
        assert_eq!(lane.edges.last(), Some(&json!(0.5)));
        assert_eq!((figure.id.as_str(), figure.controller), ("timeline-3", Some(3)));
    }
}
