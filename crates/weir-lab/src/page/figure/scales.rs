//! Axes that all controllers share, so that they can be compared by eye.

use crate::page::input::{ControllerPanel, FlowRole};

/// Most points of a curve: about two per pixel.
const MAX_POINTS: usize = 2000;
/// Points of all curves of a report together; in the compressed page a point takes up to seven bytes.
const POINT_BUDGET: usize = 350_000;

/// The interactivity that a conversation needs ends about here (ITU-T G.114).
pub(in crate::page) const INTERACTIVE_MS: f64 = 150.0;

/// What all figures share.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Scales {
    /// First and last second.
    pub(super) time: (f64, f64),
    /// The unit of rates.
    pub(super) rate: RateUnit,
    /// The upper end of the rate axis, in that unit.
    pub(super) rate_top: f64,
    /// Ends of the delay axis in milliseconds.
    pub(super) delay_ms: (f64, f64),
    /// Most points of a curve.
    pub(super) max_points: usize,
}

/// A unit of rates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RateUnit {
    /// Its name.
    pub(super) name: &'static str,
    /// In bit/s.
    pub(super) bps: f64,
}

impl RateUnit {
    fn for_rates_up_to(bps: f64) -> Self {
        if bps >= 1e6 { Self { name: "Mbit/s", bps: 1e6 } } else { Self { name: "kbit/s", bps: 1e3 } }
    }

    /// Rates in this unit.
    pub(super) fn scale(self, rates_bps: &[f64]) -> Vec<f64> {
        rates_bps.iter().map(|rate| rate / self.bps).collect()
    }
}

impl Scales {
    pub(super) fn of(panels: &[ControllerPanel]) -> Self {
        let top_bps = rate_top_bps(panels);
        let rate = RateUnit::for_rates_up_to(top_bps);
        Self {
            time: time_span(panels),
            rate,
            rate_top: top_bps / rate.bps,
            delay_ms: delay_span(panels),
            max_points: (POINT_BUDGET / curves(panels).max(1)).clamp(10, MAX_POINTS),
        }
    }
}

fn time_span(panels: &[ControllerPanel]) -> (f64, f64) {
    let start = least(panels.iter().filter_map(|panel| panel.time_s.first().copied()));
    let end = greatest(panels.iter().filter_map(|panel| {
        let last = panel.time_s.len().checked_sub(1)?;
        Some(panel.time_s[last] + super::bin_seconds(&panel.time_s, last))
    }));
    (start.unwrap_or(0.0), end.unwrap_or(1.0))
}

/// Somewhat above what was received, and above the capacity and the media's target unless they are far off.
fn rate_top_bps(panels: &[ControllerPanel]) -> f64 {
    let flows = || panels.iter().flat_map(|panel| &panel.flows);
    let targets = flows().filter(|flow| flow.role == FlowRole::Media).flat_map(|flow| &flow.target_rate_bps);
    let received = greatest(flows().flat_map(|flow| &flow.receive_rate_bps).copied()).unwrap_or(0.0);
    let capacity = greatest(panels.iter().flat_map(|panel| &panel.capacity_bps).copied()).unwrap_or(0.0);
    let target = greatest(targets.copied()).unwrap_or(0.0);
    let used = received.max(target.min(2.0 * received.max(capacity)));
    let top = if capacity <= 3.0 * used { used.max(capacity) } else { 1.25 * used };
    if top > 0.0 { 1.06 * top } else { 1e6 }
}

/// From the shortest to the longest frame delay, the limit of interactivity in between.
fn delay_span(panels: &[ControllerPanel]) -> (f64, f64) {
    let delays =
        || panels.iter().flat_map(|panel| &panel.frame_delay_ms).copied().filter(|&delay| delay > 0.0);
    let shortest = least(delays()).unwrap_or(INTERACTIVE_MS).clamp(1.0, INTERACTIVE_MS / 3.0);
    let longest = greatest(delays()).unwrap_or(INTERACTIVE_MS).max(INTERACTIVE_MS * 2.0);
    (shortest / 1.5, longest * 1.25)
}

/// How many curves of full length there are.
fn curves(panels: &[ControllerPanel]) -> usize {
    let of_panel = |panel: &ControllerPanel| 8 + panel.flows.len() + panel.signals.len();
    panels.iter().map(of_panel).sum()
}

fn least(values: impl Iterator<Item = f64>) -> Option<f64> {
    values.filter(|value| value.is_finite()).reduce(f64::min)
}

fn greatest(values: impl Iterator<Item = f64>) -> Option<f64> {
    values.filter(|value| value.is_finite()).reduce(f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::input::{FlowCurves, SignalBand};

    fn panel(capacity: f64, received: f64, target: f64) -> ControllerPanel {
        ControllerPanel {
            time_s: vec![10.0, 10.1],
            capacity_bps: vec![capacity, f64::NAN],
            flows: vec![FlowCurves {
                name: "video".to_owned(),
                role: FlowRole::Media,
                send_rate_bps: vec![],
                receive_rate_bps: vec![received, 0.0],
                target_rate_bps: vec![target],
            }],
            ..ControllerPanel::default()
        }
    }

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-9
    }

    #[test]
    fn rates_of_all_controllers_fit_the_axis() {
        // The highest of all is the capacity of the second: 1.06 * 2 Mbit/s.
        let scales = Scales::of(&[panel(1e6, 0.9e6, 1.1e6), panel(2e6, 1.5e6, 1.6e6)]);
        assert_eq!(scales.rate, RateUnit { name: "Mbit/s", bps: 1e6 });
        assert!(close(scales.rate_top, 2.12));
        assert!(close(scales.time.0, 10.0) && close(scales.time.1, 10.2));
        assert_eq!(scales.rate.scale(&[2.5e6]), [2.5]);
    }

    #[test]
    fn a_capacity_or_a_target_far_beyond_the_rates_does_not_flatten_them() {
        // 1.06 * 1.25 * 500 kbit/s = 662.5 kbit/s.
        let idle = Scales::of(&[panel(100e6, 0.5e6, 0.5e6)]);
        assert_eq!(idle.rate.name, "kbit/s");
        assert!(close(idle.rate_top, 662.5));
        // The target counts up to twice the capacity: 1.06 * 2 * 1 Mbit/s.
        assert!(close(Scales::of(&[panel(1e6, 0.8e6, 50e6)]).rate_top, 2.12));
    }

    #[test]
    fn delays_span_from_below_the_shortest_to_above_the_longest_around_the_limit() {
        let mut measured = panel(1e6, 1e6, 1e6);
        measured.frame_delay_ms = vec![30.0, 0.0, f64::NAN, 800.0];
        // 30 / 1.5 = 20 and 800 * 1.25 = 1000.
        assert_eq!(Scales::of(&[measured]).delay_ms, (20.0, 1000.0));
        // Without frames: 50 / 1.5 and 300 * 1.25.
        let (low, high) = Scales::of(&[]).delay_ms;
        assert!(close(low, 100.0 / 3.0) && close(high, 375.0));
    }

    #[test]
    fn many_curves_share_the_points() {
        assert_eq!(Scales::of(&[panel(1.0, 1.0, 1.0)]).max_points, 2000);
        let mut crowded = panel(1.0, 1.0, 1.0);
        crowded.signals = vec![SignalBand::default(); 691];
        // 8 + 1 + 691 = 700 curves: 350000 / 700 = 500 points each.
        assert_eq!(Scales::of(&[crowded]).max_points, 500);
    }
}
