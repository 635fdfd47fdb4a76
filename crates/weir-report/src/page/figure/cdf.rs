//! Queuing delays of all controllers as cumulative distributions.

use serde_json::Value;

use super::{CurveStyle, Figure, FigureCurve, FigurePlot, PlotScale, number};
use crate::page::input::{CdfStep, ControllerPanel};
use crate::page::palette;

const HEIGHT: usize = 360;
/// Number of points on the delay axis: about one for two pixels.
const PLACES: usize = 500;
/// Shorter delays are drawn here, as a logarithmic axis has no zero.
pub(in crate::page) const SHORTEST_MS: f64 = 0.1;

/// The figure of these panels, each with its controller's number, or `None` if no controller has a distribution.
pub(super) fn figure(panels: &[(usize, &ControllerPanel)]) -> Option<Figure> {
    let delays = places(panels);
    let mut curves = Vec::new();
    for &(index, panel) in panels {
        let own = |name: String, steps: &[CdfStep], dash| FigureCurve {
            name,
            controller: Some(index),
            colour: palette::controller(index),
            dash,
            width: 2.0,
            form: CurveStyle::Steps,
            unit: "share",
            y: shares(steps, &delays),
            ..FigureCurve::default()
        };
        if !panel.queuing_delay.is_empty() {
            let dash = if panel.other.is_some() { &[] } else { palette::dash(index) };
            curves.push(own(panel.name.clone(), &panel.queuing_delay, dash));
        }
        let other = panel.other.as_ref().filter(|other| !other.queuing_delay.is_empty());
        curves.extend(
            other.map(|other| own(format!("{}, second run", panel.name), &other.queuing_delay, &[8, 4])),
        );
    }
    (!curves.is_empty()).then(|| Figure {
        id: "queuing-delay".to_owned(),
        controller: None,
        time: false,
        x: delays.iter().copied().map(number).collect(),
        plots: vec![FigurePlot {
            height: HEIGHT,
            label: "share of packets".to_owned(),
            scale: PlotScale::Share,
            guides: vec![0.5, 0.95],
            curves,
            ..FigurePlot::default()
        }],
    })
}

/// Delays in milliseconds from the shortest to the longest, each by the same factor longer than the one before.
fn places(panels: &[(usize, &ControllerPanel)]) -> Vec<f64> {
    let (shortest, longest) = span(panels);
    let step = libm::log(longest / shortest) / (PLACES - 1) as f64;
    (0..PLACES).map(|place| shortest * libm::exp(step * place as f64)).collect()
}

/// Ends of the delay axis in milliseconds.
fn span(panels: &[(usize, &ControllerPanel)]) -> (f64, f64) {
    let ends = |end: fn(&[CdfStep]) -> Option<&CdfStep>| {
        let both = panels.iter().flat_map(|&(_, panel)| [Some(panel), panel.other.as_deref()]);
        both.flatten().filter_map(move |panel| end(&panel.queuing_delay)).map(|step| step.delay_ms)
    };
    let shortest = ends(<[CdfStep]>::first).fold(f64::INFINITY, f64::min);
    let longest = ends(<[CdfStep]>::last).filter(|delay| delay.is_finite()).fold(100.0, f64::max);
    ((shortest / 1.2).clamp(SHORTEST_MS, 10.0), longest * 1.1)
}

/// The share of packets that waited at most so long.
fn shares(steps: &[CdfStep], delays: &[f64]) -> Vec<Value> {
    let share = |&delay: &f64| {
        let below = steps.partition_point(|step| step.delay_ms.max(SHORTEST_MS) <= delay);
        number(below.checked_sub(1).map_or(0.0, |last| steps[last].share))
    };
    delays.iter().map(share).collect()
}

/// The delay in milliseconds within which the share `q` of packets stayed.
pub(in crate::page) fn quantile_ms(steps: &[CdfStep], q: f64) -> Option<f64> {
    steps.iter().find(|step| step.share >= q).map(|step| step.delay_ms)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn steps(delays: &[f64]) -> Vec<CdfStep> {
        let share = |i: usize| (i + 1) as f64 / delays.len() as f64;
        delays.iter().enumerate().map(|(i, &delay_ms)| CdfStep { delay_ms, share: share(i) }).collect()
    }

    fn panel(delays: &[f64]) -> ControllerPanel {
        ControllerPanel { queuing_delay: steps(delays), ..ControllerPanel::default() }
    }

    #[test]
    fn a_distribution_holds_the_share_of_delays_up_to_each_place() {
        let places = [0.1, 1.0, 2.0, 7.9, 8.0, 10.0];
        let shares = shares(&steps(&[0.0, 2.0, 8.0, 9.0]), &places);
        assert_eq!(shares, [json!(0.25), json!(0.25), json!(0.5), json!(0.5), json!(0.75), json!(1)]);
    }

    #[test]
    fn the_axis_spans_all_distributions() {
        // 2.4 / 1.2 = 2 and 400 * 1.1 = 440.
        let places = places(&[(0, &panel(&[2.4, 30.0])), (1, &panel(&[6.0, 400.0]))]);
        assert!((places[0] - 2.0).abs() < 1e-9 && (places[PLACES - 1] - 440.0).abs() < 1e-9);
        assert!(places.is_sorted_by(|a, b| a < b));
        assert_eq!(span(&[(0, &panel(&[0.0, 1.0]))]).0, SHORTEST_MS);
    }

    #[test]
    fn every_distribution_ends_with_all_packets_and_is_of_its_controller() {
        let figure =
            figure(&[(0, &panel(&[2.4, 30.0])), (1, &panel(&[])), (2, &panel(&[6.0, 400.0]))]).unwrap();
        let curves = &figure.plots[0].curves;
        assert_eq!(curves.iter().map(|curve| curve.controller).collect::<Vec<_>>(), [Some(0), Some(2)]);
        assert!(curves.iter().all(|curve| curve.y.len() == PLACES && curve.y[PLACES - 1] == json!(1)));
    }

    #[test]
    fn quantiles_are_the_first_delay_that_reaches_the_share() {
        let steps = steps(&[1.0, 2.0, 3.0, 4.0]);
        assert_eq!((quantile_ms(&steps, 0.5), quantile_ms(&steps, 0.95)), (Some(2.0), Some(4.0)));
        assert_eq!(quantile_ms(&[], 0.5), None);
    }

    #[test]
    fn without_distributions_there_is_no_figure() {
        assert!(figure(&[(0, &panel(&[]))]).is_none());
    }
}
