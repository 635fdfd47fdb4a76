//! Overview of each paper: claims met by class, rows, and claims for which the paper prints a number.

use serde::Serialize;

use super::claim::{Class, Reported};
use super::results::{Basis, ClaimResult, Count, counts};
use crate::judge::Verdict;

/// Greatest relative difference between a measured number and the paper's that counts as near.
const NEAR_SHARE: f64 = 0.2;

/// Summary of a paper. Claims that are reported beside others are not counted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PaperSummary {
    /// Name of the paper.
    pub paper: String,
    /// Counts of its claims by class and basis.
    pub classes: Vec<Count>,
    /// Counts of its rows.
    pub rows: RowCount,
    /// Counts of its claims with a number of the paper.
    pub numbers: NumberCount,
}

/// Counts of rows by how many of their claims are met.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RowCount {
    /// Number of rows with all claims met.
    pub whole: usize,
    /// Number of rows with some claims met.
    pub in_part: usize,
    /// Number of rows with no claim met.
    pub none: usize,
}

/// Counts of claims of class `NUM` for which the paper prints a number; derived numbers are left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct NumberCount {
    /// Number of claims.
    pub claims: usize,
    /// Number of claims met.
    pub met: usize,
    /// Number of claims whose mean differs from the paper's number by at most 20 % of it.
    pub within_20_percent: usize,
}

/// Table of texts; the first column has the names of the rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WordTable {
    /// Heads of the columns after the names.
    pub head: Vec<String>,
    /// Names, each with its cells.
    pub rows: Vec<(String, Vec<String>)>,
}

/// Summary of each paper, in the order of `results`.
pub fn summary(results: &[ClaimResult]) -> Vec<PaperSummary> {
    let of_paper = |claims: &[ClaimResult]| PaperSummary {
        paper: claims[0].paper().to_owned(),
        classes: counts(claims),
        rows: RowCount::of(claims),
        numbers: NumberCount::of(claims),
    };
    results.chunk_by(|a, b| a.paper() == b.paper()).map(of_paper).collect()
}

impl RowCount {
    fn of(results: &[ClaimResult]) -> Self {
        let mut count = Self::default();
        for row in results.chunk_by(|a, b| a.row == b.row) {
            let counted = || row.iter().filter(|claim| !claim.beside);
            let (all, met) = (counted().count(), counted().filter(|claim| claim.verdict.is_met()).count());
            match met {
                _ if all == 0 => {}
                0 => count.none += 1,
                met if met == all => count.whole += 1,
                _ => count.in_part += 1,
            }
        }
        count
    }
}

impl NumberCount {
    fn of(results: &[ClaimResult]) -> Self {
        let mut count = Self::default();
        for claim in
            results.iter().filter(|claim| claim.class == Class::Num && !claim.beside && !claim.derived)
        {
            let Some(Reported::Value(paper)) = claim.reported else { continue };
            count.claims += 1;
            count.met += usize::from(claim.verdict.is_met());
            let ours = claim.measured.and_then(|measured| measured.mean);
            let is_near = |ours: f64| (ours - paper).abs() <= NEAR_SHARE * paper.abs();
            count.within_20_percent += usize::from(ours.is_some_and(is_near));
        }
        count
    }
}

/// Claims met over all claims, by paper and class, with the rows of each paper; several papers have a sum.
pub fn classes_in_words(papers: &[PaperSummary]) -> WordTable {
    let mut kinds: Vec<(Class, Basis)> =
        papers.iter().flat_map(|paper| &paper.classes).map(|count| (count.class, count.basis)).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let kind_in_words = |(class, basis): &(Class, Basis)| match basis {
        Basis::Validation => class.name().to_owned(),
        Basis::Derived | Basis::Calibration => format!("{}, {}", class.name(), basis.words()),
    };
    let rest = ["undecided", "two kinds", "not reproduced", "rows whole", "in part", "none"];
    let head = kinds.iter().map(kind_in_words).chain(rest.map(str::to_owned)).collect();
    let row = |name: &str, papers: &[PaperSummary]| {
        let counts = || papers.iter().flat_map(|paper| &paper.classes);
        let of_kind = |kind: &(Class, Basis)| {
            let own = || counts().filter(|count| (count.class, count.basis) == *kind);
            let (met, all): (usize, usize) = (own().map(Count::met).sum(), own().map(Count::claims).sum());
            if all == 0 { "–".to_owned() } else { format!("{met}/{all}") }
        };
        let number_of = |verdict| counts().map(|count| count.of(verdict)).sum::<usize>();
        let rows = |of: fn(&RowCount) -> usize| papers.iter().map(|paper| of(&paper.rows)).sum::<usize>();
        let numbers = [
            number_of(Verdict::Open),
            number_of(Verdict::TwoKinds),
            number_of(Verdict::Missed),
            rows(|rows| rows.whole),
            rows(|rows| rows.in_part),
            rows(|rows| rows.none),
        ];
        let cells = kinds.iter().map(of_kind).chain(numbers.map(|number| number.to_string()));
        (name.to_owned(), cells.collect())
    };
    WordTable { head, rows: with_sum(papers, row) }
}

