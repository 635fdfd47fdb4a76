//! Running a suite.

use super::cases::{Case, Suite};
use super::course::Course;
use super::judge::{Judge, Outcome};
use super::results::{CaseResult, SuiteResult};
use super::trials::{Trial, Trials};
use crate::build::{RunOptions, TraceUse, stand_ins};
use crate::registry::Registry;
use crate::runs::RunError;
use crate::scenario::{Contestant, skip_rule};
use crate::traces::TraceStore;

/// A suite to be run.
#[derive(Clone, Copy, Debug)]
pub struct SuiteRequest<'a> {
    /// Which.
    pub suite: &'a Suite,
    /// Where the controllers come from.
    pub registry: &'a Registry,
    /// The controllers; each takes over all media flows in turn.
    pub controllers: &'a [Contestant],
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

/// Why a suite cannot be run.
pub type SuiteError = RunError;

impl SuiteRequest<'_> {
    pub(super) fn selected(&self) -> Vec<&Case> {
        let wanted = |case: &&Case| self.cases.is_empty() || self.cases.contains(&case.name.as_str());
        self.suite.cases.iter().filter(wanted).collect()
    }

    /// How many runs this makes: those of the omniscient sender, at each of its points, and those of the controllers.
    pub fn runs(&self) -> usize {
        let of_case = |case: &Case| case.points(self.registry).map_or(0, <[_]>::len) + self.controllers.len();
        self.selected().into_iter().map(of_case).sum::<usize>() * self.seeds.len()
    }

    /// The traces of each selected case, which are the same under every controller and in every run. Every variant is tried,
    /// too, so that what is wrong with its options is told before anything runs.
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

    /// A sentence for each trace of `store` that would stand in for another.
    ///
    /// # Errors
    /// A case's scenario names a trace that is not there; a controller is not known.
    pub fn stand_ins(&self, store: &TraceStore) -> Result<Vec<String>, SuiteError> {
        Ok(stand_ins(self.traces(store)?.iter().flatten()))
    }

    /// Runs everything; `done` is called after each run, from any thread.
    ///
    /// # Errors
    /// A case's scenario names a trace that is not there; a controller is not known.
    pub fn run(&self, store: &TraceStore, done: &(dyn Fn() + Sync)) -> Result<SuiteRun, SuiteError> {
        let &Self { suite, registry, seeds, jobs, .. } = self;
        let trials = Trials { suite: &suite.name, registry, seeds, jobs, traces: store, done };
        let judges = Judge::of_each(&self.selected(), &trials)?;
        let contests = self.contests(&judges)?;
        let outcomes = trials.run(&contests, |trial, run, ran| judges[trial.place].outcome(run, &ran))?;
        let skip_rule = skip_rule(contests.iter().map(|trial| &trial.scenario));
        Ok(self.collect(&judges, self.traces(store)?, outcomes, skip_rule))
    }

    /// The trials of the controllers, case by case.
    fn contests<'t>(&'t self, judges: &'t [Judge<'_>]) -> Result<Vec<Trial<'t>>, SuiteError> {
        let places = judges.iter().enumerate();
        let each = |(place, judge): (usize, &'t Judge<'_>)| {
            self.controllers.iter().map(move |contestant| judge.trial(place, self.registry, contestant))
        };
        places.flat_map(each).collect()
    }

    fn collect(
        &self,
        judges: &[Judge<'_>],
        traces: Vec<Vec<TraceUse>>,
        outcomes: Vec<Vec<Outcome>>,
        skip_rule: String,
    ) -> SuiteRun {
        let mut outcomes = outcomes.into_iter();
        let verdict = |(judge, traces): (&Judge<'_>, Vec<TraceUse>)| {
            let names = self.controllers.iter().map(|contestant| contestant.name.as_str());
            let contests = names.zip(outcomes.by_ref()).collect();
            judge.verdict(traces, contests)
        };
        let (cases, courses): (Vec<CaseResult>, _) = judges.iter().zip(traces).map(verdict).unzip();
        let cases = cases.into_iter().map(CaseResult::with_differences).collect();
        let (suite, seeds) = (self.suite.name.clone(), self.seeds.to_vec());
        SuiteRun { result: SuiteResult { suite, seeds, skip_rule, cases }, courses }
    }
}
