//! What formulas amount to in the runs of a row.

use std::collections::BTreeMap;

use super::formula::{Formula, Harvested, Known, Leaf, value};
use weir_measure::results::Value;

/// A place on the sweeps of a row.
pub(super) type Place = BTreeMap<String, f64>;

/// The runs of a row: those of each place on its sweeps, with their seeds.
pub(super) struct Runs<'r> {
    /// The places, in order.
    pub(super) places: &'r [Place],
    /// How many seeds there are of each.
    pub(super) seeds: usize,
    /// What was taken at a place from the run of a seed, both counted from zero.
    pub(super) measured: &'r dyn Fn(usize, usize, &Leaf) -> Option<Harvested>,
    /// Whether what is measured at a place differs from seed to seed.
    pub(super) drawn: &'r dyn Fn(usize, &Leaf) -> bool,
}

impl Runs<'_> {
    /// What `formula` amounts to at a place in the run of a seed.
    pub(super) fn one(&self, formula: &Formula, place: usize, seed: usize) -> Option<Harvested> {
        let measured = |leaf: &Leaf| (self.measured)(place, seed, leaf);
        let axes = |name: &str| self.places[place].get(name).copied().map(Harvested::Number);
        value(formula, &Known { axes: &axes, measured: &measured })
    }

    /// What it amounts to at a place in the run of each seed; one is enough of what is the same for all.
    pub(super) fn each(&self, formula: &Formula, place: usize) -> impl Iterator<Item = Option<Harvested>> {
        (0..self.seeds_of(formula, &[place])).map(move |seed| self.one(formula, place, seed))
    }

    /// The number that it is at a place in the run of each seed.
    pub(super) fn numbers(&self, formula: &Formula, place: usize) -> Vec<Value> {
        self.each(formula, place).map(|value| number(value.as_ref())).collect()
    }

    /// What a formula over all of `places` amounts to with a seed; a place without a value is a gap in it.
    pub(super) fn one_over(&self, formula: &Formula, places: &[usize], seed: usize) -> Option<Harvested> {
        self.over(formula, places, seed, Some(f64::NAN))
    }

    /// The number that it is with each seed; none with a seed that has no value at a place.
    pub(super) fn numbers_over(&self, formula: &Formula, places: &[usize]) -> Vec<Value> {
        let seeds = 0..self.seeds_of(formula, places);
        seeds.map(|seed| number(self.over(formula, places, seed, None).as_ref())).collect()
    }

    /// The same with `gap` where a place has no value; nothing without it.
    fn over(&self, formula: &Formula, places: &[usize], seed: usize, gap: Value) -> Option<Harvested> {
        let at = |leaf: &Leaf, place: usize| match (self.measured)(place, seed, leaf) {
            Some(Harvested::Number(number)) if !number.is_nan() => Some(number),
            _ => gap,
        };
        let several = |values: Option<Vec<f64>>| values.map(Harvested::Several);
        let measured = |leaf: &Leaf| several(places.iter().map(|&place| at(leaf, place)).collect());
        let axes =
            |name: &str| several(places.iter().map(|&place| self.places[place].get(name).copied()).collect());
        value(formula, &Known { axes: &axes, measured: &measured })
    }

    /// How many seeds have values of their own.
    pub(super) fn seeds_of(&self, formula: &Formula, places: &[usize]) -> usize {
        let drawn = |leaf: &&Leaf| places.iter().any(|&place| (self.drawn)(place, leaf));
        if formula.leaves().iter().any(drawn) { self.seeds } else { self.seeds.min(1) }
    }
}

/// The number that a value is; none of what is infinite.
pub(super) fn number(value: Option<&Harvested>) -> Value {
    let Some(Harvested::Number(number)) = value else { return None };
    Some(*number).filter(|number| number.is_finite())
}
