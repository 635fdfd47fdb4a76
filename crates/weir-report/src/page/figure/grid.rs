//! The time axis that the curves of a figure share, thinned where there are too many bins.

use core::ops::Range;

use serde_json::Value;
use weir_cc::LimitingFactor;

use super::{Lane, bin_seconds, coarse, seconds};
use crate::page::decimate::{dominant, stretches};
use crate::page::input::{DecisionTick, Move};

/// The places of an axis: each bin, or two for each stretch of bins.
#[derive(Clone, Debug)]
pub(super) struct AxisGrid<'a> {
    time: &'a [f64],
    max_points: usize,
    /// Stretches of bins that share a place, where there are too many bins.
    stretches: Option<Vec<Range<usize>>>,
}

impl<'a> AxisGrid<'a> {
    pub(crate) fn of(time: &'a [f64], max_points: usize) -> Self {
        let crowded = time.len() > max_points;
        let stretches = crowded.then(|| stretches(time.len(), max_points / 2).collect());
        Self { time, max_points, stretches }
    }

    /// Upper limit of the number of places.
    pub(super) fn len(&self) -> usize {
        self.max_points
    }

    pub(crate) fn x(&self) -> Vec<Value> {
        let Some(stretches) = &self.stretches else {
            return self.time.iter().copied().map(seconds).collect();
        };
        let places = |bins: &Range<usize>| [bins.start, bins.start.midpoint(bins.end)];
        stretches.iter().flat_map(places).map(|bin| seconds(self.time[bin])).collect()
    }

    /// A value for each place: of a stretch the least and the greatest, in their order.
    pub(super) fn curve(&self, values: &[f64]) -> Vec<Value> {
        let value = |bin: usize| values.get(bin).copied().unwrap_or(f64::NAN);
        let Some(stretches) = &self.stretches else {
            return (0..self.time.len()).map(|bin| coarse(value(bin))).collect();
        };
        let ends = |bins: &Range<usize>| {
            let finite = || bins.clone().filter(|&bin| value(bin).is_finite());
            let least = finite().min_by(|&a, &b| value(a).total_cmp(&value(b)));
            let greatest = finite().max_by(|&a, &b| value(a).total_cmp(&value(b)));
            match (least, greatest) {
                (Some(a), Some(b)) => [value(a.min(b)), value(a.max(b))],
                _ => [f64::NAN; 2],
            }
        };
        stretches.iter().flat_map(ends).map(coarse).collect()
    }

    /// As [`Self::curve`] for one end alone: `pick` of two values.
    pub(super) fn edge(&self, values: &[f64], pick: fn(f64, f64) -> f64) -> Vec<f64> {
        let value = |bin: usize| values.get(bin).copied().unwrap_or(f64::NAN);
        let Some(stretches) = &self.stretches else { return (0..self.time.len()).map(value).collect() };
        let end = |bins: &Range<usize>| {
            let finite = bins.clone().map(value).filter(|value| value.is_finite());
            [finite.reduce(pick).unwrap_or(f64::NAN); 2]
        };
        stretches.iter().flat_map(end).collect()
    }

    /// Time of each place, in seconds.
    pub(super) fn times(&self) -> Vec<f64> {
        self.x().iter().filter_map(Value::as_f64).collect()
    }

    /// The lane of a limiting factor: stretches with the same factor, and the decisions.
    pub(super) fn lane(
        &self,
        name: &str,
        factors: &[Option<LimitingFactor>],
        decisions: &[DecisionTick],
    ) -> Lane {
        let len = self.time.len().min(factors.len());
        let mut lane = Lane { name: name.to_owned(), ..Lane::default() };
        for bins in stretches(len, self.max_points) {
            let present = dominant(&factors[bins.clone()]).flatten().map(|factor| factor as usize);
            if lane.factors.last() != Some(&present) {
                lane.edges.push(seconds(self.time[bins.start]));
                lane.factors.push(present);
            }
        }
        let end = len.checked_sub(1).map(|last| self.time[last] + bin_seconds(self.time, last));
        lane.edges.extend(end.map(seconds));
        let tick = |decision: &DecisionTick| {
            (seconds(decision.time_s), decision.change as i8 - Move::None as i8, decision.text.clone())
        };
        lane.ticks = decisions.iter().map(tick).collect();
        lane
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn few_bins_all_have_their_place() {
        let grid = AxisGrid::of(&[0.0, 0.1, 0.2], 10);
        assert_eq!(grid.x(), [json!(0.0), json!(0.1), json!(0.2)]);
        assert_eq!(grid.curve(&[1.0, f64::NAN]), [json!(1), Value::Null, Value::Null]);
    }

    #[test]
    fn the_extremes_of_each_stretch_stay_in_their_order() {
        // Two stretches of four: 9 comes before 0, and 2 before 7; a stretch without values is a gap.
        let time: Vec<f64> = (0..8).map(f64::from).collect();
        let grid = AxisGrid::of(&time, 4);
        assert_eq!(grid.x(), [json!(0.0), json!(2.0), json!(4.0), json!(6.0)]);
        let values = [5.0, 9.0, 4.0, 0.0, 2.0, 3.0, 7.0, 6.0];
        assert_eq!(grid.curve(&values), [json!(9), json!(0), json!(2), json!(7)]);
        assert_eq!(grid.edge(&values, f64::max), [9.0, 9.0, 7.0, 7.0]);
        assert_eq!(grid.curve(&values[..4])[2..], [Value::Null, Value::Null]);
        assert_eq!(grid.times(), [0.0, 2.0, 4.0, 6.0]);
    }

    #[test]
    fn no_curve_is_longer_than_allowed() {
        for bins in [2000, 2001, 2999, 9000] {
            let time: Vec<f64> = (0..bins).map(f64::from).collect();
            let grid = AxisGrid::of(&time, 2000);
            let (x, y) = (grid.x(), grid.curve(&time));
            assert!(x.len() <= 2000 && x.len() == y.len(), "{bins}: {}", x.len());
            assert!(grid.times().is_sorted_by(|a, b| a < b), "{bins}");
        }
    }

    #[test]
    fn a_lane_has_a_stretch_per_change_of_cause() {
        let time = [0.0, 0.1, 0.2, 0.3, 0.4];
        let factors = [
            Some(LimitingFactor::RampUp),
            Some(LimitingFactor::RampUp),
            None,
            Some(LimitingFactor::Loss),
            Some(LimitingFactor::Loss),
        ];
        let tick = |time_s, change| DecisionTick { time_s, change, text: String::from("why") };
        let ticks = [tick(0.1, Move::Down), tick(0.25, Move::None)];
        let lane = AxisGrid::of(&time, 2000).lane("video", &factors, &ticks);
        assert_eq!(
            lane.factors,
            [Some(LimitingFactor::RampUp as usize), None, Some(LimitingFactor::Loss as usize)]
        );
        assert_eq!(lane.edges, [json!(0.0), json!(0.2), json!(0.3), json!(0.5)]);
        assert_eq!(lane.ticks, [(json!(0.1), -1, "why".into()), (json!(0.25), 0, "why".into())]);
        let empty = AxisGrid::of(&[], 2000).lane("video", &[], &[]);
        assert!(empty.edges.is_empty() && empty.factors.is_empty());
    }
}
