//! Sources of the runs of a variant at a place.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use super::catalogue::TEMPLATES;
use super::read::{Experiment, Setting};
use super::row::ScenarioSource;
use super::values::GridPoint;
use crate::judge::formula::{Formula, Harvested, KnownValues, Leaf, evaluate, fill};
use weir_form::{KeyPath, Problem, ScenarioError, advice};
use weir_measure::metrics::MeasurePlan;
use weir_scenario::scenario::{Named, Scenario};
use weir_scenario::shipped;
use weir_theory::analysis::Entry;

/// Scenario or analysis with its number of seeds.
#[derive(Debug)]
pub(super) struct Case {
    /// Name of its runs: the row and the variant, and its place of the sweeps.
    pub(super) name: String,
    /// Source of the runs.
    pub(super) source: CaseSource,
    /// Measurements of the runs; absent for an analysis.
    pub(super) plan: Option<MeasurePlan>,
    /// Paths of the results that are needed.
    pub(super) paths: BTreeSet<String>,
    /// Number of seeds, from 1 on; an analysis without random draws needs one.
    pub(super) seeds: u32,
}

/// Source of a case.
#[derive(Debug)]
pub(super) enum CaseSource {
    /// Scenario that has been read.
    Scenario(Box<Scenario>),
    /// Variant at a place of a grid, read when it is run.
    OfGrid { experiment: Arc<Experiment>, variant: String, place: GridPoint },
    /// Analysis with its settings.
    Analysis { entry: &'static Entry, set: Vec<String> },
}

impl Case {
    /// Whether its runs differ from seed to seed.
    pub(super) fn is_drawn(&self) -> bool {
        if let CaseSource::Analysis { entry, .. } = &self.source { entry.has_seed() } else { true }
    }

