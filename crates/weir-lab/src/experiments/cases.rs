//! What is run: where the runs of a variant at a place come from.

use std::collections::BTreeSet;
use std::path::Path;

use super::catalogue::TEMPLATES;
use super::formula::{Formula, Harvested, Known, Leaf, evaluate, fill};
use super::read::{Experiment, Setting};
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

/// What the row lays over the source of a variant at a place.
fn settings(experiment: &Experiment, variant: &str, place: &Place) -> Result<Vec<Setting>, ScenarioError> {
    let row = &experiment.row;
    let mut laid = Vec::new();
    let mut lay = |set: &[String], path: &KeyPath| {
        let setting = |(index, text): (usize, &String)| Setting {
            text: text.clone(),
            at: Some(path.with("set").item(index)),
        };
        laid.extend(set.iter().enumerate().map(setting));
    };
    if !row.is_by_itself(variant) {
        lay(&row.set, &KeyPath::default());
        row.sweeps.iter().for_each(|(name, sweep)| lay(&sweep.set, &KeyPath::of(&["sweeps", name])));
    }
    row.layers(variant).for_each(|(name, layer)| lay(&layer.set, &KeyPath::of(&["variants", name])));
    laid.into_iter().map(|setting| filled(experiment, setting, place)).collect()
}

/// The setting with the numbers that follow from the axes.
fn filled(experiment: &Experiment, setting: Setting, place: &Place) -> Result<Setting, ScenarioError> {
    let nothing = |_: &Leaf| None;
    let axes = |name: &str| place.get(name).copied().map(Harvested::Number);
    let value = |formula: &Formula| evaluate(formula, &Known { axes: &axes, measured: &nothing });
    match fill(&setting.text, value) {
        Ok(text) => Ok(Setting { text, ..setting }),
        Err(mistake) => Err(experiment.refuse(&setting, &mistake.message, &mistake.help)),
    }
}

/// What is laid over all scenarios of the row, behind all else.
fn laid(experiment: &Experiment, place: &Place) -> Result<Vec<Setting>, ScenarioError> {
    experiment.laid.iter().cloned().map(|setting| filled(experiment, setting, place)).collect()
}

/// The parameters of the analysis that a variant is. What is laid over the scenarios of a row is a parameter where it has none.
pub(super) fn parameters(
    experiment: &Experiment,
    entry: &'static Entry,
    variant: &str,
    place: &Place,
) -> Result<Vec<String>, ScenarioError> {
    let mut all = settings(experiment, variant, place)?;
    if experiment.row.has_analyses_alone() {
        all.extend(laid(experiment, place)?);
    }
    let set: Vec<String> = all.iter().map(|setting| setting.text.clone()).collect();
    entry.check(&set).map_err(|error| placed(experiment, &all, &error))?;
    Ok(set)
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
    let mut all = settings(experiment, variant, place)?;
    all.extend(windows(experiment));
    all.extend(laid(experiment, place)?);
    let overrides: Vec<String> = all.iter().map(|setting| setting.text.clone()).collect();
    source(experiment, variant, &overrides).map_err(|error| placed(experiment, &all, &error))
}

/// The error, each part of it that is about a setting of the row's file at its place there.
fn placed(experiment: &Experiment, settings: &[Setting], error: &ScenarioError) -> ScenarioError {
    let place = |error: ScenarioError| {
        let is_it = |setting: &&Setting| error.assignment() == Some(setting.text.as_str());
        // The last one counts.
        let at = settings.iter().rev().find(is_it).and_then(|setting| setting.at.as_ref());
        at.map_or_else(|| error.clone(), |at| experiment.origin.error(error.problem_at(at)))
    };
    ScenarioError::together(error.each().into_iter().map(place).collect()).unwrap_or_else(|| error.clone())
}

/// The scenario that a variant stands on, with so much laid over it.
fn source(experiment: &Experiment, variant: &str, overrides: &[String]) -> Result<Scenario, ScenarioError> {
    let row = &experiment.row;
    let own = row.own_scenario(variant);
    let of_the_row = row.scenario.as_ref().and_then(|source| match source {
        Source::Name(name) => Some(name.as_str()),
        Source::Inline(_) => None,
    });
    match (own.or(of_the_row), &experiment.inline) {
        (Some(name), _) => named(experiment, name, overrides),
        (None, Some(text)) => Scenario::parse_in(
            &experiment.registry,
            &format!("experiments/{}.toml", experiment.name),
            text,
            overrides,
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

/// The row's windows as a setting.
fn windows(experiment: &Experiment) -> Option<Setting> {
    let own = &experiment.row.windows;
    let window = |(name, window): (&str, &crate::scenario::FurtherWindow)| {
        let to = window.to.map_or_else(String::new, |to| format!(", to = \"{to}\""));
        format!("\"{name}\" = {{ from = \"{}\"{to} }}", window.from)
    };
    let windows: Vec<String> = own.iter().map(window).collect();
    (!windows.is_empty()).then(|| Setting {
        text: format!("measure.windows={{ {} }}", windows.join(", ")),
        at: Some(KeyPath::of(&["windows"])),
    })
}
