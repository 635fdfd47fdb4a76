//! Who judges the runs of a case: what TCP gets in it, where a check asks for that, and what the omniscient sender gets.

use super::cases::Case;
use super::check::{Judged, Served, served};
use super::course::Course;
use super::results::{CaseResult, CheckResult, ControllerResult, Viewed};
use super::trials::{Trial, Trials};
use super::yardstick::{Attempt, Yardstick, viewed};
use crate::build::TraceUse;
use crate::omniscient::NAME;
use crate::registry::Registry;
use crate::runs::{Ran, RunError};
use crate::scenario::Contestant;
use weir_measure::results::Value;

/// What each flow of a run received, in bytes by bin.
type Receipts = Vec<Vec<u32>>;

/// Judges the runs of a case.
#[derive(Debug)]
pub(super) struct Judge<'c> {
    pub(super) case: &'c Case,
    benchmark: Benchmark,
    yardstick: Yardstick,
}

/// What was received with TCP in place of the media, run by run; empty where no check asks for it.
#[derive(Clone, Debug, Default)]
struct Benchmark(Vec<Receipts>);

/// What came of a run.
pub(super) struct Outcome {
    /// Of each check of the case.
    values: Vec<Value>,
    viewed: Viewed,
    /// Of the first run.
    course: Option<Course>,
}

impl<'c> Judge<'c> {
    /// One for each case.
    ///
    /// # Errors
    /// A case's scenario names a trace that is not there.
    pub(super) fn of_each(cases: &[&'c Case], trials: &Trials<'_>) -> Result<Vec<Self>, RunError> {
        let benchmarks = benchmarks(cases, trials)?;
        let yardsticks = yardsticks(cases, &benchmarks, trials)?;
        let with = |((&case, benchmark), yardstick)| Self { case, benchmark, yardstick };
        Ok(cases.iter().zip(benchmarks).zip(yardsticks).map(with).collect())
    }

    /// The trial of `contestant`, a controller of `registry`, in the case, which has this place among those that are run.
    ///
    /// # Errors
    /// An unknown controller.
    pub(super) fn trial<'t>(
        &self,
        place: usize,
        registry: &Registry,
        contestant: &'t Contestant,
    ) -> Result<Trial<'t>, RunError>
    where
        'c: 't,
    {
        let scenario = match contestant.name.as_str() {
            NAME => self.case.omniscient(registry, self.yardstick.preset)?,
            _ => self.case.scenario(registry, contestant)?,
        };
        let contestant = contestant.name.as_str();
        Ok(Trial { place, case: self.case, contestant, scenario })
    }

    /// What came of the run of this number.
    pub(super) fn outcome(&self, run: usize, ran: &Ran) -> Outcome {
        let omniscient = self.yardstick.served(run);
        Outcome {
            values: values(self.case, ran, self.benchmark.of(run), omniscient),
            viewed: viewed(&ran.plan, &served(&ran.measured)),
            course: (run == 0).then(|| Course::of(ran)),
        }
    }

    /// What came of the case for each controller, and the course of the first run of each.
    pub(super) fn verdict(
        &self,
        traces: Vec<TraceUse>,
        contests: Vec<(&str, Vec<Outcome>)>,
    ) -> (CaseResult, Vec<Course>) {
        let checks = &self.case.checks;
        let void = self.yardstick.void(checks);
        let mut courses = Vec::with_capacity(contests.len());
        let mut controllers = Vec::with_capacity(contests.len());
        for (name, runs) in contests {
            let check = |(index, check)| {
                let values = runs.iter().map(|run| run.values[index]).collect();
                CheckResult::asked(check, values, &self.yardstick.asks(check)).unless(&void)
            };
            let checks = checks.iter().enumerate().map(check).collect();
            let viewed = runs.iter().map(|run| run.viewed).collect();
            controllers.push(ControllerResult { name: name.to_owned(), checks, viewed });
            courses.extend(runs.into_iter().find_map(|run| run.course));
        }
        let (name, title, swept) = (self.case.name.clone(), self.case.title.clone(), self.case.swept.clone());
        let omniscient = Some(self.yardstick.result(checks));
        (CaseResult { name, title, swept, traces, controllers, omniscient }, courses)
    }
}

impl Benchmark {
    fn of(&self, run: usize) -> Option<&[Vec<u32>]> {
        self.0.get(run).map(Vec::as_slice)
    }
}

/// Of each check of `case` in a run.
fn values(case: &Case, ran: &Ran, benchmark: Option<&[Vec<u32>]>, omniscient: &[Served]) -> Vec<Value> {
    let judged = Judged::new(&ran.plan, &ran.measured, benchmark, omniscient);
    case.checks.iter().map(|check| judged.value(check.quantity)).collect()
}

/// The benchmark of each case; their runs count for nobody.
fn benchmarks(cases: &[&Case], trials: &Trials<'_>) -> Result<Vec<Benchmark>, RunError> {
    let mut asked = Vec::new();
    for (place, &case) in cases.iter().enumerate() {
        let contestant = "tcp for media";
        asked.extend(case.benchmark(trials.registry)?.map(|scenario| Trial {
            place,
            case,
            contestant,
            scenario,
        }));
    }
    let unseen = Trials { done: &|| {}, ..*trials };
    let received = unseen.run(&asked, |_, _, ran| ran.measured.receipts)?;
    let mut benchmarks = vec![Benchmark::default(); cases.len()];
    for (trial, runs) in asked.iter().zip(received) {
        benchmarks[trial.place] = Benchmark(runs);
    }
    Ok(benchmarks)
}

/// What the omniscient sender gets in each case, at the point that serves it best.
fn yardsticks(
    cases: &[&Case],
    benchmarks: &[Benchmark],
    trials: &Trials<'_>,
) -> Result<Vec<Yardstick>, RunError> {
    let mut attempts = Vec::new();
    for (place, &case) in cases.iter().enumerate() {
        for &preset in case.points(trials.registry)? {
            let scenario = case.omniscient(trials.registry, preset)?;
            attempts.push(Trial { place, case, contestant: NAME, scenario });
        }
    }
    let attempt = |trial: &Trial<'_>, run: usize, ran: Ran| {
        let served = served(&ran.measured);
        let values = values(trial.case, &ran, benchmarks[trial.place].of(run), &served);
        Attempt::new(viewed(&ran.plan, &served), served, values)
    };
    let mut tried = trials.run(&attempts, attempt)?.into_iter();
    let best = |case: &&Case| {
        let points = case.points(trials.registry)?.iter().copied();
        Ok(Yardstick::best(points.zip(tried.by_ref()).collect()))
    };
    cases.iter().map(best).collect()
}
