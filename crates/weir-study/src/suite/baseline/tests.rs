//! Comparison of a suite's result with an earlier one (`suite::baseline`).

use std::collections::BTreeMap;

use super::*;
use weir_scenario::registry::Registry;

fn compare(before: &SuiteResult, now: &SuiteResult) -> CheckChanges {
    super::compare(&before.into(), &now.into())
}

/// The result of a suite of one case and one check with these values, one per seed.
fn result(values: &[f64]) -> SuiteResult {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let check = CheckResult {
        name: "rate".to_owned(),
        unit: "%".to_owned(),
        of: None,
        limit: 80.0,
        higher_is_better: true,
        values: values.iter().map(|&v| Some(v)).collect(),
        mean: Some(mean),
        ci95: None,
        passed: mean >= 80.0,
        open: false,
        kinds: None,
        spread: None,
        void: None,
        verdict: None,
        less: BTreeMap::new(),
    };
    let (name, controller, viewed) = ("gcc".to_owned(), "gcc".to_owned(), Vec::new());
    let controllers = vec![ControllerResult { name, controller, checks: vec![check], viewed }];
    let case = CaseResult {
        name: "5.1".to_owned(),
        title: String::new(),
        swept: None,
        traces: Vec::new(),
        controllers,
        ranking: None,
        omniscient: None,
    };
    let (suite, skip_rule) = ("rfc8867".to_owned(), String::new());
    SuiteResult { suite, seeds: vec![1, 2, 3], skip_rule, cases: vec![case] }
}

fn direction(before: &[f64], now: &[f64]) -> Option<Direction> {
    compare(&result(before), &result(now)).changes.first().map(|change| change.direction)
}

#[test]
fn the_same_runs_are_no_change() {
    assert_eq!(direction(&[90.0, 91.0, 92.0], &[90.0, 91.0, 92.0]), None);
}

#[test]
fn agreement_of_all_seeds_is_a_change_and_scatter_is_none() {
    // Differences −2, −2.2, −1.8: half width 0.4968, and 2 is more than 1 % of 80.
    assert_eq!(direction(&[90.0, 95.0, 99.0], &[88.0, 92.8, 97.2]), Some(Direction::Worse));
    assert_eq!(direction(&[88.0, 92.8, 97.2], &[90.0, 95.0, 99.0]), Some(Direction::Better));
    assert_eq!(direction(&[90.0, 95.0, 99.0], &[88.0, 99.0, 96.0]), None);
}

#[test]
fn a_sure_change_of_next_to_nothing_is_none() {
    assert_eq!(direction(&[90.0, 95.0, 99.0], &[89.9, 94.9, 98.9]), None);
}

#[test]
fn to_fail_what_was_passed_is_worse_however_little_it_takes() {
    assert_eq!(direction(&[80.1, 80.0, 80.0], &[79.9, 80.0, 80.0]), Some(Direction::Worse));
    assert!(compare(&result(&[80.1; 3]), &result(&[79.9; 3])).has_regression());
}

fn left_out(changes: &CheckChanges) -> Vec<&str> {
    changes.not_compared_for(Unlike::OnlyOne).collect()
}

/// Result with `edit` applied to its first check.
fn with(mut result: SuiteResult, edit: impl Fn(&mut CheckResult)) -> SuiteResult {
    edit(&mut result.cases[0].controllers[0].checks[0]);
    result
}

#[test]
fn a_criterion_without_values_in_one_run_is_not_compared() {
    let (good, bad) = (result(&[90.0; 3]), result(&[10.0; 3]));
    for void in [Verdict::Unattainable, Verdict::NotApplicable] {
        let idle = |result: &SuiteResult| with(result.clone(), |check| check.void = Some(void));
        for (before, now) in [(&idle(&good), &bad), (&good, &idle(&bad)), (&idle(&good), &idle(&bad))] {
            let changes = compare(before, now);
            assert_eq!((changes.compared, changes.has_regression()), (0, false));
            assert_eq!(changes.not_compared, [("5.1/rate".to_owned(), Unlike::NotCounted)]);
        }
    }
}

