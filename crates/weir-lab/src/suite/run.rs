//! Running a suite.

use std::collections::BTreeMap;

use rayon::prelude::*;
use weir_net::Time;
use weir_sim::Simulation;

use super::cases::{Case, Suite};
use super::check::{Judged, unsettled};
use super::results::{CaseResult, CheckResult, ControllerResult, SuiteResult};
use crate::build::{RunOptions, TraceUse};
use crate::comparison::ComparisonError;
use crate::metrics::{FlowKind, PER_SECOND, Recorder, Shares, max_min_shares};
use crate::results::Value;
use crate::scenario::Scenario;
use crate::traces::TraceStore;

/// A suite to be run.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// Which.
    pub suite: &'a Suite,
    /// The controllers; each takes over all media flows in turn.
    pub controllers: &'a [&'a str],
    /// The seeds of the runs.
    pub seeds: &'a [u64],
    /// Threads.
    pub jobs: usize,
    /// Only these cases; all if empty.
    pub cases: &'a [&'a str],
}

/// What running a suite yields.
#[derive(Clone, Debug)]
pub struct SuiteRun {
    /// The verdicts.
    pub result: SuiteResult,
    /// For each case and controller what the first run looked like, for plots.
    pub courses: Vec<Vec<Course>>,
}

/// How the rates of a run went.
#[derive(Clone, Debug)]
pub struct Course {
    /// Length of the run in seconds.
    pub seconds: f64,
    /// Each flow's name, kind, and received rate on the wire in Mbit/s per second of the run.
    pub flows: Vec<(String, FlowKind, Vec<f64>)>,
    /// The shares.
    pub shares: Vec<Shares>,
}

/// Why a suite cannot be run.
pub type SuiteError = ComparisonError;

