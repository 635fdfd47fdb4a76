//! Which runs the rows need: each scenario once, whichever rows and claims ask for it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::catalogue::TEMPLATES;
use super::formula::{Formula, Harvested, Known, Leaf, evaluate, fill};
use super::plots::{is_drawn, needed};
use super::read::{Experiment, claim_path, plot_path};
use super::row::{Claim, Source, Variant};
use crate::build::RunOptions;
use crate::form::{KeyPath, Problem, ScenarioError, advice};
use crate::scenario::Scenario;
use crate::shipped;
use crate::traces::TraceStore;
use weir_measure::metrics::{FlowPlan, MeasurePlan};

/// A place on the sweeps of a row.
pub(super) type Place = BTreeMap<String, f64>;

/// A scenario that is run.
#[derive(Debug)]
pub(super) struct Case {
    pub(super) scenario: Scenario,
    /// What is measured of its runs.
    plan: MeasurePlan,
    /// What is wanted of its runs.
    pub(super) paths: BTreeSet<String>,
    /// How many seeds, from 1 on.
    pub(super) seeds: u32,
}

/// What a row needs.
#[derive(Debug)]
pub(super) struct PlannedRow<'e> {
    pub(super) experiment: &'e Experiment,
    /// The places, in order.
    pub(super) places: Vec<Place>,
    /// Which case each variant is at each place, where it is needed.
    pub(super) cases: Vec<BTreeMap<String, usize>>,
    pub(super) seeds: u32,
}

/// How much is run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    /// The whole sweeps and seeds in place of the quick ones.
    pub full: bool,
    /// So many seeds whatever the rows say.
    pub runs: Option<u32>,
    /// So many points on each axis of a grid, whatever the rows say.
    pub grid: Option<u32>,
    /// Also what only plots need.
    pub plots: bool,
}

/// Everything that is run.
#[derive(Debug)]
pub(super) struct Plan<'e> {
    pub(super) rows: Vec<PlannedRow<'e>>,
    pub(super) cases: Vec<Case>,
}

impl<'e> Plan<'e> {
    pub(super) fn of(
        experiments: &'e [Experiment],
        extent: Extent,
        traces: &TraceStore,
    ) -> Result<Self, ScenarioError> {
        let mut planner = Planner { traces, known: BTreeMap::new(), cases: Vec::new() };
        let rows = experiments.iter().map(|experiment| planner.row(experiment, extent));
        let rows = rows.collect::<Result<_, _>>()?;
        Ok(Self { rows, cases: planner.cases })
    }

    /// How many runs that makes.
    pub(super) fn runs(&self) -> usize {
        self.cases.iter().map(|case| case.seeds as usize).sum()
    }
}

/// Whether `claim` is made at `place`.
pub(super) fn is_claimed(claim: &Claim, place: &Place) -> bool {
    let meant = |(name, selection): (&String, &super::row::Selection)| {
        place.get(name).is_some_and(|&value| selection.has(value))
    };
    claim.selection.iter().all(meant)
}

struct Planner<'t> {
    traces: &'t TraceStore,
    /// The cases by the text of their scenarios.
    known: BTreeMap<String, usize>,
    cases: Vec<Case>,
}

