//! Running rows and judging what they claim.

use super::cases::{Case, Place};
use super::formula::{Formula, Harvested, Known, Leaf, evaluate};
use super::harvest::{Harvest, Harvests};
use super::judge::{Judged, Verdict, needed, together};
use super::plan::{Extent, Plan, PlannedRow, is_claimed};
use super::plots::{self, PlotResult};
use super::read::{Experiment, Formulas};
use super::results::{Accepted, ClaimResult, PlaceResult};
use super::row::{Claim, NoMore, Order, OverPlaces, OverSeeds, Range};
use super::shard::Shard;
use super::table::Table;
use crate::form::ScenarioError;
use crate::runs::{RunError, Runner, Store};
use crate::traces::TraceStore;
use weir_measure::results::Value;
use weir_measure::results::stats::mean;

/// Rows that are going to be reproduced: every run they need is planned, and every scenario has been read.
#[derive(Debug)]
pub struct Reproduction<'e> {
    plan: Plan<'e>,
    /// Whether plots are wanted.
    plots: bool,
}

/// What came out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reproduced {
    /// The claims, in the order of the rows.
    pub claims: Vec<ClaimResult>,
    /// The plots, in the order of the rows; none unless they were wanted.
    pub plots: Vec<PlotResult>,
    /// What was measured at each point of a grid, of the rows that have one.
    pub tables: Vec<Table>,
}

impl<'e> Reproduction<'e> {
    /// Plans the runs that `experiments` need.
    ///
    /// # Errors
    /// A scenario that is wrong, or that lacks what a claim names.
    pub fn plan(
        experiments: &'e [Experiment],
        extent: Extent,
        traces: &TraceStore,
    ) -> Result<Self, ScenarioError> {
        Ok(Self { plan: Plan::of(experiments, extent, traces)?, plots: extent.plots })
    }

    /// How many runs that makes.
    pub fn runs(&self) -> usize {
        self.plan.runs()
    }

    /// Makes the runs on so many threads, those that `store` has not, and judges the claims, in the order of the rows; `done` is
    /// called after each run, from any thread.
    ///
    /// # Errors
    /// A run cannot be made.
    pub fn run(
        &self,
        jobs: usize,
        traces: &TraceStore,
        store: &impl Store<Harvest>,
        done: &(dyn Fn() + Sync),
    ) -> Result<Reproduced, RunError> {
        let tasks = self.tasks(Shard::WHOLE);
        let made = self.make(&tasks, jobs, traces, store, done)?;
        let mut harvests = Harvests::of(&self.plan.cases);
        for (task, harvest) in tasks.iter().zip(made) {
            harvests.add(task.case, harvest);
        }
        let rows = self.plan.rows.iter();
        let plots = rows.clone().filter(|_| self.plots).flat_map(|row| row.plots(&harvests)).collect();
        let tables = rows.clone().filter_map(|row| Table::of(row, &harvests)).collect();
        Ok(Reproduced { claims: rows.flat_map(|row| row.judge(&harvests)).collect(), plots, tables })
    }

    /// Makes the runs of `shard` alone, into `store`.
    ///
    /// # Errors
    /// A run cannot be made.
    pub fn run_shard(
        &self,
        shard: Shard,
        jobs: usize,
        traces: &TraceStore,
        store: &impl Store<Harvest>,
        done: &(dyn Fn() + Sync),
    ) -> Result<(), RunError> {
        self.make(&self.tasks(shard), jobs, traces, store, done).map(drop)
    }

    /// How many runs `shard` makes.
    pub fn runs_of(&self, shard: Shard) -> usize {
        self.tasks(shard).len()
    }

    fn tasks(&self, shard: Shard) -> Vec<OneRun> {
        let of = |(case, own): (usize, &Case<'_>)| {
            (1..=u64::from(own.runs())).map(move |seed| OneRun { case, seed })
        };
        let all = self.plan.cases.iter().enumerate().flat_map(of).enumerate();
        all.filter(|(index, _)| shard.has(*index)).map(|(_, task)| task).collect()
    }

    fn make(
        &self,
        tasks: &[OneRun],
        jobs: usize,
        traces: &TraceStore,
        store: &impl Store<Harvest>,
        done: &(dyn Fn() + Sync),
    ) -> Result<Vec<Harvest>, RunError> {
        let make = |index: usize| {
            let OneRun { case, seed } = tasks[index];
            self.plan.cases[case].make(seed, traces, store)
        };
        Runner { jobs, done }.each(tasks.len(), make)
    }
}

