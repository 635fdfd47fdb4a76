//! The omniscient sender is the reference for controllers, so it is tested itself. No controller may give viewers more at no more
//! delay, or keep to a limit that it cannot keep to.
//!
//! `make test` checks some controllers in some cases, `make test-long` (`WEIR_LONG=1`) every controller in every case of every
//! suite.

use weir_import::traces::TraceStore;
use weir_measure::results::stats::mean;
use weir_scenario::registry::{Registry, references};
use weir_scenario::scenario::Candidate;
use weir_study::judge::Verdict;
use weir_study::runs::{NoStore, Shardable as _};
use weir_study::suite::{CaseResult, ControllerResult, SUITES, SuiteRequest, find};

/// Lead that a controller may have, by chance and by the shape of frames.
const AHEAD: f64 = 1.05;

fn is_long() -> bool {
    std::env::var_os("WEIR_LONG").is_some_and(|value| value == "1")
}

/// Useful rate in bit/s and frame delay in ms, means over the runs, or `None` if a run has no complete frame.
fn viewed(controller_result: &ControllerResult) -> Option<(f64, f64)> {
    let useful: Vec<f64> = controller_result.viewed.iter().filter_map(|run| run.useful_bps).collect();
    let delays: Option<Vec<f64>> = controller_result.viewed.iter().map(|run| run.frame_delay_ms).collect();
    mean(&useful).zip(mean(&delays?))
}

/// The controllers that are ahead of the omniscient sender in a case. Where the case judges the useful rate, a controller is
/// ahead that gives more at no more delay. A controller is also ahead if it passes a check that the omniscient sender passes at
/// none of its points.
fn ahead(case: &CaseResult) -> Vec<String> {
    let omniscient = case.omniscient.as_ref().expect("it runs in every case");
    let mut ahead = Vec::new();
    let voids = [Verdict::Unattainable, Verdict::NoBoundKnown];
    for check in omniscient.checks.iter().filter(|check| check.void.is_some_and(|why| voids.contains(&why))) {
        let keeps = |controller_result: &&ControllerResult| {
            controller_result.checks.iter().any(|other| other.name == check.name && other.passed)
        };
        let keep: Vec<&str> = case
            .controllers
            .iter()
            .filter(keeps)
            .map(|controller_result| controller_result.name.as_str())
            .collect();
        if !keep.is_empty() {
            ahead.push(format!("{}: {} is kept by {}", case.name, check.name, keep.join(", ")));
        }
    }
    let asked = omniscient.checks.iter().any(|check| check.name == "useful" && check.counts());
    let Some((useful, delay)) = viewed(omniscient).filter(|_| asked) else { return ahead };
    for controller_result in &case.controllers {
        let Some((others, late)) = viewed(controller_result) else { continue };
        if others > AHEAD * useful && late <= delay {
            ahead.push(format!(
                "{}: {} gives {:.0} kbit/s in {late:.0} ms, the omniscient sender {:.0} in {delay:.0}",
                case.name,
                controller_result.name,
                others / 1e3,
                useful / 1e3
            ));
        }
    }
    ahead
}

/// The controllers that are ahead in cases with a known bound. Where all take part, also the cases without a known bound in which
/// none is ahead.
fn unexpected(suite: &str, cases: &[&str], controllers: &[&str], seeds: &[u64]) -> Vec<String> {
    let suite = find(suite).expect("it ships");
    let registry = &Registry::standard();
    let candidates: Vec<Candidate> = controllers.iter().copied().map(Candidate::named).collect();
    let request = SuiteRequest { suite, registry, controllers: &candidates, seeds, cases };
    let plan = request.plan().expect("it can be read");
    let run = plan.run(2, &TraceStore::find(&[]), &NoStore, &|| {}).expect("it runs");
    let mut found = Vec::new();
    for case in &run.result.cases {
        let ahead = ahead(case);
        match suite.case(&case.name).is_some_and(|case| case.bound_known) {
            true => found.extend(ahead),
            false if ahead.is_empty() && is_long() => found.push(format!("{}: nobody is ahead", case.name)),
            false => {}
        }
    }
    found
}

#[test]
fn no_controller_gives_viewers_more_at_no_more_delay_where_a_bound_is_known() {
    let found: Vec<String> = if is_long() {
        let registry = Registry::standard();
        let controllers: Vec<&str> = registry.controller_names().collect();
        SUITES.iter().flat_map(|suite| unexpected(&suite.name, &[], &controllers, &[1, 2, 3, 4, 5])).collect()
    } else {
        let controllers = ["gcc", "nada", "scream-v2"];
        let wired = unexpected("rfc8867", &["5.1", "5.4", "6.2 5.6"], &controllers, &[1]);
        let cellular =
            unexpected("rfc8869", &["2.1 up 1/2", "2.1 down 1/4", "2.2 down 1"], &controllers, &[1]);
        wired.into_iter().chain(cellular).collect()
    };
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn it_can_be_asked_for_in_a_suite_and_is_all_that_it_can_be() {
    assert!(references().any(|info| info.name == "omniscient"));
    assert!(Registry::standard().controller_names().all(|name| name != "omniscient"));
    let suite = find("rfc8867").unwrap();
    let request = SuiteRequest {
        suite,
        registry: &Registry::standard(),
        controllers: &[Candidate::named("omniscient")],
        seeds: &[1],
        cases: &["5.1", "5.6"],
    };
    let result = request.plan().unwrap().run(1, &TraceStore::at(None), &NoStore, &|| {}).unwrap().result;
    let [alone, beside_tcp] = &result.cases[..] else { panic!("two cases") };
    let (controller_result, omniscient) = (&alone.controllers[0], alone.omniscient.as_ref().unwrap());
    assert_eq!(
        (&controller_result.checks, &controller_result.viewed),
        (&omniscient.checks, &omniscient.viewed),
        "it is run anew"
    );
    let value =
        |name: &str| controller_result.checks.iter().find(|check| check.name == name).unwrap().values[0];
    assert_eq!((value("useful"), value("excess frame delay")), (Some(100.0), Some(0.0)));
    let names = beside_tcp.controllers[0].checks.iter().map(|check| check.name.as_str());
    assert_eq!(names.collect::<Vec<_>>(), ["coexistence", "loss"], "neither is asked beside endless TCP");
}
