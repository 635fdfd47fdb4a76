//! Running a suite.

use std::collections::BTreeMap;

use weir_net::Time;

use super::cases::{Case, Suite};
use super::check::{Judged, START_UP, Served, served, settled};
use super::results::{CaseResult, CheckResult, ControllerResult, SuiteResult, Viewed};
use super::yardstick::{Attempt, Yardstick, viewed};
use crate::build::{RunOptions, TraceUse};
use crate::omniscient::{CAUTIOUS, NAME, STEADY};
use crate::runs::{Forget, Ran, RunError, Runner, Task, fingerprint};
use crate::scenario::{Scenario, skip_rule};
use crate::traces::TraceStore;
use weir_measure::metrics::{FairShares, MeasurePlan, PER_SECOND, max_min_shares};
use weir_measure::results::{FlowKind, Value};

/// The points at which the omniscient sender tries itself, as presets; the last only where a link follows a trace.
const POINTS: [Option<&str>; 3] = [None, Some(CAUTIOUS), Some(STEADY)];

/// A suite to be run.
#[derive(Clone, Copy, Debug)]
pub struct SuiteRequest<'a> {
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
    pub shares: Vec<FairShares>,
}

/// Why a suite cannot be run.
pub type SuiteError = RunError;

impl SuiteRequest<'_> {
    pub(super) fn selected(&self) -> Vec<&Case> {
        let wanted = |case: &&Case| self.cases.is_empty() || self.cases.contains(&case.name);
        self.suite.cases.iter().filter(wanted).collect()
    }

    /// How many runs this makes: those of the omniscient sender, at each of its points, and those of the controllers.
    pub fn runs(&self) -> usize {
        let of_case = |case: &Case| points(case).map_or(0, <[_]>::len) + self.controllers.len();
        self.selected().into_iter().map(of_case).sum::<usize>() * self.seeds.len()
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
        let cases = self.selected();
        let benchmarks = self.benchmarks(&cases, store)?;
        let yardsticks = self.yardsticks(&cases, &benchmarks, store, done)?;
        let mut contests = Vec::with_capacity(cases.len() * self.controllers.len());
        for (&case, yardstick) in cases.iter().zip(&yardsticks) {
            for &controller in self.controllers {
                let scenario = match controller {
                    NAME => case.omniscient(yardstick.preset)?,
                    controller => case.scenario(controller)?,
                };
                contests.push((case, yardstick, controller, scenario));
            }
        }
        let mut judging = Vec::with_capacity(self.runs());
        let mut tasks = Vec::with_capacity(self.runs());
        for (case, yardstick, controller, scenario) in &contests {
            for (run, &seed) in self.seeds.iter().enumerate() {
                let served = yardstick.served(run);
                judging.push((*case, served, seed));
                let task = self.task(case, controller, scenario, seed);
                let folding = self.folding(case, benchmarks.get(&(case.name, seed)), served, seed);
                tasks.push(Task { replan: Some(watch_all), folding, ..task });
            }
        }
        let rule = skip_rule(contests.iter().map(|(_, _, _, scenario)| scenario));
        let judge = |index: usize, ran: Ran| {
            let (case, served, seed) = judging[index];
            let benchmark = benchmarks.get(&(case.name, seed)).map(Vec::as_slice);
            Outcome::of(&ran, case, benchmark, served, self.is_first(seed))
        };
        let outcomes = Runner { jobs: self.jobs, done }.run(&tasks, store, &Forget, judge)?;
        let mut run = self.collect(&cases, &yardsticks, self.traces(store)?, outcomes);
        run.result.skip_rule = rule;
        Ok(run)
    }

    /// What the omniscient sender gets in each case.
    fn yardsticks(
        &self,
        cases: &[&Case],
        benchmarks: &Benchmarks,
        store: &TraceStore,
        done: &(dyn Fn() + Sync),
    ) -> Result<Vec<Yardstick>, SuiteError> {
        let mut attempts = Vec::new();
        for &case in cases {
            for &preset in points(case)? {
                attempts.push((case, case.omniscient(preset)?));
            }
        }
        let mut judging = Vec::new();
        let mut tasks = Vec::new();
        for (case, scenario) in &attempts {
            for &seed in self.seeds {
                judging.push((*case, seed));
                let task = self.task(case, NAME, scenario, seed);
                let folding = self.folding(case, benchmarks.get(&(case.name, seed)), &[], seed);
                tasks.push(Task { replan: Some(watch_all), folding, ..task });
            }
        }
        let judge = |index: usize, ran: Ran| {
            let (case, seed) = judging[index];
            Attempt::of(&ran, case.checks, benchmarks.get(&(case.name, seed)).map(Vec::as_slice))
        };
        let mut runs = Runner { jobs: self.jobs, done }.run(&tasks, store, &Forget, judge)?.into_iter();
        let mut next = || runs.by_ref().take(self.seeds.len()).collect();
        let mut best = |case: &&Case| {
            let tried = points(case)?.iter().map(|&preset| (preset, next()));
            Ok(Yardstick::best(tried.collect()))
        };
        cases.iter().map(&mut best).collect()
    }

    /// What each flow received where a case is judged by what TCP would get, by case and seed.
    fn benchmarks(&self, cases: &[&Case], store: &TraceStore) -> Result<Benchmarks, SuiteError> {
        let mut judged = Vec::new();
        for &case in cases {
            judged.extend(case.benchmark()?.map(|scenario| (case, scenario)));
        }
        let mut places = Vec::new();
        let mut tasks = Vec::new();
        for (case, scenario) in &judged {
            for &seed in self.seeds {
                places.push((case.name, seed));
                tasks.push(self.task(case, "tcp for media", scenario, seed));
            }
        }
        let runner = Runner { jobs: self.jobs, done: &|| {} };
        let receipts = runner.run(&tasks, store, &Forget, |_, ran| ran.measured.receipts)?;
        Ok(places.into_iter().zip(receipts).collect())
    }

    /// What the verdicts on a run of `case` depend on besides the run.
    fn folding(
        &self,
        case: &Case,
        benchmark: Option<&Vec<Vec<u32>>>,
        omniscient: &[Served],
        seed: u64,
    ) -> String {
        let yardstick = fingerprint(format_args!("{benchmark:?}{omniscient:?}"));
        format!("{:?} {yardstick} {}", case.checks, self.is_first(seed))
    }

    /// Whether the course of this run is kept.
    fn is_first(&self, seed: u64) -> bool {
        self.seeds.first() == Some(&seed)
    }

    fn task<'s>(&self, case: &Case, contestant: &str, scenario: &'s Scenario, seed: u64) -> Task<'s> {
        let name = format!("{}/{}/{contestant}/{seed}", self.suite.name, case.name);
        Task::new(name, scenario, RunOptions { seed, ..RunOptions::default() })
    }

    fn collect(
        &self,
        cases: &[&Case],
        yardsticks: &[Yardstick],
        traces: Vec<Vec<TraceUse>>,
        outcomes: Vec<Outcome>,
    ) -> SuiteRun {
        let mut outcomes = outcomes.into_iter();
        let mut courses = Vec::with_capacity(cases.len());
        let mut results = Vec::with_capacity(cases.len());
        for ((case, yardstick), traces) in cases.iter().zip(yardsticks).zip(traces) {
            let beyond = yardstick.beyond_physics(case.checks);
            let mut own = Vec::with_capacity(self.controllers.len());
            let mut controllers = Vec::with_capacity(self.controllers.len());
            for &name in self.controllers {
                let runs: Vec<Outcome> = outcomes.by_ref().take(self.seeds.len()).collect();
                let check = |(index, check): (usize, &super::Check)| {
                    let values = runs.iter().map(|run| run.values[index]).collect();
                    CheckResult::asked(check, values, &yardstick.asks(check)).unless(&beyond)
                };
                let checks = case.checks.iter().enumerate().map(check).collect();
                let viewed = runs.iter().map(|run| run.viewed).collect();
                controllers.push(ControllerResult { name: name.to_owned(), checks, viewed });
                own.extend(runs.into_iter().find_map(|run| run.course));
            }
            results.push(CaseResult {
                name: case.name.to_owned(),
                title: case.title.to_owned(),
                traces,
                controllers,
                omniscient: Some(yardstick.result(case.checks)),
            });
            courses.push(own);
        }
        let (suite, seeds) = (self.suite.name.to_owned(), self.seeds.to_vec());
        let result = SuiteResult { suite, seeds, skip_rule: String::new(), cases: results };
        SuiteRun { result, courses }
    }
}