impl Request<'_> {
    pub(super) fn selected(&self) -> Vec<&Case> {
        let wanted = |case: &&Case| self.cases.is_empty() || self.cases.contains(&case.name);
        self.suite.cases.iter().filter(wanted).collect()
    }

    /// How many runs this makes.
    pub fn runs(&self) -> usize {
        self.selected().len() * self.controllers.len() * self.seeds.len()
    }

    /// The traces of each selected case, which are the same under every controller and in every run.
    pub(super) fn traces(&self, store: &TraceStore) -> Result<Vec<Vec<TraceUse>>, SuiteError> {
        let options = RunOptions { seed: 1, controller: None, series: false };
        let traces = |case: &Case| match self.controllers.first() {
            None => Ok(Vec::new()),
            Some(controller) => Ok(case.scenario(controller)?.build(&options, store)?.traces),
        };
        self.selected().into_iter().map(traces).collect()
    }

    /// Runs everything; `done` is called after each run, from any thread.
    ///
    /// # Errors
    /// A case's scenario names a trace that is not there; a controller is not known.
    pub fn run(&self, store: &TraceStore, done: &(dyn Fn() + Sync)) -> Result<SuiteRun, SuiteError> {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(self.jobs)
            .build()
            .map_err(|e| ComparisonError::Threads { jobs: self.jobs, problem: e.to_string() })?;
        let cases = self.selected();
        let benchmarks = pool.install(|| self.benchmarks(&cases, store))?;
        let mut scenarios = Vec::with_capacity(cases.len() * self.controllers.len());
        for &case in &cases {
            for &controller in self.controllers {
                scenarios.push((case, case.scenario(controller)?));
            }
        }
        let tasks: Vec<(&Case, &Scenario, u64)> = scenarios
            .iter()
            .flat_map(|(case, scenario)| self.seeds.iter().map(move |&seed| (*case, scenario, seed)))
            .collect();
        let one = |&(case, scenario, seed): &(&Case, &Scenario, u64)| {
            let benchmark = benchmarks.get(&(case.name, seed)).map(Vec::as_slice);
            let outcome = self.one(case, scenario, seed, benchmark, store);
            done();
            outcome
        };
        // Collecting keeps the order of the tasks, whatever the order in which they end.
        let outcomes =
            pool.install(|| tasks.par_iter().map(one).collect::<Result<Vec<Outcome>, SuiteError>>())?;
        Ok(self.collect(&cases, self.traces(store)?, outcomes))
    }

    /// What each flow received where a case is judged by what TCP would get, by case and seed.
    fn benchmarks(&self, cases: &[&Case], store: &TraceStore) -> Result<Benchmarks, SuiteError> {
        let mut tasks = Vec::new();
        for case in cases {
            if let Some(scenario) = case.benchmark()? {
                tasks.extend(self.seeds.iter().map(|&seed| (case.name, scenario.clone(), seed)));
            }
        }
        let one = |(case, scenario, seed): &(&'static str, Scenario, u64)| {
            let run = scenario.build(&RunOptions { seed: *seed, controller: None, series: false }, store)?;
            let measured = Simulation::new(run.spec, Recorder::new(run.plan))?.run().finish();
            Ok(((*case, *seed), measured.receipts))
        };
        tasks.par_iter().map(one).collect()
    }

    fn one(
        &self,
        case: &Case,
        scenario: &Scenario,
        seed: u64,
        benchmark: Option<&[Vec<u32>]>,
        store: &TraceStore,
    ) -> Result<Outcome, SuiteError> {
        let mut run = scenario.build(&RunOptions { seed, controller: None, series: false }, store)?;
        run.plan.window = (Time::ZERO, run.plan.end);
        run.plan.unsettled = unsettled(&run.plan);
        let measured = Simulation::new(run.spec, Recorder::new(run.plan.clone()))?.run().finish();
        let judged = Judged::new(&run.plan, &measured, benchmark);
        let values = case.checks.iter().map(|check| judged.value(check.quantity)).collect();
        let first = self.seeds.first() == Some(&seed);
        let course = first.then(|| Course {
            seconds: (run.plan.end - Time::ZERO).secs_f64(),
            flows: run
                .plan
                .flows
                .iter()
                .zip(&measured.receipts)
                .map(|(flow, receipts)| {
                    let mbps =
                        |bins: &[u32]| bins.iter().map(|&bytes| f64::from(bytes)).sum::<f64>() * 8.0 / 1e6;
                    (flow.name.clone(), flow.kind, receipts.chunks(PER_SECOND).map(mbps).collect())
                })
                .collect(),
            shares: max_min_shares(&run.plan),
        });
        Ok(Outcome { values, course })
    }

    fn collect(&self, cases: &[&Case], traces: Vec<Vec<TraceUse>>, outcomes: Vec<Outcome>) -> SuiteRun {
        let mut outcomes = outcomes.into_iter();
        let mut courses = Vec::with_capacity(cases.len());
        let mut results = Vec::with_capacity(cases.len());
        for (case, traces) in cases.iter().zip(traces) {
            let mut own = Vec::with_capacity(self.controllers.len());
            let mut controllers = Vec::with_capacity(self.controllers.len());
            for &name in self.controllers {
                let runs: Vec<Outcome> = outcomes.by_ref().take(self.seeds.len()).collect();
                let check = |(index, check): (usize, &super::Check)| {
                    CheckResult::new(check, runs.iter().map(|run| run.values[index]).collect())
                };
                let checks = case.checks.iter().enumerate().map(check).collect();
                controllers.push(ControllerResult { name: name.to_owned(), checks });
                own.extend(runs.into_iter().find_map(|run| run.course));
            }
            results.push(CaseResult {
                name: case.name.to_owned(),
                title: case.title.to_owned(),
                traces,
                controllers,
            });
            courses.push(own);
        }
        let result =
            SuiteResult { suite: self.suite.name.to_owned(), seeds: self.seeds.to_vec(), cases: results };
        SuiteRun { result, courses }
    }
}

type Benchmarks = BTreeMap<(&'static str, u64), Vec<Vec<u32>>>;

struct Outcome {
    values: Vec<Value>,
    course: Option<Course>,
}