/// Counts of claims with a number of the paper: how many are met, and how many means are near the number.
pub fn numbers_in_words(papers: &[PaperSummary]) -> WordTable {
    let row = |name: &str, papers: &[PaperSummary]| {
        let sum =
            |of: fn(&NumberCount) -> usize| papers.iter().map(|paper| of(&paper.numbers)).sum::<usize>();
        let all = sum(|numbers| numbers.claims);
        let of_all = |count: usize| match (100 * count + all / 2).checked_div(all) {
            None => "–".to_owned(),
            Some(percent) => format!("{count} ({percent} %)"),
        };
        let (met, near) = (sum(|numbers| numbers.met), sum(|numbers| numbers.within_20_percent));
        (name.to_owned(), vec![all.to_string(), of_all(met), of_all(near)])
    };
    let head = ["claims with a number", "in range", "within 20 %"].map(str::to_owned).into();
    WordTable { head, rows: with_sum(papers, row) }
}

fn with_sum(
    papers: &[PaperSummary],
    row: impl Fn(&str, &[PaperSummary]) -> (String, Vec<String>),
) -> Vec<(String, Vec<String>)> {
    let mut rows: Vec<_> =
        papers.iter().map(|paper| row(&paper.paper, std::slice::from_ref(paper))).collect();
    if papers.len() > 1 {
        rows.push(row("all", papers));
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::MeasuredPlace;

    /// A claim with a value of the paper and the measured one.
    fn number(id: &str, verdict: Verdict, paper: f64, ours: Option<f64>) -> ClaimResult {
        let measured = MeasuredPlace { mean: ours, ci95: None, runs: 1, kinds: None };
        let reported = Some(Reported::Value(paper));
        ClaimResult { reported, measured: Some(measured), ..ClaimResult::unmeasured(id, Class::Num, verdict) }
    }

    /// Claims of two rows, with each kind of result.
    fn all() -> Vec<ClaimResult> {
        use Verdict::{Missed, Open, Passed};
        let words = ClaimResult {
            reported: Some(Reported::Words("more".to_owned())),
            ..number("one/a/words", Passed, 0.0, Some(1.0))
        };
        vec![
            number("one/a/near", Passed, 10.0, Some(12.0)),
            number("one/a/far", Passed, 10.0, Some(12.1)),
            words,
            number("one/b/missed", Missed, -10.0, Some(-9.0)),
            number("one/b/none", Missed, 10.0, None),
            ClaimResult::unmeasured("one/c/order", Class::Exact, Passed),
            ClaimResult::unmeasured("one/c/open", Class::Exact, Open),
            // A derived value is no number of the paper, and a claim reported beside others is not counted.
            ClaimResult { derived: true, ..number("two/a/derived", Passed, 1.0, Some(1.0)) },
            ClaimResult { beside: true, ..number("two/a/beside", Missed, 1.0, Some(1.0)) },
            ClaimResult { beside: true, ..number("two/b/alone", Missed, 1.0, Some(1.0)) },
        ]
    }

    #[test]
    fn rows_are_whole_in_part_or_not_met_and_numbers_are_compared_with_the_papers() {
        let [one, two] = summary(&all()).try_into().unwrap();
        assert_eq!(one.rows, RowCount { whole: 1, in_part: 1, none: 1 });
        assert_eq!(one.numbers, NumberCount { claims: 4, met: 2, within_20_percent: 2 });
        assert_eq!(two.rows, RowCount { whole: 1, in_part: 0, none: 0 });
        assert_eq!(two.numbers, NumberCount::default());
    }

    #[test]
    fn several_papers_have_a_sum() {
        let papers = summary(&all());
        let table = classes_in_words(&papers);
        let head = ["NUM", "NUM, derived", "EXACT", "undecided", "two kinds", "not reproduced"];
        assert_eq!(table.head[..6], head);
        let row = |name: &str, cells: [&str; 9]| (name.to_owned(), cells.map(str::to_owned).to_vec());
        assert_eq!(
            table.rows,
            [
                row("one", ["3/5", "–", "1/2", "1", "0", "2", "1", "1", "1"]),
                row("two", ["–", "1/1", "–", "0", "0", "0", "1", "0", "0"]),
                row("all", ["3/5", "1/1", "1/2", "1", "0", "2", "2", "1", "1"]),
            ]
        );
        let numbers = numbers_in_words(&papers).rows;
        assert_eq!(numbers[0].1, ["4", "2 (50 %)", "2 (50 %)"]);
        assert_eq!(numbers[1].1, ["0", "–", "–"]);
        assert_eq!(classes_in_words(&papers[..1]).rows.len(), 1);
    }
}