/// The points at which the omniscient sender tries itself in `case`.
fn points(case: &Case) -> Result<&'static [Option<&'static str>], SuiteError> {
    let always = POINTS.len() - 1;
    Ok(if case.follows_a_trace()? { &POINTS } else { &POINTS[..always] })
}

type Benchmarks = BTreeMap<(&'static str, u64), Vec<Vec<u32>>>;

struct Outcome {
    values: Vec<Value>,
    viewed: Viewed,
    course: Option<Course>,
}

impl Outcome {
    fn of(
        ran: &Ran,
        case: &Case,
        benchmark: Option<&[Vec<u32>]>,
        omniscient: &[Served],
        first: bool,
    ) -> Self {
        let judged = Judged::new(&ran.plan, &ran.measured, benchmark, omniscient);
        let values = case.checks.iter().map(|check| judged.value(check.quantity)).collect();
        Self {
            values,
            viewed: viewed(&ran.plan, &served(&ran.measured)),
            course: first.then(|| Course::of(ran)),
        }
    }
}

impl Course {
    fn of(ran: &Ran) -> Self {
        let mbps = |bins: &[u32]| bins.iter().map(|&bytes| f64::from(bytes)).sum::<f64>() * 8.0 / 1e6;
        let rates = |receipts: &Vec<u32>| receipts.chunks(PER_SECOND).map(mbps).collect();
        let flows = ran.plan.flows.iter().zip(&ran.measured.receipts);
        Self {
            seconds: (ran.plan.end - Time::ZERO).secs_f64(),
            flows: flows.map(|(flow, receipts)| (flow.name.clone(), flow.kind, rates(receipts))).collect(),
            shares: max_min_shares(&ran.plan),
        }
    }
}

/// The whole run counts, whatever the scenario measures, and where it has settled.
fn watch_all(plan: &mut MeasurePlan) {
    plan.window = (Time::ZERO, plan.end);
    plan.windows = vec![settled(plan)];
    plan.viewed_from = START_UP;
}
