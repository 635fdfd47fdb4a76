//! Comparison of claims with earlier verdicts, to find claims that are no longer met.

use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use super::results::ClaimResult;
use crate::judge::Verdict;
use crate::judge::baseline::{BaselineError, Direction, Entry, changed};
use weir_form::{MOST_PRINTED, text_of};

/// Verdicts of an earlier run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerdictBaseline(Vec<EarlierClaim>);

/// Claim of the earlier run; only these keys of the file are read.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
struct EarlierClaim {
    id: String,
    verdict: Verdict,
}

/// Claim that was met and is no longer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostClaim {
    /// `PAPER/ROW/CLAIM`.
    pub id: String,
    /// Earlier verdict.
    pub was: Verdict,
    /// Present verdict, or `None` if no row has the claim any more.
    pub is: Option<Verdict>,
}

impl VerdictBaseline {
    /// Reads the claims of a file: the output of `--json`, or an array with an object for each claim. Only `id` and
    /// `verdict` are read.
    ///
    /// # Errors
    /// The file cannot be read, has no verdicts, or is of changed rows.
    pub fn read(path: &Path) -> Result<Self, BaselineError> {
        let error = |problem: String| BaselineError::Claims { path: path.display().to_string(), problem };
        let text = text_of(path, MOST_PRINTED).map_err(|source| error(source.to_string()))?;
        let mut whole: Value = serde_json::from_str(&text).map_err(|source| error(source.to_string()))?;
        if whole.pointer("/provenance/changed").is_some() {
            return Err(error("its rows were changed by `--set`".to_owned()));
        }
        let claims = whole.get_mut("claims").map(Value::take).unwrap_or(whole);
        serde_json::from_value(claims).map(Self).map_err(|source| error(source.to_string()))
    }

    /// Claims that were met and are not met in `results`. Rows (`PAPER/ROW`) count if they are `is_requested` for, whether
    /// they still exist or not.
    pub fn lost(&self, is_requested: impl Fn(&str) -> bool, results: &[ClaimResult]) -> Vec<LostClaim> {
        let lost = |EarlierClaim { id, verdict }: &EarlierClaim| {
            let now = results.iter().find(|result| result.id == *id).map(|result| result.verdict);
            let of = |verdict: Verdict| Entry::of_verdict(verdict.is_met());
            // A claim that no row has any more is not met.
            let now_is = now.map_or(Entry::of_verdict(false), of);
            let requested = id.rsplit_once('/').is_some_and(|(row, _)| is_requested(row));
            let is_worse = changed(&of(*verdict), &now_is).0 == Some(Direction::Worse);
            (requested && is_worse).then(|| LostClaim { id: id.clone(), was: *verdict, is: now })
        };
        self.0.iter().filter_map(lost).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::experiments::Class;

    fn result(id: &str, verdict: Verdict) -> ClaimResult {
        ClaimResult::unmeasured(id, Class::Num, verdict)
    }

    #[test]
    fn a_claim_met_before_and_missed_now_is_lost() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("base.json");
        let then = r#"[
            { "id": "paper/row/kept", "verdict": "reproduced" },
            { "id": "paper/row/other", "verdict": "reproduced", "row": "paper/row" },
            { "id": "paper/row/open", "verdict": "undecided" },
            { "id": "paper/row/gone", "verdict": "tested" },
            { "id": "paper/unasked/a", "verdict": "reproduced" }
        ]"#;
        fs::write(&path, then).unwrap();
        let now = [
            result("paper/row/kept", Verdict::Better),
            result("paper/row/other", Verdict::TwoKinds),
            result("paper/row/open", Verdict::Missed),
        ];
        let lost = VerdictBaseline::read(&path).unwrap().lost(|row| row == "paper/row", &now);
        let of = |id: &str, was, is| LostClaim { id: format!("paper/row/{id}"), was, is };
        let expected =
            [of("other", Verdict::Passed, Some(Verdict::TwoKinds)), of("gone", Verdict::Tested, None)];
        assert_eq!(lost, expected);
        // The lost claims include those of a row that has been removed.
        let all = VerdictBaseline::read(&path).unwrap().lost(|_| true, &now);
        assert_eq!(all.last().map(|lost| (lost.id.as_str(), lost.is)), Some(("paper/unasked/a", None)));

        // The output of `--json` has the claims and other keys.
        fs::write(&path, format!(r#"{{ "provenance": {{ "weir": "1" }}, "claims": {then} }}"#)).unwrap();
        assert_eq!(VerdictBaseline::read(&path).unwrap().lost(|row| row == "paper/row", &now), expected);
        let changed = r#"{ "provenance": { "changed": ["duration=1s"] }, "claims": [] }"#;
        fs::write(&path, changed).unwrap();
        let error = VerdictBaseline::read(&path).unwrap_err().to_string();
        assert!(error.contains("its rows were changed by `--set`"), "{error}");
        fs::write(&path, "{}").unwrap();
        assert!(VerdictBaseline::read(&path).is_err());
        fs::write(&path, "[{}]").unwrap();
        let error = VerdictBaseline::read(&path).unwrap_err().to_string();
        assert!(error.contains("base.json") && error.contains("missing field `id`"), "{error}");
    }
}
