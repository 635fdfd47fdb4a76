//! Runs of rows and judgement of their claims.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::cases::{Case, CaseSource};
use super::catalogue::is_known_test;
use super::claim::{Claim, OverPlaces, OverSeeds, Range, SignOrder};
use super::harvest::{CaseRuns, Harvests, KeptRun};
use super::judge::PlaceVerdict;
use super::plan::{Extent, PlannedRow, RunPlan, is_claimed};
use super::plots::{self, PlotResult};
use super::read::{Experiment, Formulas};
use super::results::{Accepted, ClaimResult, PlaceResult};
use super::row_runs::RowRuns;
use super::table::Table;
use super::values::{GridPoint, Runs};
use crate::judge::formula::{Formula, Leaf};
use crate::judge::{Verdict, needed, together};
use crate::runs::{Plan, RunError, RunWorld, Runner, Shard, Shardable, Store, WorldRun};
use weir_form::ScenarioError;
use weir_import::traces::TraceStore;
use weir_measure::results::Value;
use weir_measure::results::stats::mean;

/// Planned reproduction of rows: all runs are planned, and every scenario has been read.
#[derive(Clone, Debug)]
pub struct Reproduction<'w> {
    plan: Arc<RunPlan>,
    /// Whether to evaluate plots.
    plots: bool,
    runs: CaseRuns<'w>,
}

/// Results of a reproduction.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reproduced {
    /// Claims, in the order of the rows.
    pub claims: Vec<ClaimResult>,
    /// Plots, in the order of the rows; empty unless requested.
    pub plots: Vec<PlotResult>,
    /// Measured values at each point of a grid, for rows that have one.
    pub tables: Vec<Table>,
    /// Places of a sweep from the command line, each with the values of each number, run by run.
    pub(super) measured: Vec<(GridPoint, Vec<Vec<Value>>)>,
    /// All metrics of all runs, if they were asked for.
    pub runs: RowRuns,
}

impl Reproduction<'static> {
    /// Plans the runs that `experiments` need.
    ///
    /// # Errors
    /// A scenario has a mistake, or lacks a name of a claim.
    pub fn plan(
        experiments: &[Experiment],
        extent: Extent,
        traces: &TraceStore,
    ) -> Result<Self, ScenarioError> {
        let plan = Arc::new(RunPlan::of(experiments, extent, traces)?);
        Ok(Self { plan, plots: extent.plots, runs: CaseRuns::default() })
    }
}

