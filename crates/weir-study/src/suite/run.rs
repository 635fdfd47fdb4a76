//! Running a suite.

use super::cases::{Case, Suite};
use super::course::RateSeries;
use super::finding::Finding;
use super::judge::CaseJudge;
use super::results::{CaseResult, SuiteResult};
use super::suite_runs::SuiteRuns;
use super::trials::{SeedTrial, TrialRun};
use crate::runs::{Both, ResultLog, RunError, RunWorld, Runner, Shard, Shardable, Store, Task};
use weir_import::traces::TraceStore;
use weir_scenario::compile::{RunOptions, TraceUse, fallback_notes};
use weir_scenario::registry::Registry;
use weir_scenario::scenario::{Candidate, skip_rule};

/// Suite with its controllers, seeds and cases.
#[derive(Clone, Copy, Debug)]
pub struct SuiteRequest<'a> {
    /// Suite to run.
    pub suite: &'a Suite,
    /// Source of the controllers.
    pub registry: &'a Registry,
    /// Controllers; each takes over all media flows in turn.
    pub controllers: &'a [Candidate],
    /// The seeds of the runs.
    pub seeds: &'a [u64],
    /// Names of the cases to run; empty for all.
    pub cases: &'a [&'a str],
}

/// Suite ready to run, with every scenario read.
#[derive(Debug)]
pub struct SuitePlan<'a> {
    request: SuiteRequest<'a>,
    judges: Vec<CaseJudge<'a>>,
    /// Log of the reference runs, in which no controller takes part.
    reference_runs: Option<&'a ResultLog>,
    /// World of the runs; `None` is the simulator.
    world: Option<&'a dyn RunWorld>,
    /// Whether all metrics of the controllers' runs are kept.
    keeps_metrics: bool,
}

/// Result of a run suite.
#[derive(Clone, Debug)]
pub struct SuiteRun {
    /// The verdicts.
    pub result: SuiteResult,
    /// Time series of the first run for each case and controller, for plots.
    pub courses: Vec<Vec<RateSeries>>,
    /// The runs of the controllers with all of their metrics, if these were asked for.
    pub runs: SuiteRuns,
}

/// Reason why a suite cannot be run.
pub type SuiteError = RunError;

impl<'a> SuiteRequest<'a> {
    pub(super) fn selected(&self) -> Vec<&'a Case> {
        let wanted = |case: &&Case| self.cases.is_empty() || self.cases.contains(&case.name.as_str());
        self.suite.cases.iter().filter(wanted).collect()
    }

    /// Traces of each selected case, the same under every controller and in every run. Every variant is built too, so
    /// that errors in its options are reported before any run.
    pub(super) fn traces(&self, store: &TraceStore) -> Result<Vec<Vec<TraceUse>>, SuiteError> {
        let options = RunOptions::new(1);
        let traces = |case: &Case| {
            let variants = self.controllers.iter().skip(1).filter(|other| other.definition.is_some());
            for variant in variants {
                case.scenario(self.registry, variant)?.build(&options, store)?;
            }
            match self.controllers.first() {
                None => Ok(Vec::new()),
                Some(first) => Ok(case.scenario(self.registry, first)?.build(&options, store)?.traces),
            }
        };
        self.selected().into_iter().map(traces).collect()
    }

    /// Sentence for each trace of `store` that would be replaced by another.
    ///
    /// # Errors
    /// A case's scenario names a missing trace, or a controller is unknown.
    pub fn fallback_notes(&self, store: &TraceStore) -> Result<Vec<String>, SuiteError> {
        Ok(fallback_notes(self.traces(store)?.iter().flatten()))
    }

    /// Reads the scenarios of each case: TCP in place of the media, if a check needs it, the omniscient sender at each
    /// of its operating points, and the controllers.
    ///
    /// # Errors
    /// An unknown controller.
    pub fn plan(&self) -> Result<SuitePlan<'a>, SuiteError> {
        let judge = |case| CaseJudge::of(case, self.registry, self.controllers);
        Ok(SuitePlan {
            request: *self,
            judges: self.selected().into_iter().map(judge).collect::<Result<_, _>>()?,
            reference_runs: None,
            world: None,
            keeps_metrics: false,
        })
    }
}

