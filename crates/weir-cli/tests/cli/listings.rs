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
fn traces_are_those_of_all_data_directories_and_those_that_are_generated() {
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
    assert_eq!(names(&mine), ["ship.up", "synthetic-lte", "synthetic-lte-downlink", "train.up"]);
    for from in ["data/traces/ship.up", "made by weir", "mine/traces/Train.up"] {
        assert!(mine.stdout.contains(from), "{}", mine.stdout);
    }
    let all = ["bus.up", "ship.up", "synthetic-lte", "synthetic-lte-downlink", "train.up"];
    assert_eq!(names(&listed(" --data mine --data yours", "")), all);
    let several = std::env::join_paths(["mine", "yours"]).unwrap().into_string().unwrap();
    assert_eq!(names(&listed("", &several)), all);
    assert_eq!(names(&listed("", "nowhere")), ["ship.up", "synthetic-lte", "synthetic-lte-downlink"]);
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
    let names = |name: &str| {
        let presets = presets(name);
        presets.as_array().unwrap().iter().map(|preset| preset["name"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(names("nada"), ["rfc-literal", "ns3-rmcat"]);
    assert_eq!(names("nada-at-sender"), ["ns3-rmcat"]);
}

#[test]
fn one_controller_is_reported_with_every_option() {
    let place = Place::new();
    let gcc = place.weir("list controllers gcc").stdout;
    for words in ["summary ", "source ", "placement ", "feedback ", "option ", "trendline.window"] {
        assert!(gcc.contains(words), "{words}:\n{gcc}");
    }
    let json: Value = serde_json::from_str(&place.weir("list controllers nada --json").stdout).unwrap();
    let option = |key: &str| {
        let options = json["options"].as_array().unwrap();
        options.iter().find(|option| option["key"] == key).unwrap_or_else(|| panic!("{key}")).clone()
    };
    assert_eq!(option("kappa")["default"], 0.5);
    assert_eq!(option("kappa")["form"], "number");
    assert!(option("kappa")["description"].as_str().unwrap().contains("RFC 8698"));
    let names = place.weir("list controllers --json").stdout;
    for name in serde_json::from_str::<Value>(&names).unwrap().as_array().unwrap() {
        let name = name["name"].as_str().unwrap();
        let one: Value =
            serde_json::from_str(&place.weir(&format!("list controllers {name} --json")).stdout).unwrap();
        assert_eq!(one["name"], name);
        let undefined = one["options"].as_array().unwrap().iter().find(|option| option["description"] == "");
        assert_eq!(undefined, None, "{name}");
    }
    assert!(place.weir("list controllers omniscient").stdout.contains("preset"));
}

#[test]
fn presets_and_choices_are_reported_with_what_they_are_for() {
    let tfrc = Place::new().weir("list controllers tfrc").stdout;
    let line =
        |begin: &str| tfrc.lines().find(|line| line.trim_start().starts_with(begin)).unwrap_or_default();
    assert!(line("ns2 ").split_whitespace().count() > 2, "{tfrc}");
    assert!(
        line("increase ").contains("at-once") && line("\"one-packet-per-rtt\"").contains("ns-2"),
        "{tfrc}"
    );
}

#[test]
fn one_coupler_one_scenario_one_suite() {
    let place = Place::new();
    let coupler = place.weir("list couplers rfc8699-2 --json").stdout;
    let coupler: Value = serde_json::from_str(&coupler).unwrap();
    assert_eq!((&coupler["steers"], coupler["options"].is_array()), (&"rates".into(), true));
    let scenario = place.weir("list scenarios gcc-2016/three-flows").stdout;
    for words in ["Three media flows, one after another", "gcc-2016, table 2", "200s", "forward", "gcc-2016 "]
    {
        assert!(scenario.contains(words), "{words}:\n{scenario}");
    }
    let suite = place.weir("list suites rfc8867").stdout;
    assert!(suite.contains("rfc8867/pause") && suite.contains("at least 80 %"), "{suite}");
    for (what, unknown) in [("controllers", "ndaa"), ("couplers", "noen"), ("suites", "rfc8876")] {
        let refused = place.try_weir(&format!("list {what} {unknown}"));
        assert_eq!(refused.code, Some(2));
        assert!(refused.stderr.contains("did you mean"), "{}", refused.stderr);
    }
    assert!(place.try_weir("list traces synthetic-lte").stderr.contains("weir trace show synthetic-lte"));
}

#[test]
fn a_metric_is_explained_by_the_name_of_its_column_or_key() {
    let place = Place::new();
    let useful = place.weir("explain useful rate").stdout;
    assert!(useful.contains("useful rate, kbit/s\n    payload of the frames"), "{useful}");
    assert!(
        useful.contains("tables of `weir run SCENARIO`; `weir run`, the demo; `weir compare`"),
        "{useful}"
    );
    assert!(useful.contains("flows[].useful_rate_bps, bit/s"), "the key, too:\n{useful}");
    let p95 = place.weir("explain owd_excess_ms.p95").stdout;
    assert!(p95.contains("ms\n    One-way delay less propagation. 95 % lie below."), "{p95}");
    assert!(p95.contains("controllers[].media.owd_excess_ms.p95"), "{p95}");
    let all = place.weir("explain").stdout;
    for name in ["useful rate", "cost per packet", "flows[].freezes", "jain.of_means", "links[].queue_ms.p95"]
    {
        assert!(all.lines().any(|line| line.starts_with(&format!("{name} "))), "{name}:\n{all}");
    }
    let unknown = place.try_weir("explain freezs");
    assert_eq!((unknown.code, unknown.stdout.as_str()), (Some(2), ""));
    assert!(unknown.stderr.contains("did you mean `freezes`?"), "{}", unknown.stderr);
    let json: Value = serde_json::from_str(&place.weir("explain loss --json").stdout).unwrap();
    assert_eq!(json[0]["unit"], "%");
    assert!(!json.to_string().contains("LimitingFactor"), "{json}");
    // A name without near matches: those that share a word, and no more than a handful.
    for (asked, told) in [("video.sender.queue share", "`queue"), ("wholly.unheard", "there are ")] {
        let outcome = place.call(&["explain", asked]);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(2), ""));
        let said = &outcome.stderr;
        let named = said.matches("`, `").count() + 2;
        assert!(said.contains(told) && said.contains("`weir explain` lists all") && named <= 10, "{said}");
    }
    assert!(place.try_weir("explain video.sender.tend.min").stderr.contains("did you mean `trend`?"));
}

#[test]
fn every_number_of_the_results_is_explained() {
    let place = Place::new();
    let terms: Value = serde_json::from_str(&place.weir("explain --json").stdout).unwrap();
    let known = |key: &str| terms.as_array().unwrap().iter().any(|term| term["name"] == key);
    let results = place.weir("run bench/cbr --duration 1s --json").stdout;
    let results: Value = serde_json::from_str(&results).unwrap();
    let mut unknown = Vec::new();
    numbers(&results["controllers"][0], "", &mut unknown);
    assert!(unknown.len() > 100, "{unknown:?}");
    unknown.retain(|key| !known(key));
    assert!(unknown.is_empty(), "{unknown:?}");
}

#[test]
fn every_column_of_a_series_and_every_check_is_explained() {
    let place = Place::new();
    let terms: Value = serde_json::from_str(&place.weir("explain --json").stdout).unwrap();
    let names: Vec<&str> =
        terms.as_array().unwrap().iter().map(|term| term["name"].as_str().unwrap()).collect();
    place.weir("run coupling/pair --controller nada,gcc-2016 --duration 22s --runs 1 --quiet --out pair");
    let mut columns = Vec::new();
    for file in ["pair/series-nada.csv", "pair/series-gcc-2016.csv"] {
        let series = place.read(file);
        columns.extend(series.lines().next().unwrap().split(',').map(str::to_owned));
    }
    assert!(columns.len() > 60, "{columns:?}");
    for column in &columns {
        let own = column.split_once('.').map_or(column.as_str(), |(_, own)| own);
        let own = own.strip_suffix(".min").or(own.strip_suffix(".max")).unwrap_or(own);
        let is_it = |name: &&str| {
            *name == own
                || name
                    .split_once('.')
                    .is_some_and(|(of, name)| name == own && ["FLOW", "LINK", "COUPLING"].contains(&of))
        };
        assert!(names.iter().any(is_it), "{column}");
    }
    // As they are written in the file; each explanation of one takes a process.
    for column in columns.iter().filter(|column| column.contains("queue_mean") || column.contains("trend")) {
        let told: Value =
            serde_json::from_str(&place.weir(&format!("explain {column} --json")).stdout).unwrap();
        assert!(told[0]["stands_in"].as_str().unwrap().starts_with("series-"), "{column}: {told}");
    }
    for asked in ["video.sender.trend.min", "video.sender.trend", "trend"] {
        assert!(place.weir(&format!("explain {asked}")).stdout.contains("FLOW.sender.trend"), "{asked}");
    }
    let capacity = place.weir("explain forward.capacity_bps").stdout;
    assert!(capacity.contains("LINK.capacity_bps, bit/s") && !capacity.contains("FLOW."), "{capacity}");
    for suite in ["rfc8867", "rfc8869", "gaming"] {
        let checks = place.weir(&format!("list suites {suite} --json")).stdout;
        let checks: Value = serde_json::from_str(&checks).unwrap();
        let cases = checks["cases"].as_array().unwrap().iter();
        for check in cases.flat_map(|case| case["asks for"].as_str().unwrap().split(", ")) {
            let (name, _) = check.split_once(" at ").unwrap();
            assert!(names.contains(&name), "{name}");
        }
    }
    let coexistence = place.weir("explain coexistence").stdout;
    assert!(coexistence.contains("checks of `weir suite`"), "{coexistence}");
    let signal = place.weir("explain target_rate_bps").stdout;
    assert!(
        signal.contains("FLOW.target_rate_bps, bit/s") && signal.contains("series-CONTROLLER.csv"),
        "{signal}"
    );
}

/// The paths of the values with mean and interval.
fn numbers(value: &Value, path: &str, found: &mut Vec<String>) {
    let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match value {
        Value::Object(object) if object.contains_key("ci95") => found.push(path.to_owned()),
        Value::Object(object) => object.iter().for_each(|(key, value)| numbers(value, &below(key), found)),
        Value::Array(items) => items.iter().for_each(|item| numbers(item, &format!("{path}[]"), found)),
        _ => {}
    }
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
    assert!(schema("schema options nada")["properties"]["kappa"].is_object());
    assert!(schema("schema options ctrltcp")["properties"].is_object());
    for (arguments, said) in [
        ("schema options", "<NAME>"),
        ("schema options ndaa", "did you mean `nada`?"),
        ("schema results nada", "leave it out"),
    ] {
        let refused = place.try_weir(arguments);
        assert_eq!(refused.code, Some(2), "{arguments}");
        assert!(refused.stderr.contains(said), "{arguments}: {}", refused.stderr);
    }
}

#[test]
fn a_closed_pipe_ends_the_output_without_an_error() {
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
fn the_command_lists_its_abilities() {
    let place = Place::new();
    let help = place.weir("--help").stdout;
    for command in ["run", "compare", "list", "schema", "check"] {
        assert!(help.contains(&format!("  {command} ")), "{help}");
    }
    assert_eq!(place.weir("--version").stdout, format!("weir {}\n", env!("CARGO_PKG_VERSION")));
    assert_eq!(place.call(&[]).code, Some(2));
}

/// A terminal that has no size, as that of `script`, whose own input is none.
#[cfg(target_os = "linux")]
#[test]
fn a_terminal_without_a_size_breaks_no_lines() {
    let place = Place::new();
    let weir = env!("CARGO_BIN_EXE_weir");
    let mut script = std::process::Command::new("script");
    script.args(["-qc", &format!("{weir} list couplers; {weir} list suites rfc8867"), "/dev/null"]);
    let outcome = Outcome::of(script.current_dir(place.path()).stdin(std::process::Stdio::null()));
    let piped = [place.weir("list couplers").stdout, place.weir("list suites rfc8867").stdout].concat();
    let lines = |text: &str| {
        let text = text.replace("\u{1b}[1m", "").replace("\u{1b}[0m", "");
        text.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(lines(&outcome.stdout), lines(&piped));
}