impl Planner<'_> {
    fn row<'e>(
        &mut self,
        experiment: &'e Experiment,
        extent: Extent,
    ) -> Result<PlannedRow<'e>, ScenarioError> {
        let own = experiment.row.seeds;
        let seeds = extent.runs.unwrap_or(if extent.full { own.full } else { own.quick });
        let places = places(experiment, extent);
        let mut cases = Vec::with_capacity(places.len());
        for place in &places {
            let mut own = self.variants(experiment, place, seeds)?;
            if extent.plots {
                self.of_plots(experiment, (&places[0], place), seeds, &mut own)?;
            }
            cases.push(own);
        }
        Ok(PlannedRow { experiment, places, cases, seeds })
    }

    /// The cases of the variants that some claim needs at `place`.
    fn variants(
        &mut self,
        experiment: &Experiment,
        place: &Place,
        seeds: u32,
    ) -> Result<BTreeMap<String, usize>, ScenarioError> {
        let mut cases = BTreeMap::new();
        for (index, (claim, formulas)) in experiment.row.claims.iter().zip(&experiment.formulas).enumerate() {
            if !is_claimed(claim, place) {
                continue;
            }
            for leaf in formulas.leaves() {
                self.want(experiment, leaf, place, seeds, &claim_path(index).with("of"), &mut cases)?;
            }
        }
        Ok(cases)
    }

    /// Adds the cases of the variants that some plot needs at a place; `places` are the first one and that one.
    fn of_plots(
        &mut self,
        experiment: &Experiment,
        places: (&Place, &Place),
        seeds: u32,
        cases: &mut BTreeMap<String, usize>,
    ) -> Result<(), ScenarioError> {
        let (first, place) = places;
        let plots = experiment.row.plots.iter().zip(&experiment.plots).enumerate();
        for (index, (plot, formulas)) in plots.filter(|(_, (plot, _))| is_drawn(plot, first, place)) {
            for leaf in formulas.leaves() {
                let path = plot_path(index).with("lines");
                self.want(experiment, leaf, place, needed(plot, seeds), &path, cases)?;
            }
        }
        Ok(())
    }

    /// What `leaf` names is taken from runs of so many seeds; `cases` has the variants at `place`.
    fn want(
        &mut self,
        experiment: &Experiment,
        leaf: &Leaf,
        place: &Place,
        seeds: u32,
        path: &KeyPath,
        cases: &mut BTreeMap<String, usize>,
    ) -> Result<(), ScenarioError> {
        let case = if let Some(&case) = cases.get(&leaf.variant) {
            case
        } else {
            let case = self.case(experiment, &leaf.variant, place)?;
            cases.insert(leaf.variant.clone(), case);
            case
        };
        let Case { plan, paths, seeds: most, .. } = &mut self.cases[case];
        *most = seeds.max(*most);
        if !paths.contains(&leaf.path) {
            if let Some(problem) = missing(plan, leaf, path) {
                return Err(experiment.origin.error(problem));
            }
            paths.insert(leaf.path.clone());
        }
        Ok(())
    }

    fn case(
        &mut self,
        experiment: &Experiment,
        variant: &str,
        place: &Place,
    ) -> Result<usize, ScenarioError> {
        let scenario = scenario(experiment, variant, place)?;
        let text = scenario.to_toml().unwrap_or_else(|_| format!("{scenario:?}"));
        let next = self.cases.len();
        let case = *self.known.entry(text).or_insert(next);
        if case == next {
            let plan = scenario.build(&RunOptions { seed: 1, ..RunOptions::default() }, self.traces)?.plan;
            self.cases.push(Case { scenario, plan, paths: BTreeSet::new(), seeds: 0 });
        }
        Ok(case)
    }
}

/// Every place of the sweeps, the last sweep going fastest.
fn places(experiment: &Experiment, extent: Extent) -> Vec<Place> {
    let mut places = vec![Place::new()];
    for (name, sweep) in experiment.row.sweeps.iter() {
        let values = sweep.full.as_ref().filter(|_| extent.full).unwrap_or(&sweep.quick).list(extent.grid);
        let with = |place: &Place, value: f64| {
            let mut place = place.clone();
            place.insert(name.to_owned(), value);
            place
        };
        places = places.iter().flat_map(|place| values.iter().map(|&value| with(place, value))).collect();
    }
    places
}

/// What is laid over the source of a variant at a place.
fn overrides(experiment: &Experiment, variant: &str, place: &Place) -> Result<Vec<String>, ScenarioError> {
    let row = &experiment.row;
    let nothing = |_: &Leaf| None;
    let axes = |name: &str| place.get(name).copied().map(Harvested::Number);
    let value = |formula: &Formula| evaluate(formula, &Known { axes: &axes, measured: &nothing });
    let own = row.variants.get(variant);
    let by_itself = own.is_some_and(Variant::has_its_own_source);
    let sweeps = row.sweeps.iter().flat_map(|(_, sweep)| &sweep.set);
    let of_the_row = row.set.iter().chain(sweeps).filter(|_| !by_itself);
    let fill = |text: &String| {
        fill(text, value).map_err(|mistake| {
            let problem = Problem::value(&KeyPath::of(&["set"]), mistake.message);
            experiment.origin.error(problem.help(mistake.help))
        })
    };
    of_the_row.chain(own.into_iter().flat_map(|variant| &variant.set)).map(fill).collect()
}

