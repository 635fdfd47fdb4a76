//! Requirements on a suite's run: cases that have to pass, and their number.

use weir_study::judge::Verdict;
use weir_study::suite::{CaseResult, ControllerResult, Suite, SuiteResult};

use crate::args::GateArgs;
use crate::effective::each_once;
use crate::failure::Failure;

/// Requirements on every controller.
#[derive(Debug)]
pub(super) struct Gates<'a> {
    required: Vec<&'a str>,
    min_passed: Option<usize>,
    allow_open: bool,
}

impl<'a> Gates<'a> {
    /// The gates of `args`, for a run of the cases `selected` of `suite`, of all if there are none, each at so
    /// many `places` of a sweep.
    ///
    /// # Errors
    /// A case that the suite or the run does not have, more cases than there are, or `--allow-open` without requirements.
    pub(super) fn of(
        args: &'a GateArgs,
        suite: &Suite,
        selected: &[&str],
        places: usize,
    ) -> Result<Self, Failure> {
        let required = each_once(&args.require);
        super::unknown_cases("--require", suite, &required)?;
        let left_out = |name: &&&str| !selected.is_empty() && !selected.contains(name);
        if let Some(name) = required.iter().find(left_out) {
            let problem = format!("this case is not run; name it after --case, too: {}", selected.join(","));
            return Err(Failure::Option { option: format!("--require {name}"), problem });
        }
        let cases = places * if selected.is_empty() { suite.cases.len() } else { selected.len() };
        let min_passed = args.min_passed.map(|least| least as usize);
        if let Some(least) = min_passed.filter(|&least| least > cases) {
            let problem = format!("{cases} of the suite's cases are run; write that or less");
            return Err(Failure::Option { option: format!("--min-passed {least}"), problem });
        }
        let allow_open = args.allow_open;
        if allow_open && required.is_empty() && min_passed.is_none() {
            let problem = "nothing is required; add --require or --min-passed".to_owned();
            return Err(Failure::Option { option: "--allow-open".to_owned(), problem });
        }
        Ok(Self { required, min_passed, allow_open })
    }

    /// A line for each requirement that `result` misses.
    pub(super) fn missed(&self, result: &SuiteResult) -> Vec<String> {
        let mut missed = Vec::new();
        for case in result.cases.iter().filter(|case| self.required.contains(&case.of_suite())) {
            let open = case.controllers.iter().filter(|own| !self.passes(own));
            missed.extend(open.map(|own| required_in_words(case, own)));
        }
        let Some(least) = self.min_passed else { return missed };
        for (index, name) in result.controllers().enumerate() {
            let judged = || result.cases.iter().filter_map(|case| case.controllers.get(index));
            let count = |verdict| judged().filter(|own| own.verdict() == verdict).count();
            let (passed, open) = (count(Verdict::Passed), count(Verdict::Open));
            let not_judged = match count(Verdict::NotJudged) {
                0 => String::new(),
                count => format!(", {count} not judged"),
            };
            if passed + if self.allow_open { open } else { 0 } < least {
                let cases = result.cases.len();
                missed.push(format!(
                    "missed: --min-passed {least}: {name} passed {passed} of {cases}, {open} open{not_judged}"
                ));
            }
        }
        missed
    }

    fn passes(&self, result: &ControllerResult) -> bool {
        match result.verdict() {
            Verdict::Open => self.allow_open,
            // Without any verdict, nothing is shown either.
            verdict => verdict.is_met(),
        }
    }
}

fn required_in_words(case: &CaseResult, own: &ControllerResult) -> String {
    if own.verdict() == Verdict::NotJudged {
        let unmeasured = own.void(Verdict::NotJudged).join(", ");
        let why = if !unmeasured.is_empty() {
            format!("as its runs leave nothing to measure of {unmeasured}; let them last longer")
        } else if own.void(Verdict::Unattainable).is_empty() {
            "as not even the omniscient sender gets enough there in time; ask for something else".to_owned()
        } else {
            "as even the omniscient sender keeps to none of its limits; loosen them".to_owned()
        };
        return format!("missed: --require {}: {} cannot be judged, {why}", case.name, own.name);
    }
    let mark = own.verdict().mark();
    format!("missed: --require {}: {} {mark} {}", case.name, own.name, own.in_words())
}
