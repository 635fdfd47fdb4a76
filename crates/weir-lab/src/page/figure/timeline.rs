//! A controller over time: rates below the capacity, what limited them, frame delay and losses.

use serde_json::{Value, json};
use weir_cc::Cause;

use super::scales::{INTERACTIVE_MS, Scales};
use super::{Curve, Figure, axis, base_layout, bin_seconds, number, seconds, time_axis, with};
use crate::page::decimate::{dominant, stretches};
use crate::page::escape::label;
use crate::page::input::{ControllerPanel, FlowCurves, FlowRole};
use crate::page::palette;

const HEIGHT: usize = 345;
/// Media flows after the first are drawn ever fainter, down to the last of these.
const OPACITY: [f64; 3] = [0.65, 0.45, 0.3];

/// The figure of the controller with this index.
pub(super) fn figure(index: usize, panel: &ControllerPanel, scales: &Scales) -> Figure {
    let mut traces = vec![capacity(panel, scales)];
    let (media, others): (Vec<_>, Vec<_>) = panel.flows.iter().partition(|flow| flow.role == FlowRole::Media);
    traces.extend(others.into_iter().map(|flow| competitor(panel, flow, scales)));
    for (rank, flow) in media.into_iter().enumerate() {
        traces.extend(media_rates(panel, flow, rank, palette::controller(index), scales));
    }
    traces.push(ribbon(panel, scales));
    traces.extend(frame_delays(panel, scales));
    traces.push(losses(panel, scales));
    Figure {
        id: format!("timeline-{index}"),
        height: HEIGHT,
        over_time: true,
        traces,
        layout: layout(scales),
    }
}

fn layout(scales: &Scales) -> Value {
    let ribbon = json!({
        "domain": [0.36, 0.40], "range": [-0.5, 0.5], "fixedrange": true, "zeroline": false, "showgrid": false,
        "tickvals": [0], "ticktext": ["limited by"], "ticks": "outside", "ticklen": 5, "tickcolor": "rgba(0,0,0,0)",
    });
    let rug = json!({
        "overlaying": "y3", "range": [0, 1], "visible": false, "fixedrange": true,
    });
    with(
        base_layout(HEIGHT),
        json!({
            "hovermode": "x unified",
            "hoversubplots": "axis",
            "xaxis": time_axis(scales, "y3"),
            "yaxis": with(axis(&format!("rate ({})", scales.rate.name)), json!({
                "domain": [0.44, 1], "range": [0, number(scales.rate_top)], "nticks": 6,
            })),
            "yaxis2": ribbon,
            "yaxis3": delay_axis(scales),
            "yaxis4": rug,
            "shapes": [{
                "type": "line", "xref": "paper", "x0": 0, "x1": 1, "yref": "y3",
                "y0": INTERACTIVE_MS, "y1": INTERACTIVE_MS,
                "line": { "color": palette::MUTED, "width": 1, "dash": "dash" },
            }],
        }),
    )
}

fn delay_axis(scales: &Scales) -> Value {
    let (low, high) = scales.delay_ms;
    let ticks: Vec<f64> = [1.0, 10.0, 50.0, INTERACTIVE_MS, 500.0, 2000.0, 10_000.0]
        .into_iter()
        .filter(|tick| (low..=high).contains(tick))
        .collect();
    let texts: Vec<String> = ticks.iter().map(f64::to_string).collect();
    with(
        axis("frame delay<br>(ms)"),
        json!({
            "domain": [0, 0.31], "type": "log", "range": [number(libm::log10(low)), number(libm::log10(high))],
            "tickvals": ticks, "ticktext": texts,
        }),
    )
}