/// The scenario of a variant at a place.
fn scenario(experiment: &Experiment, variant: &str, place: &Place) -> Result<Scenario, ScenarioError> {
    let row = &experiment.row;
    let mut overrides = overrides(experiment, variant, place)?;
    overrides.extend(windows(experiment));
    let own = row.variants.get(variant).and_then(|variant| variant.scenario.as_ref());
    let of_the_row = row.scenario.as_ref().and_then(|source| match source {
        Source::Name(name) => Some(name),
        Source::Inline(_) => None,
    });
    let scenario = match (own.or(of_the_row), &experiment.inline) {
        (Some(name), _) => named(experiment, name, &overrides),
        (None, Some(text)) => {
            Scenario::parse(&format!("experiments/{}.toml", experiment.name), text, &overrides)
        }
        (None, None) => {
            let problem = Problem::key(&KeyPath::of(&["variants"]), "there is no scenario to be run");
            return Err(experiment.origin.error(problem));
        }
    };
    // Names and seeds do not make runs of their own.
    scenario.map(|scenario| Scenario { name: String::new(), runs: 1, seed: 1, ..scenario })
}

/// The template, shipped scenario or file of this name.
fn named(experiment: &Experiment, name: &str, overrides: &[String]) -> Result<Scenario, ScenarioError> {
    let own = experiment.templates.as_ref().map(|folder| folder.join(format!("{name}.toml")));
    if let Some(own) = own.filter(|own| own.is_file()) {
        return Scenario::open(&own.to_string_lossy(), overrides);
    }
    if let Some(template) = TEMPLATES.iter().find(|own| own.name == format!("templates/{name}")) {
        return Scenario::parse(&format!("experiments/{}.toml", template.name), template.text, overrides);
    }
    if shipped::find(name).is_some() || Path::new(name).is_file() {
        return Scenario::open(name, overrides);
    }
    let names = TEMPLATES.iter().filter_map(|own| own.name.strip_prefix("templates/"));
    let names = names.chain(shipped::SCENARIOS.iter().map(|own| own.name));
    let problem = Problem::value(&KeyPath::of(&["scenario"]), format!("there is no scenario `{name}`"));
    Err(experiment.origin.error(problem.help(advice(name, names))))
}

/// The row's windows as a `path=value`.
fn windows(experiment: &Experiment) -> Option<String> {
    let own = &experiment.row.windows;
    let window = |(name, window): (&str, &crate::scenario::FurtherWindow)| {
        let to = window.to.map_or_else(String::new, |to| format!(", to = \"{to}\""));
        format!("\"{name}\" = {{ from = \"{}\"{to} }}", window.from)
    };
    let windows: Vec<String> = own.iter().map(window).collect();
    (!windows.is_empty()).then(|| format!("measure.windows={{ {} }}", windows.join(", ")))
}

/// What is wrong with the names in a path: there is no such flow, link or window.
fn missing(plan: &MeasurePlan, leaf: &Leaf, at: &KeyPath) -> Option<Problem> {
    let parts: Vec<&str> = leaf.path.split('.').collect();
    let unnamed = missing_name(plan, leaf, &parts, at);
    unnamed.or_else(|| missing_signal(plan, leaf, &parts, at))
}

/// No flow that is meant has a signal of this name.
fn missing_signal(plan: &MeasurePlan, leaf: &Leaf, parts: &[&str], at: &KeyPath) -> Option<Problem> {
    let ["series", "flows", flow, side, signal, _] = parts else { return None };
    let meant = |name: &str| flow.strip_suffix('*').map_or(*flow == name, |head| name.starts_with(head));
    let of = |flow: &'_ FlowPlan| {
        if *side == "sender" { flow.sender_signals.clone() } else { flow.receiver_signals.clone() }
    };
    let names: Vec<String> = plan.flows.iter().filter(|flow| meant(&flow.name)).flat_map(of).collect();
    (!names.iter().any(|name| name == signal)).then(|| {
        let message = format!("in {} `{flow}` has no signal `{signal}` at its {side}", leaf.variant);
        Problem::value(at, message).help(advice(signal, names.iter().map(String::as_str)))
    })
}

fn missing_name(plan: &MeasurePlan, leaf: &Leaf, parts: &[&str], at: &KeyPath) -> Option<Problem> {
    parts.windows(2).find_map(|pair| {
        let names: Vec<&str> = match pair[0] {
            "flows" => plan.flows.iter().map(|flow| flow.name.as_str()).collect(),
            "links" => plan.links.iter().map(|link| link.name.as_str()).collect(),
            "windows" => plan.windows.iter().map(|window| window.name.as_str()).collect(),
            _ => return None,
        };
        let found = match pair[1].strip_suffix('*') {
            Some(head) => names.iter().any(|name| name.starts_with(head)),
            None => names.contains(&pair[1]),
        };
        (!found).then(|| {
            let message = format!("in {} there is no `{}` among its {}", leaf.variant, pair[1], pair[0]);
            Problem::value(at, message).help(advice(pair[1], names))
        })
    })
}
