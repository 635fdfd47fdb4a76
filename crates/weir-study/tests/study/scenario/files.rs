//! The shipped scenarios, and scenarios written out again.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use weir_import::traces::TraceStore;
use weir_scenario::compile::RunOptions;
use weir_scenario::registry::Registry;
use weir_scenario::scenario::{FlowTraffic, Scenario, scenario_schema};
use weir_scenario::shipped::{SCENARIOS, find};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn shipped() -> impl Iterator<Item = Scenario> {
    SCENARIOS.iter().map(|s| Scenario::open(s.name, &[]).unwrap_or_else(|e| panic!("{e}")))
}

/// The TOML files of `directory` and its subdirectories.
fn toml_files(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| if path.is_dir() { toml_files(&path) } else { vec![path] })
        .filter(|path| path.extension().is_some_and(|e| e == "toml"))
        .collect()
}

#[test]
fn every_file_in_scenarios_ships_and_every_name_is_a_file() {
    let directory = root().join("scenarios");
    let files: BTreeSet<String> = toml_files(&directory)
        .iter()
        .map(|path| path.strip_prefix(&directory).unwrap().with_extension("").display().to_string())
        .collect();
    let names: Vec<&str> = SCENARIOS.iter().map(|s| s.name).collect();
    assert!(names.is_sorted());
    assert_eq!(files.iter().map(String::as_str).collect::<Vec<_>>(), names);
}

#[test]
fn every_scenario_that_ships_is_valid_and_builds_for_every_controller() {
    let store = TraceStore::at(None);
    for scenario in shipped() {
        for controller in Registry::standard().controller_names() {
            let options = RunOptions { seed: 1, controller: Some(controller), series: false };
            let run = scenario.build(&options, &store).unwrap_or_else(|e| panic!("{}: {e}", scenario.title));
            assert_eq!(run.spec.flows.len(), run.plan.flows.len());
            assert_eq!(run.spec.links.len(), run.plan.links.len());
            assert!(run.spec.links.iter().any(|link| link.bottleneck), "{}", scenario.title);
        }
    }
}

/// Senders of video do not queue seconds of frames; in the papers' scenarios they do, and in scenarios without controllers to
/// judge.
#[test]
fn frames_are_skipped_above_a_tenth_of_a_second_but_in_the_papers_scenarios() {
    let judged = ["cellular/", "gaming/", "quality/", "rfc8867/", "rfc8869/", "sharing/"];
    for name in SCENARIOS.iter().map(|shipped| shipped.name) {
        let rule = Scenario::open(name, &[]).unwrap().skip_rule();
        let expected = if judged.iter().any(|room| name.starts_with(room)) { "skip_above 100ms" } else { "" };
        assert_eq!(rule.replace("skip_above never", ""), expected, "{name}");
    }
}

#[test]
fn a_string_switches_skipping_off() {
    let rule = |set: &str| Scenario::open("rfc8867/three-flows", &[set.to_owned()]).unwrap().skip_rule();
    assert_eq!(rule("duration=99s"), "skip_above 100ms");
    assert_eq!(rule("flows.video-1.encoder.skip_above=never"), "skip_above never or 100ms");
    assert_eq!(rule("flows.video-1.encoder.skip_above=50ms"), "skip_above 50ms or 100ms");
    assert_eq!(Scenario::open("bench/tcp", &[]).unwrap().skip_rule(), "", "without media");
}

#[test]
fn a_scenario_written_out_again_is_the_same_scenario() {
    for scenario in shipped() {
        let text = scenario.to_toml().unwrap();
        let again = Scenario::parse("again.toml", &text, &[]).unwrap_or_else(|e| panic!("{e}\n{text}"));
        assert_eq!(again, scenario, "{text}");
    }
}

#[test]
fn overrides_and_another_controller_are_written_out_too() {
    let overrides =
        ["duration=7s", "measure.from=1s", "flows.video-2.encoder.size_noise=0.05"].map(str::to_owned);
    let mut scenario = Scenario::open("gcc-2016/three-flows", &overrides).unwrap();
    scenario.use_controller("nada").unwrap();
    let text = scenario.to_toml().unwrap();
    for part in ["duration = \"7s\"", "controller = \"nada\"", "size_noise = 0.05"] {
        assert!(text.contains(part), "{part} is not in:\n{text}");
    }
    assert!(!text.contains("gcc-2016\"\n[flows"), "{text}");
    assert_eq!(Scenario::parse("again.toml", &text, &[]).unwrap(), scenario);
}

