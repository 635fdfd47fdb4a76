use weir_net::Time;

use super::*;
use crate::metrics::Window;
use crate::results::{FlowKind, RunMetrics};

const CALL: &str = "gcc-2016/variable-capacity";

fn scenario(overrides: &[&str]) -> Scenario {
    let overrides: Vec<String> = overrides.iter().map(|&assignment| assignment.to_owned()).collect();
    Scenario::open(CALL, &overrides).unwrap()
}

fn ran(scenario: &Scenario) -> Ran {
    let options = RunOptions { seed: 3, ..RunOptions::default() };
    Task::new(String::new(), scenario, options).run(&TraceStore::at(None)).unwrap()
}

#[test]
fn a_further_window_measures_what_it_would_as_the_only_one() {
    let windows = r#"measure={ from = "5s", windows = { late = { from = "12.34s", to = "17s" }, begin = { to = "3s" } } }"#;
    let several = ran(&scenario(&["duration=20s", windows]));
    let names: Vec<&String> = several.measured.metrics.windows.keys().collect();
    assert_eq!(names, ["begin", "late"]);
    let alone =
        [("late", r#"measure={ from = "12.34s", to = "17s" }"#), ("begin", r#"measure={ to = "3s" }"#)];
    for (name, measure) in alone {
        let only = ran(&scenario(&["duration=20s", measure])).measured;
        assert_eq!(several.measured.metrics.windows[name], only.metrics, "{name}");
        assert_eq!(several.measured.delays_within[name], only.delays, "{name}");
    }
    // The main one does not notice the others.
    let main = ran(&scenario(&["duration=20s", "measure.from=5s"])).measured;
    let without_others = RunMetrics { windows: Default::default(), ..several.measured.metrics };
    assert_eq!(without_others, main.metrics);
    assert_eq!(several.measured.receipts, main.receipts);
}

#[test]
fn a_window_of_several_stretches_has_what_they_have_together() {
    let scenario = scenario(&["duration=20s"]);
    let seconds = |from: u64, to: u64| (Time::from_millis(1000 * from), Time::from_millis(1000 * to));
    let window = |name: &str, spans: &[(Time, Time)]| Window { name: name.to_owned(), spans: spans.to_vec() };
    let Run { spec, mut plan, .. } =
        scenario.build(&RunOptions { seed: 3, ..RunOptions::default() }, &TraceStore::at(None)).unwrap();
    let (first, second) = (seconds(2, 6), seconds(10, 15));
    plan.windows =
        vec![window("first", &[first]), window("second", &[second]), window("both", &[first, second])];
    let call = plan.flows.iter().position(|flow| flow.kind == FlowKind::Media).unwrap();
    let measured = Simulation::new(spec, Recorder::new(plan)).unwrap().run().finish();
    let received = |name: &str| measured.metrics.windows[name].flows[call].received.bytes.unwrap();
    assert_eq!(received("both"), received("first") + received("second"));
    let rate = measured.metrics.windows["both"].flows[call].rate_bps.unwrap();
    assert!((rate - 8.0 * received("both") / 9.0).abs() < 1e-6, "{rate}");
    let mut waits = measured.delays_within["first"][call].queue_wait.clone();
    waits.merge(&measured.delays_within["second"][call].queue_wait);
    assert_eq!(measured.delays_within["both"][call].queue_wait, waits);
}
