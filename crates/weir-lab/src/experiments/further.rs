//! Further seeds on the best places of a grid, whose single runs scatter as much as the best differ.

use super::formula::{Formula, Harvested};
use super::row::Further;
use super::values::Runs;
use weir_measure::results::Value;
use weir_measure::results::stats::mean;

/// Which places of a row have further seeds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Best {
    /// The places, in order.
    pub(super) places: Vec<usize>,
    /// How many seeds they have in all.
    pub(super) seeds: u32,
}

impl Further {
    /// How many of so many places it means.
    pub(super) fn count(&self, places: usize) -> usize {
        ((self.share * places as f64).ceil() as usize).min(places)
    }

    /// The best places: those at which `by`, as a mean over the seeds that were run, is greatest. A place without a value at
    /// one of them is none.
    pub(super) fn best(&self, by: &Formula, runs: &Runs<'_>) -> Best {
        let all: Vec<usize> = (0..runs.places.len()).collect();
        let each: Vec<Vec<f64>> = (0..runs.seeds_of(by, &all))
            .filter_map(|seed| match runs.one_over(by, &all, seed) {
                Some(Harvested::Several(values)) if values.len() == all.len() => Some(values),
                _ => None,
            })
            .collect();
        let value = |place: usize| -> Value {
            let values: Vec<f64> = each.iter().map(|values| values[place]).collect();
            mean(&values).filter(|mean| mean.is_finite())
        };
        let mut ranked: Vec<(usize, f64)> =
            all.iter().filter_map(|&place| Some((place, value(place)?))).collect();
        ranked.sort_by(|(one, a), (other, b)| b.total_cmp(a).then(one.cmp(other)));
        ranked.truncate(self.count(all.len()));
        let mut places: Vec<usize> = ranked.into_iter().map(|(place, _)| place).collect();
        places.sort_unstable();
        Best { places, seeds: self.seeds }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::formula::{Leaf, Reading, Scope, parse_any};
    use super::super::values::Place;
    use super::*;

    /// The best half of places with these values, a list for each seed.
    fn best(seeds: &[[f64; 5]]) -> Vec<usize> {
        let reading = Reading { scope: Scope::AllPlaces, named: &BTreeMap::new() };
        let (by, _) = parse_any("call:media.rate_bps", reading).unwrap();
        let measured = |place: usize, seed: usize, _: &Leaf| Some(Harvested::Number(seeds[seed][place]));
        let places = vec![Place::new(); 5];
        let runs = Runs {
            places: &places,
            seeds: seeds.len(),
            measured: &measured,
            drawn: &|_: usize, _: &Leaf| true,
        };
        Further { by: String::new(), share: 0.5, seeds: 7 }.best(&by, &runs).places
    }

    #[test]
    fn the_best_are_those_of_the_greatest_mean() {
        assert_eq!(best(&[[1.0, 5.0, 2.0, 4.0, 3.0]]), [1, 3, 4]);
        assert_eq!(best(&[[1.0, 5.0, 2.0, 4.0, 3.0], [9.0, 0.0, 2.0, 4.0, 3.0]]), [0, 3, 4]);
        // Of equals the first; a place without a value with one of the seeds is none of the best.
        assert_eq!(best(&[[1.0; 5]]), [0, 1, 2]);
        assert_eq!(best(&[[9.0, 1.0, 2.0, 4.0, 3.0], [f64::NAN, 1.0, 2.0, 4.0, 3.0]]), [2, 3, 4]);
    }
}
