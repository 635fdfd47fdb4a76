//! The verdict on a check, a case of a suite, or a claim of a paper.

use serde::{Deserialize, Serialize, Serializer};

/// Verdict on a check, a case or a claim: from the best to the worst, then the reasons why a check does not count.
///
/// As JSON it has the names of claims; checks have the names of [`Verdict::check_name`]. Both are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The mean keeps to the limit. Of a claim, most runs lie in the range as well, or an order holds beyond chance.
    #[serde(rename = "reproduced", alias = "passed")]
    Passed,
    /// The value is better than the paper's, at no more delay and no more loss.
    #[serde(rename = "better than the paper")]
    Better,
    /// A test shows the mechanism.
    Tested,
    /// The runs do not decide: the 95 % interval of the mean holds the limit.
    #[serde(rename = "undecided", alias = "open")]
    Open,
    /// The mean lies in the range and too few runs do: the runs inside and outside are of two kinds.
    #[serde(rename = "not reproduced (two kinds of runs)", alias = "not reproduced (runs scatter)")]
    TwoKinds,
    /// The mean does not keep to the limit, or a run has no value. Of a claim, the mean lies outside of the range, or
    /// the order does not hold.
    #[serde(rename = "not reproduced", alias = "missed")]
    Missed,
    /// The check applies in no run.
    NotAsked,
    /// The omniscient sender misses the check at all of its operating points, and no controller exceeds that sender in
    /// this case.
    BeyondPhysics,
    /// The omniscient sender misses the check at all of its operating points and is known to be no bound there. Some
    /// controller exceeds it, or none was compared with it.
    NoBoundKnown,
    /// The check is a rate, in a case with the check `useful`.
    Shown,
    /// There is nothing to measure, in no run of the omniscient sender at any of its operating points. Of a case, some
    /// check has nothing to measure, or no check counts.
    NotJudged,
}

impl Verdict {
    /// Verdicts on claims.
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
            Self::NotAsked => "not-asked",
            Self::BeyondPhysics => "beyond-physics",
            Self::NoBoundKnown => "no-bound-known",
            Self::Shown => "shown",
            Self::NotJudged => "not-judged",
        }
    }

    /// Whether the claim or check is met.
    pub const fn is_met(self) -> bool {
        matches!(self, Self::Passed | Self::Better | Self::Tested)
    }

    /// Sign of the verdict in tables.
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
}
