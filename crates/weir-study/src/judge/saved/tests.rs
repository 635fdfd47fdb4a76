//! Saved studies of either kind, and files that are none.

use std::fs;

use super::*;

/// The file `text`, read by `read`; an error without the path of the file.
fn read_by(
    read: impl Fn(&Path) -> Result<SavedStudy, BaselineError>,
    text: &str,
) -> Result<SavedStudy, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("base.json");
    fs::write(&path, text).unwrap();
    let of_folder = format!("{}/", folder.path().display());
    read(&path).map_err(|error| error.to_string().replace(&of_folder, ""))
}

const SUITE: &str = r#"{ "suite": "calls", "seeds": [1, 2], "further": 3, "cases": [{ "name": "narrow", "title": "",
    "omniscient": { "name": "omniscient", "checks": 0 }, "controllers": [{ "name": "gcc", "checks": [
    { "name": "rate", "unit": "%", "limit": 80, "higher_is_better": true, "values": [70, null], "mean": null,
      "ci95": null, "passed": false, "open": false, "verdict": "missed" },
    { "name": "loss", "limit": 2, "values": [1, 2], "mean": 1.5, "passed": true, "open": true, "void": "shown" },
    { "name": "wait", "verdict": "passed" }] }] }] }"#;

#[test]
fn a_check_and_a_claim_are_read_as_one_kind_of_value() {
    let suite = read_by(SavedStudy::of_suite, SUITE).unwrap();
    assert_eq!((suite.suite.as_str(), suite.seeds.as_slice()), ("calls", &[1, 2][..]));
    let case = suite.case("narrow").unwrap();
    assert_eq!((case.is_swept, case.has_omniscient), (false, true));
    let value = |name: &str| suite.value("narrow", "gcc", name).unwrap();
    let facts = |value: &SavedValue| (value.verdict, value.is_met, value.counts, value.lacking());
    assert_eq!(facts(value("rate")), (Verdict::Missed, false, true, 1));
    assert_eq!(facts(value("loss")), (Verdict::Open, true, false, 0));
    assert_eq!(facts(value("wait")), (Verdict::Passed, true, true, 0));

    let list = r#"[{ "id": "a/b/c", "verdict": "reproduced" }, { "id": "d", "verdict": "undecided" },
        { "id": "a/b/e", "verdict": "not reproduced (two kinds of runs)", "places": [] }]"#;
    let claims = read_by(SavedStudy::of_claims, list).unwrap();
    let document = format!(r#"{{ "provenance": {{ "weir": "1" }}, "claims": {list} }}"#);
    let of_document = read_by(SavedStudy::of_claims, &document).unwrap();
    assert_eq!(claims.cases, of_document.cases);
    let rows: Vec<_> = claims.values().map(|(row, _, own)| (&*row.name, &*own.name, own.verdict)).collect();
    let expected = [("a/b", "c", Verdict::Passed), ("a/b", "e", Verdict::TwoKinds), ("", "d", Verdict::Open)];
    assert_eq!(rows, expected);
    assert_eq!(claims.value("a/b", "", "c"), Some(&SavedValue::of_verdict("c".to_owned(), Verdict::Passed)));
}

#[test]
fn each_command_says_which_file_it_needs() {
    let claims = r#"[{ "id": "a/b/c", "verdict": "reproduced" }]"#;
    let suite = |text: &str| read_by(SavedStudy::of_suite, text).unwrap_err();
    let rows = |text: &str| read_by(SavedStudy::of_claims, text).unwrap_err();
    assert_eq!(
        suite(claims),
        "base.json: has claims of papers, not the result of a suite; `weir suite --save` writes one"
    );
    assert_eq!(
        rows(SUITE),
        "base.json: has the result of a suite, not claims of papers; `weir reproduce --json` prints these"
    );
    let writers = "`weir suite --save` and `weir reproduce --json` write such files";
    assert_eq!(suite("{}"), format!("base.json: no saved study: it lacks `suite`; {writers}"));
    assert_eq!(rows("{}"), format!("base.json: no saved study: it lacks `claims`; {writers}"));
    assert!(suite(r#"{ "suite": "a", "cases": [] }"#).contains("it lacks `seeds`"));
    assert!(suite(r#"{ "suite": "a", "seeds": [] }"#).contains("it lacks `cases`"));
    assert!(suite("").starts_with("base.json:1:0: no saved study: EOF"), "{}", suite(""));
    for (text, place, problem) in [
        ("[\n{ \"verdict\": \"tested\" }]", "2:", "missing field `id` of a claim, or `name` of a check"),
        ("[{ \"id\": \"a/b/c\" }]", "1:", "missing field `verdict`, or `passed`"),
        ("[{ \"id\": \"a/b/c\", \"verdict\": \"good\" }]", "1:", "unknown variant `good`"),
    ] {
        let error = rows(text);
        assert!(error.starts_with(&format!("base.json:{place}")) && error.contains(problem), "{error}");
    }
    let changed = r#"{ "provenance": { "changed": ["duration=1s"] }, "claims": [] }"#;
    assert!(rows(changed).contains("its rows were changed by `--set`"));
}