impl Shardable for SuitePlan<'_> {
    type Kept = Finding;
    type Whole = SuiteRun;

    fn runs_of(&self, shard: Shard) -> usize {
        self.trial_runs(shard).len()
    }

    fn run_shard(
        &self,
        shard: Shard,
        jobs: usize,
        traces: &TraceStore,
        store: &impl Store<Finding>,
        done: &(dyn Fn() + Sync),
    ) -> Result<(), SuiteError> {
        self.make(shard, jobs, traces, store, done).map(drop)
    }

    fn run(
        &self,
        jobs: usize,
        traces: &TraceStore,
        store: &impl Store<Finding>,
        done: &(dyn Fn() + Sync),
    ) -> Result<SuiteRun, SuiteError> {
        let SuiteRequest { suite, seeds, .. } = self.request;
        let mut made = self.make(Shard::WHOLE, jobs, traces, store, done)?;
        let runs = SuiteRuns::of(suite, self.trials(), seeds, &mut made);
        let mut made = made.into_iter();
        let mut found = self.trials().map(|_| made.by_ref().take(seeds.len()).collect());
        let of_links = self.request.traces(traces)?;
        let judged = self.judges.iter().zip(of_links);
        let judged = judged.map(|(judge, of_links)| judge.verdict(&mut found, seeds, traces, of_links));
        let (cases, courses): (Vec<CaseResult>, _) =
            judged.collect::<Result<Vec<_>, _>>()?.into_iter().unzip();
        let cases = cases.into_iter().map(CaseResult::with_differences).collect();
        let (suite, seeds) = (suite.name.clone(), seeds.to_vec());
        let skip_rule = skip_rule(self.judges.iter().flat_map(CaseJudge::scenarios));
        Ok(SuiteRun { result: SuiteResult { suite, seeds, skip_rule, cases }, courses, runs })
    }
}

impl<'a> SuitePlan<'a> {
    /// Plan that keeps the reference runs in the log `reference_runs`; they are the same for all controllers.
    #[must_use]
    pub fn keeping(self, reference_runs: Option<&'a ResultLog>) -> Self {
        Self { reference_runs, ..self }
    }

    /// Plan with all runs in another world.
    #[must_use]
    pub fn in_world(self, world: &'a dyn RunWorld) -> Self {
        Self { world: Some(world), ..self }
    }

    /// Plan that keeps all metrics of the controllers' runs, if they are `wanted`.
    #[must_use]
    pub fn with_metrics(self, wanted: bool) -> Self {
        Self { keeps_metrics: wanted, ..self }
    }

    /// All trials, case by case.
    fn trials(&self) -> impl Iterator<Item = &SeedTrial<'a>> {
        self.judges.iter().flat_map(CaseJudge::trials)
    }

    fn trial_runs(&self, shard: Shard) -> Vec<TrialRun<'_>> {
        shard.of(self.trials().flat_map(|trial| trial.runs(self.request.seeds, self.keeps_metrics))).collect()
    }

    /// Measurements of the runs of `shard`.
    fn make(
        &self,
        shard: Shard,
        jobs: usize,
        traces: &TraceStore,
        store: &impl Store<Finding>,
        done: &(dyn Fn() + Sync),
    ) -> Result<Vec<Finding>, SuiteError> {
        let runs = self.trial_runs(shard);
        let tasks: Vec<Task<'_>> =
            runs.iter().map(|run| Task { world: self.world, ..run.task(&self.request.suite.name) }).collect();
        let make = |index: usize| {
            let (task, run) = (&tasks[index], &runs[index]);
            let fold = |ran| run.finding(ran);
            // Reference runs are stored in the log as well, as they are the same for all controllers.
            match self.reference_runs.filter(|_| run.is_reference()) {
                Some(kept) => task.make(traces, &Both(store, kept), fold),
                None => task.make(traces, store, fold),
            }
        };
        Runner { jobs, done }.each(tasks.len(), make)
    }
}
