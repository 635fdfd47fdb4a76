//! Results of a suite (`suite::results`).

use super::*;
use crate::judge::saved::SavedValue;
use crate::suite::{Check, Quantity};

#[test]
fn a_figure_has_the_decimals_that_its_limit_asks_for() {
    assert_eq!(figure(Some(92.6), Some(2.4), 80.0, "%"), "93 ± 2 %");
    assert_eq!(figure(Some(7.25), None, 15.0, "s"), "7.2 s");
    assert_eq!(figure(Some(0.9), Some(0.125), 0.75, ""), "0.90 ± 0.12");
    assert_eq!(figure(None, None, 80.0, "%"), "–");
}

fn result(limit: Limit, values: &[f64]) -> CheckResult {
    let check = Check { limit, ..Check::of(Quantity::Rate, limit.value()) };
    CheckResult::new(&check, values.iter().copied().map(Some).collect())
}

fn case(checks: Vec<CheckResult>) -> ControllerResult {
    ControllerResult { name: "gcc".to_owned(), controller: "gcc".to_owned(), checks, viewed: Vec::new() }
}

#[test]
fn a_check_is_open_while_the_interval_of_its_mean_holds_the_limit() {
    let verdict = |values: &[f64]| result(Limit::AtLeast(80.0), values).verdict();
    // 82 ± 2.48 and 78 ± 2.48 (t = 4.3027, s = 1), on either side; 84 ± 2.48 is clear of it.
    assert_eq!(verdict(&[81.0, 82.0, 83.0]), Verdict::Open);
    assert_eq!(verdict(&[77.0, 78.0, 79.0]), Verdict::Open);
    assert_eq!(verdict(&[83.0, 84.0, 85.0]), Verdict::Passed);
    assert_eq!(verdict(&[75.0, 76.0, 77.0]), Verdict::Missed);
    assert_eq!((verdict(&[81.0]), verdict(&[79.0])), (Verdict::Passed, Verdict::Missed), "one run");
    assert_eq!(verdict(&[80.0, 80.0]), Verdict::Passed, "exactly at the limit it keeps to it");
    let mut lost = result(Limit::AtLeast(80.0), &[90.0, 91.0]);
    assert_eq!(lost.verdict(), Verdict::Passed);
    lost = CheckResult { mean: None, passed: false, ..lost };
    assert_eq!(lost.verdict(), Verdict::Missed);
}

#[test]
fn a_check_that_one_run_cannot_measure_has_no_mean_and_is_not_passed() {
    let check = Check::of(Quantity::Rate, 80.0);
    let of = |values: &[Value]| CheckResult::new(&check, values.to_vec());
    let lacking = of(&[Some(90.0), None, Some(91.0)]);
    assert_eq!(
        (lacking.mean, SavedValue::from(&lacking).lacking(), lacking.verdict()),
        (None, 1, Verdict::Missed)
    );
    // If the check applies in the other runs alone, these have a mean.
    let applicable =
        CheckResult::applicable(&check, vec![Some(90.0), None, Some(91.0)], &[true, false, true]);
    assert_eq!(
        (applicable.mean, SavedValue::from(&applicable).lacking(), applicable.verdict()),
        (Some(90.5), 0, Verdict::Passed)
    );
}

#[test]
fn a_case_is_what_its_worst_check_is_and_shows_its_margin_and_the_points_of_each_missed_check() {
    let sure = result(Limit::AtLeast(80.0), &[80.2; 3]);
    let open = result(Limit::AtMost(100.0), &[84.0, 85.0, 96.0]);
    let missed = CheckResult { name: "loss".to_owned(), ..result(Limit::AtMost(2.0), &[2.5, 2.5, 2.5]) };
    let low = CheckResult { name: "useful".to_owned(), ..result(Limit::AtLeast(70.0), &[42.0; 3]) };
    let two = case(vec![sure.clone(), open.clone()]);
    assert_eq!((two.verdict(), two.deciding()), (Verdict::Open, Some(&open)), "though the other is nearer");
    assert_eq!((two.in_words().as_str(), two.margin()), ("1.00 rate 88 %", Some(1.0)));
    let four = case(vec![sure, open, missed, low]);
    assert_eq!(four.verdict(), Verdict::Missed);
    // 42 of 70 is less than 2 of 2.5.
    assert_eq!(four.in_words(), "0.60 useful 42 % (28 below), loss 2.50 % (0.50 above)");
    let nothing = case(Vec::new());
    assert_eq!((nothing.verdict(), nothing.in_words().as_str()), (Verdict::NotJudged, "not judged"));
    assert_eq!(nothing.margin(), None);
    assert_eq!(result(Limit::AtLeast(80.0), &[]).margin(), 0.0, "without a value there is none");
}