fn capacity(panel: &ControllerPanel, scales: &Scales) -> Value {
    let Curve { x, y, .. } =
        Curve::of(&panel.time_s, &scales.rate.scale(&panel.capacity_bps), scales.max_points);
    json!({
        "type": "scatter", "mode": "lines", "name": "capacity", "x": x, "y": y, "yaxis": "y",
        "fill": "tozeroy", "fillcolor": palette::CAPACITY,
        "line": { "color": palette::CAPACITY_EDGE, "width": 1, "shape": "hv" },
        "hovertemplate": rate_hover(scales),
    })
}

fn competitor(panel: &ControllerPanel, flow: &FlowCurves, scales: &Scales) -> Value {
    let line = json!({ "color": palette::COMPETITOR, "width": 1.2 });
    rate(panel, &label(&flow.name), &flow.receive_rate_bps, scales, &line)
}

/// Sent, received and target rate of the first flow, the target on top; of the others what was received.
fn media_rates(
    panel: &ControllerPanel,
    flow: &FlowCurves,
    rank: usize,
    colour: &str,
    scales: &Scales,
) -> Vec<Value> {
    let name = label(&flow.name);
    let thick = json!({ "color": colour, "width": 2.2 });
    let received = rate(panel, &format!("{name} received"), &flow.receive_rate_bps, scales, &thick);
    if rank > 0 {
        return vec![with(received, json!({ "opacity": OPACITY[rank.min(OPACITY.len()) - 1] }))];
    }
    let dotted = json!({ "color": colour, "width": 0.8, "dash": "dot" });
    let sent = rate(panel, &format!("{name} sent"), &flow.send_rate_bps, scales, &dotted);
    vec![sent, received, target(panel, &name, &flow.target_rate_bps, scales)]
}

fn rate(panel: &ControllerPanel, name: &str, rates_bps: &[f64], scales: &Scales, line: &Value) -> Value {
    let Curve { x, y, .. } = Curve::of(&panel.time_s, &scales.rate.scale(rates_bps), scales.max_points);
    json!({
        "type": "scatter", "mode": "lines", "name": name, "x": x, "y": y, "yaxis": "y",
        "line": line, "hovertemplate": rate_hover(scales),
    })
}

/// The target rate, which tells its cause when pointed at.
fn target(panel: &ControllerPanel, name: &str, rates_bps: &[f64], scales: &Scales) -> Value {
    let Curve { x, y, bins } = Curve::of(&panel.time_s, &scales.rate.scale(rates_bps), scales.max_points);
    let limit = |&bin: &usize| match panel.cause.get(bin) {
        Some(Some(cause)) => format!(", limited by {}", cause.name()),
        _ => String::new(),
    };
    json!({
        "type": "scatter", "mode": "lines", "name": format!("{name} target"), "x": x, "y": y, "yaxis": "y",
        "customdata": bins.iter().map(limit).collect::<Vec<_>>(),
        "line": { "color": palette::INK, "width": 1 },
        "hovertemplate": format!("{}%{{customdata}}", rate_hover(scales)),
    })
}

fn rate_hover(scales: &Scales) -> String {
    format!("%{{y:.3~r}} {}", scales.rate.name)
}

/// Stretches of one cause, each as long as it lasts.
struct Ribbon {
    /// Where the stretches begin, and where the last one ends.
    edges: Vec<f64>,
    causes: Vec<Option<Cause>>,
}

impl Ribbon {
    fn of(panel: &ControllerPanel, max_points: usize) -> Self {
        let (time, cause) = (&panel.time_s, &panel.cause);
        let len = time.len().min(cause.len());
        let mut ribbon = Self { edges: Vec::new(), causes: Vec::new() };
        for bins in stretches(len, max_points) {
            let present = dominant(&cause[bins.clone()]).flatten();
            if ribbon.causes.last() != Some(&present) {
                ribbon.edges.push(time[bins.start]);
                ribbon.causes.push(present);
            }
        }
        ribbon.edges.extend(len.checked_sub(1).map(|last| time[last] + bin_seconds(time, last)));
        ribbon
    }
}