impl Reproduction<'_> {
    /// The same with all runs of scenarios in another world. A seed whose runs do not all count is left out of a row's verdicts.
    #[must_use]
    pub fn in_world(self, world: &dyn RunWorld) -> Reproduction<'_> {
        let Self { plan, plots, runs } = self;
        Reproduction { plan, plots, runs: CaseRuns { world: Some(world), keeps_metrics: runs.keeps_metrics } }
    }

    /// The same with all metrics of the runs kept, if they are `wanted`.
    #[must_use]
    pub fn with_metrics(self, wanted: bool) -> Self {
        Self { runs: CaseRuns { keeps_metrics: wanted, ..self.runs }, ..self }
    }

    /// Whether a scenario is run, and not analyses and tests alone.
    pub fn runs_a_scenario(&self) -> bool {
        self.plan.cases.iter().any(|case| !matches!(case.source, CaseSource::Analysis { .. }))
    }

    /// Number of seeds of each row, by `PAPER/ROW`.
    pub fn seeds(&self) -> BTreeMap<String, u32> {
        self.plan.rows.iter().map(|row| (row.experiment.name.clone(), row.seeds)).collect()
    }

    /// Number of runs.
    pub fn number(&self) -> usize {
        self.plan.runs()
    }

    fn tasks(&self, shard: Shard) -> Vec<OneRun> {
        let of =
            |(case, own): (usize, &Case)| (1..=u64::from(own.runs())).map(move |seed| OneRun { case, seed });
        shard.of(self.plan.cases.iter().enumerate().flat_map(of)).collect()
    }

    /// Makes the runs at these places in the order of all runs, counted from zero, and returns their results. Stored runs
    /// are not made again.
    ///
    /// # Errors
    /// A run cannot be made.
    ///
    /// # Panics
    /// A place is beyond the last run.
    pub fn make_runs(
        &self,
        places: &[usize],
        jobs: usize,
        traces: &TraceStore,
        store: &impl Store<KeptRun>,
        done: &(dyn Fn() + Sync),
    ) -> Result<Vec<Option<KeptRun>>, RunError> {
        let all = self.tasks(Shard::WHOLE);
        let tasks: Vec<OneRun> = places.iter().map(|place| all[*place]).collect();
        self.make(&tasks, jobs, traces, store, done)
    }

    /// The stored result of each run, in the order of all runs; `None` where `store` has none. An analysis is made
    /// again. The search goes on while `goes_on`.
    ///
    /// # Errors
    /// The search was ended, or the threads cannot be started.
    pub fn stored_runs(
        &self,
        jobs: usize,
        traces: &TraceStore,
        store: &impl Store<KeptRun>,
        goes_on: &(dyn Fn() -> bool + Sync),
    ) -> Result<Vec<Option<KeptRun>>, RunError> {
        let tasks = self.tasks(Shard::WHOLE);
        let runs = CaseRuns { world: Some(&IdleWorld), ..self.runs };
        // A run that is not stored ends in the idle world.
        let find = |index: usize| {
            let OneRun { case, seed } = tasks[index];
            if !goes_on() {
                return Err(RunError::Interrupted);
            }
            Ok(self.plan.cases[case].make(seed, traces, runs, store).ok().flatten())
        };
        Runner { jobs, done: &|| {} }.each(tasks.len(), find)
    }

    /// Combines the results of all runs, in their order. The claims are judged in the order of the rows.
    pub fn combine(&self, made: Vec<Option<KeptRun>>) -> Reproduced {
        let mut harvests = Harvests::of(&self.plan.cases);
        let tasks = self.tasks(Shard::WHOLE);
        tasks.iter().zip(made).for_each(|(task, harvest)| harvests.add(task.case, harvest));
        let rows = || self.plan.rows.iter();
        let plots = rows()
            .filter(|_| self.plots)
            .flat_map(|row| row.with_runs(&harvests, |runs| plots_of(&row.experiment, runs)))
            .collect();
        let tables = rows().filter_map(|row| Table::of(row, &harvests)).collect();
        let claims = rows().flat_map(|row| row.judge(&harvests)).collect();
        let measured = rows().flat_map(|row| row.measured(&harvests)).collect();
        let runs =
            if self.runs.keeps_metrics { RowRuns::of(&self.plan, harvests) } else { RowRuns::default() };
        Reproduced { claims, plots, tables, measured, runs }
    }

    fn make(
        &self,
        tasks: &[OneRun],
        jobs: usize,
        traces: &TraceStore,
        store: &impl Store<KeptRun>,
        done: &(dyn Fn() + Sync),
    ) -> Result<Vec<Option<KeptRun>>, RunError> {
        let make = |index: usize| {
            let OneRun { case, seed } = tasks[index];
            self.plan.cases[case].make(seed, traces, self.runs, store)
        };
        Runner { jobs, done }.each(tasks.len(), make)
    }
}

impl Shardable for Reproduction<'_> {
    type Kept = KeptRun;
    type Whole = Reproduced;

    fn runs_of(&self, shard: Shard) -> usize {
        self.tasks(shard).len()
    }

    fn runs(&self) -> usize {
        self.number()
    }

    fn run_shard(
        &self,
        shard: Shard,
        jobs: usize,
        traces: &TraceStore,
        store: &impl Store<KeptRun>,
        done: &(dyn Fn() + Sync),
    ) -> Result<(), RunError> {
        self.make(&self.tasks(shard), jobs, traces, store, done).map(drop)
    }

    fn run(
        &self,
        jobs: usize,
        traces: &TraceStore,
        store: &impl Store<KeptRun>,
        done: &(dyn Fn() + Sync),
    ) -> Result<Reproduced, RunError> {
        Ok(self.combine(self.make(&self.tasks(Shard::WHOLE), jobs, traces, store, done)?))
    }
}

/// A simulator that makes no run.
#[derive(Debug)]
struct IdleWorld;

impl RunWorld for IdleWorld {
    fn run(&self, _: &str, _: &mut Plan<'_>) -> Result<WorldRun, RunError> {
        Err(RunError::Interrupted)
    }

    fn is_simulator(&self) -> bool {
        true
    }
}

/// Run of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct OneRun {
    case: usize,
    seed: u64,
}

/// Place with the value of each seed, judged.
struct JudgedPlace {
    at: GridPoint,
    values: Vec<Value>,
    judged: PlaceVerdict,
}

/// Row with the values of its runs.
struct RanRow<'r> {
    experiment: &'r Experiment,
    runs: &'r Runs<'r>,
}

