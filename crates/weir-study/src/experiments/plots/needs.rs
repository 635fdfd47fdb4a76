//! Places and seeds that a plot needs.

use std::collections::BTreeMap;

use super::words::{Plot, PlotKind};

/// Sweeps on the axes of `plot`.
fn on_axes(plot: &Plot) -> impl Iterator<Item = &String> {
    plot.along.iter().chain(&plot.across).chain(&plot.up)
}

/// Whether `plot` shows `place`; `first` has the first value of each sweep.
pub(in super::super) fn is_drawn(
    plot: &Plot,
    first: &BTreeMap<String, f64>,
    place: &BTreeMap<String, f64>,
) -> bool {
    let wanted = |axis: &String| plot.at.get(axis).or_else(|| first.get(axis));
    let stands = |(axis, value): (&String, &f64)| {
        on_axes(plot).any(|own| own == axis)
            || wanted(axis).is_some_and(|wanted| wanted.to_bits() == value.to_bits())
    };
    place.iter().all(stands)
}

/// Number of seeds that it shows, out of `seeds`.
pub(in super::super) const fn needed(plot: &Plot, seeds: u32) -> u32 {
    match plot.kind {
        PlotKind::Course | PlotKind::Curve => 1,
        PlotKind::Cdf | PlotKind::Sweep | PlotKind::Bars | PlotKind::Map => seeds,
    }
}
