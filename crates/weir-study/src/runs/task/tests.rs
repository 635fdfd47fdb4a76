//! Tasks, single runs with their key in a store (`runs::task`).

use std::collections::BTreeMap;
use std::sync::Arc;

use weir_cc::{Controller, RateLimits, Receiver};
use weir_net::Time;

use super::*;
use crate::runs::{CaptureFile, Plan, WorldRun};
use weir_measure::metrics::{ExtraWindow, Measured};
use weir_measure::results::{FlowKind, RunMetrics, Summary};
use weir_scenario::registry::{ControllerFactory, ControllerInfo, ControllerKind, Half, Options};

const CALL: &str = "gcc-2016/variable-capacity";

fn scenario(overrides: &[&str]) -> Scenario {
    let overrides: Vec<String> = overrides.iter().map(|&assignment| assignment.to_owned()).collect();
    Scenario::open(CALL, &overrides).unwrap()
}

fn ran(scenario: &Scenario) -> Ran {
    let options = RunOptions { seed: 3, ..RunOptions::default() };
    Task::new(String::new(), scenario, options).run(&TraceStore::at(None)).unwrap()
}

fn ran_with(task: &Task<'_>) -> Measured {
    task.run(&TraceStore::at(None)).unwrap().measured
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
    // The main window is the same with and without further ones.
    let main = ran(&scenario(&["duration=20s", "measure.from=5s"])).measured;
    let without_others = RunMetrics { windows: BTreeMap::new(), ..several.measured.metrics };
    assert_eq!(without_others, main.metrics);
    assert_eq!(several.measured.receipts, main.receipts);
}

#[test]
fn a_window_of_several_stretches_has_what_they_have_together() {
    let scenario = scenario(&["duration=20s"]);
    let seconds = |from: u64, to: u64| (Time::from_millis(1000 * from), Time::from_millis(1000 * to));
    let window = |name: &str, spans: &[(Time, Time)]| {
        let spans = spans.to_vec();
        ExtraWindow { name: name.to_owned(), spans, delays_only: false }
    };
    let Run { spec, mut plan, .. } =
        scenario.build(&RunOptions { seed: 3, ..RunOptions::default() }, &TraceStore::at(None)).unwrap();
    let (first, second) = (seconds(2, 6), seconds(10, 15));
    plan.windows =
        vec![window("first", &[first]), window("second", &[second]), window("both", &[first, second])];
    plan.windows.push(ExtraWindow { delays_only: true, ..window("waits", &[first, second]) });
    let call = plan.flows.iter().position(|flow| flow.kind == FlowKind::Media).unwrap();
    let measured = weir_measure::simulate(spec, Recorder::new(plan)).unwrap().finish();
    let received = |name: &str| measured.metrics.windows[name].flows[call].received.bytes.unwrap();
    assert_eq!(received("both"), received("first") + received("second"));
    let rate = measured.metrics.windows["both"].flows[call].rate_bps.unwrap();
    assert!((rate - 8.0 * received("both") / 9.0).abs() < 1e-6, "{rate}");
    let mut waits = measured.delays_within["first"][call].queue_wait.clone();
    waits.merge(&measured.delays_within["second"][call].queue_wait);
    let both = &measured.delays_within["both"][call].queue_wait;
    assert_eq!(measured.delays_within["waits"][call].queue_wait, *both);
    assert!(!measured.metrics.windows.contains_key("waits"));
    assert_eq!((both.cdf(1000), both.mean_ms(), both.max()), (waits.cdf(1000), waits.mean_ms(), waits.max()));
}

#[test]
fn runs_of_ones_own_controller_are_kept_for_the_command_that_has_it() {
    struct OwnController;
    impl ControllerKind for OwnController {
        type Config = BTreeMap<String, f64>;

        fn info() -> ControllerInfo {
            let shipped = Registry::standard();
            ControllerInfo { name: "own".into(), ..shipped.find("nada").unwrap().clone() }
        }

        fn sender(_: Self::Config, limits: RateLimits) -> Half<dyn Controller> {
            Registry::standard().build_sender("nada", None, limits, 1.0).map_err(|error| error.to_string())
        }

        fn receiver(_: Self::Config, limits: RateLimits) -> Half<dyn Receiver> {
            Registry::standard().build_receiver("nada", None, limits, 1.0).map_err(|error| error.to_string())
        }
    }
    let registry = Registry::standard().with::<OwnController>();
    let variant = "variants.mild={ controller = \"own\" }".to_owned();
    let scenario = Scenario::open_in(&registry, CALL, &[variant]).unwrap();
    let own_controllers = |controller| {
        let options = RunOptions { controller, ..RunOptions::default() };
        Task::new(String::new(), &scenario, options).own_controllers()
    };
    let executable = Some(format!("\n{:016x}", command().unwrap()));
    let none = Some(String::new());
    let expected = [none.clone(), executable.clone(), executable, none];
    assert_eq!([None, Some("own"), Some("mild"), Some("fixed")].map(own_controllers), expected);
}

/// A copy of `nada` with an edition.
struct Edited(ControllerInfo, ControllerEdition);

impl ControllerFactory for Edited {
    fn info(&self) -> &ControllerInfo {
        &self.0
    }

