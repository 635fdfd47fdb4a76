//! The scenarios of coupled flows that ship: each runs, its coupler takes every word, and flows get what their weights ask for.

use weir_lab::build::{Run, RunOptions};
use weir_lab::metrics::{Measured, Recorder};
use weir_lab::scenario::Scenario;
use weir_lab::shipped;
use weir_lab::traces::TraceStore;
use weir_sim::Simulation;

fn measured(name: &str, overrides: &[&str]) -> Measured {
    let overrides: Vec<String> = overrides.iter().map(|&set| set.to_owned()).collect();
    let scenario = Scenario::open(name, &overrides).unwrap_or_else(|error| panic!("{error}"));
    let options = RunOptions { seed: 1, series: true, ..RunOptions::default() };
    let Run { spec, plan, .. } = scenario.build(&options, &TraceStore::at(None)).unwrap();
    Simulation::new(spec, Recorder::new(plan)).unwrap().run().finish()
}

#[test]
fn every_scenario_of_coupled_flows_runs_and_no_word_is_refused() {
    let all = shipped::SCENARIOS.iter().filter(|scenario| {
        // In the one of two laws nobody couples unless told to.
        scenario.name.starts_with("coupling/") && scenario.name != "coupling/pair"
    });
    let mut ran = 0;
    for name in all.map(|scenario| scenario.name) {
        let Measured { metrics, series, .. } = measured(name, &["duration=20s"]);
        let coupling = &series.unwrap().couplings[0];
        assert!(coupling.aggregate.iter().any(|sum| *sum > 0.0), "{name}: nobody was told of an aggregate");
        let coupled: Vec<_> = metrics.flows.iter().filter(|flow| flow.share_wanted.is_some()).collect();
        assert!(coupled.len() >= 2, "{name}");
        let sent: f64 = coupled.iter().filter_map(|flow| flow.share_sent).sum();
        let wanted: f64 = coupled.iter().filter_map(|flow| flow.share_wanted).sum();
        assert!((sent - 1.0).abs() < 1e-9 && (wanted - 1.0).abs() < 1e-9, "{name}: {sent}, {wanted}");
        for flow in coupled {
            assert_eq!(flow.refused_words, Some(0.0), "{name}: {}", flow.name);
        }
        ran += 1;
    }
    assert!(ran >= 7, "{ran}");
}
