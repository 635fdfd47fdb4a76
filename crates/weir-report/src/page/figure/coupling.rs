//! Coupled flows together: received rate and allocation of each, their aggregate, and the limiting factor of each.

use super::grid::AxisGrid;
use super::scales::Scales;
use super::{CurveStyle, Figure, FigureCurve, FigurePlot, PlotScale};
use crate::page::input::{ControllerPanel, CoupledCurves, CouplingCurves};
use crate::page::palette;

/// Heights of plots and of a flow's ribbon, in pixels.
const RATES: usize = 165;
const PARTS: usize = 115;
const RIBBON: usize = 18;

/// The figures of the couplings of the controller with this index.
pub(super) fn figures(index: usize, panel: &ControllerPanel, scales: &Scales) -> Vec<Figure> {
    let figure = |(number, coupling)| figure(index, number, panel, coupling, scales);
    panel.couplings.iter().enumerate().map(figure).collect()
}

fn figure(
    index: usize,
    number: usize,
    panel: &ControllerPanel,
    coupling: &CouplingCurves,
    scales: &Scales,
) -> Figure {
    let rows = CouplingRows { grid: AxisGrid::of(&panel.time_s, scales.max_points), scales, coupling };
    let mut plots = vec![rows.rates(), rows.parts()];
    plots.extend(coupling.flows.iter().any(|flow| has_values(&flow.window)).then(|| rows.windows()));
    plots.push(rows.ribbons());
    let id = format!("coupling-{index}-{number}");
    Figure { id, controller: Some(index), time: true, x: rows.grid.x(), plots }
}

fn has_values(values: &[f64]) -> bool {
    values.iter().any(|value| value.is_finite())
}

/// Puts together the plots of a coupling.
struct CouplingRows<'a> {
    grid: AxisGrid<'a>,
    scales: &'a Scales,
    coupling: &'a CouplingCurves,
}

impl CouplingRows<'_> {
    /// The received rate and the allocation of each flow, the received rate of all, and the coupler's aggregate rate.
    fn rates(&self) -> FigurePlot {
        let unit = self.scales.rate.name;
        let mut curves = Vec::new();
        for (rank, flow) in self.coupling.flows.iter().enumerate() {
            let colour = palette::controller(rank);
            let received = FigureCurve { width: 1.6, unit, colour: colour.clone(), ..FigureCurve::default() };
            curves.extend(self.curve(&flow.name, &self.rate(&flow.receive_rate_bps), received));
            let share = FigureCurve {
                width: 1.0,
                unit,
                colour,
                dash: &[6, 4],
                form: CurveStyle::Steps,
                ..FigureCurve::default()
            };
            curves.extend(self.curve(&format!("{}, share", flow.name), &self.rate(&flow.share_bps), share));
        }
        let ink = || FigureCurve { colour: palette::INK.to_owned(), unit, ..FigureCurve::default() };
        let together = FigureCurve { width: 2.2, ..ink() };
        curves.extend(self.curve("together", &self.rate(&self.coupling.receive_rate_bps), together));
        let aggregate = FigureCurve { width: 1.2, dash: &[2, 3], form: CurveStyle::Steps, ..ink() };
        curves.extend(self.curve("S_CR", &self.rate(&self.coupling.aggregate_bps), aggregate));
        let label = self.scales.rate.label();
        FigurePlot {
            height: RATES,
            label,
            scale: PlotScale::Zero,
            smooth: true,
            curves,
            ..FigurePlot::default()
        }
    }

    /// Each flow's share of the sent data, and the share that its weight asks for.
    fn parts(&self) -> FigurePlot {
        let mut curves = Vec::new();
        for (rank, flow) in self.coupling.flows.iter().enumerate() {
            let part =
                || FigureCurve { colour: palette::controller(rank), unit: "share", ..FigureCurve::default() };
            curves.extend(self.curve(
                &format!("{}, part", flow.name),
                &flow.part_sent,
                FigureCurve { width: 1.6, ..part() },
            ));
            let wanted = FigureCurve { width: 1.0, dash: &[6, 4], form: CurveStyle::Steps, ..part() };
            curves.extend(self.curve(&format!("{}, by weight", flow.name), &flow.part_wanted, wanted));
        }
        let label = "part sent".to_owned();
        FigurePlot { height: PARTS, label, scale: PlotScale::Share, curves, ..FigurePlot::default() }
    }

    fn windows(&self) -> FigurePlot {
        let flows = self.coupling.flows.iter().enumerate();
        let window = |(rank, flow): (usize, &CoupledCurves)| {
            let colour = palette::controller(rank);
            let look = FigureCurve {
                colour,
                width: 1.2,
                form: CurveStyle::Steps,
                unit: "segments",
                ..FigureCurve::default()
            };
            self.curve(&flow.name, &flow.window, look)
        };
        let curves = flows.filter_map(window).collect();
        FigurePlot {
            height: PARTS,
            label: "window (segments)".to_owned(),
            scale: PlotScale::Zero,
            curves,
            ..FigurePlot::default()
        }
    }

    /// The limiting factor of each flow.
    fn ribbons(&self) -> FigurePlot {
        let flows = &self.coupling.flows;
        let lane = |flow: &CoupledCurves| self.grid.lane(&flow.name, &flow.limiting_factor, &flow.decisions);
        let lanes = flows.iter().map(lane).collect();
        let label = "limited by".to_owned();
        FigurePlot { height: RIBBON * flows.len() + 8, label, lanes, ..FigurePlot::default() }
    }

    fn rate(&self, rates_bps: &[f64]) -> Vec<f64> {
        self.scales.rate.scale(rates_bps)
    }

    /// A curve, unless it has no value at all.
    fn curve(&self, name: &str, values: &[f64], look: FigureCurve) -> Option<FigureCurve> {
        has_values(values).then(|| FigureCurve { name: name.to_owned(), y: self.grid.curve(values), ..look })
    }
}