#[test]
fn another_controller_does_not_get_the_options_of_the_first() {
    let mut scenario = Scenario::open("gcc-2016/short-queue-static", &[]).unwrap();
    let options = |scenario: &Scenario| {
        let FlowTraffic::Media(media) = &scenario.flows.get("video").unwrap().carried else {
            panic!("media")
        };
        media.options.clone()
    };
    scenario.use_controller("gcc-2016").unwrap();
    assert!(options(&scenario).is_some(), "the same controller keeps them");
    scenario.use_controller("nada").unwrap();
    assert!(options(&scenario).is_none());
    let error = scenario.use_controller("nadaa").unwrap_err();
    assert_eq!(error.to_string(), "--controller:1:1: there is no controller `nadaa`");
    assert_eq!(error.advice(), Some("did you mean `nada`?"));
}

#[test]
fn the_schema_describes_every_key_and_forbids_others() {
    let schema = scenario_schema();
    for key in ["title", "source", "duration", "runs", "clocks", "measure", "dumbbell", "links", "flows"] {
        let described = &schema["properties"][key]["description"];
        assert!(described.as_str().is_some_and(|text| text.len() > 10), "{key}: {described}");
    }
    assert_eq!(schema["additionalProperties"], false);
    assert_eq!(schema["required"], serde_json::json!(["title", "duration"]));
    for definition in ["Link", "Flow", "Queue", "Step", "Rates", "ChangedEncoder", "TcpOptions"] {
        let node = &schema["$defs"][definition];
        let closed = node["additionalProperties"] == false || node["unevaluatedProperties"] == false;
        assert!(closed, "{definition} takes any key: {node}");
    }
    for info in Registry::standard().controllers() {
        assert_eq!(
            Registry::standard().options_schema(&info.name).unwrap()["additionalProperties"],
            false,
            "{}",
            info.name
        );
    }
}

#[test]
fn the_documentation_names_every_key_of_the_format() {
    let docs = std::fs::read_to_string(root().join("docs/scenarios.md")).unwrap();
    let mut keys = BTreeSet::new();
    collect_keys(scenario_schema(), &mut keys);
    let missing: Vec<&String> = keys.iter().filter(|key| !docs.contains(&format!("`{key}`"))).collect();
    assert!(missing.is_empty(), "not in docs/scenarios.md: {missing:?}");
}

/// Adds the names of all properties below `node` of a JSON Schema to `keys`.
fn collect_keys(node: &serde_json::Value, keys: &mut BTreeSet<String>) {
    match node {
        serde_json::Value::Object(object) => {
            for (name, child) in object {
                if name == "properties" {
                    keys.extend(child.as_object().into_iter().flatten().map(|(key, _)| key.clone()));
                }
                collect_keys(child, keys);
            }
        }
        serde_json::Value::Array(items) => items.iter().for_each(|item| collect_keys(item, keys)),
        _ => {}
    }
}

#[test]
fn the_example_in_the_documentation_is_a_scenario() {
    let docs = std::fs::read_to_string(root().join("docs/scenarios.md")).unwrap();
    let examples: Vec<&str> =
        docs.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    let whole = examples.iter().filter(|text| text.starts_with("title")).count();
    assert!(whole >= 1, "there is a worked example");
    for text in examples.iter().filter(|text| text.starts_with("title")) {
        Scenario::parse("docs/scenarios.md", text, &[]).unwrap_or_else(|e| panic!("{e}"));
    }
}

#[test]
fn shipped_scenarios_are_found_by_their_names_only() {
    assert!(find("gcc-2016/tcp-99").is_some());
    assert!(find("gcc-2016/tcp-99.toml").is_none());
}

/// The text below each heading of a controller in `docs/controllers.md`, in one line.
fn described_controllers() -> Vec<(String, String)> {
    let docs = std::fs::read_to_string(root().join("docs/controllers.md")).unwrap();
    let sections = docs.split("\n### `").skip(1).map(|section| section.split_once("`\n").unwrap());
    sections
        .map(|(name, text)| (name.to_owned(), text.split_whitespace().collect::<Vec<_>>().join(" ")))
        .collect()
}

#[test]
fn the_documentation_describes_every_controller_as_the_registry_does() {
    let described = described_controllers();
    let names: Vec<&str> = described.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        Registry::standard().controller_names().collect::<Vec<_>>(),
        "headings of docs/controllers.md"
    );
    for (info, (_, text)) in Registry::standard().controllers().zip(&described) {
        let facts =
            format!("Source: {}. Placement: {}. Feedback: {}.", info.source, info.placement, info.feedback);
        assert!(text.starts_with(&facts), "{}: not `{facts}`", info.name);
        for preset in &info.presets {
            let named = text.matches(&format!("`{}`", preset.name)).count();
            assert!(named >= 2, "{}: preset {} is listed and explained", info.name, preset.name);
        }
    }
}