fn ribbon(panel: &ControllerPanel, scales: &Scales) -> Value {
    let Ribbon { edges, causes } = Ribbon::of(panel, scales.max_points);
    let x: Vec<Value> = edges.into_iter().map(seconds).collect();
    let z: Vec<Option<usize>> = causes.iter().map(|cause| cause.map(|cause| cause as usize)).collect();
    json!({
        "type": "heatmap", "name": "limited by", "x": x, "y": [-0.5, 0.5], "z": [z],
        "yaxis": "y2", "zmin": -0.5, "zmax": Cause::ALL.len() as f64 - 0.5, "colorscale": cause_colours(),
        "showscale": false, "hoverinfo": "skip",
    })
}

/// A colour scale of equal steps, one per cause.
pub(super) fn cause_colours() -> Vec<(f64, &'static str)> {
    let count = Cause::ALL.len() as f64;
    let step = |cause: Cause| {
        let colour = palette::cause(cause);
        [(cause as usize as f64 / count, colour), ((cause as usize + 1) as f64 / count, colour)]
    };
    Cause::ALL.into_iter().flat_map(step).collect()
}

/// Frame delays as a line, and those between gaps, which it does not show, as points.
fn frame_delays(panel: &ControllerPanel, scales: &Scales) -> [Value; 2] {
    let positive: Vec<f64> =
        panel.frame_delay_ms.iter().map(|&delay| if delay > 0.0 { delay } else { f64::NAN }).collect();
    let Curve { x, y, .. } = Curve::of(&panel.time_s, &positive, scales.max_points);
    let (lone_x, lone_y): (Vec<&Value>, Vec<&Value>) = lone(&y).map(|point| (&x[point], &y[point])).unzip();
    let points = json!({
        "type": "scatter", "mode": "markers", "x": lone_x, "y": lone_y, "yaxis": "y3", "hoverinfo": "skip",
        "marker": { "size": 3, "color": palette::INK },
    });
    let line = json!({
        "type": "scatter", "mode": "lines", "name": "frame delay", "x": x, "y": y, "yaxis": "y3",
        "line": { "color": palette::INK, "width": 1.2 }, "hovertemplate": "%{y:.0f} ms",
    });
    [line, points]
}

/// The points between two gaps.
fn lone(values: &[Value]) -> impl Iterator<Item = usize> {
    let gap = |value: Option<&Value>| value.is_none_or(Value::is_null);
    (0..values.len()).filter(move |&point| {
        let before = point.checked_sub(1).and_then(|before| values.get(before));
        !values[point].is_null() && gap(before) && gap(values.get(point + 1))
    })
}