#[test]
fn seeds_in_which_a_check_applies_in_both_are_compared() {
    let applicable = |values: [Option<f64>; 3]| {
        let known: Vec<f64> = values.iter().copied().flatten().collect();
        with(result(&known), |check| check.values = values.to_vec())
    };
    let before = applicable([Some(99.0), Some(95.0), None]);
    let direction = |now| compare(&before, &now).changes.first().map(|change| change.direction);
    // Differences -10, -10.2.
    assert_eq!(direction(applicable([Some(89.0), Some(84.8), None])), Some(Direction::Worse));
    assert_eq!(direction(applicable([Some(99.0), Some(95.0), None])), None);
    // A seed in which the check starts or ceases to apply is no effect of the controller.
    assert_eq!(direction(applicable([Some(99.0), Some(95.0), Some(81.0)])), None);
    assert_eq!(direction(applicable([Some(99.0), None, None])), None);
    let disjoint = compare(&before, &applicable([None, None, Some(81.0)]));
    assert_eq!((disjoint.changes, disjoint.compared), (Vec::new(), 1));
}

#[test]
fn a_queue_wait_without_that_at_the_sender_is_another_quantity() {
    let wait =
        |values: &[f64]| with(result(values), |check| check.name = Quantity::QueueWait.name().to_owned());
    let (before, now) = (wait(&[90.0; 3]), wait(&[70.0; 3]));
    let changes = compare(&before, &now);
    assert_eq!((changes.compared, changes.has_regression()), (0, false));
    assert_eq!(changes.not_compared, [("5.1/queue wait p95".to_owned(), Unlike::OtherQuantity)]);
    let mut of_today = before;
    of_today.cases[0].omniscient = Some(now.cases[0].controllers[0].clone());
    assert!(compare(&of_today, &now).has_regression());
}

#[test]
fn entries_of_one_run_alone_are_named() {
    let mut other = result(&[90.0; 3]);
    other.cases[0].controllers[0].name = "nada".to_owned();
    let changes = compare(&other, &result(&[90.0; 3]));
    assert_eq!(left_out(&changes), ["5.1/gcc", "5.1/nada"]);
    assert_eq!(changes.compared, 0);
    let mut other = result(&[90.0; 3]);
    other.cases[0].controllers[0].checks[0].name = "speed".to_owned();
    let changes = compare(&other, &result(&[90.0; 3]));
    assert_eq!(left_out(&changes), ["5.1/gcc/rate", "5.1/gcc/speed"]);
}

#[test]
fn to_have_no_value_any_longer_is_worse_though_it_failed_before() {
    let lacking = |values: [Option<f64>; 3]| {
        with(result(&[70.0; 3]), |check| {
            check.values = values.to_vec();
            check.mean = None;
        })
    };
    let (most, few) = (lacking([Some(70.0), None, Some(70.0)]), lacking([None, None, Some(70.0)]));
    let direction = |before, now| compare(before, now).changes.first().map(|change| change.direction);
    assert_eq!(direction(&most, &few), Some(Direction::Worse));
    assert_eq!(direction(&few, &most), Some(Direction::Better));
    assert_eq!(direction(&few, &few), None);
}

/// Error with which the saved `result` is refused as a base for gcc and nada in 5.1 over three seeds.
fn refusal(result: &SuiteResult) -> String {
    let file = tempfile::NamedTempFile::new().unwrap();
    serde_json::to_writer(&file, result).unwrap();
    let suite = crate::suite::find("rfc8867").unwrap();
    let controllers = &["gcc", "nada"].map(Candidate::named);
    let registry = &Registry::standard();
    let request = SuiteRequest { suite, registry, controllers, seeds: &[1, 2, 3], cases: &["5.1"] };
    let read = request.base(file.path(), &TraceStore::at(None));
    let error = read.err().map_or_else(String::new, |error| error.to_string());
    error.replace(&file.path().display().to_string(), "base")
}

#[test]
fn a_base_has_the_checks_of_the_run_for_each_seed() {
    let edited = |edit: fn(&mut CheckResult)| refusal(&with(result(&[90.0; 3]), edit));
    assert_eq!(edited(|_| {}), "");
    assert_eq!(
        edited(|check| check.values.truncate(2)),
        "base: 5.1/gcc/rate: has values for 2 runs of 3; `--save` writes one for each"
    );
    assert_eq!(
        edited(|check| check.limit = 70.0),
        "base: 5.1/gcc/rate: was saved with the limit at least 70 %, which is at least 80 % now; save it anew"
    );
    assert!(edited(|check| check.higher_is_better = false).contains("at most 80 %"));
    assert!(edited(|check| check.unit.clear()).contains("the limit at least 80, which"));
}

