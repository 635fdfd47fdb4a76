//! What reproducing rows yields, as values that serialise with stable keys.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::claim::{Class, Range, Reported};
use super::judge::{Measured, Verdict};
use weir_measure::results::Value;
use weir_measure::results::stats::kinds_in_words;

/// A claim, and what came out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClaimResult {
    /// `PAPER/ROW/CLAIM`.
    pub id: String,
    /// `PAPER/ROW`.
    pub row: String,
    /// Its class.
    pub class: Class,
    /// What is claimed.
    pub claim: String,
    /// What the paper reports.
    pub reported: Option<Reported>,
    /// Unit of what is reported, measured and accepted.
    pub unit: String,
    /// What was measured; on a sweep at the place that decides.
    pub measured: Option<Measured>,
    /// What is accepted: of an order or a trend a side of zero.
    pub accepted: Accepted,
    /// The verdict.
    pub verdict: Verdict,
    /// What stands in for something that cannot be had.
    pub stand_in: Option<String>,
    /// Whether open parameters were chosen on it.
    pub calibration: bool,
    /// Whether what is reported is not printed in the paper but follows from its equations or its set-up.
    #[serde(default)]
    pub derived: bool,
    /// Whether it is told and not counted: another claim counts the same, or the paper does not claim it.
    #[serde(default)]
    pub beside: bool,
    /// Why it is not met, and by which experiment that is known.
    pub cause: Option<String>,
    /// The tests that show it.
    pub tests: Vec<String>,
    /// Where on the sweeps it was judged.
    pub places: Vec<PlaceResult>,
}

/// A range that is accepted; null for no bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Accepted {
    /// The least.
    pub low: Value,
    /// The greatest.
    pub high: Value,
    /// Whether the ends themselves are outside, as of an order.
    #[serde(default)]
    pub strict: bool,
}

/// What came out at one place of a sweep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlaceResult {
    /// Where: the value on each axis; of a trend where a step ends.
    pub at: BTreeMap<String, f64>,
    /// What was measured.
    pub measured: Measured,
    /// What it was measured of: the value of each seed, from 1 on, null where a seed has none.
    #[serde(default)]
    pub values: Vec<Value>,
    /// The share of the runs that lie in the range, or on the side that is claimed.
    pub inside: f64,
    /// The verdict.
    pub verdict: Verdict,
}

impl ClaimResult {
    /// A claim of a test, without range and figures.
    #[cfg(test)]
    pub(super) fn unmeasured(id: &str, class: Class, verdict: Verdict) -> Self {
        Self {
            id: id.to_owned(),
            row: id.rsplit_once('/').map_or(id, |(row, _)| row).to_owned(),
            class,
            claim: String::new(),
            reported: None,
            unit: String::new(),
            measured: None,
            accepted: Accepted::default(),
            verdict,
            stand_in: None,
            calibration: false,
            derived: false,
            beside: false,
            cause: None,
            tests: Vec::new(),
            places: Vec::new(),
        }
    }

    /// The paper of its row.
    pub fn paper(&self) -> &str {
        self.row.split('/').next().unwrap_or_default()
    }

    /// What the paper reports, in words.
    pub fn reported_in_words(&self) -> String {
        match &self.reported {
            None => String::new(),
            Some(Reported::Words(words)) => words.clone(),
            Some(Reported::Value(value)) => with_unit(&value.to_string(), &self.unit),
        }
    }

    /// What was measured, in words: `0.199 ± 0.001`, and both kinds of runs where they are of two.
    pub fn measured_in_words(&self) -> String {
        measured_in_words(self.measured.as_ref(), &self.unit)
    }

    /// The range, in words.
    pub fn accepted_in_words(&self) -> String {
        self.accepted.in_words()
    }

    /// What there is to know of it beside its verdict.
    pub fn marks(&self) -> Vec<&'static str> {
        let marks =
            [("stand-in", self.stand_in.is_some()), ("derived", self.derived), ("beside", self.beside)];
        marks.into_iter().filter(|(_, is)| *is).map(|(mark, _)| mark).collect()
    }

    /// On what it rests.
    pub const fn basis(&self) -> Basis {
        match (self.calibration, self.derived) {
            (true, _) => Basis::Calibration,
            (false, true) => Basis::Derived,
            (false, false) => Basis::Validation,
        }
    }

    /// How many of the places hold: `9 of 10`; empty without a sweep.
    pub fn places_in_words(&self) -> String {
        let met = self.places.iter().filter(|place| place.verdict.is_met()).count();
        if self.places.len() > 1 { format!("{met} of {}", self.places.len()) } else { String::new() }
    }
}

