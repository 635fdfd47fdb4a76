//! Plan of the runs that rows need; each scenario is run once, for all rows and claims that need it.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::cases::{Case, CaseSource, parameters, scenario};
use super::claim::{Claim, Selection};
use super::plots::{is_drawn, needed};
use super::read::{Experiment, plot_path};
use super::row::SweepValues;
use super::values::GridPoint;
use crate::judge::formula::{Formula, Leaf};
use crate::judge::paths::missing;
use weir_form::{KeyPath, Problem, ScenarioError, number_of_combinations};
use weir_import::traces::TraceStore;
use weir_measure::metrics::MeasurePlan;
use weir_scenario::compile::RunOptions;
use weir_scenario::scenario::Scenario;
use weir_theory::analysis;

/// Runs that a row needs.
#[derive(Debug)]
pub(super) struct PlannedRow {
    pub(super) experiment: Arc<Experiment>,
    /// Places of the sweeps, in order.
    pub(super) places: Vec<GridPoint>,
    /// Case of each variant at each place where the variant is needed.
    pub(super) cases: Vec<BTreeMap<String, usize>>,
    pub(super) seeds: u32,
}

/// Extent of the runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    /// Whether to use the full sweeps and seeds in place of the quick ones.
    pub full: bool,
    /// Number of seeds in place of that of the rows.
    pub runs: Option<u32>,
    /// Number of points on each axis of a grid in place of that of the rows.
    pub grid: Option<u32>,
    /// Whether to make runs that only plots need.
    pub plots: bool,
}

/// Plan of all runs.
#[derive(Debug)]
pub(super) struct RunPlan {
    pub(super) rows: Vec<PlannedRow>,
    pub(super) cases: Vec<Case>,
}

impl RunPlan {
    pub(super) fn of(
        experiments: &[Experiment],
        extent: Extent,
        traces: &TraceStore,
    ) -> Result<Self, ScenarioError> {
        let mut planner = Planner { traces, known: BTreeMap::new(), cases: Vec::new() };
        let rows = experiments.iter().map(|own| planner.row(&Arc::new(own.clone()), extent));
        let rows = rows.collect::<Result<_, _>>()?;
        Ok(Self { rows, cases: planner.cases })
    }

    /// Number of runs.
    pub(super) fn runs(&self) -> usize {
        self.cases.iter().map(|case| case.runs() as usize).sum()
    }
}

/// Whether `claim` is made at `place`.
pub(super) fn is_claimed(claim: &Claim, place: &GridPoint) -> bool {
    let meant =
        |(name, selection): (&String, &Selection)| place.get(name).is_some_and(|&value| selection.has(value));
    claim.selection.iter().all(meant)
}

/// A variant's place in the sweeps of a row.
#[derive(Clone, Copy)]
struct PlannedPlace<'p> {
    experiment: &'p Arc<Experiment>,
    /// First place of the row.
    first: &'p GridPoint,
    place: &'p GridPoint,
    /// Whether the scenarios are read only when they run.
    reads_late: bool,
}

struct Planner<'t> {
    traces: &'t TraceStore,
    /// Cases by a text that identifies them.
    known: BTreeMap<String, usize>,
    cases: Vec<Case>,
}

