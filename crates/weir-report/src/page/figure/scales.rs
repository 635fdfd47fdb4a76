//! Axes that all controllers share, so that they can be compared by eye.

use crate::page::input::ControllerPanel;

/// Largest number of points of a curve: about two per pixel.
const MAX_POINTS: usize = 2000;
/// Points of all curves of a report together; in the compressed page a point takes up to four bytes.
const POINT_BUDGET: usize = 450_000;

/// Share of the time for which the received rates fit the rate axis.
const FITTED_SHARE: f64 = 0.99;
/// Factor of headroom above these rates.
const HEADROOM: f64 = 1.3;
/// Limit of the axis where it covers the media's highest rate, as a multiple of these rates with headroom.
const MAX_FACTOR: f64 = 4.0;

/// The interactivity that a conversation needs ends about here (ITU-T G.114).
pub(in crate::page) const INTERACTIVE_MS: f64 = 150.0;

/// The axes and limits that all figures share.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Scales {
    /// First and last second of the run.
    pub(super) time: (f64, f64),
    /// The unit of rates.
    pub(super) rate: RateUnit,
    /// The upper end of the rate axis, in that unit.
    pub(super) rate_top: f64,
    /// Ends of the delay axis in milliseconds.
    pub(super) delay_ms: (f64, f64),
    /// Largest number of points of a curve.
    pub(super) max_points: usize,
}

/// Unit of rates in a report.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RateUnit {
    /// Name of the unit.
    pub(super) name: &'static str,
    /// The unit in bit/s.
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

    /// The label of the rate axis.
    pub(super) fn label(self) -> String {
        format!("rate ({})", self.name)
    }
}

impl Scales {
    pub(crate) fn of(panels: &[ControllerPanel]) -> Self {
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

/// The upper end of the rate axis: somewhat above the received rates of all flows, but for the highest hundredth. The media's
/// highest rate is covered, too, unless it is far higher.
fn rate_top_bps(panels: &[ControllerPanel]) -> f64 {
    let flows = || {
        panels.iter().flat_map(|panel| panel.flows.iter().chain(panel.other.iter().flat_map(|o| &o.flows)))
    };
    let received: Vec<f64> = flows().flat_map(|flow| &flow.receive_rate_bps).copied().collect();
    let received = percentile(received, FITTED_SHARE).unwrap_or(0.0);
    let usual = HEADROOM * received;
    let highest = greatest(panels.iter().filter_map(|panel| panel.max_rate_bps)).unwrap_or(0.0);
    let top = usual.max(highest.min(MAX_FACTOR * usual));
    if top > 0.0 { top } else { 1e6 }
}

/// The value below which a share of the finite ones lies.
fn percentile(mut values: Vec<f64>, share: f64) -> Option<f64> {
    values.retain(|value| value.is_finite());
    values.sort_unstable_by(f64::total_cmp);
    let rank = (values.len() as f64 * share).ceil() as usize;
    values.get(rank.max(1) - 1).copied()
}

/// The range of the delay axis: the shortest and the longest frame delay, with the limit of interactivity between them.
fn delay_span(panels: &[ControllerPanel]) -> (f64, f64) {
    let delays =
        || panels.iter().flat_map(|panel| &panel.frame_delay_ms).copied().filter(|&delay| delay > 0.0);
    let shortest = least(delays()).unwrap_or(INTERACTIVE_MS).clamp(1.0, INTERACTIVE_MS / 3.0);
    let longest = greatest(delays()).unwrap_or(INTERACTIVE_MS).max(INTERACTIVE_MS * 2.0);
    (shortest / 1.5, longest * 1.25)
}

/// Number of curves, in units of a full length; each of a signal's two counts as a half.
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
    use crate::page::input::{FlowCurves, FlowRole, SignalBand};

    /// A panel of one flow over two bins, with its receive rates in bit/s.
    fn panel(received: Vec<f64>, highest: Option<f64>) -> ControllerPanel {
        ControllerPanel {
            time_s: vec![10.0, 10.1],
            capacity_bps: vec![19e6, f64::NAN],
            max_rate_bps: highest,
            flows: vec![FlowCurves {
                name: "video".to_owned(),
                role: FlowRole::Media,
                send_rate_bps: vec![],
                receive_rate_bps: received,
                target_rate_bps: vec![],
            }],
            ..ControllerPanel::default()
        }
    }

    /// Whether `a` is `b` within 1e-9.
    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-9
    }

    #[test]
    fn usual_values_of_all_controllers_fit_the_axis() {
        // 1.3 * 1.5 Mbit/s; a single burst among two hundred bins and a capacity of 19 Mbit/s do not count.
        let mut received = vec![1.5e6; 199];
        received.push(9.7e6);
        let scales = Scales::of(&[panel(vec![0.9e6, 0.0], None), panel(received, None)]);
        assert_eq!(scales.rate, RateUnit { name: "Mbit/s", bps: 1e6 });
        assert!(close(scales.rate_top, 1.95), "{}", scales.rate_top);
        assert!(close(scales.time.0, 10.0) && close(scales.time.1, 10.2));
        assert_eq!(scales.rate.scale(&[2.5e6]), [2.5]);
        assert_eq!(scales.rate.label(), "rate (Mbit/s)");
    }

    #[test]
    fn the_highest_rate_of_the_media_fits_unless_it_is_far_off() {
        assert!(close(Scales::of(&[panel(vec![0.5e6], Some(2.5e6))]).rate_top, 2.5));
        // 4 * 1.3 * 100 kbit/s.
        let idle = Scales::of(&[panel(vec![0.1e6], Some(50e6))]);
        assert_eq!(idle.rate.name, "kbit/s");
        assert!(close(idle.rate_top, 520.0), "{}", idle.rate_top);
        assert!(close(Scales::of(&[panel(vec![f64::NAN], None)]).rate_top, 1.0));
    }

    #[test]
    fn a_percentile_is_the_least_value_that_covers_the_share() {
        let values: Vec<f64> = (1..=200).rev().map(f64::from).collect();
        assert_eq!(percentile(values, 0.99), Some(198.0));
        assert_eq!(percentile(vec![3.0, f64::NAN], 0.99), Some(3.0));
        assert_eq!(percentile(vec![f64::NAN], 0.99), None);
    }

    #[test]
    fn delays_span_from_below_the_shortest_to_above_the_longest_around_the_limit() {
        let mut measured = panel(vec![1e6], None);
        measured.frame_delay_ms = vec![30.0, 0.0, f64::NAN, 800.0];
        // 30 / 1.5 = 20 and 800 * 1.25 = 1000.
        assert_eq!(Scales::of(&[measured]).delay_ms, (20.0, 1000.0));
        // Without frames: 50 / 1.5 and 300 * 1.25.
        let (low, high) = Scales::of(&[]).delay_ms;
        assert!(close(low, 100.0 / 3.0) && close(high, 375.0));
    }

    #[test]
    fn many_curves_share_the_points() {
        assert_eq!(Scales::of(&[panel(vec![1.0], None)]).max_points, 2000);
        let mut crowded = panel(vec![1.0], None);
        crowded.signals = vec![SignalBand::default(); 691];
        // 8 + 1 + 691 = 700 curves: 450000 / 700 = 642 points each.
        assert_eq!(Scales::of(&[crowded]).max_points, 642);
    }
}
