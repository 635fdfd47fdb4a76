//! Coupled flows together: what each got and was to get, what they have in common, and what limited each.

use serde_json::{Map, Value, json};
use weir_cc::Cause;

use super::scales::Scales;
use super::timeline::cause_colours;
use super::{Curve, Figure, axis, base_layout, time_axis, with};
use crate::page::decimate::{dominant, stretches};
use crate::page::escape::label;
use crate::page::input::{ControllerPanel, CoupledCurves, CouplingCurves};
use crate::page::palette;

/// Height of a row and of a flow's ribbon, in pixels.
const ROW: usize = 170;
const RIBBON: usize = 16;
/// Margins above and below all rows.
const MARGINS: usize = 50;
/// Part of a row that is left empty above it.
const GAP: f64 = 0.16;

/// The figures of the couplings of the controller with this index.
pub(super) fn figures(index: usize, panel: &ControllerPanel, scales: &Scales) -> Vec<Figure> {
    let figure = |(number, coupling)| figure(&format!("coupling-{index}-{number}"), panel, coupling, scales);
    panel.couplings.iter().enumerate().map(figure).collect()
}

fn figure(id: &str, panel: &ControllerPanel, coupling: &CouplingCurves, scales: &Scales) -> Figure {
    let mut rows = Rows { panel, scales, traces: Vec::new() };
    rows.rates(coupling);
    rows.parts(coupling);
    let windows = coupling.flows.iter().any(|flow| has_values(&flow.window));
    if windows {
        rows.windows(coupling);
    }
    rows.ribbons(coupling);
    let heights =
        [ROW, ROW * 2 / 3, if windows { ROW * 2 / 3 } else { 0 }, RIBBON * coupling.flows.len() + 20];
    let height = MARGINS + heights.iter().sum::<usize>();
    Figure {
        id: id.to_owned(),
        height,
        over_time: true,
        traces: rows.traces,
        layout: layout(coupling, scales, heights),
    }
}

fn has_values(values: &[f64]) -> bool {
    values.iter().any(|value| value.is_finite())
}

fn layout(coupling: &CouplingCurves, scales: &Scales, heights: [usize; 4]) -> Value {
    let names: Vec<String> = coupling.flows.iter().map(|flow| label(&flow.name)).collect();
    let axes = [
        with(axis(&format!("rate ({})", scales.rate.name)), json!({ "rangemode": "tozero", "nticks": 6 })),
        with(axis("part sent"), json!({ "range": [0, 1], "tickformat": ".0%", "nticks": 5 })),
        with(axis("window<br>(segments)"), json!({ "rangemode": "tozero", "nticks": 5 })),
        json!({
            "fixedrange": true, "zeroline": false, "showgrid": false, "ticks": "outside", "ticklen": 5,
            "tickcolor": "rgba(0,0,0,0)", "autorange": "reversed",
            "tickvals": (0..names.len()).collect::<Vec<_>>(), "ticktext": names,
        }),
    ];
    let whole: usize = heights.iter().sum();
    let mut top = 1.0;
    let mut layout = Map::new();
    layout.insert("hovermode".to_owned(), json!("x unified"));
    for (row, (axis, height)) in
        axes.into_iter().zip(heights).enumerate().filter(|(_, (_, height))| *height > 0)
    {
        let band = height as f64 / whole as f64;
        let upper = if row == 0 { top } else { top - band * GAP };
        let domain = json!({ "domain": [f64::max(top - band, 0.0), upper] });
        let name = if row == 0 { "yaxis".to_owned() } else { format!("yaxis{}", row + 1) };
        layout.insert(name, with(axis, domain));
        top -= band;
    }
    layout.insert("xaxis".to_owned(), time_axis(scales, "y4"));
    with(base_layout(MARGINS + whole), Value::Object(layout))
}

/// Puts together the curves of all rows.
struct Rows<'a> {
    panel: &'a ControllerPanel,
    scales: &'a Scales,
    traces: Vec<Value>,
}