impl Planner<'_> {
    fn row(&mut self, experiment: &Arc<Experiment>, extent: Extent) -> Result<PlannedRow, ScenarioError> {
        let own = experiment.row.seeds;
        let seeds = extent.runs.unwrap_or(if extent.full { own.full } else { own.quick });
        let places = places(experiment, extent)?;
        let mut cases = Vec::with_capacity(places.len());
        if experiment.has_a_grid() {
            self.names_of(experiment, &places, extent)?;
        }
        for (index, place) in places.iter().enumerate() {
            // Only the ends of a grid are read before the runs start.
            let reads_late = experiment.has_a_grid() && index > 0 && index + 1 < places.len();
            let spot = PlannedPlace { experiment, first: &places[0], place, reads_late };
            let mut own = self.variants(&spot, seeds)?;
            if extent.plots {
                self.of_plots(&spot, seeds, &mut own)?;
            }
            cases.push(own);
        }
        let used: BTreeSet<usize> = cases.iter().flat_map(BTreeMap::values).copied().collect();
        self.check_settings(experiment, &used)?;
        Ok(PlannedRow { experiment: experiment.clone(), places, cases, seeds })
    }

    /// Refuses settings for a row that none of its runs accepts.
    fn check_settings(&self, experiment: &Experiment, used: &BTreeSet<usize>) -> Result<(), ScenarioError> {
        let Some(setting) = experiment.laid.first() else { return Ok(()) };
        let takes = |case: &usize| match self.cases[*case].source {
            CaseSource::Analysis { .. } => experiment.row.has_analyses_alone(),
            CaseSource::Scenario(_) | CaseSource::OfGrid { .. } => true,
        };
        if used.iter().any(takes) {
            return Ok(());
        }
        let message = format!("no run of {} has a scenario that takes this", experiment.name);
        let help = "leave it out: tests and, beside scenarios, analyses take no setting";
        Err(experiment.refuse(setting, &message, help))
    }

    /// Checks the names of claims and plots on a grid, each at the first place where it is needed. The inner points of
    /// a grid are read when they run.
    fn names_of(
        &self,
        experiment: &Experiment,
        places: &[GridPoint],
        extent: Extent,
    ) -> Result<(), ScenarioError> {
        let claims = experiment.row.claims.iter().zip(&experiment.formulas);
        for (claim, formulas) in claims {
            let place = places.iter().find(|place| is_claimed(claim, place));
            self.names_at(experiment, place, formulas.leaves(), &formulas.at)?;
        }
        let plots = experiment.row.plots.iter().zip(&experiment.plots).enumerate();
        for (index, (plot, formulas)) in plots.filter(|_| extent.plots) {
            let place = places.iter().find(|place| is_drawn(plot, &places[0], place));
            self.names_at(experiment, place, formulas.leaves(), &plot_path(index).with("lines"))?;
        }
        Ok(())
    }

    fn names_at<'l>(
        &self,
        experiment: &Experiment,
        place: Option<&GridPoint>,
        leaves: impl Iterator<Item = &'l Leaf>,
        path: &KeyPath,
    ) -> Result<(), ScenarioError> {
        let Some(place) = place else { return Ok(()) };
        let mut plans: BTreeMap<&str, MeasurePlan> = BTreeMap::new();
        for leaf in leaves.filter(|leaf| experiment.row.own_analysis(&leaf.variant).is_none()) {
            let plan = match plans.entry(&leaf.variant) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(new) => {
                    new.insert(self.measured(&scenario(experiment, &leaf.variant, place)?)?)
                }
            };
            if let Some(problem) = missing(plan, leaf, path) {
                return Err(experiment.origin.error(problem));
            }
        }
        Ok(())
    }

    /// Measurements of a scenario.
    fn measured(&self, scenario: &Scenario) -> Result<MeasurePlan, ScenarioError> {
        Ok(scenario.build(&RunOptions { seed: 1, ..RunOptions::default() }, self.traces)?.plan)
    }

    /// Cases of the variants that claims need at this place.
    fn variants(
        &mut self,
        spot: &PlannedPlace<'_>,
        seeds: u32,
    ) -> Result<BTreeMap<String, usize>, ScenarioError> {
        let PlannedPlace { experiment, place, .. } = *spot;
        let mut cases = BTreeMap::new();
        for (claim, formulas) in experiment.row.claims.iter().zip(&experiment.formulas) {
            if !is_claimed(claim, place) {
                continue;
            }
            for leaf in formulas.leaves() {
                self.add_path(spot, leaf, seeds, &formulas.at, &mut cases)?;
            }
        }
        let measured_scenario =
            experiment.measured_scenario.iter().flat_map(|measured_scenario| &measured_scenario.measured);
        for leaf in measured_scenario.flat_map(Formula::leaves) {
            self.add_path(spot, leaf, seeds, &KeyPath::default(), &mut cases)?;
        }
        Ok(cases)
    }

    /// Adds the cases of the variants that plots need at this place.
    fn of_plots(
        &mut self,
        spot: &PlannedPlace<'_>,
        seeds: u32,
        cases: &mut BTreeMap<String, usize>,
    ) -> Result<(), ScenarioError> {
        let PlannedPlace { experiment, first, place, .. } = *spot;
        let plots = experiment.row.plots.iter().zip(&experiment.plots).enumerate();
        for (index, (plot, formulas)) in plots.filter(|(_, (plot, _))| is_drawn(plot, first, place)) {
            for leaf in formulas.leaves() {
                let path = plot_path(index).with("lines");
                self.add_path(spot, leaf, needed(plot, seeds), &path, cases)?;
            }
        }
        Ok(())
    }

    /// Requests the value of `leaf` from runs of `seeds` seeds; `cases` has the variants of the place.
    fn add_path(
        &mut self,
        spot: &PlannedPlace<'_>,
        leaf: &Leaf,
        seeds: u32,
        path: &KeyPath,
        cases: &mut BTreeMap<String, usize>,
    ) -> Result<(), ScenarioError> {
        let case = if let Some(&case) = cases.get(&leaf.variant) {
            case
        } else {
            let case = self.case(spot, &leaf.variant)?;
            cases.insert(leaf.variant.clone(), case);
            case
        };
        let Case { plan, paths, seeds: most, .. } = &mut self.cases[case];
        *most = seeds.max(*most);
        if !paths.contains(&leaf.path) {
            if let Some(problem) = plan.as_ref().and_then(|plan| missing(plan, leaf, path)) {
                return Err(spot.experiment.origin.error(problem));
            }
            paths.insert(leaf.path.clone());
        }
        Ok(())
    }

    fn case(&mut self, spot: &PlannedPlace<'_>, variant: &str) -> Result<usize, ScenarioError> {
        let PlannedPlace { experiment, place, .. } = *spot;
        if let Some(entry) = experiment.row.own_analysis(variant).and_then(analysis::find) {
            let set = parameters(experiment, entry, variant, place)?;
            let name = format!("{}\n{set:?}", entry.name());
            return Ok(self.known_or(name, spot, variant, || (CaseSource::Analysis { entry, set }, None)));
        }
        if spot.reads_late {
            let Experiment { name, laid, .. } = &**experiment;
            let name = format!("{name}\n{variant}\n{place:?}\n{laid:?}");
            let source = || CaseSource::OfGrid {
                experiment: experiment.clone(),
                variant: variant.to_owned(),
                place: place.clone(),
            };
            return Ok(self.known_or(name, spot, variant, || (source(), None)));
        }
        let scenario = scenario(experiment, variant, place)?;
        let plan = self.measured(&scenario)?;
        // Equal scenarios have equal texts, so that rows share their runs.
        let text = scenario.to_toml().unwrap_or_else(|_| format!("{scenario:?}"));
        Ok(self.known_or(text, spot, variant, || (CaseSource::Scenario(Box::new(scenario)), Some(plan))))
    }

    /// The case that `text` identifies; a new one has the name of this variant and place.
    fn known_or(
        &mut self,
        text: String,
        spot: &PlannedPlace<'_>,
        variant: &str,
        source: impl FnOnce() -> (CaseSource, Option<MeasurePlan>),
    ) -> usize {
        let next = self.cases.len();
        let case = *self.known.entry(text).or_insert(next);
        if case == next {
            let (source, plan) = source();
            let Experiment { name, row, measured_scenario, .. } = &**spot.experiment;
            let name = if let Some(own) = measured_scenario {
                own.name_at(row.own_controller(variant).unwrap_or(variant), spot.place)
            } else {
                let at = spot.place.iter().map(|(axis, value)| format!("{axis}={value}"));
                [name.clone(), variant.to_owned()].into_iter().chain(at).collect::<Vec<_>>().join("/")
            };
            self.cases.push(Case { name, source, plan, paths: BTreeSet::new(), seeds: 0 });
        }
        case
    }
}

/// All places of the sweeps; the last sweep varies fastest.
///
/// # Errors
/// Too many places.
fn places(experiment: &Experiment, extent: Extent) -> Result<Vec<GridPoint>, ScenarioError> {
    let sweeps = experiment.row.sweeps.iter().map(|(name, sweep)| {
        let values = sweep.full.as_ref().filter(|_| extent.full).unwrap_or(&sweep.quick);
        (name, values)
    });
    let sweeps: Vec<(&str, &SweepValues)> = sweeps.collect();
    let counts: Vec<(&str, usize)> =
        sweeps.iter().map(|(name, values)| (*name, values.count(extent.grid))).collect();
    number_of_combinations(&counts)
        .map_err(|problem| experiment.origin.error(Problem::value(&KeyPath::of(&["sweeps"]), problem)))?;
    let mut places = vec![GridPoint::new()];
    for (name, values) in sweeps {
        let values = values.list(extent.grid);
        let with = |place: &GridPoint, value: f64| {
            let mut place = place.clone();
            place.insert(name.to_owned(), value);
            place
        };
        places = places.iter().flat_map(|place| values.iter().map(|&value| with(place, value))).collect();
    }
    Ok(places)
}