    /// Number of runs.
    pub(super) fn runs(&self) -> u32 {
        if self.is_drawn() { self.seeds } else { self.seeds.min(1) }
    }
}

/// Settings of the row for a variant at a place.
fn settings(
    experiment: &Experiment,
    variant: &str,
    place: &GridPoint,
) -> Result<Vec<Setting>, ScenarioError> {
    let row = &experiment.row;
    let mut common_settings = Vec::new();
    let mut lay = |set: &[String], path: &KeyPath| {
        let setting = |(index, text): (usize, &String)| Setting {
            text: text.clone(),
            at: Some(path.with("set").item(index)),
        };
        common_settings.extend(set.iter().enumerate().map(setting));
    };
    if !row.is_by_itself(variant) {
        lay(&row.set, &KeyPath::default());
        row.sweeps.iter().for_each(|(name, sweep)| lay(&sweep.set, &KeyPath::of(&["sweeps", name])));
    }
    row.layers(variant).for_each(|(name, layer)| lay(&layer.set, &KeyPath::of(&["variants", name])));
    common_settings.into_iter().map(|setting| filled(experiment, setting, place)).collect()
}

/// Setting with the numbers that follow from the axes filled in.
fn filled(experiment: &Experiment, setting: Setting, place: &GridPoint) -> Result<Setting, ScenarioError> {
    let nothing = |_: &Leaf| None;
    let axes = |name: &str| place.get(name).copied().map(Harvested::Number);
    let value = |formula: &Formula| evaluate(formula, &KnownValues { axes: &axes, measured: &nothing });
    match fill(&setting.text, value) {
        Ok(text) => Ok(Setting { text, ..setting }),
        Err(mistake) => Err(experiment.refuse(&setting, &mistake.message, &mistake.help)),
    }
}

/// Settings that apply to all scenarios of the row, after all others.
fn common_settings(experiment: &Experiment, place: &GridPoint) -> Result<Vec<Setting>, ScenarioError> {
    experiment.laid.iter().cloned().map(|setting| filled(experiment, setting, place)).collect()
}

/// Parameters of the analysis of a variant. Settings for the scenarios of a row are parameters if the row has analyses
/// alone.
pub(super) fn parameters(
    experiment: &Experiment,
    entry: &'static Entry,
    variant: &str,
    place: &GridPoint,
) -> Result<Vec<String>, ScenarioError> {
    let mut all = settings(experiment, variant, place)?;
    if experiment.row.has_analyses_alone() {
        all.extend(common_settings(experiment, place)?);
    }
    let set: Vec<String> = all.iter().map(|setting| setting.text.clone()).collect();
    entry.check(&set).map_err(|error| placed(experiment, &all, &error))?;
    Ok(set)
}

/// Scenario of a variant at a place.
pub(super) fn scenario(
    experiment: &Experiment,
    variant: &str,
    place: &GridPoint,
) -> Result<Scenario, ScenarioError> {
    let row = &experiment.row;
    let mut scenario = match &experiment.measured_scenario {
        Some(measured_scenario) => measured_scenario.scenario_at(place)?,
        None => of_the_row(experiment, variant, place)?,
    };
    if let Some(controller) = row.own_controller(variant) {
        scenario.use_controller(controller)?;
    }
    // Runs that differ only in names, in the number of seeds or in unused variants are one case.
    let (controllers, variants) = (Vec::new(), Named::default());
    Ok(Scenario { name: String::new(), runs: 1, seed: 1, controllers, variants, ..scenario })
}

/// Scenario of a variant at a place, from the row itself.
fn of_the_row(experiment: &Experiment, variant: &str, place: &GridPoint) -> Result<Scenario, ScenarioError> {
    let mut all = settings(experiment, variant, place)?;
    all.extend(windows(experiment));
    all.extend(common_settings(experiment, place)?);
    let overrides: Vec<String> = all.iter().map(|setting| setting.text.clone()).collect();
    source(experiment, variant, &overrides).map_err(|error| placed(experiment, &all, &error))
}

/// Error with its parts moved to the places of their settings in the row's file.
fn placed(experiment: &Experiment, settings: &[Setting], error: &ScenarioError) -> ScenarioError {
    let place = |error: ScenarioError| {
        let is_it = |setting: &&Setting| error.assignment() == Some(setting.text.as_str());
        // A later setting overrides an earlier one.
        let at = settings.iter().rev().find(is_it).and_then(|setting| setting.at.as_ref());
        at.map_or_else(|| error.clone(), |at| experiment.origin.error(error.problem_at(at)))
    };
    ScenarioError::together(error.each().into_iter().map(place).collect()).unwrap_or_else(|| error.clone())
}

/// Source scenario of a variant, with the overrides applied.
fn source(experiment: &Experiment, variant: &str, overrides: &[String]) -> Result<Scenario, ScenarioError> {
    let row = &experiment.row;
    let own = row.own_scenario(variant);
    let of_the_row = row.scenario.as_ref().and_then(|source| match source {
        ScenarioSource::Name(name) => Some(name.as_str()),
        ScenarioSource::Inline(_) => None,
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

/// Template, shipped scenario or file of this name.
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
    let names = TEMPLATES.iter().filter_map(|template| template.name.strip_prefix("templates/"));
    let names = names.chain(shipped::SCENARIOS.iter().map(|scenario| scenario.name));
    let problem = Problem::value(&KeyPath::of(&["scenario"]), format!("there is no scenario `{name}`"));
    Err(experiment.origin.error(problem.help(advice(name, names))))
}

/// Windows of the row as a setting.
fn windows(experiment: &Experiment) -> Option<Setting> {
    let own = &experiment.row.windows;
    let window = |(name, window): (&str, &weir_scenario::scenario::FurtherWindow)| {
        let to = window.to.map_or_else(String::new, |to| format!(", to = \"{to}\""));
        format!("\"{name}\" = {{ from = \"{}\"{to} }}", window.from)
    };
    let windows: Vec<String> = own.iter().map(window).collect();
    (!windows.is_empty()).then(|| Setting {
        text: format!("measure.windows={{ {} }}", windows.join(", ")),
        at: Some(KeyPath::of(&["windows"])),
    })
}
