//! Comparison of claims with earlier verdicts, to find claims that are no longer met.

use super::results::ClaimResult;
use crate::judge::Verdict;
use crate::judge::baseline::{Direction, changed};
use crate::judge::saved::SavedStudy;

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

/// Claims that were met in `before` and are not met in `results`. Rows (`PAPER/ROW`) count if they are `is_requested`
/// for, whether they still exist or not.
pub fn lost(
    before: &SavedStudy,
    is_requested: impl Fn(&str) -> bool,
    results: &[ClaimResult],
) -> Vec<LostClaim> {
    let claims = results.iter().map(|claim| (claim.id.clone(), claim.verdict));
    let now = SavedStudy::with_verdicts("this run", claims);
    let requested = before.values().filter(|(row, ..)| is_requested(&row.name));
    let lost = requested.filter_map(|(row, controller, was)| {
        let is = now.value(&row.name, controller, &was.name);
        // A claim that no row has any more is not met.
        let is_worse = is.map_or(was.is_met, |is| changed(was, is).0 == Some(Direction::Worse));
        let id = || format!("{}/{}", row.name, was.name);
        is_worse.then(|| LostClaim { id: id(), was: was.verdict, is: is.map(|is| is.verdict) })
    });
    lost.collect()
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
        let read = || SavedStudy::of_claims(&path);
        let of_row = || lost(&read().unwrap(), |row| row == "paper/row", &now);
        let of = |id: &str, was, is| LostClaim { id: format!("paper/row/{id}"), was, is };
        let expected =
            [of("other", Verdict::Passed, Some(Verdict::TwoKinds)), of("gone", Verdict::Tested, None)];
        assert_eq!(of_row(), expected);
        // The lost claims include those of a row that has been removed.
        let all = lost(&read().unwrap(), |_| true, &now);
        assert_eq!(all.last().map(|lost| (lost.id.as_str(), lost.is)), Some(("paper/unasked/a", None)));

        // The output of `--json` has the claims and other keys.
        fs::write(&path, format!(r#"{{ "provenance": {{ "weir": "1" }}, "claims": {then} }}"#)).unwrap();
        assert_eq!(of_row(), expected);
        let changed = r#"{ "provenance": { "changed": ["duration=1s"] }, "claims": [] }"#;
        fs::write(&path, changed).unwrap();
        let error = read().unwrap_err().to_string();
        assert!(error.contains("its rows were changed by `--set`"), "{error}");
        fs::write(&path, "{}").unwrap();
        assert!(read().is_err());
        fs::write(&path, "[{}]").unwrap();
        let error = read().unwrap_err().to_string();
        assert!(error.contains("base.json") && error.contains("missing field `id`"), "{error}");
    }
}