impl PlannedRow {
    /// Calls `with` on the row's runs.
    fn with_runs<T>(&self, harvests: &Harvests<'_>, with: impl FnOnce(&Runs<'_>) -> T) -> T {
        let case = |place: usize, leaf: &Leaf| self.cases[place].get(&leaf.variant).copied();
        let all_count = |seed: &usize| {
            self.cases.iter().flat_map(BTreeMap::values).all(|&case| harvests.counts(case, *seed))
        };
        let counted: Vec<usize> = (0..self.seeds as usize).filter(all_count).collect();
        let measured = |place: usize, seed: usize, leaf: &Leaf| {
            harvests.get(case(place, leaf)?, *counted.get(seed)?, &leaf.path).cloned()
        };
        let drawn = |place: usize, leaf: &Leaf| case(place, leaf).is_none_or(|case| harvests.is_drawn(case));
        with(&Runs { places: &self.places, seeds: counted.len(), measured: &measured, drawn: &drawn })
    }

    /// Places of a sweep from the command line, each with the values of each number, run by run.
    fn measured(&self, harvests: &Harvests<'_>) -> Vec<(GridPoint, Vec<Vec<Value>>)> {
        let Some(measured_scenario) = &self.experiment.measured_scenario else { return Vec::new() };
        self.with_runs(harvests, |runs| {
            let numbers = |place: usize| {
                measured_scenario.measured.iter().map(move |formula| runs.numbers(formula, place))
            };
            let places = self.places.iter().enumerate();
            places.map(|(place, at)| (at.clone(), numbers(place).collect())).collect()
        })
    }

    /// Judged claims of the row.
    fn judge(&self, harvests: &Harvests<'_>) -> Vec<ClaimResult> {
        let Experiment { row, formulas, .. } = &*self.experiment;
        let judge = |(claim, formulas): (&Claim, &Formulas)| {
            self.with_runs(harvests, |runs| {
                RanRow { experiment: &self.experiment, runs }.judge_claim(claim, formulas)
            })
        };
        row.claims.iter().zip(formulas).map(judge).collect()
    }
}

impl RanRow<'_> {
    fn judge_claim(&self, claim: &Claim, formulas: &Formulas) -> ClaimResult {
        let Experiment { name, row, .. } = self.experiment;
        let judged = match &formulas.of {
            Some(of) => self.judge_places(claim, of, &formulas.no_more),
            None => Vec::new(),
        };
        let verdicts: Vec<Verdict> = judged.iter().map(|own| own.judged.verdict).collect();
        let verdict = match claim.tests.as_slice() {
            // Without any run that counts nothing is decided.
            [] if self.runs.seeds == 0 => Verdict::Open,
            [] => together(&verdicts, claim.share),
            tests if tests.iter().all(|test| is_known_test(test)) => Verdict::Tested,
            // Unknown tests may be missing or not run, so that the claim stays undecided.
            _ => Verdict::Open,
        };
        let mut worst_last: Vec<&PlaceVerdict> = judged.iter().map(|own| &own.judged).collect();
        worst_last.sort_by(|a, b| a.verdict.cmp(&b.verdict).then_with(|| b.margin.total_cmp(&a.margin)));
        // The worst of the best `needed` places decides.
        let deciding = needed(judged.len(), claim.share).checked_sub(1).map(|last| worst_last[last]);
        let measured = deciding.map(|judged| judged.measured);
        let place = |JudgedPlace { at, values, judged }| PlaceResult {
            at,
            measured: judged.measured,
            values,
            inside: judged.inside,
            verdict: judged.verdict,
        };
        let cause = claim.cause.clone().or_else(|| row.cause.clone());
        // Causes explain the row without settings of the command line.
        let has_cause = !verdict.is_met() && self.experiment.laid.is_empty();
        ClaimResult {
            id: format!("{name}/{}", claim.id),
            row: name.clone(),
            class: claim.class,
            claim: claim.claim.clone(),
            reported: claim.paper.clone(),
            unit: claim.unit.clone(),
            measured,
            accepted: accepted(claim),
            verdict,
            stand_in: claim.stand_in.clone().or_else(|| row.stand_in.clone()),
            calibration: claim.calibration.unwrap_or(row.calibration),
            derived: claim.derived,
            beside: claim.beside,
            cause: cause.filter(|_| has_cause),
            tests: claim.tests.clone(),
            places: judged.into_iter().map(place).collect(),
        }
    }

    fn judge_places(&self, claim: &Claim, of: &Formula, no_more: &[Formula]) -> Vec<JudgedPlace> {
        let runs = self.runs;
        let claimed = (0..runs.places.len()).filter(|&index| is_claimed(claim, &runs.places[index]));
        if claim.over_places == OverPlaces::All {
            let values = runs.numbers_over(of, &claimed.collect::<Vec<_>>());
            return vec![JudgedPlace { at: GridPoint::new(), judged: judge_runs(claim, &values), values }];
        }
        let values: Vec<(usize, Vec<Value>)> =
            claimed.map(|index| (index, runs.numbers(of, index))).collect();
        if claim.over_places == OverPlaces::Mean {
            let runs: Vec<Vec<Value>> = values.into_iter().map(|(_, runs)| runs).collect();
            let values = mean_over_places(&runs);
            return vec![JudgedPlace { at: GridPoint::new(), judged: judge_runs(claim, &values), values }];
        }
        if let Some(trend) = &claim.trend {
            return self.judge_steps(&values, &trend.along, trend.goes.order());
        }
        let judge = |(index, values): (usize, Vec<Value>)| {
            let judged = self.unless_better(judge_runs(claim, &values), &values, claim, no_more, index);
            JudgedPlace { at: runs.places[index].clone(), values, judged }
        };
        values.into_iter().map(judge).collect()
    }

    fn unless_better(
        &self,
        judged: PlaceVerdict,
        values: &[Value],
        claim: &Claim,
        no_more: &[Formula],
        place: usize,
    ) -> PlaceVerdict {
        let (Some(better), Some(range)) = (&claim.better, claim.accept) else { return judged };
        let no_more = no_more.iter().zip(&better.at);
        let no_more: Vec<_> = no_more.map(|(of, own)| (self.runs.numbers(of, place), own.than)).collect();
        judged.unless_better(values, range, better.side, &no_more)
    }

    /// Judges each step from a place to the next one along an axis, with the other axes equal.
    fn judge_steps(&self, values: &[(usize, Vec<Value>)], along: &str, order: SignOrder) -> Vec<JudgedPlace> {
        let places = self.runs.places;
        let elsewhere = |place: &GridPoint| {
            let mut rest = place.clone();
            rest.remove(along);
            rest
        };
        let mut steps = Vec::new();
        for (at, (index, runs)) in values.iter().enumerate() {
            let place = &places[*index];
            // Nearest earlier place along the axis, with all other axes equal.
            let before =
                values[..at].iter().rev().find(|(other, _)| elsewhere(&places[*other]) == elsewhere(place));
            let Some((_, earlier)) = before else { continue };
            let differences: Vec<Value> =
                runs.iter().zip(earlier).map(|(now, then)| Some((*now)? - (*then)?)).collect();
            let judged = PlaceVerdict::in_order(&differences, order, 0.0);
            steps.push(JudgedPlace { at: place.clone(), values: differences, judged });
        }
        steps
    }
}