#[test]
fn a_suite_has_the_mean_margin_of_the_cases_that_are_judged_and_the_mean_overhead() {
    let suite = |cases: Vec<ControllerResult>| SuiteResult {
        suite: "own".to_owned(),
        seeds: vec![1],
        skip_rule: String::new(),
        cases: cases
            .into_iter()
            .map(|own| CaseResult {
                name: "a".to_owned(),
                title: String::new(),
                swept: None,
                traces: Vec::new(),
                controllers: vec![own],
                ranking: None,
                omniscient: None,
            })
            .collect(),
    };
    let overhead = |percent: f64| Viewed { overhead_percent: Some(percent), ..Viewed::default() };
    let kept =
        ControllerResult { viewed: vec![overhead(4.0)], ..case(vec![result(Limit::AtLeast(80.0), &[90.0])]) };
    let half =
        ControllerResult { viewed: vec![overhead(8.0)], ..case(vec![result(Limit::AtLeast(80.0), &[40.0])]) };
    let result = suite(vec![kept, half, case(Vec::new())]);
    assert_eq!((result.margin(0), result.overhead(0)), (Some(0.75), Some(6.0)));
    let totals = result.totals().into_iter().map(|(label, figures)| format!("{label} {}", figures[0]));
    let expected = ["passed 1 of 3", "open 0 of 3", "margin 0.750", "overhead 6.0 %"];
    assert_eq!(totals.collect::<Vec<_>>(), expected);
}

#[test]
fn a_case_with_a_check_of_which_there_is_nothing_to_measure_is_none_that_passed() {
    let void = |name: &str, why| {
        let own = CheckResult { name: name.to_owned(), ..result(Limit::AtLeast(80.0), &[]) };
        own.unless(&[(name, why)])
    };
    let kept = result(Limit::AtLeast(80.0), &[90.0; 2]);
    let missed = result(Limit::AtLeast(80.0), &[70.0; 2]);
    let verdict_in_words =
        |checks: Vec<CheckResult>| (case(checks.clone()).verdict(), case(checks).in_words());
    let unmeasured = || vec![void("useful", Verdict::NotJudged), void("Jain", Verdict::NotJudged)];
    let sentence = "not judged: nothing to measure of useful, Jain".to_owned();
    assert_eq!(
        verdict_in_words([unmeasured(), vec![kept.clone()]].concat()),
        (Verdict::NotJudged, sentence.clone())
    );
    assert_eq!(verdict_in_words(unmeasured()), (Verdict::NotJudged, sentence));
    assert_eq!(verdict_in_words([unmeasured(), vec![missed]].concat()).0, Verdict::Missed);
    let beyond = void("loss", Verdict::Unattainable);
    assert_eq!(
        verdict_in_words(vec![beyond.clone(), kept]).0,
        Verdict::Passed,
        "no controller has to meet it"
    );
    let sentence = "not judged: loss beyond physics; useful not applicable".to_owned();
    assert_eq!(
        verdict_in_words(vec![beyond, void("useful", Verdict::NotApplicable)]),
        (Verdict::NotJudged, sentence)
    );
}

#[test]
fn the_file_has_the_verdict_of_a_check_as_a_string() {
    let check = Check::of(Quantity::Rate, 80.0);
    let word = |result: &CheckResult| {
        let saved = serde_json::to_value(result).unwrap();
        assert_eq!(serde_json::from_value::<SavedValue>(saved.clone()).unwrap(), SavedValue::from(result));
        saved["verdict"].as_str().unwrap().to_owned()
    };
    let of = |values: &[f64]| CheckResult::new(&check, values.iter().copied().map(Some).collect());
    assert_eq!(word(&of(&[84.0, 84.0])), "passed");
    assert_eq!(word(&of(&[81.0, 82.0, 83.0])), "open");
    assert_eq!(word(&of(&[70.0, 70.0])), "missed");
    assert_eq!(word(&CheckResult::applicable(&check, vec![None, None], &[false; 2])), "not-asked");
    assert_eq!(word(&of(&[70.0, 70.0]).unless(&[("rate", Verdict::Unattainable)])), "beyond-physics");
    assert_eq!(word(&of(&[70.0, 70.0]).unless(&[("rate", Verdict::NoBoundKnown)])), "no-bound-known");
    assert_eq!(word(&of(&[70.0, 70.0]).unless(&[("rate", Verdict::Shown)])), "shown");
    assert_eq!(word(&of(&[]).unless(&[("rate", Verdict::NotJudged)])), "not-judged");
}

#[test]
fn a_note_gives_the_mean_of_each_of_two_kinds_of_runs() {
    let mut values = vec![100.0; 7];
    values.extend([40.0; 3]);
    let check = result(Limit::AtLeast(80.0), &values);
    let own = case(vec![check.clone()]);
    assert_eq!(own.verdict(), Verdict::Open, "82 ± 21");
    assert_eq!(own.in_words(), "1.00 rate 82 %; two kinds: 40 (3), 100 (7); spread: 40 to 100");
    assert!(check.in_words().starts_with("rate 82 ± 21 %; two kinds"), "{}", check.in_words());
}
