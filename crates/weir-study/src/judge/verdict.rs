//! The verdict on a check, a case of a suite, or a claim of a paper.
//!
//! A check compares a metric with a limit; a case is a scenario with checks; a suite has several cases. The reference is
//! the omniscient sender, which knows the capacity of the path and sends its share of it, one round trip late
//! (docs/suites.md).

use serde::{Deserialize, Serialize, Serializer};

/// Verdict on a check, a case or a claim. The first six are in order from the best to the worst; the others are reasons
/// for which a check does not count.
///
/// In JSON a claim has the name of [`Verdict::words`], a check that of [`Verdict::check_name`], as a claim of others is
/// *reproduced* and a requirement *passed*. Both are accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The mean over the runs keeps to the limit. A claim about a range also has most runs in that range. A claim about
    /// an order holds beyond chance.
    #[serde(rename = "reproduced", alias = "passed")]
    Passed,
    /// The value is better than that of the paper, and neither delay nor loss is higher.
    #[serde(rename = "better than the paper")]
    Better,
    /// A test of the code shows the mechanism that is claimed.
    Tested,
    /// The runs are not decisive: the limit lies in the 95 % interval of the mean.
    #[serde(rename = "undecided", alias = "open")]
    Open,
    /// The mean lies in the range, but too few runs do, because the runs fall into two groups.
    #[serde(rename = "not reproduced (two kinds of runs)", alias = "not reproduced (runs scatter)")]
    TwoKinds,
    /// The mean does not keep to the limit, or a run has no value. For a claim, the mean lies outside of the range, or
    /// the order does not hold.
    #[serde(rename = "not reproduced", alias = "missed")]
    Missed,
    /// The check applies to no run: the condition under which it counts is never met.
    #[serde(rename = "not-asked")]
    NotApplicable,
    /// The limit is unattainable: the omniscient sender misses it at all of its operating points, and no controller
    /// does better than that sender in this case.
    #[serde(rename = "beyond-physics")]
    Unattainable,
    /// The omniscient sender misses the limit at all of its operating points, but is not known to be an upper bound in
    /// this case. Either some controller does better, or no controller was compared with it.
    NoBoundKnown,
    /// The check is about the rate, in a case that also has the check `useful`. The value is shown and does not count.
    Shown,
    /// No run of the omniscient sender, at any of its operating points, has the value to measure. For a case, some check
    /// has no value to measure, or no check counts.
    NotJudged,
}

impl Verdict {
    /// Verdicts that a claim can have, from the best to the worst.
    pub const OF_CLAIMS: [Self; 6] =
        [Self::Passed, Self::Better, Self::Tested, Self::Open, Self::TwoKinds, Self::Missed];

    /// Name of the verdict on a claim in the output.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Passed => "reproduced",
            Self::Better => "better than the paper",
            Self::Open => "undecided",
            Self::TwoKinds => "not reproduced (two kinds of runs)",
            Self::Missed => "not reproduced",
            _ => self.check_name(),
        }
    }

    /// Name of the verdict on a check in saved results.
    pub const fn check_name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Better => "better",
            Self::Tested => "tested",
            Self::Open => "open",
            Self::TwoKinds => "two-kinds",
            Self::Missed => "missed",
            Self::NotApplicable => "not-asked",
            Self::Unattainable => "beyond-physics",
            Self::NoBoundKnown => "no-bound-known",
            Self::Shown => "shown",
            Self::NotJudged => "not-judged",
        }
    }

    /// Whether the claim holds or the check is passed.
    pub const fn is_met(self) -> bool {
        matches!(self, Self::Passed | Self::Better | Self::Tested)
    }

    /// Sign of the verdict in tables: `✓`, `?`, `✗`, or `·` for a check that does not count.
    pub const fn mark(self) -> char {
        match self {
            Self::Passed | Self::Better | Self::Tested => '✓',
            Self::Open => '?',
            Self::TwoKinds | Self::Missed => '✗',
            _ => '·',
        }
    }
}

/// Writes the verdict on a check by its name.
///
/// # Errors
/// Errors of the serialiser.
#[expect(clippy::ref_option, clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
pub(crate) fn as_check<S: Serializer>(verdict: &Option<Verdict>, to: S) -> Result<S::Ok, S::Error> {
    verdict.map(Verdict::check_name).serialize(to)
}

/// Number of places at which a claim has to hold, of `places` places.
pub(crate) fn needed(places: usize, share: f64) -> usize {
    // The tolerance makes 0.8 of 5 equal to 4, despite rounding of the product.
    ((share * places as f64 - 1e-9).ceil() as usize).max(1).min(places)
}

/// Verdict on all of these places or checks, of which this share has to be met; missed without any.
pub(crate) fn together(places: &[Verdict], share: f64) -> Verdict {
    let needed = needed(places.len(), share);
    // Verdicts are ordered from the best to the worst.
    let so_good = |worst: Verdict| places.iter().filter(|&&verdict| verdict <= worst).count() >= needed;
    if places.is_empty() {
        return Verdict::Missed;
    }
    if so_good(Verdict::Better) {
        let better = places.contains(&Verdict::Better);
        return if better { Verdict::Better } else { Verdict::Passed };
    }
    let next = [Verdict::Open, Verdict::TwoKinds];
    next.into_iter().find(|&worst| so_good(worst)).unwrap_or(Verdict::Missed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_vocabularies_are_read_as_one_verdict() {
        let read = |word: &str| serde_json::from_value::<Verdict>(word.into()).unwrap();
        for verdict in Verdict::OF_CLAIMS {
            assert_eq!(serde_json::to_value(verdict).unwrap(), verdict.words());
            assert_eq!(read(verdict.words()), verdict);
        }
        for (check, claim) in [("passed", "reproduced"), ("open", "undecided"), ("missed", "not reproduced")]
        {
            assert_eq!(read(check), read(claim));
            assert_eq!(read(check).check_name(), check);
        }
        for reason in ["not-asked", "beyond-physics", "no-bound-known", "shown", "not-judged"] {
            assert_eq!(
                (read(reason).check_name(), read(reason).mark(), read(reason).is_met()),
                (reason, '·', false)
            );
        }
    }

    #[test]
    fn a_sweep_needs_its_share_of_places() {
        use Verdict::{Better, Missed, Open, Passed, TwoKinds};
        assert_eq!(together(&[Passed, Passed], 1.0), Passed);
        assert_eq!(together(&[Passed, Better], 1.0), Better);
        assert_eq!(together(&[Passed, Open], 1.0), Open);
        assert_eq!(together(&[Passed, TwoKinds, Open], 1.0), TwoKinds);
        assert_eq!(together(&[Passed, Missed], 1.0), Missed);
        // Four of five places are 80 %, and three are too few.
        assert_eq!(together(&[Passed, Passed, Passed, Passed, Missed], 0.8), Passed);
        assert_eq!(together(&[Passed, Passed, Passed, Open, Missed], 0.8), Open);
        assert_eq!(together(&[Passed, Passed, Passed, Missed, Missed], 0.8), Missed);
        assert_eq!(together(&[], 1.0), Missed);
        assert_eq!(needed(5, 1e-10), 1, "at least one place is needed");
    }
}
