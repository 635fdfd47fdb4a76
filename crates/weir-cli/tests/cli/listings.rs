//! `weir list`, `weir schema`, `weir check` and the command itself.

use serde_json::Value;

use crate::support::{Outcome, Place};

pub(crate) fn names(outcome: &Outcome) -> Vec<&str> {
    outcome.stdout.lines().skip(1).filter_map(|line| line.split_whitespace().next()).collect()
}

#[test]
fn controllers_are_listed_with_what_they_are() {
    let outcome = Place::new().weir("list controllers");
    let names = names(&outcome);
    for name in [
        "gcc",
        "gcc-2016",
        "gcc-send-side",
        "gcc-dccc",
        "nada",
        "nada-at-sender",
        "nada-2016",
        "scream",
        "dccc",
    ] {
        assert!(names.contains(&name), "{name} among {names:?}");
    }
    let header: Vec<&str> = outcome.stdout.lines().next().unwrap_or_default().split_whitespace().collect();
    assert_eq!(header, ["name", "summary", "source", "placement", "feedback", "presets"]);
    assert!(outcome.stdout.contains("RFC 8698"));
}

#[test]
fn couplers_are_listed_with_what_they_steer() {
    let outcome = Place::new().weir("list couplers");
    let names = names(&outcome);
    assert!(names.contains(&"none") && names.contains(&"ctrltcp"), "{names:?}");
    let header: Vec<&str> = outcome.stdout.lines().next().unwrap_or_default().split_whitespace().collect();
    assert_eq!(header, ["name", "summary", "source", "steers", "for"]);
}

#[test]
fn scenarios_are_listed_and_each_is_right() {
    let place = Place::new();
    let outcome = place.weir("list scenarios");
    let names = names(&outcome);
    assert!(names.len() >= 15 && names.contains(&"cellular/att-lte-uplink-2016"), "{names:?}");
    assert!(names.is_sorted());
    for name in names {
        let checked = place.weir(&format!("check {name}"));
        assert!(checked.stdout.starts_with(&format!("{name} is right: ")), "{}", checked.stdout);
    }
}

#[test]
fn traces_are_those_of_all_data_directories_and_the_synthetic_one() {
    let place = Place::new();
    place.write("mine/traces/Train.up", "0\n5\n");
    place.write("yours/traces/bus.up", "0\n5\n");
    place.write("data/traces/ship.up", "0\n5\n");
    let listed = |options: &str, variable: &str| {
        let line = format!("list traces{options}");
        let mut command = place.command(&line.split(' ').collect::<Vec<_>>());
        Outcome::of(command.env("WEIR_DATA", variable))
    };
    let mine = listed(" --data mine", "");
    assert_eq!(names(&mine), ["ship.up", "synthetic-lte", "train.up"]);
    for from in ["data/traces/ship.up", "made by weir", "mine/traces/Train.up"] {
        assert!(mine.stdout.contains(from), "{}", mine.stdout);
    }
    let all = ["bus.up", "ship.up", "synthetic-lte", "train.up"];
    assert_eq!(names(&listed(" --data mine --data yours", "")), all);
    let several = std::env::join_paths(["mine", "yours"]).unwrap().into_string().unwrap();
    assert_eq!(names(&listed("", &several)), all);
    assert_eq!(names(&listed("", "nowhere")), ["ship.up", "synthetic-lte"]);
    assert!(names(&place.weir("list traces --data mine")).contains(&"att-lte-driving-2016.up"));
    let refused = place.try_weir("list traces --data nowhere");
    assert_eq!(refused.code, Some(2));
    assert!(
        refused.stderr.contains("'nowhere' for '--data <DIR>': there is no such directory"),
        "{}",
        refused.stderr
    );
}

#[test]
fn every_list_is_there_as_json_with_the_same_names() {
    let place = Place::new();
    for what in ["controllers", "couplers", "scenarios", "traces"] {
        let table = place.weir(&format!("list {what}"));
        let json: Value = serde_json::from_str(&place.weir(&format!("list {what} --json")).stdout).unwrap();
        let entries = json.as_array().unwrap();
        let listed: Vec<&str> = entries.iter().filter_map(|entry| entry["name"].as_str()).collect();
        assert_eq!(listed, names(&table), "{what}");
    }
}

#[test]
fn presets_are_an_array_in_json() {
    let json: Value = serde_json::from_str(&Place::new().weir("list controllers --json").stdout).unwrap();
    let presets = |name: &str| {
        let all = json.as_array().unwrap();
        all.iter().find(|entry| entry["name"] == name).unwrap()["presets"].clone()
    };
    assert_eq!(presets("gcc-2016"), serde_json::json!([]));
    assert_eq!(presets("tfrc")[0]["name"], "ns2");
    assert!(presets("tfrc")[0]["summary"].as_str().is_some_and(|summary| !summary.is_empty()));
}

#[test]
fn lists_align_and_lines_end_with_a_word() {
    let place = Place::new();
    for what in ["controllers", "couplers", "scenarios", "traces"] {
        let outcome = place.weir(&format!("list {what}"));
        assert!(outcome.stdout.lines().all(|line| line == line.trim()), "{}", outcome.stdout);
        assert!(!outcome.stdout.contains('\u{1b}'));
    }
    let scenarios = place.weir("list scenarios").stdout;
    let header = scenarios.lines().next().unwrap_or_default();
    let title = header.find("title").unwrap();
    for line in scenarios.lines() {
        assert!(line.is_char_boundary(title) && line[..title].ends_with("  "), "{line}");
    }
}

#[test]
fn schemas_are_json() {
    let place = Place::new();
    let schema = |arguments| serde_json::from_str::<Value>(&place.weir(arguments).stdout).unwrap();
    let scenario = schema("schema scenario");
    for key in ["title", "duration", "runs", "seed", "controllers", "links", "flows"] {
        assert!(scenario["properties"][key].is_object(), "{key}");
    }
    assert_eq!(schema("schema"), scenario, "scenario is what is meant unless something else is said");
    assert_eq!(schema("schema results")["title"], "Summary");
}

#[test]
fn who_closes_the_pipe_has_seen_enough() {
    let place = Place::new();
    let calls: [&[&str]; 5] = [
        &["list", "scenarios"],
        &["schema"],
        &["check", "bench/cbr"],
        &["run", "bench/cbr", "--duration", "1s"],
        &["run", "bench/cbr", "--duration", "1s", "--json"],
    ];
    for arguments in calls {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let outcome = Outcome::of(place.command(arguments).stdout(writer));
        assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""), "{arguments:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn output_that_cannot_be_printed_is_another_failure_than_bad_input() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let outcome = Outcome::of(Place::new().command(&["list", "scenarios"]).stdout(full));
    assert_eq!(outcome.code, Some(1));
    assert!(outcome.stderr.starts_with("error: cannot print the results: "), "{}", outcome.stderr);
}

#[test]
fn the_command_tells_what_it_can_do() {
    let place = Place::new();
    let help = place.weir("--help").stdout;
    for command in ["run", "compare", "list", "schema", "check"] {
        assert!(help.contains(&format!("  {command} ")), "{help}");
    }
    assert_eq!(place.weir("--version").stdout, format!("weir {}\n", env!("CARGO_PKG_VERSION")));
    assert_eq!(place.call(&[]).code, Some(2));
}
