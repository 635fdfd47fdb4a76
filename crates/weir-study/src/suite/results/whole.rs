//! Result of a suite as a whole.

use super::{CaseResult, CheckResult, ControllerResult, SuiteResult, Verdict};
use crate::suite::drawn::DRAWN;
use weir_measure::results::stats::mean;
use weir_scenario::compile::{fallback_notes, titled};

impl SuiteResult {
    /// Names of the controllers.
    pub fn controllers(&self) -> impl Iterator<Item = &str> {
        self.cases
            .first()
            .into_iter()
            .flat_map(|case| case.controllers.iter().map(|controller| controller.name.as_str()))
    }

    /// Sentence for each trace that another replaced.
    pub fn fallback_notes(&self) -> Vec<String> {
        fallback_notes(self.cases.iter().flat_map(|case| &case.traces))
    }

    /// Title with a note if a trace was replaced.
    pub fn titled(&self, title: &str) -> String {
        titled(title, self.cases.iter().flat_map(|case| &case.traces))
    }

    /// Notes for the reader, a sentence for each: replaced traces, and excluded checks with the reason.
    pub fn notes(&self) -> Vec<String> {
        let name: fn(&CheckResult) -> String = |check| check.name.clone();
        let reasons = [
            (
                "Beyond physics, as the omniscient sender does not keep to it, and not counted",
                self.void(Verdict::Unattainable, CheckResult::in_short),
            ),
            (
                "No bound known, and not counted: the omniscient sender does not keep to it, and others may",
                self.void(Verdict::NoBoundKnown, CheckResult::in_short),
            ),
            (
                "Not applicable, as the omniscient sender gets less than a quarter of the frames there in time",
                self.void(Verdict::NotApplicable, name),
            ),
            (
                "Not judged, as the runs leave nothing to measure there, not even of the omniscient sender (rates, shares and \
                 frames count from 20 s on)",
                self.void(Verdict::NotJudged, name),
            ),
        ];
        let sentences = reasons.into_iter().filter(|(_, checks)| !checks.is_empty());
        let sentences = sentences.map(|(what, checks)| format!("{what}: {}.", checks.join("; ")));
        self.fallback_notes().into_iter().chain(sentences).collect()
    }

    /// Checks excluded for this reason, each after its case: `5.1 rate 79 %`.
    fn void(&self, why: Verdict, words: fn(&CheckResult) -> String) -> Vec<String> {
        let of_case = |case: &CaseResult| {
            let own = case.omniscient.iter().flat_map(|own| &own.checks);
            let void = own.filter(|check| check.void == Some(why));
            void.map(|check| format!("{} {}", case.name, words(check))).collect::<Vec<_>>()
        };
        self.cases.iter().flat_map(of_case).collect()
    }

    /// Mean margin of the controller at `index` over the judged cases, or `None` if no case is judged.
    pub fn margin(&self, index: usize) -> Option<f64> {
        let of_case = |case: &CaseResult| case.controllers.get(index)?.margin();
        mean(&self.cases.iter().filter_map(of_case).collect::<Vec<_>>())
    }

    /// Mean overhead of the controller at `index` over the cases, in per cent of the payload, or `None` if unknown.
    pub fn overhead(&self, index: usize) -> Option<f64> {
        let of_case = |case: &CaseResult| case.controllers.get(index)?.overhead();
        mean(&self.cases.iter().filter_map(of_case).collect::<Vec<_>>())
    }

    /// Rows below the matrix: a label, and a figure for each controller.
    pub fn totals(&self) -> Vec<(&'static str, Vec<String>)> {
        let (cases, controllers) = (self.cases.len(), self.controllers().count());
        let row = |of: &dyn Fn(usize) -> String| (0..controllers).map(of).collect();
        let shown =
            |value: Option<f64>, words: &dyn Fn(f64) -> String| value.map_or_else(|| "–".to_owned(), words);
        vec![
            ("passed", row(&|index| format!("{} of {cases}", self.count(index, Verdict::Passed)))),
            ("open", row(&|index| format!("{} of {cases}", self.count(index, Verdict::Open)))),
            ("margin", row(&|index| shown(self.margin(index), &|margin| format!("{margin:.3}")))),
            ("overhead", row(&|index| shown(self.overhead(index), &|percent| format!("{percent:.1} %")))),
        ]
    }

    /// Leading and recommended controllers of each case, in words: a row per case. Cases of a single controller have no
    /// row, nor have cases in which the runs do not decide.
    pub fn leaders(&self) -> Vec<[String; 3]> {
        let of_case = |case: &CaseResult| {
            let ranking = case.ranking.as_ref().filter(|ranking| ranking.can_tell())?;
            Some([case.name.clone(), ranking.leading.join(", "), ranking.recommended.join(", ")])
        };
        self.cases.iter().filter_map(of_case).collect()
    }

    /// Whether its cases were drawn by a seed, so that their names have no meaning.
    pub fn is_drawn(&self) -> bool {
        self.suite.strip_prefix(DRAWN).is_some_and(|seed| seed.starts_with('-'))
    }

    /// Number of cases in which `verdict` is that of the controller at `index`.
    pub fn count(&self, index: usize, verdict: Verdict) -> usize {
        let of_case = |case: &CaseResult| case.controllers.get(index).map(ControllerResult::verdict);
        self.cases.iter().filter(|&case| of_case(case) == Some(verdict)).count()
    }
}