    fn sender(&self, options: Option<&Options>, limits: RateLimits, priority: f64) -> Half<dyn Controller> {
        Registry::standard()
            .build_sender("nada", options, limits, priority)
            .map_err(|error| error.to_string())
    }

    fn receiver(&self, options: Option<&Options>, limits: RateLimits, priority: f64) -> Half<dyn Receiver> {
        Registry::standard()
            .build_receiver("nada", options, limits, priority)
            .map_err(|error| error.to_string())
    }

    fn edition(&self) -> ControllerEdition {
        self.1.clone()
    }
}

#[test]
fn a_controller_with_a_version_is_kept_under_it_and_one_without_is_not_kept() {
    let key = |edition: ControllerEdition, world: Option<&dyn RunWorld>| {
        let info = ControllerInfo { name: "edited".into(), ..ControllerInfo::default() };
        let registry = Registry::standard().with_factory(Arc::new(Edited(info, edition)));
        let scenario = Scenario::open_in(&registry, CALL, &[]).unwrap();
        let options = RunOptions { controller: Some("edited"), ..RunOptions::default() };
        let task = Task { world, ..Task::new("run".to_owned(), &scenario, options) };
        task.key(&task.planned(&TraceStore::at(None)).unwrap())
    };
    let version = |version: &str| ControllerEdition::Version(version.to_owned());
    let first = key(version("1"), None);
    assert!(first.is_some() && key(version("1"), None) == first);
    assert_ne!(key(version("2"), None), first);
    assert_eq!(key(ControllerEdition::Unknown, None), None);
    assert_eq!(key(version("1"), Some(&Supervised(true))), first, "it is the simulator");
    assert_eq!(key(version("1"), Some(&Supervised(false))), None);
}

/// The simulator, or another world.
#[derive(Debug)]
struct Supervised(bool);

impl RunWorld for Supervised {
    fn run(&self, _: &str, plan: &mut Plan<'_>) -> Result<WorldRun, RunError> {
        let (spec, recorder) = plan()?;
        Ok(WorldRun { recorder: weir_measure::simulate(spec, recorder)?, counts: true })
    }

    fn is_simulator(&self) -> bool {
        self.0
    }
}

#[test]
fn results_name_further_windows_only_where_there_are_some() {
    let results = |overrides: &[&str]| {
        let runs = [ran(&scenario(overrides)).measured.metrics];
        let summary = Summary::from_runs(CALL, &[3], [("gcc-2016", &runs[..])]).unwrap();
        let read: Summary = serde_json::from_value(serde_json::to_value(&summary).unwrap()).unwrap();
        assert_eq!(read, summary);
        serde_json::to_value(&summary.controllers[0]).unwrap()
    };
    let without = results(&["duration=2s"]);
    assert!(without.get("windows").is_none() && without.get("flows").is_some());
    let with = results(&["duration=2s", r#"measure.windows={ late = { from = "1s" } }"#]);
    let late = &with["windows"]["late"];
    assert!(late["flows"][0]["rate_bps"]["mean"].as_f64().unwrap() > 0.0);
    assert!(late.get("windows").is_none());
    assert_eq!(with["flows"], without["flows"]);
}

#[test]
fn a_run_in_steps_is_the_run_in_one_go() {
    let scenario = scenario(&["duration=20s"]);
    let options = RunOptions { seed: 3, ..RunOptions::default() };
    let task = Task::new(String::new(), &scenario, options);
    let mut session = task.begin(&TraceStore::at(None)).unwrap();
    assert_eq!(session.plan().end, Time::from_millis(20_000));
    // Steps of no time, within an event's time, and beyond the end.
    for until in (0..21_000).step_by(37).flat_map(|ms| [ms, ms]) {
        session.run_until(Time::from_millis(until));
    }
    assert_eq!(session.finish().measured, ran_with(&task));
    let mut halfway = task.begin(&TraceStore::at(None)).unwrap();
    halfway.run_until(Time::from_millis(7_000));
    assert_eq!(halfway.finish().measured, ran_with(&task));
}

#[test]
fn a_capture_has_no_steps() {
    let (scenario, file) = (scenario(&[]), tempfile::tempfile().unwrap());
    let file = CaptureFile { file, path: "call.pcapng".into() };
    let capture = Some(Capture { links: &[], file: &file });
    let task = Task { capture, ..Task::new("call".to_owned(), &scenario, RunOptions::new(1)) };
    let error = task.begin(&TraceStore::at(None)).unwrap_err().to_string();
    assert_eq!(error, "call: only the simulator makes a run in steps, without a capture of packets");
}

#[test]
fn a_further_window_that_makes_no_sense_is_shown_where_it_stands() {
    let error = |windows: &str| {
        let text = format!("title = \"t\"\nduration = \"9s\"\n[measure.windows.late]\n{windows}\n[flows]\n");
        Scenario::parse("call.toml", &text, &[]).unwrap_err().to_string()
    };
    let begins = error("from = \"9s\"");
    assert!(begins.starts_with("call.toml:4:8: the window begins at 9s, the run ends at 9s"), "{begins}");
    let ends = error("from = \"3s\"\nto = \"2s\"");
    assert!(ends.starts_with("call.toml:5:6: the window ends at 2s, before it begins at 3s"), "{ends}");
    let unknown = error("form = \"3s\"");
    assert!(unknown.contains("`measure.windows.late.form` is not a key that is known here"), "{unknown}");
}