#[test]
fn a_base_has_something_to_compare_with() {
    let none = "base: has no check of the cases and controllers of this run; it has ";
    let mut other = result(&[90.0; 3]);
    other.cases[0].controllers[0].name = "scream".to_owned();
    assert_eq!(refusal(&other), format!("{none}5.1 under scream"));
    other.cases[0].name = "5.2".to_owned();
    other.cases[0].controllers[0].name = "gcc".to_owned();
    assert_eq!(refusal(&other), format!("{none}5.2 under gcc"));
    other.cases[0].controllers[0].checks.clear();
    assert_eq!(refusal(&other), format!("{none}5.2 under gcc"));
    other.cases.clear();
    assert_eq!(refusal(&other), format!("{none}no cases"));
}

#[test]
fn a_base_ran_over_the_same_traces() {
    let mut other = result(&[90.0; 3]);
    let (link, wanted, used) = ("radio".to_owned(), "train".to_owned(), "synthetic-lte".to_owned());
    other.cases[0].traces = vec![TraceUse { link, wanted, used }];
    assert_eq!(
        refusal(&other),
        "base: 5.1 was saved with `synthetic-lte` on radio, and this run has no traces; the traces of --data have to \
         be the same"
    );
}

#[test]
fn a_check_that_stands_twice_in_a_base_is_refused() {
    let mut twice = result(&[90.0; 3]);
    let controllers = &mut twice.cases[0].controllers;
    controllers.push(controllers[0].clone());
    assert_eq!(refusal(&twice), "base: 5.1/gcc/rate: stands there twice; leave one of both");
}

/// Keys of all objects in `of`, each below the key of its object.
fn keys(of: &serde_json::Value, below: &str, found: &mut BTreeSet<String>) {
    match of {
        serde_json::Value::Array(items) => items.iter().for_each(|item| keys(item, below, found)),
        serde_json::Value::Object(table) => table.iter().for_each(|(key, value)| {
            found.insert(format!("{below}.{key}"));
            keys(value, key, found);
        }),
        _ => {}
    }
}

#[test]
fn a_result_that_version_0_2_saved_is_read_and_its_keys_are_those_of_today() {
    let saved = include_str!("saved-0.2.0.json");
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(&file, saved).unwrap();
    let read = SavedStudy::of_suite(file.path()).unwrap();
    assert_eq!(compare_saved(&read, &read).unwrap().changes, []);
    let whole: serde_json::Value = serde_json::from_str(saved).unwrap();
    let mut words = Vec::new();
    for case in whole["cases"].as_array().unwrap() {
        for own in case["controllers"].as_array().unwrap() {
            words.extend(own["checks"].as_array().unwrap().iter().map(|check| check["verdict"].clone()));
        }
    }
    let in_words = |(.., check): (&SavedCase, &str, &SavedValue)| {
        if check.counts { serde_json::Value::from(check.verdict.check_name()) } else { "not counted".into() }
    };
    let own: Vec<serde_json::Value> = read.values().map(in_words).collect();
    let counting = own.iter().zip(&words).filter(|(own, _)| **own != "not counted");
    assert!(counting.clone().count() > 0 && counting.clone().all(|(own, saved)| own == saved), "{words:?}");

    let (mut then, mut now) = (BTreeSet::new(), BTreeSet::new());
    let whole_of_today: serde_json::Value =
        serde_json::from_str(&saved.replace("\"law\":", "\"controller\":")).unwrap();
    keys(&whole_of_today, "", &mut then);
    let mut full = result(&[90.0; 3]);
    full.skip_rule = "never".to_owned();
    let case = &mut full.cases[0];
    case.controllers[0].checks[0].void = Some(Verdict::Shown);
    case.controllers[0].viewed = vec![super::super::results::Viewed::default()];
    case.omniscient = Some(case.controllers[0].clone());
    keys(&serde_json::to_value(&full).unwrap(), "", &mut now);
    let lost: Vec<&String> = then.difference(&now).collect();
    assert_eq!(lost, [""; 0], "keys of saved results stay");
}
