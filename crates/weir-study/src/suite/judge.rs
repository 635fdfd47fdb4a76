//! Runs of a case and their verdict: those of the controllers, of TCP, if a check compares with it, and of the
//! omniscient sender.
//!
//! A case is judged as a claim over several places is, each check being a place (`experiments::judge` says in which
//! rules checks differ from claims). Further verdicts than those of claims are reasons for which a check does not count.
//! The omniscient sender's runs give these reasons; a paper's claim has no such reference.

use super::cases::{Case, POINTS};
use super::course::RateSeries;
use super::finding::Finding;
use super::omniscient_runs::{OmniscientRun, OmniscientRuns};
use super::ranking::ranking;
use super::results::{CaseResult, CheckResult, ControllerResult};
use super::trials::SeedTrial;
use crate::runs::RunError;
use weir_import::traces::TraceStore;
use weir_measure::results::Value;
use weir_scenario::compile::{RunOptions, TraceUse};
use weir_scenario::omniscient::NAME;
use weir_scenario::registry::Registry;
use weir_scenario::scenario::{Candidate, Scenario};

/// Case with all its trials.
#[derive(Debug)]
pub(super) struct CaseJudge<'c> {
    case: &'c Case,
    /// Trial with TCP in place of the media, if a check needs one.
    benchmark: Option<SeedTrial<'c>>,
    /// Trial of the omniscient sender at each of its operating points, which are presets.
    points: Vec<(Option<&'static str>, SeedTrial<'c>)>,
    /// Trials of the controllers. The omniscient sender, if it is one of them, is not run again.
    controller_trials: Vec<SeedTrial<'c>>,
}

/// Reference runs of a case, run by run.
struct ReferenceRuns {
    benchmark: Vec<Finding>,
    omniscient: OmniscientRuns,
}

impl<'c> CaseJudge<'c> {
    /// Trials of `case` with `controllers` of `registry`.
    ///
    /// # Errors
    /// An unknown controller, or one in the case's scenario.
    pub(super) fn of(
        case: &'c Case,
        registry: &Registry,
        controllers: &'c [Candidate],
    ) -> Result<Self, RunError> {
        let trial = |candidate, scenario| SeedTrial { case, candidate, scenario, is_benchmark: false };
        let benchmark = |scenario| SeedTrial { is_benchmark: true, ..trial("tcp for media", scenario) };
        let point =
            |preset: Option<&'static str>| Ok((preset, trial(NAME, case.omniscient(registry, preset)?)));
        let controller_trial = |candidate: &'c Candidate| {
            let scenario = match candidate.name.as_str() {
                NAME => case.omniscient(registry, None)?,
                _ => case.scenario(registry, candidate)?,
            };
            Ok(trial(&candidate.name, scenario))
        };
        Ok(Self {
            case,
            benchmark: case.benchmark(registry)?.map(benchmark),
            points: POINTS.into_iter().map(point).collect::<Result<_, RunError>>()?,
            controller_trials: controllers.iter().map(controller_trial).collect::<Result<_, RunError>>()?,
        })
    }

    /// Trials that are run.
    pub(super) fn trials(&self) -> impl Iterator<Item = &SeedTrial<'c>> {
        let points = self.points.iter().map(|(_, trial)| trial);
        let controller_trials = self.controller_trials.iter().filter(|trial| trial.candidate != NAME);
        self.benchmark.iter().chain(points).chain(controller_trials)
    }

    /// Scenarios of the controllers.
    pub(super) fn scenarios(&self) -> impl Iterator<Item = &Scenario> {
        self.controller_trials.iter().map(|trial| &trial.scenario)
    }

    /// Result of the case for each controller, and the time series of the first run of each. `found` has the
    /// measurements of [its trials](Self::trials), each in the order of `seeds`, and `traces` are those of its links.
    ///
    /// # Errors
    /// A trace has disappeared.
    pub(super) fn verdict(
        &self,
        found: &mut impl Iterator<Item = Vec<Finding>>,
        seeds: &[u64],
        store: &TraceStore,
        traces: Vec<TraceUse>,
    ) -> Result<(CaseResult, Vec<RateSeries>), RunError> {
        let checks = &self.case.checks;
        let beside = self.beside(found);
        let void = beside.omniscient.void(self.case);
        let mut courses = Vec::with_capacity(self.controller_trials.len());
        let mut controllers = Vec::with_capacity(self.controller_trials.len());
        for trial in &self.controller_trials {
            // As a candidate the omniscient sender has its reference runs at the best operating point.
            let runs = match trial.candidate {
                NAME => beside.omniscient.findings(),
                _ => found.next().unwrap_or_default(),
            };
            let values: Vec<Vec<Value>> =
                runs.iter().enumerate().map(|(run, own)| self.values(&beside, run, own)).collect();
            let check = |(index, check)| {
                let values = values.iter().map(|run| run[index]).collect();
                CheckResult::applicable(check, values, &beside.omniscient.applicability(check)).unless(&void)
            };
            let checks = checks.iter().enumerate().map(check).collect();
            let viewed = runs.iter().map(Finding::viewed).collect();
            let name = trial.candidate.to_owned();
            let controller = trial.scenario.controller_of(&name).to_owned();
            controllers.push(ControllerResult { name, controller, checks, viewed });
            if let (Some(first), Some(&seed)) = (runs.first(), seeds.first()) {
                let run = trial.scenario.build(&RunOptions::new(seed), store)?;
                courses.push(RateSeries::of(&run.plan, first.course()));
            }
        }
        let (name, title, swept) = (self.case.name.clone(), self.case.title.clone(), self.case.swept.clone());
        let omniscient = Some(beside.omniscient.result(self.case));
        let ranking = ranking(&controllers);
        Ok((CaseResult { name, title, swept, traces, controllers, ranking, omniscient }, courses))
    }

    /// Reference runs from the first of [its trials](Self::trials), which come before those of the controllers.
    fn beside(&self, found: &mut impl Iterator<Item = Vec<Finding>>) -> ReferenceRuns {
        let benchmark = self.benchmark.as_ref().and_then(|_| found.next()).unwrap_or_default();
        let attempt = |(run, own): (usize, Finding)| {
            let judged = own.judged(&self.case.checks, benchmark.get(run), Some(&own));
            OmniscientRun::new(own, judged)
        };
        let omniscient_runs = |runs: Vec<Finding>| runs.into_iter().enumerate().map(attempt).collect();
        let tried = self.points.iter().map(|&(preset, _)| preset).zip(found);
        let omniscient =
            OmniscientRuns::best(tried.map(|(preset, runs)| (preset, omniscient_runs(runs))).collect());
        ReferenceRuns { benchmark, omniscient }
    }

    /// Value of each check in the run of this index.
    fn values(&self, beside: &ReferenceRuns, run: usize, own: &Finding) -> Vec<Value> {
        let omniscient = beside.omniscient.finding(run);
        let judged = own.judged(&self.case.checks, beside.benchmark.get(run), omniscient);
        judged.into_iter().map(|(value, _)| value).collect()
    }
}
