//! The shipped scenarios of coupled flows: each runs, its coupler receives every message, and flows get the shares of their
//! weights.

use weir_import::traces::TraceStore;
use weir_measure::metrics::{Measured, Recorder};
use weir_measure::simulate;
use weir_scenario::compile::{Run, RunOptions};
use weir_scenario::registry::{Registry, couplers, window_algorithms};
use weir_scenario::scenario::Scenario;
use weir_scenario::shipped;

/// Measurements and time series of the shipped scenario `name`.
fn measured(name: &str, overrides: &[&str]) -> Measured {
    let overrides: Vec<String> = overrides.iter().map(|&set| set.to_owned()).collect();
    let scenario = Scenario::open(name, &overrides).unwrap_or_else(|error| panic!("{error}"));
    let options = RunOptions { seed: 1, series: true, ..RunOptions::default() };
    let Run { spec, plan, .. } = scenario.build(&options, &TraceStore::at(None)).unwrap();
    simulate(spec, Recorder::new(plan)).unwrap().finish()
}

#[test]
fn every_scenario_of_coupled_flows_runs_without_a_refused_message() {
    let all = shipped::SCENARIOS.iter().filter(|scenario| {
        // The scenario of two controllers is uncoupled unless an override couples it.
        scenario.name.starts_with("coupling/") && scenario.name != "coupling/pair"
    });
    let mut ran = 0;
    for name in all.map(|scenario| scenario.name) {
        let Measured { metrics, series, .. } = measured(name, &["duration=20s"]);
        let coupling = &series.unwrap().whole().unwrap().couplings[0];
        assert!(coupling.aggregate.iter().any(|sum| *sum > 0.0), "{name}: no flow got an aggregate");
        let coupled: Vec<_> = metrics.flows.iter().filter(|flow| flow.share_wanted.is_some()).collect();
        assert!(coupled.len() >= 2, "{name}");
        let sent: f64 = coupled.iter().filter_map(|flow| flow.share_sent).sum();
        let wanted: f64 = coupled.iter().filter_map(|flow| flow.share_wanted).sum();
        assert!((sent - 1.0).abs() < 1e-9 && (wanted - 1.0).abs() < 1e-9, "{name}: {sent}, {wanted}");
        for flow in coupled {
            assert_eq!(flow.refused_messages, Some(0.0), "{name}: {}", flow.name);
        }
        ran += 1;
    }
    assert!(ran >= 7, "{ran}");
}

/// Rates in kbit/s of the two connections over two paths of equal cost, coupled or not.
fn over_two_ways(five_tuple: &str, algorithm: &str) -> [f64; 2] {
    let (tuple, by) =
        (format!("flows.second.five_tuple={five_tuple}"), format!("coupling.host.algorithm={algorithm}"));
    let measured = measured("coupling/tcp-two-paths", &[&tuple, &by]);
    [0, 1].map(|flow| measured.metrics.flows[flow].rate_bps.expect("it sends") / 1e3)
}

#[test]
fn coupled_without_one_five_tuple_a_flow_is_held_to_a_bottleneck_that_is_not_its_own() {
    // The paths have 10 and 2 Mbit/s. Apart, each connection has a path of its own.
    let [wide, narrow] = over_two_ways("apart", "none");
    assert!(wide > 9000.0 && (1800.0..2000.0).contains(&narrow), "{wide}, {narrow}");
    let [held, _] = over_two_ways("apart", "ctrltcp");
    assert!(held < 0.5 * wide, "{held}: the narrow way's losses were the wide way's");
    // Inside one pair of UDP ports both take the same path, and coupling costs no rate.
    let [first, second] = over_two_ways("tunnel", "ctrltcp");
    assert!(first + second > 9500.0 && (0.95..1.05).contains(&(first / second)), "{first}, {second}");
}

/// A flow on its own for 5 s in a coupling by `algorithm`.
fn alone(flow: &str, algorithm: &str, testbed: bool) -> Measured {
    let flows = format!("flows={{ first = {flow} }}");
    let testbed = if testbed { ", testbed = true" } else { "" };
    let coupling = format!(
        "coupling={{ call = {{ flows = [\"first\"], algorithm = \"{algorithm}\", desired = \"unlimited\"{testbed} }} }}"
    );
    measured("coupling/pair", &["duration=5s", "measure.from=0s", &flows, &coupling])
}

#[test]
fn a_lone_flow_under_a_flow_state_exchange_goes_as_if_it_were_not_coupled() {
    let registry = Registry::standard();
    let media = registry.controller_names().map(|controller| {
        format!("{{ kind = \"media\", controller = \"{controller}\", encoder = \"greedy\", rates = {{ max = \"10Mbps\" }} }}")
    });
    let tcps = window_algorithms().iter().map(|algorithm| {
        // That of a present Linux gives nothing back while it is coupled.
        format!("{{ kind = \"tcp\", profile = \"plain\", algorithm = \"{}\" }}", algorithm.name)
    });
    let exchanges: Vec<_> = couplers()
        .filter(|info| info.name.starts_with("rfc8699") || info.name.starts_with("fse-") || info.testbed_only)
        .filter(|info| !info.name.starts_with("equal"))
        .collect();
    assert_eq!(exchanges.len(), 6);
    for flow in media.chain(tcps) {
        let uncoupled = alone(&flow, "none", false);
        for exchange in &exchanges {
            let coupled = alone(&flow, exchange.name, exchange.testbed_only);
            assert_eq!(coupled.metrics.flows[0].refused_messages, Some(0.0), "{flow}, {}", exchange.name);
            let has_messages = coupled.series.clone().is_some_and(|series| {
                series.whole().unwrap().couplings[0].aggregate.iter().any(|sum| *sum > 0.0)
            });
            // A rate-based controller is answered each time; a single window gets no allocation.
            assert!(has_messages || flow.contains("tcp"), "{flow}, {}: it was not coupled", exchange.name);
            let same = coupled.delays == uncoupled.delays && coupled.receipts == uncoupled.receipts;
            assert!(same, "{flow}, {}", exchange.name);
        }
    }
}
