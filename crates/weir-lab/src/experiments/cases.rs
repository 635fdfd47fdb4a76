//! What is run: where the runs of a variant at a place come from.

use std::collections::BTreeSet;
use std::path::Path;

use super::catalogue::TEMPLATES;
use super::formula::{Formula, Harvested, Known, Leaf, evaluate, fill};
use super::read::Experiment;
use super::row::Source;
use super::values::Place;
use crate::analysis::Entry;
use crate::form::{KeyPath, Problem, ScenarioError, advice};
use crate::scenario::{Named, Scenario};
use crate::shipped;
use weir_measure::metrics::MeasurePlan;

/// What is run or computed, with so many seeds.
#[derive(Debug)]
pub(super) struct Case<'e> {
    /// Where it comes from.
    pub(super) source: CaseSource<'e>,
    /// What is measured of its runs; nothing of an analysis.
    pub(super) plan: Option<MeasurePlan>,
    /// What is wanted of its runs.
    pub(super) paths: BTreeSet<String>,
    /// How many seeds, from 1 on; one is enough for what has none.
    pub(super) seeds: u32,
}

/// Where a case comes from.
#[derive(Debug)]
pub(super) enum CaseSource<'e> {
    /// A scenario that has been read.
    Scenario(Box<Scenario>),
    /// A variant at a place of a grid, read when it is run.
    OfGrid { experiment: &'e Experiment, variant: String, place: Place },
    /// An analysis with what is set.
    Analysis { entry: &'static Entry, set: Vec<String> },
}

impl Case<'_> {
    /// Whether its runs differ from seed to seed.
    pub(super) fn is_drawn(&self) -> bool {
        if let CaseSource::Analysis { entry, .. } = &self.source { entry.has_seed() } else { true }
    }

    /// How many runs it is.
    pub(super) fn runs(&self) -> u32 {
        if self.is_drawn() { self.seeds } else { self.seeds.min(1) }
    }
}

/// What is laid over the source of a variant at a place.
pub(super) fn overrides(
    experiment: &Experiment,
    variant: &str,
    place: &Place,
) -> Result<Vec<String>, ScenarioError> {
    let row = &experiment.row;
    let nothing = |_: &Leaf| None;
    let axes = |name: &str| place.get(name).copied().map(Harvested::Number);
    let value = |formula: &Formula| evaluate(formula, &Known { axes: &axes, measured: &nothing });
    let by_itself = row.is_by_itself(variant);
    let sweeps = row.sweeps.iter().flat_map(|(_, sweep)| &sweep.set);
    let of_the_row = row.set.iter().chain(sweeps).filter(|_| !by_itself);
    let fill = |text: &String| {
        fill(text, value).map_err(|mistake| {
            let problem = Problem::value(&KeyPath::of(&["set"]), mistake.message);
            experiment.origin.error(problem.help(mistake.help))
        })
    };
    of_the_row.chain(row.layers(variant).flat_map(|layer| &layer.set)).map(fill).collect()
}

/// The scenario of a variant at a place.
pub(super) fn scenario(
    experiment: &Experiment,
    variant: &str,
    place: &Place,
) -> Result<Scenario, ScenarioError> {
    let row = &experiment.row;
    let mut scenario = match &experiment.asked {
        Some(asked) => asked.scenario_at(&experiment.registry, place)?,
        None => of_the_row(experiment, variant, place)?,
    };
    if let Some(controller) = row.own_controller(variant) {
        scenario.use_controller(controller)?;
    }
    // Names and seeds do not make runs of their own, nor does what others are compared with.
    let (controllers, variants) = (Vec::new(), Named::default());
    Ok(Scenario { name: String::new(), runs: 1, seed: 1, controllers, variants, ..scenario })
}

/// The same as the row has it.
fn of_the_row(experiment: &Experiment, variant: &str, place: &Place) -> Result<Scenario, ScenarioError> {
    let row = &experiment.row;
    let mut overrides = overrides(experiment, variant, place)?;
    overrides.extend(windows(experiment));
    let own = row.own_scenario(variant);
    let of_the_row = row.scenario.as_ref().and_then(|source| match source {
        Source::Name(name) => Some(name.as_str()),
        Source::Inline(_) => None,
    });
    match (own.or(of_the_row), &experiment.inline) {
        (Some(name), _) => named(experiment, name, &overrides),
        (None, Some(text)) => Scenario::parse_in(
            &experiment.registry,
            &format!("experiments/{}.toml", experiment.name),
            text,
            &overrides,
        ),
        (None, None) => {
            let problem = Problem::key(&KeyPath::of(&["variants"]), "there is no scenario to be run");
            Err(experiment.origin.error(problem))
        }
    }
}

/// The template, shipped scenario or file of this name.
fn named(experiment: &Experiment, name: &str, overrides: &[String]) -> Result<Scenario, ScenarioError> {
    let registry = &experiment.registry;
    let own = experiment.templates.as_ref().map(|folder| folder.join(format!("{name}.toml")));
    if let Some(own) = own.filter(|own| own.is_file()) {
        return Scenario::open_in(registry, &own.to_string_lossy(), overrides);
    }
    if let Some(template) = TEMPLATES.iter().find(|own| own.name == format!("templates/{name}")) {
        let file = format!("experiments/{}.toml", template.name);
        return Scenario::parse_in(registry, &file, template.text, overrides);
    }
    if shipped::find(name).is_some() || Path::new(name).is_file() {
        return Scenario::open_in(registry, name, overrides);
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
