//! From the values of runs to a verdict.

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use super::claim::{Direction, Order, Range, Side};
use weir_measure::results::Value;
use weir_measure::results::stats::{Estimate, Kind, mean, sample_sd};

/// At least this share of the runs lies in the range …
const RUNS_INSIDE: f64 = 0.7;
/// … or on the side that is claimed.
const RUNS_ON_THE_SIDE: f64 = 0.8;

/// What came out of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Verdict {
    /// The mean lies in the range and most runs do; an order is there beyond chance.
    #[serde(rename = "reproduced")]
    Reproduced,
    /// The value is better than the paper's, at no more delay and no more loss.
    #[serde(rename = "better than the paper")]
    Better,
    /// A test shows the mechanism.
    #[serde(rename = "tested")]
    Tested,
    /// The runs do not tell.
    #[serde(rename = "undecided")]
    Undecided,
    /// The mean lies in the range and too few runs do: those inside and those outside are no runs of one kind.
    #[serde(rename = "not reproduced (two kinds of runs)", alias = "not reproduced (runs scatter)")]
    TwoKinds,
    /// It is not so.
    #[serde(rename = "not reproduced")]
    NotReproduced,
}

impl Verdict {
    /// Every verdict.
    pub const ALL: [Self; 6] =
        [Self::Reproduced, Self::Better, Self::Tested, Self::Undecided, Self::TwoKinds, Self::NotReproduced];

    /// As it is printed.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Reproduced => "reproduced",
            Self::Better => "better than the paper",
            Self::Tested => "tested",
            Self::Undecided => "undecided",
            Self::TwoKinds => "not reproduced (two kinds of runs)",
            Self::NotReproduced => "not reproduced",
        }
    }

    /// Whether the claim is met.
    pub const fn is_met(self) -> bool {
        matches!(self, Self::Reproduced | Self::Better | Self::Tested)
    }
}

/// What was measured at a place.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// Mean over the runs that have a value; `runs` counts these.
    pub mean: Value,
    /// Half the width of its 95 % interval.
    pub ci95: Value,
    /// How many runs have a value.
    pub runs: usize,
    /// The two kinds of which they are, if they are of two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kinds: Option<[Kind; 2]>,
}

impl Measured {
    pub(super) fn of(runs: &[Value]) -> Self {
        let estimate = Estimate::of(&known(runs));
        Self {
            mean: estimate.map(|estimate| estimate.mean),
            ci95: estimate.and_then(|estimate| estimate.half_width),
            runs: known(runs).len(),
            kinds: estimate.and_then(|estimate| estimate.kinds),
        }
    }
}

/// A verdict on one place, with what it rests on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Judged {
    pub(super) verdict: Verdict,
    pub(super) measured: Measured,
    /// The share of the runs that lie in the range, or on the side.
    pub(super) inside: f64,
    /// How far the mean is inside; below zero outside.
    pub(super) margin: f64,
}

fn known(runs: &[Value]) -> Vec<f64> {
    runs.iter().flatten().copied().filter(|value| value.is_finite()).collect()
}

fn share(runs: &[Value], holds: impl Fn(f64) -> bool) -> f64 {
    let inside = runs.iter().flatten().filter(|value| holds(**value)).count();
    inside as f64 / runs.len().max(1) as f64
}

impl Judged {
    /// Whether the runs lie in `range`. A run without a value does not.
    pub(super) fn in_range(runs: &[Value], range: Range) -> Self {
        let measured = Measured::of(runs);
        let inside = share(runs, |value| range.has(value));
        let verdict = match measured.mean {
            Some(mean) if range.has(mean) && inside >= RUNS_INSIDE => Verdict::Reproduced,
            Some(mean) if range.has(mean) => Verdict::TwoKinds,
            _ => Verdict::NotReproduced,
        };
        Self {
            verdict,
            measured,
            inside,
            margin: measured.mean.map_or(f64::NEG_INFINITY, |mean| depth(range, mean)),
        }
    }

