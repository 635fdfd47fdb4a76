//! Results of a reproduction, as values that serialise with stable keys.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::claim::{Class, Range, Reported};
use crate::judge::{MeasuredPlace, Verdict};
use weir_measure::results::Value;
use weir_measure::results::stats::kinds_in_words;

/// Claim with its result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClaimResult {
    /// `PAPER/ROW/CLAIM`.
    pub id: String,
    /// `PAPER/ROW`.
    pub row: String,
    /// Class of the claim.
    pub class: Class,
    /// Statement of the claim.
    pub claim: String,
    /// Value or statement of the paper.
    pub reported: Option<Reported>,
    /// Unit of the reported, measured and accepted values.
    pub unit: String,
    /// Measured value; on a sweep that of the deciding place.
    pub measured: Option<MeasuredPlace>,
    /// Accepted range; for an order or a trend a side of zero.
    pub accepted: Accepted,
    /// Verdict on the claim.
    pub verdict: Verdict,
    /// Description of a stand-in for something that is not available.
    pub stand_in: Option<String>,
    /// Whether open parameters were chosen by this claim.
    pub calibration: bool,
    /// Whether the paper does not print the reported value, so that it was derived from equations or set-up.
    #[serde(default)]
    pub derived: bool,
    /// Whether the claim is reported and not counted, as another claim covers it or the paper does not make it.
    #[serde(default)]
    pub beside: bool,
    /// Cause of an unmet claim, with the experiment that shows it.
    pub cause: Option<String>,
    /// Tests that show the claim.
    pub tests: Vec<String>,
    /// Places of the sweeps at which the claim was judged.
    pub places: Vec<PlaceResult>,
}

/// Accepted range; null for no bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Accepted {
    /// Lower end.
    pub low: Value,
    /// Upper end.
    pub high: Value,
    /// Whether the ends themselves are outside, as for an order.
    #[serde(default)]
    pub strict: bool,
}

/// Result at one place of a sweep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlaceResult {
    /// Value on each axis; for a trend the end of a step.
    pub at: BTreeMap<String, f64>,
    /// Measured value.
    pub measured: MeasuredPlace,
    /// Value of each seed, from 1 on; null for a seed without a value.
    #[serde(default)]
    pub values: Vec<Value>,
    /// Share of the runs in the range, or on the claimed side.
    pub inside: f64,
    /// Verdict on the place.
    pub verdict: Verdict,
}

impl ClaimResult {
    /// Claim for tests, without range and figures.
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

    /// Paper of its row.
    pub fn paper(&self) -> &str {
        self.row.split('/').next().unwrap_or_default()
    }

    /// Reported value or statement, in words.
    pub fn reported_in_words(&self) -> String {
        match &self.reported {
            None => String::new(),
            Some(Reported::Words(words)) => words.clone(),
            Some(Reported::Value(value)) => with_unit(&value.to_string(), &self.unit),
        }
    }

    /// Measured value, in words: `0.199 ± 0.001`, with both kinds of runs if there are two.
    pub fn measured_in_words(&self) -> String {
        measured_in_words(self.measured.as_ref(), &self.unit)
    }

    /// Accepted range, in words.
    pub fn accepted_in_words(&self) -> String {
        self.accepted.in_words()
    }

    /// Marks beside the verdict.
    pub fn marks(&self) -> Vec<&'static str> {
        let marks =
            [("stand-in", self.stand_in.is_some()), ("derived", self.derived), ("beside", self.beside)];
        marks.into_iter().filter(|(_, is)| *is).map(|(mark, _)| mark).collect()
    }

    /// Basis of the claim.
    pub const fn basis(&self) -> Basis {
        match (self.calibration, self.derived) {
            (true, _) => Basis::Calibration,
            (false, true) => Basis::Derived,
            (false, false) => Basis::Validation,
        }
    }

    /// Number of places at which the claim holds: `9 of 10`; empty without a sweep.
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
    /// Range in words: `≥ 2`, or `1 to 2`; empty without a bound.
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

/// Measured value in words, with its interval and unit, and with both kinds of runs if there are two.
pub(super) fn measured_in_words(measured: Option<&MeasuredPlace>, unit: &str) -> String {
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

/// Decimals of a value: two digits of its interval, else three of its own.
fn digits(mean: f64, half: Value) -> usize {
    let least = half.filter(|half| *half > 0.0).map_or(mean.abs() / 10.0, |half| half);
    if least <= 0.0 { 1 } else { (1.0 - libm::log10(least).floor()).clamp(0.0, 6.0) as usize }
}

/// Basis of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// Value that the paper prints, unknown when parameters were chosen.
    Validation,
    /// Value that was derived from the paper's equations or set-up, as the paper does not print it.
    Derived,
    /// Value by which open parameters were chosen.
    Calibration,
}

impl Basis {
    /// Name of the basis in the output.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Validation => "validation",
            Self::Derived => "derived",
            Self::Calibration => "calibration",
        }
    }
}

/// Counts of claims of one class and basis.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Count {
    /// Name of the paper.
    pub paper: String,
    /// Class of the claims.
    pub class: Class,
    /// Basis of the claims.
    pub basis: Basis,
    /// Number of claims with each verdict.
    pub verdicts: BTreeMap<Verdict, usize>,
}

impl Count {
    /// Number of claims.
    pub fn claims(&self) -> usize {
        self.verdicts.values().sum()
    }

    /// Number of claims with this verdict.
    pub fn of(&self, verdict: Verdict) -> usize {
        self.verdicts.get(&verdict).copied().unwrap_or(0)
    }

    /// Number of claims met.
    pub fn met(&self) -> usize {
        self.verdicts.iter().filter(|(verdict, _)| verdict.is_met()).map(|(_, count)| count).sum()
    }
}

/// Counts of the claims by paper, class and basis, without claims reported beside others.
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