/// Evaluated plots of a row.
fn plots_of(experiment: &Experiment, runs: &Runs<'_>) -> Vec<PlotResult> {
    let Experiment { name, row, plots, .. } = experiment;
    let both = row.plots.iter().zip(plots);
    both.map(|(plot, formulas)| plots::evaluate(name, plot, formulas, runs)).collect()
}

fn judge_runs(claim: &Claim, runs: &[Value]) -> PlaceVerdict {
    if let Some(order) = claim.order {
        return PlaceVerdict::in_order(runs, order, claim.margin.unwrap_or(0.0));
    }
    let range = claim.accept.unwrap_or_default();
    match claim.over_seeds {
        OverSeeds::Mean => PlaceVerdict::in_range(runs, range),
        OverSeeds::Variation => PlaceVerdict::variation_in_range(runs, range),
    }
}

/// Mean over the places for each seed, or `None` for a seed that lacks a value at some place.
fn mean_over_places(places: &[Vec<Value>]) -> Vec<Value> {
    let seeds = places.iter().map(Vec::len).max().unwrap_or(0);
    let of_seed = |seed: usize| {
        let values: Option<Vec<f64>> = places.iter().map(|runs| runs.get(seed).copied().flatten()).collect();
        mean(&values?)
    };
    (0..seeds).map(of_seed).collect()
}

fn accepted(claim: &Claim) -> Accepted {
    let order = claim.order.or_else(|| claim.trend.as_ref().map(|trend| trend.goes.order()));
    let margin = claim.margin.unwrap_or(0.0);
    let Range { min, max } = match order {
        Some(SignOrder::Above) => Range { min: Some(0.0), max: None },
        Some(SignOrder::Below) => Range { min: None, max: Some(0.0) },
        // A negated margin of zero would be printed as −0.
        Some(SignOrder::NotBelow) => Range { min: Some(0.0 - margin), max: None },
        Some(SignOrder::NotAbove) => Range { min: None, max: Some(margin) },
        None => claim.accept.unwrap_or_default(),
    };
    Accepted { low: min, high: max, strict: order.is_some_and(SignOrder::is_strict) }
}