#[cfg(test)]
mod tests {
    use weir_cc::LimitingFactor;

    use super::*;

    /// A panel of two coupled flows over two bins.
    fn panel() -> ControllerPanel {
        let flow = |name: &str, factor| CoupledCurves {
            name: name.to_owned(),
            receive_rate_bps: vec![1e6, 2e6],
            share_bps: vec![f64::NAN, 2e6],
            part_sent: vec![0.5, 0.4],
            part_wanted: vec![0.5, 0.5],
            limiting_factor: vec![Some(factor), None],
            ..CoupledCurves::default()
        };
        let coupling = CouplingCurves {
            name: "call".to_owned(),
            flows: vec![flow("a", LimitingFactor::Delay), flow("b", LimitingFactor::Coupling)],
            receive_rate_bps: vec![2e6, 4e6],
            aggregate_bps: vec![f64::NAN, 4e6],
        };
        ControllerPanel { time_s: vec![0.0, 0.1], couplings: vec![coupling], ..ControllerPanel::default() }
    }

    fn names(plot: &FigurePlot) -> Vec<&str> {
        plot.curves.iter().map(|curve| curve.name.as_str()).collect()
    }

    #[test]
    fn flows_their_shares_and_what_they_have_in_common_are_drawn_together() {
        let panel = panel();
        let drawn = &figures(0, &panel, &Scales::of(std::slice::from_ref(&panel)))[0];
        let [rates, parts, ribbons] = drawn.plots.as_slice() else { panic!("three plots") };
        assert_eq!(names(rates), ["a", "a, share", "b", "b, share", "together", "S_CR"]);
        assert_eq!(names(parts), ["a, part", "a, by weight", "b, part", "b, by weight"]);
        let factors: Vec<_> =
            ribbons.lanes.iter().map(|lane| (lane.name.as_str(), lane.factors[0])).collect();
        assert_eq!(
            factors,
            [("a", Some(LimitingFactor::Delay as usize)), ("b", Some(LimitingFactor::Coupling as usize))]
        );
    }

    #[test]
    fn uncoupled_flows_have_no_shares_and_windows_have_a_plot() {
        let mut panel = panel();
        let scales = Scales::of(std::slice::from_ref(&panel));
        let coupling = &mut panel.couplings[0];
        coupling.aggregate_bps = Vec::new();
        coupling.flows.iter_mut().for_each(|flow| flow.share_bps = vec![f64::NAN; 2]);
        let drawn = figures(0, &panel, &scales);
        assert_eq!(names(&drawn[0].plots[0]), ["a", "b", "together"]);
        panel.couplings[0].flows[0].window = vec![10.0, 11.0];
        let with_windows = figures(0, &panel, &scales);
        assert!(with_windows[0].height() > drawn[0].height());
        assert_eq!(with_windows[0].plots[2].label, "window (segments)");
    }
}
