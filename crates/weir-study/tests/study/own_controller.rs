//! A user's own controller in the registry: the very controller that `weir new controller` writes.

use weir_import::traces::TraceStore;
use weir_scenario::registry::{Registry, RegistryError};
use weir_scenario::scenario::{Candidate, Scenario};
use weir_study::comparison::{ComparisonRequest, tables};
use weir_study::detection::{self, DetectionRequest};
use weir_study::experiments::{self, Extent, Reproduction};
use weir_study::judge::Verdict;
use weir_study::pairs::{self, PairsRequest};
use weir_study::runs::{NoStore, Shardable as _};
use weir_study::suite::{SuiteRequest, find};

#[allow(unreachable_pub, reason = "it is written for a crate of its own")]
#[path = "../../../weir-cli/templates/controller/src/controller.rs"]
mod controller;

fn registry() -> Registry {
    Registry::standard().with::<controller::Mine>()
}

#[test]
fn it_stands_beside_those_that_ship() {
    let registry = registry();
    registry.check().unwrap();
    assert_eq!(registry.controller_names().last(), Some("mine"));
    assert!(Registry::standard().find("mine").is_err(), "it is not registered elsewhere");
    let twice = registry.with::<controller::Mine>().check().unwrap_err();
    assert_eq!(twice, RegistryError::Twice { name: "mine".to_owned() });
}

#[test]
fn it_is_run_with_options_of_its_own_and_compared_run_by_run() {
    let candidates = Candidate::list("mine, mine{growth=1.05}, gcc").unwrap();
    let names: Vec<&str> = candidates.iter().map(|one| one.name.as_str()).collect();
    let defined = candidates.iter().filter_map(|one| one.definition.clone());
    let overrides: Vec<String> =
        defined.chain([format!("controllers={names:?}"), "duration=10s".into(), "runs=2".into()]).collect();
    let scenario = Scenario::open_in(&registry(), "gcc-2016/variable-capacity", &overrides).unwrap();
    let seeds = scenario.seeds();
    let request = ComparisonRequest { scenario: &scenario, seeds: &seeds, jobs: 1, series: false };
    let comparison = request.run(&TraceStore::at(None), &|| {}).unwrap();
    let rates: Vec<f64> =
        comparison.controllers.iter().map(|controller| controller.runs[0].media.rate_bps.unwrap()).collect();
    assert!(rates[0] > 1.2 * rates[1], "a slower growth gets less: {rates:?}");
    let controllers: Vec<&str> = comparison.controllers.iter().map(|runs| runs.controller.as_str()).collect();
    assert_eq!(controllers, ["mine", "mine", "gcc"]);
    let [differences] = tables::differences(&comparison).try_into().unwrap();
    assert_eq!(differences.first, "mine", "and nothing of gcc, which is alone");
    let [first] = differences.table.rows.as_slice() else { panic!("one variant: {differences:?}") };
    let mean = |run: usize| {
        let rate = |own: usize| comparison.controllers[own].runs[run].media.rate_bps.unwrap() / 1e3;
        rate(1) - rate(0)
    };
    let cell = first.cells[0].as_ref().unwrap();
    assert_eq!(first.name, "mine{growth=1.05}");
    assert!((cell.mean - f64::midpoint(mean(0), mean(1))).abs() < 1e-9 && cell.ci95.is_some());
}

#[test]
fn mistakes_in_its_options_are_reported_as_those_of_any_controller() {
    let refused = |spec: &str| {
        let candidate = Candidate::list(spec).unwrap().remove(0);
        let overrides = [candidate.definition.unwrap()];
        Scenario::open_in(&registry(), "gcc-2016/variable-capacity", &overrides).unwrap_err().to_string()
    };
    assert!(refused("mine{grwth=2}").contains("grwth"));
    assert!(refused("mine{growth=0.5}").contains("`growth` must be above 1"));
}

#[test]
fn it_is_coupled_with_others_and_detected() {
    let registry = registry();
    assert!(pairs::controllers(&registry).any(|controller| controller == "mine"));
    let controllers = ["mine", "cubic"];
    let request = PairsRequest {
        registry: &registry,
        controllers: &controllers,
        algorithm: pairs::ALGORITHM,
        seeds: &[1],
        jobs: 2,
    };
    let pairs = request.run(&TraceStore::at(None), &|| {}).unwrap();
    let first = pairs.iter().find(|pair| pair.controllers == ["mine", "mine"]).unwrap();
    assert!(first.uncoupled.utilisation.unwrap().mean > 0.2, "{first:?}");
    let controllers = ["mine"];
    let config = detection::parameters(&[]).unwrap();
    let request =
        DetectionRequest { registry: &registry, controllers: &controllers, seeds: 1, jobs: 2, config };
    let rows = request.run(&|| {}).unwrap();
    assert_eq!((rows.len(), rows[0].controller.as_str()), (6, "mine"));
    assert!(rows[2].shared.intervals > 0, "{rows:?}");
}

#[test]
fn rows_of_papers_put_it_in_the_place_of_a_controller() {
    let row = r#"
title = "Who is first"
scenario = "gcc-2016/variable-capacity"
set = ["duration=5s"]
[seeds]
quick = 1
full = 1
[variants.own]
controller = "mine"
[[claims]]
id = "goes"
class = "SHAPE"
claim = "it sends"
of = "own:media.rate_bps"
accept = { min = 1.0 }
"#;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("row.toml");
    std::fs::write(&path, row).unwrap();
    let names = [path.display().to_string()];
    let rows = experiments::open(&registry(), &names, None).unwrap();
    let traces = TraceStore::at(None);
    let reproduction = Reproduction::plan(&rows, Extent::default(), &traces).unwrap();
    let claims = reproduction.run(1, &traces, &NoStore, &|| {}).unwrap().claims;
    assert_eq!(claims[0].verdict, Verdict::Passed);
    let shipped = experiments::open(&Registry::standard(), &names, None).unwrap();
    let error = Reproduction::plan(&shipped, Extent::default(), &traces).unwrap_err();
    assert!(error.to_string().contains("mine"), "{error}");
}

#[test]
fn it_goes_through_a_suite() {
    let registry = registry();
    let controllers = Candidate::list("mine,mine{decrease=0.5}").unwrap();
    let request = SuiteRequest {
        suite: find("rfc8867").unwrap(),
        registry: &registry,
        controllers: &controllers,
        seeds: &[1],
        cases: &["5.1"],
    };
    let result = request.plan().unwrap().run(1, &TraceStore::at(None), &NoStore, &|| {}).unwrap().result;
    let names: Vec<&str> = result.controllers().collect();
    assert_eq!(names, ["mine", "mine{decrease=0.5}"]);
}