/// A tick for each stretch of time with losses, the worst bin's.
fn losses(panel: &ControllerPanel, scales: &Scales) -> Value {
    let len = panel.time_s.len().min(panel.loss_ratio.len());
    let worst = |bins: core::ops::Range<usize>| {
        let lossy = bins.filter(|&bin| panel.loss_ratio[bin] > 0.0);
        lossy.max_by(|&a, &b| panel.loss_ratio[a].total_cmp(&panel.loss_ratio[b]))
    };
    let ticks: Vec<usize> = stretches(len, scales.max_points).filter_map(worst).collect();
    let x: Vec<Value> = ticks.iter().map(|&bin| seconds(panel.time_s[bin])).collect();
    let lost: Vec<Value> = ticks.iter().map(|&bin| number(panel.loss_ratio[bin])).collect();
    json!({
        "type": "scatter", "mode": "markers", "name": "loss", "x": x, "y": vec![0.07; x.len()],
        "customdata": lost, "yaxis": "y4",
        "marker": { "symbol": "line-ns-open", "size": 9, "color": palette::LOSS, "line": { "width": 1.2 } },
        "hovertemplate": "%{customdata:.1%}",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn panel() -> ControllerPanel {
        ControllerPanel {
            time_s: vec![0.0, 0.1, 0.2, 0.3, 0.4],
            cause: vec![Some(Cause::RampUp), Some(Cause::RampUp), None, Some(Cause::Loss), Some(Cause::Loss)],
            frame_delay_ms: vec![20.0, 0.0, 40.0, f64::NAN, 60.0],
            loss_ratio: vec![0.0, 0.25, f64::NAN, 0.5, 0.0],
            ..ControllerPanel::default()
        }
    }

    #[test]
    fn the_ribbon_has_a_stretch_per_change_of_cause() {
        let ribbon = Ribbon::of(&panel(), 2000);
        assert_eq!(ribbon.causes, [Some(Cause::RampUp), None, Some(Cause::Loss)]);
        assert_eq!(ribbon.edges.len(), 4);
        assert_eq!(ribbon.edges[..3], [0.0, 0.2, 0.3]);
        assert!((ribbon.edges[3] - 0.5).abs() < 1e-12);
    }

    #[test]
    fn an_empty_ribbon_has_no_edges() {
        let ribbon = Ribbon::of(&ControllerPanel::default(), 2000);
        assert!(ribbon.edges.is_empty() && ribbon.causes.is_empty());
    }

    #[test]
    fn each_cause_has_its_own_step_of_the_colour_scale() {
        let scale = cause_colours();
        assert_eq!(scale.len(), 18);
        assert_eq!((scale[0], scale[17].0), ((0.0, palette::cause(Cause::RampUp)), 1.0));
        // Loss is the third of nine: its step reaches from 2/9 to 3/9.
        assert_eq!(scale[4], (2.0 / 9.0, palette::LOSS));
        assert_eq!(scale[5], (3.0 / 9.0, palette::LOSS));
    }

    #[test]
    fn only_bins_with_losses_have_a_tick() {
        let scales = Scales::of(&[panel()]);
        let trace = losses(&panel(), &scales);
        assert_eq!(trace["x"], json!([0.1, 0.3]));
        assert_eq!(trace["customdata"], json!([0.25, 0.5]));
    }

    #[test]
    fn the_target_tells_what_limits_it() {
        let trace = target(&panel(), "video", &[1e6; 5], &Scales::of(&[panel()]));
        let limits =
            [", limited by ramp-up", ", limited by ramp-up", "", ", limited by loss", ", limited by loss"];
        assert_eq!(trace["customdata"], json!(limits));
    }

    #[test]
    fn only_the_first_media_flow_shows_what_was_sent_and_wanted() {
        let flow = FlowCurves {
            name: "video".to_owned(),
            role: FlowRole::Media,
            send_rate_bps: vec![1e6; 5],
            receive_rate_bps: vec![1e6; 5],
            target_rate_bps: vec![1e6; 5],
        };
        let scales = Scales::of(&[panel()]);
        let names = |rank| -> Vec<Value> {
            media_rates(&panel(), &flow, rank, "#000000", &scales).iter().map(|t| t["name"].clone()).collect()
        };
        assert_eq!(names(0), ["video sent", "video received", "video target"]);
        assert_eq!(names(7), ["video received"]);
    }

    #[test]
    fn frame_delays_between_gaps_are_drawn_as_points() {
        let scales = Scales::of(&[panel()]);
        let [line, points] = frame_delays(&panel(), &scales);
        assert_eq!(line["y"], json!([20.0, null, 40.0, null, 60.0]));
        assert_eq!((&points["x"], &points["y"]), (&json!([0.0, 0.2, 0.4]), &json!([20.0, 40.0, 60.0])));
        assert_eq!(lone(&[json!(1), json!(2), Value::Null, json!(3), json!(4)]).count(), 0);
    }

    #[test]
    fn the_limit_of_interactivity_is_on_the_delay_axis() {
        let axis = delay_axis(&Scales::of(&[panel()]));
        assert!(axis["tickvals"].as_array().unwrap().contains(&json!(150.0)));
        assert!(axis["ticktext"].as_array().unwrap().contains(&json!("150")));
    }
}
