//! `weir analyse`.

use serde_json::Value;

use crate::listings::names;
use crate::support::Place;

#[test]
fn without_a_name_the_analyses_are_listed() {
    let place = Place::new();
    let table = place.weir("analyse");
    let names = names(&table);
    assert!(names.contains(&"dccc-penalty"), "{names:?}");
    assert!(names.iter().all(|name| !name.is_empty()));
    let json: Value = serde_json::from_str(&place.weir("analyse --json").stdout).unwrap();
    let listed: Vec<&str> =
        json.as_array().unwrap().iter().filter_map(|entry| entry["name"].as_str()).collect();
    assert_eq!(listed, names);
    assert!(json.as_array().unwrap().iter().all(|entry| entry["results"]["properties"].is_object()));
}

#[test]
fn parameters_and_results_are_printed_and_as_json_in_one_object() {
    let place = Place::new();
    let text = place.weir("analyse dccc-penalty --set threshold=50ms").stdout;
    assert!(text.starts_with("dccc-penalty: "), "{text}");
    let value = |key: &str| {
        let line = text.lines().find(|line| line.split_whitespace().next() == Some(key));
        line.unwrap_or_else(|| panic!("no {key} in {text}")).split_once("  ").unwrap().1.trim()
    };
    assert_eq!(value("threshold"), "50ms");
    assert_eq!(value("owd_ms"), "1001 values from 0 to 1000");
    assert_eq!(value("not_concave"), "0");
    let json: Value =
        serde_json::from_str(&place.weir("analyse dccc-penalty --set threshold=50ms --json").stdout).unwrap();
    assert_eq!(json["analysis"], "dccc-penalty");
    assert_eq!(json["parameters"]["threshold"], "50ms");
    assert_eq!(json["results"]["owd_ms"].as_array().unwrap().len(), 1001);
}

#[test]
fn mistakes_are_reported_with_a_correct_form() {
    let place = Place::new();
    for (arguments, said) in [
        ("analyse dccc-penalti", "dccc-penalty"),
        ("analyse dccc-penalty --set treshold=50ms", "did you mean `threshold`?"),
        ("analyse dccc-penalty --set threshold=50", "write a time such as"),
        ("analyse dccc-penalty --set points=2", "a whole number from 3 to 100000"),
        ("analyse dccc-penalty --set longest=10ms", "a time above `threshold`"),
        ("analyse dccc-penalty --set preset=fig2", "`preset` is not a key"),
        ("analyse --set points=2", "NAME"),
    ] {
        let outcome = place.try_weir(arguments);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(2), ""), "{arguments}");
        assert!(outcome.stderr.contains(said), "{arguments}: {}", outcome.stderr);
    }
}
