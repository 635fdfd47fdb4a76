//! Values of formulas in the runs of a row.

use std::collections::BTreeMap;

use crate::judge::formula::{Formula, Harvested, KnownValues, Leaf, value};
use weir_measure::results::Value;

/// Place on the sweeps of a row: a value for each axis.
pub(super) type GridPoint = BTreeMap<String, f64>;

/// Runs of a row: those of each place on its sweeps, with their seeds.
pub(super) struct Runs<'r> {
    /// Places of the sweeps, in order.
    pub(super) places: &'r [GridPoint],
    /// Number of seeds at each place.
    pub(super) seeds: usize,
    /// Value of a place in the run of a seed, both counted from zero.
    pub(super) measured: &'r dyn Fn(usize, usize, &Leaf) -> Option<Harvested>,
    /// Whether a value at a place differs from seed to seed.
    pub(super) drawn: &'r dyn Fn(usize, &Leaf) -> bool,
}

impl Runs<'_> {
    /// Value of `formula` at a place in the run of a seed.
    pub(super) fn one(&self, formula: &Formula, place: usize, seed: usize) -> Option<Harvested> {
        let measured = |leaf: &Leaf| (self.measured)(place, seed, leaf);
        let axes = |name: &str| self.places[place].get(name).copied().map(Harvested::Number);
        value(formula, &KnownValues { axes: &axes, measured: &measured })
    }

    /// Value of `formula` at a place in the run of each seed; values that are the same for all seeds are given once.
    pub(super) fn each(&self, formula: &Formula, place: usize) -> impl Iterator<Item = Option<Harvested>> {
        (0..self.seeds_of(formula, &[place])).map(move |seed| self.one(formula, place, seed))
    }

    /// Number of `formula` at a place in the run of each seed.
    pub(super) fn numbers(&self, formula: &Formula, place: usize) -> Vec<Value> {
        self.each(formula, place).map(|value| number(value.as_ref())).collect()
    }

    /// Value of a formula over all of `places` with a seed; a place without a value is a gap.
    pub(super) fn one_over(&self, formula: &Formula, places: &[usize], seed: usize) -> Option<Harvested> {
        self.over(formula, places, seed, Some(f64::NAN))
    }

    /// Number of a formula over all of `places` with each seed, or `None` for a seed that lacks a value at a place.
    pub(super) fn numbers_over(&self, formula: &Formula, places: &[usize]) -> Vec<Value> {
        let seeds = 0..self.seeds_of(formula, places);
        seeds.map(|seed| number(self.over(formula, places, seed, None).as_ref())).collect()
    }

    /// Value of a formula over all of `places`, with `gap` for a place without a value, or `None` without a gap.
    fn over(&self, formula: &Formula, places: &[usize], seed: usize, gap: Value) -> Option<Harvested> {
        let value_at = |leaf: &Leaf, place: usize| match (self.measured)(place, seed, leaf) {
            Some(Harvested::Number(number)) if !number.is_nan() => Some(number),
            _ => gap,
        };
        let several = |values: Option<Vec<f64>>| values.map(Harvested::Several);
        let measured = |leaf: &Leaf| several(places.iter().map(|&place| value_at(leaf, place)).collect());
        let axes =
            |name: &str| several(places.iter().map(|&place| self.places[place].get(name).copied()).collect());
        value(formula, &KnownValues { axes: &axes, measured: &measured })
    }

    /// Number of seeds with values of their own.
    pub(super) fn seeds_of(&self, formula: &Formula, places: &[usize]) -> usize {
        let drawn = |leaf: &&Leaf| places.iter().any(|&place| (self.drawn)(place, leaf));
        if formula.leaves().iter().any(drawn) { self.seeds } else { self.seeds.min(1) }
    }
}

/// Number of a value, or `None` if it is infinite or no number.
pub(super) fn number(value: Option<&Harvested>) -> Value {
    let Some(Harvested::Number(number)) = value else { return None };
    Some(*number).filter(|number| number.is_finite())
}