impl Rows<'_> {
    /// What each flow received and was ordered to, what all received, and what their coupler had for them.
    fn rates(&mut self, coupling: &CouplingCurves) {
        let hover = format!("%{{y:.3~r}} {}", self.scales.rate.name);
        for (rank, flow) in coupling.flows.iter().enumerate() {
            let (name, colour) = (label(&flow.name), palette::controller(rank));
            self.line(
                &name,
                &self.rate(&flow.receive_rate_bps),
                "y",
                &json!({ "color": colour, "width": 1.6 }),
                &hover,
            );
            let dashed = json!({ "color": colour, "width": 1, "dash": "dash", "shape": "hv" });
            self.line(&format!("{name}, share"), &self.rate(&flow.share_bps), "y", &dashed, &hover);
        }
        let thick = json!({ "color": palette::INK, "width": 2.2 });
        self.line("together", &self.rate(&coupling.receive_rate_bps), "y", &thick, &hover);
        let dotted = json!({ "color": palette::INK, "width": 1.2, "dash": "dot", "shape": "hv" });
        self.line("S_CR", &self.rate(&coupling.aggregate_bps), "y", &dotted, &hover);
    }

    /// Which part of what was sent is each flow's, and what its weight asks for.
    fn parts(&mut self, coupling: &CouplingCurves) {
        for (rank, flow) in coupling.flows.iter().enumerate() {
            let (name, colour) = (label(&flow.name), palette::controller(rank));
            self.line(&name, &flow.part_sent, "y2", &json!({ "color": colour, "width": 1.6 }), "%{y:.1%}");
            let dashed = json!({ "color": colour, "width": 1, "dash": "dash", "shape": "hv" });
            self.line(&format!("{name}, by weight"), &flow.part_wanted, "y2", &dashed, "%{y:.1%}");
        }
    }

    fn windows(&mut self, coupling: &CouplingCurves) {
        for (rank, flow) in coupling.flows.iter().enumerate() {
            let line = json!({ "color": palette::controller(rank), "width": 1.2, "shape": "hv" });
            self.line(&label(&flow.name), &flow.window, "y3", &line, "%{y:.1f}");
        }
    }

    /// What limited each flow: a row of blocks per flow.
    fn ribbons(&mut self, coupling: &CouplingCurves) {
        let bins = self.panel.time_s.len();
        let stretches: Vec<_> = stretches(bins, self.scales.max_points).collect();
        let x: Vec<Value> =
            stretches.iter().map(|bins| super::seconds(self.panel.time_s[bins.start])).collect();
        let causes = |flow: &CoupledCurves| -> Vec<Option<usize>> {
            let known = |bins: &core::ops::Range<usize>| flow.cause.get(bins.clone());
            stretches
                .iter()
                .map(|bins| dominant(known(bins)?).flatten().map(|cause| cause as usize))
                .collect()
        };
        let z: Vec<Vec<Option<usize>>> = coupling.flows.iter().map(causes).collect();
        self.traces.push(json!({
            "type": "heatmap", "name": "limited by", "x": x, "y": (0..z.len()).collect::<Vec<_>>(), "z": z,
            "yaxis": "y4", "zmin": -0.5, "zmax": Cause::ALL.len() as f64 - 0.5, "colorscale": cause_colours(),
            "showscale": false, "hoverinfo": "skip", "ygap": 2,
        }));
    }

    fn rate(&self, rates_bps: &[f64]) -> Vec<f64> {
        self.scales.rate.scale(rates_bps)
    }

    /// A curve, unless it has no value at all.
    fn line(&mut self, name: &str, values: &[f64], axis: &str, line: &Value, hover: &str) {
        if !has_values(values) {
            return;
        }
        let Curve { x, y, .. } = Curve::of(&self.panel.time_s, values, self.scales.max_points);
        self.traces.push(json!({
            "type": "scatter", "mode": "lines", "name": name, "x": x, "y": y, "yaxis": axis, "line": line,
            "hovertemplate": hover,
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn panel() -> ControllerPanel {
        let flow = |name: &str, cause| CoupledCurves {
            name: name.to_owned(),
            receive_rate_bps: vec![1e6, 2e6],
            share_bps: vec![f64::NAN, 2e6],
            part_sent: vec![0.5, 0.4],
            part_wanted: vec![0.5, 0.5],
            cause: vec![Some(cause), None],
            ..CoupledCurves::default()
        };
        let coupling = CouplingCurves {
            name: "call".to_owned(),
            flows: vec![flow("a", Cause::Delay), flow("b", Cause::Coupling)],
            receive_rate_bps: vec![2e6, 4e6],
            aggregate_bps: vec![f64::NAN, 4e6],
        };
        ControllerPanel { time_s: vec![0.0, 0.1], couplings: vec![coupling], ..ControllerPanel::default() }
    }

    fn names(figure: &Figure) -> Vec<&str> {
        figure.traces.iter().filter_map(|trace| trace["name"].as_str()).collect()
    }

    #[test]
    fn flows_their_shares_and_what_they_have_in_common_are_drawn_together() {
        let panel = panel();
        let drawn = &figures(0, &panel, &Scales::of(std::slice::from_ref(&panel)))[0];
        assert_eq!(
            names(drawn),
            [
                "a",
                "a, share",
                "b",
                "b, share",
                "together",
                "S_CR",
                "a",
                "a, by weight",
                "b",
                "b, by weight",
                "limited by"
            ]
        );
        let ribbon = drawn.traces.last().unwrap();
        assert_eq!(ribbon["z"], json!([[Cause::Delay as usize, null], [Cause::Coupling as usize, null]]));
    }

    #[test]
    fn flows_that_nobody_couples_have_no_shares_and_windows_have_a_row() {
        let mut panel = panel();
        let scales = Scales::of(std::slice::from_ref(&panel));
        let coupling = &mut panel.couplings[0];
        coupling.aggregate_bps = Vec::new();
        coupling.flows.iter_mut().for_each(|flow| flow.share_bps = vec![f64::NAN; 2]);
        let drawn = figures(0, &panel, &scales);
        assert!(!names(&drawn[0]).contains(&"S_CR") && !names(&drawn[0]).contains(&"a, share"));
        panel.couplings[0].flows[0].window = vec![10.0, 11.0];
        let with_windows = figures(0, &panel, &scales);
        assert!(with_windows[0].height > drawn[0].height);
        assert!(with_windows[0].traces.iter().any(|trace| trace["yaxis"] == "y3"));
    }
}