impl From<Range> for Accepted {
    fn from(Range { min, max }: Range) -> Self {
        Self { low: min, high: max, strict: false }
    }
}

impl Accepted {
    /// The range, in words: `≥ 2`, or `1 to 2`; empty without a bound.
    pub fn in_words(self) -> String {
        let or_equal = |strict: &'static str, or_equal| if self.strict { strict } else { or_equal };
        match (self.low, self.high) {
            (None, None) => String::new(),
            (Some(low), None) => format!("{} {low}", or_equal(">", "≥")),
            (None, Some(high)) => format!("{} {high}", or_equal("<", "≤")),
            (Some(low), Some(high)) => format!("{low} to {high}"),
        }
    }
}

/// What was measured, in words, with its interval, its unit, and both kinds of runs where they are of two.
pub(super) fn measured_in_words(measured: Option<&Measured>, unit: &str) -> String {
    let Some(measured) = measured else { return "–".to_owned() };
    let Some(mean) = measured.mean else { return "no value".to_owned() };
    let digits = digits(mean, measured.ci95);
    let half = measured.ci95.map_or_else(String::new, |half| format!(" ± {half:.digits$}"));
    let kinds = kinds_in_words(measured.kinds, digits).map(|kinds| format!("; two kinds: {kinds}"));
    with_unit(&format!("{mean:.digits$}{half}"), unit) + &kinds.unwrap_or_default()
}

pub(super) fn with_unit(text: &str, unit: &str) -> String {
    if unit.is_empty() { text.to_owned() } else { format!("{text} {unit}") }
}

/// Decimals that say enough of a value: two digits of its interval, else three of its own.
fn digits(mean: f64, half: Value) -> usize {
    let least = half.filter(|half| *half > 0.0).map_or(mean.abs() / 10.0, |half| half);
    if least <= 0.0 { 1 } else { (1.0 - libm::log10(least).floor()).clamp(0.0, 6.0) as usize }
}

/// On what a claim rests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// What the paper prints, of which nothing was known when parameters were chosen.
    Validation,
    /// What follows from the paper's equations or set-up and is not printed in it.
    Derived,
    /// What open parameters were chosen on.
    Calibration,
}

impl Basis {
    /// As it is printed.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Validation => "validation",
            Self::Derived => "derived",
            Self::Calibration => "calibration",
        }
    }
}

/// How many claims of a kind are met.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Count {
    /// The paper.
    pub paper: String,
    /// The class.
    pub class: Class,
    /// On what they rest.
    pub basis: Basis,
    /// How many claims have which verdict.
    pub verdicts: BTreeMap<Verdict, usize>,
}

impl Count {
    /// How many there are.
    pub fn claims(&self) -> usize {
        self.verdicts.values().sum()
    }

    /// How many have this verdict.
    pub fn of(&self, verdict: Verdict) -> usize {
        self.verdicts.get(&verdict).copied().unwrap_or(0)
    }

    /// How many are met.
    pub fn met(&self) -> usize {
        self.verdicts.iter().filter(|(verdict, _)| verdict.is_met()).map(|(_, count)| count).sum()
    }
}

/// The claims counted by paper, class and what they rest on; those told beside others are not.
pub fn counts(results: &[ClaimResult]) -> Vec<Count> {
    let mut counts: BTreeMap<(&str, Class, Basis), BTreeMap<Verdict, usize>> = BTreeMap::new();
    for result in results.iter().filter(|result| !result.beside) {
        let kind = counts.entry((result.paper(), result.class, result.basis())).or_default();
        *kind.entry(result.verdict).or_default() += 1;
    }
    let count = |((paper, class, basis), verdicts): ((&str, Class, Basis), _)| Count {
        paper: paper.to_owned(),
        class,
        basis,
        verdicts,
    };
    counts.into_iter().map(count).collect()
}