    /// Whether the coefficient of variation of the runs lies in `range`.
    pub(super) fn variation_in_range(runs: &[Value], range: Range) -> Self {
        let values = known(runs);
        let variation = mean(&values).and_then(|mean| Some(sample_sd(&values)? / mean.abs()));
        let variation = variation.filter(|_| values.len() == runs.len());
        let one = Self::in_range(&[variation], range);
        Self { measured: Measured { runs: values.len(), ..one.measured }, ..one }
    }

    /// Whether the runs' values, differences run by run, lie on a side of zero beyond chance. Of an order that equal values meet
    /// the side is that of its `margin`, in the unit of the values: the whole interval and most runs do not lie beyond it.
    pub(super) fn in_order(runs: &[Value], order: Order, margin: f64) -> Self {
        let measured = Measured::of(runs);
        let sign = if order.side() == Side::Above { 1.0 } else { -1.0 };
        let strict = order.is_strict();
        // How far a value is on the side that is claimed.
        let above = |value: f64| if strict { sign * value } else { sign * value + margin };
        let holds = |value: f64| if strict { above(value) > 0.0 } else { above(value) >= 0.0 };
        let inside = share(runs, holds);
        let verdict = match Estimate::of(&known(runs)) {
            None => Verdict::NotReproduced,
            Some(Estimate { mean, half_width, .. }) => match half_width {
                Some(half) if holds(mean - sign * half) && inside >= RUNS_ON_THE_SIDE => Verdict::Reproduced,
                Some(half) if above(mean + sign * half) < 0.0 => Verdict::NotReproduced,
                _ => Verdict::Undecided,
            },
        };
        Self { verdict, measured, inside, margin: measured.mean.map_or(f64::NEG_INFINITY, above) }
    }

    /// The same, but better than the paper where the mean lies on that side of `range` and what must not be more,
    /// each the runs' values and the paper's, is not,
    /// and so many runs lie there or in the range.
    pub(super) fn unless_better(
        self,
        runs: &[Value],
        range: Range,
        side: Side,
        no_more: &[(Vec<Value>, f64)],
    ) -> Self {
        let is_beyond = |value: f64| match side {
            Side::Above => range.max.is_some_and(|max| value > max),
            Side::Below => range.min.is_some_and(|min| value < min),
        };
        let so_good = share(runs, |value| range.has(value) || is_beyond(value)) >= RUNS_INSIDE;
        let beyond = so_good && self.measured.mean.is_some_and(is_beyond);
        let within = |(runs, paper): &(Vec<Value>, f64)| {
            let measured = Measured::of(runs);
            measured.runs == runs.len() && measured.mean.is_some_and(|mean| mean <= *paper)
        };
        if beyond && !no_more.is_empty() && no_more.iter().all(within) {
            return Self { verdict: Verdict::Better, ..self };
        }
        self
    }
}

impl Direction {
    /// On which side of zero each step lies.
    pub(super) const fn order(self) -> Order {
        match self {
            Self::Up => Order::Above,
            Self::Down => Order::Below,
        }
    }
}

/// How far `value` is from the nearer end of `range`; below zero outside.
fn depth(range: Range, value: f64) -> f64 {
    let above = range.min.map_or(f64::INFINITY, |min| value - min);
    let below = range.max.map_or(f64::INFINITY, |max| max - value);
    above.min(below)
}

/// At how many of so many places a claim has to hold.
pub(super) fn needed(places: usize, share: f64) -> usize {
    // 0.8 of 5 is 4, whatever the product is rounded to.
    ((share * places as f64 - 1e-9).ceil() as usize).max(1).min(places)
}

/// The verdict on a claim that has to hold at this share of places.
pub(super) fn together(places: &[Verdict], share: f64) -> Verdict {
    let needed = needed(places.len(), share);
    let so_good = |worst: Verdict| places.iter().filter(|&&verdict| verdict <= worst).count() >= needed;
    if places.is_empty() {
        return Verdict::NotReproduced;
    }
    if so_good(Verdict::Better) {
        let better = places.contains(&Verdict::Better);
        return if better { Verdict::Better } else { Verdict::Reproduced };
    }
    let next = [Verdict::Undecided, Verdict::TwoKinds];
    next.into_iter().find(|&worst| so_good(worst)).unwrap_or(Verdict::NotReproduced)
}
