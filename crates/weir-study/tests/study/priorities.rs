//! Priorities of media flows: the controllers that apply them, and the resulting fair shares.

use weir_import::traces::TraceStore;
use weir_measure::metrics::{Recorder, max_min_shares};
use weir_measure::simulate;
use weir_net::Time;
use weir_scenario::compile::{Run, RunOptions};
use weir_scenario::scenario::Scenario;

/// Three calls on 3 Mbit/s, as RFC 8867 §6.1 has them but all from the start, with `overrides`.
fn run(controller: &str, overrides: &[&str]) -> Run {
    let usual = ["dumbbell.bottleneck.rate=3Mbps", "flows.video-2.start=0s", "flows.video-3.start=0s"];
    let overrides: Vec<String> = usual.iter().chain(overrides).map(|&o| o.to_owned()).collect();
    let mut scenario = Scenario::open("rfc8867/three-flows", &overrides).unwrap();
    if scenario.controllers_in_use() != controller {
        scenario.use_controller(controller).unwrap();
    }
    scenario.build(&RunOptions { seed: 1, ..RunOptions::default() }, &TraceStore::at(None)).unwrap()
}

/// Rate of each flow in bit/s.
fn rates(controller: &str, overrides: &[&str]) -> Vec<f64> {
    let Run { spec, plan, .. } = run(controller, overrides);
    let metrics = simulate(spec, Recorder::new(plan)).unwrap().finish().metrics;
    metrics.flows.iter().filter_map(|flow| flow.rate_bps).collect()
}

const TWICE: &str = "flows.video-1.priority=2";

#[test]
fn a_priority_is_the_constant_that_each_controller_has_for_it() {
    for (controller, constant) in [
        ("nada", "priority=2.0"),
        ("nada-at-sender", "priority=2.0"),
        ("nada-2016", "priority=2.0"),
        ("nada-dccc", "priority=2.0"),
        ("dccc", "utility_weight=\"40kbps\""),
        ("dccc-at-sender", "utility_weight=\"40kbps\""),
    ] {
        let set = |flow: u32, what: &str| format!("flows.video-{flow}.{what}");
        let name = format!("controller=\"{controller}\"");
        let names = [set(1, &name), set(2, &name), set(3, &name)];
        let option = set(1, &format!("options.{constant}"));
        let overrides = [names[0].as_str(), names[1].as_str(), names[2].as_str(), option.as_str()];
        let by_priority = rates(controller, &[TWICE]);
        assert_eq!(by_priority, rates(controller, &overrides), "{controller}");
        assert_ne!(by_priority, rates(controller, &[]), "{controller}");
    }
}

#[test]
fn a_controller_without_priorities_does_not_heed_them() {
    for controller in ["gcc", "scream", "tfrc"] {
        assert_eq!(rates(controller, &[TWICE]), rates(controller, &[]), "{controller}");
    }
}

#[test]
fn nada_shares_two_to_one_and_so_does_the_omniscient_sender() {
    let Run { plan, .. } = run("nada", &[TWICE]);
    // 3 Mbit/s less three times 36 kbit/s of audio, by 2 : 1 : 1.
    let shares =
        &max_min_shares(&plan).into_iter().find(|piece| piece.to > Time::from_millis(60_000)).unwrap().bps;
    for (share, wanted) in shares.iter().zip([1.446e6, 0.723e6, 0.723e6]) {
        assert!((share - wanted).abs() < 1.0, "{shares:?}");
    }
    let rates = rates("nada", &[TWICE, "measure.from=60s"]);
    let ratio = 2.0 * rates[0] / (rates[1] + rates[2]);
    assert!((ratio / 2.0 - 1.0).abs() < 0.1, "{ratio}");
}

#[test]
fn a_priority_out_of_range_is_refused() {
    let error = Scenario::open("rfc8867/three-flows", &["flows.video-1.priority=0".to_owned()]).unwrap_err();
    assert_eq!(error.message(), "`flows.video-1.priority`: 0 is out of range");
}
