//! Running a comparison: one run per controller and seed, in order, whatever the threads.

use std::sync::atomic::{AtomicUsize, Ordering};

use weir_import::traces::TraceStore;
use weir_scenario::scenario::Scenario;
use weir_study::comparison::{
    Comparison, ComparisonError, ComparisonOptions, ComparisonRequest, ControllerRuns,
};
use weir_study::runs::{Plan, RunError, RunWorld, WorldRun};

/// Four seconds of a shipped scenario with `overrides`.
fn scenario(overrides: &[&str]) -> Scenario {
    let overrides: Vec<String> =
        ["duration=4s"].iter().chain(overrides).map(|&assignment| assignment.to_owned()).collect();
    Scenario::open("gcc-2016/variable-capacity", &overrides).unwrap()
}

fn run(scenario: &Scenario, seeds: &[u64], jobs: usize) -> Result<Comparison, ComparisonError> {
    ComparisonRequest { scenario, seeds, jobs, series: true }.run(&TraceStore::at(None), &|| {})
}

/// The series as they are written: where there is no value they are not equal to themselves.
fn series(controller: &ControllerRuns) -> String {
    let mut csv = Vec::new();
    controller.sample.series.as_ref().unwrap().write_csv(&mut csv).unwrap();
    String::from_utf8(csv).unwrap()
}

#[test]
fn each_controller_has_its_runs_in_the_order_of_the_seeds() {
    let both = scenario(&["controllers=['nada', 'gcc-2016']"]);
    let all = run(&both, &[3, 1, 2], 2).unwrap();
    let names: Vec<&str> = all.controllers.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["nada", "gcc-2016"]);
    assert_eq!((all.summary.runs, all.summary.seeds.as_slice()), (3, [3, 1, 2].as_slice()));
    for controller in &all.controllers {
        let only = scenario(&[&format!("controllers=['{}']", controller.name)]);
        for (seed, metrics) in [3, 1, 2].into_iter().zip(&controller.runs) {
            let single = run(&only, &[seed], 1).unwrap();
            assert_eq!(&single.controllers[0].runs[0], metrics, "{} of seed {seed}", controller.name);
        }
    }
    assert_ne!(all.controllers[0].runs[0], all.controllers[0].runs[1], "seeds differ");
}

#[test]
fn threads_do_not_change_the_results() {
    let both = scenario(&["controllers=['nada', 'gcc-2016']"]);
    let (one, two) = (run(&both, &[1, 2, 3], 1).unwrap(), run(&both, &[1, 2, 3], 3).unwrap());
    assert_eq!(one.summary, two.summary);
    for (one, two) in one.controllers.iter().zip(&two.controllers) {
        assert_eq!(one.runs, two.runs);
        assert!(series(one) == series(two), "the series of {} differ", one.name);
    }
}

#[test]
fn without_controllers_the_flows_keep_their_own() {
    let own = run(&scenario(&[]), &[1], 1).unwrap();
    assert_eq!(own.controllers.len(), 1);
    assert_eq!(own.controllers[0].name, "gcc-2016");
    assert!(own.has_media());
}

/// A world whose runs of seed 2 are disturbed.
#[derive(Debug)]
struct DisturbedWorld;

impl RunWorld for DisturbedWorld {
    fn run(&self, _: &str, plan: &mut Plan<'_>) -> Result<WorldRun, RunError> {
        let (spec, recorder) = plan()?;
        let counts = spec.seed != 2;
        Ok(WorldRun { recorder: weir_measure::simulate(spec, recorder)?, counts })
    }
}

#[test]
fn a_run_that_does_not_count_enters_no_mean() {
    let scenario = scenario(&["controllers=['nada', 'gcc-2016']"]);
    let request = ComparisonRequest { scenario: &scenario, seeds: &[1, 2, 3], jobs: 2, series: false };
    let options = ComparisonOptions { world: Some(&DisturbedWorld), ..ComparisonOptions::default() };
    let disturbed = request.run_with(&TraceStore::at(None), &|| {}, options).unwrap();
    let quiet = run(&scenario, &[1, 3], 2).unwrap();
    for (disturbed, quiet) in disturbed.summary.controllers.iter().zip(&quiet.summary.controllers) {
        let rate = |own: &weir_measure::results::ControllerSummary| own.measures.media.rate_bps.unwrap();
        assert_eq!((rate(disturbed).mean, rate(disturbed).ci95), (rate(quiet).mean, rate(quiet).ci95));
        assert_eq!((rate(disturbed).missing, rate(quiet).missing), (1, 0));
    }
    let none = ComparisonRequest { seeds: &[2], ..request };
    let none = none.run_with(&TraceStore::at(None), &|| {}, options).unwrap();
    assert!(none.summary.controllers.iter().all(|controller| controller.measures.media.rate_bps.is_none()));
}

#[test]
fn the_sample_is_the_run_of_the_first_seed() {
    let several = run(&scenario(&[]), &[5, 6], 2).unwrap();
    let first = run(&scenario(&[]), &[5], 1).unwrap();
    let [several, first] = [several, first].map(|comparison| series(&comparison.controllers[0]));
    assert!(several.lines().count() == 41 && several == first, "a header and 4 s in bins of 100 ms");
}

#[test]
fn every_run_is_announced_once() {
    let both = scenario(&["controllers=['nada', 'gcc-2016']", "duration=1s"]);
    let request = ComparisonRequest { scenario: &both, seeds: &[1, 2, 3], jobs: 2, series: false };
    let done = AtomicUsize::new(0);
    let count = || {
        done.fetch_add(1, Ordering::Relaxed);
    };
    let comparison = request.run(&TraceStore::at(None), &count).unwrap();
    assert_eq!((done.into_inner(), request.runs()), (6, 6));
    assert!(comparison.controllers.iter().all(|c| c.sample.series.is_none()), "none was asked for");
}

#[test]
fn a_comparison_needs_a_seed() {
    let error = run(&scenario(&[]), &[], 1).unwrap_err();
    assert!(matches!(error, ComparisonError::Runs(_)), "{error}");
}

#[test]
fn a_trace_that_is_not_there_is_an_error_of_the_scenario() {
    let traced = scenario(&["links.forward.trace=train"]);
    let error = run(&traced, &[1], 1).unwrap_err();
    assert!(matches!(error, ComparisonError::Run(RunError::Scenario(_))), "{error}");
    assert!(error.to_string().contains("the trace `train` was not found"), "{error}");
}