/// A run of a case.
#[derive(Clone, Copy, Debug)]
struct OneRun {
    case: usize,
    seed: u64,
}

impl PlannedRow<'_> {
    fn judge(&self, harvests: &Harvests<'_>) -> Vec<ClaimResult> {
        let Experiment { row, formulas, .. } = self.experiment;
        row.claims
            .iter()
            .zip(formulas)
            .map(|(claim, formulas)| self.judge_claim(claim, formulas, harvests))
            .collect()
    }

    fn judge_claim(&self, claim: &Claim, formulas: &Formulas, harvests: &Harvests<'_>) -> ClaimResult {
        let Experiment { name, row, .. } = self.experiment;
        let judged = match &formulas.of {
            Some(of) => self.judge_places(claim, of, &formulas.no_more, harvests),
            None => Vec::new(),
        };
        let verdicts: Vec<Verdict> = judged.iter().map(|(_, judged)| judged.verdict).collect();
        let verdict = if claim.tests.is_empty() { together(&verdicts, claim.share) } else { Verdict::Tested };
        let mut worst_last: Vec<&(Place, Judged)> = judged.iter().collect();
        worst_last
            .sort_by(|(_, a), (_, b)| a.verdict.cmp(&b.verdict).then_with(|| b.margin.total_cmp(&a.margin)));
        // The worst of those that have to hold.
        let deciding = needed(judged.len(), claim.share).checked_sub(1).map(|last| worst_last[last]);
        let place = |(at, judged): &(Place, Judged)| PlaceResult {
            at: at.clone(),
            measured: judged.measured,
            inside: judged.inside,
            verdict: judged.verdict,
        };
        let cause = claim.cause.clone().or_else(|| row.cause.clone());
        ClaimResult {
            id: format!("{name}/{}", claim.id),
            row: name.clone(),
            class: claim.class,
            claim: claim.claim.clone(),
            reported: claim.paper.clone(),
            unit: claim.unit.clone(),
            measured: deciding.map(|(_, judged)| judged.measured),
            accepted: accepted(claim),
            verdict,
            stand_in: claim.stand_in.clone().or_else(|| row.stand_in.clone()),
            calibration: claim.calibration.unwrap_or(row.calibration),
            cause: cause.filter(|_| !verdict.is_met()),
            tests: claim.tests.clone(),
            places: judged.iter().map(place).collect(),
        }
    }

    fn judge_places(
        &self,
        claim: &Claim,
        of: &Formula,
        no_more: &[Formula],
        harvests: &Harvests<'_>,
    ) -> Vec<(Place, Judged)> {
        let claimed = (0..self.places.len()).filter(|&index| is_claimed(claim, &self.places[index]));
        if claim.over_places == OverPlaces::All {
            let runs = self.values_over_places(of, &claimed.collect::<Vec<_>>(), harvests);
            return vec![(Place::new(), judge_runs(claim, &runs))];
        }
        let values: Vec<(usize, Vec<Value>)> =
            claimed.map(|index| (index, self.values(of, index, harvests))).collect();
        if claim.over_places == OverPlaces::Mean {
            let runs: Vec<Vec<Value>> = values.into_iter().map(|(_, runs)| runs).collect();
            return vec![(Place::new(), judge_runs(claim, &mean_over_places(&runs)))];
        }
        if let Some(trend) = &claim.trend {
            return self.judge_steps(&values, &trend.along, trend.goes.order());
        }
        let judge = |(index, runs): &(usize, Vec<Value>)| {
            let judged = self.unless_better(judge_runs(claim, runs), runs, claim, no_more, *index, harvests);
            (self.places[*index].clone(), judged)
        };
        values.iter().map(judge).collect()
    }

    fn unless_better(
        &self,
        judged: Judged,
        runs: &[Value],
        claim: &Claim,
        no_more: &[Formula],
        place: usize,
        harvests: &Harvests<'_>,
    ) -> Judged {
        let (Some(better), Some(range)) = (&claim.better, claim.accept) else { return judged };
        let values = |(of, own): (&Formula, &NoMore)| (self.values(of, place, harvests), own.than);
        let no_more: Vec<_> = no_more.iter().zip(&better.at).map(values).collect();
        judged.unless_better(runs, range, better.side, &no_more)
    }

    /// Each step from a place to the next one along an axis, the other axes being the same.
    fn judge_steps(&self, values: &[(usize, Vec<Value>)], along: &str, order: Order) -> Vec<(Place, Judged)> {
        let elsewhere = |place: &Place| {
            let mut rest = place.clone();
            rest.remove(along);
            rest
        };
        let mut steps = Vec::new();
        for (at, (index, runs)) in values.iter().enumerate() {
            let place = &self.places[*index];
            let before = values[..at]
                .iter()
                .rev()
                .find(|(other, _)| elsewhere(&self.places[*other]) == elsewhere(place));
            let Some((_, earlier)) = before else { continue };
            let differences: Vec<Value> =
                runs.iter().zip(earlier).map(|(now, then)| Some((*now)? - (*then)?)).collect();
            steps.push((place.clone(), Judged::in_order(&differences, order)));
        }
        steps
    }

    /// The value of each seed of `formula` over so many places at once.
    fn values_over_places(&self, formula: &Formula, places: &[usize], harvests: &Harvests<'_>) -> Vec<Value> {
        let several = |values: Option<Vec<f64>>| values.map(Harvested::Several);
        let axes =
            |name: &str| several(places.iter().map(|&place| self.places[place].get(name).copied()).collect());
        let value = |seed: usize| {
            let at = |leaf: &Leaf, place: usize| {
                let case = *self.cases[place].get(&leaf.variant)?;
                match harvests.get(case, seed, &leaf.path)? {
                    Harvested::Number(number) => Some(*number),
                    _ => None,
                }
            };
            let measured = |leaf: &Leaf| several(places.iter().map(|&place| at(leaf, place)).collect());
            evaluate(formula, &Known { axes: &axes, measured: &measured })
        };
        (0..self.seeds as usize).map(value).collect()
    }

    /// What is drawn of the row.
    fn plots(&self, harvests: &Harvests<'_>) -> Vec<PlotResult> {
        let Experiment { name, row, plots, .. } = self.experiment;
        let measured = |place: usize, seed: usize, leaf: &Leaf| self.measured(place, seed, leaf, harvests);
        let runs = plots::Runs { places: &self.places, seeds: self.seeds as usize, measured: &measured };
        let both = row.plots.iter().zip(plots);
        both.map(|(plot, formulas)| plots::evaluate(name, plot, formulas, &runs)).collect()
    }

    /// What was taken at a place from the run of a seed.
    fn measured(&self, place: usize, seed: usize, leaf: &Leaf, harvests: &Harvests<'_>) -> Option<Harvested> {
        let case = *self.cases[place].get(&leaf.variant)?;
        harvests.get(case, seed, &leaf.path).cloned()
    }

    /// The value of `formula` of each seed.
    fn values(&self, formula: &Formula, place: usize, harvests: &Harvests<'_>) -> Vec<Value> {
        let value = |seed: usize| {
            let measured = |leaf: &Leaf| self.measured(place, seed, leaf, harvests);
            let axes = |name: &str| self.places[place].get(name).copied().map(Harvested::Number);
            evaluate(formula, &Known { axes: &axes, measured: &measured })
        };
        // What is the same for each seed is computed once.
        let drawn = |leaf: &&Leaf| {
            let case = self.cases[place].get(&leaf.variant);
            case.is_none_or(|&case| harvests.is_drawn(case))
        };
        let seeds = if formula.leaves().iter().any(drawn) { self.seeds as usize } else { 1 };
        (0..seeds).map(value).collect()
    }
}

fn judge_runs(claim: &Claim, runs: &[Value]) -> Judged {
    if let Some(order) = claim.order {
        return Judged::in_order(runs, order);
    }
    let range = claim.accept.unwrap_or_default();
    match claim.over_seeds {
        OverSeeds::Mean => Judged::in_range(runs, range),
        OverSeeds::Variation => Judged::variation_in_range(runs, range),
    }
}

/// The mean over the places of each seed's values; none where a place has none.
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
    let Range { min, max } = match order {
        Some(Order::Above) => Range { min: Some(0.0), max: None },
        Some(Order::Below) => Range { min: None, max: Some(0.0) },
        None => claim.accept.unwrap_or_default(),
    };
    Accepted { low: min, high: max }
}
